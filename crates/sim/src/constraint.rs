//! Soft constraints: points that are dragged, pinned, moved along paths or joined, and belts around bodies.
//!
//! A point may be on a surface, in flesh, on a bone or on an obstacle. Every constraint is an energy of the positions of its points (`spring`, `belt`), and its
//! forces are mapped to nodes, bones and obstacles by the weights that carry the points (`anchor`). Explicit steps add them to the external forces, as stiff as the
//! step allows (`stiffest`); implicit steps and settling use the same energies as a `NodeEnergy` (`constraint_forces::energy`). Joined points and belts exert opposite forces
//! along one line, so that momentum and angular momentum are conserved.
//!
//! Points of flesh with a target can be held exactly instead (`exact_constraints`), without any energy.
//!
//! The energy of constraints depends on the control and is not part of the energy of a state. During a step it is credited to the supplied energy and debited
//! at its end: the difference is the work done by the constraints.

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

/// A validated constraint of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name.
    pub name: String,
    /// Stiffness k (N/m).
    pub stiffness: f64,
    /// Damping c (N s/m): of the velocity of a point relative to its target, of the rate of elongation for all others.
    pub damping: f64,
    /// Its natural length (m): 0 for points with a target.
    pub length: f64,
    /// Whether it resists extension only.
    pub is_unilateral: bool,
    pub(crate) hold: Hold,
}

/// The points of a constraint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Hold {
    /// A point with a default target (m).
    Place { anchor: Anchor, place: Vec3 },
    /// Two points.
    Between([Anchor; 2]),
    /// A closed loop of points.
    Around(Vec<NodeRow>),
    /// A point of flesh that is exactly at its target (m).
    Exact { row: NodeRow, place: Vec3 },
}

impl Constraint {
    /// The default target of a point (m); none for other constraints.
    pub fn place(&self) -> Option<Vec3> {
        match &self.hold {
            Hold::Place { place, .. } | Hold::Exact { place, .. } => Some(*place),
            _ => None,
        }
    }

    /// Whether it holds its point exactly, instead of by a spring.
    pub fn is_exact(&self) -> bool {
        matches!(self.hold, Hold::Exact { .. })
    }

    /// Number of points.
    pub fn point_count(&self) -> usize {
        match &self.hold {
            Hold::Place { .. } | Hold::Exact { .. } => 1,
            Hold::Between(_) => 2,
            Hold::Around(points) => points.len(),
        }
    }
}
