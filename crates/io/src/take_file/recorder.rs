//! Records a take to disk while it is simulated.

use crate::scene_schema::EditTable;
use crate::take_file::chunk::{self, ChunkKind};
use crate::take_file::reader::{TakeEnding, TakeFile};
use crate::take_file::recipe::TakeRecipe;
use crate::take_file::revision::Revision;
use crate::take_file::states::StatesWriter;
use sinew_files::{AtomicFile, has_name, refused};
use sinew_take::{Player, SinkError, StateSink};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A chunk is written when it has this many frames: the first of them cannot be predicted from the one before, and loading the last one reads them all.
pub const MAX_CHUNK_FRAMES: usize = 16;
/// Or when it is this large (bytes), which limits the memory that large models take.
const MAX_BYTES: usize = 4 << 20;
/// Or when this time has passed since the last chunk: besides one frame, the most work that a crash costs. Simulations at less than 16 frames per second have smaller chunks for it.
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// Which existing file a new take may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// A complete take. Any other file is an error, so that the rest of a long simulation after a crash is not lost by mistake.
    ReplaceComplete,
    /// Any file.
    ReplaceAny,
}

/// Records a take into a file.
///
/// A new take appears under its name with its first frame; until then an existing file stays. From then on the file is valid at any time, up
/// to its last complete chunk.
#[derive(Debug)]
pub struct TakeRecorder {
    target: PathBuf,
    place: Place,
    /// Whether the take has appeared under its name.
    is_named: bool,
    /// The offset of the next chunk (bytes).
    valid_bytes: u64,
    /// The checksum of the chunk before it.
    checksum: u64,
    /// The chunk that is being filled.
    states: StatesWriter,
    /// The chunk that is being written.
    chunk: Vec<u8>,
    /// The next frame to record.
    next_frame: usize,
    last_chunk: Instant,
    last_sync: Instant,
}

#[derive(Debug)]
enum Place {
    /// The take has not appeared under its name yet.
    Pending(AtomicFile, Existing),
    Named(File),
    /// A write has failed.
    Lost,
}

impl TakeRecorder {
    /// Checks, before long work, whether a new take may be written to this path. The error is a message for the user.
    pub fn check(target: &Path, existing: Existing) -> io::Result<()> {
        check_existing(target, existing)?;
        AtomicFile::create(target).map(drop)
    }

    /// Begins a new take. Fails at once, with a message for the user, if the target cannot be written or must not be replaced.
    pub fn create(target: &Path, recipe: &TakeRecipe, existing: Existing) -> io::Result<TakeRecorder> {
        TakeRecorder::create_edited(target, recipe, None, existing)
    }

    /// The same with other edits than those of the scene file.
    pub fn create_edited(
        target: &Path,
        recipe: &TakeRecipe,
        edits: Option<&[EditTable]>,
        existing: Existing,
    ) -> io::Result<TakeRecorder> {
        check_existing(target, existing)?;
        let mut file = AtomicFile::create(target)?;
        let (header, before) = chunk::header(chunk::VERSION);
        file.write_all(&header)?;
        let mut first = Vec::new();
        chunk::begin(ChunkKind::Recipe, &mut first);
        recipe.write(&mut first);
        let mut checksum = chunk::close(before, &mut first);
        file.write_all(&first)?;
        let mut valid_bytes = (header.len() + first.len()) as u64;
        if let Some(edits) = edits {
            chunk::begin(ChunkKind::History, &mut first);
            Revision::First(edits.to_vec(), recipe.settings.seconds).write(&mut first);
            checksum = chunk::close(checksum, &mut first);
            file.write_all(&first)?;
            valid_bytes += first.len() as u64;
        }
        Ok(TakeRecorder::at(target, Place::Pending(file, existing), valid_bytes, checksum, 0))
    }

    /// Resumes a take after its last valid frame. A damaged end is removed only when the next frames are written.
    pub fn resume(take: &TakeFile) -> io::Result<TakeRecorder> {
        let target = take.path();
        let refuse = |error: io::Error| refused(target, &error);
        let file = OpenOptions::new().read(true).write(true).open(target).map_err(refuse)?;
        lock(&file, target)?;
        if file.metadata().map_err(refuse)?.len() != take.file_bytes {
            return Err(recorded_elsewhere(target));
        }
        Ok(TakeRecorder::go_on(take, file))
    }

    /// Records the frames after the last valid one of a take into its file, which is locked.
    pub(super) fn go_on(take: &TakeFile, file: File) -> TakeRecorder {
        let (bytes, checksum) = (take.valid_bytes, take.checksum);
        TakeRecorder::at(take.path(), Place::Named(file), bytes, checksum, take.frame_count())
    }

    fn at(target: &Path, place: Place, valid_bytes: u64, checksum: u64, next_frame: usize) -> TakeRecorder {
        TakeRecorder {
            target: target.to_owned(),
            is_named: matches!(place, Place::Named(_)),
            place,
            valid_bytes,
            checksum,
            states: StatesWriter::default(),
            chunk: Vec::new(),
            next_frame,
            last_chunk: Instant::now(),
            last_sync: Instant::now(),
        }
    }

    /// Writes the frames of the current chunk.
    fn write_frames(&mut self) -> io::Result<()> {
        chunk::begin(ChunkKind::States, &mut self.chunk);
        self.states.write(&mut self.chunk);
        self.write_chunk()
    }

    /// Appends the current chunk to the file; if that fails, the part that was written is removed again.
    fn write_chunk(&mut self) -> io::Result<()> {
        let checksum = chunk::close(self.checksum, &mut self.chunk);
        let written = match core::mem::replace(&mut self.place, Place::Lost) {
            Place::Pending(file, existing) => begin_named(file, existing, &self.target, &self.chunk),
            Place::Named(mut file) => {
                append(&mut file, &self.target, self.valid_bytes, &self.chunk).map(|()| file)
            }
            Place::Lost => Err(io::Error::other("an earlier write failed")),
        };
        self.place = Place::Named(written?);
        self.is_named = true;
        self.valid_bytes += self.chunk.len() as u64;
        self.checksum = checksum;
        self.chunk.clear();
        self.last_chunk = Instant::now();
        if self.last_sync.elapsed() >= MAX_INTERVAL {
            self.sync()?;
        }
        Ok(())
    }

    /// Waits until everything written would survive a power failure.
    fn sync(&mut self) -> io::Result<()> {
        self.last_sync = Instant::now();
        match &self.place {
            Place::Named(file) => file.sync_data().and_then(|()| check_name(file, &self.target)),
            Place::Pending(..) | Place::Lost => Ok(()),
        }
    }

    fn fail(&mut self, error: &io::Error) -> SinkError {
        self.place = Place::Lost;
        let message = refused(&self.target, error);
        // a deleted take cannot be resumed
        let is_lost = matches!(error.kind(), io::ErrorKind::NotFound);
        SinkError(match self.is_named && !is_lost {
            true => format!(
                "{message}; the frames recorded so far are kept, and `sinew simulate --resume {}` continues from there",
                self.target.display()
            ),
            false => message.to_string(),
        })
    }
}

impl StateSink for TakeRecorder {
    fn frame(&mut self, player: &Player) -> Result<(), SinkError> {
        // the frame that a take resumes from is already recorded
        if player.frame() < self.next_frame {
            return Ok(());
        }
        self.states.add(&player.bookmark());
        self.next_frame = player.frame() + 1;
        // the first frame is written at once, so that the preroll need not be repeated
        let is_due = matches!(self.place, Place::Pending(..))
            || self.states.frame_count() >= MAX_CHUNK_FRAMES
            || self.states.bytes() >= MAX_BYTES
            || self.last_chunk.elapsed() >= MAX_INTERVAL;
        if is_due { self.write_frames().map_err(|error| self.fail(&error)) } else { Ok(()) }
    }

    fn finish(&mut self, player: &Player) -> Result<(), SinkError> {
        let written = match self.states.frame_count() {
            0 => Ok(()),
            _ => self.write_frames(),
        };
        let ended = written.and_then(|()| {
            chunk::begin(ChunkKind::End, &mut self.chunk);
            self.chunk.extend_from_slice(&(self.next_frame as u64).to_le_bytes());
            self.chunk.extend_from_slice(&player.state.hash().to_le_bytes());
            self.write_chunk()
        });
        ended.and_then(|()| self.sync()).map_err(|error| self.fail(&error))
    }

    fn interrupt(&mut self, player: &Player) {
        let is_last = player.frame() + 1 == self.next_frame;
        if self.states.frame_count() > 0 && is_last && matches!(self.place, Place::Named(_)) {
            // an error here would hide the reason of the interruption
            let _ = self.write_frames().and_then(|()| self.sync());
        }
    }
}

/// Writes the first frames of a take and makes it appear under its name.
fn begin_named(mut file: AtomicFile, existing: Existing, target: &Path, chunk: &[u8]) -> io::Result<File> {
    file.write_all(chunk)?;
    // the file there may have changed before the first frame was simulated
    check_existing(target, existing)?;
    let file = file.appear()?;
    lock(&file, target)?;
    Ok(file)
}

/// Writes a chunk at an offset and truncates the file after it, or leaves the file unchanged up to that offset.
pub(super) fn append(file: &mut File, target: &Path, at: u64, chunk: &[u8]) -> io::Result<()> {
    let written = (|| {
        check_name(file, target)?;
        if file.metadata()?.len() != at {
            file.set_len(at)?;
        }
        file.seek(SeekFrom::Start(at))?;
        file.write_all(chunk)
    })();
    if written.is_err() {
        // the checksum reveals an incomplete chunk, so this may fail too
        let _ = file.set_len(at);
    }
    written
}

/// Fails if the take was deleted or replaced during the recording.
fn check_name(file: &File, target: &Path) -> io::Result<()> {
    if has_name(file, target) {
        return Ok(());
    }
    let message =
        "the take was deleted or replaced during the recording, and its frames are lost: record it again";
    Err(io::Error::new(io::ErrorKind::NotFound, message))
}

fn check_existing(target: &Path, existing: Existing) -> io::Result<()> {
    let Ok(file) = File::open(target) else { return Ok(()) };
    let metadata = file.metadata().map_err(|error| refused(target, &error))?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(());
    }
    if cfg!(unix) && matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return Err(recorded_elsewhere(target));
    }
    let stays = |what: String| {
        let message = format!("cannot write {}: {what}", target.display());
        Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
    };
    match (existing, TakeFile::open_to_replace(target)) {
        (Existing::ReplaceAny, _) => Ok(()),
        (_, Ok(take)) if *take.ending() == TakeEnding::Complete => Ok(()),
        (_, Ok(take)) => stays(format!(
            "the file is an unfinished take with {} of {} frames; `sinew simulate --resume {}` continues it, --force replaces it",
            take.frame_count(),
            take.frame_goal(),
            target.display()
        )),
        (_, Err(_)) => stays("the file there is not a readable take; --force replaces it".into()),
    }
}

/// Locks the file against other recorders. Does nothing where the locks of the system would also block readers, or do not exist.
pub(super) fn lock(file: &File, target: &Path) -> io::Result<()> {
    match cfg!(unix).then(|| file.try_lock()) {
        Some(Err(TryLockError::WouldBlock)) => Err(recorded_elsewhere(target)),
        _ => Ok(()),
    }
}

pub(super) fn recorded_elsewhere(target: &Path) -> io::Error {
    let message = format!("cannot write {}: another process is recording it", target.display());
    io::Error::new(io::ErrorKind::WouldBlock, message)
}
