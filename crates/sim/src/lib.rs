//! The physics: a [`WorldDesc`] is checked and built into a [`Model`] that never changes; a [`State`]
//! moves under a [`Control`], one [`Stepper::step`] at a time. No files, clocks or printing.

mod body;
mod body_kind;
mod constraint;
mod constraint_forces;
pub mod contact;
mod contact_surface;
mod control;
pub mod coupling;
mod custom_bodies;
pub mod desc;
mod energies;
mod energy_check;
mod explicit;
mod fault;
mod friction_anchor;
pub mod implicit;
mod measures;
mod model;
mod node_energy;
mod obstacle;
mod pseudo_random;
mod report;
mod rest_matrix;
pub mod rest_shape;
mod rig;
mod sag;
mod stable_step;
mod start;
mod state;
mod stepper;
mod strain;
mod substep;

pub use body::Body;
pub use body_kind::{
    BodyKind, CoordinateState, Coordinates, CustomBody, CustomKind, KindDesc, KindParts, PointsOut,
};
pub use constraint::{Constraint, ConstraintPath};
pub use constraint_forces::{ConstraintForce, constraint_energy, constraint_forces};
pub use contact::{ContactForce, Overlap, contact_forces};
pub use control::{Control, Phase, PinPath, RigControl};
pub use desc::WorldDesc;
pub use energies::Energies;
pub use fault::{BuildError, Fault};
pub use implicit::{Clock, ImplicitSettings, Solver, SolverKind, SolverPick, SolverReason, StepOrder};
pub use model::{Load, Model, Pin};
pub use node_energy::{NodeEnergy, PointSprings};
pub use obstacle::{Obstacle, ObstacleState};
pub use report::{BoneError, SolveReport, StepError, StepReport};
pub use rig::Rig;
pub use stable_step::StableStep;
pub use state::{State, SubstepBackoff};
pub use stepper::Stepper;
pub use strain::StrainGauge;
