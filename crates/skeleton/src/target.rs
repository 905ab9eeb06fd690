//! Targets, settings and report of inverse kinematics.

use crate::{BoneId, Kinematics, Skeleton};
use sinew_math::{Rotation, Vec3};

/// A target for a point of a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkTarget {
    /// The bone.
    pub bone: BoneId,
    /// The point, in the bone's frame (m).
    pub point_in_bone: Vec3,
    /// Its target position, in the world (m).
    pub position: Vec3,
    /// Target orientation of the bone, in the world.
    pub orientation: Option<Rotation>,
    /// Weight of its error.
    pub weight: f64,
}

/// Settings of the solver.
#[derive(Clone, Debug, PartialEq)]
pub struct IkSettings {
    /// The maximum number of iterations.
    pub iterations: usize,
    /// The error (m; orientation errors times the lever) of every target at which the solver stops.
    pub tolerance: f64,
    /// The maximum change of an angle per iteration (rad).
    pub max_rotation: f64,
    /// The maximum change of a length per iteration (m).
    pub max_translation: f64,
    /// The lever ℓ (m) that converts orientation errors to position errors.
    pub lever: f64,
    /// Bones whose joints are fixed.
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

/// The result of a solve.
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

/// Why a target is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IkError {
    /// A bone that the skeleton does not have.
    #[error("target {target} refers to bone {bone}, but the skeleton has {count}")]
    NoSuchBone {
        /// Which target.
        target: usize,
        /// The bone it refers to.
        bone: u32,
        /// Bones of the skeleton.
        count: usize,
    },
    /// A value that is not finite, or a negative weight.
    #[error(
        "target {target}: point, position, orientation and weight must be finite, the weight not negative"
    )]
    NotFinite {
        /// Which target.
        target: usize,
    },
}

/// The weight of a pin relative to a target of weight 1: where both cannot be met, the pin deviates by a ten-thousandth.
const PIN_WEIGHT: f64 = 1e4;

impl IkTarget {
    /// A position target without orientation.
    pub fn reach(bone: BoneId, point_in_bone: Vec3, position: Vec3) -> IkTarget {
        IkTarget { bone, point_in_bone, position, orientation: None, weight: 1.0 }
    }

    /// A target that keeps a point where it is.
    pub fn pin(kinematics: &Kinematics, bone: BoneId, point_in_bone: Vec3) -> IkTarget {
        let position = kinematics.point(bone, &point_in_bone);
        IkTarget { bone, point_in_bone, position, orientation: None, weight: PIN_WEIGHT }
    }
}

/// Checks that every target is valid.
pub(crate) fn check(skeleton: &Skeleton, targets: &[IkTarget]) -> Result<(), IkError> {
    let count = skeleton.bones().len();
    for (target, t) in targets.iter().enumerate() {
        if t.bone.index() >= count {
            return Err(IkError::NoSuchBone { target, bone: t.bone.0, count });
        }
        let norm = t.orientation.map_or(1.0, |r| r.quaternion().norm());
        let numbers = t.point_in_bone.iter().chain(t.position.iter()).chain([&norm, &t.weight]);
        if !numbers.into_iter().all(|x| x.is_finite()) || t.weight < 0.0 || norm == 0.0 {
            return Err(IkError::NotFinite { target });
        }
    }
    Ok(())
}
