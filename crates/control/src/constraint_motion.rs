//! Animation of a constraint: its target, strength and length over time.

use crate::{Keyframes, Motion};
use sinew_math::Vec3;
use sinew_sim::{Constraint, ConstraintPath};

/// The animation of a constraint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintMotion {
    /// Motion of the target point of a drag or pin.
    pub place: PlaceMotion,
    /// Strength as a fraction of full stiffness, 0 to 1; `None` for a constant 1.
    pub strength: Option<Keyframes<f64>>,
    /// Length as a fraction of the rest length; `None` for a constant 1.
    pub length: Option<Keyframes<f64>>,
}

/// Motion of the target point of a constraint.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PlaceMotion {
    /// Fixed at the constraint's own target.
    #[default]
    Still,
    /// The constraint's own target under a rigid motion.
    Moved(Motion),
    /// Along a spline through points of the world (m).
    Along(Keyframes<Vec3>),
}

impl ConstraintMotion {
    /// Computes target, strength and length of a constraint at both ends of the step of `dt` (s) that starts at a time (s).
    pub fn path(&self, constraint: &Constraint, time: f64, dt: f64) -> ConstraintPath {
        let times = [time.max(0.0), (time + dt).max(0.0)];
        let numbers = |keys: &Option<Keyframes<f64>>, max: f64| {
            // splines overshoot their keys
            let value = |t: f64| keys.as_ref().map_or(1.0, |keys| keys.value(t).clamp(0.0, max));
            times.map(value)
        };
        ConstraintPath {
            place: match &self.place {
                PlaceMotion::Still => None,
                PlaceMotion::Moved(motion) => constraint.place().map(|place| {
                    times.map(|t| {
                        let moved = motion.world_from_rest(t);
                        moved.rotation * place + moved.translation.vector
                    })
                }),
                PlaceMotion::Along(path) => Some(times.map(|t| path.value(t))),
            },
            strength: numbers(&self.strength, 1.0),
            length: numbers(&self.length, f64::MAX),
        }
    }

    /// Checks the parameters and returns the first fault.
    pub fn fault(&self) -> Option<String> {
        let strengths = self.strength.iter().flat_map(Keyframes::keys);
        if let Some(key) = strengths.into_iter().find(|key| !(0.0..=1.0).contains(&key.value)) {
            return Some(format!(
                "the strength of {} at {} s is not between 0 and 1: give a fraction",
                key.value, key.time
            ));
        }
        let lengths = self.length.iter().flat_map(Keyframes::keys);
        if let Some(key) = lengths.into_iter().find(|key| key.value < 0.0) {
            return Some(format!(
                "the length of {} at {} s is negative: give 0 or more, 1 is the rest length",
                key.value, key.time
            ));
        }
        match &self.place {
            PlaceMotion::Moved(motion) => motion.fault(),
            _ => None,
        }
    }
}
