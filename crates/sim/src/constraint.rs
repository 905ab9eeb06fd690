//! Points that are dragged, pinned, led along paths or joined, and belts around bodies.
//!
//! A point may be anywhere: on a surface, in flesh, on a bone, on an obstacle. Every constraint is an energy of where its points are (`spring`, `belt`), and its
//! forces go to nodes, bones and obstacles by the weights that carry the points (`anchor`). Explicit stepping adds them to what pushes from outside, as stiff as the
//! step allows (`stiffest`); implicit stepping and settling take the same energies as a `NodeEnergy` (`held`). Joined points and belts pull with opposite forces
//! along one line, so that neither momentum changes.
//!
//! The energy of constraints depends on what the control asks for, and is no part of a state's own. During a step it is lent to the account of supplied energy and taken back
//! at its end: what is left there is the work that constraints did.

mod anchor;
pub(crate) mod belt;
mod faults;
mod path;
mod spring;

pub use path::ConstraintPath;

pub(crate) use anchor::{Anchor, NodeRow, combined, sum};
pub(crate) use faults::find_faults;
pub(crate) use path::Asked;

use sinew_math::Vec3;

/// A constraint of a model, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name.
    pub name: String,
    /// Stiffness k (N/m).
    pub stiffness: f64,
    /// Damping c (N s/m): of all motion of a point that is held at a place, of the growing length of all others.
    pub damping: f64,
    /// Its length without tension (m): 0 for points that are held at places.
    pub length: f64,
    /// Whether it pulls but never pushes.
    pub is_unilateral: bool,
    pub(crate) hold: Hold,
}

/// What a constraint holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Hold {
    /// A point, at a place (m) unless the control says otherwise.
    Place { anchor: Anchor, place: Vec3 },
    /// Two points.
    Between([Anchor; 2]),
    /// A loop of points.
    Around(Vec<NodeRow>),
}

impl Constraint {
    /// The place (m) at which it holds a point while the control says nothing else; none for others.
    pub fn place(&self) -> Option<Vec3> {
        match &self.hold {
            Hold::Place { place, .. } => Some(*place),
            _ => None,
        }
    }

    /// How many points it holds.
    pub fn point_count(&self) -> usize {
        match &self.hold {
            Hold::Place { .. } => 1,
            Hold::Between(_) => 2,
            Hold::Around(points) => points.len(),
        }
    }
}
