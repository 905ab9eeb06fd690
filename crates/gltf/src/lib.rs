//! Rigged glTF files: reading characters, and writing takes back into them.
//!
//! [`open_character`] reads a file into the plain data of [`sinew_character`] and keeps its bytes. Writers are
//! [`FrameSink`](sinew_take::FrameSink)s whose file appears whole under its name or not at all: [`CharacterGlb`] writes a take into the
//! character's own file, [`RigGlb`] into a file made of a model's skeletons, [`GlbSink`] as morphing surfaces. Characters of other formats
//! become glTF files by [`CharacterFile::of_rigged`], and a [`ViewerPage`] shows files in a browser. Knows no physics.
//!
//! A model at rest as a GLB in memory, read again:
//!
//! ```
//! use sinew_flesh::Material;
//! use sinew_gltf::{RigFile, read_character};
//! use sinew_math::Vec3;
//! use sinew_mesh::shapes;
//! use sinew_sim::desc::{BodyDesc, CageSize, ShapeDesc};
//! use sinew_sim::{Model, WorldDesc};
//! use sinew_take::{SceneParts, Up};
//!
//! let body = BodyDesc {
//!     name: "box".into(),
//!     shape: ShapeDesc::Surface { surface: shapes::cuboid([0.1; 3]), cage: CageSize::Tets(50) },
//!     material: Material::named("jelly").ok_or("no jelly")?,
//!     velocity: Vec3::zeros(),
//!     ..BodyDesc::default()
//! };
//! let model = Model::build(&WorldDesc { bodies: vec![body], ..WorldDesc::default() })?;
//! let file = RigFile::build(&model, &SceneParts::all(&model), Up::Y, &[])?;
//! let read = read_character(file.to_glb()?)?.value;
//! assert_eq!(*read.rigged, *file.character());
//! assert_eq!(read.rigged.nodes[0].label, "box");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod character_file;
mod character_glb;
mod components;
mod document;
mod engines;
mod glb;
mod glb_container;
mod helper_bones;
mod rig_glb;
mod rigged_document;
mod self_contained;
mod skinned_glb;
mod viewer_page;

pub use character_file::{
    CHARACTER_EXTENSIONS, CharacterFile, CharacterSource, SourceForm, open_character, read_character,
};
pub use character_glb::{CharacterGlb, ClipPlace, FileCharacter};
pub use engines::{ClipFacts, Engine, EngineFinding, FileFacts, MeshFacts, Severity};
pub use glb::{GlbBodyReport, GlbOptions, GlbReport, GlbSink};
pub use rig_glb::{RigFile, RigGlb};
pub use rigged_document::{CharacterLook, SurfaceLook};
pub use skinned_glb::{
    ErrorMeasure, FleshBake, Quantization, SkinnedBodyReport, SkinnedClipReport, SkinnedGlb,
    SkinnedGlbOptions, SkinnedGlbReport,
};
pub use viewer_page::{PageModel, ViewerPage};
