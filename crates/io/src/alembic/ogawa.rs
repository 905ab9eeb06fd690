//! The Ogawa container of Alembic files: a tree of groups, whose leaves are data.
//!
//! ```text
//! file    "Ogawa", 0xff if complete, version 0x0001, position of the root group
//! group   number of children, position of each; the top bit of a position marks data
//! data    size, bytes
//! ```
//!
//! Numbers are little-endian `u64`s. Children are written before their group, so that all but the head is written in order.

use sinew_files::{AtomicFile, refused};
use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// The start of a file that is not complete yet: `Ogawa`, not complete, version, root.
const HEAD: &[u8; 16] = b"Ogawa\0\0\x01\0\0\0\0\0\0\0\0";

/// A child of a group: its position in the file, and whether it is data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child(u64);

impl Child {
    /// The bit that marks data.
    const DATA: u64 = 1 << 63;
    /// Data without bytes.
    pub(super) const NO_DATA: Child = Child(Child::DATA);
    /// A group without children.
    const NO_GROUP: Child = Child(0);
}

/// Writes the tree.
#[derive(Debug)]
pub(super) struct OgawaWriter {
    file: AtomicFile,
    length: u64,
}

impl OgawaWriter {
    /// Begins a file.
    pub(super) fn create(target: &Path) -> io::Result<OgawaWriter> {
        let mut file = AtomicFile::create(target)?;
        file.write_all(HEAD)?;
        Ok(OgawaWriter { file, length: HEAD.len() as u64 })
    }

    /// Writes data: parts that follow each other.
    pub(super) fn data(&mut self, parts: &[&[u8]]) -> io::Result<Child> {
        let size: usize = parts.iter().map(|part| part.len()).sum();
        if size == 0 {
            return Ok(Child::NO_DATA);
        }
        let place = self.length;
        self.write(&(size as u64).to_le_bytes())?;
        parts.iter().try_for_each(|part| self.write(part))?;
        Ok(Child(place | Child::DATA))
    }

    /// Writes a group.
    pub(super) fn group(&mut self, children: &[Child]) -> io::Result<Child> {
        if children.is_empty() {
            return Ok(Child::NO_GROUP);
        }
        let place = self.length;
        self.write(&(children.len() as u64).to_le_bytes())?;
        children.iter().try_for_each(|child| self.write(&child.0.to_le_bytes()))?;
        Ok(Child(place))
    }

    /// Completes the file, whose root is a group.
    pub(super) fn finish(mut self, root: Child) -> io::Result<AtomicFile> {
        self.file.flush()?;
        let in_words = |error: io::Error| refused(self.file.target(), &error);
        let mut start = OpenOptions::new().write(true).open(self.file.part()).map_err(in_words)?;
        start
            .seek(SeekFrom::Start(8))
            .and_then(|_| start.write_all(&root.0.to_le_bytes()))
            .map_err(in_words)?;
        start.seek(SeekFrom::Start(5)).and_then(|_| start.write_all(&[0xff])).map_err(in_words)?;
        Ok(self.file)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        self.file.write_all(bytes)
    }
}
