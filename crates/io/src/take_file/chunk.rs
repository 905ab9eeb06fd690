//! Reads and writes the container of a take file: a header, then chunks.
//!
//! ```text
//! header  "SNWTAKE\n", version                             8 + 8 bytes
//! chunk   kind, length n, n bytes, checksum                8 + 8 + n + 8 bytes
//! ```
//!
//! Numbers are little-endian. A checksum is XXH3 over kind, length and bytes, seeded with the checksum of the chunk before (or of the header),
//! so that a chunk is valid only after the chunks that it was written after.

use std::io::{self, Read, Seek};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The version of the format that is written.
pub(super) const VERSION: u64 = 4;
/// The oldest version that is read: its checkpoints have no friction anchors between surfaces.
pub(super) const OLDEST_VERSION: u64 = 2;
/// The first bytes of a take.
pub(super) use sinew_files::signature::TAKE_MAGIC as MAGIC;
/// Bytes before the first chunk.
pub(super) const HEADER_BYTES: u64 = 16;
/// Bytes of a chunk besides its contents.
pub(super) const FRAME_BYTES: u64 = 24;

/// Bytes of the contents that are read of a chunk that is skimmed.
pub(super) const SKIMMED: usize = 24;

/// The contents of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkKind {
    /// Everything the scene is built from.
    Recipe,
    /// Frames, and a bookmark at the last one: versions 2 and 3.
    Frames,
    /// A bookmark at every frame.
    States,
    /// A change of the versions of the take.
    History,
    /// The end of a complete take.
    End,
}

/// A valid chunk.
pub(super) struct Chunk {
    pub(super) kind: ChunkKind,
    pub(super) bytes: Vec<u8>,
    pub(super) checksum: u64,
}

/// Why a chunk cannot be read.
#[derive(Debug)]
pub(super) enum ChunkFault {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The file is cut short, or has changed since it was written.
    Damaged(String),
}

impl ChunkKind {
    const ALL: [ChunkKind; 5] =
        [ChunkKind::Recipe, ChunkKind::Frames, ChunkKind::States, ChunkKind::History, ChunkKind::End];

    fn word(self) -> &'static [u8; 8] {
        match self {
            ChunkKind::Recipe => b"recipe  ",
            ChunkKind::Frames => b"frames  ",
            ChunkKind::States => b"states  ",
            ChunkKind::History => b"history ",
            ChunkKind::End => b"end     ",
        }
    }
}

/// The header of a version, and the checksum that the first chunk is seeded with.
pub(super) fn header(version: u64) -> ([u8; HEADER_BYTES as usize], u64) {
    let mut bytes = [0; HEADER_BYTES as usize];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..].copy_from_slice(&version.to_le_bytes());
    (bytes, xxh3_64(&bytes))
}

/// Begins a chunk with its kind and a placeholder for its length; the caller appends the contents.
pub(super) fn begin(kind: ChunkKind, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(kind.word());
    out.extend_from_slice(&[0; 8]);
}

/// Completes a chunk with its length and checksum, and returns the checksum.
pub(super) fn close(before: u64, out: &mut Vec<u8>) -> u64 {
    let length = (out.len() - 16) as u64;
    out[8..16].copy_from_slice(&length.to_le_bytes());
    let checksum = xxh3_64_with_seed(out, before);
    out.extend_from_slice(&checksum.to_le_bytes());
    checksum
}

/// What a chunk says of itself at its ends, without its contents being verified.
pub(super) struct ChunkEnds {
    pub(super) kind: ChunkKind,
    /// Bytes of the contents.
    pub(super) length: u64,
    /// The first bytes of the contents, up to [`SKIMMED`].
    pub(super) start: Vec<u8>,
    pub(super) checksum: u64,
}

/// Reads the ends of the next chunk, and skips what is between them.
pub(super) fn skim(file: &mut (impl Read + Seek), left: u64) -> Result<ChunkEnds, ChunkFault> {
    let (kind, length, _) = read_head(file, left)?;
    let mut start = vec![0; length.min(SKIMMED as u64) as usize];
    file.read_exact(&mut start).map_err(fault)?;
    file.seek_relative((length - start.len() as u64) as i64).map_err(fault)?;
    let mut checksum = [0; 8];
    file.read_exact(&mut checksum).map_err(fault)?;
    Ok(ChunkEnds { kind, length, start, checksum: u64::from_le_bytes(checksum) })
}

/// Reads kind and length of the next chunk, and returns them with their bytes.
fn read_head(file: &mut impl Read, left: u64) -> Result<(ChunkKind, u64, Vec<u8>), ChunkFault> {
    let damaged = |what: String| Err(ChunkFault::Damaged(what));
    if left < FRAME_BYTES {
        return damaged(format!("only {left} bytes are left, fewer than a chunk has"));
    }
    let mut whole = vec![0; 16];
    file.read_exact(&mut whole).map_err(fault)?;
    let Some(kind) = ChunkKind::ALL.into_iter().find(|kind| kind.word()[..] == whole[..8]) else {
        return damaged("the kind of the chunk is unknown".into());
    };
    let length = number(&whole[8..16]);
    if length > left - FRAME_BYTES {
        return damaged(format!(
            "the chunk has {length} bytes, of which the file contains {}",
            left - FRAME_BYTES
        ));
    }
    Ok((kind, length, whole))
}

/// Reads the next chunk. `left` is the number of bytes to the end of the file, which limits the memory; `before` is the checksum of the chunk
/// before.
pub(super) fn read(file: &mut impl Read, left: u64, before: u64) -> Result<Chunk, ChunkFault> {
    let damaged = |what: String| Err(ChunkFault::Damaged(what));
    let (kind, length, mut whole) = read_head(file, left)?;

    // contents and checksum
    whole.resize(16 + length as usize, 0);
    file.read_exact(&mut whole[16..]).map_err(fault)?;
    let mut written = [0; 8];
    file.read_exact(&mut written).map_err(fault)?;
    let checksum = xxh3_64_with_seed(&whole, before);
    if checksum != u64::from_le_bytes(written) {
        return damaged(format!("the checksum of the chunk ({length} bytes) is wrong"));
    }
    whole.drain(..16);
    Ok(Chunk { kind, bytes: whole, checksum })
}

fn fault(error: io::Error) -> ChunkFault {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ChunkFault::Damaged("the file ends there".into()),
        _ => ChunkFault::Unreadable(error),
    }
}

/// A number from eight bytes.
#[inline]
pub(super) fn number(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(word)
}
