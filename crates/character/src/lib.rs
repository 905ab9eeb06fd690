//! Rigged characters as plain data, and the flesh made of them.
//!
//! A [`RiggedCharacter`] is what readers of file formats fill: nodes, skins, surfaces with weights and morph targets, animations.
//! [`Character::build`] makes a body, a rig and a performance of it, and [`Character::join`] adds them to any
//! [`Scene`](sinew_take::Scene). The [`CharacterBinding`] that comes back carries the frames of that scene to the character's own nodes
//! and surfaces. Knows no files.
//!
//! A bar with two joints, made of flesh and simulated for three frames:
//!
//! ```
//! use sinew_character::{
//!     Character, CharacterMesh, CharacterNode, CharacterOptions, CharacterPrimitive, CharacterSkin, JointWeight, Mat4,
//!     NodeTransform, RiggedCharacter, SkinWeightsBuilder, empty_scene,
//! };
//! use sinew_math::{Isometry, Vec3};
//! use sinew_sim::desc::CageSize;
//! use sinew_take::{Frame, Player};
//! use std::sync::Arc;
//!
//! // a surface whose lower half follows the first joint, its upper half the second
//! let bar = sinew_mesh::shapes::cuboid([0.2, 1.0, 0.2]);
//! let mut weights = SkinWeightsBuilder::new(bar.vertices.len(), 0, 1e-3);
//! for vertex in &bar.vertices {
//!     weights.add(&mut vec![JointWeight { joint: u32::from(vertex.y > 0.0), weight: 1.0 }])?;
//! }
//! let primitive = CharacterPrimitive {
//!     positions: bar.vertices.into(),
//!     triangles: bar.triangles,
//!     weights: Some(Arc::new(weights.finish())),
//!     ..CharacterPrimitive::default()
//! };
//!
//! // two joints half a metre apart, and a node that shows the surface
//! let joint = |name: &str, y: f64, children| {
//!     CharacterNode::new(name, NodeTransform::of_isometry(&Isometry::translation(0.0, y, 0.0)), children)
//! };
//! let shown = CharacterNode { mesh: Some(0), skin: Some(0), ..CharacterNode::new("bar", NodeTransform::identity(), vec![]) };
//! let back = |y: f64| Mat4::new_translation(&Vec3::new(0.0, -y, 0.0));
//! let skin =
//!     CharacterSkin { joints: vec![0, 1], inverse_bind: vec![back(-0.5), back(0.0)], ..CharacterSkin::default() };
//! let mesh = CharacterMesh { primitives: vec![primitive], ..CharacterMesh::default() };
//! let rigged = RiggedCharacter::assemble(
//!     vec![joint("lower", -0.5, vec![1]), joint("upper", 0.5, vec![]), shown],
//!     vec![skin],
//!     vec![mesh],
//! )?;
//!
//! // flesh of it in a scene
//! let options = CharacterOptions { cage: CageSize::Tets(200), hold: Some(0.0), ..CharacterOptions::default() };
//! let mut scene = empty_scene("bar");
//! let binding = Character::build(&Arc::new(rigged), &options)?.join(&mut scene);
//! let mut player = Player::build(&scene)?;
//! for _ in 0..3 {
//!     player.advance()?;
//! }
//!
//! // the surface of the bar as it was simulated
//! let mut frame = Frame::default();
//! frame.update(&player.model, &player.state);
//! let character = binding.played(&scene);
//! let parts = character.parts_in(&frame, &character.pose_in(&frame));
//! assert!(parts[0].is_flesh && parts[0].vertices.len() == 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod animated_skeleton;
mod animation;
mod armature;
mod bare_mesh;
mod binding;
mod bone_weights;
mod bones;
mod captured_motion;
mod channel;
mod character;
mod defaults;
mod error;
mod flesh;
mod flesh_around;
mod floor;
mod hard_words;
mod human_bones;
mod human_muscles;
mod humanoid;
mod jiggle;
mod joint;
mod joint_axes;
mod joint_limits;
mod layer;
mod limb_masses;
mod mesh;
mod motion;
mod names;
mod node;
mod objects;
mod options;
mod placement;
mod pose;
mod response;
mod rigged;
mod rigid_parts;
mod rigid_skin;
mod roll;
mod settings;
mod shell;
mod shown;
mod skin;
mod softness;
mod softness_options;
mod stretch;
pub mod transform;
mod watch;
mod weights;

pub use animation::CharacterAnimation;
pub use bare_mesh::{empty_scene, hanging_cloth, hanging_jelly};
pub use binding::{CharacterBinding, CharacterPart, PlayedCharacter};
pub use bone_weights::{VertexWeights, bone_weights};
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
pub use human_muscles::human_muscles;
pub use jiggle::DEFAULT_LIMIT;
pub use joint::CharacterJoint;
pub use mesh::{CharacterMaterial, CharacterMesh, CharacterPrimitive, MorphTarget};
pub use names::{find_bone, nearest};
pub use node::{CharacterNode, NodeTree};
pub use objects::{ObjectFrames, ObjectSource, ObjectSpace, ShownObjects};
pub use options::{CharacterOptions, FleshShape};
pub use placement::Placement;
pub use pose::CharacterPose;
pub use rigged::{RiggedCharacter, SurfaceId};
pub use settings::TakeSettings;
pub use shown::{CharacterFrames, ShownSurfaces};
pub use sinew_take::JointOptions;
pub use skin::{BindReport, CharacterSkin};
pub use softness::MAX_SOFTNESS;
pub use softness_options::{ColorChannel, SoftnessOptions, SoftnessTexture};
pub use transform::{Mat4, NodeTransform};
pub use watch::{CharacterReport, CharacterWatch, Peak};
pub use weights::{JointWeight, SkinWeights, SkinWeightsBuilder};
