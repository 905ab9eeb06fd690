//! The registry of every file that this process has read, so that no output replaces one of them.
//!
//! [`crate::read_bytes`] and the reader of takes register what they open; outputs ask before they are begun and again before they get their names.
//! Paths are registered, not inodes: a number may belong to another file once the first is gone. Files that the process has written itself are its own and not registered.

use crate::file_id::FileId;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Canonical paths of what was read and of what was written.
struct Registry {
    read: Vec<PathBuf>,
    written: Vec<PathBuf>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { read: Vec::new(), written: Vec::new() });

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a file that this process reads, unless the process has written it itself. Paths that lead to no file are passed over.
pub fn register_input(path: &Path) {
    let Some(path) = path.canonicalize().ok().filter(|path| path.is_file()) else { return };
    let mut registry = registry();
    if !registry.written.contains(&path) && !registry.read.contains(&path) {
        registry.read.push(path);
    }
}

/// Registers an output of this process, which it may read and replace again.
pub(crate) fn register_written(path: &Path) {
    let Ok(path) = path.canonicalize() else { return };
    let mut registry = registry();
    if !registry.written.contains(&path) {
        registry.written.push(path);
    }
}

/// Forgets what was read: for processes that begin something new, after which earlier inputs may be replaced.
pub fn forget_inputs() {
    registry().read.clear();
}

/// The input that writing a file or folder at `target` would replace, by its canonical path. A folder is replaced with all that is in it.
pub fn input_at(target: &Path) -> Option<PathBuf> {
    let own = FileId::of(target)?;
    let inputs: Vec<(FileId, PathBuf)> =
        registry().read.iter().filter_map(|path| Some((FileId::of(path)?, path.clone()))).collect();
    let find = |id: FileId| inputs.iter().find(|(input, _)| *input == id).map(|(_, path)| path.clone());
    if !target.is_dir() {
        return find(own);
    }
    let folder = target.canonicalize().ok()?;
    let inside = inputs.iter().find(|(_, path)| path.starts_with(&folder)).map(|(_, path)| path.clone());
    let linked = || fs::read_dir(target).ok()?.flatten().find_map(|entry| find(FileId::of(&entry.path())?));
    inside.or_else(linked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_found_under_every_name_and_inside_of_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("in/deep")).unwrap();
        fs::create_dir(at("links")).unwrap();
        fs::write(at("in/deep/a.obj"), "v").unwrap();
        register_input(&at("in/../in/deep/a.obj"));
        let input = at("in/deep/a.obj").canonicalize().unwrap();
        assert_eq!(input_at(&at("in/deep/a.obj")), Some(input.clone()));
        assert_eq!(input_at(&at("in")), Some(input.clone()));
        assert_eq!(input_at(&at("links")), None);
        assert_eq!(input_at(&at("in/deep/b.obj")), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("in/deep/a.obj"), at("soft.obj")).unwrap();
            fs::hard_link(at("in/deep/a.obj"), at("links/hard.obj")).unwrap();
            for name in ["soft.obj", "links/hard.obj", "links"] {
                assert_eq!(input_at(&at(name)), Some(input.clone()), "{name}");
            }
        }
    }

    #[test]
    fn what_the_process_has_written_it_may_read_and_replace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.glb");
        fs::write(&path, "a").unwrap();
        register_written(&path);
        register_input(&path);
        assert_eq!(input_at(&path), None);
    }
}
