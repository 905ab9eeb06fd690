//! Custom kinds of deformable bodies: generalised coordinates, the embedding of points in them, and energies of points.
//!
//! A body consists of points, which contact, constraints, recordings and images use, and of coordinates that evolve in time. For tet meshes the coordinates are the points, and their energy is
//! that of the model's elements. Any other kind is implemented as a [`KindDesc`] and registered as a [`crate::desc::ShapeDesc::Custom`]; its points have a
//! [`NodeEnergy`], or generalised coordinates, or both:
//!
//! ```text
//! x = X(q),     ẋ = J(q) v,     M(q) v̇ = Jᵀ f + …
//! ```
//!
//! Forces f on points are mapped to the coordinates by the transpose of the velocity map, so that ⟨f, J v⟩ = ⟨Jᵀ f, v⟩: power is conserved.

use crate::energies::Energies;
use crate::node_energy::NodeEnergy;
use core::fmt::Debug;
use core::ops::Range;
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::{Embedding, TriMesh};
use sinew_skeleton::Momentum;
use std::sync::Arc;

/// The kind of a body, beside its points.
#[derive(Clone, Debug)]
pub enum BodyKind {
    /// A tet mesh: the coordinates are the points, and the energy is that of the elements.
    Tets,
    /// A custom kind.
    Custom(CustomBody),
}

/// A body of a custom kind.
#[derive(Clone, Debug)]
pub struct CustomBody {
    /// Its implementation.
    pub kind: Arc<dyn CustomKind>,
    /// Its coordinates in [`crate::State::body_q`]; empty if its coordinates are its points.
    pub q: Range<usize>,
    /// Its velocities in [`crate::State::body_v`].
    pub v: Range<usize>,
}

/// A description of a body of a custom kind.
pub trait KindDesc: Debug + Send + Sync {
    /// Its surface at rest.
    fn surface(&self) -> &TriMesh;

    /// Builds it from a material, with an initial velocity (m/s).
    ///
    /// # Errors
    /// All faults of the description, one sentence each.
    fn build(&self, material: &Material, velocity: &Vec3) -> Result<KindParts, Vec<String>>;
}

/// The parts that a custom description is built into, before they are added to a model.
#[derive(Clone, Debug)]
pub struct KindParts {
    /// The points at rest (m).
    pub points: Vec<Vec3>,
    /// Mass of each point (kg), above 0. The stability of contact and constraints relies on these masses, so coordinates need at least their inertia: M ⪰ Jᵀ m J.
    pub point_mass: Vec<f64>,
    /// The embedding of the surface vertices in the points.
    pub embedding: Embedding,
    /// Volume (m³).
    pub volume: f64,
    /// Its highest natural frequency (rad/s), 0 if there is none: it limits explicit steps.
    pub max_frequency: f64,
    /// Its behaviour.
    pub kind: Arc<dyn CustomKind>,
}

/// The behaviour of a custom body. Immutable; `Debug` must print everything that its motion depends on, because the model's hash includes it.
pub trait CustomKind: Debug + Send + Sync {
    /// Generalised coordinates that its points follow; none if the points move freely.
    fn coordinates(&self) -> Option<&dyn Coordinates> {
        None
    }

    /// A new energy of its points, which are the slices passed to it; none if all energy is in the coordinates.
    fn energy(&self) -> Option<Box<dyn NodeEnergy + Send + Sync>> {
        None
    }

    /// Damping of points that move freely; none if the energy or the coordinates damp them.
    fn damping(&self) -> Option<PartDamping> {
        None
    }

    /// Whether factors of stiffness and damping can be keyed: its energy implements [`NodeEnergy::set_factors`], and it has no coordinates of its own.
    fn takes_factors(&self) -> bool {
        false
    }

    /// The thickness in contact of a body without an inside (m): both sides of its surface collide. None for one with an inside.
    fn thickness(&self) -> Option<f64> {
        None
    }
}

/// Damping of the points of a body beside the rigid motion of its connected parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartDamping {
    /// Pairs of points that are connected.
    pub links: Vec<[u32; 2]>,
    /// The rate at which such motion decays (1/s).
    pub rate: f64,
}

/// Generalised coordinates of the points of a body: the embedding, the inertia and their energies.
pub trait Coordinates: Debug + Send + Sync {
    /// Initial coordinates and velocities.
    fn start(&self) -> CoordinateState;

    /// Computes point positions x = X(q) (m) and velocities ẋ = J(q) v (m/s).
    fn place_points(&self, q: &[f64], v: &[f64], points: PointsOut);

    /// Adds Jᵀ f for forces f on points (N) to the generalised forces.
    fn apply_transpose(&self, q: &[f64], point_forces: &[Vec3], forces: &mut [f64]);

    /// Advances by a sub-step of `h` (s) under generalised forces and gravity (m/s²), by symplectic Euler or a better method.
    fn advance(&self, forces: &[f64], gravity: &Vec3, h: f64, q: &mut [f64], v: &mut [f64]);

    /// Energies (J); the potential energy is zero at rest.
    fn energies(&self, gravity: &Vec3, q: &[f64], v: &[f64]) -> Energies;

    /// Momentum and angular momentum about the origin of the world.
    fn momentum(&self, q: &[f64], v: &[f64]) -> Momentum;
}

/// Coordinates and velocities of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoordinateState {
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities; their number may differ from that of the coordinates.
    pub v: Vec<f64>,
}

/// Output positions and velocities of the points of a body.
#[derive(Debug)]
pub struct PointsOut<'a> {
    /// Positions (m).
    pub x: &'a mut [Vec3],
    /// Velocities (m/s).
    pub v: &'a mut [Vec3],
}

impl BodyKind {
    /// The coordinates that its points follow; none if the points move freely.
    pub fn coordinates(&self) -> Option<&dyn Coordinates> {
        match self {
            BodyKind::Tets => None,
            BodyKind::Custom(body) => body.kind.coordinates(),
        }
    }
}

impl KindParts {
    /// Faults of the parts, for a surface with so many vertices.
    pub(crate) fn faults(&self, vertices: usize) -> Vec<String> {
        let mut faults = Vec::new();
        let count = self.points.len();

        // masses and points
        if self.point_mass.len() != count {
            faults.push(format!("it has {count} points but {} masses", self.point_mass.len()));
        }
        if let Some(mass) = self.point_mass.iter().find(|mass| !(**mass > 0.0 && mass.is_finite())) {
            faults.push(format!("one of its points has a mass of {mass} kg: it must be above 0"));
        }
        if self.points.iter().any(|x| x.iter().any(|x| !x.is_finite())) {
            faults.push("one of its points is not finite".into());
        }

        // embedding
        if self.embedding.point_count() != vertices {
            let embedded = self.embedding.point_count();
            faults
                .push(format!("its surface has {vertices} vertices, but {embedded} are embedded in points"));
        }
        let nodes = (0..self.embedding.point_count()).flat_map(|vertex| self.embedding.point(vertex));
        if let Some(node) = nodes.map(|(node, _)| node as usize).find(|node| *node >= count) {
            faults.push(format!(
                "its surface is embedded in point {node}, but it has {count} points, numbered from 0"
            ));
        }

        // volume, frequency and initial coordinates
        let sizes = [("volume", self.volume), ("highest frequency", self.max_frequency)];
        for (name, size) in sizes.into_iter().filter(|(_, size)| !(*size >= 0.0 && size.is_finite())) {
            faults.push(format!("its {name} is {size}: it must be 0 or more"));
        }
        let start = self.kind.coordinates().map(Coordinates::start).unwrap_or_default();
        if start.q.iter().chain(&start.v).any(|x| !x.is_finite()) {
            faults.push("one of its initial coordinates is not finite".into());
        }
        faults
    }
}
