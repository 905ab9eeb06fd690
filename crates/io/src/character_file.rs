//! A rigged character by its path, whatever its format: glTF as it is, FBX made into glTF in memory.

use crate::fbx::read_fbx;
use sinew_files::{Loaded, ReadError, ReadErrors, read_bytes_after};
use sinew_gltf::CharacterFile;
use std::path::Path;

/// The extensions of character files.
pub const CHARACTER_EXTENSIONS: [&str; 4] = ["glb", "gltf", "vrm", "fbx"];

/// Whether the name of a file says that it holds a character.
pub fn is_character_file(path: &Path) -> bool {
    extension_of(path).is_some_and(|extension| CHARACTER_EXTENSIONS.contains(&extension.as_str()))
}

/// Reads a character and all that its file needs beside it. An FBX file becomes a glTF file in memory, which takes are written back into.
///
/// # Errors
/// All that keeps the file from being used, together.
pub fn open_character(path: &Path) -> Result<Loaded<CharacterFile>, ReadErrors> {
    if extension_of(path).as_deref() != Some("fbx") {
        return sinew_gltf::open_character(path);
    }
    let bytes = read_bytes_after(path, check_start)?;
    // a bare name is in the folder we are in
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let within = |errors: ReadErrors| errors.within(path);
    let Loaded { value: fbx, mut notes } = read_fbx(&bytes, Some(folder)).map_err(within)?;
    let made = CharacterFile::of_rigged(&fbx.rigged, &fbx.look).map_err(within)?;
    notes.extend(made.notes);
    Ok(Loaded { value: made.value, notes })
}

/// Fails unless an FBX file may begin so: with the name of the binary form, or with text.
fn check_start(start: &[u8]) -> Result<(), ReadError> {
    if start.starts_with(b"Kaydara FBX Binary") || !start.contains(&0) {
        return Ok(());
    }
    Err(ReadError::byte(0, "is no FBX file, which begins with its name or with text: export it again"))
}

pub(crate) fn extension_of(path: &Path) -> Option<String> {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase())
}
