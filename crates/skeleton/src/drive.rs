//! Who decides a joint's motion during a step.

use crate::desc::DriveRule;
use crate::{BoneId, Skeleton};

/// Who decides a joint's motion during a step, one number per degree of freedom of the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointDrive<'a> {
    /// The torque is given (N m, or N); dynamics finds the acceleration.
    Torque(&'a [f64]),
    /// The acceleration is given (rad/s², or m/s²); dynamics finds the torque.
    Motion(&'a [f64]),
}

/// Which of a joint's torque and acceleration is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveKind {
    /// The torque.
    Torque,
    /// The acceleration.
    Motion,
}

/// A drive that a joint cannot have.
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
    /// Another count of numbers than the joint has degrees of freedom.
    #[error("bone '{bone}': its joint has {dofs} degrees of freedom, the drive {given} numbers")]
    Length {
        /// Whose joint.
        bone: String,
        /// Degrees of freedom of the joint.
        dofs: usize,
        /// Numbers given.
        given: usize,
    },
    /// A number that is not finite.
    #[error("bone '{bone}': its drive holds {value}: torques and accelerations must be finite")]
    NotFinite {
        /// Whose joint.
        bone: String,
        /// The number.
        value: f64,
    },
    /// A torque on a joint that only motion may drive.
    #[error(
        "bone '{bone}': its joint is driven by motion only, and what hangs on it may have no mass: give it an acceleration"
    )]
    MotionOnly {
        /// Whose joint.
        bone: String,
    },
}

/// The drives of all joints, to be changed at any step.
#[derive(Clone, Debug, PartialEq)]
pub struct Drives {
    pub(crate) kind: Vec<DriveKind>,
    pub(crate) value: Vec<f64>,
}

impl Drives {
    /// No torque anywhere: joints go limp, and those that only motion may drive keep their velocity.
    pub fn limp(skeleton: &Skeleton) -> Drives {
        Drives {
            kind: skeleton.bones().iter().map(limp_kind).collect(),
            value: vec![0.0; skeleton.v_count()],
        }
    }

    /// Becomes [`Drives::limp`], in the memory it has.
    ///
    /// # Panics
    /// If the skeleton is another.
    pub fn go_limp(&mut self, skeleton: &Skeleton) {
        self.value.fill(0.0);
        for (kind, bone) in self.kind.iter_mut().zip(skeleton.bones()) {
            *kind = limp_kind(bone);
        }
    }

    /// No acceleration anywhere: joints keep the velocities they have.
    pub fn coasting(skeleton: &Skeleton) -> Drives {
        Drives { kind: vec![DriveKind::Motion; skeleton.bones().len()], value: vec![0.0; skeleton.v_count()] }
    }

    /// Drives the joint of a bone. Nothing changes on an error.
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

    /// Which of torque and acceleration is given, per bone.
    #[inline]
    pub fn kinds(&self) -> &[DriveKind] {
        &self.kind
    }

    /// The torques and accelerations given, per degree of freedom.
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
