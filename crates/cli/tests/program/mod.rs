//! Runs the program, for tests of what it does and says.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `sinew` in a folder.
pub(crate) fn sinew(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

/// All that was said.
pub(crate) fn words(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

/// Runs `sinew`, which must end well, and returns all that it said.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = sinew(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", words(&output));
    words(&output)
}
