//! A take: the [`Scene`] a user wrote, the loop that plays it, and the [`Frame`]s that come out
//! and go to any number of [`FrameSink`]s. Knows no file format.

mod bookmark;
mod checkpoint;
mod frame;
mod loop_closer;
mod play;
mod replay;
mod scene;
mod sink_group;

pub use bookmark::{Bookmark, JointTorques, Summary};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use frame::{Frame, FrameObstacle, FrameSink, SinkError, SurfaceInfo};
pub use loop_closer::LoopCloser;
pub use play::{PlayError, Player, StateSink};
pub use replay::replay;
pub use scene::Scene;
