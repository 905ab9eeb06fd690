//! Files that were read once, kept so that the same can be read again without them.
//!
//! Every reader gets a file's bytes from one place, [`crate::read_bytes`]. While [`CapturedFiles::keep`] runs, what that place
//! reads on this thread is kept too; while [`CapturedFiles::serve`] runs, it reads nothing from the disk and gives out what was kept. So a take can hold
//! all that its scene was made of, whichever reader asked for it, and readers need not know.

use crate::ReadError;
use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The bytes of files by their names, in the order in which they were first read.
///
/// Names are relative to the folder they were kept from, with `/` between folders; those outside of it keep the path they were read by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedFiles {
    /// One each, in the order in which they were first read.
    pub files: Vec<CapturedFile>,
}

/// One kept file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFile {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Arc<Vec<u8>>,
}

/// Where readers on this thread get files from.
enum Source {
    Disk,
    DiskKeeping { folder: PathBuf, kept: CapturedFiles },
    Kept(CapturedFiles),
}

thread_local! {
    static SOURCE: RefCell<Source> = const { RefCell::new(Source::Disk) };
}

impl CapturedFiles {
    /// Does some work and keeps every file that it reads through this crate on this thread. Names are relative to `folder`.
    pub fn keep<T>(folder: &Path, work: impl FnOnce() -> T) -> (T, CapturedFiles) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let scope =
            Scope::enter(Source::DiskKeeping { folder: folder.to_owned(), kept: CapturedFiles::default() });
        let done = work();
        match scope.leave() {
            Source::DiskKeeping { kept, .. } => (done, kept),
            Source::Disk | Source::Kept(_) => (done, CapturedFiles::default()),
        }
    }

    /// Does some work to which there are no files but the kept ones.
    pub fn serve<T>(&self, work: impl FnOnce() -> T) -> T {
        let _scope = Scope::enter(Source::Kept(self.clone()));
        work()
    }

    /// The files.
    pub fn files(&self) -> &[CapturedFile] {
        &self.files
    }

    /// The name under which the file of a path is kept when reading from `folder`.
    pub fn name_of(folder: &Path, path: &Path) -> String {
        // no folder at all is the one we are in
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let real_folder = folder.canonicalize();
        let within = match (path.strip_prefix(folder), &real_folder) {
            (Ok(within), _) => within,
            (Err(_), Ok(real_folder)) => path.strip_prefix(real_folder).unwrap_or(path),
            (Err(_), Err(_)) => path,
        };
        spell(within)
    }

    fn find(&self, name: &str) -> Option<Arc<Vec<u8>>> {
        self.files.iter().find(|file| file.name == name).map(|file| Arc::clone(&file.bytes))
    }
}

/// The bytes of a file, from wherever files come from now; `read` reads it from the disk.
pub(crate) fn bytes_of(
    path: &Path,
    read: impl FnOnce(&Path) -> Result<Vec<u8>, ReadError>,
) -> Result<Vec<u8>, ReadError> {
    SOURCE.with_borrow_mut(|source| match source {
        Source::Disk => read(path),
        Source::DiskKeeping { folder, kept } => {
            let name = CapturedFiles::name_of(folder, path);
            // a file that is read twice is the same both times
            if let Some(bytes) = kept.find(&name) {
                return Ok(bytes.to_vec());
            }
            let bytes = read(path)?;
            kept.files.push(CapturedFile { name, bytes: Arc::new(bytes.clone()) });
            Ok(bytes)
        }
        Source::Kept(kept) => kept.find(&spell(path)).map(|bytes| bytes.to_vec()).ok_or_else(|| {
            ReadError::whole("is not among the files that were kept: the take was recorded without it")
                .within(path)
        }),
    })
}

/// The one spelling of a path on the disk; none for kept files, which have one anyway.
pub fn real_path(path: &Path) -> Option<PathBuf> {
    let kept = SOURCE.with_borrow(|source| matches!(source, Source::Kept(_)));
    if kept { None } else { path.canonicalize().ok() }
}

/// A path in words that any system understands.
fn spell(path: &Path) -> String {
    let mut name = String::new();
    for part in path.components().filter(|part| !matches!(part, Component::CurDir)) {
        if !name.is_empty() && !name.ends_with('/') {
            name.push('/');
        }
        match part {
            Component::RootDir => name.push('/'),
            other => name.push_str(&other.as_os_str().to_string_lossy()),
        }
    }
    name
}

/// A source for as long as some work is done; the one before it comes back afterwards, also if the work panics.
struct Scope {
    before: Option<Source>,
}

impl Scope {
    fn enter(source: Source) -> Scope {
        Scope { before: Some(SOURCE.replace(source)) }
    }

    /// Ends the work and gives back what it was done with.
    fn leave(mut self) -> Source {
        SOURCE.replace(self.before.take().unwrap_or(Source::Disk))
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            SOURCE.set(before);
        }
    }
}
