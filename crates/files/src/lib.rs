//! How files are read and written: every input through one door, every output whole or not at all, and nothing of the user's replaced by mistake.
//!
//! [`read_bytes`] is the only way to a file's bytes, so that a take can capture all that its scene was made of ([`CapturedFiles`]) and no output replaces what was read.
//! [`plan_outputs`] says beforehand whether outputs may have their names; files that Sinew has written are known by their signature ([`is_ours`]).
//! [`AtomicFile`] and [`AtomicFolder`] write beside their target and rename at the end. Knows no format but those signatures.

mod atomic_file;
mod captured_files;
mod file_id;
mod folder_manifest;
mod input;
mod output_plan;
mod quote;
mod read_error;
mod run_inputs;
pub mod signature;
mod temporary;

pub use atomic_file::{AtomicFile, AtomicFolder, parent_of, refused};
pub use captured_files::{CapturedFile, CapturedFiles, real_path};
pub use file_id::{FileId, has_name};
pub use folder_manifest::{FolderManifest, MANIFEST_NAME};
pub use input::{read_bytes, read_bytes_after};
pub use output_plan::{Replace, check_output, plan_outputs};
pub use quote::quote;
pub use read_error::{Loaded, Place, ReadError, ReadErrors};
pub use run_inputs::{forget_inputs, input_at, register_input};
pub use signature::is_ours;
pub use temporary::{ScratchFolder, is_temporary, remove_temporaries};
