//! What is asked of inverse kinematics, and what it answers.

use crate::{BoneId, Kinematics, Skeleton};
use sinew_math::{Rotation, Vec3};

/// A point of a bone and where it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkTarget {
    /// The bone.
    pub bone: BoneId,
    /// The point, in the bone's frame (m).
    pub point_in_bone: Vec3,
    /// Where it should be, in the world (m).
    pub position: Vec3,
    /// How the bone should be turned, in the world.
    pub orientation: Option<Rotation>,
    /// How much its error counts against that of others.
    pub weight: f64,
}

/// How hard to try.
#[derive(Clone, Debug, PartialEq)]
pub struct IkSettings {
    /// The most iterations.
    pub iterations: usize,
    /// The error (m, or m of turned lever) of every target at which all is well.
    pub tolerance: f64,
    /// The most an angle may change in one iteration (rad).
    pub max_rotation: f64,
    /// The most a length may change in one iteration (m).
    pub max_translation: f64,
    /// The lever ℓ (m) by which errors of orientation count like errors of position.
    pub lever: f64,
    /// Bones whose joints stay as they are.
    pub locked: Vec<BoneId>,
}

impl Default for IkSettings {
    fn default() -> IkSettings {
        IkSettings {
            iterations: 100,
            tolerance: 1e-6,
            max_rotation: 0.5,
            max_translation: 1.0,
            lever: 0.1,
            locked: Vec::new(),
        }
    }
}

/// How it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IkReport {
    /// Iterations taken.
    pub iterations: usize,
    /// The largest distance of a point from its target (m).
    pub position_error: f64,
    /// The largest angle of a bone from its target orientation (rad).
    pub orientation_error: f64,
    /// Whether every target is within the tolerance.
    pub reached: bool,
}

/// A target that means nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IkError {
    /// A bone that the skeleton does not have.
    #[error("target {target} names bone {bone}, but the skeleton has {count}")]
    NoSuchBone {
        /// Which target.
        target: usize,
        /// The bone it names.
        bone: u32,
        /// Bones of the skeleton.
        count: usize,
    },
    /// A number that is not finite, or a negative weight.
    #[error(
        "target {target}: point, position, orientation and weight must be finite, the weight not negative"
    )]
    NotFinite {
        /// Which target.
        target: usize,
    },
}

/// How much more a pin counts than a target of weight 1: where both cannot hold, the pin gives way by a ten-thousandth.
const PIN_WEIGHT: f64 = 1e4;

impl IkTarget {
    /// A point that should go somewhere, whatever the bone's orientation.
    pub fn reach(bone: BoneId, point_in_bone: Vec3, position: Vec3) -> IkTarget {
        IkTarget { bone, point_in_bone, position, orientation: None, weight: 1.0 }
    }

    /// A point that should stay where it is.
    pub fn pin(kinematics: &Kinematics, bone: BoneId, point_in_bone: Vec3) -> IkTarget {
        let position = kinematics.point(bone, &point_in_bone);
        IkTarget { bone, point_in_bone, position, orientation: None, weight: PIN_WEIGHT }
    }
}

/// Whether every target means something.
pub(crate) fn check(skeleton: &Skeleton, targets: &[IkTarget]) -> Result<(), IkError> {
    let count = skeleton.bones().len();
    for (target, t) in targets.iter().enumerate() {
        if t.bone.index() >= count {
            return Err(IkError::NoSuchBone { target, bone: t.bone.0, count });
        }
        let turn = t.orientation.map_or(1.0, |r| r.quaternion().norm());
        let numbers = t.point_in_bone.iter().chain(t.position.iter()).chain([&turn, &t.weight]);
        if !numbers.into_iter().all(|x| x.is_finite()) || t.weight < 0.0 || turn == 0.0 {
            return Err(IkError::NotFinite { target });
        }
    }
    Ok(())
}
