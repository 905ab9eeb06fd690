//! Where the studio keeps preferences and takes that are not saved yet.

use std::env::var_os;
use std::path::PathBuf;

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
