//! The one place from which every reader gets the bytes of a file.

use crate::ReadError;
use crate::captured_files;
use crate::run_inputs::register_input;
use std::io::Read;
use std::path::Path;

/// Files above this are refused before they are read (bytes).
const FILE_LIMIT: u64 = 4 << 30;

/// The whole of a file, if it is one and not absurdly large. One that comes from the disk is registered, so that no output replaces it.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    captured_files::bytes_of(path, read_from_disk)
}

fn read_from_disk(path: &Path) -> Result<Vec<u8>, ReadError> {
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
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(FILE_LIMIT).read_to_end(&mut bytes));
    read.map_err(|error| fault(format!("cannot be read: {error}")))?;
    if bytes.is_empty() {
        return Err(fault("the file is empty".into()));
    }
    Ok(bytes)
}
