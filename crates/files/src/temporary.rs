//! Temporary files and folders beside outputs: a registry of those of this process, and the removal of what killed processes have left.
//!
//! Their names hold the machine and the process, `.sinew-MACHINE-PID-RANDOM.part`, and on Unix they are locked while they are in use. A process that ends by a signal removes what
//! is registered ([`remove_temporaries`]); what one that was killed has left is removed by the next that writes into the same folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{NamedTempFile, TempDir};

const PREFIX: &str = ".sinew-";
const SUFFIX: &str = ".part";

/// A registered temporary file or folder and what it will become.
struct Temporary {
    path: PathBuf,
    target: PathBuf,
}

static TEMPORARIES: Mutex<Vec<Temporary>> = Mutex::new(Vec::new());
/// Folders in which the files of killed processes were looked for.
static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporaries() -> MutexGuard<'static, Vec<Temporary>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place of a temporary file in the registry, until it is dropped.
#[derive(Debug)]
pub(crate) struct Registered(PathBuf);

impl Drop for Registered {
    fn drop(&mut self) {
        temporaries().retain(|temporary| temporary.path != self.0);
    }
}

/// A new file in `folder` that will become `target`.
pub(crate) fn create_file(folder: &Path, target: &Path) -> io::Result<(NamedTempFile, Registered)> {
    remove_stale(folder);
    let prefix = own_prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporaries = temporaries();
    let file = builder.tempfile_in(folder)?;
    temporaries.push(Temporary { path: file.path().to_owned(), target: target.to_owned() });
    lock(file.as_file());
    let registered = Registered(file.path().to_owned());
    Ok((file, registered))
}

/// A new folder in `folder` that will become `target`, with the handle that keeps it locked.
pub(crate) fn create_folder(folder: &Path, target: &Path) -> io::Result<(TempDir, Option<File>, Registered)> {
    remove_stale(folder);
    let prefix = own_prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    let mut temporaries = temporaries();
    let made = builder.tempdir_in(folder)?;
    temporaries.push(Temporary { path: made.path().to_owned(), target: target.to_owned() });
    let handle = if cfg!(unix) { File::open(made.path()).ok() } else { None };
    handle.iter().for_each(lock);
    let registered = Registered(made.path().to_owned());
    Ok((made, handle, registered))
}

/// Does something that must not be cut off half-way by [`remove_temporaries`], such as giving an output its name.
pub(crate) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _running = temporaries();
    work()
}

/// Whether an output has a temporary name still.
pub fn is_temporary(target: &Path) -> bool {
    temporaries().iter().any(|temporary| temporary.target == target)
}

/// Removes all temporary files and folders of this process, which must end now: whoever wants to create, rename or drop one waits for ever.
pub fn remove_temporaries() {
    let temporaries = temporaries();
    for Temporary { path, .. } in temporaries.iter() {
        // what is gone already need not be removed
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    core::mem::forget(temporaries);
}

/// A folder for what does not fit into memory, gone when it is dropped.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: TempDir,
    _handle: Option<File>,
    _registered: Registered,
}

impl ScratchFolder {
    /// A new folder in `parent`.
    pub fn create_in(parent: &Path) -> io::Result<ScratchFolder> {
        let (folder, handle, registered) = create_folder(parent, Path::new(""))?;
        Ok(ScratchFolder { folder, _handle: handle, _registered: registered })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// What the temporary names of this process begin with.
fn own_prefix() -> String {
    format!("{PREFIX}{}-{}-", machine(), std::process::id())
}

/// The name of this machine, as it may stand in a file name.
fn machine() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The process that a temporary name belongs to, if it is one of this machine.
fn process_of(name: &str) -> Option<u32> {
    let middle = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let [machine_name, process, _random] = middle.split('-').collect::<Vec<_>>().try_into().ok()?;
    if machine_name == machine() { process.parse().ok() } else { None }
}

/// Removes what processes of this machine that are gone have left in a folder; looked for once.
fn remove_stale(folder: &Path) {
    let Ok(folder) = folder.canonicalize() else { return };
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept.contains(&folder) {
        return;
    }
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let process = entry.file_name().to_str().and_then(process_of);
        if process.is_some_and(is_gone) && is_unlocked(&path) {
            // one that cannot be removed is in nobody's way
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
    swept.push(folder);
}

/// Whether there is no such process, for certain.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    let id = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    id.is_some_and(|id| rustix::process::test_kill_process(id) == Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_gone(_process: u32) -> bool {
    false
}

/// Keeps other processes from taking a file for one that was left, also if they cannot see ours.
fn lock(file: &File) {
    if cfg!(unix) {
        // a disk without locks has the process id still
        let _ = file.try_lock();
    }
}

fn is_unlocked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_says_whose_it_is() {
        let own = format!("{}xYz12{SUFFIX}", own_prefix());
        assert_eq!(process_of(&own), Some(std::process::id()));
        for name in [".sinew-abc.part", ".sinew-elsewhere_-1-a.part", ".sinew-", "a.glb", ".sinew-a-b-c.part"]
        {
            assert_eq!(process_of(name), None, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_a_process_that_is_gone_has_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        // a process that was waited for is gone
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let name = |process: u32, random: &str| format!("{PREFIX}{}-{process}-{random}{SUFFIX}", machine());
        fs::write(folder.path().join(name(child.id(), "aaaaaa")), "left").unwrap();
        fs::create_dir(folder.path().join(name(child.id(), "bbbbbb"))).unwrap();
        fs::write(folder.path().join(name(child.id(), "bbbbbb")).join("scene.take"), "left").unwrap();
        let locked = folder.path().join(name(child.id(), "cccccc"));
        let handle = File::create(&locked).unwrap();
        handle.lock().unwrap();
        let own = folder.path().join(name(std::process::id(), "dddddd"));
        fs::write(&own, "in use").unwrap();
        let elsewhere = folder.path().join(format!("{PREFIX}elsewhere_-{}-eeeeee{SUFFIX}", child.id()));
        fs::write(&elsewhere, "in use").unwrap();
        remove_stale(folder.path());
        let mut left: Vec<PathBuf> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        let mut expected = vec![locked, own, elsewhere];
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_scratch_folder_is_gone_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = ScratchFolder::create_in(folder.path()).unwrap();
        fs::write(scratch.path().join("a"), "a").unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
