//! What a user asks for, before it is checked: bodies, what they are made of, where they are held,
//! what pushes on them, and the skeletons they hang on.

mod constraint;
mod contact;
mod home;
mod region;

use crate::body_kind::KindDesc;
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::{TetMesh, TriMesh};
use sinew_skeleton::SkeletonDesc;
use std::sync::Arc;

pub use constraint::{BeltDesc, ConstraintDesc, ConstraintKind, PointDesc};
pub use contact::{ContactDesc, Mobility, ObstacleDesc};
pub use home::HomeDesc;
pub use sinew_contact::{Response, Shape};
pub use sinew_mesh::CageSize;

/// All that a `Model` is built from.
#[derive(Clone, Debug, Default)]
pub struct WorldDesc {
    /// Acceleration of free fall (m/s²).
    pub gravity: Vec3,
    /// The soft bodies.
    pub bodies: Vec<BodyDesc>,
    /// The skeletons.
    pub rigs: Vec<RigDesc>,
    /// What bodies touch besides each other.
    pub obstacles: Vec<ObstacleDesc>,
    /// How touching is answered.
    pub contact: ContactDesc,
    /// Points that are dragged, pinned or joined, and belts.
    pub constraints: Vec<ConstraintDesc>,
    /// Explicit sub-steps are no longer than this (s), where stability would allow longer ones; none for as long as it allows.
    pub max_step: Option<f64>,
}

/// A skeleton of the world. Bones whose mass is a solid have that solid for a shape.
#[derive(Clone, Debug, Default)]
pub struct RigDesc {
    /// Its name in reports; no other rig has it.
    pub name: String,
    /// Its bones and joints. At zero coordinates they stand where the flesh was drawn around them.
    pub skeleton: SkeletonDesc,
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
    /// The skeleton it hangs on.
    pub attachment: Option<AttachmentDesc>,
    /// What keeps it from sagging from its shape.
    pub sag: Sag,
}

impl Default for BodyDesc {
    /// A free body of jelly without a shape: give it one.
    fn default() -> BodyDesc {
        BodyDesc {
            name: "body".into(),
            shape: ShapeDesc::default(),
            material: Material::default(),
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: None,
            sag: Sag::default(),
        }
    }
}

/// What keeps a body from sagging, under its own weight, from the shape it is given in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sag {
    /// Nothing: that shape is without stress, and the body sags from there.
    #[default]
    Free,
    /// Bones bear its weight in the bind pose, by forces that turn with them. The shape is without stress; upside down it hangs by twice its weight.
    Balanced,
    /// The shape is one that has sagged already, as artists draw it: its stress carries its weight. It needs bones or pins to hang on; see [`crate::rest_shape`].
    RestShape,
}

impl Sag {
    /// All of them, as scenes name them.
    pub const NAMED: [(&str, Sag); 3] =
        [("rest-shape", Sag::RestShape), ("balanced", Sag::Balanced), ("free", Sag::Free)];

    /// The one of a name.
    pub fn named(name: &str) -> Option<Sag> {
        Sag::NAMED.iter().find(|(own, _)| *own == name).map(|(_, sag)| *sag)
    }

    /// Its name in scenes.
    pub fn name(self) -> &'static str {
        Sag::NAMED.iter().find(|(_, sag)| *sag == self).map_or("", |(name, _)| name)
    }
}

/// How a body hangs on a skeleton: nodes that are fixed to bones, all others are carried by flesh alone.
#[derive(Clone, Debug)]
pub struct AttachmentDesc {
    /// The rig's name.
    pub rig: String,
    /// Which nodes are fixed to which bones. A node goes to the first tie that takes it.
    pub ties: Vec<TieDesc>,
    /// For each vertex of the surface the bones it was painted to, as places in the rig's bones, with weights. Empty if it was not.
    pub skin_weights: Vec<Vec<(u32, f32)>>,
    /// How the flesh stiffens towards the bones.
    pub core: CoreDesc,
    /// Whether nodes of the cage are moved to lie exactly on the middles of bones, and fixed to them before any tie.
    pub anchored: bool,
    /// Springs towards the skinned shape, which needs skin weights; none for flesh that elasticity alone holds on its bones.
    pub home: Option<HomeDesc>,
}

/// Flesh that is stiffer near bones, as muscle under fat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreDesc {
    /// How many times as stiff it is at the bone.
    pub stiffness: f64,
    /// How far from the bone that has faded, as a fraction of how far the flesh reaches anywhere.
    pub reach: f64,
}

impl CoreDesc {
    /// The same flesh throughout.
    pub const EVEN: CoreDesc = CoreDesc { stiffness: 1.0, reach: 0.5 };

    /// How many times as stiff flesh is at a distance from bone that is `share` of the farthest: falls as a parabola.
    pub(crate) fn factor(&self, fraction: f64) -> f64 {
        let left = (1.0 - fraction / self.reach).max(0.0);
        1.0 + (self.stiffness - 1.0) * left * left
    }
}

/// Nodes fixed to a bone.
#[derive(Clone, Debug)]
pub struct TieDesc {
    /// The bone's name, or every bone; of several bones that claim a node the nearest has it.
    pub bone: Option<String>,
    /// Which nodes.
    pub hold: Hold,
}

/// How the nodes of a bone are chosen, at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum Hold {
    /// Inside the bone's shape, grown by so much (m). Where the cage is too coarse to have a node there, the nodes nearest to the bone.
    Inside {
        /// How much the shape is grown (m).
        margin: f64,
    },
    /// Within a distance of the bone's axis: of the line through a capsule's middle, of another shape's own middle.
    Near {
        /// The distance (m).
        distance: f64,
    },
    /// Painted to the bone: the surface that the node carries has this fraction of the bone's weight or more.
    Painted {
        /// The fraction, between 0 and 1.
        least: f64,
    },
    /// In a region.
    Region(Region),
    /// These, by hand: places among the body's nodes.
    Nodes(Vec<u32>),
}

impl AttachmentDesc {
    /// Fixes to each bone of a rig the nodes inside its shape.
    pub fn by_shape(rig: impl Into<String>) -> AttachmentDesc {
        AttachmentDesc {
            rig: rig.into(),
            ties: vec![TieDesc { bone: None, hold: Hold::Inside { margin: 0.0 } }],
            skin_weights: Vec::new(),
            core: CoreDesc::EVEN,
            anchored: false,
            home: None,
        }
    }
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
    /// A body of another kind than tets, described from outside. It can be neither pinned nor hung on bones where it has coordinates of its own.
    Custom(Arc<dyn KindDesc>),
}

impl Default for ShapeDesc {
    /// No tets at all, which a model rejects by the name of the body.
    fn default() -> ShapeDesc {
        ShapeDesc::Tets(TetMesh { nodes: Vec::new(), tets: Vec::new() })
    }
}

impl ShapeDesc {
    /// The points that bound it at rest (m).
    pub fn points(&self) -> &[Vec3] {
        match self {
            ShapeDesc::Surface { surface, .. } => &surface.vertices,
            ShapeDesc::Tets(mesh) => &mesh.nodes,
            ShapeDesc::Custom(kind) => &kind.surface().vertices,
        }
    }
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
    /// All points within this fraction of the body's extent from its far end along a direction:
    /// `{ direction: +y, share: 0.1 }` is the topmost tenth.
    End {
        /// Where the end points.
        direction: Vec3,
        /// The fraction of the extent, between 0 and 1.
        fraction: f64,
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
