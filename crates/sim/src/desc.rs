//! World descriptions, before validation: bodies with their materials, pins and loads, skeletons, obstacles and constraints.

mod constraint;
mod contact;
mod home;
mod metaphor;
mod muscle;
mod network;
mod region;
mod skin;

use crate::body_kind::KindDesc;
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::{PointField, TetMesh, TriMesh};
use sinew_skeleton::SkeletonDesc;
use std::sync::Arc;

pub use constraint::{BeltDesc, ConstraintDesc, ConstraintKind, PointDesc};
pub use contact::{BodyContactDesc, ContactDesc, Mobility, ObstacleDesc};
pub use home::HomeDesc;
pub use metaphor::{FrameMethod, MetaphorDesc, MetaphorKind, WidgetDesc};
pub use muscle::{
    FibreField, FleshMuscleDesc, LineMuscleDesc, MuscleDesc, MuscleEnd, MuscleKind, MuscleTissue,
    MuscleVolume,
};
pub use network::{NetworkDesc, NetworkKind, SheetElements};
pub use sinew_contact::{Deformation, ImplicitSolid, Shape, SolidShape};
pub use sinew_mesh::CageSize;
pub use skin::{
    BandsDesc, DriveSource, FixedSkin, ImplicitMuscleDesc, ImplicitMuscleDrive, MuscleParameter, SKIN,
    SkinDesc, SkinFactors, SkinRegion,
};

/// Everything that a `Model` is built from.
#[derive(Clone, Debug, Default)]
pub struct WorldDesc {
    /// Gravitational acceleration (m/s²).
    pub gravity: Vec3,
    /// The soft bodies.
    pub bodies: Vec<BodyDesc>,
    /// The skeletons.
    pub rigs: Vec<RigDesc>,
    /// Rigid obstacles.
    pub obstacles: Vec<ObstacleDesc>,
    /// Contact parameters.
    pub contact: ContactDesc,
    /// Soft constraints: dragged, pinned and joined points, and belts.
    pub constraints: Vec<ConstraintDesc>,
    /// Control metaphors: forces that stretch, bend, twist or push bodies.
    pub metaphors: Vec<MetaphorDesc>,
    /// Muscles, in bodies or as lines of action.
    pub muscles: Vec<MuscleDesc>,
    /// Upper limit of explicit sub-steps (s), below the stability limit; none for no other limit than stability.
    pub max_step: Option<f64>,
}

/// A skeleton of the world. A bone whose mass is given by a solid uses that solid as its shape.
#[derive(Clone, Debug, Default)]
pub struct RigDesc {
    /// Its name in reports, unique among rigs.
    pub name: String,
    /// Its bones and joints. At zero coordinates they are in the pose that the flesh was modelled around.
    pub skeleton: SkeletonDesc,
}

/// One soft body.
#[derive(Clone, Debug)]
pub struct BodyDesc {
    /// Its name in reports and files.
    pub name: String,
    /// Its shape at rest.
    pub shape: ShapeDesc,
    /// Its material.
    pub material: Material,
    /// Initial velocity (m/s).
    pub velocity: Vec3,
    /// Nodes with prescribed motion.
    pub pins: Vec<PinDesc>,
    /// External forces.
    pub loads: Vec<LoadDesc>,
    /// Its attachment to a skeleton.
    pub attachment: Option<AttachmentDesc>,
    /// How sagging from its modelled shape is prevented.
    pub sag: Sag,
    /// Rate at which the air slows its motion (1/s): it falls at no more than gravity divided by this. For bodies without bones.
    pub air_drag: f64,
    /// How soft it is over its shape at rest: Young's modulus is divided by it. 1 is its material as it is, and empty is 1 everywhere.
    pub softness: PointField,
}

impl Default for BodyDesc {
    /// A free body of jelly without a shape, which must be set.
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
            air_drag: 0.0,
            softness: PointField::default(),
        }
    }
}

/// How a body is kept from sagging under its own weight from its modelled shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sag {
    /// Not at all: the modelled shape is stress-free, and the body sags from it.
    #[default]
    Free,
    /// Bones balance its weight in the bind pose, by follower forces that rotate with them. The modelled shape is stress-free; upside down the body sags under twice its weight.
    Balanced,
    /// The modelled shape is taken as the equilibrium under gravity: its stress carries the weight. The body must be attached to bones or pinned; see [`crate::rest_shape`].
    RestShape,
}

impl Sag {
    /// All variants with their names in scene files.
    pub const NAMED: [(&str, Sag); 3] =
        [("rest-shape", Sag::RestShape), ("balanced", Sag::Balanced), ("free", Sag::Free)];

    /// The variant with the given name.
    pub fn named(name: &str) -> Option<Sag> {
        Sag::NAMED.iter().find(|(own, _)| *own == name).map(|(_, sag)| *sag)
    }

    /// Its name in scene files.
    pub fn name(self) -> &'static str {
        Sag::NAMED.iter().find(|(_, sag)| *sag == self).map_or("", |(name, _)| name)
    }
}

/// How a body is attached to a skeleton: some nodes are fixed to bones, all others are connected by flesh only.
#[derive(Clone, Debug)]
pub struct AttachmentDesc {
    /// The rig's name.
    pub rig: String,
    /// Which nodes are fixed to which bones. A node belongs to the first tie that selects it.
    pub ties: Vec<TieDesc>,
    /// Skin weights of each surface vertex: indices of bones of the rig with weights. Empty if there are none.
    pub skin_weights: Vec<Vec<(u32, f32)>>,
    /// Stiffening of the flesh towards the bones.
    pub core: CoreDesc,
    /// Whether cage nodes are moved exactly onto the axes of bones, and fixed to them before any tie.
    pub anchored: bool,
    /// Springs towards the skinned shape, which needs skin weights; none for flesh that elasticity alone holds on its bones.
    pub home: Option<HomeDesc>,
}

/// Flesh that is stiffer near bones, like muscle under fat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreDesc {
    /// Stiffness factor at the bone.
    pub stiffness: f64,
    /// Distance from the bone at which the stiffening ends, as a fraction of the maximum thickness of the flesh.
    pub reach: f64,
}

impl CoreDesc {
    /// No stiffening.
    pub const EVEN: CoreDesc = CoreDesc { stiffness: 1.0, reach: 0.5 };

    /// The stiffness factor at a distance from bone, given as a `fraction` of the largest: decreases quadratically.
    pub(crate) fn factor(&self, fraction: f64) -> f64 {
        let left = (1.0 - fraction / self.reach).max(0.0);
        1.0 + (self.stiffness - 1.0) * left * left
    }
}

/// Nodes fixed to a bone.
#[derive(Clone, Debug)]
pub struct TieDesc {
    /// The bone's name, or none for every bone; a node selected for several bones belongs to the nearest.
    pub bone: Option<String>,
    /// How the nodes are selected.
    pub hold: Hold,
}

/// How the nodes of a bone are selected, at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum Hold {
    /// Inside the bone's shape, enlarged by a margin. Where the cage is too coarse to have a node there, the nodes nearest to the bone.
    Inside {
        /// Offset by which the shape is enlarged (m).
        margin: f64,
    },
    /// Within a distance of the bone's axis: of a capsule's axis, or of the centre of another shape.
    Near {
        /// The distance (m).
        distance: f64,
    },
    /// By skin weights: the surface that the node carries has at least this mean weight for the bone.
    Painted {
        /// The minimum weight, between 0 and 1.
        least: f64,
    },
    /// In a region.
    Region(Region),
    /// Explicitly, by indices of the body's nodes.
    Nodes(Vec<u32>),
}

impl AttachmentDesc {
    /// Fixes the nodes inside the shape of each bone of a rig.
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
    /// A surface embedded in a cage of tets that is built around it.
    Surface {
        /// The surface; it need not be watertight.
        surface: TriMesh,
        /// Resolution of the cage.
        cage: CageSize,
    },
    /// A tet mesh; its boundary is the surface.
    Tets(TetMesh),
    /// A mesh that is not filled with flesh: cloth, a shell or springs. It cannot be attached to bones.
    Network(NetworkDesc),
    /// Elastic skin over muscles on bones.
    Skin(Box<SkinDesc>),
    /// A custom body, implemented outside this crate. It cannot be attached to bones, nor pinned if it has generalised coordinates.
    Custom(Arc<dyn KindDesc>),
}

impl Default for ShapeDesc {
    /// An empty tet mesh, which model building rejects.
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
            ShapeDesc::Network(network) => network.mesh.points(),
            ShapeDesc::Skin(skin) => &skin.surface.vertices,
            ShapeDesc::Custom(kind) => &kind.surface().vertices,
        }
    }
}

/// Nodes with prescribed rigid motion, fixed by default; the `Control` of each step sets the motion.
#[derive(Clone, Debug)]
pub struct PinDesc {
    /// The pinned nodes.
    pub region: Region,
}

/// A force distributed evenly over part of the surface.
#[derive(Clone, Debug)]
pub struct LoadDesc {
    /// The surface vertices that the force is distributed over.
    pub region: Region,
    /// The total force (N).
    pub force: Vec3,
}

/// A part of a body, selected by rest positions.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// All points within this fraction of the body's extent from its end in a direction:
    /// `{ direction: +y, fraction: 0.1 }` is the topmost tenth.
    End {
        /// The direction of the end.
        direction: Vec3,
        /// The fraction of the extent, between 0 and 1.
        fraction: f64,
    },
    /// All points in an axis-aligned box.
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
    /// The single point nearest to a position (m).
    Nearest(Vec3),
}
