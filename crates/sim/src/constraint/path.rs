//! What the control of a step asks of a constraint.

use super::spring::Spring;
use super::{Constraint, Hold};
use sinew_math::Vec3;

/// What is asked of a constraint in a step, from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstraintPath {
    /// Where a point is dragged to or held (m); the constraint's own place if not given. Not read by joins and belts.
    pub place: Option<[Vec3; 2]>,
    /// How strong it is, from 0, let go, to 1.
    pub strength: [f64; 2],
    /// Its length in parts of its own, 0 or more: below 1 a belt is tightened.
    pub length: [f64; 2],
}

impl Default for ConstraintPath {
    fn default() -> Self {
        ConstraintPath { place: None, strength: [1.0; 2], length: [1.0; 2] }
    }
}

/// What is asked at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Where a point is held (m).
    pub(crate) place: Vec3,
    /// The spring, as strong and long as asked.
    pub(crate) spring: Spring,
    /// c (N s/m)
    pub(crate) damping: f64,
}

impl ConstraintPath {
    /// Dragged to, or held at, a place (m) that does not move.
    pub fn at(place: Vec3) -> ConstraintPath {
        ConstraintPath { place: Some([place; 2]), ..ConstraintPath::default() }
    }

    /// Let go.
    pub fn released() -> ConstraintPath {
        ConstraintPath { strength: [0.0; 2], ..ConstraintPath::default() }
    }

    /// What is asked of a constraint after a fraction of the step.
    pub(crate) fn asks(&self, constraint: &Constraint, fraction: f64) -> Asked {
        let between = |[from, to]: [f64; 2]| from + fraction * (to - from);
        let own = match &constraint.hold {
            Hold::Place { place, .. } => *place,
            _ => Vec3::zeros(),
        };
        let strength = between(self.strength);
        Asked {
            place: self.place.map_or(own, |[from, to]| from + fraction * (to - from)),
            spring: Spring {
                stiffness: strength * constraint.stiffness,
                length: between(self.length) * constraint.length,
                is_unilateral: constraint.is_unilateral,
            },
            damping: strength * constraint.damping,
        }
    }

    /// What is wrong with it.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.place.iter().flatten().flat_map(Vec3::iter).any(|x| !x.is_finite()) {
            return Some("it is asked to be at a place that is not finite".into());
        }
        if let Some(strength) = self.strength.iter().find(|strength| !(0.0..=1.0).contains(*strength)) {
            return Some(format!("a strength of {strength} is asked for: it must be from 0 to 1"));
        }
        let length = self.length.iter().find(|length| !(**length >= 0.0 && length.is_finite()));
        length.map(|length| format!("{length} of its length is asked for: it must be 0 or more, and finite"))
    }
}
