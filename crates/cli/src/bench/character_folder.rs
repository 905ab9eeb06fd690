//! A folder of characters and motions, as benchmarks go through it.

use crate::failure::Failure;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The extensions of captured motions.
const MOTIONS: [&str; 2] = ["bvh", "fbx"];

/// Does some work; an error or a panic becomes a message of one line.
pub(super) fn catch<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let result = done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("a bug of Sinew: {text}"))
    });
    result.map_err(|error| error.lines().next().unwrap_or_default().to_owned())
}

/// The files of a folder, sorted by name.
pub(super) fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let at = |error: std::io::Error| Failure::input(format!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(at)? {
        files.push(entry.map_err(at)?.path());
    }
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

/// Whether the name of a file says that it may hold a captured motion.
pub(super) fn is_motion(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| MOTIONS.contains(&extension.as_str()))
}
