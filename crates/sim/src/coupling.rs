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
//! opposite force by their weights. Such bones weigh a hundredth of their flesh, so that an explicit reaction would be unstable: it is taken at the end of the sub-step. With V̇_b
//! the acceleration of bone b relative to free fall, the home of node i changes its velocity by h Σ_b w_ib V̇_b(x_i), of which the node takes over the fraction ρ_i, so that
//!
//! ```text
//! (J_b + Σ_i w_ib ρ_i m_i [1 at x_i]) V̇_b = …        inertia added to bone b
//! Δv_i = h ρ_i Σ_b w_ib V̇_b(x_i)                      what the node takes over
//! ```
//!
//! The exact matrix couples bones that share a node by w_ia w_ib; as (Σ w_b u_b)² ≤ Σ w_b u_b², the matrix above, which keeps the tree a tree, is larger and stable too, with the same limit h → 0.
//! Force and reaction have the same size and line of action in either case, so that momentum and angular momentum are conserved to round-off.
//!
//! The direction of the coupling depends on the joint drives alone: with all joints prescribed the flesh follows (one-way); with a free root, or torque-driven
//! joints, it acts back on the bones (two-way). Drives may change at every step.

mod bone_coupling;
mod bone_support;
mod home_pose;
mod rig_response;
#[cfg(test)]
mod tests;

pub(crate) use bone_coupling::{BoneCoupling, Field, Pushes};
pub(crate) use home_pose::HomePose;
pub use rig_response::RigResponse;
