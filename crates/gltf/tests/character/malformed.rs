//! Files that are wrong: each error says where and what, all of them together, and nothing is reserved for what is not there.

use crate::bar::{ARMATURE, BEND, Document, F32, PLAIN, ROOT, floats, glb};
use crate::{errors, read};
use serde_json::{Value, json};

fn edited(edit: impl Fn(&mut Value)) -> Vec<u8> {
    let mut document = PLAIN.document();
    edit(&mut document.json);
    document.to_glb()
}

/// The accessor that a pointer into the document names.
fn accessor(json: &Value, pointer: &str) -> usize {
    json.pointer(pointer).unwrap().as_u64().unwrap() as usize
}

const POSITION: &str = "/meshes/0/primitives/0/attributes/POSITION";
const JOINTS: &str = "/meshes/0/primitives/0/attributes/JOINTS_0";
const INDICES: &str = "/meshes/0/primitives/0/indices";
const MATRICES: &str = "/skins/0/inverseBindMatrices";
const TIMES: &str = "/animations/0/samplers/0/input";
const TURNS: &str = "/animations/0/samplers/0/output";

#[test]
fn hierarchies_that_are_none_are_errors() {
    let circle = edited(|json| json["nodes"][BEND]["children"] = json!([ARMATURE]));
    assert!(errors(circle).contains("above or below itself"));
    let small = edited(|json| json["nodes"][BEND]["children"] = json!([ROOT]));
    assert!(errors(small).contains("hangs from nodes[0] and nodes[2]"));
    let own = edited(|json| json["nodes"][BEND]["children"] = json!([BEND]));
    assert!(errors(own).contains("nodes[2] is its own child"));
    let twice = edited(|json| json["nodes"][ARMATURE]["children"] = json!([ROOT, BEND]));
    assert!(errors(twice).contains("node 'bend' (nodes[2]) hangs from nodes[0] and nodes[1]"));
    let missing = edited(|json| json["nodes"][BEND]["children"] = json!([50]));
    assert!(errors(missing).contains("nodes[2].children[0] is 50 and there are 5 nodes"));
    let nowhere = edited(|json| json["nodes"][BEND]["rotation"] = json!([0, 0, 0, 0]));
    assert!(errors(nowhere).contains("no quaternion of length 1"));
    let beyond = edited(|json| {
        json["nodes"][ROOT]["scale"] = json!([1e60, 1, 1]);
        json["nodes"][BEND]["scale"] = json!([1e60, 1, 1]);
    });
    assert!(errors(beyond).contains("'bend' (nodes[2]) stands beyond all numbers"));
    let projective = edited(|json| json["nodes"][ARMATURE]["matrix"][3] = json!(1));
    assert!(errors(projective).contains("last row"));
}

#[test]
fn accessors_that_reach_beyond_their_bytes_are_errors() {
    for (pointer, key, value, words) in [
        (POSITION, "count", json!(21), "wants 21 elements"),
        (POSITION, "count", json!(4_000_000_000u64), "wants 4000000000 elements"),
        (POSITION, "count", json!(u64::MAX), "wants"),
        (POSITION, "count", json!(0), "count is not above 0"),
        (POSITION, "count", json!(-1), "whole number"),
        (POSITION, "count", json!(1.5), "whole number"),
        (POSITION, "byteOffset", json!(4), "from byte 4"),
        (POSITION, "byteOffset", json!(u64::MAX), "from byte 18446744073709551615"),
        (POSITION, "bufferView", json!(99), "bufferViews[99] does not exist"),
        (POSITION, "componentType", json!(5124), "componentType"),
        (POSITION, "componentType", json!(5125), "VEC3 of U32"),
        (POSITION, "type", json!("VEC9"), "not of a type"),
        (JOINTS, "type", json!("VEC2"), "VEC2 of U16, which joints"),
        (JOINTS, "count", json!(19), "19 elements for 20 vertices"),
        (INDICES, "componentType", json!(5125), "wants 96 elements 4 bytes apart"),
        (INDICES, "componentType", json!(5122), "SCALAR of I16, which corners of triangles cannot be"),
        (MATRICES, "count", json!(1), "2 joints and 1 inverse bind matrices"),
        (TIMES, "count", json!(2), "3 values do not fit 2 keys"),
        (TURNS, "count", json!(2), "2 values do not fit 3 keys"),
    ] {
        let bytes = edited(|json| {
            let index = accessor(json, pointer);
            json["accessors"][index][key] = value.clone();
        });
        let error = errors(bytes);
        assert!(error.contains(words), "{pointer} {key} {value}: {error}");
    }
}

#[test]
fn views_and_buffers_that_are_too_short_are_errors() {
    for (key, value, words) in [
        ("byteLength", json!(10), "which has 10 bytes"),
        ("byteLength", json!(u64::MAX), "bufferViews[0] wants"),
        ("byteOffset", json!(1u64 << 40), "bufferViews[0] wants"),
        ("byteStride", json!(4), "byteStride is 4 and elements have 12 bytes"),
        ("byteStride", json!(1u64 << 62), "wants 20 elements"),
        ("buffer", json!(1), "buffers[1], which is missing"),
    ] {
        let error = errors(edited(|json| json["bufferViews"][0][key] = value.clone()));
        assert!(error.contains(words), "{key} {value}: {error}");
    }
    let document = PLAIN.document();
    let mut json = document.json_with_buffer(None);
    json["buffers"][0]["byteLength"] = json!(1u64 << 50);
    let error = errors(glb(&json.to_string(), &document.buffer));
    assert!(error.contains("buffers[0] promises 1125899906842624 bytes"), "{error}");
}

/// An accessor without a view is all zeros, so no bytes contradict its count: the size of the file must.
#[test]
fn counts_that_no_bytes_back_do_not_take_memory() {
    for count in [1u64 << 26, 1 << 40, u64::MAX] {
        let error = errors(edited(|json| {
            let index = accessor(json, POSITION);
            json["accessors"][index] = json!({ "componentType": F32, "type": "VEC3", "count": count });
        }));
        assert!(error.contains("more memory than 64 times the size of the file"), "{error}");
    }
    // as many primitives over the same bytes, each with accessors of its own
    let mut document = PLAIN.document();
    let view = document.view(&vec![0; 120_000]);
    let primitives: Vec<Value> = (0..4000)
        .map(|_| {
            let accessor =
                json!({ "bufferView": view, "componentType": F32, "type": "VEC3", "count": 10_000 });
            json!({ "attributes": { "POSITION": document.push("accessors", accessor) } })
        })
        .collect();
    document.json["meshes"][1]["primitives"] = json!(primitives);
    let error = errors(document.to_glb());
    assert!(error.contains("more memory than 64 times") && error.contains("errors more"), "{error}");
}

/// As compressed meshes look whose file does not say that it needs the extension.
#[test]
fn positions_without_bytes_are_an_error() {
    let error = errors(edited(|json| {
        let index = accessor(json, POSITION);
        json["accessors"][index] = json!({ "componentType": F32, "type": "VEC3", "count": 20 });
    }));
    assert!(error.contains("no bytes for them") && error.contains("without compression"), "{error}");
}

#[test]
fn sparse_parts_are_checked() {
    let sparse = || {
        let (_, document) = crate::bar::bars().into_iter().find(|(kind, _)| *kind == "sparse").unwrap();
        document
    };
    let index = accessor(&sparse().json, POSITION);
    for (pointer, value, words) in [
        ("/count", json!(21), "from 1 to 20"),
        ("/count", json!(0), "from 1 to 20"),
        ("/indices/componentType", json!(5126), "whole numbers"),
        ("/indices/componentType", json!(5121), "do not increase"),
        ("/indices/byteOffset", json!(4), "wants 7 elements"),
        ("/indices/bufferView", json!(null), "names no bufferView"),
        ("/values/bufferView", json!(77), "bufferViews[77] does not exist"),
    ] {
        let mut document = sparse();
        let part = &mut document.json["accessors"][index]["sparse"];
        match part.pointer_mut(pointer) {
            Some(place) => *place = value.clone(),
            None => part["indices"]["byteOffset"] = value.clone(),
        }
        let error = errors(document.to_glb());
        assert!(error.contains(words), "{pointer} {value}: {error}");
    }
    // an index beyond the vertices
    let mut document = sparse();
    let view = accessor(&document.json, &format!("/accessors/{index}/sparse/indices/bufferView"));
    let at = document.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize;
    document.buffer[at + 24] = 20;
    assert!(errors(document.to_glb()).contains("to below 20"));
}

/// A document whose accessor at a pointer holds other numbers.
fn with_numbers(pointer: &str, kind: &str, values: &[f64], count: usize) -> Document {
    let mut document = PLAIN.document();
    let accessor = document.accessor(&floats(values), F32, kind, count);
    *document.json.pointer_mut(pointer).unwrap() = json!(accessor);
    document
}

#[test]
fn numbers_that_are_none_are_errors() {
    let nan = f64::NAN;
    let turn = [0.0, 0.0, 0.0, 1.0];
    for (pointer, kind, values, count, words) in [
        (TIMES, "SCALAR", vec![0.0, nan, 1.0], 3, "at the time NaN"),
        (TIMES, "SCALAR", vec![0.0, 1.0, 1.0], 3, "key 2 at 1 s does not come after the one at 1 s"),
        (TIMES, "SCALAR", vec![0.0, f64::INFINITY, 1.0], 3, "at the time inf"),
        (TURNS, "VEC4", [turn, [nan; 4], turn].concat(), 3, "value 1 holds NaN"),
        (TURNS, "VEC4", [turn, [0.0; 4], turn].concat(), 3, "key 1 is [0.0, 0.0, 0.0, 0.0], no rotation"),
        (POSITION, "VEC3", vec![nan; 60], 20, "20 positions are not finite (first vertex 0)"),
        (MATRICES, "MAT4", vec![nan; 32], 2, "inverse bind matrix 0 of skins[0] holds NaN"),
        (MATRICES, "MAT4", vec![1.0; 32], 2, "last row"),
        (
            "/meshes/0/primitives/0/attributes/WEIGHTS_0",
            "VEC4",
            vec![nan; 80],
            20,
            "vertex 0 has the weight NaN",
        ),
        ("/meshes/0/primitives/0/targets/0/POSITION", "VEC3", vec![nan; 60], 20, "vertex 0 is moved by"),
    ] {
        let error = errors(with_numbers(pointer, kind, &values, count).to_glb());
        assert!(error.contains(words), "{pointer}: {error}");
    }
}

#[test]
fn corners_beyond_the_vertices_are_errors() {
    let mut document = PLAIN.document();
    let index = accessor(&document.json, INDICES);
    let view = accessor(&document.json, &format!("/accessors/{index}/bufferView"));
    let at = document.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize;
    document.buffer[at + 14] = 20;
    assert!(errors(document.to_glb()).contains("corner 7 is vertex 20 of 20"));
}

#[test]
fn indices_that_lead_nowhere_are_errors() {
    for (pointer, value, words) in [
        ("/nodes/3/mesh", json!(9), "nodes[3].mesh is 9 and there are 2 meshes"),
        ("/nodes/3/skin", json!(1), "nodes[3].skin is 1 and there are 1 skins"),
        ("/skins/0/joints", json!([1, 9]), "skins[0].joints[1] is 9"),
        ("/skins/0/joints", json!([]), "skins[0] has no joints"),
        ("/skins/0/joints", json!([1]), "follow joint 1 of a skin with 1 joints"),
        ("/meshes/0/primitives/0/material", json!(4), "material is 4"),
        ("/meshes/1/primitives/0/mode", json!(7), "mode is 7"),
        ("/meshes/0/primitives/0/attributes/JOINTS_0", json!(null), "JOINTS_0 missing"),
        ("/meshes/0/primitives/0/attributes/WEIGHTS_0", json!(null), "WEIGHTS_0 missing"),
        ("/animations/0/channels/0/target/node", json!(9), "target.node is 9"),
        ("/animations/0/channels/0/target/path", json!("colour"), "none that glTF knows"),
        ("/animations/0/channels/0/sampler", json!(4), "sampler is 4"),
        ("/animations/0/samplers/1/interpolation", json!("BEZIER"), "none that glTF knows"),
        ("/scene", json!(1), "scene is 1 and there are 1 scenes"),
        ("/scenes/0/nodes", json!([0, 30]), "scenes[0].nodes[1] is 30"),
        ("/asset/version", json!("1.0"), "glTF version 1.0"),
        ("/nodes", json!({}), "nodes is an object where a list should be"),
    ] {
        let error = errors(edited(|json| *json.pointer_mut(pointer).unwrap() = value.clone()));
        assert!(error.contains(words), "{pointer} {value}: {error}");
    }
}

#[test]
fn all_errors_come_together() {
    let error = errors(edited(|json| {
        json["nodes"][BEND]["rotation"] = json!([0, 0, 0, 0]);
        json["skins"][0]["joints"] = json!([77]);
        json["meshes"][0]["primitives"][0]["indices"] = json!(99);
        json["meshes"][1]["primitives"][0]["attributes"]["POSITION"] = json!(99);
        json["animations"][0]["channels"][0]["target"]["node"] = json!(77);
        json["animations"][0]["channels"][1]["target"]["node"] = json!(77);
        json["extensionsRequired"] = json!(["ACME_bones"]);
    }));
    assert_eq!(error.lines().count(), 7, "{error}");
}

#[test]
fn broken_containers_say_so() {
    let bytes = PLAIN.document().to_glb();
    for length in [0, 3, 4, 11, 12, 19, 20, 100, bytes.len() - 1] {
        errors(bytes[..length].to_vec());
    }
    let poked = |at: usize, word: u32| {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        errors(bytes)
    };
    assert!(poked(4, 1).contains("byte 4: is glTF version 1"));
    assert!(poked(8, u32::MAX).contains("promises 4294967295 bytes"));
    assert!(poked(12, u32::MAX).contains("a chunk of 4294967295 bytes"));
    assert!(poked(16, 0).contains("not JSON"));
    assert!(poked(8, 3).contains("not JSON"));
    assert!(errors(b"v 0 0 0".to_vec()).contains("neither a GLB"));
    assert!(errors(b"{".to_vec()).contains("JSON cannot be read"));
    assert!(errors("[".repeat(100_000).into_bytes()).contains("neither"));
    assert!(errors(format!("{{\"a\":{}", "[".repeat(100_000)).into_bytes()).contains("JSON cannot be read"));
    assert!(errors(b"{}".to_vec()).contains("asset.version"));
}

/// Chains as deep as the file is long, and lists that refer to each other, take time in proportion.
#[test]
fn deep_chains_and_long_lists_are_read_in_time() {
    let begun = std::time::Instant::now();
    let count = 20_000;
    let nodes: Vec<Value> =
        (0..count).map(|i| if i + 1 < count { json!({ "children": [i + 1] }) } else { json!({}) }).collect();
    let mut document = Document::new();
    document.json["nodes"] = json!(nodes);
    document.json["scenes"][0]["nodes"] = json!([0]);
    let skins: Vec<Value> = (0..2000).map(|i| json!({ "joints": [i, i + 1] })).collect();
    document.json["skins"] = json!(skins);
    let character = read(document.to_glb()).value;
    assert_eq!(character.rigged.nodes[count - 1].depth, count - 1);
    // square time over twenty thousand matrices would be minutes; a busy machine is allowed ten seconds
    assert!(begun.elapsed().as_secs() < 10);
}
