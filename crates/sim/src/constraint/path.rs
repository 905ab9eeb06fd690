//! Motion of a constraint during a step, as set by the control.

use super::spring::Spring;
use super::{Constraint, Hold};
use sinew_math::Vec3;

/// Parameters of a constraint at the beginning and at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstraintPath {
    /// Target of a dragged or pinned point (m); the constraint's default target if not given. Ignored by joins and belts.
    pub place: Option<[Vec3; 2]>,
    /// The target one step earlier (m): what is on its way to an exact constraint moves on relative to it. If not given, the target has moved as it does in this step.
    pub place_before: Option<Vec3>,
    /// Strength, from 0 (released) to 1.
    pub strength: [f64; 2],
    /// Length relative to the natural length, 0 or more: values below 1 tighten a belt.
    pub length: [f64; 2],
}

impl Default for ConstraintPath {
    fn default() -> Self {
        ConstraintPath { place: None, place_before: None, strength: [1.0; 2], length: [1.0; 2] }
    }
}

/// Parameters of a constraint at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Target of a point (m).
    pub(crate) place: Vec3,
    /// The spring with the current strength and length.
    pub(crate) spring: Spring,
    /// c (N s/m)
    pub(crate) damping: f64,
}

impl ConstraintPath {
    /// A target (m) that does not move.
    pub fn at(place: Vec3) -> ConstraintPath {
        ConstraintPath { place: Some([place; 2]), ..ConstraintPath::default() }
    }

    /// No force.
    pub fn released() -> ConstraintPath {
        ConstraintPath { strength: [0.0; 2], ..ConstraintPath::default() }
    }

    /// The parameters of a constraint after a fraction of the step.
    pub(crate) fn asks(&self, constraint: &Constraint, fraction: f64) -> Asked {
        let between = |[from, to]: [f64; 2]| from + fraction * (to - from);
        let own = match &constraint.hold {
            Hold::Place { place, .. } | Hold::Exact { place, .. } => *place,
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

    /// The distance that the target moved in the step before this one (m).
    pub(crate) fn moved_before(&self) -> Option<Vec3> {
        self.place.zip(self.place_before).map(|([from, _], before)| from - before)
    }

    /// Describes the first invalid parameter, if there is one.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.place.iter().flatten().chain(&self.place_before).flat_map(Vec3::iter).any(|x| !x.is_finite())
        {
            return Some("its target is not finite".into());
        }
        if let Some(strength) = self.strength.iter().find(|strength| !(0.0..=1.0).contains(*strength)) {
            return Some(format!("its strength is {strength}: it must be from 0 to 1"));
        }
        let length = self.length.iter().find(|length| !(**length >= 0.0 && length.is_finite()));
        length.map(|length| format!("its relative length is {length}: it must be 0 or more, and finite"))
    }
}
