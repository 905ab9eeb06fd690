//! Contact of flesh with obstacles and with itself: penalty forces act on vertices of the fine surface and are mapped to the nodes by the transpose of the embedding.
//!
//! Broad-phase candidates are detected at the beginning of a step, and again when relative motion may exceed their margin; each sub-step tests the candidates
//! only. The set of contacts and the order of all sums do not depend on when candidates were detected.

mod barrier;
mod candidates;
mod contact_energy;
mod contact_force;
mod contacts;
mod free_obstacle;
mod narrow_phase;
mod overlap;
mod pair_contact;
mod pair_forces;
mod sample_law;

pub use crate::friction_anchor::{ObstacleFrictionAnchor, PairFrictionAnchor, SoftPair};
pub use crate::obstacle::{Obstacle, ObstacleState};
pub use barrier::{Intersections, find_intersections};
pub use contact_force::{ContactForce, contact_forces};
pub use overlap::Overlap;
pub use sinew_contact::{ContactMaterial, PairMaterial};

pub(crate) use barrier::BarrierContact;
pub(crate) use contact_energy::ContactEnergy;
pub(crate) use contact_force::contact_energy;
pub(crate) use contacts::Contacts;
pub(crate) use free_obstacle::{energies, momenta};
