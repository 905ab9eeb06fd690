//! Inverse kinematics as keyframe control: bends a motion so that the points of goals are where they are wanted.
//!
//! Every pose is solved from that of the motion alone, never from the pose before it, so that a pose depends on its time only and a take resumes anywhere. Goals are met level by level of priority: those of
//! higher levels are kept where they came to while the next ones are solved.

use crate::goal::{Goal, GoalAnchor, GoalTarget};
use crate::part_slot::{bone_ids, slots_of};
use sinew_math::{Rotation, Vec3};
use sinew_skeleton::{BoneId, Ik, IkSettings, IkTarget, Kinematics, Skeleton, SkeletonState};

/// The weight of a point that a higher level has placed, relative to those of the current level: it gives way by a ten-thousandth.
const PLACED: f64 = 1e4;
/// Iterations for each level of a pose.
const ITERATIONS: usize = 60;
/// A point that is this close is there, as a fraction of the size of the skeleton.
const TOLERANCE: f64 = 1e-6;
/// The lever that makes lengths of angles, as a fraction of the size of the skeleton.
pub(crate) const LEVER: f64 = 0.25;

/// A goal with its point.
pub(crate) type Wanted<'a> = (&'a Goal, &'a GoalAnchor);

/// Workspace of inverse kinematics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    ik: Ik,
    kinematics: Kinematics,
    targets: Vec<IkTarget>,
    /// Where the points of goals are in the pose to be bent, and how their bones are turned.
    own: Vec<(Vec3, Rotation)>,
}

impl Reach {
    /// Bends a pose so that goals are met as they are wanted at a time (s); `since` says from when on joints have been driven towards each of them (s), from which it is approached, if it is. Joints of `locked` bones stay as they are.
    pub(crate) fn bend(
        &mut self,
        skeleton: &Skeleton,
        wanted: &[Wanted],
        locked: &[BoneId],
        (time, since): (f64, impl Fn(Wanted) -> Option<f64>),
        pose: &mut SkeletonState,
    ) {
        // scale of the skeleton
        let size = size_of(skeleton, &mut self.kinematics);
        let settings = IkSettings {
            iterations: ITERATIONS,
            tolerance: TOLERANCE * size,
            max_translation: size,
            lever: LEVER * size,
            locked: locked.to_vec(),
            ..IkSettings::default()
        };

        // where points are without goals
        self.kinematics.update(skeleton, pose);
        self.own.clear();
        self.own.extend(wanted.iter().map(|(_, anchor)| {
            let frame = &self.kinematics.world_frames()[anchor.bone.index()];
            (frame.point(&anchor.place), frame.quaternion())
        }));

        // level by level
        self.targets.clear();
        for level in levels(wanted) {
            self.place_targets(skeleton, pose);
            let all = wanted.iter().zip(&self.own);
            for ((goal, anchor), own) in all.filter(|((goal, _), _)| goal.priority == level) {
                let target = match since((goal, anchor)) {
                    Some(since) => goal.blended_target(anchor, (time, since), own),
                    None => goal.target(anchor, time),
                };
                self.targets.push(ik_target(anchor, &target));
            }
            // goals were checked before the take: what remains invalid leaves the pose as it is
            if self.ik.solve(skeleton, &self.targets, &settings, pose).is_err() {
                return;
            }
        }
    }

    /// Makes targets of where the points of earlier levels have come to.
    fn place_targets(&mut self, skeleton: &Skeleton, pose: &SkeletonState) {
        self.kinematics.update(skeleton, pose);
        for target in &mut self.targets {
            let frame = &self.kinematics.world_frames()[target.bone.index()];
            target.position = frame.point(&target.point_in_bone);
            target.orientation = target.orientation.map(|_| frame.quaternion());
            target.weight = PLACED;
        }
    }
}

fn ik_target(anchor: &GoalAnchor, target: &GoalTarget) -> IkTarget {
    IkTarget {
        bone: anchor.bone,
        point_in_bone: anchor.place,
        position: target.place,
        orientation: target.orientation.map(|(orientation, _)| orientation),
        weight: 1.0,
    }
}

/// The priorities of goals, the highest first.
pub(crate) fn levels(wanted: &[Wanted]) -> Vec<u32> {
    let mut levels: Vec<u32> = wanted.iter().map(|(goal, _)| goal.priority).collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    levels.dedup();
    levels
}

/// The size of a skeleton (m): the diagonal of the box around the origins and centres of mass of its bones at rest, at least a millimetre.
pub(crate) fn size_of(skeleton: &Skeleton, kinematics: &mut Kinematics) -> f64 {
    kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
    let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for (bone, frame) in skeleton.bones().iter().zip(kinematics.world_frames()) {
        for point in [frame.origin, frame.point(&bone.mass.center)] {
            (low, high) = (low.inf(&point), high.sup(&point));
        }
    }
    let size = (high - low).norm();
    if size.is_finite() { size.max(1e-3) } else { 1e-3 }
}

/// Sets the velocities of the joints of some bones at a pose by central differences of the poses before and after it, which are `seconds` (s) apart.
pub(crate) fn set_rates(
    skeleton: &Skeleton,
    is_bent: impl Fn(BoneId) -> bool,
    [before, after]: [&SkeletonState; 2],
    seconds: f64,
    pose: &mut SkeletonState,
) {
    for slot in bone_ids(skeleton).filter(|bone| is_bent(*bone)).flat_map(|bone| slots_of(skeleton, bone)) {
        let gone = slot.part.difference(&before.q[slot.q.clone()], &after.q[slot.q.clone()]);
        for (k, dof) in slot.v.clone().enumerate() {
            pose.v[dof] = gone[k] / seconds;
        }
    }
}
