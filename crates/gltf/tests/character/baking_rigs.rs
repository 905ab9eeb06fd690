//! Flesh in files of other make: several primitives, nodes, animations and buffers.

use crate::baked::{bake, pose_of_file, wobble};
use crate::bar::{Document, F32, PLAIN, PROP, SHOWN, floats};
use crate::naive::Naive;
use crate::read;
use serde_json::json;
use sinew_character::SurfaceId;
use sinew_gltf::{CharacterFile, SkinnedGlbOptions, open_character};

const BAR: SurfaceId = SurfaceId { node: SHOWN, primitive: 0 };

fn played() -> SkinnedGlbOptions {
    SkinnedGlbOptions { animation: Some(0), is_compact: false, ..SkinnedGlbOptions::default() }
}

/// A bar whose mesh has a second primitive, the prop's, without morph targets.
fn two_primitives() -> Document {
    let mut document = PLAIN.document();
    let prop = document.json["meshes"][1]["primitives"][0].clone();
    document.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(prop);
    document
}

#[test]
fn primitives_without_flesh_get_targets_that_do_nothing() {
    let document = two_primitives();
    let character = read(document.to_glb()).value;
    let pose = |time| pose_of_file(&character, &played(), time);
    let baked = bake(&character, played(), &[BAR], pose, wobble);
    baked.assert_plays("one of two");
    let now = baked.character();
    let count = 1 + baked.report.bodies[0].components;
    let mesh = &now.rigged.meshes[0];
    assert!(mesh.primitives.iter().all(|primitive| primitive.targets.len() == count));
    assert!(mesh.primitives[1].targets.iter().all(|target| target.vertices.is_empty()));
}

#[test]
fn primitives_with_flesh_share_their_weights() {
    let document = two_primitives();
    let character = read(document.to_glb()).value;
    let surfaces = [SurfaceId { node: SHOWN, primitive: 1 }, BAR, SurfaceId { node: PROP, primitive: 0 }];
    let pose = |time| pose_of_file(&character, &played(), time);
    let baked = bake(&character, played(), &surfaces, pose, wobble);
    assert_eq!(baked.report.bodies.iter().map(|body| body.node).collect::<Vec<_>>(), [SHOWN, PROP]);
    assert!(baked.report.bodies.iter().all(|body| body.is_met() && body.components > 0));
    baked.assert_plays("both, and a prop without skin");
}

/// Two nodes that show the bar, one of them with the skin and one as it stands.
fn two_nodes() -> Document {
    let mut document = PLAIN.document();
    let node = document.push("nodes", json!({ "name": "twin", "mesh": 0, "translation": [0, 5, 0] }));
    document.json["scenes"][0]["nodes"].as_array_mut().unwrap().push(json!(node));
    document
}

#[test]
fn nodes_that_show_one_mesh_get_flesh_of_their_own() {
    let document = two_nodes();
    let character = read(document.to_glb()).value;
    let twin = SurfaceId { node: 5, primitive: 0 };
    let pose = |time| pose_of_file(&character, &played(), time);
    let both = bake(&character, played(), &[BAR, twin], pose, wobble);
    both.assert_plays("both");
    let json = both.json();
    assert_eq!((&json["nodes"][SHOWN]["mesh"], &json["nodes"][5]["mesh"]), (&json!(0), &json!(2)));
    assert_eq!(
        json["meshes"][0]["primitives"][0]["attributes"],
        json["meshes"][2]["primitives"][0]["attributes"]
    );
    // a node without flesh keeps the mesh as it was
    let one = bake(&character, played(), &[BAR], pose, wobble);
    one.assert_plays("one");
    let original = Naive::of_glb(character.source.bytes());
    let changed =
        ["/buffers/0/byteLength", "/animations/0/samplers/0/", "/animations/0/samplers/3/", "/nodes/3/mesh"];
    one.assert_keeps(&original, &document.buffer, &changed);
    assert_eq!(one.json()["meshes"][0], original.json["meshes"][0]);
}

#[test]
fn other_animations_of_the_morph_targets_go_on_without_flesh() {
    // two more, one of them cubic, whose keys also move a twin without flesh
    let mut document = two_nodes();
    let times = document.accessor(&floats(&[0.0, 1.0]), F32, "SCALAR", 2);
    let cubic = document.accessor(&floats(&[0.0, 0.1, 2.0, -1.0, 0.9, 0.0]), F32, "SCALAR", 6);
    let linear = document.accessor(&floats(&[0.2, 0.6]), F32, "SCALAR", 2);
    for (output, interpolation) in [(cubic, "CUBICSPLINE"), (linear, "LINEAR")] {
        let target = |node: usize| json!({ "node": node, "path": "weights" });
        document.push(
            "animations",
            json!({
                "samplers": [{ "input": times, "output": output, "interpolation": interpolation }],
                "channels": [{ "sampler": 0, "target": target(SHOWN) }, { "sampler": 0, "target": target(5) }]
            }),
        );
    }
    let character = read(document.to_glb()).value;
    let pose = |time| pose_of_file(&character, &played(), time);
    let baked = bake(&character, played(), &[BAR], pose, wobble);
    baked.assert_plays("with others");
    let now = baked.character();
    for animation in [1, 2] {
        for time in [0.0, 0.1, 0.5, 0.8, 1.0] {
            let vertices = |character: &CharacterFile| {
                let pose = character.rigged.pose_at(animation, time).unwrap();
                [BAR, SurfaceId { node: 5, primitive: 0 }]
                    .map(|surface| character.rigged.world_vertices(surface, &pose))
            };
            assert_eq!(vertices(&now), vertices(&character), "{animation} at {time}");
        }
    }
}

#[test]
fn buffers_and_images_beside_the_file_are_packed_into_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut document = PLAIN.document();
    document.json["images"] = json!([
        { "name": "skin", "uri": "skin.png" },
        { "uri": "data:image/jpeg;base64,/9j/4A==" },
        { "uri": "gone.png" },
        { "uri": "odd.png" }
    ]);
    let png = b"\x89PNG\r\n\x1a\nrest";
    std::fs::write(folder.path().join("skin.png"), png).unwrap();
    std::fs::write(folder.path().join("odd.png"), "text").unwrap();
    // the weights of the bar in a buffer of their own
    let mut json = document.json_with_buffer(Some("bar.bin"));
    let view = json["bufferViews"][2].clone();
    let start = view["byteOffset"].as_u64().unwrap() as usize;
    let length = view["byteLength"].as_u64().unwrap() as usize;
    json["bufferViews"][2] = json!({ "buffer": 1, "byteOffset": 2, "byteLength": length });
    json["buffers"].as_array_mut().unwrap().push(json!({ "uri": "weights.bin", "byteLength": length + 2 }));
    std::fs::write(folder.path().join("bar.bin"), &document.buffer).unwrap();
    let weights = [&[0, 0], &document.buffer[start..start + length]].concat();
    std::fs::write(folder.path().join("weights.bin"), weights).unwrap();
    let path = folder.path().join("bar.gltf");
    std::fs::write(&path, json.to_string()).unwrap();

    let character = open_character(&path).unwrap().value;
    let pose = |time| pose_of_file(&character, &played(), time);
    let baked = bake(&character, played(), &[BAR], pose, wobble);
    baked.assert_plays("packed");
    let now = Naive::of_glb(&baked.bytes);
    assert_eq!(now.json["buffers"].as_array().unwrap().len(), 1);
    assert!(now.json["buffers"][0].get("uri").is_none());
    assert_eq!(&now.buffer[..document.buffer.len()], document.buffer);
    let image = |index: usize, kind: &str, bytes: &[u8]| {
        let image = &now.json["images"][index];
        let view = &now.json["bufferViews"][image["bufferView"].as_u64().unwrap() as usize];
        let start = view["byteOffset"].as_u64().unwrap() as usize;
        assert!(image["mimeType"] == kind && image.get("uri").is_none());
        assert_eq!(&now.buffer[start..start + bytes.len()], bytes);
    };
    image(0, "image/png", png);
    image(1, "image/jpeg", b"\xff\xd8\xff\xe0");
    assert_eq!(now.json["images"][2]["uri"], "gone.png");
    let notes = &baked.report.notes;
    assert!(
        notes.len() == 2 && notes[0].contains("gone.png") && notes[1].contains("save it as PNG"),
        "{notes:?}"
    );
}

#[test]
fn a_baked_file_can_be_baked_again() {
    let character = read(PLAIN.document().to_glb()).value;
    let once = bake(&character, played(), &[BAR], |time| pose_of_file(&character, &played(), time), wobble);
    let second = once.character();
    let twice = bake(&second, played(), &[BAR], |time| pose_of_file(&second, &played(), time), wobble);
    twice.assert_plays("twice");
    let names = &twice.character().rigged.meshes[0].target_names;
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), 1 + once.report.bodies[0].components + twice.report.bodies[0].components);
}
