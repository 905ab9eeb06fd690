//! Accelerations that keep a skeleton on a path in time.
//!
//! Symplectic Euler takes a step as v' = v + h a, x' = x · exp(h v'). Asked for the acceleration of the path itself, it drifts
//! off by the error of every step; so the path's positions are asked for instead:
//!
//! ```text
//! e₋ = gap(T(t − h), x · exp(−h v))          how far off the last step began
//! e  = gap(T(t), x)                          how far off it ended
//! e' = 2 E e − E² e₋,   E = exp(−h/τ)        how far off the next may end
//! a  = (gap(x, T(t + h) · exp(e')) / h − v) / h
//! ```
//!
//! With τ = 0 every step ends on the path, to round-off. With τ > 0 a gap closes like a critically damped spring, as
//! (A + B n) Eⁿ, so that a gap at rest never asks for more than |e|/τ²; and a skeleton on the path stays on it all the same.

use crate::part_value::{PartPlace, bone_ids, part_gap, part_moved, places_of};
use crate::{Beyond, SkeletonMotion};
use core::f64::consts::{PI, TAU};
use sinew_math::{Vec3, real};
use sinew_skeleton::{BoneId, DriveError, Drives, JointDrive, Part, Skeleton, SkeletonState};

/// Follows a motion: finds the accelerations of the joints for each step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Follow {
    /// τ: time in which a gap to the path shrinks to e⁻¹, once under way (s). At 0 each step ends on the path.
    pub settle: f64,
}

/// A step along a motion.
#[derive(Clone, Copy, Debug)]
pub struct MotionStep<'a> {
    /// The motion.
    pub motion: &'a SkeletonMotion,
    /// When the step begins (s), counted from the motion's first frame.
    pub time: f64,
    /// How long it is (s).
    pub h: f64,
}

/// Where joints should be around a step: coordinates as in [`SkeletonState::q`].
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    /// One step before the step begins.
    pub before: &'a [f64],
    /// As the step begins.
    pub now: &'a [f64],
    /// As the step ends.
    pub next: &'a [f64],
}

impl Follow {
    /// Drives the joints of some bones along a motion for one step.
    ///
    /// # Errors
    /// If a bone does not exist or an acceleration is not finite.
    ///
    /// # Panics
    /// If state or motion are of another skeleton; see [`SkeletonMotion::fits`].
    pub fn drive(
        &self,
        skeleton: &Skeleton,
        bones: &[BoneId],
        at: &MotionStep,
        state: &SkeletonState,
        drives: &mut Drives,
    ) -> Result<(), DriveError> {
        let MotionStep { motion, time, h } = *at;
        let before = step_before(skeleton, at);
        let [now, next] = [time, time + h].map(|time| motion.sample(time).q);
        let path = Path { before: &before, now: &now, next: &next };
        for &bone in bones {
            let Some(target) = skeleton.bones().get(bone.index()) else {
                return Err(DriveError::NoSuchBone { bone: bone.0, count: skeleton.bones().len() });
            };
            let mut acceleration = vec![0.0; target.joint.v_count];
            self.accelerate(skeleton, bone, (&path, h), state, &mut acceleration);
            drives.set(skeleton, bone, JointDrive::Motion(&acceleration))?;
        }
        Ok(())
    }

    /// Drives all joints along a motion for one step.
    ///
    /// # Errors
    /// If an acceleration is not finite.
    ///
    /// # Panics
    /// If state or motion are of another skeleton; see [`SkeletonMotion::fits`].
    pub fn drive_all(
        &self,
        skeleton: &Skeleton,
        at: &MotionStep,
        state: &SkeletonState,
        drives: &mut Drives,
    ) -> Result<(), DriveError> {
        let bones: Vec<BoneId> = bone_ids(skeleton).collect();
        self.drive(skeleton, &bones, at, state, drives)
    }

    /// Writes the accelerations (rad/s², m/s²) of one bone's joint for a step of `h` (s).
    ///
    /// # Panics
    /// If an array is too short for the skeleton.
    pub fn accelerate(
        &self,
        skeleton: &Skeleton,
        bone: BoneId,
        (path, h): (&Path, f64),
        state: &SkeletonState,
        acceleration: &mut [f64],
    ) {
        let first = skeleton.bone(bone).joint.v_offset;
        for place in places_of(skeleton, bone) {
            let found = self.part(&place, path, state, h);
            for (k, dof) in place.v.clone().enumerate() {
                acceleration[dof - first] = found[k];
            }
        }
    }

    fn part(&self, place: &PartPlace, path: &Path, state: &SkeletonState, h: f64) -> Vec3 {
        let (part, range) = (&place.part, place.q.clone());
        let x = &state.q[range.clone()];
        let mut v = Vec3::zeros();
        v.iter_mut().zip(&state.v[place.v.clone()]).for_each(|(v, given)| *v = *given);

        let mut aim = [0.0; 4];
        let aim = &mut aim[..range.len()];
        if self.settle > 0.0 {
            let mut last = [0.0; 4];
            let last = &mut last[..range.len()];
            part_moved(part, x, &(v * -h), last);
            let keep = real::exp(-h / self.settle);
            let off = part_gap(part, &path.now[range.clone()], x);
            let was_off = near(part, &off, part_gap(part, &path.before[range.clone()], last));
            part_moved(part, &path.next[range], &(off * (2.0 * keep) - was_off * (keep * keep)), aim);
        } else {
            aim.copy_from_slice(&path.next[range]);
        }
        (part_gap(part, x, aim) / h - v) / h
    }
}

/// Where a motion was a step ago. In the step that begins a held motion it comes with the velocity it goes on with: who starts
/// with that velocity is on the path.
fn step_before(skeleton: &Skeleton, &MotionStep { motion, time, h }: &MotionStep) -> Vec<f64> {
    if motion.beyond == Beyond::Loop || time < 0.0 || time - h >= 0.0 {
        return motion.sample(time - h).q;
    }
    let mut state = motion.sample(time);
    state.move_along_velocity(skeleton, -h);
    state.q
}

/// The same rotation as the vector nearest to another: past a half turn the shortest vector jumps to the other side.
fn near(part: &Part, to: &Vec3, vector: Vec3) -> Vec3 {
    let far = *part == Part::Ball && vector.dot(to) < 0.0 && vector.norm() + to.norm() > PI;
    if far { vector * (1.0 - TAU / vector.norm()) } else { vector }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interpolation;
    use crate::curve::KeyValue;
    use crate::part_value::rotation_of;
    use crate::skeleton_motion::tests::{limb, wave};

    fn motion(skeleton: &Skeleton) -> SkeletonMotion {
        let motion = SkeletonMotion::build(skeleton, 0.05, wave(skeleton, 40)).unwrap();
        motion.with(Interpolation::BSpline, Beyond::Hold)
    }

    /// The largest gap over all joints (rad, m).
    fn off(skeleton: &Skeleton, state: &SkeletonState, q: &[f64]) -> f64 {
        let places = bone_ids(skeleton).flat_map(|bone| places_of(skeleton, bone));
        places.map(|p| part_gap(&p.part, &q[p.q.clone()], &state.q[p.q.clone()]).norm()).fold(0.0, f64::max)
    }

    fn step(follow: &Follow, skeleton: &Skeleton, at: &MotionStep, state: &mut SkeletonState) -> f64 {
        let mut drives = Drives::limp(skeleton);
        follow.drive_all(skeleton, at, state, &mut drives).unwrap();
        let mut acceleration = Vec::new();
        for bone in bone_ids(skeleton) {
            let JointDrive::Motion(values) = drives.get(skeleton, bone) else { panic!("driven by motion") };
            acceleration.extend_from_slice(values);
        }
        state.advance(skeleton, &acceleration, at.h);
        acceleration.iter().fold(0.0, |largest, a| largest.max(a.abs()))
    }

    /// Coordinates of order 1 are met to a few ε in each step, the last as well as the first.
    #[test]
    fn ten_thousand_steps_end_on_the_path_each() {
        let skeleton = limb();
        let (motion, h) = (motion(&skeleton), 2e-4);
        for settle in [0.0, 0.1] {
            let mut state = motion.sample(0.0);
            let mut largest = 0.0f64;
            for n in 0..10_000 {
                let time = h * f64::from(n);
                step(&Follow { settle }, &skeleton, &MotionStep { motion: &motion, time, h }, &mut state);
                let error = off(&skeleton, &state, &motion.sample(time + h).q);
                if settle == 0.0 || n > 9_000 {
                    largest = largest.max(error);
                }
            }
            // the first velocity is the path's own, off that of steps by h a/2 < 2e-3: with τ = 0.1 s that leaves, after 9000 steps,
            // a gap of h · 2e-3 · n Eⁿ = 6e-11
            let bound = if settle == 0.0 { 4e-15 } else { 1e-9 };
            assert!(largest < bound, "{settle}: {largest:e}");
        }
    }

    /// A gap e at rest asks for (1 − E)² e/h² < e/τ² and closes as (1 + (1 − E) n/E …) Eⁿ: after 20 τ below 21 e⁻²⁰ e.
    #[test]
    fn a_gap_closes_gently() {
        let skeleton = limb();
        let (h, settle) = (1e-3, 0.05);
        let motion = SkeletonMotion::build(&skeleton, 0.05, wave(&skeleton, 1)).unwrap();
        let mut state = SkeletonState::at_rest(&skeleton);
        let start = off(&skeleton, &state, motion.frame(0));
        let mut last = start;
        for n in 0..1000 {
            let a = step(
                &Follow { settle },
                &skeleton,
                &MotionStep { motion: &motion, time: h * f64::from(n), h },
                &mut state,
            );
            assert!(a < 1.001 * start / (settle * settle), "step {n} asks for {a}");
            let error = off(&skeleton, &state, motion.frame(0));
            assert!(error <= last + 1e-15, "step {n}: {error} after {last}");
            last = error;
        }
        assert!(last < 21.0 * real::exp(-20.0) * start, "{last:e}");
    }

    #[test]
    fn a_turn_past_the_half_is_followed_without_a_jump() {
        let skeleton = limb();
        let (h, settle) = (1e-3, 0.02);
        let mut frame = SkeletonState::at_rest(&skeleton);
        frame.set_chart_of(&skeleton, BoneId(1), &[3.0, 0.0, 0.0]);
        let motion = SkeletonMotion::build(&skeleton, 0.1, frame.q.clone()).unwrap();
        let mut state = SkeletonState::at_rest(&skeleton);
        // spinning the other way, so that the gap passes a half turn
        state.v[6] = -20.0;
        for n in 0..1000 {
            step(
                &Follow { settle },
                &skeleton,
                &MotionStep { motion: &motion, time: h * f64::from(n), h },
                &mut state,
            );
            assert!(state.v[6].abs() < 200.0, "step {n}: {}", state.v[6]);
        }
        let q = skeleton.bone(BoneId(1)).joint.q();
        assert!(rotation_of(&state.q[q.clone()]).gap(&rotation_of(&frame.q[q])).norm() < 1e-12);
    }
}
