//! A motion that begins again when it is over, drawn as postures at even times.

use sinew_control::{Extrapolation, Interpolation, Key, SkeletonMotion};
use sinew_math::{Rotation, Vec3, real, turn};
use sinew_skeleton::{Skeleton, SkeletonState};

/// How many frames a second of a motion has: what scene files fill keys up to.
pub(crate) const FRAMES_PER_SECOND: f64 = 120.0;

/// Keys beyond either end that a smooth curve at the end looks at.
const BEYOND: usize = 2;

/// A motion that begins again when it is over.
pub(crate) struct Cycle<'a> {
    /// How many postures it has; the first comes again after the last.
    pub(crate) keys: usize,
    /// Frames of 1/120 s from posture to posture.
    pub(crate) frames_per_key: usize,
    /// Writes the posture at a fraction of the cycle, from 0 to 1.
    pub(crate) pose: &'a dyn Fn(f64, &mut Posture),
}

/// A posture being written; what is not written stays at rest.
pub(crate) struct Posture<'a> {
    skeleton: &'a Skeleton,
    state: SkeletonState,
}

impl Posture<'_> {
    /// The coordinates of a posture that is written on the rest pose.
    pub(crate) fn at_rest(skeleton: &Skeleton, write: impl FnOnce(&mut Posture)) -> Vec<f64> {
        let mut posture = Posture { skeleton, state: SkeletonState::at_rest(skeleton) };
        write(&mut posture);
        posture.state.q
    }

    /// Sets the coordinates of a joint: angles in degrees, for a ball the rotation vector. A bone that is not there is left out.
    pub(crate) fn turn(&mut self, bone: &str, degrees: &[f64]) {
        let angles: Vec<f64> = degrees.iter().map(|x| x.to_radians()).collect();
        self.set(bone, &angles);
    }

    /// Turns a ball.
    pub(crate) fn rotate(&mut self, bone: &str, rotation: &Rotation) {
        self.set(bone, turn::log(rotation).as_slice());
    }

    /// Turns balls of both sides alike: `degrees` is the rotation vector of the left one.
    pub(crate) fn turn_both(&mut self, bone: &str, degrees: Vec3) {
        self.turn(&format!("left {bone}"), degrees.as_slice());
        self.turn(&format!("right {bone}"), mirrored_turn(degrees).as_slice());
    }

    /// Places a free joint: how far it is from rest (m), and how it is turned.
    pub(crate) fn place(&mut self, bone: &str, shift: Vec3, rotation: &Rotation) {
        let angles = turn::log(rotation);
        self.set(bone, &[shift.x, shift.y, shift.z, angles.x, angles.y, angles.z]);
    }

    fn set(&mut self, bone: &str, chart: &[f64]) {
        if let Some(bone) = self.skeleton.find_bone(bone) {
            self.state.set_chart_of(self.skeleton, bone, chart);
        }
    }
}

impl Cycle<'_> {
    /// The motion of a skeleton: a Catmull-Rom curve through the keys, smooth from the last to the first.
    pub(crate) fn motion(&self, skeleton: &Skeleton) -> Option<SkeletonMotion> {
        let key = |i: usize| {
            let fraction = (i + self.keys - BEYOND) % self.keys;
            let pose = Posture::at_rest(skeleton, |posture| {
                (self.pose)(fraction as f64 / self.keys as f64, posture);
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

/// The rotation vector that does on the other side what this one does on its own.
pub(crate) fn mirrored_turn(turn: Vec3) -> Vec3 {
    Vec3::new(turn.x, -turn.y, -turn.z)
}

/// sin of a fraction of a full turn.
pub(crate) fn wave(fraction: f64) -> f64 {
    real::sin(core::f64::consts::TAU * fraction)
}

/// Rises smoothly from 0 to 1 while `x` goes from `from` to `to`.
pub(crate) fn ramp(x: f64, from: f64, to: f64) -> f64 {
    let s = ((x - from) / (to - from)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// Rises smoothly from 0 to 1 and falls back while `x` goes from `from` to `to`.
pub(crate) fn bump(x: f64, from: f64, to: f64) -> f64 {
    let s = ((x - from) / (to - from)).clamp(0.0, 1.0);
    16.0 * s * s * (1.0 - s) * (1.0 - s)
}
