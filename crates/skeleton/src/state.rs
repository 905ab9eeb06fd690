//! State of a skeleton: joint coordinates and velocities, and their integration.

use crate::joint::{Joint, JointPrimitive};
use crate::{BoneId, Skeleton};

/// Coordinates and velocities of all joints: all that must be saved to continue with the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkeletonState {
    /// Joint coordinates: rad, m, and quaternions (x, y, z, w); length [`Skeleton::q_count`].
    pub q: Vec<f64>,
    /// Joint velocities: rad/s and m/s; length [`Skeleton::v_count`].
    pub v: Vec<f64>,
}

/// Why a state does not match a skeleton.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StateError {
    /// The arrays have other lengths.
    #[error("the state has {found_q} coordinates and {found_v} velocities, the skeleton {q} and {v}")]
    Length {
        /// Coordinates of the state.
        found_q: usize,
        /// Velocities of the state.
        found_v: usize,
        /// Coordinates of the skeleton.
        q: usize,
        /// Velocities of the skeleton.
        v: usize,
    },
    /// A value is not finite, or a quaternion is zero.
    #[error(
        "bone '{bone}': its joint has coordinates {q:?} and velocities {v:?}: they must be finite, quaternions not zero"
    )]
    Number {
        /// The bone of the joint.
        bone: String,
        /// Its coordinates.
        q: Vec<f64>,
        /// Its velocities.
        v: Vec<f64>,
    },
}

/// The primitives of a joint, each with the ranges of its coordinates and of its degrees of freedom.
pub(crate) fn each_part(
    skeleton: &Skeleton,
    joint: &Joint,
) -> impl Iterator<Item = (JointPrimitive, core::ops::Range<usize>, core::ops::Range<usize>)> {
    let (mut q, mut v) = (joint.q_offset, joint.v_offset);
    skeleton.parts(joint).iter().map(move |part| {
        let ranges = (*part, q..q + part.q_count(), v..v + part.v_count());
        q += part.q_count();
        v += part.v_count();
        ranges
    })
}

impl SkeletonState {
    /// Zero coordinates and velocities.
    pub fn at_rest(skeleton: &Skeleton) -> SkeletonState {
        let mut state = SkeletonState { q: vec![0.0; skeleton.q_count()], v: vec![0.0; skeleton.v_count()] };
        for bone in skeleton.bones() {
            for (part, q, _) in each_part(skeleton, &bone.joint) {
                part.reset(&mut state.q[q]);
            }
        }
        state
    }

    /// Checks that the state matches a skeleton and that all its values are finite.
    pub fn check(&self, skeleton: &Skeleton) -> Result<(), StateError> {
        let (q, v) = (skeleton.q_count(), skeleton.v_count());
        if self.q.len() != q || self.v.len() != v {
            return Err(StateError::Length { found_q: self.q.len(), found_v: self.v.len(), q, v });
        }
        for bone in skeleton.bones() {
            let (q, v) = (&self.q[bone.joint.q()], &self.v[bone.joint.v()]);
            let quaternions_are_nonzero = each_part(skeleton, &bone.joint)
                .all(|(part, q, _)| part != JointPrimitive::Ball || self.q[q].iter().any(|x| *x != 0.0));
            if !(quaternions_are_nonzero && q.iter().chain(v).all(|x| x.is_finite())) {
                return Err(StateError::Number { bone: bone.name.clone(), q: q.to_vec(), v: v.to_vec() });
            }
        }
        Ok(())
    }

    /// The coordinates of a bone's joint.
    pub fn q_of(&self, skeleton: &Skeleton, bone: BoneId) -> &[f64] {
        &self.q[skeleton.bone(bone).joint.q()]
    }

    /// The velocities of a bone's joint.
    pub fn v_of(&self, skeleton: &Skeleton, bone: BoneId) -> &[f64] {
        &self.v[skeleton.bone(bone).joint.v()]
    }

    /// The minimal coordinates of the joint of a bone, in the convention of [`crate::DofDesc`]: one number per degree of freedom,
    /// rotation vectors (rad) for quaternions.
    pub fn chart_of(&self, skeleton: &Skeleton, bone: BoneId) -> Vec<f64> {
        let parts = each_part(skeleton, &skeleton.bone(bone).joint);
        parts.flat_map(|(part, q, v)| part.chart(&self.q[q]).into_iter().take(v.len())).collect()
    }

    /// Sets the coordinates of the joint of a bone from one number per degree of freedom, rotation vectors (rad) for quaternions.
    /// Excess numbers are ignored; primitives without numbers are unchanged.
    pub fn set_chart_of(&mut self, skeleton: &Skeleton, bone: BoneId, x: &[f64]) {
        let joint = &skeleton.bone(bone).joint;
        for (part, q, v) in each_part(skeleton, joint) {
            if let Some(x) = x.get(v.start - joint.v_offset..v.end - joint.v_offset) {
                part.set_chart(x, &mut self.q[q]);
            }
        }
    }

    /// Symplectic Euler: velocities by the accelerations, then coordinates by the new velocities along the exponential map, so
    /// that quaternions stay unit. [KimPollard2011, §5]
    pub fn advance(&mut self, skeleton: &Skeleton, acceleration: &[f64], h: f64) {
        for (v, a) in self.v.iter_mut().zip(acceleration) {
            *v += h * a;
        }
        self.move_along_velocity(skeleton, h);
    }

    /// Integrates the coordinates with constant velocities over a time h (s).
    pub fn move_along_velocity(&mut self, skeleton: &Skeleton, h: f64) {
        let SkeletonState { q: all_q, v: all_v } = self;
        for bone in skeleton.bones() {
            for (part, q, v) in each_part(skeleton, &bone.joint) {
                part.advance(&mut all_q[q], &all_v[v], h);
            }
        }
    }
}
