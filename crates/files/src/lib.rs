//! How files are read and written: every input through one door, every output whole or not at all.
//!
//! [`read_bytes`] is the only way to a file's bytes, so that a take can capture all that its scene was made of ([`CapturedFiles`]).
//! [`AtomicFile`] and [`AtomicFolder`] write beside their target and rename at the end. Knows no format.

mod atomic_file;
mod captured_files;
mod input;
mod quote;
mod read_error;

pub use atomic_file::{AtomicFile, AtomicFolder, parent_of, refused};
pub use captured_files::{CapturedFile, CapturedFiles, real_path};
pub use input::read_bytes;
pub use quote::quote;
pub use read_error::{Loaded, Place, ReadError, ReadErrors};
