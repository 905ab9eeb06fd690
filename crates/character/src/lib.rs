//! Rigged characters as plain data.

mod animation;
mod channel;
mod error;
mod human_bones;
mod joint;
mod mesh;
mod node;
mod pose;
mod rigged;
mod skin;
mod stretch;
pub mod transform;
mod weights;

pub use animation::CharacterAnimation;
pub use channel::{AnimationChannel, ChannelInterpolation, ChannelPath};
pub use error::{CharacterError, FaultyPart};
pub use human_bones::{HumanBones, VrmEdition};
pub use joint::CharacterJoint;
pub use mesh::{CharacterMaterial, CharacterMesh, CharacterPrimitive, MorphTarget};
pub use node::{CharacterNode, NodeTree};
pub use pose::CharacterPose;
pub use rigged::{RiggedCharacter, SurfaceId};
pub use skin::{BindReport, CharacterSkin};
pub use transform::{Mat4, NodeTransform};
pub use weights::{JointWeight, SkinWeights, SkinWeightsBuilder};
