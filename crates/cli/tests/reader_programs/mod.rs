//! Programs of others that read what is written: where they are, and what they print.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program and returns what it printed.
pub(crate) fn run(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str], folder: &Path) -> String {
    // scripts that share a module leave no compiled copy beside it
    let mut program = Command::new(program);
    program.args(arguments).current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = program.output().expect("it starts");
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {said}{complained}");
    said.into_owned()
}

/// The program that a variable names.
pub(crate) fn named_by(variable: &str) -> PathBuf {
    PathBuf::from(
        std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} names the reader: see .ci/readers")),
    )
}

/// A script that one of them runs.
pub(crate) fn script(name: &str) -> String {
    format!("{}/tests/readers/{name}", env!("CARGO_MANIFEST_DIR"))
}
