//! Takes that are not saved under a name yet: where they are recorded, and which ones an earlier run left behind.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A recorder writes frames when it has this many of them, or a second of work: no more is lost if the program is killed.
pub const MAX_LOST_FRAMES: usize = sinew_io::MAX_CHUNK_FRAMES;

/// The folder of takes without a name.
#[derive(Clone, Debug)]
pub struct Autosave {
    folder: PathBuf,
}

/// A take that an earlier run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostTake {
    /// Its file.
    pub path: PathBuf,
    /// How many frames are sound, and how many there were to be.
    pub frames: (usize, usize),
}

impl Autosave {
    /// Takes without a name are in a sub-folder of this one.
    pub fn in_folder(folder: &Path) -> Autosave {
        Autosave { folder: folder.join("unsaved") }
    }

    /// A file for a new take of an input.
    pub fn new_take(&self, input: &Path) -> PathBuf {
        // the recorder says why, if the folder cannot be made
        let _ = std::fs::create_dir_all(&self.folder);
        let stem =
            input.file_stem().map_or_else(|| "take".into(), |stem| stem.to_string_lossy().into_owned());
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let name = |i: u32| self.folder.join(format!("{stem}-{seconds}-{}-{i}.take", std::process::id()));
        (0..).map(name).find(|path| !path.exists()).unwrap_or_default()
    }

    /// Where characters that are built here are written.
    pub fn characters(&self) -> PathBuf {
        self.folder.with_file_name("characters")
    }

    /// The takes that are there and that no running program records, the last first.
    pub fn recoverable(&self) -> Vec<LostTake> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut found: Vec<(SystemTime, LostTake)> = paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "take"))
            .filter_map(|path| {
                let changed = path.metadata().and_then(|data| data.modified()).unwrap_or(UNIX_EPOCH);
                let take = sinew_io::TakeFile::open_quickly(&path).ok()?;
                // one that is being recorded is locked
                let frames = (take.frame_count(), take.frame_goal());
                sinew_io::TakeEditor::begin(take).ok()?;
                Some((changed, LostTake { path, frames }))
            })
            .collect();
        found.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
        found.into_iter().map(|(_, take)| take).collect()
    }

    /// Whether a file is one of the takes without a name.
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.folder)
    }
}
