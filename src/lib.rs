//! Sinew: characters made of flesh, simulated fast and right.
//!
//! A [`Scene`](prelude::Scene) is built into a [`Model`](prelude::Model) that never changes; a
//! [`State`](prelude::State) moves under a [`Control`](prelude::Control), one
//! [`Stepper::step`](prelude::Stepper::step) at a time; a [`Frame`](prelude::Frame) is what a picture needs.
//!
//! ```
//! use sinew::prelude::*;
//!
//! let scene = sinew::zoo::jelly_torus();
//! let model = Model::build(&scene.world)?;
//! let mut state = State::at_rest(&model);
//! let mut stepper = Stepper::default();
//! stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state)?;
//! assert!(state.time > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use sinew_character as character;
pub use sinew_contact as contact;
pub use sinew_control as control;
pub use sinew_files as files;
pub use sinew_flesh as flesh;
pub use sinew_gltf as gltf;
pub use sinew_io as io;
pub use sinew_math as math;
pub use sinew_mesh as mesh;
pub use sinew_render as render;
pub use sinew_sim as sim;
pub use sinew_skeleton as skeleton;
pub use sinew_take as take;
pub use sinew_zoo as zoo;

/// What most programs need.
pub mod prelude {
    pub use sinew_contact::{Response, Shape};
    pub use sinew_control::{Controller, Motion, Script};
    pub use sinew_flesh::{Law, Material, StretchLimits};
    pub use sinew_math::{Isometry, Vec3};
    pub use sinew_mesh::{TetMesh, TriMesh};
    pub use sinew_sim::desc::{
        AttachmentDesc, BeltDesc, BodyDesc, CageSize, ConstraintDesc, ConstraintKind, ContactDesc, Hold,
        LoadDesc, Mobility, ObstacleDesc, PinDesc, PointDesc, Region, RigDesc, Sag, ShapeDesc, TieDesc,
        WorldDesc,
    };
    pub use sinew_sim::{
        ConstraintPath, Control, ImplicitSettings, Model, PinPath, RigControl, Solver, State, StepOrder,
        StepReport, Stepper,
    };
    pub use sinew_skeleton::{
        BoneDesc, BoneId, DofDesc, DriveKind, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc,
        SkeletonState, SolidShape,
    };
    pub use sinew_take::{Checkpoint, Frame, FrameSink, Player, Scene};
}
