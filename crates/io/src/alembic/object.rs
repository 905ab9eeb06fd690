//! Objects of Alembic archives: transforms and meshes, each with a compound of properties.
//!
//! The group of an object has its properties, its children, and the headers of the children with two hashes: of the properties, and of the
//! children.

use super::ogawa::{Child, OgawaWriter};
use super::property::{MetadataTable, Written, compound, text};
use std::io;
use xxhash_rust::xxh3::xxh3_128;

/// An object that is written.
pub(super) struct WrittenObject {
    name: String,
    metadata: &'static str,
    group: Child,
    hash: u128,
}

/// An object that is to be written.
pub(super) struct Object<'a> {
    pub(super) name: String,
    pub(super) metadata: &'static str,
    pub(super) properties: &'a [Written],
    pub(super) children: &'a [WrittenObject],
    /// The hash of the samples of its properties.
    pub(super) hash: u128,
}

impl Object<'_> {
    pub(super) fn write(
        self,
        table: &mut MetadataTable,
        writer: &mut OgawaWriter,
    ) -> io::Result<WrittenObject> {
        // properties
        let Object { name, metadata, properties, children, hash } = self;
        let own = compound("", "", properties, table, writer)?.group;

        // children
        let mut headers = Vec::new();
        for child in children {
            headers.extend(text(&child.name));
            headers.push(table.index(child.metadata));
        }
        let hashes: Vec<u8> = children.iter().flat_map(|child| child.hash.to_le_bytes()).collect();
        let child_hash = xxh3_128(&[&headers, &hashes[..]].concat());
        let hashes = [hash.to_le_bytes(), child_hash.to_le_bytes()];
        let headers = writer.data(&[&headers, hashes.as_flattened()])?;

        // all of it
        let groups = children.iter().map(|child| child.group);
        let all: Vec<Child> = [own].into_iter().chain(groups).chain([headers]).collect();
        let group = writer.group(&all)?;
        Ok(WrittenObject { name, metadata, group, hash: xxh3_128(hashes.as_flattened()) })
    }
}

impl WrittenObject {
    pub(super) fn group(&self) -> Child {
        self.group
    }
}
