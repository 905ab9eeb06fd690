//! Which file a path leads to, whatever its spelling.

use std::path::Path;

/// One file on the disk: the same for every path, symbolic link, hard link and letter case that leads to it.
///
/// On Unix device and inode; elsewhere the canonical path, which does not see hard links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(not(unix))]
    path: std::path::PathBuf,
}

impl FileId {
    /// The file or folder at a path; `None` if there is none.
    pub fn of(path: &Path) -> Option<FileId> {
        #[cfg(unix)]
        return std::fs::metadata(path).ok().as_ref().map(FileId::of_metadata);
        #[cfg(not(unix))]
        return path.canonicalize().ok().map(|path| FileId { path });
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &std::fs::Metadata) -> FileId {
        use std::os::unix::fs::MetadataExt;
        FileId { device_and_inode: (metadata.dev(), metadata.ino()) }
    }
}

/// Whether an open file is still the one that has its name: it was neither deleted nor replaced. Where files have no identity, whether there is any file of that name.
pub fn has_name(file: &std::fs::File, path: &Path) -> bool {
    #[cfg(unix)]
    return file.metadata().is_ok_and(|own| FileId::of(path) == Some(FileId::of_metadata(&own)));
    #[cfg(not(unix))]
    return file.metadata().is_ok() && path.is_file();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn a_file_is_the_same_under_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "a").unwrap();
        fs::write(at("b"), "a").unwrap();
        assert_eq!(FileId::of(&at("a")), FileId::of(&at("./a")));
        assert_ne!(FileId::of(&at("a")), FileId::of(&at("b")));
        assert_eq!(FileId::of(&at("c")), None);
        #[cfg(unix)]
        {
            fs::hard_link(at("a"), at("hard")).unwrap();
            std::os::unix::fs::symlink(at("a"), at("soft")).unwrap();
            assert_eq!(FileId::of(&at("a")), FileId::of(&at("hard")));
            assert_eq!(FileId::of(&at("a")), FileId::of(&at("soft")));
        }
    }

    #[test]
    fn an_open_file_knows_whether_it_still_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let file = File::create(&path).unwrap();
        assert!(has_name(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!has_name(&file, &path));
        #[cfg(unix)]
        {
            fs::write(&path, "another").unwrap();
            assert!(!has_name(&file, &path));
        }
    }
}
