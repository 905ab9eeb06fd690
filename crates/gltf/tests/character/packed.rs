//! Bars whose views are packed by meshopt compression, by the encoders of the reference library.

use crate::bar::{BEND, Document, F32, PLAIN, SHOWN, U8, U16, bars};
use crate::{errors, notes_say, read};
use serde_json::{Value, json};
use sinew_character::{RiggedCharacter, SurfaceId};
use sinew_gltf::CharacterFile;

const NAME: &str = "EXT_meshopt_compression";

/// A view as it is packed: its bytes, and the members of the extension that say how.
type Packed = (Vec<u8>, Value);

/// The same document with every view packed that an accessor of its own shows and whose elements the codecs take.
pub(crate) fn packed(document: &Document) -> Document {
    let mut same = Document { json: document.json.clone(), buffer: Vec::new() };
    let views = document.json["bufferViews"].as_array().unwrap();
    let mut unpacked_length = 0;
    for (index, view) in views.iter().enumerate() {
        let number = |key: &str| view[key].as_u64().unwrap_or(0) as usize;
        let bytes = &document.buffer[number("byteOffset")..][..number("byteLength")];
        same.buffer.resize(same.buffer.len().next_multiple_of(4), 0);
        let entry = &mut same.json["bufferViews"][index];
        entry["byteOffset"] = json!(same.buffer.len());
        let Some((bytes, mut how)) = pack(document, index, bytes) else {
            same.buffer.extend(bytes);
            continue;
        };
        how["buffer"] = json!(0);
        how["byteOffset"] = json!(same.buffer.len());
        how["byteLength"] = json!(bytes.len());
        same.buffer.extend(bytes);
        entry["buffer"] = json!(1);
        entry["byteOffset"] = json!(unpacked_length);
        unpacked_length += number("byteLength").next_multiple_of(4);
        entry["extensions"] = json!({ NAME: how });
    }
    let fallback = json!({ "byteLength": unpacked_length, "extensions": { NAME: { "fallback": true } } });
    same.json["buffers"] = json!([{}, fallback]);
    same.json["extensionsRequired"] = json!([NAME]);
    same.json["extensionsUsed"] = json!([NAME]);
    same
}

fn pack(document: &Document, view: usize, bytes: &[u8]) -> Option<Packed> {
    let accessors = document.json["accessors"].as_array().unwrap();
    let mut own = accessors.iter().enumerate().filter(|(_, accessor)| accessor["bufferView"] == view);
    let (index, accessor) =
        own.next().filter(|_| !document.json["bufferViews"][view]["byteStride"].is_u64())?;
    let count = accessor["count"].as_u64().unwrap() as usize;
    let meshes = document.json["meshes"].as_array().unwrap().iter();
    let mut primitives = meshes.flat_map(|mesh| mesh["primitives"].as_array().unwrap());
    if let Some(primitive) = primitives.find(|primitive| primitive["indices"] == index) {
        // the codecs know no indices of one byte
        if accessor["componentType"] != U16 {
            return None;
        }
        let corners: Vec<u32> = bytes
            .chunks_exact(2)
            .map(|corner| u32::from(u16::from_le_bytes([corner[0], corner[1]])))
            .collect();
        // strips are no triangles, whose corners may be turned
        let (mode, bytes) = if primitive["mode"].is_null() {
            ("TRIANGLES", meshopt::encode_index_buffer(&corners, count).unwrap())
        } else {
            ("INDICES", meshopt::encode_index_sequence(&corners, count).unwrap())
        };
        return Some((bytes, json!({ "mode": mode, "count": count, "byteStride": 2 })));
    }
    let width = match accessor["type"].as_str()? {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        _ => 16,
    };
    let size = match accessor["componentType"].as_u64()? as u32 {
        F32 => 4,
        U16 => 2,
        U8 => 1,
        _ => return None,
    };
    let stride = width * size;
    let bytes = match stride {
        4 => meshopt::encode_vertex_buffer_level(bytes.as_chunks::<4>().0, 2, Some(0)),
        8 => meshopt::encode_vertex_buffer_level(bytes.as_chunks::<8>().0, 2, Some(0)),
        12 => meshopt::encode_vertex_buffer_level(bytes.as_chunks::<12>().0, 2, Some(0)),
        16 => meshopt::encode_vertex_buffer_level(bytes.as_chunks::<16>().0, 2, Some(0)),
        64 => meshopt::encode_vertex_buffer_level(bytes.as_chunks::<64>().0, 2, Some(0)),
        _ => return None,
    };
    Some((bytes.unwrap(), json!({ "mode": "ATTRIBUTES", "count": count, "byteStride": stride })))
}

fn places(character: &CharacterFile) -> Vec<sinew_math::Vec3> {
    let pose = character.rigged.pose_at(0, 0.4).unwrap();
    character.rigged.world_vertices(SurfaceId { node: SHOWN, primitive: 0 }, &pose).unwrap()
}

/// The character with triangles that begin with their smallest corner: the codec may turn them.
fn turned(character: &CharacterFile) -> RiggedCharacter {
    let mut rigged = RiggedCharacter::clone(&character.rigged);
    let primitives = rigged.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives);
    for triangle in primitives.flat_map(|primitive| &mut primitive.triangles) {
        let first = (0..3).min_by_key(|corner| triangle[*corner]).unwrap();
        triangle.rotate_left(first);
    }
    rigged
}

#[test]
fn packed_bars_are_the_same_characters_to_the_bit() {
    for (name, document) in bars() {
        let (plain, read) = (read(document.to_glb()).value, read(packed(&document).to_glb()));
        assert!(notes_say(&read, &["meshopt compression was undone"]));
        assert_eq!(turned(&plain), turned(&read.value), "{name}");
        assert_eq!(places(&plain), places(&read.value), "{name}");
    }
}

#[test]
fn a_packed_file_is_kept_as_one_without_packing() {
    let read = read(packed(&PLAIN.document()).to_glb()).value;
    let json: Value = serde_json::from_slice(read.source.json()).unwrap();
    assert!(json["extensionsRequired"].is_null() && json["extensionsUsed"].is_null(), "{json}");
    assert_eq!(json["buffers"].as_array().unwrap().len(), 1);
    assert!(json["bufferViews"].as_array().unwrap().iter().all(|view| view["extensions"].is_null()));
    assert_eq!(json["nodes"][BEND]["name"], "bend");
}

#[test]
fn packed_views_that_are_damaged_or_absurd_are_errors() {
    let document = packed(&PLAIN.document());
    let of = |key: &str, value: Value| {
        let mut changed = document.clone();
        let view = changed.json["bufferViews"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .find(|v| v["extensions"].is_object());
        view.unwrap()["extensions"][NAME][key] = value;
        errors(changed.to_glb())
    };
    for (key, value, words) in [
        ("count", json!(1u64 << 40), "more memory"),
        ("count", json!(3), "damaged"),
        ("byteStride", json!(5), "does not allow"),
        ("byteStride", json!(0), "does not allow"),
        ("mode", json!("SOUP"), "does not allow"),
        ("filter", json!("SEPIA"), "filter"),
        ("filter", json!("QUATERNION"), "does not allow"),
        ("byteLength", json!(9), "damaged"),
        ("byteLength", json!(1u64 << 50), "wants"),
        ("buffer", json!(1), "missing"),
        ("buffer", json!(null), "names no buffer"),
    ] {
        let error = of(key, value.clone());
        assert!(error.contains(words), "{key} {value}: {error}");
    }
}
