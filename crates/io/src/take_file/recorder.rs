//! Writes a take while it is simulated.

use crate::take_file::chunk::{self, ChunkKind};
use crate::take_file::frames::{self, Sizes};
use crate::take_file::reader::{TakeEnding, TakeFile};
use crate::take_file::recipe::TakeRecipe;
use sinew_files::{AtomicFile, has_name, refused};
use sinew_take::{Player, SinkError, StateSink};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A chunk is written when it has this many frames: a bookmark is as large as two frames and adds an eighth to them.
const MAX_FRAMES: usize = 16;
/// Or when it is this large (bytes), so that large models do not pile up in memory.
const MAX_BYTES: usize = 4 << 20;
/// Or when this time has passed since the last one: what a crash costs at most, besides one frame.
const LONGEST: Duration = Duration::from_secs(5);

/// What may happen to a file that has the name of a new take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// A complete take is replaced, anything else stays and is an error: what a crash has left of a long simulation is not lost by a slip.
    ReplaceComplete,
    /// Any file is replaced.
    ReplaceAny,
}

/// Records a take into a file.
///
/// A new take appears under its name with its first frame: until then whatever had that name stays. From then on the file is
/// sound at any time up to its last whole chunk.
#[derive(Debug)]
pub struct TakeRecorder {
    target: PathBuf,
    place: Place,
    /// Whether there is something of the take under its name.
    is_named: bool,
    /// Where the next chunk goes.
    sound_bytes: u64,
    /// The checksum of the chunk before it.
    checksum: u64,
    /// The chunk that is being filled.
    chunk: Vec<u8>,
    frames_in_chunk: usize,
    /// The first frame that is not yet recorded.
    next_frame: usize,
    last_chunk: Instant,
    last_sync: Instant,
}

#[derive(Debug)]
enum Place {
    /// Not under its name yet.
    Pending(AtomicFile, Existing),
    Named(File),
    /// Writing has failed.
    Lost,
}

impl TakeRecorder {
    /// Whether a new take may have this name, in words for the user if not. To be asked before long work.
    pub fn check(target: &Path, existing: Existing) -> io::Result<()> {
        check_existing(target, existing)?;
        AtomicFile::create(target).map(drop)
    }

    /// Begins a new take. Fails at once, in words for the user, if the target cannot be written or may not be replaced.
    pub fn create(target: &Path, recipe: &TakeRecipe, existing: Existing) -> io::Result<TakeRecorder> {
        check_existing(target, existing)?;
        let mut file = AtomicFile::create(target)?;
        let (header, before) = chunk::header(chunk::VERSION);
        file.write_all(&header)?;
        let mut first = Vec::new();
        chunk::begin(ChunkKind::Recipe, &mut first);
        recipe.write(&mut first);
        let checksum = chunk::close(before, &mut first);
        file.write_all(&first)?;
        let sound_bytes = (header.len() + first.len()) as u64;
        Ok(TakeRecorder::at(target, Place::Pending(file, existing), sound_bytes, checksum, 0))
    }

    /// Goes on with a take after its last sound frame. What is not sound is cut off when the next frames are written, not before.
    pub fn resume(take: &TakeFile) -> io::Result<TakeRecorder> {
        let target = take.path();
        let in_words = |error: io::Error| refused(target, &error);
        let file = OpenOptions::new().read(true).write(true).open(target).map_err(in_words)?;
        lock(&file, target)?;
        if file.metadata().map_err(in_words)?.len() != take.file_bytes {
            return Err(recorded_elsewhere(target));
        }
        let (bytes, checksum) = (take.sound_bytes, take.checksum);
        Ok(TakeRecorder::at(target, Place::Named(file), bytes, checksum, take.frame_count()))
    }

    fn at(target: &Path, place: Place, sound_bytes: u64, checksum: u64, next_frame: usize) -> TakeRecorder {
        TakeRecorder {
            target: target.to_owned(),
            is_named: matches!(place, Place::Named(_)),
            place,
            sound_bytes,
            checksum,
            chunk: Vec::new(),
            frames_in_chunk: 0,
            next_frame,
            last_chunk: Instant::now(),
            last_sync: Instant::now(),
        }
    }

    /// Writes the frames that have gathered, with a bookmark at the last of them.
    fn write_frames(&mut self, player: &Player) -> io::Result<()> {
        frames::set_count(&mut self.chunk[16..], self.frames_in_chunk);
        frames::write_bookmark(&player.bookmark(), &mut self.chunk);
        self.frames_in_chunk = 0;
        self.write_chunk()
    }

    /// Writes the chunk that was filled behind those before; if that fails, what was written of it is taken away again.
    fn write_chunk(&mut self) -> io::Result<()> {
        let checksum = chunk::close(self.checksum, &mut self.chunk);
        let written = match core::mem::replace(&mut self.place, Place::Lost) {
            Place::Pending(file, existing) => begin_named(file, existing, &self.target, &self.chunk),
            Place::Named(mut file) => {
                append(&mut file, &self.target, self.sound_bytes, &self.chunk).map(|()| file)
            }
            Place::Lost => Err(io::Error::other("an earlier write failed")),
        };
        self.place = Place::Named(written?);
        self.is_named = true;
        self.sound_bytes += self.chunk.len() as u64;
        self.checksum = checksum;
        self.chunk.clear();
        self.last_chunk = Instant::now();
        if self.last_sync.elapsed() >= LONGEST {
            self.sync()?;
        }
        Ok(())
    }

    /// Waits until all that was written would outlast a power failure.
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
        // what went with the name cannot be gone on with
        let is_lost = matches!(error.kind(), io::ErrorKind::NotFound);
        SinkError(match self.is_named && !is_lost {
            true => format!(
                "{message}; what was recorded before is kept, and `sinew simulate --resume {}` goes on from there once there is room",
                self.target.display()
            ),
            false => message.to_string(),
        })
    }
}

impl StateSink for TakeRecorder {
    fn frame(&mut self, player: &Player) -> Result<(), SinkError> {
        // the frame that a take is resumed from is there already
        if player.frame() < self.next_frame {
            return Ok(());
        }
        if self.frames_in_chunk == 0 {
            chunk::begin(ChunkKind::Frames, &mut self.chunk);
            Sizes::of(&player.model).write_head(player.frame(), &mut self.chunk);
        }
        frames::write_frame(&player.state, &mut self.chunk);
        self.frames_in_chunk += 1;
        self.next_frame = player.frame() + 1;
        // the first goes out at once: whatever came before it need not be done again
        let is_due = matches!(self.place, Place::Pending(..))
            || self.frames_in_chunk >= MAX_FRAMES
            || self.chunk.len() >= MAX_BYTES
            || self.last_chunk.elapsed() >= LONGEST;
        if is_due { self.write_frames(player).map_err(|error| self.fail(&error)) } else { Ok(()) }
    }

    fn finish(&mut self, player: &Player) -> Result<(), SinkError> {
        let written = match self.frames_in_chunk {
            0 => Ok(()),
            _ => self.write_frames(player),
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
        if self.frames_in_chunk > 0 && is_last && matches!(self.place, Place::Named(_)) {
            // the user hears why the take ended; that some frames of its end are missing too would only hide it
            let _ = self.write_frames(player).and_then(|()| self.sync());
        }
    }
}

/// Writes the first frames of a take and gives it its name.
fn begin_named(mut file: AtomicFile, existing: Existing, target: &Path, chunk: &[u8]) -> io::Result<File> {
    file.write_all(chunk)?;
    // what may be replaced may have changed while the simulation ran up to its first frame
    check_existing(target, existing)?;
    let file = file.appear()?;
    lock(&file, target)?;
    Ok(file)
}

/// Writes a chunk at its place and nothing behind it, or leaves the file as it was up to there.
fn append(file: &mut File, target: &Path, at: u64, chunk: &[u8]) -> io::Result<()> {
    let written = (|| {
        check_name(file, target)?;
        if file.metadata()?.len() != at {
            file.set_len(at)?;
        }
        file.seek(SeekFrom::Start(at))?;
        file.write_all(chunk)
    })();
    if written.is_err() {
        // a torn chunk is known by its checksum, so this may fail too
        let _ = file.set_len(at);
    }
    written
}

/// Fails if a take that is being recorded was deleted, or another file has its name.
fn check_name(file: &File, target: &Path) -> io::Result<()> {
    if has_name(file, target) {
        return Ok(());
    }
    let message =
        "it was deleted or replaced while it was recorded, and what it held is lost; record it again";
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
    match (existing, TakeFile::test(target)) {
        (Existing::ReplaceAny, _) => Ok(()),
        (_, Ok(take)) if *take.ending() == TakeEnding::Complete => Ok(()),
        (_, Ok(take)) => stays(format!(
            "it holds {} of {} frames of an unfinished take; `sinew simulate --resume {}` goes on with it, --force replaces it",
            take.frame_count(),
            take.frame_goal(),
            target.display()
        )),
        (_, Err(_)) => stays("it holds no take that can be read; --force replaces it".into()),
    }
}

/// Keeps other recorders off. Where the system's locks would keep readers off too, or there are none, nothing is done.
fn lock(file: &File, target: &Path) -> io::Result<()> {
    match cfg!(unix).then(|| file.try_lock()) {
        Some(Err(TryLockError::WouldBlock)) => Err(recorded_elsewhere(target)),
        _ => Ok(()),
    }
}

fn recorded_elsewhere(target: &Path) -> io::Error {
    let message = format!("cannot write {}: another process is recording it", target.display());
    io::Error::new(io::ErrorKind::WouldBlock, message)
}
