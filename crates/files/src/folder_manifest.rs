//! The list of files that Sinew copied into a folder, with a hash of each.
//!
//! Copies of the user's images have no room for a signature. The list tells whether a file is still the copy: one that was painted over since
//! is the user's again, and is not replaced.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// The file that holds the list.
pub const MANIFEST_NAME: &str = "sinew.json";

/// The copied files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderManifest {
    /// The version of the program, which makes the list one of its own files.
    sinew: String,
    /// The hash of each file, by its name.
    copies: BTreeMap<String, String>,
}

impl FolderManifest {
    /// An empty list, written by a version of the program.
    pub fn new(version: &str) -> FolderManifest {
        FolderManifest { sinew: version.to_owned(), copies: BTreeMap::new() }
    }

    /// Adds a file.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        self.copies.insert(name.to_owned(), hash(bytes));
    }

    /// The list of a folder; empty if there is none that can be read.
    pub(crate) fn read(folder: &Path) -> FolderManifest {
        let text = fs::read(folder.join(MANIFEST_NAME)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Whether a file is listed and unchanged.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(listed) = name.and_then(|name| self.copies.get(name)) else { return false };
        fs::read(path).is_ok_and(|bytes| hash(&bytes) == *listed)
    }

    /// Its text.
    pub fn to_json(&self) -> String {
        // a map of strings is always JSON
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}
