//! What a user asks for, before it is checked: bodies, what they are made of, where they are held
//! and what pushes on them.

use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::{TetMesh, TriMesh};

pub use sinew_mesh::CageSize;

/// All that a `Model` is built from.
#[derive(Clone, Debug)]
pub struct WorldDesc {
    /// Acceleration of free fall (m/s²).
    pub gravity: Vec3,
    /// The soft bodies.
    pub bodies: Vec<BodyDesc>,
}

/// One soft body.
#[derive(Clone, Debug)]
pub struct BodyDesc {
    /// Its name in reports and files.
    pub name: String,
    /// Its shape at rest.
    pub shape: ShapeDesc,
    /// What it is made of.
    pub material: Material,
    /// Velocity at the start (m/s).
    pub velocity: Vec3,
    /// Where it is held.
    pub pins: Vec<PinDesc>,
    /// What pushes on it.
    pub loads: Vec<LoadDesc>,
}

/// A shape at rest.
#[derive(Clone, Debug)]
pub enum ShapeDesc {
    /// A surface that rides in a cage built around it.
    Surface {
        /// The surface, in any state of repair.
        surface: TriMesh,
        /// How fine the cage is.
        cage: CageSize,
    },
    /// Tets as given; their boundary is the surface.
    Tets(TetMesh),
}

/// Nodes held to the world or to a rigid motion, which the `Control` of each step gives.
#[derive(Clone, Debug)]
pub struct PinDesc {
    /// The nodes that are held.
    pub region: Region,
}

/// A force spread evenly over part of the surface.
#[derive(Clone, Debug)]
pub struct LoadDesc {
    /// The surface vertices that share the force.
    pub region: Region,
    /// The whole force (N).
    pub force: Vec3,
}

/// A part of a body, chosen by positions at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// All points within this share of the body's extent from its far end along a direction:
    /// `{ direction: +y, share: 0.1 }` is the topmost tenth.
    End {
        /// Where the end points.
        direction: Vec3,
        /// The share of the extent, between 0 and 1.
        share: f64,
    },
    /// All points in a box with sides along the axes.
    Box {
        /// Smallest coordinates (m).
        min: Vec3,
        /// Largest coordinates (m).
        max: Vec3,
    },
    /// All points in a ball.
    Ball {
        /// Its centre (m).
        center: Vec3,
        /// Its radius (m).
        radius: f64,
    },
    /// The single point nearest to a place.
    Nearest(Vec3),
}
