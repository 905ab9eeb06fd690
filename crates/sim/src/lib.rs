//! The physics: a [`WorldDesc`] is checked and built into a [`Model`] that never changes; a [`State`]
//! moves under a [`Control`], one [`Stepper::step`] at a time. No files, clocks or printing.

mod body;
pub mod constraint;
pub mod contact;
mod control;
pub mod coupling;
pub mod desc;
mod energy_check;
pub mod implicit;
mod model;
mod model_hash;
mod pseudo_random;
mod region;
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
pub use coupling::{BoneError, Rig};
pub use desc::WorldDesc;
pub use implicit::{
    Clock, ImplicitSettings, SolveReport, Solver, SolverKind, SolverPick, SolverReason, StepOrder,
};
pub use model::{BuildError, Fault, Load, Model, Pin};
pub use stable_step::StableStep;
pub use state::{Energies, State, SubstepBackoff};
pub use stepper::{StepError, StepReport, Stepper};
pub use strain::StrainGauge;
