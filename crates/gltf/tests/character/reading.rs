//! What is read of a file that is right, or right enough.

use crate::bar::{ARMATURE, BEND, F32, PLAIN, PROP, ROOT, SHOWN, U8, bars, floats, glb, triangles};
use crate::{errors, notes_say, read};
use serde_json::json;
use sinew_character::{ChannelInterpolation, ChannelPath, JointWeight, SurfaceId, VrmEdition};
use sinew_gltf::{SourceForm, open_character, read_character};
use sinew_math::Vec3;

#[test]
fn a_bar_has_its_nodes_joints_surfaces_and_motion() {
    let document = PLAIN.document();
    let bytes = document.to_glb();
    let character = read(bytes.clone()).value;
    assert_eq!(character.source.bytes(), bytes);
    assert_eq!(character.source.form(), SourceForm::Glb);
    assert_eq!(&character.source.binary().unwrap()[..document.buffer.len()], document.buffer);
    assert_eq!(character.buffer(0).unwrap(), document.buffer);
    assert_eq!(character.rigged.nodes.len(), 5);
    assert_eq!(character.rigged.nodes[BEND].parent, Some(ROOT));
    assert_eq!((character.rigged.nodes[ARMATURE].parent, character.rigged.nodes[BEND].depth), (None, 2));
    assert!(character.rigged.nodes.iter().all(|node| node.in_scene));
    assert!((character.rigged.nodes[ARMATURE].rest.scale() - Vec3::repeat(0.5)).amax() < 1e-15);

    let skin = &character.rigged.skins[0];
    assert_eq!((&skin.joints[..], skin.skeleton, skin.top), (&[ROOT, BEND][..], Some(ROOT), 0));
    let surfaces: Vec<SurfaceId> = character.rigged.surfaces().collect();
    let [bar, prop] = [SHOWN, PROP].map(|node| SurfaceId { node, primitive: 0 });
    assert_eq!(surfaces, [bar, prop]);
    assert!(character.rigged.is_skinned(bar) && !character.rigged.is_skinned(prop));
    let primitive = character.rigged.primitive(bar).unwrap();
    assert_eq!((primitive.positions.len(), primitive.targets.len()), (20, 1));
    assert_eq!(primitive.positions[5], Vec3::new(0.25, 0.5, 0.25));
    assert_eq!(primitive.triangles, triangles().iter().map(|t| t.map(u32::from)).collect::<Vec<_>>());
    assert_eq!(primitive.targets[0].vertices, [16, 17, 18, 19]);
    let weights = primitive.weights.as_ref().unwrap();
    let [lower, upper] = [(0, 0.75), (1, 0.25)].map(|(joint, weight)| JointWeight { joint, weight });
    assert_eq!(weights.of(4), [lower, upper]);
    assert_eq!(weights.of(0), [JointWeight { joint: 0, weight: 1.0 }]);
    assert_eq!((weights.joint_bound(), weights.max_joints()), (2, 2));
    let material = &character.rigged.materials[primitive.material.unwrap()];
    assert_eq!((material.name.as_deref(), material.base_color), (Some("clay"), [0.8, 0.4, 0.2, 1.0]));
    // a fan around its first corner
    assert_eq!(character.rigged.primitive(prop).unwrap().triangles, [[1, 2, 0], [2, 3, 0]]);

    let animation = &character.rigged.animations[0];
    assert_eq!(
        (animation.name.as_deref(), animation.duration, animation.channels.len()),
        (Some("bow"), 1.25, 4)
    );
    let channel = &animation.channels[1];
    assert_eq!((channel.node, channel.path), (ROOT, ChannelPath::Translation));
    assert_eq!(channel.interpolation, ChannelInterpolation::CubicSpline);
    assert_eq!(&channel.times[..], [0.25, 1.0]);
    assert_eq!(channel.value(1), [0.0, 1.0, 0.5]);
}

#[test]
fn painted_softness_colours_and_texture_coordinates_are_read() {
    let painted = |softness: &[f64]| {
        let mut document = PLAIN.document();
        let accessors = [
            ("_SOFTNESS", document.accessor(&floats(softness), F32, "SCALAR", softness.len())),
            ("COLOR_1", document.accessor(&[51; 60], U8, "VEC3", 20)),
            ("TEXCOORD_0", document.accessor(&floats(&[0.25; 38]), F32, "VEC2", 19)),
        ];
        document.json["accessors"][accessors[1].1]["normalized"] = json!(true);
        for (name, accessor) in accessors {
            document.json["meshes"][0]["primitives"][0]["attributes"][name] = json!(accessor);
        }
        document.to_glb()
    };
    let mut softness = [0.5; 20];
    let character = read(painted(&softness));
    assert!(notes_say(
        &character,
        &["19 elements for 20 vertices", "these texture coordinates are left out"]
    ));
    let primitive = &character.value.rigged.meshes[0].primitives[0];
    assert_eq!(primitive.softness.as_deref(), Some(&[0.5; 20][..]));
    assert!(primitive.colors[0].is_none() && primitive.uv.is_none());
    assert_eq!(primitive.colors[1].as_ref().unwrap()[7], [0.2, 0.2, 0.2, 1.0]);
    for wrong in [f64::NAN, -1.0, f64::INFINITY] {
        softness[3] = wrong;
        assert!(errors(painted(&softness)).contains("vertex 3 has the softness"), "{wrong}");
    }
}

/// The volume inside, by the divergence theorem over triangles that face out; lids are missing at both ends.
fn flux(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let volume = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        a.dot(&b.cross(&c)) / 6.0
    };
    triangles.iter().map(volume).sum()
}

#[test]
fn every_stringing_gives_the_same_surface_facing_the_same_way() {
    for name in ["plain", "strip", "unindexed"] {
        let (_, document) = bars().into_iter().find(|(kind, _)| *kind == name).unwrap();
        let character = read(document.to_glb()).value;
        let primitive = &character.rigged.meshes[0].primitives[0];
        assert_eq!(primitive.triangles.len(), 32, "{name}");
        // sides of 0.5 by 2 at 0.25 from the axis: 4 · (0.5 · 2) · 0.25 / 3, exact in halves but for the third
        assert!((flux(&primitive.positions, &primitive.triangles) - 1.0 / 3.0).abs() < 1e-15, "{name}");
    }
}

#[test]
fn short_whole_numbers_become_positions_weights_and_shares_of_one() {
    let (_, document) = bars().into_iter().find(|(kind, _)| *kind == "quantized").unwrap();
    let character = read(document.to_glb()).value;
    let primitive = &character.rigged.meshes[0].primitives[0];
    assert_eq!(primitive.positions[5], Vec3::new(1.0, 2.0, 1.0));
    assert_eq!(primitive.targets[0].deltas[0], Vec3::new(-1.0, 32.0 / 127.0, 0.0));
    // 64 and 191 of 255
    let entry = primitive.weights.as_ref().unwrap().of(4)[1];
    assert!((entry.weight - 64.0 / 255.0).abs() < 1e-15, "{entry:?}");
}

#[test]
fn texts_with_buffers_within_beside_and_in_containers_are_the_same_character() {
    let document = PLAIN.document();
    let of_glb = read(document.to_glb()).value;
    let within = read(document.to_text(None)).value;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    std::fs::write(folder.path().join("bar.gltf"), document.to_text(Some("parts/the%20bar.bin"))).unwrap();
    std::fs::write(folder.path().join("parts/the bar.bin"), &document.buffer).unwrap();
    let beside = open_character(&folder.path().join("bar.gltf")).unwrap().value;
    for other in [within, beside] {
        assert_eq!(other.source.form(), SourceForm::Text);
        assert_eq!(other.buffer(0), of_glb.buffer(0));
        assert_eq!(
            (&other.rigged.nodes, &other.rigged.skins, &other.rigged.meshes),
            (&of_glb.rigged.nodes, &of_glb.rigged.skins, &of_glb.rigged.meshes)
        );
        assert_eq!(other.rigged.animations, of_glb.rigged.animations);
    }
    // the bytes alone do not say where the buffer is
    assert!(errors(document.to_text(Some("a.bin"))).contains("open the character by its path"));
}

#[test]
fn buffers_outside_of_the_folder_are_refused() {
    let document = PLAIN.document();
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("inner");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(outer.path().join("bar.bin"), &document.buffer).unwrap();
    let path = folder.join("bar.gltf");
    let absolute = outer.path().join("bar.bin");
    for uri in [
        "../bar.bin",
        "%2e%2e/bar.bin",
        "a/../../bar.bin",
        absolute.to_str().unwrap(),
        "https://a.example/bar.bin",
    ] {
        std::fs::write(&path, document.to_text(Some(uri))).unwrap();
        let error = open_character(&path).unwrap_err().to_string();
        assert!(error.contains("beside the file") && error.contains("bar.gltf"), "{error}");
    }
    std::fs::write(&path, document.to_text(Some("missing.bin"))).unwrap();
    assert!(open_character(&path).unwrap_err().to_string().contains("no such file"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&absolute, folder.join("link.bin")).unwrap();
        std::fs::write(&path, document.to_text(Some("link.bin"))).unwrap();
        assert!(open_character(&path).unwrap_err().to_string().contains("leads out"));
    }
}

#[test]
fn names_are_kept_and_made_unique_for_reports() {
    let mut document = PLAIN.document();
    document.json["nodes"][BEND]["name"] = json!("root");
    document.json["nodes"][PROP].as_object_mut().unwrap().remove("name");
    let read = read(document.to_glb());
    let names: Vec<_> =
        read.value.rigged.nodes.iter().map(|node| (node.name.as_deref(), node.label.as_str())).collect();
    assert_eq!(names[ROOT], (Some("root"), "root"));
    assert_eq!(names[BEND], (Some("root"), "root #2"));
    assert_eq!(names[PROP], (None, "node 4"));
    assert!(notes_say(&read, &["2 of 5 nodes"]));
}

#[test]
fn labels_stay_on_one_line_and_differ_where_they_are_cut() {
    let mut document = PLAIN.document();
    let long = "a".repeat(500);
    document.json["nodes"][ROOT]["name"] = json!(format!("{long}1"));
    document.json["nodes"][BEND]["name"] = json!(format!("{long}2"));
    document.json["nodes"][PROP]["name"] = json!("two\nlines");
    let nodes = read(document.to_glb()).value.rigged.nodes.clone();
    assert_eq!((nodes[ROOT].label.len(), nodes[BEND].label.ends_with(" #2")), (64, true));
    assert_eq!((nodes[PROP].label.as_str(), nodes[PROP].name.as_deref()), ("two lines", Some("two\nlines")));
}

#[test]
fn joints_of_all_skins_are_one_tree_past_nodes_that_are_none() {
    let mut document = PLAIN.document();
    // a node between the joints, and a joint of another skin below
    document.json["nodes"][ROOT]["children"] = json!([PROP]);
    document.json["nodes"][PROP]["children"] = json!([BEND]);
    let tip = document.push("nodes", json!({ "name": "tip" }));
    document.json["nodes"][BEND]["children"] = json!([tip]);
    document.push("skins", json!({ "joints": [tip, BEND] }));
    let joints = read(document.to_glb()).value.rigged.find_joints();
    let tree: Vec<_> = joints.iter().map(|joint| (joint.node, joint.parent, joint.vertex_fraction)).collect();
    // four vertices each of weight 1, 3/4, 1/2 and 1/4 follow either; the second skin bends nothing
    assert_eq!(tree, [(ROOT, None, 10.0), (BEND, Some(0), 10.0), (tip, Some(1), 0.0)]);
    // bound a unit above the root, half a unit in the world
    assert!((joints[1].bind.column(3).xyz() - Vec3::new(3.0, 1.0, 0.5)).amax() < 1e-15);
}

#[test]
fn weights_are_merged_scaled_to_one_and_found_for_vertices_without() {
    let mut document = PLAIN.document();
    let mut weights = vec![0.0; 80];
    // vertex 0 has none, vertex 1 sums to 2 over one joint twice, vertex 2 is negative in part, the rest is right
    weights[4..8].copy_from_slice(&[1.0, 0.5, 0.5, 0.0]);
    weights[8..12].copy_from_slice(&[1.0, -0.25, 0.0, 0.0]);
    (3..20).for_each(|vertex| weights[4 * vertex] = 1.0);
    let mut joints = vec![0u8; 80];
    joints[4..8].copy_from_slice(&[0, 1, 1, 77]);
    let weights = document.accessor(&floats(&weights), F32, "VEC4", 20);
    let joints = document.accessor(&joints, U8, "VEC4", 20);
    let attributes = &mut document.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_0"] = json!(joints);
    attributes["WEIGHTS_0"] = json!(weights);
    document.json["skins"][0]["joints"] = json!([BEND, ROOT]);
    let read = read(document.to_glb());
    let found = read.value.rigged.meshes[0].primitives[0].weights.as_ref().unwrap();
    let entry = |joint, weight| JointWeight { joint, weight };
    // the topmost joint is the second of the skin
    assert_eq!(found.of(0), [entry(1, 1.0)]);
    assert_eq!(found.of(1), [entry(0, 0.5), entry(1, 0.5)]);
    assert_eq!(found.of(2), [entry(0, 1.0)]);
    assert!(notes_say(&read, &["1 vertices do not sum to 1", "1.00e0", "scaled"]), "{:?}", read.notes);
    assert!(notes_say(&read, &["1 vertices have no weights", "topmost joint"]));
    assert!(notes_say(&read, &["1 vertices have negative weights"]));
}

#[test]
fn points_and_lines_keep_their_vertices_and_are_noted() {
    for (mode, kind) in [(0, "points"), (1, "lines"), (3, "lines")] {
        let mut document = PLAIN.document();
        document.json["meshes"][1]["primitives"][0]["mode"] = json!(mode);
        let read = read(document.to_glb());
        let primitive = &read.value.rigged.meshes[1].primitives[0];
        assert_eq!((primitive.triangles.len(), primitive.positions.len()), (0, 4));
        assert!(notes_say(&read, &["meshes[1].primitives[0]", kind]));
    }
}

#[test]
fn human_bones_of_both_editions_are_found() {
    let mut document = PLAIN.document();
    document.json["extensions"] = json!({ "VRMC_vrm": { "humanoid": { "humanBones": {
        "hips": { "node": ROOT }, "spine": { "node": BEND }, "head": { "node": 99 }
    } } } });
    let one = read(document.to_glb());
    assert!(notes_say(&one, &["head.node is 99", "left out"]), "{:?}", one.notes);
    let bones = one.value.rigged.human_bones.clone().unwrap();
    assert_eq!((bones.edition, bones.nodes["hips"], bones.nodes["spine"]), (VrmEdition::One, ROOT, BEND));
    assert_eq!(bones.nodes.len(), 2);
    document.json["extensions"] = json!({ "VRM": { "humanoid": { "humanBones": [
        { "bone": "hips", "node": ROOT, "useDefaultValues": true }, { "bone": "head", "node": BEND }
    ] } } });
    let bones = read(document.to_glb()).value.rigged.human_bones.clone().unwrap();
    assert_eq!((bones.edition, bones.nodes["hips"], bones.nodes["head"]), (VrmEdition::Zero, ROOT, BEND));
    assert!(read(PLAIN.document().to_glb()).value.rigged.human_bones.is_none());
}

#[test]
fn extensions_pass_or_are_refused_by_name() {
    let with = |names: &[&str]| {
        let mut document = PLAIN.document();
        document.json["extensionsRequired"] = json!(names);
        document.to_glb()
    };
    read(with(&[
        "KHR_mesh_quantization",
        "KHR_texture_transform",
        "KHR_materials_unlit",
        "VRMC_vrm",
        "KHR_texture_basisu",
    ]));
    read(with(&["EXT_meshopt_compression"]));
    let error = errors(with(&["KHR_draco_mesh_compression", "ACME_bones"]));
    for words in ["KHR_draco_mesh_compression (Draco", "ACME_bones", "Compression off"] {
        assert!(error.contains(words), "{error}");
    }
}

/// A file of Draco has no bytes for its accessors, whether it says that it needs the extension or not.
#[test]
fn draco_is_told_once() {
    for required in [true, false] {
        let mut document = PLAIN.document();
        if required {
            document.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
        }
        let draco =
            json!({ "KHR_draco_mesh_compression": { "bufferView": 0, "attributes": { "POSITION": 0 } } });
        document.json["meshes"][0]["primitives"][0]["extensions"] = draco;
        for accessor in document.json["accessors"].as_array_mut().unwrap() {
            accessor.as_object_mut().unwrap().remove("bufferView");
        }
        let error = errors(document.to_glb());
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("Draco"), "{error}");
    }
}

#[test]
fn normals_and_texture_coordinates_that_are_not_finite_are_replaced_in_the_file() {
    // the bar with normals and coordinates of which some are none
    let mut document = PLAIN.document();
    let count = crate::bar::positions().len();
    let mut normals = [0.0, 0.0, 1.0].repeat(count);
    normals[3 * 4] = f64::NAN;
    normals[3 * 7 + 2] = f64::INFINITY;
    let mut uvs = vec![0.5; 2 * count];
    uvs[5] = f64::NEG_INFINITY;
    let normals = document.accessor(&floats(&normals), F32, "VEC3", count);
    let uvs = document.accessor(&floats(&uvs), F32, "VEC2", count);
    let attributes = &mut document.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["NORMAL"] = json!(normals);
    attributes["TEXCOORD_0"] = json!(uvs);
    let read = read(document.to_glb());
    assert!(notes_say(&read, &["NORMAL", "2 vertices", "not finite"]), "{:?}", read.notes);
    assert!(notes_say(&read, &["TEXCOORD_0", "1 vertices"]), "{:?}", read.notes);

    // what is kept has them replaced and the rest as it was
    let buffer = read.value.buffer(0).unwrap();
    let start = |accessor: usize| {
        let view = document.json["accessors"][accessor]["bufferView"].as_u64().unwrap() as usize;
        document.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize
    };
    let numbers = |accessor: usize, range: std::ops::Range<usize>| -> Vec<f32> {
        let bytes = &buffer[start(accessor) + 4 * range.start..start(accessor) + 4 * range.end];
        bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let normal = numbers(normals, 12..15);
    // vertex 4 is on the edge at (0.25, −0.25), whose sides face +x and −z
    assert!(
        normal[0] > 0.1 && normal[2] < -0.1 && (normal.iter().map(|c| c * c).sum::<f32>() - 1.0).abs() < 1e-6,
        "{normal:?}"
    );
    assert!(numbers(normals, 0..3 * count).iter().chain(&numbers(uvs, 0..2 * count)).all(|c| c.is_finite()));
    assert_eq!((numbers(normals, 0..3), numbers(uvs, 4..6)), (vec![0.0, 0.0, 1.0], vec![0.0, 0.0]));
}

#[test]
fn a_file_without_matrices_binds_at_the_origin_as_the_standard_says() {
    let mut document = PLAIN.document();
    document.json["skins"][0].as_object_mut().unwrap().remove("inverseBindMatrices");
    let read = read(document.to_glb());
    assert!(notes_say(&read, &["skins[0]", "no inverse bind matrices"]));
    let skin = &read.value.rigged.skins[0];
    assert!(skin.bind_pose.iter().all(|pose| *pose == read.value.rigged.nodes[ROOT].world_from_node));
}

#[test]
fn two_skins_may_share_joints_and_a_mesh_may_be_shown_twice() {
    let mut document = PLAIN.document();
    let mut second = document.json["skins"][0].clone();
    second["joints"] = json!([BEND, ROOT]);
    document.push("skins", second);
    document.push("nodes", json!({ "name": "twin", "mesh": 0, "skin": 1 }));
    let read = read(document.to_glb());
    assert_eq!(read.value.rigged.surfaces().count(), 3);
    assert!(notes_say(&read, &["not in the scene"]));
    assert!(notes_say(&read, &["bound at another place in another skin"]), "{:?}", read.notes);
    let [first, twin] = [SHOWN, 5].map(|node| SurfaceId { node, primitive: 0 });
    let rest = read.value.rigged.rest_pose();
    assert_ne!(read.value.rigged.world_vertices(first, &rest), read.value.rigged.world_vertices(twin, &rest));
}

#[test]
fn trailing_bytes_and_foreign_chunks_are_passed_over() {
    let document = PLAIN.document();
    let mut bytes = document.to_glb();
    bytes.extend(4u32.to_le_bytes());
    bytes.extend(b"ACMEdata");
    let read_again = read(bytes.clone());
    assert!(notes_say(&read_again, &["12 bytes after the end"]));
    let length = bytes.len() as u32;
    bytes[8..12].copy_from_slice(&length.to_le_bytes());
    assert_eq!(read(bytes.clone()).value.rigged.nodes, read_again.value.rigged.nodes);
    assert_eq!(read(bytes.clone()).value.source.bytes(), bytes);
    // a container without a binary chunk is a whole file too
    let bare = glb(r#"{"asset":{"version":"2.0"}}"#, &[]);
    assert!(read_character(bare).unwrap().value.rigged.nodes.is_empty());
}
