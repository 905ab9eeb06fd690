//! Prints lines to standard output and remembers whether that failed.

use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

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
