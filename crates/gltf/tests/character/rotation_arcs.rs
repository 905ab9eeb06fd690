//! Rotations whose keys are far apart: in clips with flesh they get keys on the arcs between, and turn as they did.

use crate::baked::{Baked, FRAMES, bake, pose_of_file, wobble};
use crate::bar::{BEND, Document, F32, PLAIN, PROP, ROOT, SHOWN, add_sparse, bars, floats};
use crate::read;
use serde_json::{Value, json};
use sinew_character::{AnimationChannel, ChannelPath, SurfaceId};
use sinew_gltf::{CharacterFile, FleshBake, SkinnedGlbOptions};

const BAR: SurfaceId = SurfaceId { node: SHOWN, primitive: 0 };
/// How far keys may be apart for an error of a thousandth (rad): 17°.
const NEAR: f64 = 0.293;
/// The angle that single precision leaves of a rotation: twice 6e-8 for each of four components.
const ROUND_OFF: f64 = 5e-7;

fn options() -> SkinnedGlbOptions {
    SkinnedGlbOptions { animation: Some(0), bake: FleshBake::Morphs, is_compact: false, ..Default::default() }
}

fn bake_bar(document: &Document, options: SkinnedGlbOptions) -> (CharacterFile, Baked) {
    let character = read(document.to_glb()).value;
    let baked = bake(&character, options, &[BAR], |time| pose_of_file(&character, &options, time), wobble);
    (character, baked)
}

fn rotation(character: &CharacterFile, animation: usize, node: usize) -> &AnimationChannel {
    let channels = &character.rigged.animations[animation].channels;
    channels.iter().find(|channel| channel.node == node && channel.path == ChannelPath::Rotation).unwrap()
}

/// Whether two channels turn alike at all times, to round-off.
fn turn_alike(a: &AnimationChannel, b: &AnimationChannel) -> bool {
    let last = a.times[a.times.len() - 1];
    (0..=200).map(|i| last * f64::from(i) / 200.0).all(|time| {
        let [a, b] = [a, b].map(|channel| channel.rotation(time).unwrap());
        a.angle_to(&b) < ROUND_OFF
    })
}

/// The largest angle between neighbouring keys (rad).
fn largest_angle(channel: &AnimationChannel) -> f64 {
    let turns = channel.times.windows(2).map(|pair| {
        let [a, b] = [pair[0], pair[1]].map(|time| channel.rotation(time).unwrap());
        a.angle_to(&b)
    });
    turns.fold(0.0, f64::max)
}

/// The bend turns by quarters, and once by quaternions of opposite signs.
#[test]
fn in_every_packing_joints_turn_as_they_did_with_keys_near_each_other() {
    for (name, document) in bars() {
        let (character, baked) = bake_bar(&document, options());
        let now = baked.character();
        let [old, new] = [&character, &now].map(|file| rotation(file, 0, BEND));
        assert!(largest_angle(old) > 1.5 && largest_angle(new) <= NEAR, "{name}");
        assert!(turn_alike(old, new), "{name}");
        baked.assert_plays(name);
        // cubics and steps are as they were
        for node in [ROOT, PROP] {
            let [old, new] = [&character, &now].map(|file| {
                file.rigged.animations[0].channels.iter().find(|channel| channel.node == node).unwrap()
            });
            assert_eq!(old, new, "{name}");
        }
    }
}

#[test]
fn sparse_rotations_are_read_as_any() {
    let mut document = PLAIN.document();
    let output = document.json["animations"][0]["samplers"][0]["output"].as_u64().unwrap() as usize;
    add_sparse(&mut document, output, &[1], &[0.8, 0.6, 0.0, 0.0]);
    let (character, baked) = bake_bar(&document, options());
    let now = baked.character();
    let [old, new] = [&character, &now].map(|file| rotation(file, 0, BEND));
    assert!(largest_angle(old) > 3.0 && largest_angle(new) <= NEAR);
    assert!(turn_alike(old, new));
}

/// Two animations share times and values, one of them shares its sampler between two nodes, and flesh is in the other.
#[test]
fn what_other_clips_and_channels_share_stays_theirs() {
    let mut document = PLAIN.document();
    let shared = document.json["animations"][0]["samplers"][0].clone();
    let channel = |node: usize| json!({ "sampler": 0, "target": { "node": node, "path": "rotation" } });
    let twice = json!({ "name": "twice", "samplers": [shared], "channels": [channel(BEND), channel(PROP)] });
    document.push("animations", twice.clone());
    let (character, baked) = bake_bar(&document, options());
    let json = baked.json();
    assert_eq!(json["animations"][1]["samplers"][0], twice["samplers"][0]);
    assert_eq!(json["animations"][1]["channels"][0], twice["channels"][0]);
    let now = baked.character();
    for node in [BEND, PROP] {
        assert_eq!(rotation(&now, 1, node), rotation(&character, 1, node));
    }

    // flesh in the other: keys that are the same are stored once
    let both = SkinnedGlbOptions { animation: Some(1), ..options() };
    let (character, baked) = bake_bar(&document, both);
    let (json, now) = (baked.json(), baked.character());
    let samplers = json["animations"][0]["samplers"].as_array().unwrap();
    let of = |channel: usize| {
        let sampler = json["animations"][0]["channels"][channel]["sampler"].as_u64().unwrap();
        &samplers[sampler as usize]
    };
    assert!(of(0)["input"] == of(1)["input"] && of(0)["output"] == of(1)["output"]);
    for node in [BEND, PROP] {
        let new = rotation(&now, 0, node);
        assert!(turn_alike(rotation(&character, 1, node), new) && largest_angle(new) <= NEAR);
    }
    assert_eq!(rotation(&now, 1, BEND), rotation(&character, 0, BEND));
}

/// Joints that are keyed anew turn by 0.4 from frame to frame.
#[test]
fn keys_of_fast_joints_are_near_each_other_too() {
    let character = read(PLAIN.document().to_glb()).value;
    let pose = |time: f64| {
        let mut pose = pose_of_file(&character, &options(), time);
        let turn = sinew_math::Vec3::new(0.0, 12.0 * time, 0.0);
        pose.parent_from_node[ROOT].rotation = sinew_math::so3::exp(&turn);
        character.rigged.place(&mut pose);
        pose
    };
    let baked = bake(&character, options(), &[BAR], pose, wobble);
    baked.assert_plays("fast");
    let now = baked.character();
    let channel = rotation(&now, 0, ROOT);
    assert_eq!(channel.times.len(), 2 * FRAMES - 1);
    assert!(largest_angle(channel) < 0.21);
}

/// A hundred nodes spin by half turns in a file of a few kilobytes: keys for all of them would be several times as large.
#[test]
fn a_compact_file_has_as_many_keys_as_there_is_room_for_and_says_so() {
    let mut document = PLAIN.document();
    let keys = 20;
    let times: Vec<f64> = (0..keys).map(|key| 0.05 * key as f64).collect();
    let times = document.accessor(&floats(&times), F32, "SCALAR", keys);
    for node in 0..100 {
        let lean = 1e-3 * (node + 1) as f64;
        let turn =
            |key: usize| if key.is_multiple_of(2) { [0.0, 0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0, lean] };
        let values: Vec<f64> = (0..keys).flat_map(turn).collect();
        let output = document.accessor(&floats(&values), F32, "VEC4", keys);
        let node = document.push("nodes", json!({ "name": "spinner" }));
        document.json["scenes"][0]["nodes"].as_array_mut().unwrap().push(json!(node));
        let animation = &mut document.json["animations"][0];
        let sampler = animation["samplers"].as_array().unwrap().len();
        animation["samplers"].as_array_mut().unwrap().push(json!({ "input": times, "output": output }));
        let channel = json!({ "sampler": sampler, "target": { "node": node, "path": "rotation" } });
        animation["channels"].as_array_mut().unwrap().push(channel);
    }
    let compact = SkinnedGlbOptions { is_compact: true, bake: FleshBake::Auto, ..options() };
    let (character, baked) = bake_bar(&document, compact);
    let notes: Vec<&String> = baked.report.notes.iter().filter(|note| note.contains("° apart")).collect();
    assert_eq!(notes.len(), 1, "{:?}", baked.report.notes);
    assert!(baked.report.bytes <= 3 * character.source.bytes().len() as u64);
    let (_, large) = bake_bar(&document, options());
    assert!(large.report.bytes > 3 * character.source.bytes().len() as u64);
    let spins: Vec<Value> = large.json()["nodes"].as_array().unwrap().clone();
    let now = large.character();
    for node in (0..spins.len()).filter(|node| spins[*node]["name"] == "spinner") {
        assert!(largest_angle(rotation(&now, 0, node)) <= NEAR);
    }
}
