//! Splits text files into lines and words; the text need not be UTF-8, and lines may end in any of the usual ways.

pub(crate) use sinew_files::quote;

use sinew_files::ReadError;

/// The lines of a text, numbered from 1. `\n`, `\r\n` and a lone `\r` end a line.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    /// The lines of a file; a byte order mark at its start is skipped.
    pub(crate) fn of(bytes: &'a [u8]) -> Lines<'a> {
        Lines { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(self.rest.len());
        let (line, tail) = self.rest.split_at(end);
        self.rest = tail.strip_prefix(b"\r\n").unwrap_or(tail.get(1..).unwrap_or_default());
        self.number += 1;
        Some((self.number, line))
    }
}

/// The words of a line, separated by whitespace.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Parses a number, or returns an error that quotes the word.
pub(crate) fn number<T: std::str::FromStr>(word: &[u8], line: usize, what: &str) -> Result<T, ReadError> {
    std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).ok_or_else(|| {
        ReadError::line(line, format!("{what} `{}` is not a number, or out of range", quote(word)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_line_ending_ends_one_line() {
        let lines: Vec<_> = Lines::of(b"\xef\xbb\xbfa\nb\r\nc\rd\n\ne").collect();
        let expected: [(usize, &[u8]); 6] = [(1, b"a"), (2, b"b"), (3, b"c"), (4, b"d"), (5, b""), (6, b"e")];
        assert_eq!(lines, expected);
    }
}
