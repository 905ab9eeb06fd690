//! A take: the [`Scene`] a user wrote, the loop that plays it, and the [`Frame`]s that come out
//! and go to any number of [`FrameSink`]s. Knows no file format.

mod bookmark;
mod checkpoint;
mod frame;
mod frame_check;
mod loop_closer;
mod normals;
mod palette;
mod play;
mod record;
mod scene;
mod scene_parts;
mod sink_group;
mod up;

pub use bookmark::{Bookmark, JointTorques};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use frame::{Frame, FrameObstacle, FrameSink, SinkError, SurfaceInfo};
pub use frame_check::{check_frame, check_surfaces, check_time, check_written_rest, signed_count};
pub use loop_closer::LoopCloser;
pub use normals::{Smoothing, unit_or_up};
pub use palette::body_color;
pub use play::{PlayError, Player, Summary};
pub use record::{StateSink, replay};
pub use scene::Scene;
pub use scene_parts::{PartsSink, SceneParts};
pub use up::Up;
