//! Where the coordinates of a joint's parts stand, and what they mean.

use crate::curve::KeyValue;
use core::ops::Range;
use sinew_math::{Rotation, Vec3, nalgebra::Quaternion};
use sinew_skeleton::{BoneId, JointPrimitive, Skeleton};

/// A part of a joint and where its numbers stand in the arrays of the skeleton.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PartPlace {
    pub(crate) part: JointPrimitive,
    pub(crate) q: Range<usize>,
    pub(crate) v: Range<usize>,
}

/// The parts of one bone's joint.
pub(crate) fn places_of(skeleton: &Skeleton, bone: BoneId) -> impl Iterator<Item = PartPlace> {
    let joint = &skeleton.bone(bone).joint;
    let (mut q, mut v) = (joint.q_offset, joint.v_offset);
    skeleton.parts(joint).iter().map(move |part| {
        let place = PartPlace { part: *part, q: q..q + part.q_count(), v: v..v + part.v_count() };
        (q, v) = (place.q.end, place.v.end);
        place
    })
}

/// All bones of a skeleton, parents first.
pub(crate) fn bone_ids(skeleton: &Skeleton) -> impl Iterator<Item = BoneId> + use<> {
    (0..skeleton.bones().len()).map(|i| BoneId(i as u32))
}

/// The rotation of four coordinates (x, y, z, w); none where they vanish.
pub(crate) fn rotation_of(q: &[f64]) -> Rotation {
    let rotation = Rotation::new_unchecked(Quaternion::new(q[3], q[0], q[1], q[2]));
    if rotation.is_sound() { rotation.normalized() } else { Rotation::identity() }
}

pub(crate) fn vector_of(q: &[f64]) -> Vec3 {
    Vec3::new(q[0], q[1], q[2])
}
