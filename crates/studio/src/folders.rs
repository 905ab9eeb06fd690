//! Where the studio keeps preferences and takes that are not saved yet.

use sinew_files::AtomicFile;
use std::env::var_os;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder of the studio: as the system has it for the state of programs, else below the current one.
pub fn studio_folder() -> PathBuf {
    let home = || var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
    let own = if cfg!(windows) {
        var_os("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        var_os("XDG_STATE_HOME").map(PathBuf::from).or_else(|| home().map(|home| home.join(".local/state")))
    };
    own.unwrap_or_else(|| PathBuf::from(".")).join("sinew-studio")
}

/// A name as that of a file, without what file systems refuse.
pub(crate) fn file_stem(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// Writes a text file, whole or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), String> {
    let mut file = AtomicFile::create(path).map_err(|error| error.to_string())?;
    file.write_all(text.as_bytes()).and_then(|()| file.commit()).map_err(|error| error.to_string())
}

/// A path from the root, to be read from any folder.
pub(crate) fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}
