//! The performance of a skeleton in a take: a motion, goals, and cues that switch what drives joints.

use crate::goal::Goal;
use crate::part_slot::{bone_ids, slots_of};
use crate::path_follower::FrameMotion;
use crate::reach::{Reach, Wanted, set_rates};
use crate::{Curve, Extrapolation, PathFollower, SkeletonMotion};
use sinew_math::{Vec3, real};
use sinew_sim::{Rig, RigControl};
use sinew_skeleton::{BoneId, DriveKind, DriveRule, Skeleton, SkeletonState};

/// τ: time constant with which joints come to rest after the end of a motion (s).
const COAST: f64 = 0.15;

/// The performance of a skeleton in a take.
///
/// Time 0 is the start of the take and of the motion. Sudden cuts of the motion ([`SkeletonMotion::cuts`]), and a loop whose end is not its start, are jumps that
/// the flesh makes with its bones. During the preroll before it all joints are kinematic: the skeleton moves from its rest
/// pose to the first pose of the motion and holds it while the flesh settles.
#[derive(Clone, Debug, Default)]
pub struct Performance {
    /// The motion of the joints; `None` keeps the rest pose.
    pub motion: Option<SkeletonMotion>,
    /// When the drive of joints changes. Before any cue, all joints follow the motion.
    pub cues: Vec<Cue>,
    /// How joints return to the motion.
    pub follow: PathFollower,
    /// The move from the rest pose to the first pose; `None` starts in the first pose.
    pub approach: Option<Approach>,
    /// How long a cyclic motion plays before time 0 (s), so that the flesh reaches its periodic response.
    pub loop_preroll: f64,
    /// Where points of the character are to be, for joints that a cue drives by them.
    pub goals: Vec<Goal>,
    /// The largest torque of servos and of direct control (N m or N); `None` for no bound.
    pub max_torque: Option<f64>,
}

/// The interval in which a skeleton moves from its rest pose to its first pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// Its start (s, below 0).
    pub begin: f64,
    /// Its end, where the first pose is reached (s, at most 0).
    pub end: f64,
}

/// A change of drive: from a time on, something else drives some of the joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Cue {
    /// When it takes effect (s).
    pub time: f64,
    /// The bones whose joints it applies to.
    pub bones: BoneSelection,
    /// What drives them from then on.
    pub drive: CueDrive,
}

/// A selection of bones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoneSelection {
    /// All bones.
    All,
    /// Bones without a parent.
    Roots,
    /// The listed bones.
    These(Vec<BoneId>),
}

/// How bones and flesh drive each other from the start of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveMode {
    /// All joints are kinematic: bones move flesh, and flesh does not move bones.
    OneWay,
    /// Joints follow the motion, but the root is dynamic: forces on the flesh move it.
    TwoWay,
    /// All joints are dynamic, without any drive.
    Ragdoll,
    /// Joints follow the motion, bent so that goals are met, and roots follow the motion itself: inverse kinematics.
    Reach,
    /// Torques track the motion, bent so that goals are met, and the root is dynamic: joints are compliant.
    Servo,
    /// Joints accelerate such that goals are met as well as physics allows, and the root is dynamic.
    Direct,
}

/// What drives a joint.
#[derive(Clone, Debug, PartialEq)]
pub enum CueDrive {
    /// The motion.
    Motion,
    /// Nothing: the joint is dynamic with zero torque. A joint with [`DriveRule::MotionOnly`] still follows the motion.
    Limp,
    /// A torque (N m or N) for each degree of freedom, over the time of the take; missing ones are 0.
    Torque(Vec<Curve>),
    /// The motion, bent by inverse kinematics so that goals are met.
    Reach,
    /// Torques that track the motion, bent so that goals are met, with the time constant of [`Performance::follow`].
    Servo,
    /// Accelerations that bring the points of goals where they are wanted, as well as physics allows; without goals the joint returns to the motion.
    Direct,
}

impl CueDrive {
    /// Whether goals bend the motion of a joint that it drives.
    fn is_bent(&self) -> bool {
        matches!(self, CueDrive::Reach | CueDrive::Servo)
    }
}

impl DriveMode {
    /// The cues at a time (s) that are equivalent to it, where all joints follow the motion before.
    fn cues(self, time: f64) -> Vec<Cue> {
        let cue = |bones: BoneSelection, drive: CueDrive| Cue { time, bones, drive };
        match self {
            DriveMode::OneWay => Vec::new(),
            DriveMode::TwoWay => vec![cue(BoneSelection::Roots, CueDrive::Limp)],
            DriveMode::Ragdoll => vec![cue(BoneSelection::All, CueDrive::Limp)],
            DriveMode::Reach => {
                vec![cue(BoneSelection::All, CueDrive::Reach), cue(BoneSelection::Roots, CueDrive::Motion)]
            }
            DriveMode::Servo => {
                vec![cue(BoneSelection::All, CueDrive::Servo), cue(BoneSelection::Roots, CueDrive::Limp)]
            }
            DriveMode::Direct => {
                vec![cue(BoneSelection::All, CueDrive::Direct), cue(BoneSelection::Roots, CueDrive::Limp)]
            }
        }
    }

    /// Whether joints are not led by a motion, so that they need ranges of their own: nothing drives them, or torques do, or direct control, which folds a limb in any way that brings a point to its target. In the other modes a joint goes where its path says, whatever pushes it.
    pub fn has_loose_joints(self) -> bool {
        matches!(self, DriveMode::Ragdoll | DriveMode::Servo | DriveMode::Direct)
    }

    /// The mode whose cues at time 0 are the first of a list, and how many they are; the mode of no cues is none.
    pub fn of_cues(cues: &[Cue]) -> Option<(DriveMode, usize)> {
        let modes =
            [DriveMode::Reach, DriveMode::Servo, DriveMode::Direct, DriveMode::TwoWay, DriveMode::Ragdoll];
        let found = modes.into_iter().find(|mode| cues.starts_with(&mode.cues(0.0)))?;
        Some((found, found.cues(0.0).len()))
    }
}

impl Performance {
    /// The performance that follows a motion from start to end.
    pub fn of(motion: Option<SkeletonMotion>) -> Performance {
        Performance { motion, ..Performance::default() }
    }

    /// Sets the drive mode from the start of the take on; it replaces the cues at time 0 and before.
    pub fn set_drive_mode(&mut self, lead: DriveMode) {
        self.cues.retain(|cue| cue.time > 0.0);
        self.cues.splice(0..0, lead.cues(0.0));
    }

    /// Sets the drive mode from a time of the take (s) on; it replaces the cues at that time and before.
    pub fn set_drive_mode_from(&mut self, time: f64, lead: DriveMode) {
        self.cues.retain(|cue| cue.time > time);
        let mut begin = lead.cues(time);
        // where the mode says nothing, joints follow the motion again
        if !begin.first().is_some_and(|cue| cue.bones == BoneSelection::All) {
            begin.insert(0, Cue { time, bones: BoneSelection::All, drive: CueDrive::Motion });
        }
        self.cues.splice(0..0, begin);
    }

    /// Computes the pose and the velocities at a time (s).
    pub fn pose(&self, skeleton: &Skeleton, time: f64, pose: &mut SkeletonState) {
        let mut scratch = Vec::new();
        self.write_pose(skeleton, time, pose, &mut scratch);
    }

    /// The period of the motion (s); `None` if it does not loop.
    pub fn period(&self) -> Option<f64> {
        let motion = self.motion.as_ref().filter(|motion| motion.extrapolation == Extrapolation::Loop)?;
        Some(motion.seconds()).filter(|seconds| *seconds > 0.0)
    }

    /// Extends the preroll by a whole number of cycles, at least two and at least `at_least` (s) long, so that the take shows the periodic
    /// response. Returns by how much the preroll grows (s); `None` if the motion does not loop.
    pub fn extend_preroll(&mut self, at_least: f64) -> Option<f64> {
        let period = self.period()?;
        let longer = period * (at_least / period).ceil().max(2.0);
        self.loop_preroll += longer;
        if let Some(approach) = &mut self.approach {
            (approach.begin, approach.end) = (approach.begin - longer, approach.end - longer);
        }
        Some(longer)
    }

    /// The cyclic motion, if it plays at a time (s) before the start of the take.
    fn cycle_before_start(&self, time: f64) -> Option<&SkeletonMotion> {
        self.period().filter(|_| self.loop_preroll > 0.0)?;
        self.motion.as_ref().filter(|_| time < 0.0 && time >= -self.loop_preroll - 1e-9)
    }

    fn write_pose(&self, skeleton: &Skeleton, time: f64, pose: &mut SkeletonState, scratch: &mut Vec<f64>) {
        // preroll of a cycle
        if let Some(motion) = self.cycle_before_start(time) {
            motion.sample_into(time, pose, scratch);
            return;
        }

        // the take itself, and what follows the end of its motion
        match &self.motion {
            Some(motion) => motion.sample_into(time.max(0.0), pose, scratch),
            None => *pose = SkeletonState::at_rest(skeleton),
        }
        if time >= 0.0 {
            self.coast(skeleton, time, pose, scratch);
            return;
        }

        // the approach: a smoothstep from the rest pose to the first pose
        pose.v.fill(0.0);
        let Some(approach) = self.approach else { return };
        let length = approach.end - approach.begin;
        let s = if length > 0.0 { ((time - approach.begin) / length).clamp(0.0, 1.0) } else { 1.0 };
        let (fraction, rate) = (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / length.max(f64::MIN_POSITIVE));
        if fraction == 1.0 {
            return;
        }

        // x(s) = x_rest · exp(s d), d = log(x_rest⁻¹ x_first), whose velocity in the body frame is ṡ d; roots start in the first pose, since moving
        // the whole character rigidly does not deform the flesh
        let rest = SkeletonState::at_rest(skeleton);
        let below = bone_ids(skeleton).filter(|bone| skeleton.bone(*bone).parent.is_some());
        for slot in below.flat_map(|bone| slots_of(skeleton, bone)) {
            let q = slot.q.clone();
            let gap = slot.part.difference(&rest.q[q.clone()], &pose.q[q.clone()]);
            slot.part.integrate(&rest.q[q.clone()], &(gap * fraction), &mut pose.q[q]);
            for (k, dof) in slot.v.clone().enumerate() {
                pose.v[dof] = rate * gap[k];
            }
        }
    }

    /// Decelerates joints smoothly after the end of a motion that holds its last frame; an abrupt stop would be an impact on the flesh.
    ///
    /// ```text
    /// x = x_end · exp(v τ (1 − e^(−t/τ)))
    /// ```
    fn coast(&self, skeleton: &Skeleton, time: f64, pose: &mut SkeletonState, scratch: &mut Vec<f64>) {
        let Some(motion) = self.motion.as_ref().filter(|motion| motion.extrapolation == Extrapolation::Hold)
        else {
            return;
        };
        let over = time - motion.seconds();
        if over <= 0.0 {
            return;
        }
        motion.sample_into(motion.seconds(), pose, scratch);
        let left = real::exp(-over / COAST);
        for slot in bone_ids(skeleton).flat_map(|bone| slots_of(skeleton, bone)) {
            let mut by = Vec3::zeros();
            for (k, dof) in slot.v.clone().enumerate() {
                by[k] = pose.v[dof] * COAST * (1.0 - left);
                pose.v[dof] *= left;
            }
            let end = pose.q[slot.q.clone()].to_vec();
            slot.part.integrate(&end, &by, &mut pose.q[slot.q]);
        }
    }

    /// Writes the rig's control for the frame of `dt` (s) that starts at a time (s) in the joint state `state`. Joints driven by servos and by direct control get the path that they are to follow without
    /// their own answer.
    pub(crate) fn control(
        &self,
        rig: &Rig,
        (time, dt): (f64, f64),
        state: &SkeletonState,
        (reach, wanted): (&mut Reach, &[Wanted]),
        control: &mut RigControl,
    ) {
        // targets at the start and at the end of the frame
        let skeleton = &rig.skeleton;
        let (mut now, mut next) = (SkeletonState::default(), SkeletonState::default());
        let mut acceleration = Vec::new();
        self.write_pose(skeleton, time, &mut now, &mut acceleration);
        // the preroll ends at rest in the first pose, unless a cycle plays; the motion starts at time 0
        let plays = time >= 0.0 || self.cycle_before_start(time).is_some();
        let end = if plays { time + dt } else { (time + dt).min(-1e-12) };
        self.write_pose(skeleton, end, &mut next, &mut acceleration);

        // joints that jump in between, and what goals make of the motion
        let mut now_after_cut = now.clone();
        let jumps = |motion: &&SkeletonMotion| plays && motion.cross_cuts(time, end, &mut now_after_cut);
        let has_cut = self.motion.as_ref().filter(jumps).is_some();
        if time >= 0.0 && !wanted.is_empty() {
            self.bend(skeleton, (time, dt), (reach, wanted), [&mut now, &mut now_after_cut, &mut next]);
        }
        let motion = FrameMotion { now: &now, now_after_cut: &now_after_cut, next: &next, dt };
        control.cuts.clear();
        control.feedback.clear();

        // drive, torque and path of each joint
        for bone in bone_ids(skeleton) {
            let joint = &skeleton.bone(bone).joint;
            let drive = if time < 0.0 { &CueDrive::Motion } else { self.drive(skeleton, bone, time) };
            let torque = match drive {
                _ if joint.drive == DriveRule::MotionOnly => None,
                CueDrive::Motion | CueDrive::Reach | CueDrive::Servo | CueDrive::Direct => None,
                CueDrive::Limp => Some([].as_slice()),
                CueDrive::Torque(curves) => Some(curves.as_slice()),
            };
            control.drives[bone.index()] =
                if torque.is_some() { DriveKind::Torque } else { DriveKind::Motion };
            for (k, dof) in joint.v().enumerate() {
                // at the middle of the step, where a torque that changes linearly has its mean
                let curve = torque.and_then(|curves| curves.get(k));
                control.torque[dof] = curve.map_or(0.0, |curve| curve.value(time + 0.5 * dt));
            }
            let q = joint.q();
            let is_cut = has_cut && torque.is_none() && now.q[q.clone()] != now_after_cut.q[q];
            if is_cut {
                control.cuts.push(bone);
            }
            // servos return to the motion itself, by their feedback
            let at_once = PathFollower { time_constant: 0.0 };
            let follow = if *drive == CueDrive::Servo { &at_once } else { &self.follow };
            let RigControl { from, to, .. } = control;
            follow.write_path(skeleton, bone, motion, state, [from, to]);
        }
    }

    /// Bends the poses at both ends of a frame of `dt` (s) so that goals are met, for joints that are driven that way. Velocities are central differences over two frames.
    fn bend(
        &self,
        skeleton: &Skeleton,
        (time, dt): (f64, f64),
        (reach, wanted): (&mut Reach, &[Wanted]),
        [now, now_after_cut, next]: [&mut SkeletonState; 3],
    ) {
        let is_bent = |bone: BoneId| self.drive(skeleton, bone, time).is_bent();
        let since =
            |wanted: Wanted| Some(self.cue(skeleton, wanted.1.bone, time).map_or(0.0, |cue| cue.time));
        let locked: Vec<BoneId> = bone_ids(skeleton).filter(|bone| !is_bent(*bone)).collect();
        if locked.len() == skeleton.bones().len() {
            return;
        }

        // the poses of four frames
        let (earlier, later) = ((time - dt).max(0.0), time + 2.0 * dt);
        let (mut before, mut after, mut scratch) = (now.clone(), now.clone(), Vec::new());
        self.write_pose(skeleton, earlier, &mut before, &mut scratch);
        self.write_pose(skeleton, later, &mut after, &mut scratch);
        for (pose, time) in
            [(&mut before, earlier), (&mut *now, time), (&mut *next, time + dt), (&mut after, later)]
        {
            reach.bend(skeleton, wanted, &locked, (time, since), pose);
        }
        reach.bend(skeleton, wanted, &locked, (time, since), now_after_cut);

        // and their velocities
        set_rates(skeleton, is_bent, [&before, next], time + dt - earlier, now);
        set_rates(skeleton, is_bent, [now, &after], 2.0 * dt, next);
        now_after_cut.v.copy_from_slice(&now.v);
    }

    /// The bones whose joints a drive selects at a time (s).
    pub(crate) fn driven(
        &self,
        skeleton: &Skeleton,
        time: f64,
        is_meant: impl Fn(&CueDrive) -> bool,
    ) -> Vec<BoneId> {
        let is_driven = |bone: &BoneId| is_meant(self.drive(skeleton, *bone, time));
        bone_ids(skeleton).filter(is_driven).collect()
    }

    /// The drive of a bone's joint at a time (s): that of the latest cue for the bone. Cue times are compared with a tolerance for round-off.
    fn drive(&self, skeleton: &Skeleton, bone: BoneId, time: f64) -> &CueDrive {
        self.cue(skeleton, bone, time).map_or(&CueDrive::Motion, |cue| &cue.drive)
    }

    /// The latest cue for a bone at a time (s).
    fn cue(&self, skeleton: &Skeleton, bone: BoneId, time: f64) -> Option<&Cue> {
        let meant = |cue: &&Cue| {
            let means = match &cue.bones {
                BoneSelection::All => true,
                BoneSelection::Roots => skeleton.bone(bone).parent.is_none(),
                BoneSelection::These(bones) => bones.contains(&bone),
            };
            cue.time <= time + 1e-9 && means
        };
        self.cues.iter().filter(meant).max_by(|a, b| a.time.total_cmp(&b.time))
    }

    /// Checks the performance against a skeleton and returns the first fault.
    pub fn fault(&self, skeleton: &Skeleton) -> Option<String> {
        // the motion and the return to it
        if self.motion.as_ref().is_some_and(|motion| !motion.fits(skeleton)) {
            return Some("the motion belongs to another skeleton".into());
        }
        if !(self.follow.time_constant.is_finite() && self.follow.time_constant >= 0.0) {
            return Some(format!(
                "the return time of {} s is not valid: give 0 or more",
                self.follow.time_constant
            ));
        }

        // goals and the bound of torques
        for (i, goal) in self.goals.iter().enumerate() {
            if self.goals[..i].iter().any(|other| other.name == goal.name) {
                return Some(format!("two goals are named '{}': rename one", goal.name));
            }
            if let Some(fault) = goal.fault(skeleton) {
                return Some(fault);
            }
        }
        if let Some(torque) = self.max_torque.filter(|torque| !(*torque >= 0.0 && torque.is_finite())) {
            return Some(format!(
                "the largest torque of {torque} is not valid: give a finite one, 0 or more"
            ));
        }

        // time, bones and torque of each cue
        let bones = skeleton.bones().len();
        for cue in &self.cues {
            if !cue.time.is_finite() {
                return Some(format!("a cue is at {} s: give a finite time", cue.time));
            }
            let named = match &cue.bones {
                BoneSelection::These(named) => named.as_slice(),
                BoneSelection::All | BoneSelection::Roots => &[],
            };
            if let Some(bone) = named.iter().find(|bone| bone.index() >= bones) {
                return Some(format!(
                    "a cue names bone {}, but the skeleton has {bones} bones, counted from 0",
                    bone.0
                ));
            }
            if let CueDrive::Torque(curves) = &cue.drive
                && let Some(curve) = curves.iter().find(|curve| !curve.is_finite())
            {
                let (torque, time) = (curve.value(0.0), cue.time);
                return Some(format!("the cue at {time} s has a torque of {torque}: give a finite one"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton_motion::tests::{limb, wave};
    use crate::{Extrapolation, Interpolation};

    /// A loop that is not played before the take waits in its first pose until the very end of the preroll, and does not come from its last.
    #[test]
    fn the_preroll_ends_at_rest_in_the_first_pose() {
        let skeleton = limb();
        let motion = SkeletonMotion::build(&skeleton, 0.125, wave(&skeleton, 9)).unwrap();
        let motion = motion.with(Interpolation::Linear, Extrapolation::Loop);
        let first = motion.sample(0.0);
        let performance = Performance::of(Some(motion));
        for time in [-0.3, -1e-6, -1e-12] {
            let mut pose = SkeletonState::at_rest(&skeleton);
            performance.pose(&skeleton, time, &mut pose);
            assert_eq!(pose.q, first.q);
            assert!(pose.v.iter().all(|v| *v == 0.0));
        }
    }
}
