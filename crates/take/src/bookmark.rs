//! A place in a take from which it can go on.

use crate::{Checkpoint, Summary};

/// All that is needed to go on with a take from one of its frames as if it had never been left: the state to the bit, and what has been counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Bookmark {
    /// How many frames after the start.
    pub frame: usize,
    /// What had happened until then.
    pub summary: Summary,
    /// The largest torque of each degree of freedom of each rig until then (N m or N).
    pub peak_torques: Vec<Vec<f64>>,
    /// The state.
    pub checkpoint: Checkpoint,
}
