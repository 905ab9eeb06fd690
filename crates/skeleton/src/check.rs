//! Validation of a skeleton description.

use crate::desc::{BoneDesc, DofDesc, DriveRule};
use crate::fault::Fault;
use crate::joint::MAX_DOFS;
use crate::joint_factor::JointFactor;
use crate::mass::MassProperties;
use crate::{Kinematics, Skeleton, SkeletonState};
use sinew_math::spatial::ArticulatedInertia;

/// Checks the description of one bone, appends its faults and returns its mass properties.
pub(crate) fn bone(desc: &BoneDesc, faults: &mut Vec<Fault>) -> MassProperties {
    let mut fault = |what: String| faults.push(Fault::new(&desc.name, what));

    // rest transform
    let pose = &desc.parent_from_joint;
    let norm = pose.rotation.quaternion().norm();
    if !(pose.translation.vector.iter().all(|x| x.is_finite()) && norm.is_finite()) {
        fault("its rest transform is not finite".into());
    } else if (norm - 1.0).abs() > 1e-6 {
        fault(format!("the quaternion of its rest transform has length {norm:.6}: normalise it"));
    }

    // joint: degrees of freedom, axes, parameters
    let v_count = desc.joint.kind.v_count();
    if v_count > MAX_DOFS {
        fault(format!(
            "its joint has {v_count} degrees of freedom: at most {MAX_DOFS}; put a massless bone between"
        ));
    }
    if let Some(what) = desc.joint.kind.axis_fault() {
        fault(what);
    }
    let given = desc.joint.dofs.len();
    if given > 1 && given != v_count {
        fault(format!(
            "its joint has {v_count} degrees of freedom but {given} entries for them: give {v_count}, one or none"
        ));
    }
    for (i, dof) in desc.joint.dofs.iter().enumerate() {
        if let Some(what) = dof_fault(dof) {
            fault(format!("degree of freedom {i}: {what}"));
        }
    }

    // mass properties
    desc.mass.find().unwrap_or_else(|what| {
        fault(what);
        MassProperties::default()
    })
}

fn dof_fault(dof: &DofDesc) -> Option<String> {
    let DofDesc { rest, lower, upper, .. } = *dof;
    if !rest.is_finite() {
        return Some(format!("rest coordinate {rest} is not finite"));
    }
    if lower.is_nan()
        || upper.is_nan()
        || lower > upper
        || lower == f64::INFINITY
        || upper == f64::NEG_INFINITY
    {
        return Some(format!("limits {lower} to {upper} contain no coordinate: swap or correct them"));
    }
    let strengths = [
        ("stiffness", dof.stiffness),
        ("damping", dof.damping),
        ("armature", dof.armature),
        ("limit stiffness", dof.limit_stiffness),
        ("limit damping", dof.limit_damping),
    ];
    let bad = strengths.iter().find(|(_, value)| !(value.is_finite() && *value >= 0.0));
    bad.map(|(name, value)| format!("{name} {value} must be finite and not negative"))
}

/// Joints that a torque would accelerate without bound: with all joints driven by torque where they may be, Sᵀ Ĵ S is singular,
/// both at zero coordinates and at generic coordinates. (A chain of revolute joints may be aligned at zero only.)
pub(crate) fn inertia(skeleton: &Skeleton) -> Vec<Fault> {
    let mut generic = SkeletonState::at_rest(skeleton);
    for dof in 0..skeleton.v_count() {
        // fractional parts of multiples of the golden ratio: evenly distributed and never aligned
        generic.v[dof] = 0.3 + (0.618_033_988_749_895 * dof as f64).fract();
    }
    generic.move_along_velocity(skeleton, 1.0);
    generic.v.fill(0.0);

    let at_generic = singular(skeleton, &generic);
    let at_rest = singular(skeleton, &SkeletonState::at_rest(skeleton));
    let both = (0..skeleton.bones().len()).filter(|&i| at_generic[i] && at_rest[i]);
    let fault = |i: usize| {
        let bone = &skeleton.bones()[i];
        let what = "its joint has no inertia against a torque: give the bone or one of its descendants a mass off the \
                    axis of the joint, give the joint armature, or drive it by motion only";
        Fault::new(&bone.name, what)
    };
    both.map(fault).collect()
}

fn singular(skeleton: &Skeleton, state: &SkeletonState) -> Vec<bool> {
    let bones = skeleton.bones();
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, state);
    let mut inertia: Vec<ArticulatedInertia> = bones.iter().map(|bone| (&bone.inertia).into()).collect();
    let mut singular = vec![false; bones.len()];
    for i in (0..bones.len()).rev() {
        let joint = &bones[i].joint;
        let mut transmitted = inertia[i];
        if joint.drive == DriveRule::TorqueOrMotion {
            let mut factor = JointFactor::default();
            let armature = |k: usize| skeleton.dofs()[joint.v_offset + k].armature;
            if factor.find(&inertia[i], &kinematics.columns()[joint.v()], armature).is_err() {
                singular[i] = true;
            } else {
                factor.apply(&mut transmitted);
            }
        }
        if let Some(parent) = bones[i].parent {
            inertia[parent.index()].add_from(&kinematics.parent_from_bone()[i], &transmitted);
        }
    }
    singular
}
