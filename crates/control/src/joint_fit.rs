//! Inverse kinematics joint by joint: fits joint coordinates to given bone poses by coordinate descent.
//!
//! With all other parts of a joint fixed, the best coordinate of one part has a closed form; the fit sweeps over the parts until
//! none moves. It is exact after one or a few sweeps for ball and free joints, hinges and perpendicular hinges in series.

use crate::part_slot::{PartSlot, bone_ids, rotation_of, slots_of, vector_of};
use core::f64::consts::{PI, TAU};
use sinew_math::{Isometry, Rotation, Vec3, real, so3};
use sinew_skeleton::{BoneId, JointPrimitive, Skeleton, SkeletonState};

/// Maximum number of sweeps over the parts of a joint: three perpendicular hinges converge to round-off in far fewer, and a joint
/// that cannot reach its pose gains nothing from more.
const MAX_SWEEPS: usize = 100;

/// The target of a bone, in the world.
pub(crate) enum BoneTarget {
    /// Position and orientation.
    Pose(Isometry),
    /// Orientation only; translations of its joint stay as they are.
    Rotation(Rotation),
}

/// Sets the coordinates of every joint, parents first, so that each bone is as close to its target as its joint allows. A bone
/// without a target keeps its coordinates. Returns the pose of each bone in the world.
pub(crate) fn pose(
    skeleton: &Skeleton,
    state: &mut SkeletonState,
    aim: impl Fn(BoneId) -> Option<BoneTarget>,
) -> Vec<Isometry> {
    let mut found: Vec<Isometry> = Vec::with_capacity(skeleton.bones().len());
    for id in bone_ids(skeleton) {
        let bone = skeleton.bone(id);
        let world_from_parent = bone.parent.map_or_else(Isometry::identity, |parent| found[parent.index()]);
        let world_from_joint = world_from_parent * bone.parent_from_joint.isometry();
        let slots: Vec<PartSlot> = slots_of(skeleton, id).collect();
        match aim(id) {
            Some(BoneTarget::Pose(target)) => {
                let target = world_from_joint.inverse() * target;
                rotations(&slots, &target.rotation, &mut state.q);
                shifts(&slots, &target.translation.vector, &mut state.q);
            }
            Some(BoneTarget::Rotation(target)) => {
                rotations(&slots, &(world_from_joint.rotation.inverse() * target), &mut state.q);
            }
            None => {}
        }
        found.push(world_from_joint * joint_from_bone(&slots, &state.q));
    }
    found
}

/// The pose of a bone in its joint's frame.
pub(crate) fn joint_from_bone(slots: &[PartSlot], q: &[f64]) -> Isometry {
    slots.iter().fold(Isometry::identity(), |before, slot| {
        let q = &q[slot.q.clone()];
        before * Isometry::from_parts(shift_of(&slot.part, q).into(), turn_of(&slot.part, q))
    })
}

fn turn_of(part: &JointPrimitive, q: &[f64]) -> Rotation {
    match part {
        JointPrimitive::Revolute(axis) => so3::exp(&(axis * q[0])),
        JointPrimitive::Ball => rotation_of(q),
        JointPrimitive::Prismatic(_) | JointPrimitive::Translation => Rotation::identity(),
    }
}

fn shift_of(part: &JointPrimitive, q: &[f64]) -> Vec3 {
    match part {
        JointPrimitive::Prismatic(axis) => axis * q[0],
        JointPrimitive::Translation => vector_of(q),
        JointPrimitive::Revolute(_) | JointPrimitive::Ball => Vec3::zeros(),
    }
}

/// Translates a bone and its descendants in the world (m), by the first part of its joint that translates freely.
pub(crate) fn shift(
    skeleton: &Skeleton,
    bone: BoneId,
    world_from_bone: &[Isometry],
    by: &Vec3,
    state: &mut SkeletonState,
) {
    let parent = skeleton.bone(bone).parent;
    let world_from_parent =
        parent.map_or_else(Rotation::identity, |parent| world_from_bone[parent.index()].rotation);
    let world_from_joint = world_from_parent * skeleton.bone(bone).parent_from_joint.quaternion();
    let slots: Vec<PartSlot> = slots_of(skeleton, bone).collect();
    if let Some(k) = slots.iter().position(|slot| slot.part == JointPrimitive::Translation) {
        let world_from_part = world_from_joint * joint_from_bone(&slots[..k], &state.q).rotation;
        let step = world_from_part.inverse_transform_vector(by);
        state.q[slots[k].q.clone()].iter_mut().zip(step.iter()).for_each(|(x, step)| *x += step);
    }
}

/// Rotates the parts of a joint so that their product is nearest to the target. For L exp(a φ) R = T the best φ is the twist of
/// L⁻¹ T R⁻¹ about a (swing-twist decomposition).
fn rotations(slots: &[PartSlot], target: &Rotation, q: &mut [f64]) {
    let turning = slots
        .iter()
        .filter(|slot| matches!(slot.part, JointPrimitive::Revolute(_) | JointPrimitive::Ball))
        .count();
    for _ in 0..if turning > 1 { MAX_SWEEPS } else { turning } {
        let mut moved = 0.0f64;
        for (k, slot) in slots.iter().enumerate() {
            // the rotation that this part alone would need
            let row = |slots: &[PartSlot], q: &[f64]| {
                slots.iter().fold(Rotation::identity(), |r, slot| r * turn_of(&slot.part, &q[slot.q.clone()]))
            };
            let (before, after) = (row(&slots[..k], q), row(&slots[k + 1..], q));
            let wanted = before.inverse() * target * after.inverse();

            // the nearest one it can make
            let own = &mut q[slot.q.clone()];
            match slot.part {
                JointPrimitive::Revolute(axis) => {
                    let angle = 2.0 * real::atan2(wanted.imag().dot(&axis), wanted.w);
                    // the equivalent angle nearest to the previous one, so that motions do not jump by 2π
                    let step = nearest_turn(angle - own[0]);
                    moved = moved.max(step.abs());
                    own[0] += step;
                }
                JointPrimitive::Ball => {
                    moved = moved.max(so3::log(&(rotation_of(own).inverse() * wanted)).norm());
                    own.copy_from_slice(wanted.as_vector().as_slice());
                }
                JointPrimitive::Prismatic(_) | JointPrimitive::Translation => {}
            }
        }
        if moved < 4.0 * f64::EPSILON {
            break;
        }
    }
}

/// An angle (rad) wrapped to [−π, π].
fn nearest_turn(angle: f64) -> f64 {
    let rest = angle - TAU * (angle / TAU).round();
    rest.clamp(-PI, PI)
}

/// Translates the parts of a joint so that its end is nearest to the target, with all rotations fixed.
fn shifts(slots: &[PartSlot], target: &Vec3, q: &mut [f64]) {
    let shifting = slots
        .iter()
        .filter(|slot| matches!(slot.part, JointPrimitive::Prismatic(_) | JointPrimitive::Translation))
        .count();
    for _ in 0..if shifting > 1 { MAX_SWEEPS } else { shifting } {
        let mut moved = 0.0f64;
        for (k, slot) in slots.iter().enumerate() {
            let error = target - joint_from_bone(slots, q).translation.vector;
            let in_part = joint_from_bone(&slots[..k], q).rotation.inverse_transform_vector(&error);
            let own = &mut q[slot.q.clone()];
            match slot.part {
                JointPrimitive::Prismatic(axis) => {
                    let step = axis.dot(&in_part);
                    moved = moved.max(step.abs());
                    own[0] += step;
                }
                JointPrimitive::Translation => {
                    moved = moved.max(in_part.amax());
                    own.iter_mut().zip(in_part.iter()).for_each(|(x, step)| *x += step);
                }
                JointPrimitive::Revolute(_) | JointPrimitive::Ball => {}
            }
        }
        if moved <= 4.0 * f64::EPSILON * target.amax() {
            break;
        }
    }
}
