//! A take: the [`Scene`] a user wrote, the loop that plays it, and the [`Frame`]s that come out
//! and go to any number of [`FrameSink`]s. Knows no file format.

mod bookmark;
mod checkpoint;
mod frame;
mod loop_closer;
mod play;
mod record;
mod scene;
mod sink_group;
mod watch;

pub use bookmark::{Bookmark, JointTorques};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use frame::{Frame, FrameObstacle, FrameSink, SinkError, SurfaceInfo};
pub use loop_closer::LoopCloser;
pub use play::{PlayError, Player, Summary};
pub use record::{StateSink, replay};
pub use scene::Scene;
pub use watch::{Stopped, WatchAnswer};
