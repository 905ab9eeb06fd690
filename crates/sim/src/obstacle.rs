//! Rigid obstacles of a model, and their state.

use crate::desc::{Mobility, ObstacleDesc};
use sinew_contact::{Shape, SolidMass};
use sinew_math::{Isometry, Vec3, nalgebra::Point3};
use sinew_mesh::TriMesh;
use std::sync::Arc;

/// A validated obstacle.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Its name.
    pub name: String,
    /// Its shape, in its own frame.
    pub shape: Shape,
    /// Its initial state.
    pub start: ObstacleState,
    /// How it moves.
    pub mobility: Mobility,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Contact stiffness relative to the default.
    pub stiffness: f64,
    /// Whether it is rendered as transparent.
    pub is_glass: bool,
    /// Its surface in its own frame, for rendering.
    pub surface: Arc<TriMesh>,
    /// The obstacle that it moves with: itself, or the one it is part of.
    pub(crate) carrier: usize,
    /// Transforms points of its shape to the frame of its carrier.
    pub(crate) carrier_from_shape: Isometry,
    /// Mass and inertia of a dynamic one with all its parts.
    pub(crate) solid: Option<SolidMass>,
    /// Sample points of a dynamic one for contact with other obstacles, and the index of the first among all contact points.
    pub(crate) samples: Vec<Vec3>,
    pub(crate) first_sample: u32,
    /// Maximum distance of its points from the centre of mass of its carrier (m).
    pub(crate) reach: f64,
}

/// Pose and velocity of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObstacleState {
    /// Transforms points of its shape to the world.
    pub pose: Isometry,
    /// Velocity of its centre of mass (m/s); zero unless it is dynamic.
    pub linear: Vec3,
    /// Angular velocity (rad/s); zero unless it is dynamic.
    pub angular: Vec3,
}

impl Obstacle {
    /// Builds all obstacles; `plane` is the size at which planes are drawn (m). Contact points are numbered from `first_sample` on.
    pub(crate) fn build_all(
        descs: &[ObstacleDesc],
        default_friction: f64,
        mut first_sample: u32,
        plane: f64,
    ) -> Vec<Obstacle> {
        let mut all: Vec<Obstacle> = Vec::with_capacity(descs.len());
        for (i, desc) in descs.iter().enumerate() {
            // parts contribute to the mass of their carrier
            let mut obstacle = Obstacle::build(i, desc, default_friction, plane);
            if let Mobility::PartOf(carrier) = desc.mobility {
                obstacle.carrier = carrier;
                obstacle.carrier_from_shape = descs[carrier].pose.inverse() * desc.pose;
                if let (Mobility::Free { density, .. }, Some(solid)) =
                    (descs[carrier].mobility, all[carrier].solid)
                    && let Some(part) = SolidMass::of(&desc.shape, density)
                {
                    all[carrier].solid = Some(solid.and(part.moved(&obstacle.carrier_from_shape)));
                }
            }

            // sample points of dynamic obstacles
            if matches!(descs[obstacle.carrier].mobility, Mobility::Free { .. }) {
                obstacle.samples = desc.shape.samples();
            }
            obstacle.first_sample = first_sample;
            first_sample += obstacle.samples.len() as u32;
            all.push(obstacle);
        }

        // bounding radii about the centre of mass
        for i in 0..all.len() {
            let bounds = all[i].shape.bounds();
            let center = all[all[i].carrier].solid.map_or(Vec3::zeros(), |solid| solid.center);
            let middle = (all[i].carrier_from_shape * Point3::from(bounds.center())).coords;
            all[i].reach = (middle - center).norm() + bounds.radius();
        }
        all
    }

    fn build(index: usize, desc: &ObstacleDesc, default_friction: f64, plane: f64) -> Obstacle {
        let (solid, linear, angular) = match desc.mobility {
            Mobility::Free { density, velocity, spin } => {
                (SolidMass::of(&desc.shape, density), velocity, spin)
            }
            _ => (None, Vec3::zeros(), Vec3::zeros()),
        };
        Obstacle {
            name: desc.name.clone(),
            surface: Arc::new(desc.shape.surface(plane)),
            samples: Vec::new(),
            start: ObstacleState { pose: desc.pose, linear, angular },
            mobility: desc.mobility,
            friction: desc.friction.unwrap_or(default_friction),
            stiffness: desc.stiffness,
            is_glass: desc.is_glass,
            carrier: index,
            carrier_from_shape: Isometry::identity(),
            solid,
            first_sample: 0,
            reach: 0.0,
            shape: desc.shape.clone(),
        }
    }

    /// The width that decides whether it passes between the vertices of a surface (m): the second of the sides of its box. A rod has two short sides and is thin; a plate has one and is not, unless it comes edge on.
    pub(crate) fn width(desc: &ObstacleDesc) -> f64 {
        if matches!(desc.shape, Shape::Plane { .. } | Shape::Heights(_)) {
            return f64::INFINITY;
        }
        let bounds = desc.shape.bounds();
        let mut sides: [f64; 3] = (bounds.max - bounds.min).into();
        sides.sort_by(f64::total_cmp);
        sides[1]
    }

    /// Faults of a description among all others.
    pub(crate) fn faults(descs: &[ObstacleDesc], index: usize) -> Vec<String> {
        let desc = &descs[index];
        let mut faults: Vec<String> = desc.shape.fault().into_iter().collect();

        // its carrier
        if let Mobility::PartOf(carrier) = desc.mobility {
            match descs[..index].get(carrier).map(|carrier| carrier.mobility) {
                None => faults
                    .push(format!("it is part of obstacle {carrier}, which does not precede it in the list")),
                Some(Mobility::PartOf(_)) => faults.push(format!(
                    "it is part of '{}', which is itself a part: make it part of that obstacle's carrier",
                    descs[carrier].name
                )),
                Some(_) => {}
            }
        }

        // pose and contact parameters
        let numbers = desc.pose.translation.vector.iter().chain(desc.pose.rotation.coords.iter());
        if numbers.into_iter().any(|x| !x.is_finite()) {
            faults.push("its pose is not finite".into());
        }
        if let Some(friction) = desc.friction.filter(|friction| friction.is_nan() || *friction < 0.0) {
            faults.push(format!("its friction is {friction}: it must be 0 or more"));
        }
        if !(desc.stiffness > 0.0 && desc.stiffness <= 1e6) {
            faults.push(format!("its stiffness is {}: it must be above 0 and at most 1e6", desc.stiffness));
        }

        // mass and initial velocity
        if let Mobility::Free { density, velocity, spin } = desc.mobility {
            if !(density > 0.0 && density < 1e9) {
                faults.push(format!("its density is {density} kg/m³: it must be above 0 and below 1e9"));
            } else if SolidMass::of(&desc.shape, density).is_none() {
                faults.push(
                    "it is free but encloses no volume, so it has no mass: fix it, or give it a closed shape"
                        .into(),
                );
            }
            if velocity.iter().chain(spin.iter()).any(|x| !x.is_finite()) {
                faults.push("its initial velocity is not finite".into());
            }
        }
        faults
    }
}

impl ObstacleState {
    /// All values, for saving: rotation, translation, velocities.
    pub fn numbers(&self) -> [f64; 13] {
        let q = self.pose.rotation.coords;
        let t = self.pose.translation.vector;
        let (v, w) = (self.linear, self.angular);
        [q.x, q.y, q.z, q.w, t.x, t.y, t.z, v.x, v.y, v.z, w.x, w.y, w.z]
    }

    /// The state with these values.
    pub fn from_numbers([i, j, k, w, x, y, z, vx, vy, vz, wx, wy, wz]: [f64; 13]) -> ObstacleState {
        let turn = sinew_math::nalgebra::Quaternion::new(w, i, j, k);
        ObstacleState {
            pose: Isometry::from_parts(Vec3::new(x, y, z).into(), sinew_math::Rotation::new_unchecked(turn)),
            linear: Vec3::new(vx, vy, vz),
            angular: Vec3::new(wx, wy, wz),
        }
    }
}
