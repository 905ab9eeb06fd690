//! Lines on standard output, and whether they could be written.

use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;

/// Why a line could not be written, the first time.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes a line. A reader that went away (`sinew inspect … | head`) is no reason to fail; anything else is, at the end.
pub(crate) fn line(text: fmt::Arguments) {
    let mut out = io::stdout().lock();
    let written = out.write_fmt(text).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error);
    }
}

/// What was lost of the report, in words for the user.
pub(crate) fn failure() -> Option<String> {
    LOST.get().map(|error| format!("the report cannot be written to standard output: {error}"))
}
