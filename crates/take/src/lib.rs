//! A take: the [`Scene`] a user wrote, the loop that plays it, and the [`Frame`]s that come out
//! and go to any number of [`FrameSink`]s. Knows no file format.

mod frame;
mod scene;

pub use frame::{Frame, FrameSink, SinkError, SurfaceInfo};
pub use scene::Scene;
