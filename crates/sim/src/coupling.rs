//! Where bones and flesh meet, and the only place that knows both.
//!
//! Some nodes of a body are fixed to bones. Their masses are merged into the bones, all forces on them act on the bones as wrenches, and
//! their positions and velocities follow from kinematics. All other nodes are damped against the bone nearest to them through
//! the flesh, and the bone takes the opposite force:
//!
//! ```text
//! f = −c m (ẋ − ṗ),    ṗ = v_b + ω_b × (x − o_b)                              [KimPollard2011, eq. 12]
//! ```
//!
//! The damper's far end is the point of the bone that is where the node is now, so that force and counter-force have one line of
//! action and neither momentum changes; the seed leaves that point open.
//!
//! Flesh with a home ([`crate::desc::HomeDesc`]) is pulled towards its skinned place as well, and damped against the motion of that place; all its bones take their parts of the
//! opposite force by their weights.
//!
//! Who leads is a matter of the joints' drives alone: with all of them prescribed the flesh follows (one-way); with a free root, or joints driven by
//! torque, it pushes back (two-way). Nothing else differs, and drives may change at every step.

mod bone_coupling;
mod home_pose;
#[cfg(test)]
mod tests;

pub(crate) use bone_coupling::{BoneCoupling, Field, Pushes};
pub(crate) use home_pose::HomePose;
