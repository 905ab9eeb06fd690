//! `sinew studio`: starts the studio, a program of its own, if it is installed.

use crate::failure::Failure;
use clap::Args;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the program.
const PROGRAM: &str = "sinew-studio";

/// Open the studio: watch, grab, direct and bake takes in a window.
///
/// It is installed by itself, with `cargo install --path crates/studio --features window`; docs/studio.md shows how it is used.
#[derive(Args)]
pub(crate) struct Studio {
    /// A character, scene, take, motion or mesh, or the name of a built-in character.
    input: Option<PathBuf>,
}

impl Studio {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let beside =
            std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM)).filter(|path| path.is_file());
        let program = beside.as_deref().unwrap_or(Path::new(PROGRAM));
        let status = Command::new(program).args(&self.input).status().map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::input(
                "the studio is not installed: `cargo install --path crates/studio --features window` in the sources of Sinew installs it beside `sinew`; `sinew view` shows takes in the browser without it",
            ),
            _ => Failure::input(format!("{}: {error}", program.display())),
        })?;
        if status.success() { Ok(()) } else { Err(Failure::input(format!("the studio ended with {status}"))) }
    }
}
