//! What a skeleton does in a take: a motion, and cues that say when which joints leave it.

use crate::part_value::{bone_ids, places_of};
use crate::{Extrapolation, PathFollower, SkeletonMotion};
use sinew_math::{Vec3, real};
use sinew_sim::{Rig, RigControl};
use sinew_skeleton::{BoneId, DriveKind, DriveRule, Skeleton, SkeletonState};

/// τ: how long joints coast after the end of a motion (s).
const COAST: f64 = 0.15;

/// What a skeleton does in a take.
///
/// Time 0 is the start of the take and of the motion. Before that the skeleton goes from its rest pose to the first pose, all joints led, and holds it
/// so that flesh can settle.
#[derive(Clone, Debug, Default)]
pub struct Performance {
    /// Where joints go; none to stay at rest.
    pub motion: Option<SkeletonMotion>,
    /// When joints change hands. Until a cue says otherwise all follow the motion.
    pub cues: Vec<Cue>,
    /// How joints that return to the motion come back.
    pub follow: PathFollower,
    /// When the way from rest to the first pose begins and ends (s before 0); nothing to begin in the first pose.
    pub approach: Option<Approach>,
    /// How long a cycle is played before time 0 (s), so that flesh swings as it will in every cycle after.
    pub loop_preroll: f64,
}

/// The time in which a skeleton comes from its rest pose to its first pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// When it begins (s, below 0).
    pub begin: f64,
    /// When the first pose is reached (s, at most 0).
    pub end: f64,
}

/// From a time on, some joints are driven by something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Cue {
    /// From when (s).
    pub time: f64,
    /// Whose joints.
    pub bones: BoneSelection,
    /// By what.
    pub drive: CueDrive,
}

/// Which bones are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoneSelection {
    /// All of them.
    All,
    /// Those that hang from the world.
    Roots,
    /// These.
    These(Vec<BoneId>),
}

/// Who leads from the start of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveMode {
    /// Bones lead, flesh follows.
    OneWay,
    /// Joints follow the motion, but the root is free: flesh pushes back.
    TwoWay,
    /// Nobody: all joints are limp.
    Ragdoll,
}

/// What drives a joint.
#[derive(Clone, Debug, PartialEq)]
pub enum CueDrive {
    /// The motion.
    Motion,
    /// Nothing: the joint goes limp. One that only motion may drive keeps to the motion.
    Limp,
    /// A torque (N m or N), one number per degree of freedom; missing ones are 0.
    Torque(Vec<f64>),
}

impl Performance {
    /// A motion from beginning to end.
    pub fn of(motion: Option<SkeletonMotion>) -> Performance {
        Performance { motion, ..Performance::default() }
    }

    /// Lets somebody else lead from the start of the take on, in place of any cue there.
    pub fn set_drive_mode(&mut self, lead: DriveMode) {
        self.cues.retain(|cue| cue.time > 0.0);
        let limp = |bones: BoneSelection| Cue { time: 0.0, bones, drive: CueDrive::Limp };
        match lead {
            DriveMode::OneWay => {}
            DriveMode::TwoWay => self.cues.insert(0, limp(BoneSelection::Roots)),
            DriveMode::Ragdoll => self.cues.insert(0, limp(BoneSelection::All)),
        }
    }

    /// The pose and velocities at a time (s).
    pub fn pose(&self, skeleton: &Skeleton, time: f64, pose: &mut SkeletonState) {
        let mut scratch = Vec::new();
        self.write_pose(skeleton, time, pose, &mut scratch);
    }

    /// The length of the cycle that is played (s); none if the motion is no cycle.
    pub fn period(&self) -> Option<f64> {
        let motion = self.motion.as_ref().filter(|motion| motion.extrapolation == Extrapolation::Loop)?;
        Some(motion.seconds()).filter(|seconds| *seconds > 0.0)
    }

    /// Plays the cycle for a whole number of times before the take, at least so long (s), so that the take is one cycle among many. Returns how much
    /// longer everything before the take becomes (s); none if the motion is no cycle.
    pub fn extend_preroll(&mut self, at_least: f64) -> Option<f64> {
        let period = self.period()?;
        let longer = period * (at_least / period).ceil().max(2.0);
        self.loop_preroll += longer;
        if let Some(approach) = &mut self.approach {
            (approach.begin, approach.end) = (approach.begin - longer, approach.end - longer);
        }
        Some(longer)
    }

    fn write_pose(&self, skeleton: &Skeleton, time: f64, pose: &mut SkeletonState, scratch: &mut Vec<f64>) {
        if let (Some(motion), Some(period)) = (&self.motion, self.period())
            && time < 0.0
            && time >= -self.loop_preroll - 1e-9
        {
            motion.sample_into(time.rem_euclid(period), pose, scratch);
            return;
        }
        match &self.motion {
            Some(motion) => motion.sample_into(time.max(0.0), pose, scratch),
            None => *pose = SkeletonState::at_rest(skeleton),
        }
        if time >= 0.0 {
            self.coast(skeleton, time, pose, scratch);
            return;
        }
        pose.v.fill(0.0);
        let Some(approach) = self.approach else { return };
        let length = approach.end - approach.begin;
        let s = if length > 0.0 { ((time - approach.begin) / length).clamp(0.0, 1.0) } else { 1.0 };
        let (fraction, rate) = (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / length.max(f64::MIN_POSITIVE));
        if fraction == 1.0 {
            return;
        }
        // x(s) = rest · exp(s gap), whose velocity in the moving frame is ṡ gap; roots are there already, since flesh can be carried along with them at no cost
        let rest = SkeletonState::at_rest(skeleton);
        let below = bone_ids(skeleton).filter(|bone| skeleton.bone(*bone).parent.is_some());
        for place in below.flat_map(|bone| places_of(skeleton, bone)) {
            let q = place.q.clone();
            let gap = place.part.gap(&rest.q[q.clone()], &pose.q[q.clone()]);
            place.part.moved(&rest.q[q.clone()], &(gap * fraction), &mut pose.q[q]);
            for (k, dof) in place.v.clone().enumerate() {
                pose.v[dof] = rate * gap[k];
            }
        }
    }

    /// After the end of a motion that is held there, joints come to rest as fast as they were going, not at once: that would be a blow to the flesh.
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
        for place in bone_ids(skeleton).flat_map(|bone| places_of(skeleton, bone)) {
            let mut by = Vec3::zeros();
            for (k, dof) in place.v.clone().enumerate() {
                by[k] = pose.v[dof] * COAST * (1.0 - left);
                pose.v[dof] *= left;
            }
            let end = pose.q[place.q.clone()].to_vec();
            place.part.moved(&end, &by, &mut pose.q[place.q]);
        }
    }

    /// Writes what is asked of the frame of `dt` (s) that begins at a time (s) with the joints as they are.
    pub(crate) fn control(
        &self,
        rig: &Rig,
        (time, dt): (f64, f64),
        state: &SkeletonState,
        control: &mut RigControl,
    ) {
        let skeleton = &rig.skeleton;
        let (mut now, mut next) = (SkeletonState::default(), SkeletonState::default());
        let mut acceleration = Vec::new();
        self.write_pose(skeleton, time, &mut now, &mut acceleration);
        // what comes before the take ends at rest in the first pose; only then does the motion set in
        let end = if time < 0.0 { (time + dt).min(-1e-12) } else { time + dt };
        self.write_pose(skeleton, end, &mut next, &mut acceleration);
        for bone in bone_ids(skeleton) {
            let joint = &skeleton.bone(bone).joint;
            let drive = if time < 0.0 { &CueDrive::Motion } else { self.drive(skeleton, bone, time) };
            let torque = match drive {
                _ if joint.drive == DriveRule::MotionOnly => None,
                CueDrive::Motion => None,
                CueDrive::Limp => Some([].as_slice()),
                CueDrive::Torque(values) => Some(values.as_slice()),
            };
            control.drives[bone.index()] =
                if torque.is_some() { DriveKind::Torque } else { DriveKind::Motion };
            for (k, dof) in joint.v().enumerate() {
                control.torque[dof] = torque.and_then(|values| values.get(k)).copied().unwrap_or(0.0);
            }
            let RigControl { from, to, .. } = control;
            self.follow.write_path(skeleton, bone, ([&now, &next], dt), state, [from, to]);
        }
    }

    /// What drives a bone's joint at a time (s): the last cue that has come and means it. A time that is a cue's but for round-off is that cue's.
    fn drive(&self, skeleton: &Skeleton, bone: BoneId, time: f64) -> &CueDrive {
        let meant = |cue: &&Cue| {
            let means = match &cue.bones {
                BoneSelection::All => true,
                BoneSelection::Roots => skeleton.bone(bone).parent.is_none(),
                BoneSelection::These(bones) => bones.contains(&bone),
            };
            cue.time <= time + 1e-9 && means
        };
        let last = self.cues.iter().filter(meant).max_by(|a, b| a.time.total_cmp(&b.time));
        last.map_or(&CueDrive::Motion, |cue| &cue.drive)
    }

    /// What is wrong with it for a skeleton.
    pub fn fault(&self, skeleton: &Skeleton) -> Option<String> {
        if self.motion.as_ref().is_some_and(|motion| !motion.fits(skeleton)) {
            return Some("its motion is one of another skeleton".into());
        }
        if !(self.follow.time_constant.is_finite() && self.follow.time_constant >= 0.0) {
            return Some(format!(
                "a settling time of {} s is asked for: give 0 or more",
                self.follow.time_constant
            ));
        }
        let bones = skeleton.bones().len();
        for cue in &self.cues {
            if !cue.time.is_finite() {
                return Some(format!("a cue comes at {} s", cue.time));
            }
            let named = match &cue.bones {
                BoneSelection::These(named) => named.as_slice(),
                BoneSelection::All | BoneSelection::Roots => &[],
            };
            if let Some(bone) = named.iter().find(|bone| bone.index() >= bones) {
                return Some(format!("a cue is for bone {}, there are {bones}, counted from 0", bone.0));
            }
            if let CueDrive::Torque(values) = &cue.drive
                && let Some(value) = values.iter().find(|value| !value.is_finite())
            {
                return Some(format!("a cue at {} s asks for a torque of {value}", cue.time));
            }
        }
        None
    }
}
