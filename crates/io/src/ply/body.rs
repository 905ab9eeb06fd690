//! Reads the values of a PLY file one by one, in any of its encodings.

use super::header::{Encoding, Header, Kind};
use crate::text::quote;
use sinew_files::{Place, ReadError};

/// The values after the header. Each read consumes at least one byte, so a loop over any count of the header ends with the file.
pub(super) struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    encoding: Encoding,
}

impl<'a> Body<'a> {
    /// The body that follows a header.
    pub(super) fn of(bytes: &'a [u8], header: &Header) -> Body<'a> {
        Body { bytes, at: header.body_start, line: header.body_line, encoding: header.encoding }
    }

    /// The place of the next value, for errors.
    pub(super) fn place(&mut self) -> Place {
        match self.encoding {
            Encoding::Text => {
                self.skip_whitespace();
                Place::Line(self.line)
            }
            _ => Place::Byte(self.at),
        }
    }

    /// The next value. Every integer kind fits a double exactly.
    pub(super) fn value(&mut self, kind: Kind) -> Result<f64, ReadError> {
        match self.encoding {
            Encoding::Text => self.word(),
            _ => Ok(match kind {
                Kind::I8 => f64::from(i8::from_le_bytes(self.take()?)),
                Kind::U8 => f64::from(u8::from_le_bytes(self.take()?)),
                Kind::I16 => f64::from(i16::from_le_bytes(self.take()?)),
                Kind::U16 => f64::from(u16::from_le_bytes(self.take()?)),
                Kind::I32 => f64::from(i32::from_le_bytes(self.take()?)),
                Kind::U32 => f64::from(u32::from_le_bytes(self.take()?)),
                Kind::F32 => f64::from(f32::from_le_bytes(self.take()?)),
                Kind::F64 => f64::from_le_bytes(self.take()?),
            }),
        }
    }

    /// The next value as a vertex index.
    pub(super) fn index(&mut self, kind: Kind) -> Result<u32, ReadError> {
        let place = self.place();
        let value = self.value(kind)?;
        whole_number(value).ok_or_else(|| ReadError {
            file: None,
            place,
            message: format!("{value} is not a vertex index: indices are whole numbers from 0"),
        })
    }

    /// The next value as the length of a list.
    pub(super) fn list_length(&mut self, kind: Kind) -> Result<u32, ReadError> {
        let place = self.place();
        let value = self.value(kind)?;
        whole_number(value).ok_or_else(|| ReadError {
            file: None,
            place,
            message: format!("{value} is not a list length: the file is damaged"),
        })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let Some(&chunk) = self.bytes[self.at..].first_chunk::<N>() else {
            return Err(self.ended());
        };
        self.at += N;
        let mut chunk = chunk;
        if self.encoding == Encoding::BigEndian {
            chunk.reverse();
        }
        Ok(chunk)
    }

    fn word(&mut self) -> Result<f64, ReadError> {
        self.skip_whitespace();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.ended());
        }
        let word = &rest[..length];
        self.at += length;
        std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok())
            .ok_or_else(|| ReadError::line(self.line, format!("`{}` is not a number", quote(word))))
    }

    fn skip_whitespace(&mut self) {
        while let Some(byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
    }

    fn ended(&self) -> ReadError {
        let message = "the file ends before all elements of its header: it is cut short";
        match self.encoding {
            Encoding::Text => ReadError::line(self.line, message),
            _ => ReadError::byte(self.bytes.len(), message),
        }
    }
}

fn whole_number(value: f64) -> Option<u32> {
    (value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0).then_some(value as u32)
}
