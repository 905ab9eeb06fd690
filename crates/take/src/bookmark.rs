//! A place in a take from which it can go on.

use crate::Checkpoint;

/// All that is needed to go on with a take from one of its frames as if it had never been left: the state to the bit, and what has been counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Bookmark {
    /// How many frames after the start.
    pub frame: usize,
    /// What had happened until then.
    pub summary: Summary,
    /// What the joints of each rig had needed.
    pub torques: Vec<JointTorques>,
    /// The state.
    pub checkpoint: Checkpoint,
}

/// What happened in a take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Frames taken after the start.
    pub frames: usize,
    /// Sub-steps that held.
    pub steps: usize,
    /// Frames' worth of sub-steps that diverged and were taken again.
    pub retries: usize,
    /// The most elements that were turned inside out at one time.
    pub max_inverted: usize,
    /// Elements that were diagonalised, summed over all steps.
    pub diagonalised: usize,
}

/// What the joints of a rig need, one number per degree of freedom (N m or N).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointTorques {
    /// In the last step; zeros before the first.
    pub last: Vec<f64>,
    /// The largest of the take so far, without signs.
    pub peak: Vec<f64>,
}

impl JointTorques {
    /// None yet, for so many degrees of freedom.
    pub(crate) fn none(count: usize) -> JointTorques {
        JointTorques { last: vec![0.0; count], peak: vec![0.0; count] }
    }

    /// Takes in what a step needed.
    pub(crate) fn add(&mut self, torques: &[f64]) {
        self.last.copy_from_slice(torques);
        self.peak.iter_mut().zip(torques).for_each(|(peak, torque)| *peak = peak.max(torque.abs()));
    }
}
