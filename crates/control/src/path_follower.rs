//! Critically damped path following for joints.
//!
//! Within a frame of length T a step moves kinematic joints along a given path ([`sinew_skeleton::StatePath`]), so a joint that is on the
//! motion stays on it to round-off. A joint that is off by e, because a torque drove it before, returns like a critically damped spring:
//!
//! ```text
//! e' = (e + B T) E,   ė' = (ė − B T/τ) E,   B = ė + e/τ,   E = exp(−T/τ)
//! ```

use crate::part_slot::slots_of;
use sinew_math::{Vec3, real};
use sinew_skeleton::{BoneId, Skeleton, SkeletonState};

/// Critically damped tracking of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathFollower {
    /// τ: time constant (s) with which the tracking error decays, asymptotically by 1/e per τ. At 0 each sub-step ends on the motion.
    pub time_constant: f64,
}

/// Below this tracking error (rad, m) a joint is on the motion: the rest is round-off.
const ON_PATH: f64 = 1e-9;

/// Below this tracking error (rad, m) the error decays as exp(−t/τ), independent of the joint's velocity: the velocity is known half a sub-step
/// late, and its error would keep the joint from converging.
const NEAR_PATH: f64 = 5e-3;

impl Default for PathFollower {
    fn default() -> PathFollower {
        PathFollower { time_constant: 0.1 }
    }
}

impl PathFollower {
    /// Writes the path of a bone's joint over a frame of `dt` (s) into the states `[from, to]`. `motion` holds the targets at the start and
    /// at the end of the frame.
    ///
    /// # Panics
    /// If a state belongs to another skeleton.
    pub fn write_path(
        &self,
        skeleton: &Skeleton,
        bone: BoneId,
        (motion, dt): ([&SkeletonState; 2], f64),
        state: &SkeletonState,
        [from, to]: [&mut SkeletonState; 2],
    ) {
        let [now, next] = motion;
        for slot in slots_of(skeleton, bone) {
            // on the motion, the path is the motion itself
            let (part, q, v) = (slot.part, slot.q.clone(), slot.v.clone());
            from.q[q.clone()].copy_from_slice(&now.q[q.clone()]);
            from.v[v.clone()].copy_from_slice(&now.v[v.clone()]);
            to.q[q.clone()].copy_from_slice(&next.q[q.clone()]);
            to.v[v.clone()].copy_from_slice(&next.v[v.clone()]);
            let off = part.difference(&now.q[q.clone()], &state.q[q.clone()]);
            if self.time_constant <= 0.0 || off.norm() < ON_PATH {
                continue;
            }

            // tracking error and its rate, now and at the end of the frame
            let mut rate = Vec3::zeros();
            for (k, dof) in v.clone().enumerate() {
                rate[k] = state.v[dof] - now.v[dof];
            }
            if off.norm() < NEAR_PATH {
                rate = -off / self.time_constant;
            }
            let keep = real::exp(-dt / self.time_constant);
            let pull = rate + off / self.time_constant;
            let off_later = (off + pull * dt) * keep;
            let rate_later = (rate - pull * (dt / self.time_constant)) * keep;

            // the path from the joint's own coordinates to the motion plus what is left of the error
            from.q[q.clone()].copy_from_slice(&state.q[q.clone()]);
            part.integrate(&next.q[q.clone()], &off_later, &mut to.q[q]);
            for (k, dof) in v.enumerate() {
                from.v[dof] += rate[k];
                to.v[dof] += rate_later[k];
            }
        }
    }
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

    /// Advances one frame in ten sub-steps, as a stepper does; returns the largest acceleration.
    fn frame(
        follow: &PathFollower,
        skeleton: &Skeleton,
        motion: &SkeletonMotion,
        (time, dt): (f64, f64),
        state: &mut SkeletonState,
    ) -> f64 {
        let (now, next) = (motion.sample(time), motion.sample(time + dt));
        let (mut from, mut to) = (SkeletonState::at_rest(skeleton), SkeletonState::at_rest(skeleton));
        for bone in bone_ids(skeleton) {
            follow.write_path(skeleton, bone, ([&now, &next], dt), state, [&mut from, &mut to]);
        }
        let mut path = StatePath::default();
        path.fit(skeleton, &from, &to, dt);
        let mut largest = 0.0f64;
        for step in 1..=10 {
            let mut acceleration = vec![0.0; skeleton.v_count()];
            for bone in bone_ids(skeleton) {
                let own = &mut acceleration[skeleton.bone(bone).joint.v()];
                path.accelerate(skeleton, bone, (0.1 * f64::from(step), 0.1 * dt), state, own);
            }
            state.advance(skeleton, &acceleration, 0.1 * dt);
            largest = acceleration.iter().fold(largest, |largest, a| largest.max(a.abs()));
        }
        largest
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

    /// An error e at rest needs an acceleration of about e/τ² and decays as (1 + t/τ) e^(−t/τ): after 20 τ it is below 21 e⁻²⁰ e. Errors below
    /// `ON_PATH` vanish within a frame.
    #[test]
    fn tracking_error_decays_with_bounded_acceleration() {
        let skeleton = limb();
        let (dt, time_constant) = (1.0 / 60.0, 0.1);
        let motion = SkeletonMotion::build(&skeleton, 0.05, wave(&skeleton, 1)).unwrap();
        let mut state = SkeletonState::at_rest(&skeleton);
        let start = off(&skeleton, &state, &motion.sample(0.0));
        for n in 0..120 {
            let at = (dt * f64::from(n), dt);
            let largest = frame(&PathFollower { time_constant }, &skeleton, &motion, at, &mut state);
            // the cubic of a frame accelerates slightly more than the exact solution, and where the error falls below NEAR_PATH
            // velocity changes by about NEAR_PATH/τ within a sub-step
            let bound =
                1.5 * start / (time_constant * time_constant) + 2.0 * NEAR_PATH / time_constant / (0.1 * dt);
            assert!(largest < bound, "frame {n}: acceleration {largest}");
        }
        assert!(off(&skeleton, &state, &motion.sample(0.0)) < 21.0 * real::exp(-20.0) * start + ON_PATH);
    }
}
