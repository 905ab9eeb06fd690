//! A character's file as one GLB that needs no other file: buffers and images beside it are packed into it.

use crate::character_file::{CharacterFile, SourceForm};
use crate::document::Document;
use crate::skinned_glb::pack_images;
use serde_json::Value;
use sinew_files::Loaded;
use sinew_take::SinkError;

impl CharacterFile {
    /// Whether the file is a GLB that names no other file.
    pub fn is_self_contained(&self) -> bool {
        let Ok(json) = serde_json::from_slice::<Value>(self.source.json()) else { return false };
        let lists = ["buffers", "images"].into_iter().filter_map(|list| json.get(list)?.as_array());
        let names_file = |entry: &Value| {
            entry.get("uri").and_then(Value::as_str).is_some_and(|uri| !uri.starts_with("data:"))
        };
        self.source.form() == SourceForm::Glb && !lists.flatten().any(names_file)
    }

    /// The file as a GLB that needs no other, with notes about images that cannot be packed.
    pub fn to_self_contained_glb(&self) -> Result<Loaded<Vec<u8>>, SinkError> {
        let mut document = Document::of(self)?;
        let notes = pack_images(&mut document, self);
        let mut bytes = Vec::new();
        document.write(&mut bytes)?;
        Ok(Loaded { value: bytes, notes })
    }
}

#[cfg(test)]
mod tests {
    use crate::read_character;
    use serde_json::json;

    fn text(uri: &str) -> Vec<u8> {
        let view = json!({ "buffer": 0, "byteLength": 36 });
        json!({
            "asset": { "version": "2.0" },
            "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
            "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
            "bufferViews": [view], "buffers": [{ "uri": uri, "byteLength": 36 }]
        })
        .to_string()
        .into_bytes()
    }

    #[test]
    fn a_text_with_its_buffer_becomes_one_glb_of_the_same_character() {
        let uri = format!("data:application/octet-stream;base64,{}", "A".repeat(48));
        let file = read_character(text(&uri)).unwrap().value;
        assert!(!file.is_self_contained());
        let packed = read_character(file.to_self_contained_glb().unwrap().value).unwrap().value;
        assert!(packed.is_self_contained());
        assert_eq!(packed.rigged, file.rigged);
    }
}
