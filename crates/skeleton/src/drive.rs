//! Joint drives: for each joint either the torque or the acceleration is prescribed.

use crate::desc::DriveRule;
use crate::{BoneId, Skeleton};

/// The prescribed quantity of a joint during a step, one value per degree of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointDrive<'a> {
    /// The torque is prescribed (N m, or N); dynamics computes the acceleration.
    Torque(&'a [f64]),
    /// The acceleration is prescribed (rad/s², or m/s²); dynamics computes the torque.
    Motion(&'a [f64]),
}

/// Whether the torque or the acceleration of a joint is prescribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveKind {
    /// The torque.
    Torque,
    /// The acceleration.
    Motion,
}

/// Why a joint cannot have a drive.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DriveError {
    /// A bone that the skeleton does not have.
    #[error("there is no bone {bone}: the skeleton has {count}, counted from 0")]
    NoSuchBone {
        /// The bone.
        bone: u32,
        /// Bones of the skeleton.
        count: usize,
    },
    /// The number of values differs from the degrees of freedom of the joint.
    #[error("bone '{bone}': its joint has {dofs} degrees of freedom, the drive {given} values")]
    Length {
        /// The bone of the joint.
        bone: String,
        /// Degrees of freedom of the joint.
        dofs: usize,
        /// Values given.
        given: usize,
    },
    /// A value is not finite.
    #[error("bone '{bone}': its drive is {value}: torques and accelerations must be finite")]
    NotFinite {
        /// The bone of the joint.
        bone: String,
        /// The value.
        value: f64,
    },
    /// A torque on a joint that only motion may drive.
    #[error(
        "bone '{bone}': its joint is driven by motion only, because its subtree may be massless: give it an acceleration"
    )]
    MotionOnly {
        /// The bone of the joint.
        bone: String,
    },
}

/// The drives of all joints; they may change at any step.
#[derive(Clone, Debug, PartialEq)]
pub struct Drives {
    pub(crate) kind: Vec<DriveKind>,
    pub(crate) value: Vec<f64>,
}

impl Drives {
    /// Zero torque everywhere; joints that only motion may drive keep their velocity.
    pub fn limp(skeleton: &Skeleton) -> Drives {
        Drives {
            kind: skeleton.bones().iter().map(limp_kind).collect(),
            value: vec![0.0; skeleton.v_count()],
        }
    }

    /// Resets to [`Drives::limp`] without allocating.
    ///
    /// # Panics
    /// If the skeleton is another.
    pub fn go_limp(&mut self, skeleton: &Skeleton) {
        self.value.fill(0.0);
        for (kind, bone) in self.kind.iter_mut().zip(skeleton.bones()) {
            *kind = limp_kind(bone);
        }
    }

    /// Zero acceleration everywhere: joints keep their velocities.
    pub fn coasting(skeleton: &Skeleton) -> Drives {
        Drives { kind: vec![DriveKind::Motion; skeleton.bones().len()], value: vec![0.0; skeleton.v_count()] }
    }

    /// Sets the drive of the joint of a bone. Nothing changes on an error.
    pub fn set(&mut self, skeleton: &Skeleton, bone: BoneId, drive: JointDrive) -> Result<(), DriveError> {
        let Some(target) = skeleton.bones().get(bone.index()) else {
            return Err(DriveError::NoSuchBone { bone: bone.0, count: skeleton.bones().len() });
        };
        let name = || target.name.clone();
        let (kind, values) = match drive {
            JointDrive::Torque(_) if target.joint.drive == DriveRule::MotionOnly => {
                return Err(DriveError::MotionOnly { bone: name() });
            }
            JointDrive::Torque(values) => (DriveKind::Torque, values),
            JointDrive::Motion(values) => (DriveKind::Motion, values),
        };
        if values.len() != target.joint.v_count {
            return Err(DriveError::Length { bone: name(), dofs: target.joint.v_count, given: values.len() });
        }
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(DriveError::NotFinite { bone: name(), value: *value });
        }
        self.kind[bone.index()] = kind;
        self.value[target.joint.v()].copy_from_slice(values);
        Ok(())
    }

    /// Whether torque or acceleration is prescribed, per bone.
    #[inline]
    pub fn kinds(&self) -> &[DriveKind] {
        &self.kind
    }

    /// The prescribed torques and accelerations, per degree of freedom.
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.value
    }

    /// The drive of a bone's joint.
    pub fn get(&self, skeleton: &Skeleton, bone: BoneId) -> JointDrive<'_> {
        let values = &self.value[skeleton.bone(bone).joint.v()];
        match self.kind[bone.index()] {
            DriveKind::Torque => JointDrive::Torque(values),
            DriveKind::Motion => JointDrive::Motion(values),
        }
    }
}

fn limp_kind(bone: &crate::Bone) -> DriveKind {
    match bone.joint.drive {
        DriveRule::TorqueOrMotion => DriveKind::Torque,
        DriveRule::MotionOnly => DriveKind::Motion,
    }
}
