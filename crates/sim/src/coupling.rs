//! Two-way coupling of flesh and bones.
//!
//! Some nodes of a body are fixed to bones. Their masses are merged into the bones, forces on them act on the bones as wrenches, and
//! their positions and velocities follow from the kinematics. All other nodes are damped against the bone nearest to them through
//! the flesh, which receives the reaction:
//!
//! ```text
//! f = −c m (ẋ − ṗ),    ṗ = v_b + ω_b × (x − o_b)                              [KimPollard2011, eq. 12]
//! ```
//!
//! The reaction acts at the point of the bone that coincides with the node, so that force and reaction have the same line of
//! action and momentum and angular momentum are conserved; the cited paper does not specify that point.
//!
//! Flesh with a home ([`crate::desc::HomeDesc`]) is pulled towards its skinned place as well, and damped against the motion of that place; all its bones take their parts of the
//! opposite force by their weights.
//!
//! The direction of the coupling depends on the joint drives alone: with all joints prescribed the flesh follows (one-way); with a free root, or torque-driven
//! joints, it acts back on the bones (two-way). Drives may change at every step.

mod bone_coupling;
mod home_pose;
#[cfg(test)]
mod tests;

pub(crate) use bone_coupling::{BoneCoupling, Field, Pushes};
pub(crate) use home_pose::HomePose;
