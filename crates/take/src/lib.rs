//! Takes: the [`Scene`] a user wrote, the frame loop that simulates it ([`Player`]), and the [`Frame`]s that go to any number of
//! [`FrameSink`]s. The crate knows no file format.
//!
//! ```
//! use sinew_flesh::Material;
//! use sinew_math::Vec3;
//! use sinew_mesh::shapes;
//! use sinew_sim::desc::{BodyDesc, ShapeDesc, WorldDesc};
//! use sinew_take::{Player, Scene};
//!
//! // an undamped block of jelly in free fall
//! let body = BodyDesc {
//!     name: "block".into(),
//!     shape: ShapeDesc::Tets(shapes::beam(2, [0.2, 0.1, 0.1])),
//!     material: Material::soft_solid(10e3, 0.4, 1000.0, 0.0),
//!     velocity: Vec3::zeros(),
//!     ..BodyDesc::default()
//! };
//! let gravity = Vec3::new(0.0, 0.0, -9.81);
//! let scene = Scene {
//!     name: "fall".into(),
//!     world: WorldDesc { gravity, bodies: vec![body], ..WorldDesc::default() },
//!     pin_motions: Vec::new(),
//!     performances: Vec::new(),
//!     obstacle_motions: Vec::new(),
//!     constraint_motions: Vec::new(),
//!     curves: Default::default(),
//!     solver: Default::default(),
//!     preroll: 0.0,
//!     seconds: 0.1,
//!     fps: 60.0,
//!     edits: Vec::new(),
//! };
//!
//! let mut player = Player::build(&scene)?;
//! player.play(&mut [], |_frame| {})?;
//! assert_eq!(player.summary.frames, 6);
//! let velocity = player.state.momentum(&player.model) / player.model.mass();
//! assert!((velocity - 0.1 * gravity).norm() < 1e-9);
//! # Ok::<(), sinew_take::PlayError>(())
//! ```

mod bare_joints;
mod bookmark;
mod checkpoint;
mod cycle;
mod edit;
mod edited_scene;
mod frame;
mod frame_check;
mod ghosts;
mod held_magnitude;
mod history;
mod idle_goals;
mod joint_strength;
mod limb_masses;
mod loop_closer;
mod magnitude_search;
mod metaphor_scale;
mod normals;
mod palette;
mod plausibility;
mod play;
mod play_error;
mod replay;
mod scene;
mod scene_parts;
mod segment;
mod sink_group;
mod skin_stage;
mod up;
mod watch;

pub use bookmark::{Bookmark, JointTorques, Summary};
pub use checkpoint::{Checkpoint, CheckpointError, NodeWords};
pub use edit::{SceneChange, SceneEdit};
pub use frame::{Frame, FrameObstacle, FrameSink, SinkError, SurfaceInfo};
pub use frame_check::{check_frame, check_surfaces, check_time, check_written_rest, signed_count};
pub use ghosts::{Ghost, GhostPreview, GhostSpan, Ghosts, GhostsEnd};
pub use history::{History, TimedEdit, Version, VersionId};
pub use joint_strength::{JointOptions, JointRange, JointStrength};
pub use limb_masses::{Limb, LimbMasses};
pub use loop_closer::LoopCloser;
pub use magnitude_search::{MagnitudeError, MagnitudeGoal, MagnitudeReport};
pub use normals::{Smoothing, unit_or_up};
pub use palette::body_color;
pub use play::{DroppedPoint, Player, StateSink};
pub use play_error::PlayError;
pub use replay::replay;
pub use scene::{EARTH_GRAVITY, Scene};
pub use scene_parts::{PartsSink, SceneParts};
pub use skin_stage::SkinStage;
pub use up::Up;
pub use watch::{Stopped, WatchAnswer};
