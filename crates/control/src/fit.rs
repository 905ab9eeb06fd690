//! Joint coordinates that bring bones nearest to given poses.
//!
//! The one idea: with all other parts of a joint held, the best coordinate of one part has a closed form; parts take turns
//! until nothing moves. Balls, free joints, hinges and rows of perpendicular turns are exact after one or a few rounds.

use crate::part_value::{PartPlace, bone_ids, places_of, rotation_of, vector_of};
use core::f64::consts::{PI, TAU};
use sinew_math::{Isometry, Rotation, Vec3, real, so3};
use sinew_skeleton::{BoneId, JointPrimitive, Skeleton, SkeletonState};

/// Rounds over the parts of a joint: three turns at right angles settle to round-off in far fewer, and a joint that cannot
/// reach its pose gains nothing from more.
const ROUNDS: usize = 100;

/// What is asked of a bone, in the world.
pub(crate) enum Aim {
    /// To stand here.
    Pose(Isometry),
    /// To be turned so; lengths of its joint stay.
    Rotation(Rotation),
}

/// Sets the coordinates of every joint, parents first, so that bones come nearest to what is asked of them. A joint without
/// one keeps its coordinates. Returns where each bone then stands in the world.
pub(crate) fn pose(
    skeleton: &Skeleton,
    state: &mut SkeletonState,
    aim: impl Fn(BoneId) -> Option<Aim>,
) -> Vec<Isometry> {
    let mut found: Vec<Isometry> = Vec::with_capacity(skeleton.bones().len());
    for id in bone_ids(skeleton) {
        let bone = skeleton.bone(id);
        let world_from_parent = bone.parent.map_or_else(Isometry::identity, |parent| found[parent.index()]);
        let world_from_joint = world_from_parent * bone.parent_from_joint.isometry();
        let places: Vec<PartPlace> = places_of(skeleton, id).collect();
        match aim(id) {
            Some(Aim::Pose(target)) => {
                let target = world_from_joint.inverse() * target;
                rotations(&places, &target.rotation, &mut state.q);
                shifts(&places, &target.translation.vector, &mut state.q);
            }
            Some(Aim::Rotation(target)) => {
                rotations(&places, &(world_from_joint.rotation.inverse() * target), &mut state.q);
            }
            None => {}
        }
        found.push(world_from_joint * joint_from_bone(&places, &state.q));
    }
    found
}

/// Where a bone stands in its joint's frame.
pub(crate) fn joint_from_bone(places: &[PartPlace], q: &[f64]) -> Isometry {
    places.iter().fold(Isometry::identity(), |before, place| {
        let q = &q[place.q.clone()];
        before * Isometry::from_parts(shift_of(&place.part, q).into(), turn_of(&place.part, q))
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

/// Shifts a bone, and all below it, in the world (m), by the first part of its joint that shifts anywhere.
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
    let places: Vec<PartPlace> = places_of(skeleton, bone).collect();
    if let Some(k) = places.iter().position(|place| place.part == JointPrimitive::Translation) {
        let world_from_part = world_from_joint * joint_from_bone(&places[..k], &state.q).rotation;
        let step = world_from_part.inverse_transform_vector(by);
        state.q[places[k].q.clone()].iter_mut().zip(step.iter()).for_each(|(x, step)| *x += step);
    }
}

/// Turns a row of parts so that its rotation comes nearest to the target: L exp(a φ) R = target asks for the part of L⁻¹ target
/// R⁻¹ that turns about a.
fn rotations(places: &[PartPlace], target: &Rotation, q: &mut [f64]) {
    let turning = places
        .iter()
        .filter(|place| matches!(place.part, JointPrimitive::Revolute(_) | JointPrimitive::Ball))
        .count();
    for _ in 0..if turning > 1 { ROUNDS } else { turning } {
        let mut moved = 0.0f64;
        for (k, place) in places.iter().enumerate() {
            let row = |places: &[PartPlace], q: &[f64]| {
                places
                    .iter()
                    .fold(Rotation::identity(), |r, place| r * turn_of(&place.part, &q[place.q.clone()]))
            };
            let (before, after) = (row(&places[..k], q), row(&places[k + 1..], q));
            let wanted = before.inverse() * target * after.inverse();
            let own = &mut q[place.q.clone()];
            match place.part {
                JointPrimitive::Revolute(axis) => {
                    let angle = 2.0 * real::atan2(wanted.imag().dot(&axis), wanted.w);
                    // the turn nearest to where it was, so that motions do not jump by whole turns
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

/// An angle (rad) less whole turns, between −π and π.
fn nearest_turn(angle: f64) -> f64 {
    let rest = angle - TAU * (angle / TAU).round();
    rest.clamp(-PI, PI)
}

/// Shifts a row of parts so that its end comes nearest to the target, with all turns as they are.
fn shifts(places: &[PartPlace], target: &Vec3, q: &mut [f64]) {
    let shifting = places
        .iter()
        .filter(|place| matches!(place.part, JointPrimitive::Prismatic(_) | JointPrimitive::Translation))
        .count();
    for _ in 0..if shifting > 1 { ROUNDS } else { shifting } {
        let mut moved = 0.0f64;
        for (k, place) in places.iter().enumerate() {
            let error = target - joint_from_bone(places, q).translation.vector;
            let in_part = joint_from_bone(&places[..k], q).rotation.inverse_transform_vector(&error);
            let own = &mut q[place.q.clone()];
            match place.part {
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
