//! Why a file could not be read, and what is returned when it could.
//!
//! Every error says what is wrong, where (file, line or byte), how much, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

/// Something read from a file, with remarks a user should see.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// What was read.
    pub value: T,
    /// What was mended or chosen on the way, one sentence each.
    pub notes: Vec<String>,
}

impl<T> Loaded<T> {
    /// The same remarks on something made of the value.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Loaded<U> {
        Loaded { value: make(self.value), notes: self.notes }
    }
}

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line of text, counted from 1.
    Line(usize),
    /// An offset in bytes from the start.
    Byte(usize),
}

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ReadError {
    /// The file; `None` when only its bytes were given.
    pub file: Option<PathBuf>,
    /// Where in the file.
    pub place: Place,
    /// What is wrong and what to do.
    pub message: String,
}

impl ReadError {
    /// An error about the file as a whole.
    pub fn whole(message: impl Into<String>) -> ReadError {
        ReadError { file: None, place: Place::Whole, message: message.into() }
    }

    /// An error in a line, counted from 1.
    pub fn line(line: usize, message: impl Into<String>) -> ReadError {
        ReadError { file: None, place: Place::Line(line), message: message.into() }
    }

    /// An error at an offset in bytes.
    pub fn byte(offset: usize, message: impl Into<String>) -> ReadError {
        ReadError { file: None, place: Place::Byte(offset), message: message.into() }
    }

    /// The same error, in a named file.
    pub fn within(mut self, file: &Path) -> ReadError {
        self.file = Some(file.to_owned());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
        }
        let comma = if self.file.is_some() { ", " } else { "" };
        match self.place {
            Place::Whole if self.file.is_none() => {}
            Place::Whole => f.write_str(": ")?,
            Place::Line(line) => write!(f, "{comma}line {line}: ")?,
            Place::Byte(offset) => write!(f, "{comma}byte {offset}: ")?,
        }
        f.write_str(&self.message)
    }
}

/// Everything that is wrong with a file, not only the first thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ReadErrors {
    /// What keeps the file from being used; never empty.
    pub errors: Vec<ReadError>,
    /// What was mended or chosen on the way, one sentence each.
    pub notes: Vec<String>,
}

impl ReadErrors {
    /// The same errors, in a named file; those that name another keep it.
    pub fn within(mut self, file: &Path) -> ReadErrors {
        for error in &mut self.errors {
            error.file.get_or_insert_with(|| file.to_owned());
        }
        self
    }
}

impl From<ReadError> for ReadErrors {
    fn from(error: ReadError) -> ReadErrors {
        ReadErrors { errors: vec![error], notes: Vec::new() }
    }
}

impl fmt::Display for ReadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.errors.iter().enumerate() {
            write!(f, "{}{error}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_file_and_place_before_what_is_wrong() {
        let error = ReadError::line(3, "no corner");
        assert_eq!(error.to_string(), "line 3: no corner");
        assert_eq!(error.within(Path::new("a.obj")).to_string(), "a.obj, line 3: no corner");
        assert_eq!(ReadError::whole("empty").within(Path::new("a.obj")).to_string(), "a.obj: empty");
        assert_eq!(ReadError::byte(84, "cut").to_string(), "byte 84: cut");
    }
}
