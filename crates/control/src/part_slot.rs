//! The parts of joints with their index ranges in the coordinate arrays of a skeleton.

use crate::spline::KeyValue;
use core::ops::Range;
use sinew_math::{Rotation, Vec3, nalgebra::Quaternion};
use sinew_skeleton::{BoneId, JointPrimitive, Skeleton};

/// A part of a joint and its index ranges in the skeleton's coordinates and velocities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PartSlot {
    pub(crate) part: JointPrimitive,
    pub(crate) q: Range<usize>,
    pub(crate) v: Range<usize>,
}

/// The parts of a bone's joint.
pub(crate) fn slots_of(skeleton: &Skeleton, bone: BoneId) -> impl Iterator<Item = PartSlot> {
    let joint = &skeleton.bone(bone).joint;
    let (mut q, mut v) = (joint.q_offset, joint.v_offset);
    skeleton.parts(joint).iter().map(move |part| {
        let slot = PartSlot { part: *part, q: q..q + part.q_count(), v: v..v + part.v_count() };
        (q, v) = (slot.q.end, slot.v.end);
        slot
    })
}

/// All bones of a skeleton, parents first.
pub(crate) fn bone_ids(skeleton: &Skeleton) -> impl Iterator<Item = BoneId> + use<> {
    (0..skeleton.bones().len()).map(|i| BoneId(i as u32))
}

/// The rotation of a quaternion (x, y, z, w); the identity if it is zero or not finite.
pub(crate) fn rotation_of(q: &[f64]) -> Rotation {
    let rotation = Rotation::new_unchecked(Quaternion::new(q[3], q[0], q[1], q[2]));
    if rotation.is_sound() { rotation.normalized() } else { Rotation::identity() }
}

pub(crate) fn vector_of(q: &[f64]) -> Vec3 {
    Vec3::new(q[0], q[1], q[2])
}
