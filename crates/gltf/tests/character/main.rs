//! Characters from glTF files: what is read, how it moves, and what is said about files that are wrong.

mod baked;
mod baking;
mod baking_helpers;
mod baking_rigs;
mod bar;
mod corpus;
mod malformed;
mod motion;
mod mutations;
mod naive;
mod packed;

mod clips;
mod reading;
mod rotation_arcs;
mod shading;

use sinew_files::Loaded;
use sinew_gltf::{CharacterFile, read_character};

/// Reads a file that must be readable.
fn read(bytes: Vec<u8>) -> Loaded<CharacterFile> {
    read_character(bytes).unwrap_or_else(|errors| panic!("{errors}"))
}

/// All errors of a file that must not be readable.
fn errors(bytes: Vec<u8>) -> String {
    match read_character(bytes) {
        Ok(_) => panic!("no error was found"),
        Err(errors) => {
            assert!(!errors.errors.is_empty());
            errors.to_string()
        }
    }
}

/// Whether some note has all the words.
fn notes_say(read: &Loaded<CharacterFile>, words: &[&str]) -> bool {
    read.notes.iter().any(|note| words.iter().all(|word| note.contains(word)))
}
