//! How flesh and obstacles touch: forces act on vertices of the fine surface and are carried to the nodes by the transpose of the embedding.
//!
//! Candidates are looked for when a step begins, and again when something may have moved farther than they allow for; each sub-step looks at candidates
//! only. What touches, and the order of all sums, does not depend on when that was.

mod candidates;
mod contact_energy;
mod contact_force;
mod contacts;
mod free_obstacle;
mod overlap;
mod pair_contact;
mod pair_forces;

pub use crate::friction_anchor::{ObstacleFrictionAnchor, PairFrictionAnchor};
pub use crate::obstacle::{Obstacle, ObstacleState};
pub use contact_force::{ContactForce, contact_forces};
pub use overlap::Overlap;

pub(crate) use contact_energy::ContactEnergy;
pub(crate) use contact_force::contact_energy;
pub(crate) use contacts::Contacts;
pub(crate) use free_obstacle::{energies, momenta};
