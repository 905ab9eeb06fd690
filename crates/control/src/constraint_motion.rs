//! How a constraint is led over time.

use crate::{Keyframes, Motion};
use sinew_math::Vec3;
use sinew_sim::{Constraint, ConstraintPath};

/// How a constraint is led: where it pulls to, how strong it is and how long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintMotion {
    /// Where a point is dragged or held.
    pub place: PlaceMotion,
    /// How strong it is, from 0, let go, to 1; always 1 if not given.
    pub strength: Option<Keyframes<f64>>,
    /// Its length in parts of its own; always 1 if not given.
    pub length: Option<Keyframes<f64>>,
}

/// Where a point is dragged or held.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PlaceMotion {
    /// At the constraint's own place.
    #[default]
    Still,
    /// That place, moved rigidly.
    Moved(Motion),
    /// Along a path through places of the world (m).
    Along(Keyframes<Vec3>),
}

impl ConstraintMotion {
    /// What is asked of a constraint in a step of `dt` (s) that begins at a time (s).
    pub fn path(&self, constraint: &Constraint, time: f64, dt: f64) -> ConstraintPath {
        let times = [time.max(0.0), (time + dt).max(0.0)];
        let numbers = |keys: &Option<Keyframes<f64>>, most: f64| {
            // smooth curves swing beyond their keys
            let value = |t: f64| keys.as_ref().map_or(1.0, |keys| keys.value(t).clamp(0.0, most));
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

    /// What is wrong with its numbers.
    pub fn fault(&self) -> Option<String> {
        let strengths = self.strength.iter().flat_map(Keyframes::keys);
        if let Some(key) = strengths.into_iter().find(|key| !(0.0..=1.0).contains(&key.value)) {
            return Some(format!("a strength of {} at {} s: it must be from 0 to 1", key.value, key.time));
        }
        let lengths = self.length.iter().flat_map(Keyframes::keys);
        if let Some(key) = lengths.into_iter().find(|key| key.value < 0.0) {
            return Some(format!("{} of its length at {} s: it must be 0 or more", key.value, key.time));
        }
        match &self.place {
            PlaceMotion::Moved(motion) => motion.fault(),
            _ => None,
        }
    }
}
