//! Servo control: torques that track a motion and leave joints compliant.                                    [KimPollard2011, §5]
//!
//! The torque is that of inverse dynamics for the acceleration with which a critically damped spring returns to the motion ([`crate::PathFollower`]), so that inertia, gravity and contact are
//! compensated as far as they are predicted, and the return time means the same for a finger and for a leg. It is given as a torque, so that anything unforeseen, such as a push or a bound of the torque, moves the joint.

use sinew_sim::{Model, RigControl, RigResponse, State};
use sinew_skeleton::{BoneId, DriveKind, DriveRule, Drives, JointDrive, Skeleton};

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

/// Replaces the paths of some joints by torques of at most `max_torque` (N m or N) that follow them. A state without an answer leaves them limp.
pub(crate) fn drive_by_torques(
    (model, rig): (&Model, usize),
    (response, bones, max_torque): (&mut RigResponse, &[BoneId], f64),
    (state, dt): (&State, f64),
    control: &mut RigControl,
) {
    // torques of the path, without contacts that would have to pull
    let skeleton = &model.rigs()[rig].skeleton;
    let drives = drives_of(skeleton, control, &state.rigs[rig].v, dt);
    let mut is_solved = false;
    for _ in 0..MAX_RELEASES {
        is_solved = response.solve((model, rig), state, &drives, dt).is_ok();
        if !is_solved || !response.release_pulling() {
            break;
        }
    }

    // as torques
    for bone in bones {
        let joint = &skeleton.bone(*bone).joint;
        if joint.drive == DriveRule::MotionOnly {
            continue;
        }
        control.drives[bone.index()] = DriveKind::Torque;
        for dof in joint.v() {
            let torque = if is_solved { response.torque()[dof] } else { 0.0 };
            control.torque[dof] = torque.clamp(-max_torque, max_torque);
        }
    }
}
