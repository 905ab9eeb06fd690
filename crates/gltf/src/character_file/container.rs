//! The bytes of a glTF file: a GLB container with its chunks, or a JSON text. They are kept as they came, so that a file can be
//! written again with nothing changed but what was added.

use sinew_files::ReadError;
use std::ops::Range;
use std::sync::Arc;

/// Length of the header of a GLB (bytes), and of that of a chunk.
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A glTF file as it came: every byte, and where its parts are. Clones share the bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterSource {
    bytes: Arc<Vec<u8>>,
    json: Range<usize>,
    binary: Option<Range<usize>>,
    form: SourceForm,
}

/// How a glTF file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceForm {
    /// A binary container (`.glb`).
    Glb,
    /// A JSON text (`.gltf`), its buffers outside or written into it.
    Text,
}

/// Fails unless a file may begin so.
pub(super) fn check_start(start: &[u8]) -> Result<(), ReadError> {
    let text = start.strip_prefix(MARK).unwrap_or(start).trim_ascii_start();
    // a text may begin with more blanks than are seen
    let is_known = start.starts_with(b"glTF") || text.first().is_none_or(|first| *first == b'{');
    if is_known { Ok(()) } else { Err(not_gltf()) }
}

fn not_gltf() -> ReadError {
    let message =
        "is neither a GLB (it would begin with `glTF`) nor a JSON text (with `{`): export it as glTF 2.0";
    ReadError::byte(0, message)
}

impl CharacterSource {
    /// Finds the parts of a file, with notes about what is odd.
    pub(super) fn split(bytes: Vec<u8>) -> Result<(CharacterSource, Vec<String>), ReadError> {
        if bytes.starts_with(b"glTF") {
            return split_container(bytes);
        }
        let mark = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
        if bytes[mark..].trim_ascii_start().first() != Some(&b'{') {
            return Err(not_gltf());
        }
        let json = mark..bytes.len();
        Ok((
            CharacterSource { bytes: Arc::new(bytes), json, binary: None, form: SourceForm::Text },
            Vec::new(),
        ))
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The JSON chunk with its padding, or the text without a byte order mark.
    pub fn json(&self) -> &[u8] {
        &self.bytes[self.json.clone()]
    }

    /// The binary chunk with its padding.
    pub fn binary(&self) -> Option<&[u8]> {
        self.binary.clone().map(|range| &self.bytes[range])
    }

    /// How the file is packed.
    pub fn form(&self) -> SourceForm {
        self.form
    }
}

fn split_container(bytes: Vec<u8>) -> Result<(CharacterSource, Vec<String>), ReadError> {
    // the header
    let mut notes = Vec::new();
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    };
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return Err(ReadError::byte(bytes.len(), "the file ends within the header of a GLB: copy it again"));
    };
    if version != 2 {
        return Err(ReadError::byte(4, format!("is glTF version {version}: export it as glTF 2.0")));
    }
    let length = length as usize;
    if length > bytes.len() {
        let message = format!(
            "the header promises {length} bytes and there are {}: the file is cut off, copy it again",
            bytes.len()
        );
        return Err(ReadError::byte(8, message));
    }
    if length < bytes.len() {
        notes.push(format!("{} bytes after the end of the container: not looked at", bytes.len() - length));
    }

    // the chunks
    let mut chunks = Vec::new();
    let mut at = HEADER;
    // the JSON comes first, the binary second; later chunks are for others to read
    while chunks.len() < 2 && at < length {
        let range = match (word(at), word(at + 4)) {
            (Some(size), Some(kind)) if at + CHUNK_HEADER <= length => {
                let start = at + CHUNK_HEADER;
                let size = size as usize;
                if size > length - start {
                    let message = format!(
                        "a chunk of {size} bytes does not fit the {} bytes that are left: copy the file again",
                        length - start
                    );
                    return Err(ReadError::byte(at, message));
                }
                (kind, start..start + size)
            }
            _ => {
                return Err(ReadError::byte(at, "the file ends within the header of a chunk: copy it again"));
            }
        };
        at = range.1.end;
        chunks.push(range);
    }

    // what they hold
    let mut chunks = chunks.into_iter();
    let json = match chunks.next() {
        Some((kind, range)) if kind == u32::from_le_bytes(*b"JSON") => range,
        _ => return Err(ReadError::byte(HEADER, "the first chunk is not JSON: export the file again")),
    };
    let binary =
        chunks.next().filter(|(kind, _)| *kind == u32::from_le_bytes(*b"BIN\0")).map(|(_, range)| range);
    Ok((CharacterSource { bytes: Arc::new(bytes), json, binary, form: SourceForm::Glb }, notes))
}
