//! Output that appears whole under its name, or not at all.
//!
//! A pending file or folder is written under a temporary name beside its target, on the same disk, and
//! renamed at the end. Dropped earlier it takes away what it made; a crash leaves at most the temporary
//! name, never half a result. Creating one finds out at once whether the target can be written; what may not be
//! replaced ([`crate::plan_outputs`]) is asked then and again at the end.

use crate::output_plan::check_planned;
use crate::run_inputs::register_written;
use crate::temporary::{self, Registered, uninterrupted};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// A file that will appear under its name once it is whole.
#[derive(Debug)]
pub struct AtomicFile {
    writer: BufWriter<NamedTempFile>,
    registered: Registered,
    target: PathBuf,
}

/// A file of which all is written but its name.
struct Settled {
    file: NamedTempFile,
    _registered: Registered,
    target: PathBuf,
}

impl AtomicFile {
    /// Prepares to write `target`. Fails, in words for the user, if the folder is missing or cannot be
    /// written, if the target is a folder, or if what has its name may not be replaced.
    pub fn create(target: &Path) -> io::Result<AtomicFile> {
        if target.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                format!("cannot write {}: it is a folder; give a file name in it", target.display()),
            ));
        }
        // a device would be replaced by a file of its name
        if target.exists() && !target.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("cannot write {}: it is not an ordinary file; give another name", target.display()),
            ));
        }
        check_planned(target)?;
        let parent = parent_of(target)?;
        let (file, registered) =
            temporary::create_file(parent, target).map_err(|error| refused(target, &error))?;
        let writer = BufWriter::with_capacity(1 << 18, file);
        Ok(AtomicFile { writer, registered, target: target.to_owned() })
    }

    /// The name the file will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The name the file has while it is written, for programs that write it themselves.
    pub fn part(&self) -> &Path {
        self.writer.get_ref().path()
    }

    /// A file without a name on the same disk, gone when it is dropped, for what does not fit into memory.
    pub fn scratch(&self) -> io::Result<File> {
        let parent = parent_of(&self.target)?;
        tempfile::tempfile_in(parent).map_err(|error| refused(&self.target, &error))
    }

    /// Gives the file its name, replacing what had it; all of it has reached the disk by then. If what has the name by now may not be
    /// replaced, the file gets a name beside it, which the error tells.
    pub fn commit(self) -> io::Result<()> {
        AtomicFile::commit_all([self])
    }

    /// Gives files that belong together their names, once all of them have reached the disk: a full disk
    /// leaves none of them.
    pub fn commit_all(files: impl IntoIterator<Item = AtomicFile>) -> io::Result<()> {
        let settled = files.into_iter().map(|file| file.settle(true)).collect::<io::Result<Vec<_>>>()?;
        // all get a name, and the first that is not its own is told
        let named: Vec<io::Result<()>> = settled.into_iter().map(Settled::take_name).collect();
        named.into_iter().collect()
    }

    /// Gives the file its name while there is more to be written to it. It has reached the disk only if something was replaced that had.
    pub fn appear(self) -> io::Result<File> {
        check_planned(&self.target)?;
        let replaces = self.target.exists();
        self.settle(replaces)?.persist()
    }

    /// Hands on all of the file, and brings it to the disk if it must last.
    fn settle(self, must_last: bool) -> io::Result<Settled> {
        let AtomicFile { writer, registered, target } = self;
        let in_words = |error: io::Error| refused(&target, &error);
        let file = writer.into_inner().map_err(|error| in_words(error.into_error()))?;
        if must_last {
            file.as_file().sync_all().map_err(in_words)?;
        }
        Ok(Settled { file, _registered: registered, target })
    }
}

impl Settled {
    /// Gives the file its name, or one beside it if what has the name may not be replaced.
    fn take_name(self) -> io::Result<()> {
        let Err(error) = check_planned(&self.target) else { return self.persist().map(drop) };
        let free = free_name(&self.target);
        uninterrupted(|| self.file.persist_noclobber(&free)).map_err(|error| refused(&free, &error.error))?;
        Err(io::Error::new(error.kind(), format!("{error}; what was to be written is in {}", free.display())))
    }

    fn persist(self) -> io::Result<File> {
        let Settled { file, target, .. } = self;
        let file = uninterrupted(|| file.persist(&target)).map_err(|error| refused(&target, &error.error))?;
        register_written(&target);
        Ok(file)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes).map_err(|error| refused(&self.target, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(|error| refused(&self.target, &error))
    }
}

/// A folder of files that will appear under its name once it is whole.
#[derive(Debug)]
pub struct AtomicFolder {
    folder: TempDir,
    _handle: Option<File>,
    _registered: Registered,
    target: PathBuf,
    replaceable: fn(&str) -> bool,
}

impl AtomicFolder {
    /// Prepares to write the folder `target`. A folder of that name is replaced if `replaceable` says so
    /// of every name in it; otherwise this is an error that names the first file in the way.
    pub fn create(target: &Path, replaceable: fn(&str) -> bool) -> io::Result<AtomicFolder> {
        check_folder(target, replaceable)?;
        let parent = parent_of(target)?;
        let (folder, handle, registered) =
            temporary::create_folder(parent, target).map_err(|error| refused(target, &error))?;
        let target = target.to_owned();
        Ok(AtomicFolder { folder, _handle: handle, _registered: registered, target, replaceable })
    }

    /// A new file in the folder.
    pub fn file(&self, name: &str) -> io::Result<BufWriter<File>> {
        let file = File::create(self.folder.path().join(name));
        Ok(BufWriter::with_capacity(1 << 18, file.map_err(|error| refused(&self.target, &error))?))
    }

    /// Gives the folder its name, replacing what had it.
    pub fn commit(self) -> io::Result<()> {
        // what may be replaced may have changed while the simulation ran
        check_folder(&self.target, self.replaceable)?;
        uninterrupted(|| swap(self.folder.path(), &self.target))
            .map_err(|error| refused(&self.target, &error))?;
        // it has another name now, so there is nothing to take away
        let _ = self.folder.keep();
        register_written(&self.target);
        Ok(())
    }
}

/// Gives a folder the name of another, which is removed.
fn swap(folder: &Path, target: &Path) -> io::Result<()> {
    if !target.is_dir() {
        return fs::rename(folder, target);
    }
    let aside = folder.with_extension("old");
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(folder, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    fs::remove_dir_all(&aside)
}

/// The first name beside a target that nothing has: `a-2.glb` for `a.glb`.
fn free_name(target: &Path) -> PathBuf {
    let (stem, extension) = (target.file_stem().unwrap_or_default(), target.extension());
    let numbered = |number: usize| {
        let mut name = stem.to_owned();
        name.push(format!("-{number}"));
        if let Some(extension) = extension {
            name.push(".");
            name.push(extension);
        }
        target.with_file_name(name)
    };
    (2..).map(numbered).find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| target.to_owned())
}

fn check_folder(target: &Path, replaceable: fn(&str) -> bool) -> io::Result<()> {
    let exists = |message: String| Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    check_planned(target)?;
    if target.is_dir() {
        for entry in fs::read_dir(target).map_err(|error| refused(target, &error))? {
            let name = entry.map_err(|error| refused(target, &error))?.file_name();
            if !name.to_str().is_some_and(replaceable) {
                let (folder, name) = (target.display(), name.to_string_lossy());
                return exists(format!(
                    "cannot write {folder}: the folder holds `{name}`, which is not of an earlier run; choose a new folder"
                ));
            }
        }
    } else if target.exists() {
        return exists(format!("cannot write {}: it is a file, a folder is needed", target.display()));
    }
    Ok(())
}

/// The folder a target stands in, which must exist.
pub fn parent_of(target: &Path) -> io::Result<&Path> {
    let parent = match target.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) if target.file_name().is_some() => parent,
        _ => {
            let message = format!("cannot write {}: it is no file name", target.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
    };
    if parent.is_dir() {
        return Ok(parent);
    }
    let message = format!(
        "cannot write {}: there is no folder {}; create it first",
        target.display(),
        parent.display()
    );
    Err(io::Error::new(io::ErrorKind::NotFound, message))
}

/// The same error, saying what could not be written.
pub fn refused(target: &Path, error: &io::Error) -> io::Error {
    let start = format!("cannot write {}", target.display());
    let message = error.to_string();
    io::Error::new(
        error.kind(),
        if message.starts_with(&start) { message } else { format!("{start}: {message}") },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a folder, in order.
    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.json");
        fs::write(&target, "old").unwrap();
        let mut dropped = AtomicFile::create(&target).unwrap();
        dropped.write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");

        let mut whole = AtomicFile::create(&target).unwrap();
        whole.write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        whole.commit().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(names_in(folder.path()), ["a.json"]);
    }

    #[test]
    fn files_that_belong_together_appear_together() {
        let folder = tempfile::tempdir().unwrap();
        let atomic_file = || ["a", "b"].map(|name| AtomicFile::create(&folder.path().join(name)).unwrap());
        drop(atomic_file());
        assert!(names_in(folder.path()).is_empty());
        AtomicFile::commit_all(atomic_file()).unwrap();
        assert_eq!(names_in(folder.path()), ["a", "b"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_can_be_read_by_whom_the_umask_lets() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let [ours, plain] = ["ours", "plain"].map(|name| folder.path().join(name));
        AtomicFile::create(&ours).unwrap().commit().unwrap();
        fs::write(&plain, "").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(ours), mode(plain));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_replaced() {
        assert!(
            AtomicFile::create(Path::new("/dev/null"))
                .unwrap_err()
                .to_string()
                .contains("not an ordinary file")
        );
    }

    #[test]
    fn targets_that_cannot_be_written_are_refused_before_anything_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for (target, words) in [
            (folder.path().to_owned(), "it is a folder"),
            (folder.path().join("missing/a.glb"), "there is no folder"),
            (file.join("a.glb"), "there is no folder"),
            (PathBuf::from("/"), "it is a folder"),
            (PathBuf::new(), "no file name"),
        ] {
            let error = AtomicFile::create(&target).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(names_in(folder.path()), ["file"]);
    }

    #[test]
    fn a_folder_replaces_only_what_it_may() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let ours: fn(&str) -> bool = |name| name.ends_with(".obj");
        let write = |name: &str| {
            let atomic_file = AtomicFolder::create(&target, ours)?;
            atomic_file.file(name)?.write_all(b"v")?;
            atomic_file.commit()
        };
        write("1.obj").unwrap();
        write("2.obj").unwrap();
        assert_eq!(names_in(&target), ["2.obj"]);
        drop(AtomicFolder::create(&target, ours).unwrap());
        fs::write(target.join("thesis.txt"), "").unwrap();
        let error = write("3.obj").unwrap_err().to_string();
        assert!(error.contains("holds `thesis.txt`"), "{error}");
        assert_eq!(names_in(&target), ["2.obj", "thesis.txt"]);
        assert_eq!(names_in(folder.path()), ["out"]);
    }
}
