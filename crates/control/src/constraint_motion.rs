//! Animation of a constraint: its target, strength and length over time.

use crate::{Curve, Keyframes, Motion};
use sinew_math::Vec3;
use sinew_sim::{Constraint, ConstraintPath};

/// The animation of a constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintMotion {
    /// Motion of the target point of a drag or pin.
    pub place: PlaceMotion,
    /// Strength as a fraction of full stiffness, 0 to 1.
    pub strength: Curve,
    /// Length as a fraction of the rest length, 0 or more.
    pub length: Curve,
}

impl Default for ConstraintMotion {
    /// A fixed target, full strength and the rest length.
    fn default() -> ConstraintMotion {
        let full = Curve::constant(1.0);
        ConstraintMotion { place: PlaceMotion::default(), strength: full.clone(), length: full }
    }
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
        // curves overshoot their keys
        let numbers = |curve: &Curve, max: f64| times.map(|t| curve.value(t).clamp(0.0, max));
        let [from, to] = times.map(|t| self.place_at(constraint, t));
        ConstraintPath {
            place: from.zip(to).map(|(from, to)| [from, to]),
            place_before: self.place_at(constraint, (time - dt).max(0.0)),
            strength: numbers(&self.strength, 1.0),
            length: numbers(&self.length, f64::MAX),
        }
    }

    /// The target at a time (s), if it is moved (m).
    fn place_at(&self, constraint: &Constraint, time: f64) -> Option<Vec3> {
        match &self.place {
            PlaceMotion::Still => None,
            PlaceMotion::Moved(motion) => constraint.place().map(|place| {
                let moved = motion.world_from_rest(time);
                moved.rotation * place + moved.translation.vector
            }),
            PlaceMotion::Along(path) => Some(path.value(time)),
        }
    }

    /// Checks the parameters and returns the first fault.
    pub fn fault(&self) -> Option<String> {
        let rejected = |curve: &Curve, accepts: fn(f64) -> bool| {
            curve.key_values().into_iter().find(|(_, value)| !accepts(*value))
        };
        if let Some((time, value)) = rejected(&self.strength, |value| (0.0..=1.0).contains(&value)) {
            return Some(format!(
                "the strength of {value} at {time} s is not between 0 and 1: give a fraction"
            ));
        }
        if let Some((time, value)) = rejected(&self.length, |value| value >= 0.0 && value.is_finite()) {
            return Some(format!(
                "the length of {value} at {time} s is negative: give 0 or more, 1 is the rest length"
            ));
        }
        match &self.place {
            PlaceMotion::Moved(motion) => motion.fault(),
            _ => None,
        }
    }
}
