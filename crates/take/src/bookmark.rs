//! Bookmarks: resume points of a take.

use crate::Checkpoint;

/// A resume point: everything needed to continue a take from one of its frames with the same bits, the exact state and all statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Bookmark {
    /// Number of frames since the start.
    pub frame: usize,
    /// Statistics up to that frame.
    pub summary: Summary,
    /// Joint torques of each rig up to that frame.
    pub torques: Vec<JointTorques>,
    /// The state.
    pub checkpoint: Checkpoint,
}

/// Statistics of a take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Frames simulated after the start.
    pub frames: usize,
    /// Accepted sub-steps.
    pub steps: usize,
    /// Frames that diverged and were repeated with smaller sub-steps.
    pub retries: usize,
    /// Largest number of inverted elements at one time.
    pub max_inverted: usize,
    /// Singular value decompositions of elements, summed over all steps.
    pub diagonalised: usize,
}

/// The joint torques of a rig, one number per degree of freedom (N m or N).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointTorques {
    /// Torques of the last step; zeros before the first.
    pub last: Vec<f64>,
    /// Largest absolute torques of the take so far.
    pub peak: Vec<f64>,
}

impl JointTorques {
    /// Zero torques for `count` degrees of freedom.
    pub(crate) fn zeros(count: usize) -> JointTorques {
        JointTorques { last: vec![0.0; count], peak: vec![0.0; count] }
    }

    /// Records the torques of a step.
    pub(crate) fn add(&mut self, torques: &[f64]) {
        self.last.copy_from_slice(torques);
        self.peak.iter_mut().zip(torques).for_each(|(peak, torque)| *peak = peak.max(torque.abs()));
    }
}
