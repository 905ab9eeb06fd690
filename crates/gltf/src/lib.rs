//! Rigged glTF files: reading characters, and writing takes back into them.

mod character_file;
mod character_glb;
mod components;
mod document;
mod glb;
mod glb_container;
mod rig_glb;
mod skinned_glb;

pub use character_file::{
    CHARACTER_EXTENSIONS, CharacterFile, CharacterSource, SourceForm, open_character, read_character,
};
pub use character_glb::{CharacterGlb, FileCharacter};
pub use glb::{GlbBodyReport, GlbOptions, GlbReport, GlbSink};
pub use rig_glb::{RigFile, RigGlb};
pub use skinned_glb::{ErrorMeasure, SkinnedBodyReport, SkinnedGlb, SkinnedGlbOptions, SkinnedGlbReport};
