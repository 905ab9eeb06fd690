//! How flesh and obstacles touch: forces act on vertices of the fine surface and are carried to the nodes by the transpose of the embedding.
//!
//! Candidates are looked for when a step begins, and again when something may have moved farther than they allow for; each sub-step looks at candidates
//! only. What touches, and the order of all sums, does not depend on when that was.

mod candidates;
mod contact_energy;
mod contact_force;
mod contact_surface;
mod contacts;

mod free_obstacle;
mod obstacle;
mod overlap;
mod pair_anchor;
mod pair_contact;
mod pair_forces;

pub use crate::desc::{ContactDesc, Mobility, ObstacleDesc};
pub use contact_force::{ContactForce, contact_forces};
pub use obstacle::{Obstacle, ObstacleFrictionAnchor, ObstacleState};
pub use overlap::Overlap;
pub use pair_anchor::PairFrictionAnchor;

pub(crate) use contact_energy::ContactEnergy;
pub(crate) use contact_surface::{ContactSurface, contact_energy, find_faults};
pub(crate) use contacts::{Contacts, Substep};
pub(crate) use free_obstacle::{energies, momenta};
