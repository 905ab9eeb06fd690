//! A kind of body that is not tets: a rigid frame and one mode, in which it is squashed along one axis of its own and bulges along the others.
//!
//! ```text
//! xᵢ = p + R rᵢ,     rᵢ = Xᵢ + a φᵢ,     φᵢ = (½ Xᵢ.x, −Xᵢ.y, ½ Xᵢ.z)
//! ẋᵢ = ṗ + ω × R rᵢ + R φᵢ ȧ
//! m p̈ = Σ f + m g,     L̇ = Σ R rᵢ × fᵢ,  L = R I(a) Rᵀ ω,     μ ä = Σ R φᵢ · fᵢ − k a − c ȧ + ½ ω · R I′(a) Rᵀ ω
//! ```
//!
//! Points lie symmetrically about the axes, so that the mode has no part of any rigid motion: Σ m φ = 0 and Σ m X × φ = 0.

use sinew::math::spatial::cross_matrix;
use sinew::math::{Mat3, Rotation, so3};
use sinew::mesh::Embedding;
use sinew::prelude::*;
use sinew::sim::{CoordinateState, Coordinates, CustomKind, Energies, KindDesc, KindParts, PointsOut};
use sinew::skeleton::Momentum;
use std::sync::Arc;

/// A body that a [`Squash`] is built from.
#[derive(Debug)]
pub(crate) struct SquashDesc {
    /// Its surface at rest, symmetric about the axes through the origin; its vertices are the points.
    pub surface: TriMesh,
    /// Where it starts (m).
    pub place: Vec3,
    /// Its volume (m³).
    pub volume: f64,
    /// Angular velocity at the start (rad/s).
    pub spin: Vec3,
    /// How fast it is squashed at the start (1/s).
    pub squash_rate: f64,
    /// Frequency (rad/s) and damping ratio of the mode.
    pub frequency: f64,
    pub damping_ratio: f64,
}

/// A rigid frame with one mode: q = (p, R as a quaternion, a), v = (ṗ, ω, ȧ).
#[derive(Debug)]
pub(crate) struct Squash {
    /// Points at rest about the centre (m).
    points: Vec<Vec3>,
    point_mass: f64,
    mass: f64,
    /// Σ m φ² (kg m²).
    mode_mass: f64,
    /// k (J) and c (J s).
    stiffness: f64,
    damping: f64,
    place: Vec3,
    start_v: Vec<f64>,
}

/// Coordinates by name.
struct Frame {
    p: Vec3,
    turn: Rotation,
    a: f64,
}

/// Velocities by name.
struct Rates {
    linear: Vec3,
    angular: Vec3,
    a: f64,
}

fn mode(x: &Vec3) -> Vec3 {
    Vec3::new(0.5 * x.x, -x.y, 0.5 * x.z)
}

impl KindDesc for SquashDesc {
    fn surface(&self) -> &TriMesh {
        &self.surface
    }

    fn build(&self, material: &Material, velocity: &Vec3) -> Result<KindParts, Vec<String>> {
        let points = self.surface.vertices.iter().map(|x| x - self.place).collect::<Vec<Vec3>>();
        let middle = points.iter().sum::<Vec3>() / points.len() as f64;
        if middle.norm() > 1e-9 {
            return Err(vec![format!("its points are not symmetric: their middle is {middle:?}")]);
        }
        let mass = material.density * self.volume;
        let point_mass = mass / points.len() as f64;
        let mode_mass: f64 = points.iter().map(|x| point_mass * mode(x).norm_squared()).sum();
        let (v, w) = (velocity, &self.spin);
        let squash = Squash {
            point_mass,
            mass,
            mode_mass,
            stiffness: mode_mass * self.frequency * self.frequency,
            damping: 2.0 * self.damping_ratio * self.frequency * mode_mass,
            place: self.place,
            start_v: vec![v.x, v.y, v.z, w.x, w.y, w.z, self.squash_rate],
            points,
        };
        Ok(KindParts {
            points: self.surface.vertices.clone(),
            point_mass: vec![point_mass; self.surface.vertices.len()],
            embedding: Embedding::identity(self.surface.vertices.len()),
            volume: self.volume,
            max_frequency: self.frequency,
            kind: Arc::new(squash),
        })
    }
}

impl CustomKind for Squash {
    fn coordinates(&self) -> Option<&dyn Coordinates> {
        Some(self)
    }
}

impl Squash {
    /// rᵢ
    fn shape(&self, a: f64) -> impl Iterator<Item = Vec3> + '_ {
        self.points.iter().map(move |x| x + a * mode(x))
    }

    /// I(a) = Σ m [r]ᵀ[r], in the frame of the body (kg m²).
    fn inertia(&self, a: f64) -> Mat3 {
        let one = |r: Vec3| cross_matrix(&r).transpose() * cross_matrix(&r);
        self.shape(a).map(one).sum::<Mat3>() * self.point_mass
    }

    /// I′(a) (kg m²).
    fn inertia_rate(&self, a: f64) -> Mat3 {
        let one = |(r, x): (Vec3, &Vec3)| {
            let (r, d) = (cross_matrix(&r), cross_matrix(&mode(x)));
            d.transpose() * r + r.transpose() * d
        };
        self.shape(a).zip(&self.points).map(one).sum::<Mat3>() * self.point_mass
    }

    /// R I(a) Rᵀ
    fn world_inertia(&self, frame: &Frame) -> Mat3 {
        let turn = frame.turn.to_rotation_matrix();
        turn * self.inertia(frame.a) * turn.transpose()
    }
}

fn frame(q: &[f64]) -> Frame {
    let turn = sinew::math::nalgebra::Quaternion::new(q[6], q[3], q[4], q[5]);
    Frame { p: Vec3::new(q[0], q[1], q[2]), turn: Rotation::new_unchecked(turn), a: q[7] }
}

fn rates(v: &[f64]) -> Rates {
    Rates { linear: Vec3::new(v[0], v[1], v[2]), angular: Vec3::new(v[3], v[4], v[5]), a: v[6] }
}

impl Coordinates for Squash {
    fn start(&self) -> CoordinateState {
        let p = self.place;
        CoordinateState { q: vec![p.x, p.y, p.z, 0.0, 0.0, 0.0, 1.0, 0.0], v: self.start_v.clone() }
    }

    fn place_points(&self, q: &[f64], v: &[f64], points: PointsOut) {
        let (frame, rates) = (frame(q), rates(v));
        for (i, (x, v)) in points.x.iter_mut().zip(points.v).enumerate() {
            let arm = frame.turn * (self.points[i] + frame.a * mode(&self.points[i]));
            *x = frame.p + arm;
            *v = rates.linear + rates.angular.cross(&arm) + frame.turn * mode(&self.points[i]) * rates.a;
        }
    }

    fn apply_transpose(&self, q: &[f64], point_forces: &[Vec3], forces: &mut [f64]) {
        let frame = frame(q);
        for (x, force) in self.points.iter().zip(point_forces) {
            let torque = (frame.turn * (x + frame.a * mode(x))).cross(force);
            for k in 0..3 {
                forces[k] += force[k];
                forces[3 + k] += torque[k];
            }
            forces[6] += (frame.turn * mode(x)).dot(force);
        }
    }

    fn advance(&self, forces: &[f64], gravity: &Vec3, h: f64, q: &mut [f64], v: &mut [f64]) {
        let (mut frame, mut rates, force) = (frame(q), rates(v), self::rates(forces));
        let momentum = self.world_inertia(&frame) * rates.angular + h * force.angular;
        let seen = frame.turn.inverse_transform_vector(&rates.angular);
        let swing = 0.5 * seen.dot(&(self.inertia_rate(frame.a) * seen));
        rates.linear += h * (force.linear / self.mass + gravity);
        rates.a += h * (force.a - self.stiffness * frame.a - self.damping * rates.a + swing) / self.mode_mass;

        frame.p += h * rates.linear;
        frame.a += h * rates.a;
        let rate = self.world_inertia(&frame).try_inverse().expect("a solid") * momentum;
        frame.turn = so3::exp(&(h * rate)) * frame.turn;
        frame.turn.renormalize();
        rates.angular = self.world_inertia(&frame).try_inverse().expect("a solid") * momentum;

        let turn = frame.turn.coords;
        let coordinates = [frame.p.x, frame.p.y, frame.p.z, turn.x, turn.y, turn.z, turn.w, frame.a];
        q.copy_from_slice(&coordinates);
        let (linear, angular) = (rates.linear, rates.angular);
        v.copy_from_slice(&[linear.x, linear.y, linear.z, angular.x, angular.y, angular.z, rates.a]);
    }

    fn energies(&self, gravity: &Vec3, q: &[f64], v: &[f64]) -> Energies {
        let (frame, rates) = (frame(q), rates(v));
        let spin = rates.angular.dot(&(self.world_inertia(&frame) * rates.angular));
        let kinetic = self.mass * rates.linear.norm_squared() + spin + self.mode_mass * rates.a * rates.a;
        Energies {
            kinetic: 0.5 * kinetic,
            elastic: 0.5 * self.stiffness * frame.a * frame.a,
            potential: -self.mass * gravity.dot(&(frame.p - self.place)),
        }
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> Momentum {
        let (frame, rates) = (frame(q), rates(v));
        let linear = self.mass * rates.linear;
        Momentum { linear, angular: frame.p.cross(&linear) + self.world_inertia(&frame) * rates.angular }
    }
}
