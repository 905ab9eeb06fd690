//! A recorded take, as far as it is sound.

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

/// A take on disk, every checksum of which was tested up to the first that did not fit.
#[derive(Debug)]
pub struct TakeFile {
    path: PathBuf,
    recipe: TakeRecipe,
    places: Vec<Place>,
    ending: TakeEnding,
    last_time: f64,
    /// Where the last sound chunk ends.
    pub(super) sound_bytes: u64,
    /// The checksum of the last sound chunk.
    pub(super) checksum: u64,
    /// How long the file was when it was opened.
    pub(super) file_bytes: u64,
}

/// How a take on disk ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakeEnding {
    /// All of it is there.
    Complete,
    /// The recording was ended early, or is still going on; all that was written is sound.
    Unfinished,
    /// Something else than was written follows what is sound.
    Damaged {
        /// Where it begins, in bytes from the start of the file.
        at: u64,
        /// How many bytes from there to the end of the file.
        bytes: u64,
        /// What is wrong.
        what: String,
    },
}

/// Where a chunk of frames is.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    left: u64,
    /// The checksum before it.
    before: u64,
    /// Its first frame, and how many.
    first: usize,
    count: usize,
}

impl TakeFile {
    /// Opens a take and tests it. Fails if it is none, is of another version of the format, or is damaged before its first frames; whatever else is wrong is
    /// told by [`TakeFile::ending`]. The file is registered as read, so that no output replaces it.
    pub fn open(path: &Path) -> Result<TakeFile, ReadError> {
        register_input(path);
        TakeFile::test(path)
    }

    /// Opens a take as [`TakeFile::open`] does, of which nothing but its state is wanted: it may be replaced.
    pub(super) fn test(path: &Path) -> Result<TakeFile, ReadError> {
        let fault = |message: String| ReadError::whole(message).within(path);
        let mut file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => fault("no such file: check the name and the folder".into()),
            _ => fault(format!("cannot be opened: {error}")),
        })?;
        let metadata = file.metadata().map_err(|error| fault(format!("cannot be opened: {error}")))?;
        if !metadata.is_file() {
            return Err(fault("is not a file".into()));
        }
        let file_bytes = metadata.len();
        let before = read_header(&mut file, file_bytes).map_err(fault)?;
        let mut file = BufReader::new(file);
        let start = |what: String| {
            fault(format!("the take is damaged at its very start, so nothing of it can be used: {what}"))
        };
        let chunk =
            chunk::read(&mut file, file_bytes - HEADER_BYTES, before).map_err(|found| match found {
                ChunkFault::Unreadable(error) => fault(format!("cannot be read: {error}")),
                ChunkFault::Damaged(what) => start(what),
            })?;
        if chunk.kind != ChunkKind::Recipe {
            return Err(start("it does not begin with its scene".into()));
        }
        let recipe = TakeRecipe::read(&chunk.bytes).map_err(start)?;
        let sound_bytes = HEADER_BYTES + chunk::FRAME_BYTES + chunk.bytes.len() as u64;
        let mut take = TakeFile {
            path: path.to_owned(),
            recipe,
            places: Vec::new(),
            ending: TakeEnding::Unfinished,
            last_time: 0.0,
            sound_bytes,
            checksum: chunk.checksum,
            file_bytes,
        };
        take.find_frames(&mut file).map_err(|error| fault(format!("cannot be read: {error}")))?;
        Ok(take)
    }

    /// Walks over the chunks of frames for as long as they are sound.
    fn find_frames(&mut self, file: &mut impl Read) -> std::io::Result<()> {
        let mut sizes = None;
        while self.sound_bytes < self.file_bytes && self.ending == TakeEnding::Unfinished {
            let left = self.file_bytes - self.sound_bytes;
            let found = match chunk::read(file, left, self.checksum) {
                Ok(chunk) => self.add(&chunk, left, &mut sizes),
                Err(ChunkFault::Damaged(what)) => Err(what),
                Err(ChunkFault::Unreadable(error)) => return Err(error),
            };
            if let Err(what) = found {
                self.ending = TakeEnding::Damaged { at: self.sound_bytes, bytes: left, what };
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
            ChunkKind::Recipe => return Err("a second scene begins there".into()),
            ChunkKind::Frames => {
                let head = FramesHead::read(&chunk.bytes).ok_or("its frames are not as long as they say")?;
                if head.first != self.frame_count() || *sizes.get_or_insert(head.sizes.clone()) != head.sizes
                {
                    return Err("its frames do not follow on those before".into());
                }
                self.last_time = head.last_time(&chunk.bytes).unwrap_or_default();
                let (first, count) = (head.first, head.count);
                self.places.push(Place {
                    offset: self.sound_bytes,
                    left,
                    before: self.checksum,
                    first,
                    count,
                });
            }
            ChunkKind::End => self.ending = TakeEnding::Complete,
        }
        self.checksum = chunk.checksum;
        self.sound_bytes += chunk::FRAME_BYTES + chunk.bytes.len() as u64;
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its scene is built from.
    pub fn recipe(&self) -> &TakeRecipe {
        &self.recipe
    }

    /// How it ends.
    pub fn ending(&self) -> &TakeEnding {
        &self.ending
    }

    /// How many sound frames there are, the start included.
    pub fn frame_count(&self) -> usize {
        self.places.last().map_or(0, |place| place.first + place.count)
    }

    /// How many frames there were to be, the start included.
    pub fn frame_goal(&self) -> usize {
        self.recipe.settings.frame_count().saturating_add(1)
    }

    /// When the last sound frame is (s).
    pub fn last_time(&self) -> f64 {
        self.last_time
    }

    /// Checks that a model is the one that was recorded.
    pub fn check_model(&self, model: &Model) -> Result<(), ReadError> {
        let (found, expected) = (model.hash(), self.recipe.model_hash);
        if found == expected {
            return Ok(());
        }
        Err(ReadError::whole(format!(
            "was recorded by sinew {}, whose model of the scene (hash {expected:016x}) is another than this version builds ({found:016x}): \
             use that version, or simulate again",
            self.recipe.sinew
        ))
        .within(&self.path))
    }

    /// What the take can go on from: its last sound frame. `None` if it has none.
    pub fn bookmark(&self) -> Result<Option<Bookmark>, ReadError> {
        let Some(place) = self.places.last() else { return Ok(None) };
        let bytes = self.chunk_at(&mut self.reopen()?, place)?;
        let bookmark = FramesHead::read(&bytes).and_then(|head| head.bookmark(&bytes));
        bookmark.map(Some).ok_or_else(|| self.changed(place))
    }

    /// All sound frames in order, as states of the model without velocities. Only one chunk of them is held at a time.
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
        let message = "was sound when it was opened and is not any more: something has changed it meanwhile";
        ReadError::byte(place.offset as usize, message).within(&self.path)
    }
}

/// Tests the header and returns the checksum that the first chunk is seeded with.
fn read_header(file: &mut File, file_bytes: u64) -> Result<u64, String> {
    let mut header = [0; HEADER_BYTES as usize];
    let foreign = || "is no take: takes are made by `sinew simulate -o NAME.take`".to_owned();
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
            "is a take in version {version} of the format, and this version of sinew reads versions {OLDEST_VERSION} to {VERSION}: use the version that recorded it"
        ));
    }
    Ok(chunk::header(version).1)
}
