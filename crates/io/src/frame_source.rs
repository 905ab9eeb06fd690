//! What is drawn of scenes, and frame sources of the renderer that read files: recorded takes and rigged glTF files.

mod character_source;
mod scene_surfaces;
mod take_source;

pub use character_source::CharacterFrameSource;
pub use scene_surfaces::SceneSurfaces;
pub use take_source::TakeFrameSource;
