//! Cyclic motions from procedural key poses at even times, and the builder of poses.

use sinew_control::{Extrapolation, Interpolation, Key, SkeletonMotion};
use sinew_math::{Rotation, Vec3, real, so3};
use sinew_skeleton::{Skeleton, SkeletonState};

/// Frame rate of motions (Hz), the rate at which scene files resample key poses.
pub(crate) const FRAMES_PER_SECOND: f64 = 120.0;

/// Keys beyond either end that a spline needs at the end.
const BEYOND: usize = 2;

/// A cyclic motion.
pub(crate) struct Cycle<'a> {
    /// Number of key poses; the first follows after the last.
    pub(crate) keys: usize,
    /// Frames of 1/120 s between key poses.
    pub(crate) frames_per_key: usize,
    /// Writes the pose at a fraction of the cycle, from 0 to 1.
    pub(crate) pose: &'a dyn Fn(f64, &mut PoseBuilder),
}

/// A pose under construction; joints that are not set keep their rest coordinates.
pub(crate) struct PoseBuilder<'a> {
    skeleton: &'a Skeleton,
    state: SkeletonState,
}

impl PoseBuilder<'_> {
    /// Returns the joint coordinates of the rest pose modified by `write`.
    pub(crate) fn at_rest(skeleton: &Skeleton, write: impl FnOnce(&mut PoseBuilder)) -> Vec<f64> {
        let mut pose = PoseBuilder { skeleton, state: SkeletonState::at_rest(skeleton) };
        write(&mut pose);
        pose.state.q
    }

    /// Sets the coordinates of a joint: angles in degrees, for a ball joint the rotation vector. Ignores an unknown bone.
    pub(crate) fn turn(&mut self, bone: &str, degrees: &[f64]) {
        let angles: Vec<f64> = degrees.iter().map(|x| x.to_radians()).collect();
        self.set(bone, &angles);
    }

    /// Sets the rotation of a ball joint.
    pub(crate) fn rotate(&mut self, bone: &str, rotation: &Rotation) {
        self.set(bone, so3::log(rotation).as_slice());
    }

    /// Sets the ball joints of both sides symmetrically: `degrees` is the rotation vector of the left one.
    pub(crate) fn turn_both(&mut self, bone: &str, degrees: Vec3) {
        self.turn(&format!("left {bone}"), degrees.as_slice());
        self.turn(&format!("right {bone}"), mirrored_turn(degrees).as_slice());
    }

    /// Sets a free joint: translation from rest (m) and rotation.
    pub(crate) fn place(&mut self, bone: &str, shift: Vec3, rotation: &Rotation) {
        let angles = so3::log(rotation);
        self.set(bone, &[shift.x, shift.y, shift.z, angles.x, angles.y, angles.z]);
    }

    fn set(&mut self, bone: &str, chart: &[f64]) {
        if let Some(bone) = self.skeleton.find_bone(bone) {
            self.state.set_chart_of(self.skeleton, bone, chart);
        }
    }
}

impl Cycle<'_> {
    /// Builds the motion of a skeleton: a Catmull-Rom spline through the keys, smooth from the last to the first.
    pub(crate) fn motion(&self, skeleton: &Skeleton) -> Option<SkeletonMotion> {
        let key = |i: usize| {
            let fraction = (i + self.keys - BEYOND) % self.keys;
            let pose = PoseBuilder::at_rest(skeleton, |pose| {
                (self.pose)(fraction as f64 / self.keys as f64, pose);
            });
            Key::at((i * self.frames_per_key) as f64 / FRAMES_PER_SECOND, pose)
        };
        let keys: Vec<_> = (0..=self.keys + 2 * BEYOND).map(key).collect();
        let interpolation = Interpolation::KochanekBartels;
        let whole =
            SkeletonMotion::from_key_poses(skeleton, 1.0 / FRAMES_PER_SECOND, &keys, interpolation).ok()?;
        let first = BEYOND * self.frames_per_key;
        let cycle = whole.cut(first..first + self.keys * self.frames_per_key + 1).ok()?;
        Some(cycle.with(interpolation, Extrapolation::Loop))
    }
}

/// The rotation vector mirrored at the sagittal plane.
pub(crate) fn mirrored_turn(turn: Vec3) -> Vec3 {
    Vec3::new(turn.x, -turn.y, -turn.z)
}

/// sin(2π fraction)
pub(crate) fn wave(fraction: f64) -> f64 {
    real::sin(core::f64::consts::TAU * fraction)
}

/// Smoothstep: rises from 0 to 1 while `x` goes from `from` to `to`.
pub(crate) fn ramp(x: f64, from: f64, to: f64) -> f64 {
    let s = ((x - from) / (to - from)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// A smooth bump: rises from 0 to 1 and falls back to 0 while `x` goes from `from` to `to`.
pub(crate) fn bump(x: f64, from: f64, to: f64) -> f64 {
    let s = ((x - from) / (to - from)).clamp(0.0, 1.0);
    16.0 * s * s * (1.0 - s) * (1.0 - s)
}
