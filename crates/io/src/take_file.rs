//! Takes on disk: what a simulation did, recorded as it runs, to be converted or gone on with later.
//!
//! A take is one file of chunks, each with a checksum that also covers all chunks before it. It is only ever appended to, so whatever ends a recording,
//! the chunks before the last one are good. [`TakeRecorder`] writes one, [`TakeFile`] reads what is sound of it. The layout stands in `docs/takes.md`.

mod chunk;
mod frames;
mod reader;
mod recipe;
mod recorder;
#[cfg(test)]
mod tests;

pub use reader::{TakeEnding, TakeFile};
pub use recipe::{TakeOrigin, TakeRecipe};
pub use recorder::{Existing, TakeRecorder};

/// The extension of takes.
pub const TAKE_EXTENSION: &str = "take";
