//! Kinds of deformable bodies: coordinates, how points follow from them, and energies of points.
//!
//! A body is points that contact, constraints, recordings and pictures see, and coordinates that move. Of tets the coordinates are the points, and their energy is
//! that of the model's elements. Any other kind is described from outside by a [`KindDesc`] and registered as a [`crate::desc::ShapeDesc::Custom`]; it gives its points a
//! [`NodeEnergy`], or coordinates of their own, or both:
//!
//! ```text
//! x = X(q),     ẋ = J(q) v,     M(q) v̇ = Jᵀ f + …
//! ```
//!
//! Forces f on points come back to the coordinates by the transpose of what carries motion out, so that ⟨f, J v⟩ = ⟨Jᵀ f, v⟩ is the power on either side.

use crate::energies::Energies;
use crate::node_energy::NodeEnergy;
use core::fmt::Debug;
use core::ops::Range;
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::{Embedding, TriMesh};
use sinew_skeleton::Momentum;
use std::sync::Arc;

/// What a body is, beside its points.
#[derive(Clone, Debug)]
pub enum BodyKind {
    /// Tets: the coordinates are the points, and the energy is that of the elements.
    Tets,
    /// A kind that was described from outside.
    Custom(CustomBody),
}

/// A body of a kind that was described from outside.
#[derive(Clone, Debug)]
pub struct CustomBody {
    /// What it does.
    pub kind: Arc<dyn CustomKind>,
    /// Its coordinates in [`crate::State::body_q`]; empty if its coordinates are its points.
    pub q: Range<usize>,
    /// Its velocities in [`crate::State::body_v`].
    pub v: Range<usize>,
}

/// A description of a body of a new kind.
pub trait KindDesc: Debug + Send + Sync {
    /// Its surface at rest.
    fn surface(&self) -> &TriMesh;

    /// Builds it of a material, to start with a velocity (m/s).
    ///
    /// # Errors
    /// All that is wrong with it, one sentence each.
    fn build(&self, material: &Material, velocity: &Vec3) -> Result<KindParts, Vec<String>>;
}

/// What a description of a new kind is built into, before it joins a model.
#[derive(Clone, Debug)]
pub struct KindParts {
    /// The points at rest (m).
    pub points: Vec<Vec3>,
    /// Mass of each point (kg), above 0. Contact and constraints are as stiff as these masses bear, so that coordinates need at least their inertia: M ⪰ Jᵀ m J.
    pub point_mass: Vec<f64>,
    /// The vertices of the surface in the points.
    pub embedding: Embedding,
    /// Volume (m³).
    pub volume: f64,
    /// The highest frequency of its own (rad/s), 0 without any: explicit steps stay below what it allows.
    pub max_frequency: f64,
    /// What it does.
    pub kind: Arc<dyn CustomKind>,
}

/// What a body of a new kind does. Never changes; `Debug` prints all that its motion follows from, for the model's hash is made of it.
pub trait CustomKind: Debug + Send + Sync {
    /// Coordinates of its own that its points follow; none if the points move by themselves.
    fn coordinates(&self) -> Option<&dyn Coordinates> {
        None
    }

    /// A new energy of its points, which are the lists that it is given; none if coordinates hold all of it.
    fn energy(&self) -> Option<Box<dyn NodeEnergy + Send + Sync>> {
        None
    }
}

/// Coordinates that carry the points of a body: the embedding, the inertia and the energies of their own.
pub trait Coordinates: Debug + Send + Sync {
    /// Coordinates and velocities at the start.
    fn start(&self) -> CoordinateState;

    /// Places points: x = X(q) (m), and how they move, ẋ = J(q) v (m/s).
    fn place_points(&self, q: &[f64], v: &[f64], points: PointsOut);

    /// Adds Jᵀ f of forces on points (N) to the forces on the coordinates.
    fn apply_transpose(&self, q: &[f64], point_forces: &[Vec3], forces: &mut [f64]);

    /// Takes a sub-step of `h` (s) under forces on the coordinates and gravity (m/s²), symplectic Euler or better.
    fn advance(&self, forces: &[f64], gravity: &Vec3, h: f64, q: &mut [f64], v: &mut [f64]);

    /// Where the energy is (J); in height, zero at rest.
    fn energies(&self, gravity: &Vec3, q: &[f64], v: &[f64]) -> Energies;

    /// Momentum and angular momentum about the origin of the world.
    fn momentum(&self, q: &[f64], v: &[f64]) -> Momentum;
}

/// Coordinates and velocities of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoordinateState {
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities; not always as many as coordinates.
    pub v: Vec<f64>,
}

/// Where coordinates put the points of their body.
#[derive(Debug)]
pub struct PointsOut<'a> {
    /// Positions (m).
    pub x: &'a mut [Vec3],
    /// Velocities (m/s).
    pub v: &'a mut [Vec3],
}

impl BodyKind {
    /// The coordinates that its points follow; none if the points move by themselves.
    pub fn coordinates(&self) -> Option<&dyn Coordinates> {
        match self {
            BodyKind::Tets => None,
            BodyKind::Custom(body) => body.kind.coordinates(),
        }
    }
}

impl KindParts {
    /// What is wrong with it, for a surface of so many vertices.
    pub(crate) fn faults(&self, vertices: usize) -> Vec<String> {
        let mut faults = Vec::new();
        let count = self.points.len();
        if self.point_mass.len() != count {
            faults.push(format!("it has {count} points but {} masses for them", self.point_mass.len()));
        }
        if let Some(mass) = self.point_mass.iter().find(|mass| !(**mass > 0.0 && mass.is_finite())) {
            faults.push(format!("a point of it has a mass of {mass} kg: it must be above 0"));
        }
        if self.points.iter().any(|x| x.iter().any(|x| !x.is_finite())) {
            faults.push("a point of it is not finite".into());
        }
        if self.embedding.point_count() != vertices {
            let embedded = self.embedding.point_count();
            faults.push(format!(
                "its surface has {vertices} vertices, of which {embedded} are embedded in points"
            ));
        }
        let nodes = (0..self.embedding.point_count()).flat_map(|vertex| self.embedding.point(vertex));
        if let Some(node) = nodes.map(|(node, _)| node as usize).find(|node| *node >= count) {
            faults.push(format!("its surface is embedded in point {node}, of {count}"));
        }
        let sizes = [("volume", self.volume), ("highest frequency", self.max_frequency)];
        for (name, size) in sizes.into_iter().filter(|(_, size)| !(*size >= 0.0 && size.is_finite())) {
            faults.push(format!("its {name} is {size}: it must be 0 or more"));
        }
        let start = self.kind.coordinates().map(Coordinates::start).unwrap_or_default();
        if start.q.iter().chain(&start.v).any(|x| !x.is_finite()) {
            faults.push("a coordinate of it at the start is not finite".into());
        }
        faults
    }
}
