//! How flesh and obstacles touch: forces act on vertices of the fine surface and are carried to the nodes by the transpose of the embedding.
//!
//! Candidates are looked for when a step begins, and again when something may have moved farther than they allow for; each sub-step looks at candidates
//! only. What touches, and the order of all sums, does not depend on when that was.

mod candidates;
mod contacts;
mod desc;
mod free_obstacle;
mod obstacle;
mod overlap;
mod pair_forces;
mod pair_grip;
mod pair_touch;
mod pressing;
mod touch_force;
mod touch_surface;

pub use desc::{ContactDesc, Mobility, ObstacleDesc};
pub use obstacle::{HeldGrip, Obstacle, ObstacleState};
pub use overlap::Overlap;
pub use pair_grip::PairGrip;
pub use touch_force::{TouchForce, touch_forces};

pub(crate) use contacts::{Contacts, Substep};
pub(crate) use free_obstacle::{energies, momenta};
pub(crate) use pressing::Pressing;
pub(crate) use touch_surface::{TouchSurface, contact_energy, find_faults};
