//! The one place from which every reader gets the bytes of a file.

use crate::ReadError;
use crate::captured_files;
use crate::run_inputs::register_input;
use std::io::Read;
use std::path::Path;

/// Files above this are refused before they are read (bytes).
const FILE_LIMIT: u64 = 4 << 30;

/// How many bytes a reader sees before the rest is read.
const START: u64 = 64;

/// The whole of a file, if it is one and not absurdly large. One that comes from the disk is registered, so that no output replaces it.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    read_bytes_after(path, |_| Ok(()))
}

/// The same for a format that is known by its first bytes: `check` sees up to 64 of them, and a file that it refuses is not read further.
pub fn read_bytes_after(
    path: &Path,
    check: impl FnOnce(&[u8]) -> Result<(), ReadError>,
) -> Result<Vec<u8>, ReadError> {
    captured_files::bytes_of(path, |path| read_from_disk(path, check))
}

fn read_from_disk(
    path: &Path,
    check: impl FnOnce(&[u8]) -> Result<(), ReadError>,
) -> Result<Vec<u8>, ReadError> {
    let fault = |message: String| ReadError::whole(message).within(path);
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => fault("no such file: check the name and the folder".into()),
        _ => fault(format!("cannot be opened: {error}")),
    })?;
    if !metadata.is_file() {
        return Err(fault("is not a file".into()));
    }
    if metadata.len() > FILE_LIMIT {
        return Err(fault(format!(
            "{} bytes are more than {FILE_LIMIT}: use a smaller file",
            metadata.len()
        )));
    }
    register_input(path);
    let unreadable = |error: std::io::Error| fault(format!("cannot be read: {error}"));
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.by_ref().take(START).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.is_empty() {
        return Err(fault("the file is empty".into()));
    }
    check(&bytes).map_err(|error| error.within(path))?;
    file.take(FILE_LIMIT - START).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_refused_by_its_start_is_not_read_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros.glb");
        // holes take no room on the disk; reading them would take a gigabyte of memory
        std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let seen = |start: &[u8]| Err(ReadError::whole(format!("begins with {} zeros", start.len())));
        let error = read_bytes_after(&path, seen).unwrap_err();
        assert!(error.to_string().ends_with("zeros.glb: begins with 64 zeros"), "{error}");
        std::fs::write(&path, [7; 100]).unwrap();
        assert_eq!(read_bytes_after(&path, |_| Ok(())).unwrap(), [7; 100]);
    }
}
