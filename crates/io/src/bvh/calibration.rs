//! Detects a calibration pose: a first frame, often a T-pose, that capture software puts before the motion.

use super::Bvh;
use sinew_math::so3;

/// The rotation of a joint within one frame (rad) above which frame 0 may be a calibration pose: 30 degrees.
const MIN_JUMP: f64 = 0.52;
/// The fastest rotation within a frame right after a calibration pose, as a fraction of the jump out of it.
const MAX_FRACTION_AFTER: f64 = 0.2;

impl Bvh {
    /// The frame that the motion begins with: 1 where frame 0 is a calibration pose, from which joints jump to the motion, else 0.
    pub(crate) fn first_motion_frame(&self) -> usize {
        let jump = self.max_rotation(0);
        let after = (1..4).map(|frame| self.max_rotation(frame)).fold(0.0, f64::max);
        usize::from(self.frame_count > 2 && jump > MIN_JUMP && after < MAX_FRACTION_AFTER * jump)
    }

    /// The largest angle (rad) by which a joint rotates between a frame and the next; 0 where one of them is missing.
    fn max_rotation(&self, frame: usize) -> f64 {
        let (Some(a), Some(b)) = (self.frame(frame), self.frame(frame + 1)) else { return 0.0 };
        let angle = |joint: usize| {
            let [a, b] = [a, b].map(|frame| self.parent_from_joint(joint, frame).rotation);
            so3::log(&(a.inverse() * b)).norm()
        };
        (0..self.joints.len()).map(angle).fold(0.0, f64::max)
    }
}
