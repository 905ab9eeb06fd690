//! Images beside a file, packed into it.

use crate::character_file::CharacterFile;
use crate::document::Document;
use serde_json::{Value, json};
use sinew_files::quote;

/// The first bytes of kinds of images, where they begin, and what the kinds are called.
const KINDS: [(&[u8], usize, &str); 6] = [
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"WEBP", 8, "image/webp"),
    (b"\xabKTX 20\xbb", 0, "image/ktx2"),
    (b"ftypavif", 4, "image/avif"),
    (b"DDS ", 0, "image/vnd-ms.dds"),
];

/// Packs all images that have an address. Those that cannot be read stay as they are, with a note each.
pub(crate) fn pack(document: &mut Document, file: &CharacterFile) -> Vec<String> {
    let mut notes = Vec::new();
    for index in 0..document.count("images") {
        let Some(uri) = document.json["images"][index].get("uri").and_then(Value::as_str) else { continue };
        let found = file.read_uri(uri).and_then(|bytes| {
            let kind = kind_of(&bytes).ok_or("is no image of a known kind: save it as PNG")?;
            Ok((bytes, kind))
        });
        match found {
            Ok((bytes, kind)) => {
                let view = document.add_view(bytes.into_iter());
                let image = &mut document.json["images"][index];
                if let Some(members) = image.as_object_mut() {
                    members.remove("uri");
                }
                image["bufferView"] = json!(view);
                image["mimeType"] = json!(kind);
            }
            Err(message) => {
                let uri = quote(uri.as_bytes());
                notes.push(format!("images[{index}] `{uri}` {message}; it stays outside of the file"));
            }
        }
    }
    notes
}

fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    let matches = |magic: &[u8], at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
    KINDS.iter().find(|(magic, at, _)| matches(magic, *at)).map(|(.., kind)| *kind)
}
