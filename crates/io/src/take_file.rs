//! Records takes to disk (`.take`) and reads them, to convert them or to resume the simulation.
//!
//! A take is a file of chunks: what its scene is made of, then its frames and the changes of its versions in the order in which they were made. The checksum of a chunk also covers all chunks before it, and the file is only ever appended to, so that an
//! interrupted recording loses at most its last chunk. [`TakeRecorder`] writes a take, [`TakeFile`] reads its valid part, [`TakeEditor`] changes its versions. `docs/takes.md` has
//! the layout.

mod chunk;
mod editor;
mod frames;
mod packing;
mod places;
mod reader;
mod recipe;
mod recorder;
mod revision;
mod states;
#[cfg(test)]
mod tests;

pub use editor::TakeEditor;
pub use reader::{TakeEnding, TakeFile};
pub use recipe::{TakeOrigin, TakeRecipe};
pub use recorder::{Existing, MAX_CHUNK_FRAMES, TakeRecorder};

/// The extension of takes.
pub const TAKE_EXTENSION: &str = "take";
