//! Reads a recorded take, up to the first chunk that is damaged.

use crate::take_file::chunk::{self, Chunk, ChunkFault, ChunkKind, HEADER_BYTES, MAGIC};
use crate::take_file::chunk::{OLDEST_VERSION, VERSION};
use crate::take_file::frames::FramesHead;
use crate::take_file::recipe::TakeRecipe;
use sinew_files::{ReadError, register_input};
use sinew_sim::{Model, State};
use sinew_take::Bookmark;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A take on disk, with all checksums verified up to the first wrong one.
#[derive(Debug)]
pub struct TakeFile {
    path: PathBuf,
    recipe: TakeRecipe,
    places: Vec<Place>,
    ending: TakeEnding,
    last_time: f64,
    /// The end of the last valid chunk (bytes from the start of the file).
    pub(super) valid_bytes: u64,
    /// The checksum of the last valid chunk.
    pub(super) checksum: u64,
    /// The size of the file when it was opened.
    pub(super) file_bytes: u64,
}

/// How a take on disk ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakeEnding {
    /// The take is complete.
    Complete,
    /// The recording was interrupted or is still running; everything written is valid.
    Unfinished,
    /// The end of the file is damaged.
    Damaged {
        /// Where the damage begins, in bytes from the start of the file.
        at: u64,
        /// Bytes from there to the end of the file.
        bytes: u64,
        /// What is wrong.
        what: String,
    },
}

/// The place of a chunk of frames.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    left: u64,
    /// The checksum of the chunk before it.
    before: u64,
    /// Its first frame, and its number of frames.
    first: usize,
    count: usize,
}

impl TakeFile {
    /// Opens a take and verifies its checksums. Fails if the file is not a take, has an unsupported version, or is damaged before its first
    /// frames; [`TakeFile::ending`] tells of later damage. The file is registered as an input, so that no output replaces it.
    pub fn open(path: &Path) -> Result<TakeFile, ReadError> {
        register_input(path);
        TakeFile::test(path)
    }

    /// Opens a take as [`TakeFile::open`] does, but does not register it as an input: outputs may replace it.
    pub(super) fn test(path: &Path) -> Result<TakeFile, ReadError> {
        // a file with the header of a take
        let fault = |message: String| ReadError::whole(message).within(path);
        let mut file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => fault("no such file: check the name and the folder".into()),
            _ => fault(format!("cannot be opened: {error}")),
        })?;
        let metadata = file.metadata().map_err(|error| fault(format!("cannot be opened: {error}")))?;
        if !metadata.is_file() {
            return Err(fault("this is not a file".into()));
        }
        let file_bytes = metadata.len();
        let before = read_header(&mut file, file_bytes).map_err(fault)?;

        // the recipe is the first chunk
        let mut file = BufReader::new(file);
        let start = |what: String| {
            fault(format!("the take is damaged at its very start, so none of it can be used: {what}"))
        };
        let chunk =
            chunk::read(&mut file, file_bytes - HEADER_BYTES, before).map_err(|found| match found {
                ChunkFault::Unreadable(error) => fault(format!("cannot be read: {error}")),
                ChunkFault::Damaged(what) => start(what),
            })?;
        if chunk.kind != ChunkKind::Recipe {
            return Err(start("its first chunk is not the scene".into()));
        }
        let recipe = TakeRecipe::read(&chunk.bytes).map_err(start)?;

        // then frames
        let valid_bytes = HEADER_BYTES + chunk::FRAME_BYTES + chunk.bytes.len() as u64;
        let mut take = TakeFile {
            path: path.to_owned(),
            recipe,
            places: Vec::new(),
            ending: TakeEnding::Unfinished,
            last_time: 0.0,
            valid_bytes,
            checksum: chunk.checksum,
            file_bytes,
        };
        take.find_frames(&mut file).map_err(|error| fault(format!("cannot be read: {error}")))?;
        Ok(take)
    }

    /// Finds the chunks of frames, up to the first damaged one.
    fn find_frames(&mut self, file: &mut impl Read) -> std::io::Result<()> {
        let mut sizes = None;
        while self.valid_bytes < self.file_bytes && self.ending == TakeEnding::Unfinished {
            let left = self.file_bytes - self.valid_bytes;
            let found = match chunk::read(file, left, self.checksum) {
                Ok(chunk) => self.add(&chunk, left, &mut sizes),
                Err(ChunkFault::Damaged(what)) => Err(what),
                Err(ChunkFault::Unreadable(error)) => return Err(error),
            };
            if let Err(what) = found {
                self.ending = TakeEnding::Damaged { at: self.valid_bytes, bytes: left, what };
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        chunk: &Chunk,
        left: u64,
        sizes: &mut Option<super::frames::Sizes>,
    ) -> Result<(), String> {
        match chunk.kind {
            ChunkKind::Recipe => return Err("there is a second scene".into()),
            ChunkKind::Frames => {
                let head = FramesHead::read(&chunk.bytes).ok_or("the size of a chunk of frames is wrong")?;
                if head.first != self.frame_count() || *sizes.get_or_insert(head.sizes.clone()) != head.sizes
                {
                    return Err("a chunk of frames does not continue the one before".into());
                }
                self.last_time = head.last_time(&chunk.bytes).unwrap_or_default();
                let (first, count) = (head.first, head.count);
                self.places.push(Place {
                    offset: self.valid_bytes,
                    left,
                    before: self.checksum,
                    first,
                    count,
                });
            }
            ChunkKind::End => self.ending = TakeEnding::Complete,
        }
        self.checksum = chunk.checksum;
        self.valid_bytes += chunk::FRAME_BYTES + chunk.bytes.len() as u64;
        Ok(())
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything its scene is built from.
    pub fn recipe(&self) -> &TakeRecipe {
        &self.recipe
    }

    /// How it ends.
    pub fn ending(&self) -> &TakeEnding {
        &self.ending
    }

    /// The number of valid frames, including the first.
    pub fn frame_count(&self) -> usize {
        self.places.last().map_or(0, |place| place.first + place.count)
    }

    /// The number of frames of the complete take, including the first.
    pub fn frame_goal(&self) -> usize {
        self.recipe.settings.frame_count().saturating_add(1)
    }

    /// The time of the last valid frame (s).
    pub fn last_time(&self) -> f64 {
        self.last_time
    }

    /// Checks that a model is the one that the take was recorded with.
    pub fn check_model(&self, model: &Model) -> Result<(), ReadError> {
        let (found, expected) = (model.hash(), self.recipe.model_hash);
        if found == expected {
            return Ok(());
        }
        Err(ReadError::whole(format!(
            "this take was recorded by sinew {}, which built a different model of the scene (hash {expected:016x}, now {found:016x}): \
             use that version, or simulate again",
            self.recipe.sinew
        ))
        .within(&self.path))
    }

    /// The bookmark at the last valid frame, from which the take can resume; `None` without frames.
    pub fn bookmark(&self) -> Result<Option<Bookmark>, ReadError> {
        let Some(place) = self.places.last() else { return Ok(None) };
        let bytes = self.chunk_at(&mut self.reopen()?, place)?;
        let bookmark = FramesHead::read(&bytes).and_then(|head| head.bookmark(&bytes));
        bookmark.map(Some).ok_or_else(|| self.changed(place))
    }

    /// All valid frames in order, as states without velocities. One chunk is in memory at a time.
    pub fn states<'a>(
        &'a self,
        model: &Model,
    ) -> Result<impl Iterator<Item = Result<State, ReadError>> + 'a, ReadError> {
        self.check_model(model)?;
        let sizes = super::frames::Sizes::of(model);
        let mut file = self.reopen()?;
        let frames = self.places.iter().flat_map(move |place| {
            let chunk = self.chunk_at(&mut file, place).and_then(|bytes| {
                let head = FramesHead::read(&bytes).filter(|head| head.sizes == sizes);
                head.map(|head| (head, bytes)).ok_or_else(|| self.changed(place))
            });
            let (chunk, fault) = match chunk {
                Ok(chunk) => (Some(chunk), None),
                Err(error) => (None, Some(Err(error))),
            };
            let states = chunk.into_iter().flat_map(move |(head, bytes)| {
                (0..head.count).map(move |i| head.frame(&bytes, i).ok_or_else(|| self.changed(place)))
            });
            fault.into_iter().chain(states)
        });
        Ok(frames)
    }

    fn reopen(&self) -> Result<File, ReadError> {
        let opened = File::open(&self.path);
        opened.map_err(|error| ReadError::whole(format!("cannot be opened: {error}")).within(&self.path))
    }

    fn chunk_at(&self, file: &mut File, place: &Place) -> Result<Vec<u8>, ReadError> {
        let unreadable =
            |error: std::io::Error| ReadError::whole(format!("cannot be read: {error}")).within(&self.path);
        file.seek(SeekFrom::Start(place.offset)).map_err(unreadable)?;
        match chunk::read(file, place.left, place.before) {
            Ok(chunk) => Ok(chunk.bytes),
            Err(ChunkFault::Unreadable(error)) => Err(unreadable(error)),
            Err(ChunkFault::Damaged(_)) => Err(self.changed(place)),
        }
    }

    fn changed(&self, place: &Place) -> ReadError {
        let message = "the file has changed since it was opened: open it again";
        ReadError::byte(place.offset as usize, message).within(&self.path)
    }
}

/// Checks the header and returns the checksum that seeds that of the first chunk.
fn read_header(file: &mut File, file_bytes: u64) -> Result<u64, String> {
    let mut header = [0; HEADER_BYTES as usize];
    let foreign = || "this is not a take: `sinew simulate -o NAME.take` records one".to_owned();
    if file_bytes < HEADER_BYTES {
        return Err(foreign());
    }
    file.read_exact(&mut header).map_err(|error| format!("cannot be read: {error}"))?;
    if header[..8] != MAGIC[..] {
        return Err(foreign());
    }
    let version = chunk::number(&header[8..]);
    if !(OLDEST_VERSION..=VERSION).contains(&version) {
        return Err(format!(
            "this take has format version {version}, and this version of sinew reads versions {OLDEST_VERSION} to {VERSION}: use the version that recorded it"
        ));
    }
    Ok(chunk::header(version).1)
}
