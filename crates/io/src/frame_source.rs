//! Frame sources of the renderer that read files: recorded takes and rigged glTF files.

mod character_source;
mod take_source;

pub use character_source::CharacterFrameSource;
pub use take_source::TakeFrameSource;
