//! The physics: a [`WorldDesc`] is checked and built into a [`Model`] that never changes; a [`State`]
//! moves under a [`Control`], one [`Stepper::step`] at a time. No files, clocks or printing.

mod body;
pub mod constraint;
pub mod contact;
mod control;
pub mod coupling;
pub mod desc;
mod energy_check;
mod fault;
pub mod implicit;
mod model;
mod model_hash;
mod node_energy;
mod pseudo_random;
mod report;
mod rest_matrix;
pub mod rest_shape;
mod sag;
mod stable_step;
mod state;
mod stepper;
mod strain;

pub use body::Body;
pub use constraint::{Constraint, ConstraintForce, ConstraintPath, constraint_energy, constraint_forces};
pub use contact::{ContactForce, Obstacle, ObstacleState, Overlap, contact_forces};
pub use control::{Control, PinPath, RigControl};
pub use coupling::Rig;
pub use desc::WorldDesc;
pub use fault::{BuildError, Fault};
pub use implicit::{Clock, ImplicitSettings, Solver, SolverKind, SolverPick, SolverReason, StepOrder};
pub use model::{Load, Model, Pin};
pub use node_energy::{NodeEnergy, PointSprings};
pub use report::{BoneError, SolveReport, StepError, StepReport};
pub use stable_step::StableStep;
pub use state::{Energies, State, SubstepBackoff};
pub use stepper::Stepper;
pub use strain::StrainGauge;
