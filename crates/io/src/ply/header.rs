//! Reads the header of a PLY file: the encoding, and the elements with their properties.

use crate::text::{Lines, number, quote, words};
use sinew_files::ReadError;

/// The encoding of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

/// One property of an element.
pub(super) enum Property {
    Scalar { name: String, kind: Kind },
    List { name: String, count: Kind, item: Kind },
}

/// A list of items with the same properties.
pub(super) struct Element {
    pub(super) name: String,
    /// As stated; the file may contain fewer.
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
}

/// The contents of the header.
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// The offset of the body (bytes from the start of the file).
    pub(super) body_start: usize,
    /// The line number of an ASCII body.
    pub(super) body_line: usize,
}

impl Property {
    /// 0, 1, 2 for x, y, z; 3 for other properties.
    pub(super) fn axis(&self) -> usize {
        match self {
            Property::Scalar { name, .. } => {
                ["x", "y", "z"].iter().position(|axis| axis == name).unwrap_or(3)
            }
            Property::List { .. } => 3,
        }
    }
}

impl Header {
    /// Reads the header of a file.
    pub(super) fn read(bytes: &[u8]) -> Result<Header, ReadError> {
        if !(bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r")) {
            return Err(ReadError::byte(0, "the file does not begin with `ply`: is this a PLY file?"));
        }
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        for (line, text) in Lines::of(bytes).skip(1) {
            let words: Vec<&[u8]> = words(text).take(6).collect();
            match words[..] {
                // what the body consists of
                [b"format", name, ..] => encoding = Some(find_encoding(name, line)?),
                [b"element", name, count, ..] => elements.push(Element {
                    name: String::from_utf8_lossy(name).into_owned(),
                    count: number(count, line, "the count")?,
                    properties: Vec::new(),
                }),
                [b"property", ..] => {
                    let Some(element) = elements.last_mut() else {
                        return Err(ReadError::line(line, "a property precedes all elements"));
                    };
                    element.properties.push(find_property(&words[1..], line)?);
                }
                // the end, comments and errors
                [b"end_header"] => {
                    let Some(encoding) = encoding else {
                        return Err(ReadError::line(line, "the header has no `format` line"));
                    };
                    let body_start = body_start(bytes, text);
                    return Ok(Header { encoding, elements, body_start, body_line: line + 1 });
                }
                [] | [b"comment" | b"obj_info", ..] => {}
                [word, ..] => {
                    let message = format!(
                        "`{}` is not a keyword of a PLY header: `end_header` may be missing",
                        quote(word)
                    );
                    return Err(ReadError::line(line, message));
                }
            }
        }
        Err(ReadError::whole("the header has no `end_header`: the file is cut short"))
    }
}

/// The first byte after the line `end_header`. A binary body may begin with a byte that looks like a line feed, so only one line ending is
/// skipped.
fn body_start(bytes: &[u8], last_line: &[u8]) -> usize {
    let end = last_line.as_ptr() as usize - bytes.as_ptr() as usize + last_line.len();
    let tail = &bytes[end..];
    end + if tail.starts_with(b"\r\n") { 2 } else { tail.len().min(1) }
}

fn find_encoding(name: &[u8], line: usize) -> Result<Encoding, ReadError> {
    match name {
        b"ascii" => Ok(Encoding::Text),
        b"binary_little_endian" => Ok(Encoding::LittleEndian),
        b"binary_big_endian" => Ok(Encoding::BigEndian),
        _ => {
            let known = "ascii, binary_little_endian or binary_big_endian";
            Err(ReadError::line(line, format!("format `{}` is unknown: it must be {known}", quote(name))))
        }
    }
}

fn find_property(words: &[&[u8]], line: usize) -> Result<Property, ReadError> {
    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    match *words {
        [b"list", count, item, name] => Ok(Property::List {
            name: text(name),
            count: find_kind(count, line)?,
            item: find_kind(item, line)?,
        }),
        [kind, name] => Ok(Property::Scalar { name: text(name), kind: find_kind(kind, line)? }),
        _ => Err(ReadError::line(line, "a property must be `TYPE NAME` or `list TYPE TYPE NAME`")),
    }
}

fn find_kind(word: &[u8], line: usize) -> Result<Kind, ReadError> {
    Ok(match word {
        b"char" | b"int8" => Kind::I8,
        b"uchar" | b"uint8" => Kind::U8,
        b"short" | b"int16" => Kind::I16,
        b"ushort" | b"uint16" => Kind::U16,
        b"int" | b"int32" => Kind::I32,
        b"uint" | b"uint32" => Kind::U32,
        b"float" | b"float32" => Kind::F32,
        b"double" | b"float64" => Kind::F64,
        _ => return Err(ReadError::line(line, format!("type `{}` is not a PLY type", quote(word)))),
    })
}
