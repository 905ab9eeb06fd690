//! Bones and joints: a [`SkeletonDesc`] is checked and built into a [`Skeleton`] that never changes; a [`SkeletonState`]
//! holds its coordinates and velocities.
//!
//! The road of one step, in the order of [KimPollard2011, fig. 11]: [`Kinematics::update`] finds where every bone is and how it
//! moves, the caller gathers wrenches on the bones, [`Dynamics::solve`] finds the accelerations of joints driven by torque and
//! the torques of joints driven by motion, and [`SkeletonState::advance`] takes the step. [`Ik`] finds coordinates that bring
//! points of bones to given places. Flesh, contact, files and clocks are not here.

mod articulation;
mod build;
mod chart;
mod check;
mod desc;
mod distance;
mod drive;
mod dynamics;
mod energy;
mod fault;
mod floating;
mod ik;
mod joint;
mod kinematics;
mod linear;
mod mass;
mod order;
mod passive;
mod path;
mod skeleton;
mod state;
mod step_potential;
mod target;

pub use desc::{BoneDesc, DofDesc, DriveRule, JointDesc, JointKind, Parent, SkeletonDesc};
pub use distance::ShapeDistance;
pub use drive::{DriveError, DriveKind, Drives, JointDrive};
pub use dynamics::{Dynamics, DynamicsError, Loads};
pub use energy::{Energies, Momentum};
pub use fault::{Fault, SkeletonError};
pub use floating::Floating;
pub use ik::Ik;
pub use joint::{Joint, Part};
pub use kinematics::Kinematics;
pub use mass::{MassDesc, MassProperties, PointMass, SolidShape};
pub use path::StatePath;
pub use skeleton::{Bone, BoneId, Skeleton};
pub use state::{SkeletonState, StateError};
pub use step_potential::JointStep;
pub use target::{IkError, IkReport, IkSettings, IkTarget};
