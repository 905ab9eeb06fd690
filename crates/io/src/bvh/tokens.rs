//! Splits a BVH file into words with their line numbers, and into names, which may contain spaces.

use crate::text::{Lines, number, quote};
use sinew_files::ReadError;

/// A position in a file.
pub(super) struct Tokens<'a> {
    lines: Lines<'a>,
    rest: &'a [u8],
    line: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Tokens<'a> {
        Tokens { lines: Lines::of(bytes), rest: b"", line: 1 }
    }

    /// The line of the last word.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The next word, on this line or a later one; a brace is a word of its own.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            self.rest = self.rest.trim_ascii_start();
            let Some(first) = self.rest.first() else {
                (self.line, self.rest) = self.lines.next()?;
                continue;
            };
            let length = match first {
                b'{' | b'}' => 1,
                _ => self
                    .rest
                    .iter()
                    .position(|b| b.is_ascii_whitespace() || matches!(b, b'{' | b'}'))
                    .unwrap_or(self.rest.len()),
            };
            let (word, rest) = self.rest.split_at(length);
            self.rest = rest;
            return Some(word);
        }
    }

    /// The rest of the line, up to a brace, as a name.
    pub(super) fn name(&mut self) -> String {
        let end = self.rest.iter().position(|b| *b == b'{').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        String::from_utf8_lossy(name.trim_ascii()).into_owned()
    }

    /// The rest of this line if it has any, else the next line, with its number.
    pub(super) fn next_line(&mut self) -> Option<(usize, &'a [u8])> {
        let rest = core::mem::take(&mut self.rest);
        if !rest.trim_ascii().is_empty() {
            return Some((self.line, rest));
        }
        let (line, rest) = self.lines.next()?;
        self.line = line;
        Some((line, rest))
    }

    /// The next word, which must be there.
    pub(super) fn need(&mut self, what: &str) -> Result<&'a [u8], ReadError> {
        self.next().ok_or_else(|| ReadError::line(self.line, format!("expected {what}, but the file ends")))
    }

    /// The next word, which must be a given one.
    pub(super) fn expect(&mut self, word: &str) -> Result<(), ReadError> {
        let found = self.need(&format!("`{word}`"))?;
        if found.eq_ignore_ascii_case(word.as_bytes()) {
            Ok(())
        } else {
            Err(ReadError::line(self.line, format!("expected `{word}`, found `{}`", quote(found))))
        }
    }

    /// The next word as a finite number.
    pub(super) fn number(&mut self, what: &str) -> Result<f64, ReadError> {
        let word = self.need(what)?;
        finite(word, self.line, what)
    }
}

/// A finite number from a word.
pub(super) fn finite(word: &[u8], line: usize, what: &str) -> Result<f64, ReadError> {
    let value: f64 = number(word, line, what)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(ReadError::line(line, format!("{what} is {value}: it must be finite")))
    }
}
