//! Coupled simulation of soft tissue and articulated rigid bodies: a [`WorldDesc`] is validated and built into an immutable [`Model`];
//! [`Stepper::step`] advances a [`State`] in time under a [`Control`]. This crate does no file access, reads no clock and prints nothing.

mod body;
mod body_kind;
mod bone_weights;
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
mod exact_constraints;
mod explicit;
mod factors;
mod fault;
mod friction_anchor;
mod home;
pub mod implicit;
mod measures;
mod metaphor;
mod metaphor_forces;
mod metaphor_strength;
mod model;
mod muscle;
mod muscle_energy;
mod network;
mod node_energy;
mod obstacle;
mod part;
mod pseudo_random;
mod report;
mod rest_matrix;
pub mod rest_shape;
mod rig;
mod sag;
mod skin;
mod stable_step;
mod start;
mod state;
mod step_model;
mod stepper;
mod strain;
mod substep;
mod surface;

pub use body::Body;
pub use body_kind::{
    BodyKind, CoordinateState, Coordinates, CustomBody, CustomKind, KindDesc, KindParts, PartDamping,
    PointsOut,
};
pub use constraint::{Constraint, ConstraintPath};
pub use constraint_forces::{ConstraintForce, constraint_energy, constraint_forces};
pub use contact::{ContactForce, Intersections, Overlap, contact_forces, find_intersections};
pub use control::{Control, FrictionFactors, Phase, PinPath, RigControl};
pub use coupling::RigResponse;
pub use desc::WorldDesc;
pub use energies::Energies;
pub use exact_constraints::DroppedConstraint;
pub use fault::{BuildError, Fault};
pub use implicit::{
    Clock, ExactMethod, ImplicitContact, ImplicitSettings, Solver, SolverKind, SolverPick, SolverReason,
    StepOrder,
};
pub use metaphor::{BodyPose, ControlFrame, Metaphor, NodeSet};
pub use metaphor_forces::{metaphor_forces, metaphor_response};
pub use model::{HarmonicWeights, Load, Model, Pin, SurfacePoint};
pub use muscle::Muscle;
pub use node_energy::{LayerMotion, LayerStep, NodeEnergy, PointSprings};
pub use obstacle::{Obstacle, ObstacleState};
pub use report::{BoneError, SolveReport, StepError, StepReport};
pub use rig::Rig;
pub use skin::{FleshSkin, FleshSkinOptions, wrap_skin};
pub use stable_step::StableStep;
pub use state::{State, SubstepBackoff};
pub use stepper::Stepper;
pub use strain::StrainGauge;
pub use surface::SurfacePlacer;
