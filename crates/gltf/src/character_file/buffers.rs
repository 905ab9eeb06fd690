//! The buffers of a glTF file: its own binary chunk, bytes written into the document, and files beside it.

use super::container::CharacterSource;
use super::document_reader::Part;
use super::findings::Findings;
use super::meshopt;
use super::uri::{self, Uri};
use serde_json::Value;
use sinew_files::quote;
use sinew_files::read_bytes;
use sinew_files::{real_path, register_input};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the bytes of a buffer are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stored {
    /// In the binary chunk, so many of its first bytes.
    Chunk(usize),
    /// Somewhere else, so many of the first bytes.
    Elsewhere(Arc<Vec<u8>>, usize),
    /// Nowhere: an error was put down, or it stands for what packed views would be.
    Missing,
}

/// All buffers while a file is read.
pub(super) struct Buffers<'a> {
    source: &'a CharacterSource,
    pub(super) stored: Vec<Stored>,
}

impl<'a> Buffers<'a> {
    /// Those of a file that was read.
    pub(super) fn of(source: &'a CharacterSource, stored: Vec<Stored>) -> Buffers<'a> {
        Buffers { source, stored }
    }

    /// Finds the bytes of all buffers. Files are looked for in `folder`; without one, none may be asked for.
    pub(super) fn find(
        source: &'a CharacterSource,
        root: &Value,
        folder: Option<&Path>,
        findings: &mut Findings,
    ) -> Buffers<'a> {
        let entries = root.get("buffers").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut finder = Finder { source, folder, files: BTreeMap::new() };
        let mut stored = Vec::with_capacity(entries.len());
        for (index, value) in entries.iter().enumerate() {
            let part = Part { value, path: format!("buffers[{index}]") };
            let found = findings.accept(finder.find(index, &part));
            stored.push(found.unwrap_or(Stored::Missing));
        }
        Buffers { source, stored }
    }

    /// The bytes of a buffer; `None` if there is no such buffer or it is missing.
    pub(super) fn bytes(&self, index: usize) -> Option<&[u8]> {
        bytes_of(self.source, self.stored.get(index)?)
    }

    /// Bytes of all buffers outside of the file itself; one that is named twice counts once.
    pub(super) fn outside_size(&self) -> u64 {
        let mut seen = std::collections::BTreeSet::new();
        let size = |stored: &Stored| match stored {
            Stored::Elsewhere(bytes, _) if seen.insert(Arc::as_ptr(bytes) as usize) => bytes.len() as u64,
            _ => 0,
        };
        self.stored.iter().map(size).sum()
    }
}

/// The bytes of a buffer of a file.
pub(super) fn bytes_of<'a>(source: &'a CharacterSource, stored: &'a Stored) -> Option<&'a [u8]> {
    match stored {
        Stored::Chunk(length) => source.binary()?.get(..*length),
        Stored::Elsewhere(bytes, length) => bytes.get(..*length),
        Stored::Missing => None,
    }
}

struct Finder<'a> {
    source: &'a CharacterSource,
    folder: Option<&'a Path>,
    files: BTreeMap<PathBuf, Arc<Vec<u8>>>,
}

impl Finder<'_> {
    fn find(&mut self, index: usize, part: &Part) -> Result<Stored, String> {
        let path = &part.path;
        let wanted = part
            .index("byteLength")?
            .ok_or_else(|| format!("{path} does not say its byteLength: export the file again"))?;
        let short = |has: usize| {
            format!(
                "{path} promises {wanted} bytes and there are {has}: the data is cut off, copy or export it again"
            )
        };

        // in no file, or in the file itself
        if meshopt::is_fallback(part) {
            return Ok(Stored::Missing);
        }
        let Some(uri) = part.text("uri") else {
            return match self.source.binary() {
                Some(chunk) if index == 0 && chunk.len() >= wanted => Ok(Stored::Chunk(wanted)),
                Some(chunk) if index == 0 => Err(short(chunk.len())),
                _ => Err(format!(
                    "{path} has neither a uri nor the binary chunk: export the file again without compression"
                )),
            };
        };

        // in the uri, or in a file beside
        let named = |message: String| format!("{path}.uri `{}` {message}", quote(uri.as_bytes()));
        let bytes = match uri::read(uri).map_err(named)? {
            Uri::Bytes(bytes) => Arc::new(bytes),
            Uri::Beside(relative) => self.file(&relative).map_err(named)?,
        };
        if bytes.len() < wanted {
            return Err(short(bytes.len()));
        }
        Ok(Stored::Elsewhere(bytes, wanted))
    }

    fn file(&mut self, relative: &Path) -> Result<Arc<Vec<u8>>, String> {
        let path = path_beside(self.folder, relative)?;
        if let Some(bytes) = self.files.get(&path) {
            return Ok(Arc::clone(bytes));
        }
        let bytes = Arc::new(read_bytes(&path).map_err(|error| format!("cannot be used: {error}"))?);
        self.files.insert(path, Arc::clone(&bytes));
        Ok(bytes)
    }
}

/// What a URI of a file in `folder` stands for; never anything outside of the folder.
pub(super) fn read_uri(folder: Option<&Path>, uri: &str) -> Result<Vec<u8>, String> {
    match uri::read(uri)? {
        Uri::Bytes(bytes) => Ok(bytes),
        Uri::Beside(relative) => {
            let path = path_beside(folder, &relative)?;
            read_bytes(&path).map_err(|error| format!("cannot be used: {error}"))
        }
    }
}

/// Registers the images beside a document as read: they are opened late or never, and belong to the character all the same.
pub(super) fn register_images(root: &Value, folder: Option<&Path>) {
    let images = root.get("images").and_then(Value::as_array).into_iter().flatten();
    let uris = images.filter_map(|image| image.get("uri")?.as_str());
    for uri in uris.filter(|uri| !uri.starts_with("data:")) {
        if let Ok(Uri::Beside(relative)) = uri::read(uri)
            && let Ok(path) = path_beside(folder, &relative)
            && let Some(real) = real_path(&path)
        {
            register_input(&real);
        }
    }
}

/// Where a file beside the document is.
fn path_beside(folder: Option<&Path>, relative: &Path) -> Result<PathBuf, String> {
    let Some(folder) = folder else {
        return Err("is another file: open the character by its path, or export it as one GLB".into());
    };
    let path = folder.join(relative);
    let (Some(folder), Some(real)) = (real_path(folder), real_path(&path)) else { return Ok(path) };
    // a link within the folder may still lead out of it
    if !real.starts_with(&folder) {
        return Err("leads out of the file's folder: put the buffer itself beside the file".into());
    }
    // one file has many spellings
    Ok(real)
}
