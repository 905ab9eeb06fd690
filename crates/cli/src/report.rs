//! Prints lines to standard output and remembers whether that failed; how much is printed at all.

use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors, and what was asked for.
    Quiet,
    /// What was made, a verdict, and warnings that ask for an action.
    Normal,
    /// Every note and all measurements.
    Verbose,
}

/// What the user chose; normal if nothing.
static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets how much is printed, once; silence goes before all else.
pub(crate) fn set_verbosity(is_verbose: bool, is_quiet: bool) {
    let chosen = match (is_quiet, is_verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    };
    let _ = VERBOSITY.set(chosen);
}

/// How much is printed.
pub(crate) fn verbosity() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or(Verbosity::Normal)
}

/// The first error of writing a line.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints a line. A closed pipe (`sinew inspect … | head`) is not an error; any other fault makes the command fail at its end.
pub(crate) fn line(text: fmt::Arguments) {
    let mut out = io::stdout().lock();
    let written = out.write_fmt(text).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error);
    }
}

/// The message for the user if a line could not be written.
pub(crate) fn failure() -> Option<String> {
    LOST.get().map(|error| format!("the report cannot be written to standard output: {error}"))
}
