//! Properties of Alembic objects: samples of scalars and arrays, compounds of them, and their headers.
//!
//! A header is a word of bits, then `u32`s and the name:
//!
//! ```text
//! bits 0–1    0 compound, 1 scalar, 2 array
//!      2–3    2: numbers below are u32
//!      4–7    plain type
//!      8      a time sampling follows
//!      10     all samples have the same size
//!      11     one sample stands for all times
//!      12–19  extent
//!      20–27  metadata, by index
//! number of samples, time sampling (neither for compounds), length of the name, name
//! ```

use super::ogawa::{Child, OgawaWriter};
use std::io;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The plain types that are used, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pod {
    I32 = 6,
    F32 = 10,
    F64 = 11,
}

/// Whether a sample is one value or many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar = 1,
    Array = 2,
}

/// What does not change about a property.
#[derive(Clone, Copy, Debug)]
pub(super) struct PropertyKind {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) pod: Pod,
    /// Numbers per value.
    pub(super) extent: u32,
    pub(super) metadata: &'static str,
    /// Whether it has one sample per frame, rather than one for all times.
    pub(super) is_animated: bool,
}

/// A property and where its samples are.
#[derive(Debug)]
pub(super) struct Property {
    kind: PropertyKind,
    samples: Vec<Child>,
    count: u32,
}

/// The header and the group of something that is written.
pub(super) struct Written {
    pub(super) header: Vec<u8>,
    pub(super) group: Child,
}

/// Strings that headers refer to by their index; 0 is the empty one.
#[derive(Debug, Default)]
pub(super) struct MetadataTable(Vec<&'static str>);

impl MetadataTable {
    pub(super) fn index(&mut self, text: &'static str) -> u8 {
        if text.is_empty() {
            return 0;
        }
        let place = self.0.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        place as u8 + 1
    }

    /// All strings, each after its length.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|text| [&[text.len() as u8], text.as_bytes()].concat()).collect()
    }
}

impl Property {
    pub(super) fn new(kind: PropertyKind) -> Property {
        Property { kind, samples: Vec::new(), count: 0 }
    }

    /// Writes a sample after its digest, which also goes into the hash of the object.
    pub(super) fn push(&mut self, bytes: &[u8], hash: &mut Xxh3, writer: &mut OgawaWriter) -> io::Result<()> {
        let digest = xxh3_128(bytes).to_le_bytes();
        hash.update(&digest);
        self.samples.push(writer.data(&[&digest, bytes])?);
        if self.kind.shape == Shape::Array {
            // its dimensions: one, of the size that the bytes tell
            self.samples.push(Child::NO_DATA);
        }
        self.count += 1;
        Ok(())
    }

    pub(super) fn has_samples(&self) -> bool {
        self.count > 0
    }

    pub(super) fn write(&self, table: &mut MetadataTable, writer: &mut OgawaWriter) -> io::Result<Written> {
        let PropertyKind { name, shape, pod, extent, metadata, is_animated } = self.kind;
        let is_constant = self.count < 2;
        let mut bits = shape as u32 | 2 << 2 | (pod as u32) << 4 | 1 << 10 | extent << 12;
        bits |= u32::from(is_animated) << 8
            | u32::from(is_constant) << 11
            | u32::from(table.index(metadata)) << 20;
        let mut header = [bits.to_le_bytes(), self.count.to_le_bytes()].concat();
        if is_animated {
            header.extend(1_u32.to_le_bytes());
        }
        header.extend(text(name));
        Ok(Written { header, group: writer.group(&self.samples)? })
    }
}

/// Writes a compound of properties.
pub(super) fn compound(
    name: &str,
    metadata: &'static str,
    properties: &[Written],
    table: &mut MetadataTable,
    writer: &mut OgawaWriter,
) -> io::Result<Written> {
    let bits = 2 << 2 | u32::from(table.index(metadata)) << 20;
    let header = [&bits.to_le_bytes()[..], &text(name)].concat();
    let mut children: Vec<Child> = properties.iter().map(|property| property.group).collect();
    if !properties.is_empty() {
        let headers: Vec<&[u8]> = properties.iter().map(|property| &*property.header).collect();
        children.push(writer.data(&headers)?);
    }
    Ok(Written { header, group: writer.group(&children)? })
}

/// A string after its length.
pub(super) fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}
