//! Flesh in a character's own file: it plays as it was given, and all else is as it was.

use crate::baked::{Baked, bake, pose_of_file, wobble};
use crate::bar::{BEND, Document, PLAIN, PROP, ROOT, SHOWN, bars};
use crate::naive::Naive;
use crate::read;
use serde_json::{Value, json};
use sinew_character::{ChannelPath, CharacterPose, SurfaceId};
use sinew_gltf::{CharacterFile, ErrorMeasure, FleshBake, Quantization, SkinnedGlb, SkinnedGlbOptions};
use sinew_math::{Vec3, so3};

const BAR: SurfaceId = SurfaceId { node: SHOWN, primitive: 0 };
const PLAYED: SkinnedGlbOptions = SkinnedGlbOptions {
    animation: Some(0),
    fps: 30.0,
    start: 0.0,
    error_fraction: 1e-3,
    measure: ErrorMeasure::AllFlesh,
    component_limit: 64,
    quantization: Quantization::Quantized,
    bake: FleshBake::Morphs,
    is_compact: false,
    is_compressed: false,
    helper_limit: None,
    influence_limit: 4,
    memory_limit: 1 << 30,
};

fn bake_bar(document: &Document, options: SkinnedGlbOptions) -> (CharacterFile, Baked) {
    let character = read(document.to_glb()).value;
    let baked = bake(&character, options, &[BAR], |time| pose_of_file(&character, &options, time), wobble);
    (character, baked)
}

#[test]
fn flesh_plays_as_it_was_given_in_every_packing() {
    for (name, document) in bars() {
        let (_, baked) = bake_bar(&document, PLAYED);
        let body = &baked.report.bodies[0];
        assert!(body.is_met() && body.components > 0 && body.damped_vertices == 0, "{name}: {body}");
        assert!(baked.report.notes.is_empty() && baked.report.keyed_nodes == 0, "{:?}", baked.report);
        baked.assert_plays(name);
    }
}

#[test]
fn the_error_is_a_thousandth_of_the_diagonal_at_rest() {
    let (_, baked) = bake_bar(&PLAIN.document(), PLAYED);
    // the bar is 0.5 by 2 by 0.5, its top 0.125 higher by its morph target, at half the size
    let diagonal = 0.5 * (0.5f64.powi(2) + 2.125f64.powi(2) + 0.5f64.powi(2)).sqrt();
    assert!((baked.report.bodies[0].allowed_error - 1e-3 * diagonal).abs() < 1e-9);
}

#[test]
fn a_tighter_error_takes_more_components_and_a_limit_is_kept_and_told() {
    let document = PLAIN.document();
    let (_, loose) = bake_bar(&document, PLAYED);
    let (_, tight) = bake_bar(&document, SkinnedGlbOptions { error_fraction: 1e-5, ..PLAYED });
    assert!(tight.report.bodies[0].components > loose.report.bodies[0].components);
    // between frames four keys per frame leave more
    let body = &tight.report.bodies[0];
    assert!(body.clips[0].error_at_frames <= body.allowed_error && body.largest_error < 1e-3, "{body}");
    assert!(tight.report.bytes_added > loose.report.bytes_added);
    tight.assert_plays("tight");
    // some programs cut weights off below 0
    let played = tight.character();
    let weights =
        played.rigged.animations[0].channels.iter().filter(|channel| channel.path == ChannelPath::Weights);
    let values: Vec<f64> = weights.flat_map(|channel| channel.values.iter().copied()).collect();
    assert!(!values.is_empty() && values.iter().all(|value| (0.0..=1.0).contains(value)), "{values:?}");
    let (_, limited) = bake_bar(&document, SkinnedGlbOptions { component_limit: 1, ..PLAYED });
    let body = &limited.report.bodies[0];
    assert!(body.components == 1 && !body.is_met() && body.to_string().contains("were asked for"), "{body}");
    limited.assert_plays("limited");
}

#[test]
fn all_that_flesh_does_not_need_stays_as_it_was() {
    let mut document = PLAIN.document();
    document.json["extras"] = json!({ "by": "hand", "number": 0.123_456_789_012_345_67 });
    document.json["extensions"] = json!({ "EXT_unknown": { "list": [1, 2.5, null] } });
    document.json["extensionsUsed"] = json!(["EXT_unknown"]);
    document.json["meshes"][0]["extras"] = json!({ "targetNames": ["rise"], "other": 1 });
    document.json["nodes"][SHOWN]["weights"] = json!([0.75]);
    let (character, baked) = bake_bar(&document, PLAYED);
    let original = Naive::of_glb(character.source.bytes());
    baked.assert_keeps(
        &original,
        &document.buffer,
        &["/buffers/0/byteLength", "/animations/0/samplers/0/", "/animations/0/samplers/3/"],
    );
    let (json, count) = (baked.json(), baked.report.bodies[0].components);
    let lengths = [&json["meshes"][0]["weights"], &json["nodes"][SHOWN]["weights"]];
    assert!(lengths.iter().all(|weights| weights.as_array().unwrap().len() == 1 + count));
    let names = json["meshes"][0]["extras"]["targetNames"].as_array().unwrap();
    assert_eq!((names.len(), &names[0], &names[1]), (1 + count, &json!("rise"), &json!("flesh 1")));
    // at rest it looks as it did
    let (now, surface) = (baked.character(), BAR);
    assert_eq!(
        now.rigged.world_vertices(surface, &now.rigged.rest_pose()),
        character.rigged.world_vertices(surface, &character.rigged.rest_pose())
    );
}

#[test]
fn flesh_that_does_nothing_leaves_the_file_alone() {
    let document = PLAIN.document();
    let character = read(document.to_glb()).value;
    let pose = |time| pose_of_file(&character, &PLAYED, time);
    let baked = bake(&character, PLAYED, &[BAR], pose, |x, _| *x);
    let body = &baked.report.bodies[0];
    assert!(body.components == 0 && body.largest_error == 0.0 && baked.report.bytes_added == 0, "{body}");
    // all but the signature of who has written it
    let mut json = baked.json();
    assert!(json["asset"].as_object_mut().unwrap().remove("extras").unwrap().get("sinew").is_some());
    assert_eq!(json, Naive::of_glb(character.source.bytes()).json);
}

#[test]
fn without_an_animation_one_is_added_and_the_others_stay() {
    let options = SkinnedGlbOptions { animation: None, ..PLAYED };
    let (character, baked) = bake_bar(&PLAIN.document(), options);
    baked.assert_plays("at rest");
    let now = baked.character();
    assert_eq!((now.rigged.animations.len(), now.rigged.animations[0].name.as_deref()), (2, Some("flesh")));
    // in the other animation the bar moves as it did
    for time in [0.0, 0.3, 0.7, 1.2] {
        let vertices = |character: &CharacterFile, animation: usize| {
            character.rigged.world_vertices(BAR, &character.rigged.pose_at(animation, time).unwrap()).unwrap()
        };
        assert_eq!(vertices(&now, 1), vertices(&character, 0), "{time}");
    }
}

#[test]
fn keys_of_a_take_that_starts_late_begin_with_it_and_own_targets_go_on_around_it() {
    // so large that one key per frame will do
    let options = SkinnedGlbOptions { start: 0.2, fps: 60.0, error_fraction: 5e-3, ..PLAYED };
    let (_, baked) = bake_bar(&PLAIN.document(), options);
    baked.assert_plays("late");
    let now = baked.character();
    let channel = now.rigged.animations[0].channels.iter().find(|channel| channel.node == SHOWN).unwrap();
    // the file has keys at 0, 0.5 and 1.25 s, frames are from 0.2 to 0.85 s, and flesh fades out with eight keys
    assert_eq!((channel.times.len(), channel.times[0]), (50, 0.0));
    assert!((channel.times[1] - 0.2).abs() < 1e-7 && channel.times[49] == 1.25);
    assert!((channel.times[48] - 1.1).abs() < 1e-6);
    let own = |key: usize| channel.value(key)[0];
    assert_eq!((own(0), own(49)), (0.0, 0.25));
    let flesh = |key: usize| &channel.value(key)[1..];
    assert_eq!(flesh(0), flesh(1));
    assert!(flesh(40).iter().any(|weight| *weight > 0.0) && flesh(49).iter().all(|weight| *weight == 0.0));
    for key in 40..48 {
        assert!(flesh(key).iter().zip(flesh(key + 1)).all(|(now, next)| next <= now), "{key}");
    }
    let notes = &baked.report.notes;
    assert!(notes.len() == 1 && notes[0].contains("0.40 s after the last frame"), "{notes:?}");
}

/// A pose with the bend turned and the root shifted further than the file has them.
fn elsewhere(character: &CharacterFile, options: &SkinnedGlbOptions, time: f64) -> CharacterPose {
    let mut pose = pose_of_file(character, options, time);
    let bend = &mut pose.parent_from_node[BEND];
    bend.rotation *= so3::exp(&Vec3::new(0.5 * time, 0.2, 0.0));
    pose.parent_from_node[ROOT].translation += Vec3::new(0.0, time * time, 0.1);
    character.rigged.place(&mut pose);
    pose
}

#[test]
fn joints_that_stand_elsewhere_get_keys_and_the_others_keep_theirs() {
    let document = PLAIN.document();
    let character = read(document.to_glb()).value;
    for options in [PLAYED, SkinnedGlbOptions { animation: None, ..PLAYED }] {
        let pose = |time| elsewhere(&character, &options, time);
        let baked = bake(&character, options, &[BAR], pose, wobble);
        assert_eq!(baked.report.keyed_nodes, 2);
        baked.assert_plays("elsewhere");
        let (now, animation) = (baked.character(), baked.animation());
        for frame in [0, 7, 39] {
            let time = f64::from(frame) / options.fps;
            let (found, given) = (now.rigged.pose_at(animation, time).unwrap(), pose(time));
            for (found, given) in found.world_from_node.iter().zip(&given.world_from_node) {
                assert!((found - given).amax() < crate::baked::ROUND_OFF);
            }
        }
        // the prop's own channel is as it was
        let prop = |character: &CharacterFile, animation: usize| {
            character.rigged.animations[animation]
                .channels
                .iter()
                .find(|channel| channel.node == PROP)
                .cloned()
        };
        assert_eq!(prop(&now, now.rigged.animations.len() - 1), prop(&character, 0));
    }
}

#[test]
fn a_node_that_stands_elsewhere_gives_up_its_matrix() {
    let character = read(PLAIN.document().to_glb()).value;
    let pose = |time| {
        let mut pose = pose_of_file(&character, &PLAYED, time);
        pose.parent_from_node[0].translation.x += time;
        character.rigged.place(&mut pose);
        pose
    };
    let baked = bake(&character, PLAYED, &[BAR], pose, wobble);
    assert!(baked.json()["nodes"][0].get("matrix").is_none());
    // the naive reader takes keys of nodes without a matrix only
    baked.assert_plays("armature");
}

fn frame_of(character: &CharacterFile, surface: SurfaceId) -> (CharacterPose, Vec<Vec3>) {
    let pose = character.rigged.pose_at(0, 0.0).unwrap();
    let vertices = character.rigged.world_vertices(surface, &pose).unwrap();
    (pose, vertices)
}

#[test]
fn frames_that_cannot_be_are_refused_and_leave_the_take_as_it_was() {
    let character = read(PLAIN.document().to_glb()).value;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("baked.glb");
    std::fs::write(&target, "old").unwrap();
    let mut writer = SkinnedGlb::new(&target, &character, PLAYED).unwrap();
    let (pose, vertices) = frame_of(&character, BAR);
    let mut refuse = |pose: &CharacterPose, surfaces: &[(SurfaceId, &[Vec3])], words: &str| {
        let error = writer.frame(pose, surfaces).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let mut bad = vertices.clone();
    bad[7].y = f64::NAN;
    refuse(&pose, &[(BAR, &bad)], "vertex 7");
    refuse(&pose, &[(BAR, &vertices[1..])], "19 positions and 20 vertices");
    refuse(&pose, &[(BAR, &vertices), (BAR, &vertices)], "twice");
    refuse(&pose, &[(SurfaceId { node: 99, primitive: 0 }, &vertices)], "not in the file");
    refuse(&pose, &[(SurfaceId { node: SHOWN, primitive: 1 }, &vertices)], "not in the file");
    let mut short = pose.clone();
    short.world_from_node.pop();
    refuse(&short, &[(BAR, &vertices)], "the pose has 4 nodes and the file 5");
    let mut torn = pose.clone();
    torn.world_from_node[BEND][(0, 3)] += 1.0;
    refuse(&torn, &[(BAR, &vertices)], "call `RiggedCharacter::place`");
    torn.parent_from_node[BEND].translation.x = f64::NAN;
    refuse(&torn, &[(BAR, &vertices)], "'bend'");
    let far: Vec<Vec3> = vertices.iter().map(|x| x * 1e30).collect();
    refuse(&pose, &[(BAR, &far)], "from its skin");

    // a good one is taken, and then only its like
    writer.frame(&pose, &[(BAR, &vertices)]).unwrap();
    let error = writer.frame(&pose, &[]).unwrap_err().to_string();
    assert!(error.contains("frame 1") && error.contains("other surfaces"), "{error}");
    drop(writer);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_take_without_frames_or_with_options_that_cannot_be_is_refused() {
    let character = read(PLAIN.document().to_glb()).value;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("baked.glb");
    let empty = SkinnedGlb::new(&target, &character, PLAYED).unwrap();
    assert!(empty.finish().unwrap_err().to_string().contains("no frames"));
    for (options, words) in [
        (SkinnedGlbOptions { animation: Some(1), ..PLAYED }, "animation 1 is not in the file, which has 1"),
        (SkinnedGlbOptions { fps: 0.0, ..PLAYED }, "frames per second"),
        (SkinnedGlbOptions { fps: f64::NAN, ..PLAYED }, "frames per second"),
        (SkinnedGlbOptions { start: -1.0, ..PLAYED }, "first frame"),
        (SkinnedGlbOptions { error_fraction: -1.0, ..PLAYED }, "fraction"),
    ] {
        let error = SkinnedGlb::new(&target, &character, options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let missing = SkinnedGlb::new(folder.path().join("none/a.glb"), &character, PLAYED);
    assert!(missing.unwrap_err().to_string().contains("there is no folder"));
    // single precision cannot tell frames apart so late
    let late = SkinnedGlbOptions { start: 1e6, fps: 1000.0, ..PLAYED };
    let mut writer = SkinnedGlb::new(&target, &character, late).unwrap();
    let pose = character.rigged.pose_at(0, 1e6).unwrap();
    writer.frame(&pose, &[]).unwrap();
    assert!(writer.frame(&pose, &[]).unwrap_err().to_string().contains("cannot be told"));
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn joints_that_turn_right_round_are_counted_and_do_not_spoil_the_rest() {
    let character = read(PLAIN.document().to_glb()).value;
    let pose = |time: f64| {
        let mut pose = pose_of_file(&character, &PLAYED, time);
        pose.parent_from_node[BEND].rotation = so3::exp(&Vec3::new(0.0, std::f64::consts::PI, 0.0));
        character.rigged.place(&mut pose);
        pose
    };
    let baked = bake(&character, PLAYED, &[BAR], pose, |x, time| x + Vec3::new(0.0, 0.0, 0.1 * time));
    let body = &baked.report.bodies[0];
    // the ring that follows both joints alike
    assert_eq!(body.damped_vertices, 4, "{body}");
    baked.assert_plays("round");
    let values: Vec<Value> = baked.json()["accessors"].as_array().unwrap().clone();
    let largest = values.iter().filter_map(|accessor| accessor["max"][0].as_f64()).fold(0.0, f64::max);
    assert!(largest < 100.0, "{largest}");
}
