//! Critically damped path following for joints.
//!
//! Within a frame of length T a step moves kinematic joints along a given path ([`sinew_skeleton::StatePath`]) and leaves them with the velocity of
//! that path, so a joint that is on the motion stays on it to round-off. A joint x that is off the motion y by e, because a torque drove it
//! before, returns like a critically damped spring:
//!
//! ```text
//! x = y · exp(e),   v_x = Jr(e) ė + exp(−e) v_y
//! e' = (e + B T) E,   ė' = (ė − B T/τ) E,   B = ė + e/τ,   E = exp(−T/τ)
//! ```
//!
//! The second line solves ë + 2 ė/τ + e/τ² = 0 exactly, and the first is exact for rotations of any size, so two frames of T/2 end where one frame of T
//! does: the frame rate does not matter.

use crate::part_slot::{PartSlot, slots_of};
use core::ops::Range;
use sinew_math::{Vec3, real};
use sinew_skeleton::{BoneId, Skeleton, SkeletonState};

/// Critically damped tracking of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathFollower {
    /// τ: time constant (s) with which the tracking error decays, asymptotically by 1/e per τ. At 0 each sub-step ends on the motion.
    pub time_constant: f64,
}

/// Below this tracking error (rad, m) a joint is on the motion: the rest is round-off.
pub(crate) const ON_PATH: f64 = 1e-9;

impl Default for PathFollower {
    fn default() -> PathFollower {
        PathFollower { time_constant: 0.1 }
    }
}

/// The targets of a frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameMotion<'a> {
    /// The motion as the frame begins.
    pub now: &'a SkeletonState,
    /// The same, on the side of a cut where the frame ends: another pose than `now` for joints that jump, the same for all others.
    pub now_after_cut: &'a SkeletonState,
    /// The motion as the frame ends.
    pub next: &'a SkeletonState,
    /// How long the frame is (s).
    pub dt: f64,
}

impl PathFollower {
    /// Writes the path of a bone's joint over a frame into the states `[from, to]`. A joint that jumps keeps its tracking error.
    ///
    /// # Panics
    /// If a state belongs to another skeleton.
    pub fn write_path(
        &self,
        skeleton: &Skeleton,
        bone: BoneId,
        motion: FrameMotion,
        state: &SkeletonState,
        [from, to]: [&mut SkeletonState; 2],
    ) {
        let FrameMotion { now, now_after_cut: start, next, dt } = motion;
        for PartSlot { part, q, v } in slots_of(skeleton, bone) {
            // on the motion, the path is the motion itself
            from.q[q.clone()].copy_from_slice(&start.q[q.clone()]);
            from.v[v.clone()].copy_from_slice(&start.v[v.clone()]);
            to.q[q.clone()].copy_from_slice(&next.q[q.clone()]);
            to.v[v.clone()].copy_from_slice(&next.v[v.clone()]);
            let off = part.difference(&now.q[q.clone()], &state.q[q.clone()]);
            if self.time_constant <= 0.0 || off.norm() < ON_PATH {
                continue;
            }

            // tracking error and its rate, now and at the end of the frame
            let along = part.velocity_at_difference(&off, &velocity(now, &v));
            let rate = part.difference_rate(&off, &(velocity(state, &v) - along));
            let keep = real::exp(-dt / self.time_constant);
            let pull = rate + off / self.time_constant;
            let off_later = (off + pull * dt) * keep;
            let rate_later = (rate - pull * (dt / self.time_constant)) * keep;

            // the motion plus what is left of the error
            for (path, motion, off, rate) in
                [(&mut *from, start, &off, &rate), (&mut *to, next, &off_later, &rate_later)]
            {
                part.integrate(&motion.q[q.clone()], off, &mut path.q[q.clone()]);
                let moved = part.velocity_at_difference(off, &velocity(motion, &v))
                    + part.velocity_of_difference(off, rate);
                path.v[v.clone()].copy_from_slice(&moved.as_slice()[..v.len()]);
            }
        }
    }
}

/// The velocities of a joint part; components beyond its degrees of freedom are 0.
fn velocity(state: &SkeletonState, v: &Range<usize>) -> Vec3 {
    let mut velocity = Vec3::zeros();
    velocity.iter_mut().zip(&state.v[v.clone()]).for_each(|(slot, v)| *slot = *v);
    velocity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part_slot::bone_ids;
    use crate::skeleton_motion::tests::{limb, wave};
    use crate::{Extrapolation, Interpolation, SkeletonMotion};
    use sinew_skeleton::StatePath;

    /// The largest tracking error over all joints (rad, m).
    fn off(skeleton: &Skeleton, a: &SkeletonState, b: &SkeletonState) -> f64 {
        let slots = bone_ids(skeleton).flat_map(|bone| slots_of(skeleton, bone));
        slots.map(|p| p.part.difference(&a.q[p.q.clone()], &b.q[p.q.clone()]).norm()).fold(0.0, f64::max)
    }

    /// Advances one frame as a stepper does; returns the largest acceleration in ten sub-steps.
    fn frame(
        follow: &PathFollower,
        skeleton: &Skeleton,
        motion: &SkeletonMotion,
        (time, dt): (f64, f64),
        state: &mut SkeletonState,
    ) -> f64 {
        let (now, next) = (motion.sample(time), motion.sample(time + dt));
        let (mut from, mut to) = (SkeletonState::at_rest(skeleton), SkeletonState::at_rest(skeleton));
        let targets = FrameMotion { now: &now, now_after_cut: &now, next: &next, dt };
        for bone in bone_ids(skeleton) {
            follow.write_path(skeleton, bone, targets, state, [&mut from, &mut to]);
        }
        let mut path = StatePath::default();
        path.fit(skeleton, &from, &to, dt);
        let mut largest = 0.0f64;
        for step in 1..=10 {
            let before = state.v.clone();
            bone_ids(skeleton)
                .for_each(|bone| path.place(skeleton, bone, (0.1 * f64::from(step), dt), state));
            let change = state.v.iter().zip(&before).map(|(v, before)| (v - before).abs());
            largest = change.fold(largest, f64::max).max(largest);
        }
        largest / (0.1 * dt)
    }

    /// At the end of each frame coordinates of order 1 match the motion to a few ε, without drift over 100 frames.
    #[test]
    fn joint_on_the_motion_stays_on_it() {
        let skeleton = limb();
        let motion = SkeletonMotion::build(&skeleton, 0.05, wave(&skeleton, 40)).unwrap();
        let motion = motion.with(Interpolation::BSpline, Extrapolation::Hold);
        for time_constant in [0.0, 0.1] {
            let mut state = motion.sample(0.0);
            for n in 0..100 {
                let time = 0.02 * f64::from(n);
                frame(&PathFollower { time_constant }, &skeleton, &motion, (time, 0.02), &mut state);
                let error = off(&skeleton, &state, &motion.sample(time + 0.02));
                assert!(error < 1e-14, "{time_constant}, frame {n}: {error:e}");
            }
        }
    }

    /// An error e at rest needs an acceleration of e/τ² and decays as (1 + t/τ) e^(−t/τ): after 30 τ it is below 31 e⁻³⁰ e. Errors below
    /// `ON_PATH` vanish within a frame. The cubic of a frame accelerates slightly more than the exact solution.
    #[test]
    fn tracking_error_decays_with_bounded_acceleration() {
        let skeleton = limb();
        let (dt, time_constant) = (1.0 / 60.0, 0.1);
        let motion = SkeletonMotion::build(&skeleton, 0.05, wave(&skeleton, 1)).unwrap();
        let mut state = SkeletonState::at_rest(&skeleton);
        let start = off(&skeleton, &state, &motion.sample(0.0));
        for n in 0..180 {
            let at = (dt * f64::from(n), dt);
            let largest = frame(&PathFollower { time_constant }, &skeleton, &motion, at, &mut state);
            let bound = 1.2 * start / (time_constant * time_constant);
            assert!(largest < bound, "frame {n}: acceleration {largest}");
        }
        assert!(off(&skeleton, &state, &motion.sample(0.0)) < 31.0 * real::exp(-30.0) * start + ON_PATH);
    }

    /// A moving target, a start far off it in place and velocity, and a kick in between: the closed form of the error is exact, so what is left at
    /// common times is the round-off of up to 960 frames per second, each a few ε of coordinates of order 1, and errors below `ON_PATH` that
    /// vanish in a frame at one rate and not yet at another.
    #[test]
    fn returns_to_the_motion_alike_at_every_frame_rate() {
        let skeleton = limb();
        let motion = SkeletonMotion::build(&skeleton, 0.05, wave(&skeleton, 60)).unwrap();
        let motion = motion.with(Interpolation::BSpline, Extrapolation::Hold);
        for time_constant in [0.02, 0.1, 0.5] {
            let run = |fps: u32| {
                // off by more than a radian, moving otherwise than the motion, and never by half a turn
                let mut state = motion.sample(0.0);
                let own = state.v.clone();
                state.v.iter_mut().enumerate().for_each(|(dof, v)| *v = 0.3 + 0.05 * dof as f64);
                state.move_along_velocity(&skeleton, 1.0);
                state.v.iter_mut().zip(own).for_each(|(v, own)| *v += own);
                let mut seen = Vec::new();
                for n in 0..2 * fps {
                    if n == fps {
                        state.v.iter_mut().for_each(|v| *v += 3.0);
                    }
                    let at = (f64::from(n) / f64::from(fps), 1.0 / f64::from(fps));
                    frame(&PathFollower { time_constant }, &skeleton, &motion, at, &mut state);
                    if (n + 1) % (fps / 6) == 0 {
                        seen.push(state.clone());
                    }
                }
                seen
            };

            // the same at common times
            let reference = run(60);
            for fps in [24, 30, 120, 240, 960] {
                for (i, (a, b)) in run(fps).iter().zip(&reference).enumerate() {
                    let error = off(&skeleton, a, b);
                    assert!(error < 2.0 * ON_PATH, "τ = {time_constant}, {fps} fps, mark {i}: {error:e}");
                }
            }
        }
    }
}
