//! Servo control: torques that track a motion and leave joints compliant.                                    [KimPollard2011, §5]
//!
//! ```text
//! τ = τ_m + D/τ² (q_m − q) + 2 D/τ (q̇_m − q̇)
//! ```
//!
//! τ_m is the torque of inverse dynamics for the acceleration of the motion, so that inertia, gravity and contact are compensated as far as they are predicted; it depends on where the joints are, but not on how they move.
//! The feedback returns them to the motion like a critically damped spring with the inertia D that each carries, so that the return time means the same for a finger and for a leg. Anything unforeseen, such as a push or a
//! bound of the torque, moves the joint. Steps take feedback at the end of every sub-step ([`Feedback`]): torques against velocities that are found once per frame, for a limb with its flesh, throw its bone about before
//! the flesh follows.

use sinew_sim::{Model, RigControl, RigResponse, State};
use sinew_skeleton::{BoneId, DriveKind, DriveRule, Drives, Feedback, JointDrive, Skeleton};

/// Rounds of releasing contacts that pull.
pub(crate) const MAX_RELEASES: usize = 6;

/// Drives as a control has them at the start of a step of `dt` (s): torques, and the accelerations of joints along a path.
pub(crate) fn drives_of(skeleton: &Skeleton, control: &RigControl, v: &[f64], dt: f64) -> Drives {
    let mut drives = Drives::limp(skeleton);
    for (i, bone) in skeleton.bones().iter().enumerate() {
        let dofs = bone.joint.v();
        let acceleration = |dof: usize| (control.to.v[dof] - v[dof]) / dt;
        let values: Vec<f64> = match control.drives[i] {
            DriveKind::Torque => control.torque[dofs].to_vec(),
            DriveKind::Motion => dofs.map(acceleration).collect(),
        };
        set(&mut drives, skeleton, (BoneId(i as u32), control.drives[i]), &values);
    }
    drives
}

/// Sets a drive; values that are not finite leave it as it is.
pub(crate) fn set(
    drives: &mut Drives,
    skeleton: &Skeleton,
    (bone, kind): (BoneId, DriveKind),
    values: &[f64],
) {
    let drive = match kind {
        DriveKind::Torque => JointDrive::Torque(values),
        DriveKind::Motion => JointDrive::Motion(values),
    };
    // lengths are those of the joint, and rules were respected when the control was written
    let _ = drives.set(skeleton, bone, drive);
}

/// The joints that servos drive in a step.
pub(crate) struct Servo<'a> {
    /// Their bones.
    pub(crate) bones: &'a [BoneId],
    /// The largest torque (N m or N).
    pub(crate) max_torque: f64,
    /// τ (s).
    pub(crate) time_constant: f64,
}

impl Servo<'_> {
    /// Gives the joints, whose path is the motion, torques of that motion and feedback towards it. A state without an answer has feedback alone.
    pub(crate) fn drive(
        &self,
        (model, rig): (&Model, usize),
        response: &mut RigResponse,
        (state, dt): (&State, f64),
        control: &mut RigControl,
    ) {
        // joints as they move in the motion, where they are
        let skeleton = &model.rigs()[rig].skeleton;
        let mut joints = state.rigs[rig].clone();
        for dof in self.bones.iter().flat_map(|bone| skeleton.bone(*bone).joint.v()) {
            joints.v[dof] = control.from.v[dof];
        }

        // torques of the motion, without contacts that would have to pull; passive forces are those of the motion as well
        response.update_moving(model, rig, state, &joints);
        let drives = drives_of(skeleton, control, &joints.v, dt);
        let mut is_solved = false;
        for _ in 0..MAX_RELEASES {
            is_solved = response.solve((model, rig), &control.from, &drives, 0.0).is_ok();
            if !is_solved || !response.release_pulling() {
                break;
            }
        }

        // as torques with feedback
        let mut inertia = Vec::new();
        response.carried_inertia(model, rig, &mut inertia);
        let tau = self.time_constant.max(dt);
        control.feedback.resize(skeleton.v_count(), Feedback::default());
        for bone in self.bones {
            let joint = &skeleton.bone(*bone).joint;
            if joint.drive == DriveRule::MotionOnly {
                continue;
            }
            control.drives[bone.index()] = DriveKind::Torque;
            for dof in joint.v() {
                let torque = if is_solved { response.torque()[dof] } else { 0.0 };
                control.torque[dof] = torque.clamp(-self.max_torque, self.max_torque);
                control.feedback[dof] = Feedback {
                    stiffness: inertia[dof] / (tau * tau),
                    damping: 2.0 * inertia[dof] / tau,
                    max_torque: self.max_torque,
                };
            }
        }
    }
}
