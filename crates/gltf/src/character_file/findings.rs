//! Errors and notes of a reader: what keeps a file from being used, and what was repaired or chosen.

use sinew_files::{Loaded, ReadError, ReadErrors};

/// More errors or notes than this are counted, not kept: nobody reads them, and a hostile file must not fill memory with them.
const KEPT: usize = 200;

/// Errors and notes so far.
#[derive(Default)]
pub(super) struct Findings {
    errors: Vec<ReadError>,
    notes: Vec<String>,
    errors_left_out: usize,
    notes_left_out: usize,
}

impl Findings {
    /// Something that keeps the file from being used.
    pub(super) fn error(&mut self, message: impl Into<String>) {
        if self.errors.len() < KEPT {
            self.errors.push(ReadError::whole(message));
        } else {
            self.errors_left_out += 1;
        }
    }

    /// Something that was repaired or chosen.
    pub(super) fn note(&mut self, message: impl Into<String>) {
        if self.notes.len() < KEPT {
            self.notes.push(message.into());
        } else {
            self.notes_left_out += 1;
        }
    }

    /// The value; `None` after its error was recorded.
    pub(super) fn accept<T>(&mut self, outcome: Result<T, String>) -> Option<T> {
        outcome.map_err(|message| self.error(message)).ok()
    }

    /// Whether nothing so far keeps the file from being used.
    pub(super) fn is_clean(&self) -> bool {
        self.errors.is_empty()
    }

    /// The value with its notes, or all errors.
    pub(super) fn conclude<T>(mut self, value: Option<T>) -> Result<Loaded<T>, ReadErrors> {
        if self.notes_left_out > 0 {
            self.notes.push(format!("and {} notes more", self.notes_left_out));
        }
        if self.errors_left_out > 0 {
            self.errors.push(ReadError::whole(format!("and {} errors more", self.errors_left_out)));
        }
        match value {
            Some(value) if self.errors.is_empty() => Ok(Loaded { value, notes: self.notes }),
            _ => Err(ReadErrors { errors: self.errors, notes: self.notes }),
        }
    }
}
