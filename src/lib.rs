//! Sinew: characters made of flesh, simulated fast and right.
//!
//! Load a character, make it softer, simulate it, and write a GLB that any viewer plays, with a picture beside it:
//!
//! ```no_run
//! use sinew::prelude::*;
//!
//! // 1 is flesh as it is, 2 a cartoon
//! let opened = sinew::open_with("hero.glb", &CharacterChoice { jiggle: Some(2.0), ..Default::default() })?;
//!
//! let mut player = Player::build(&opened.scene)?;
//! let mut sink = open_sink("hero_flesh.glb", &opened, &player.model, &SinkOptions::default())?;
//! player.play(&mut [&mut sink], |_| {})?;
//! println!("{:?}", sink.report().files); // hero_flesh.glb and hero_flesh.png, a contact sheet of six frames
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`open`](fn@open) takes every choice as it is. A character is one body of the scene, `opened.scene.world.bodies[0]`, whatever it is dressed in; its material may be changed before the model is built, though flesh in the
//! artist's shape is held by its springs first of all, which `jiggle` sets.
//!
//! # The walk of the data
//!
//! A [`Scene`](prelude::Scene), read from a file or built in code, is checked and built into a [`Model`](prelude::Model) that never
//! changes. A [`State`](prelude::State) moves under a [`Control`](prelude::Control), which [`Controller`](prelude::Controller)s
//! write, one [`Stepper::step`](prelude::Stepper::step) at a time. A [`Frame`](prelude::Frame) is what a picture needs of a state;
//! [`FrameSink`](prelude::FrameSink)s take frames: files, previews, your own. [`Player`](prelude::Player) is that loop.
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
//!
//! # The crates
//!
//! | crate | for |
//! | --- | --- |
//! | [`character`] | flesh on the bones of rigged characters |
//! | [`gltf`], [`io`], [`render`] | rigged files; scenes, takes, meshes and every other format; pictures |
//! | [`take`], [`control`] | scenes and the frame loop; motions and controllers |
//! | [`sim`] | models, states and steppers |
//! | [`flesh`], [`skeleton`], [`contact`] | elastic elements; bones and joints; collision |
//! | [`mesh`], [`math`] | surfaces, tets and cages; linear algebra |
//! | [`zoo`] | characters that ship with Sinew |
//!
//! The programs in `examples/` show a jelly drop, a character written as GLB, a controller, a sink and an elastic law of one's own, and a
//! parameter sweep on all cores.

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

use std::path::Path;

/// Opens what a user would name: a rigged character (.glb, .gltf, .vrm, .fbx), a scene (.toml), a motion (.bvh), a mesh (.obj, .ply, .stl,
/// TetGen), or a name of the [`zoo`].
///
/// What was repaired or chosen on the way is not told; [`io::open_source`] returns it as notes.
///
/// # Errors
/// Everything that is wrong with the file, with its place and what to do.
pub fn open(path: impl AsRef<Path>) -> Result<io::OpenedScene, io::ReadErrors> {
    open_with(path, &io::CharacterChoice::default())
}

/// [`open`](fn@open) with an animation, a motion or a jiggle chosen for the characters of the file. Characters of the [`zoo`] have nothing to choose.
///
/// # Errors
/// As those of [`open`](fn@open), and where a choice does not fit the file.
pub fn open_with(
    path: impl AsRef<Path>,
    choice: &io::CharacterChoice,
) -> Result<io::OpenedScene, io::ReadErrors> {
    let path = path.as_ref();
    match zoo::source::built_in(path) {
        Some(character) => Ok((character.build)().into()),
        None => Ok(io::open_source(path, choice)?.value),
    }
}

/// What most programs need.
pub mod prelude {
    pub use sinew_character::{Character, CharacterOptions};
    pub use sinew_contact::Shape;
    pub use sinew_control::{Controller, Motion, Script};
    pub use sinew_flesh::{Law, Material, StretchLimits};
    pub use sinew_io::{CharacterChoice, OpenedScene, SinkOptions, SinkReport, open_sink};
    pub use sinew_math::{Isometry, Vec3};
    pub use sinew_mesh::{TetMesh, TriMesh, shapes};
    pub use sinew_render::{
        Layout, PictureOptions, Preview, PreviewOptions, StoredFrameSource, render_picture,
    };
    pub use sinew_sim::desc::{
        AttachmentDesc, BeltDesc, BodyDesc, CageSize, ConstraintDesc, ConstraintKind, ContactDesc, Hold,
        HomeDesc, LoadDesc, Mobility, ObstacleDesc, PinDesc, PointDesc, Region, RigDesc, Sag, ShapeDesc,
        TieDesc, WorldDesc,
    };
    pub use sinew_sim::{
        ConstraintPath, Control, ImplicitContact, ImplicitSettings, Model, PinPath, RigControl, Solver,
        State, StepOrder, StepReport, Stepper,
    };
    pub use sinew_skeleton::{
        BoneDesc, BoneId, DofDesc, DriveKind, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc,
        SkeletonState, SolidShape,
    };
    pub use sinew_take::{Checkpoint, Frame, FrameSink, Player, Scene, SinkError, SurfaceInfo};
}
