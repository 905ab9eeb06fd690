//! Articulated rigid bodies: bones and joints, forward kinematics, hybrid dynamics and inverse kinematics.
//!
//! A [`SkeletonDesc`] is checked and built into an immutable [`Skeleton`]; a [`SkeletonState`] holds its coordinates and
//! velocities. One step, in the order of [KimPollard2011, fig. 11]: [`Kinematics::update`] computes poses and velocities of all
//! bones, the caller gathers wrenches on the bones, [`Dynamics::solve`] computes the accelerations of torque-driven joints and
//! the torques of motion-driven joints, and [`SkeletonState::advance`] integrates. [`Ik`] finds coordinates that bring points of
//! bones to targets. Flesh, contact, files and clocks live in other crates.
//!
//! A pendulum of length 1 m, released from the horizontal, starts with the acceleration of free fall:
//!
//! ```
//! use sinew_math::{Isometry, Mat3, Vec3};
//! use sinew_skeleton::*;
//!
//! let rod = BoneDesc {
//!     name: "rod".into(),
//!     parent: Parent::World,
//!     parent_from_joint: Isometry::identity(),
//!     joint: JointDesc::of(JointKind::Revolute(Vec3::z())),
//!     mass: MassDesc::Given(MassProperties { mass: 2.0, center: Vec3::x(), tensor: Mat3::zeros() }),
//! };
//! let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![rod] })?;
//! let mut state = SkeletonState::at_rest(&skeleton);
//!
//! let (mut kinematics, mut dynamics) = (Kinematics::default(), Dynamics::default());
//! let loads = Loads { gravity: Vec3::new(0.0, -9.81, 0.0), ..Loads::default() };
//! kinematics.update(&skeleton, &state);
//! dynamics.solve(&skeleton, &kinematics, &state, &Drives::limp(&skeleton), &loads)?;
//! assert!((dynamics.acceleration[0] + 9.81).abs() < 1e-12);
//! state.advance(&skeleton, &dynamics.acceleration, 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod chart;
mod check;
mod desc;
mod distance;
mod drive;
mod dynamics;
mod energy;
mod fault;
mod feedback;
mod ik;
mod joint;
mod joint_factor;
mod kinematics;
mod linear;
mod mass;
mod momentum_correction;
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
pub use feedback::Feedback;
pub use ik::Ik;
pub use joint::{Joint, JointPrimitive};
pub use kinematics::Kinematics;
pub use mass::{MassDesc, MassProperties, PointMass, SolidShape};
pub use momentum_correction::MomentumCorrection;
pub use path::StatePath;
pub use skeleton::{Bone, BoneId, Skeleton};
pub use state::{SkeletonState, StateError};
pub use step_potential::JointStep;
pub use target::{IkError, IkReport, IkSettings, IkTarget};
