//! Reads a recorded take, up to the first chunk that is damaged.

use crate::scene_schema::EditTable;
use crate::take_file::chunk::{self, ChunkFault, ChunkKind, HEADER_BYTES, MAGIC};
use crate::take_file::chunk::{OLDEST_VERSION, VERSION};
use crate::take_file::frames::{FramesHead, Sizes};
use crate::take_file::places::{Place, Places};
use crate::take_file::recipe::TakeRecipe;
use crate::take_file::revision::Revision;
use crate::take_file::states::StatesHead;
use sinew_files::{ReadError, register_input};
use sinew_sim::{Model, State};
use sinew_take::{Bookmark, History, VersionId};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A take on disk, with its checksums verified up to the first wrong one. Frames, edits and length are those of its current version.
#[derive(Debug)]
pub struct TakeFile {
    path: PathBuf,
    recipe: TakeRecipe,
    history: History<EditTable>,
    places: Places,
    /// Sizes of frames of older formats.
    sizes: Option<Sizes>,
    damage: Option<TakeEnding>,
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

/// How much of a take is verified when it is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verified {
    /// All of it.
    All,
    /// Its scene, its versions and the last chunk. Frames are verified when they are read.
    Ends,
}

impl TakeFile {
    /// Opens a take and verifies its checksums. Fails if the file is not a take, has an unsupported version, or is damaged before its first
    /// frames; [`TakeFile::ending`] tells of later damage. The file is registered as an input, so that no output replaces it.
    pub fn open(path: &Path) -> Result<TakeFile, ReadError> {
        register_input(path);
        TakeFile::read(path, Verified::All)
    }

    /// Opens a take without reading its frames, which takes milliseconds however long it is: they are verified when they are loaded.
    pub fn open_quickly(path: &Path) -> Result<TakeFile, ReadError> {
        register_input(path);
        TakeFile::read(path, Verified::Ends)
    }

    /// Opens a take as [`TakeFile::open`] does, but does not register it as an input: outputs may replace it.
    pub fn open_to_replace(path: &Path) -> Result<TakeFile, ReadError> {
        TakeFile::read(path, Verified::All)
    }

    fn read(path: &Path, verified: Verified) -> Result<TakeFile, ReadError> {
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

        // then frames and changes of versions
        let edits = recipe.scene_file().map(|file| file.edit).unwrap_or_default();
        let history = History::new(recipe.settings.fps, edits, recipe.settings.seconds);
        let mut take = TakeFile {
            path: path.to_owned(),
            recipe,
            history,
            places: Places::default(),
            sizes: None,
            damage: None,
            valid_bytes: HEADER_BYTES + chunk::FRAME_BYTES + chunk.bytes.len() as u64,
            checksum: chunk.checksum,
            file_bytes,
        };
        take.find_chunks(&mut file, verified).map_err(|error| fault(format!("cannot be read: {error}")))?;
        Ok(take)
    }

    /// Finds all chunks, up to the first damaged one.
    fn find_chunks(&mut self, file: &mut BufReader<File>, verified: Verified) -> std::io::Result<()> {
        while self.valid_bytes < self.file_bytes && self.damage.is_none() {
            let left = self.file_bytes - self.valid_bytes;
            let found = match self.next_chunk(file, left, verified) {
                Ok((kind, bytes, length, checksum)) => {
                    self.add(kind, &bytes, left).map(|()| (length, checksum))
                }
                Err(ChunkFault::Damaged(what)) => Err(what),
                Err(ChunkFault::Unreadable(error)) => return Err(error),
            };
            match found {
                Ok((length, checksum)) => {
                    self.checksum = checksum;
                    self.valid_bytes += chunk::FRAME_BYTES + length;
                }
                Err(what) => {
                    self.damage = Some(TakeEnding::Damaged { at: self.valid_bytes, bytes: left, what });
                }
            }
        }
        Ok(())
    }

    /// Kind, contents or their first bytes, length of the contents and checksum of the next chunk.
    fn next_chunk(
        &self,
        file: &mut BufReader<File>,
        left: u64,
        verified: Verified,
    ) -> Result<(ChunkKind, Vec<u8>, u64, u64), ChunkFault> {
        if verified == Verified::Ends {
            let ends = chunk::skim(file, left)?;
            let is_last = chunk::FRAME_BYTES + ends.length == left;
            if matches!(ends.kind, ChunkKind::Frames | ChunkKind::States) && !is_last {
                return Ok((ends.kind, ends.start, ends.length, ends.checksum));
            }
            file.seek(SeekFrom::Start(self.valid_bytes)).map_err(ChunkFault::Unreadable)?;
        }
        let found = chunk::read(file, left, self.checksum)?;
        let length = found.bytes.len() as u64;
        Ok((found.kind, found.bytes, length, found.checksum))
    }

    /// Adds a chunk with these contents, or with at least the first bytes of frames.
    fn add(&mut self, kind: ChunkKind, bytes: &[u8], left: u64) -> Result<(), String> {
        match kind {
            ChunkKind::Recipe => return Err("there is a second scene".into()),
            ChunkKind::Frames | ChunkKind::States => {
                let wrong = "the size of a chunk of frames is wrong";
                let (first, count, last_time) = self.range_of(kind, bytes).ok_or(wrong)?;
                if first != self.frame_count() {
                    return Err("a chunk of frames does not continue the one before".into());
                }
                let place = Place {
                    kind,
                    offset: self.valid_bytes,
                    left,
                    before: self.checksum,
                    first,
                    count,
                    last_time,
                };
                self.history.add_frames(count);
                self.places.add(self.history.head_id(), place);
            }
            ChunkKind::History => self.revise(&Revision::read(bytes)?)?,
            ChunkKind::End => self.places.set_complete(self.history.head_id(), true),
        }
        Ok(())
    }

    /// First frame, number of frames and time of the last one of a chunk; `None` if it is not sound.
    fn range_of(&mut self, kind: ChunkKind, bytes: &[u8]) -> Option<(usize, usize, f64)> {
        // no chunk of frames is as short as what is skimmed of it
        let is_whole = bytes.len() > chunk::SKIMMED;
        match kind {
            ChunkKind::States if is_whole => StatesHead::read(bytes).and_then(|_| StatesHead::range(bytes)),
            ChunkKind::Frames if is_whole => {
                let head = FramesHead::read(bytes)?;
                let is_same = *self.sizes.get_or_insert(head.sizes.clone()) == head.sizes;
                is_same.then(|| (head.first, head.count, head.last_time(bytes).unwrap_or(f64::NAN)))
            }
            // the two kinds begin alike, but for the time
            ChunkKind::Frames => StatesHead::range(bytes).map(|(first, count, _)| (first, count, f64::NAN)),
            _ => StatesHead::range(bytes),
        }
    }

    /// Takes a change of versions into effect.
    fn revise(&mut self, revision: &Revision) -> Result<(), String> {
        revision.apply(&mut self.history)?;
        let head = self.history.head_id();
        match revision {
            Revision::Version(version) => {
                let is_whole = version.frame_count >= self.history.frame_goal();
                let shares = version.shared.is_some_and(|(id, _)| self.places.is_complete(id));
                self.places.set_complete(head, is_whole && shares);
            }
            Revision::Length(_) => self.places.set_complete(head, false),
            Revision::First(..) | Revision::Head(_) => {}
        }
        Ok(())
    }

    /// Follows a change that was appended to the file as a chunk of so many bytes.
    pub(super) fn follow(&mut self, revision: &Revision, bytes: u64, checksum: u64) -> Result<(), String> {
        self.revise(revision)?;
        self.damage = None;
        self.valid_bytes += bytes;
        self.checksum = checksum;
        self.file_bytes = self.valid_bytes;
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

    /// Its versions, with their edits.
    pub fn history(&self) -> &History<EditTable> {
        &self.history
    }

    /// How it ends.
    pub fn ending(&self) -> &TakeEnding {
        match &self.damage {
            Some(damage) => damage,
            None if self.is_complete() => &TakeEnding::Complete,
            None => &TakeEnding::Unfinished,
        }
    }

    /// Whether all frames of the current version are recorded.
    pub(super) fn is_complete(&self) -> bool {
        self.places.is_complete(self.history.head_id())
    }

    /// The number of valid frames, including the first.
    pub fn frame_count(&self) -> usize {
        self.history.head().frame_count
    }

    /// The number of frames of the complete take, including the first.
    pub fn frame_goal(&self) -> usize {
        self.history.frame_goal()
    }

    /// The time of the last valid frame (s).
    pub fn last_time(&self) -> f64 {
        let nominal = self.frame_count().saturating_sub(1) as f64 / self.recipe.settings.fps;
        let last = self.places.last(&self.history, self.history.head_id());
        last.filter(|span| span.count == span.place.count && span.place.last_time.is_finite())
            .map_or(nominal, |span| span.place.last_time)
    }

    /// The size of the file (bytes).
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Bytes of the frames that a version has recorded itself.
    pub fn version_bytes(&self, id: VersionId) -> u64 {
        self.places.own(id).iter().map(|place| self.chunk_bytes(place)).sum()
    }

    /// The size of a chunk of frames: up to the next one of its version, or what its own head says.
    fn chunk_bytes(&self, place: &Place) -> u64 {
        let mut head = [0; 16];
        let read = self.reopen().ok().and_then(|mut file| {
            file.seek(SeekFrom::Start(place.offset)).ok()?;
            file.read_exact(&mut head).ok()
        });
        read.map_or(0, |()| chunk::FRAME_BYTES + chunk::number(&head[8..]))
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
        self.frame_count().checked_sub(1).map_or(Ok(None), |frame| self.bookmark_at(frame))
    }

    /// The bookmark at a frame: its exact state, from which the simulation can continue. Takes of older formats have one at every sixteenth frame only, and for others the last one before the frame
    /// is returned. `None` if the frame is not recorded.
    pub fn bookmark_at(&self, frame: usize) -> Result<Option<Bookmark>, ReadError> {
        let spans = self.places.spans(&self.history, self.history.head_id());
        let Some(at) = spans.iter().position(|span| span.frames().contains(&frame)) else {
            return Ok(None);
        };
        let mut file = self.reopen()?;
        for span in spans[..=at].iter().rev() {
            let place = &span.place;
            if place.kind == ChunkKind::States {
                let bytes = self.chunk_at(&mut file, place)?;
                let index = frame.min(span.frames().end - 1) - place.first;
                let bookmark = StatesHead::read(&bytes).and_then(|head| head.bookmark_at(&bytes, index));
                return bookmark.map(Some).ok_or_else(|| self.changed(place));
            }
            // the bookmark of an older format is at the end of its chunk
            if place.first + place.count - 1 <= frame && span.count == place.count {
                let bytes = self.chunk_at(&mut file, place)?;
                let bookmark = FramesHead::read(&bytes).and_then(|head| head.bookmark(&bytes));
                return bookmark.map(Some).ok_or_else(|| self.changed(place));
            }
        }
        Ok(None)
    }

    /// Fails for takes of older formats, which have bookmarks at some frames only.
    pub(super) fn check_bookmarks(&self) -> Result<(), ReadError> {
        let spans = self.places.spans(&self.history, self.history.head_id());
        if spans.iter().all(|span| span.place.kind == ChunkKind::States) {
            return Ok(());
        }
        let message =
            "this take was begun by an older version of sinew, which recorded no velocities: record it again";
        Err(ReadError::whole(message).within(&self.path))
    }

    /// The bookmarks of all valid frames, in order. One chunk is in memory at a time.
    pub(super) fn bookmarks(
        &self,
    ) -> Result<impl Iterator<Item = Result<Bookmark, ReadError>> + '_, ReadError> {
        self.check_bookmarks()?;
        let mut file = self.reopen()?;
        let spans = self.places.spans(&self.history, self.history.head_id());
        let frames = spans.into_iter().flat_map(move |span| {
            let read = self.chunk_at(&mut file, &span.place).and_then(|bytes| {
                let head = StatesHead::read(&bytes).ok_or_else(|| self.changed(&span.place))?;
                let all: Option<Vec<Bookmark>> = head.bookmarks(&bytes).take(span.count).collect();
                all.ok_or_else(|| self.changed(&span.place))
            });
            match read {
                Ok(bookmarks) => bookmarks.into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            }
        });
        Ok(frames)
    }

    /// All valid frames in order, as states; those of older formats have no velocities. One chunk is in memory at a time.
    pub fn states<'a>(
        &'a self,
        model: &'a Model,
    ) -> Result<impl Iterator<Item = Result<State, ReadError>> + 'a, ReadError> {
        Ok(self.states_from(0, model)?.map(|found| found.map(|(_, state)| state)))
    }

    /// The same from the chunk of a frame on, with the number of each frame.
    pub fn states_from<'a>(
        &'a self,
        frame: usize,
        model: &'a Model,
    ) -> Result<impl Iterator<Item = Result<(usize, State), ReadError>> + 'a, ReadError> {
        self.check_model(model)?;
        let mut file = self.reopen()?;
        let mut spans = self.places.spans(&self.history, self.history.head_id());
        spans.retain(|span| span.frames().end > frame);
        let frames = spans.into_iter().flat_map(move |span| {
            let states = self.chunk_at(&mut file, &span.place).and_then(|bytes| {
                let states = states_of(span.place.kind, &bytes, span.count, model);
                states.ok_or_else(|| self.changed(&span.place))
            });
            match states {
                Ok(states) => span.frames().zip(states).map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            }
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
        let message = "the file is damaged here, or has changed since it was opened: open it again";
        ReadError::byte(place.offset as usize, message).within(&self.path)
    }
}

/// The first states of a chunk; `None` if they are not of this model.
fn states_of(kind: ChunkKind, bytes: &[u8], count: usize, model: &Model) -> Option<Vec<State>> {
    if kind == ChunkKind::States {
        let head = StatesHead::read(bytes)?;
        let states = head.bookmarks(bytes).take(count).map(|found| found?.checkpoint.restore(model).ok());
        return states.collect();
    }
    let head = FramesHead::read(bytes).filter(|head| head.sizes == Sizes::of(model))?;
    (0..count).map(|i| head.frame(bytes, i)).collect()
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
