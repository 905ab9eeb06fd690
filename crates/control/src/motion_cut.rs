//! Sudden cuts of a motion: jumps of joints between two frames that no body could make.
//!
//! Teleports, popping keys and swapped markers move a bone so far within one frame that a simulation of the sweep would be an impact. A joint jumps if the
//! farthest point that it moves, at a distance r from it, is both faster than any body and much faster than just before and after:
//!
//! ```text
//! r |q_{k+1} ⊖ q_k| / T > max(15 L/s, 6 median of the intervals 0.1 s before and after)
//! ```
//!
//! L is the size of the skeleton. A sprinter covers 7 of his sizes per second, and the hand of a pitcher, about the fastest there is, 12. A steady motion
//! is no cut, however fast: a spinning wheel, or a clip played at many times its speed. The median ignores that the two jumps of a pop are neighbours, and that a jump
//! between two keys is spread over some intervals where an animation is sampled more often than it has keys.

use crate::part_slot::{PartSlot, bone_ids, slots_of};
use sinew_math::Vec3;
use sinew_skeleton::{BoneId, JointPrimitive, Kinematics, Skeleton, SkeletonState};

/// Sizes of the skeleton per second that no part of a body covers (1/s).
const MAX_SIZES_PER_SECOND: f64 = 15.0;

/// How many times as fast as its surroundings a jump is. Interpolated motions change their speed by less than 3 from one frame to the next, even where they
/// start from a hold.
const MIN_RATIO: f64 = 6.0;

/// The time (s) before and after a jump that it is compared with, and as how many intervals at least: more than twice as long as the time between keys of film.
const REACH_SECONDS: f64 = 0.1;
const MIN_REACH: usize = 3;

/// A jump is over after this time (s), that between two keys of film: what takes longer is a fast motion, as a fish that snaps in 0.07 s.
const LONGEST: f64 = 0.045;

/// A jump of a joint between two frames of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionCut {
    /// The bone whose joint jumps.
    pub bone: BoneId,
    /// When it has jumped (s after the first frame).
    pub time: f64,
    /// How far the joint moves what it moves (m), at most.
    pub distance: f64,
    /// The place of the joint part among those of the skeleton, and the interval between frames.
    pub(crate) slot: usize,
    pub(crate) interval: usize,
}

/// Whether a fast motion is over within [`LONGEST`], with all intervals around that are a quarter as fast.
fn is_short(moves: &[f64], interval: usize, frame_seconds: f64) -> bool {
    let is_fast = |distance: &&f64| **distance > 0.25 * moves[interval];
    let before = moves[..interval].iter().rev().take_while(is_fast).count();
    let after = moves[interval + 1..].iter().take_while(is_fast).count();
    // a pop takes two intervals, away and back
    before + after <= 1 || (before + after + 1) as f64 * frame_seconds <= LONGEST
}

/// Finds the jumps of all joints, in the order of joint parts and time.
pub(crate) fn find_cuts(skeleton: &Skeleton, frame_seconds: f64, frames: &[f64]) -> Vec<MotionCut> {
    let mut cuts = Vec::new();
    let (reach, size) = reach_and_size(skeleton);
    let around = ((REACH_SECONDS / frame_seconds).round() as usize).clamp(MIN_REACH, 1000);
    let frames: Vec<&[f64]> = frames.chunks_exact(skeleton.q_count().max(1)).collect();
    let all = bone_ids(skeleton).flat_map(|bone| slots_of(skeleton, bone).map(move |slot| (bone, slot)));
    for (slot, (bone, part)) in all.enumerate() {
        let lever = match part.part {
            JointPrimitive::Revolute(_) | JointPrimitive::Ball => reach[bone.index()],
            JointPrimitive::Prismatic(_) | JointPrimitive::Translation => 1.0,
        };
        let moved = |pair: &[&[f64]]| lever * gap(&part, pair[0], pair[1]);
        let moves: Vec<f64> = frames.windows(2).map(moved).collect();
        for (interval, distance) in moves.iter().enumerate() {
            // most intervals end here; a skeleton without size has no plausible speed
            let plausible = MAX_SIZES_PER_SECOND * size * frame_seconds;
            if *distance > plausible
                && size > 0.0
                && *distance > MIN_RATIO * surroundings(&moves, (interval, around))
                && is_short(&moves, interval, frame_seconds)
            {
                let time = frame_seconds * (interval + 1) as f64;
                cuts.push(MotionCut { bone, time, distance: *distance, slot, interval });
            }
        }
    }
    cuts
}

/// |b ⊖ a| of a joint part (rad, m).
pub(crate) fn gap(slot: &PartSlot, a: &[f64], b: &[f64]) -> f64 {
    slot.part.difference(&a[slot.q.clone()], &b[slot.q.clone()]).norm()
}

/// The median of so many moves before and after one; 0 without any.
fn surroundings(moves: &[f64], (interval, reach): (usize, usize)) -> f64 {
    let range = interval.saturating_sub(reach)..(interval + reach + 1).min(moves.len());
    let mut around: Vec<f64> = range.filter(|k| *k != interval).map(|k| moves[k]).collect();
    around.sort_by(f64::total_cmp);
    around.get(around.len() / 2).copied().unwrap_or(0.0)
}

/// For each bone how far what its joint moves reaches from it, and the diagonal of the box around all joints, both at rest (m). Only places of joints count, since motions are
/// made before anything else is known of bones: the last bone of a chain is taken to be as long as the one before it. A skeleton whose joints are all in one place has no
/// size, and no plausible speed.
fn reach_and_size(skeleton: &Skeleton) -> (Vec<f64>, f64) {
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
    let origin = |bone: BoneId| kinematics.world_frames()[bone.index()].origin;
    let parents: Vec<(BoneId, Option<BoneId>)> =
        bone_ids(skeleton).map(|bone| (bone, skeleton.bone(bone).parent)).collect();

    // a joint moves its bone and all that hangs on it
    let length = |(bone, parent): (BoneId, Option<BoneId>)| {
        parent.map_or(0.0, |parent| (origin(bone) - origin(parent)).norm())
    };
    let mut reach: Vec<f64> = parents.iter().copied().map(length).collect();
    let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for (bone, mut next) in parents {
        (low, high) = (low.inf(&origin(bone)), high.sup(&origin(bone)));
        while let Some(above) = next {
            let far = (origin(bone) - origin(above)).norm();
            reach[above.index()] = reach[above.index()].max(far);
            next = skeleton.bone(above).parent;
        }
    }
    let size = (high - low).norm();
    (reach, if size.is_finite() { size } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use crate::skeleton_motion::tests::{limb, wave};
    use crate::{Extrapolation, Interpolation, SkeletonMotion};
    use sinew_skeleton::{Skeleton, SkeletonState};

    /// A wave of 40 frames whose root is 5 m away in some of them.
    fn thrown(skeleton: &Skeleton, frame_seconds: f64, is_away: impl Fn(usize) -> bool) -> SkeletonMotion {
        let mut frames = wave(skeleton, 40);
        for (i, frame) in frames.chunks_exact_mut(skeleton.q_count()).enumerate() {
            frame[0] += if is_away(i) { 5.0 } else { 0.0 };
        }
        SkeletonMotion::build(skeleton, frame_seconds, frames).unwrap()
    }

    fn found(motion: &SkeletonMotion) -> Vec<(u32, usize)> {
        motion.cuts().iter().map(|cut| (cut.bone.0, cut.interval)).collect()
    }

    #[test]
    fn teleports_and_pops_are_found() {
        let skeleton = limb();
        assert_eq!(found(&thrown(&skeleton, 1.0 / 30.0, |i| i >= 20)), [(0, 19)]);
        assert_eq!(found(&thrown(&skeleton, 1.0 / 30.0, |i| i == 20)), [(0, 19), (0, 20)]);
        assert_eq!(found(&thrown(&skeleton, 1.0 / 30.0, |i| i == 39)), [(0, 38)]);
        let motion = thrown(&skeleton, 1.0 / 30.0, |i| i >= 20);
        assert!((motion.cuts()[0].time - 20.0 / 30.0).abs() < 1e-15);
        assert!((motion.cuts()[0].distance - 5.0).abs() < 0.5);
        assert_eq!(found(&motion.cut(15..30).unwrap()), [(0, 4)]);
        assert_eq!(found(&motion.cut(0..20).unwrap()), []);
        assert_eq!(found(&motion.cut(20..40).unwrap()), []);
    }

    /// A wave that turns joints by 0.24 rad and more per frame, at up to 240 frames a second, is steady; so is a root at 600 m/s.
    #[test]
    fn steady_motions_have_no_cuts_however_fast() {
        let skeleton = limb();
        for frame_seconds in [0.2, 1.0 / 30.0, 1.0 / 240.0] {
            assert_eq!(found(&thrown(&skeleton, frame_seconds, |_| false)), []);
            let mut frames = wave(&skeleton, 40);
            for (i, frame) in frames.chunks_exact_mut(skeleton.q_count()).enumerate() {
                frame[0] += 20.0 * i as f64;
            }
            assert_eq!(found(&SkeletonMotion::build(&skeleton, frame_seconds, frames).unwrap()), []);
        }
        // 5 m in 1 s
        assert_eq!(found(&thrown(&skeleton, 1.0, |i| i >= 20)), []);
    }

    /// Up to the time of the frame after it a joint goes on as before a jump, and nothing overshoots after it.
    #[test]
    fn interpolation_does_not_cross_a_cut() {
        let skeleton = limb();
        let (smooth, period) = (thrown(&skeleton, 0.1, |_| false), 0.1);
        let cut = thrown(&skeleton, 0.1, |i| i >= 20);
        for interpolation in [Interpolation::Linear, Interpolation::KochanekBartels, Interpolation::BSpline] {
            let [smooth, cut] =
                [&smooth, &cut].map(|motion| motion.clone().with(interpolation, Extrapolation::Hold));
            for n in 0..400 {
                let time = 0.0975 * period * f64::from(n);
                let (a, b) = (smooth.sample(time), cut.sample(time));
                let jump = if time < 20.0 * period - 1e-12 { 0.0 } else { 5.0 };
                // beside the cut splines see a straight line instead of a curve: within its sagitta, q̈ T² of 0.3² · 0.8 m
                let off = (b.q[0] - a.q[0] - jump).abs();
                assert!(off < 0.072, "{interpolation:?} at {time}: {off}");
                assert!(a.q[3..] == b.q[3..], "{time}");
                assert!((b.v[0] - a.v[0]).abs() < 0.072 / period + 0.72, "{time}: {} {}", b.v[0], a.v[0]);
            }
        }
    }

    /// Just before and just after the jump, both sides of it.
    #[test]
    fn crossing_a_cut_leads_to_the_motion_after_it() {
        let skeleton = limb();
        let motion = thrown(&skeleton, 0.1, |i| i >= 20);
        for dt in [0.04, 0.005] {
            let time = 2.0 - 0.4 * dt;
            let before = motion.sample(time);
            let mut after: SkeletonState = before.clone();
            assert!(motion.cross_cuts(time, time + dt, &mut after));
            assert_eq!(before.q[3..], after.q[3..]);
            let on = motion.sample(time + dt);
            // linear over dt, with an error of q̈ dt²
            assert!((after.q[0] + dt * after.v[0] - on.q[0]).abs() < 7.2 * dt * dt + 1e-12);
            assert!(!motion.cross_cuts(time + dt, time + 2.0 * dt, &mut after));
            assert!(!motion.cross_cuts(time - dt, time, &mut after));
        }
    }
}
