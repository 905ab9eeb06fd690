//! Rigged characters as plain data, and the flesh made of them.
//!
//! A [`RiggedCharacter`] is what readers of file formats fill: nodes, skins, surfaces with weights and morph targets, animations.
//! [`Character::build`] makes a body, a rig and a performance of it, and [`Character::join`] adds them to any
//! [`Scene`](sinew_take::Scene). The [`CharacterBinding`] that comes back carries the frames of that scene to the character's own nodes
//! and surfaces. Knows no files.

mod animation;
mod bare_mesh;
mod binding;
mod bones;
mod captured_motion;
mod channel;
mod character;
mod defaults;
mod error;
mod flesh;
mod flesh_around;
mod floor;
mod human_bones;
mod joint;
mod mesh;
mod motion;
mod names;
mod node;
mod options;
mod placement;
mod pose;
mod rigged;
mod settings;
mod shown;
mod skin;
mod stretch;
pub mod transform;
mod watch;
mod weights;

pub use animation::CharacterAnimation;
pub use bare_mesh::{empty_scene, hanging_jelly};
pub use binding::{CharacterBinding, CharacterPart, PlayedCharacter};
pub use captured_motion::{CapturedMotion, retarget_motion};
pub use channel::{AnimationChannel, ChannelInterpolation, ChannelPath};
pub use character::Character;
pub use defaults::{
    DEFAULT_CORE, DEFAULT_FPS, DEFAULT_SAG, DEFAULT_SECONDS, DEFAULT_SMOOTHING, DEFAULT_TETS, EARTH_GRAVITY,
};
pub use error::{CharacterError, FaultyPart};
pub use flesh_around::{FleshSegment, figure_flesh, flesh_around};
pub use floor::lowest_height;
pub use human_bones::{HumanBones, VrmEdition};
pub use joint::CharacterJoint;
pub use mesh::{CharacterMaterial, CharacterMesh, CharacterPrimitive, MorphTarget};
pub use names::{find_bone, nearest};
pub use node::{CharacterNode, NodeTree};
pub use options::CharacterOptions;
pub use placement::Placement;
pub use pose::CharacterPose;
pub use rigged::{RiggedCharacter, SurfaceId};
pub use settings::TakeSettings;
pub use shown::{CharacterFrames, ShownSurfaces};
pub use skin::{BindReport, CharacterSkin};
pub use transform::{Mat4, NodeTransform};
pub use watch::{CharacterReport, CharacterWatch};
pub use weights::{JointWeight, SkinWeights, SkinWeightsBuilder};
