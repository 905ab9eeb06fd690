//! Edits a recorded take: adds and removes edits, undoes and redoes them, extends it, and drops versions.
//!
//! Every change is one chunk, appended and synchronised before the call returns. A crash leaves the take with it or without it, never in between.

use crate::scene_schema::EditTable;
use crate::take_file::chunk::{self, ChunkKind};
use crate::take_file::reader::TakeFile;
use crate::take_file::recorder::{TakeRecorder, append, lock, recorded_elsewhere};
use crate::take_file::revision::Revision;
use crate::take_file::states::StatesWriter;
use sinew_files::{AtomicFile, refused};
use sinew_take::VersionId;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// A recorded take that is being edited, locked against other programs.
#[derive(Debug)]
pub struct TakeEditor {
    take: TakeFile,
    file: File,
}

/// Frames of a chunk that is copied.
const FRAMES_PER_CHUNK: usize = 16;

impl TakeEditor {
    /// Begins to edit a take. The error is a message for the user; another program that records or edits the take is one.
    pub fn begin(take: TakeFile) -> io::Result<TakeEditor> {
        let target = take.path();
        let refuse = |error: io::Error| refused(target, &error);
        let file = OpenOptions::new().read(true).write(true).open(target).map_err(refuse)?;
        lock(&file, target)?;
        if file.metadata().map_err(refuse)?.len() != take.file_bytes {
            return Err(recorded_elsewhere(target));
        }
        Ok(TakeEditor { take, file })
    }

    /// The take as it is now.
    pub fn take(&self) -> &TakeFile {
        &self.take
    }

    /// Ends editing.
    pub fn end(self) -> TakeFile {
        self.take
    }

    /// Goes on to record the current version.
    pub fn record(self) -> (TakeFile, TakeRecorder) {
        let TakeEditor { take, file } = self;
        let recorder = TakeRecorder::go_on(&take, file);
        (take, recorder)
    }

    /// Replaces the edits of the current version, which makes another version. It begins with all frames that an existing version has recorded under the same edits.
    pub fn set_edits(&mut self, edits: Vec<EditTable>) -> io::Result<VersionId> {
        let version = self.take.history().revised(edits);
        self.append(&Revision::Version(version))?;
        Ok(self.take.history().head_id())
    }

    /// Returns to the version that the current one was made from; `None` if it is the first.
    pub fn undo(&mut self) -> io::Result<Option<VersionId>> {
        let target = self.take.history().undo_target();
        target.map(|id| self.go_to(id)).transpose()
    }

    /// Returns to the version that undo left; `None` if there is none.
    pub fn redo(&mut self) -> io::Result<Option<VersionId>> {
        let target = self.take.history().redo_target();
        target.map(|id| self.go_to(id)).transpose()
    }

    /// Makes a version the current one.
    pub fn go_to(&mut self, id: VersionId) -> io::Result<VersionId> {
        self.append(&Revision::Head(id))?;
        Ok(id)
    }

    /// Extends the current version to a length (s).
    pub fn extend(&mut self, seconds: f64) -> io::Result<()> {
        self.append(&Revision::Length(seconds))
    }

    /// Appends a change and takes it into effect.
    fn append(&mut self, revision: &Revision) -> io::Result<()> {
        // a change that does not fit is not written
        let mut tried = self.take.history().clone();
        revision.apply(&mut tried).map_err(io::Error::other)?;

        let mut bytes = Vec::new();
        chunk::begin(ChunkKind::History, &mut bytes);
        revision.write(&mut bytes);
        let checksum = chunk::close(self.take.checksum, &mut bytes);
        let path = self.take.path().to_owned();
        let written = append(&mut self.file, &path, self.take.valid_bytes, &bytes);
        written.and_then(|()| self.file.sync_data()).map_err(|error| refused(&path, &error))?;
        self.take.follow(revision, bytes.len() as u64, checksum).map_err(io::Error::other)
    }

    /// Writes the take anew with its current version alone, which then is its only one, and replaces the file by it at once. Returns how many bytes that saved. The take must have been opened by
    /// [`TakeFile::open_to_replace`].
    pub fn drop_others(self) -> io::Result<(TakeFile, u64)> {
        self.take.check_bookmarks().map_err(io::Error::other)?;
        let path = self.take.path().to_owned();
        let before = self.take.file_bytes;
        let mut copy = Copy { file: AtomicFile::create(&path)?, checksum: 0, chunk: Vec::new() };
        copy.write_take(&self.take)?;
        copy.file.commit()?;
        let take = TakeFile::open(&path).map_err(io::Error::other)?;
        let saved = before.saturating_sub(take.file_bytes);
        Ok((take, saved))
    }
}

/// A take that is written anew.
struct Copy {
    file: AtomicFile,
    checksum: u64,
    chunk: Vec<u8>,
}

impl Copy {
    fn write_take(&mut self, take: &TakeFile) -> io::Result<()> {
        // header and recipe
        let (header, checksum) = chunk::header(chunk::VERSION);
        self.file.write_all(&header)?;
        self.checksum = checksum;
        chunk::begin(ChunkKind::Recipe, &mut self.chunk);
        take.recipe().write(&mut self.chunk);
        self.close()?;

        // edits and length, which the recipe does not have
        let head = take.history().head();
        chunk::begin(ChunkKind::History, &mut self.chunk);
        Revision::First(head.edits.clone(), head.seconds).write(&mut self.chunk);
        self.close()?;

        // frames
        let mut writer = StatesWriter::default();
        for bookmark in take.bookmarks().map_err(io::Error::other)? {
            writer.add(&bookmark.map_err(io::Error::other)?);
            if writer.frame_count() == FRAMES_PER_CHUNK {
                self.write_states(&mut writer)?;
            }
        }
        if writer.frame_count() > 0 {
            self.write_states(&mut writer)?;
        }
        if take.is_complete() {
            chunk::begin(ChunkKind::End, &mut self.chunk);
            self.chunk.extend_from_slice(&(take.frame_count() as u64).to_le_bytes());
            self.chunk.extend_from_slice(&[0; 8]);
            self.close()?;
        }
        Ok(())
    }

    fn write_states(&mut self, writer: &mut StatesWriter) -> io::Result<()> {
        chunk::begin(ChunkKind::States, &mut self.chunk);
        writer.write(&mut self.chunk);
        self.close()
    }

    fn close(&mut self) -> io::Result<()> {
        self.checksum = chunk::close(self.checksum, &mut self.chunk);
        self.file.write_all(&self.chunk)
    }
}
