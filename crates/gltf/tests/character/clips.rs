//! Several clips in one file: each plays as it was given, with shared morph targets, and the others play as they did.

use crate::baked::{ROUND_OFF, wobble};
use crate::bar::{Document, F32, PLAIN, SHOWN, floats};
use crate::naive::Naive;
use crate::read;
use serde_json::json;
use sinew_character::SurfaceId;
use sinew_gltf::{CharacterFile, SkinnedGlb, SkinnedGlbOptions, SkinnedGlbReport};
use sinew_math::Vec3;

const BAR: SurfaceId = SurfaceId { node: SHOWN, primitive: 0 };
const FPS: f64 = 30.0;

/// A bar with four animations: its own, two that turn the bend, and one that does nothing to it.
fn bar() -> CharacterFile {
    let mut document: Document = PLAIN.document();
    let times = document.accessor(&floats(&[0.0, 1.0]), F32, "SCALAR", 2);
    for (name, angle) in [("wave", 0.6), ("still", 0.0), ("bow", -0.8)] {
        let half: f64 = 0.5 * angle;
        let turn = [0.0, 0.0, 0.0, 1.0, half, 0.0, 0.0, (1.0 - half * half).sqrt()];
        let output = document.accessor(&floats(&turn), F32, "VEC4", 2);
        document.push(
            "animations",
            json!({
                "name": name,
                "samplers": [{ "input": times, "output": output }],
                "channels": [{ "sampler": 0, "target": { "node": 2, "path": "rotation" } }]
            }),
        );
    }
    read(document.to_glb()).value
}

/// The moved bar in a frame of an animation.
fn moved(character: &CharacterFile, animation: usize, frame: usize) -> Vec<Vec3> {
    let time = frame as f64 / FPS;
    let pose = character.rigged.pose_at(animation, time).unwrap();
    let vertices = character.rigged.world_vertices(BAR, &pose).unwrap();
    // not the same in both
    vertices.iter().map(|x| wobble(x, time + animation as f64)).collect()
}

/// Writes flesh for some animations, and how many frames of each.
fn write(character: &CharacterFile, clips: &[(usize, usize)]) -> (Vec<u8>, SkinnedGlbReport) {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("clips.glb");
    let options = SkinnedGlbOptions {
        animation: Some(clips[0].0),
        fps: FPS,
        is_compact: false,
        ..SkinnedGlbOptions::default()
    };
    let mut writer = SkinnedGlb::new(&target, character, options).unwrap();
    for (place, (animation, frames)) in clips.iter().enumerate() {
        if place > 0 {
            writer.begin_clip(Some(*animation), FPS, 0.0).unwrap();
        }
        for frame in 0..*frames {
            let pose = character.rigged.pose_at(*animation, frame as f64 / FPS).unwrap();
            writer.frame(&pose, &[(BAR, &moved(character, *animation, frame))]).unwrap();
        }
    }
    let report = writer.finish().unwrap();
    (std::fs::read(&target).unwrap(), report)
}

#[test]
fn every_clip_plays_as_given_and_comes_first_in_its_order() {
    let character = bar();
    let (bytes, report) = write(&character, &[(3, 31), (1, 31)]);
    let (now, naive) = (read(bytes.clone()).value, Naive::of_glb(&bytes));
    let names: Vec<Option<&str>> =
        now.rigged.animations.iter().map(|animation| animation.name.as_deref()).collect();
    let own = character.rigged.animations[0].name.as_deref();
    assert_eq!(names, [Some("bow"), Some("wave"), own, Some("still")]);
    let body = &report.bodies[0];
    assert!(body.is_met() && report.notes.is_empty(), "{body} {:?}", report.notes);
    assert_eq!(body.clips.iter().map(|clip| clip.animation).collect::<Vec<_>>(), [Some(3), Some(1)]);
    for (place, animation) in [3, 1].into_iter().enumerate() {
        for frame in 0..31 {
            let time = frame as f64 / FPS;
            let found = naive.vertices(SHOWN, 0, Some((place, time)));
            let gaps = found
                .iter()
                .zip(moved(&character, animation, frame))
                .map(|(a, b)| (Vec3::from(*a) - b).norm());
            assert!(
                gaps.fold(0.0, f64::max) <= body.clips[place].error_at_frames + ROUND_OFF,
                "{animation} {frame}"
            );
        }
    }
}

#[test]
fn clips_without_flesh_set_its_weights_to_zero() {
    let character = bar();
    let (bytes, report) = write(&character, &[(1, 31)]);
    let now = read(bytes).value;
    let count = 1 + report.bodies[0].components;
    // the played one comes first, the others keep their order
    for (new, old) in [(1, 0), (2, 2), (3, 3)] {
        for time in [0.0, 0.4, 1.0] {
            let poses = [(&now, new), (&character, old)]
                .map(|(file, animation)| file.rigged.pose_at(animation, time).unwrap());
            let weights = poses[0].morph_weights[SHOWN].as_ref().unwrap();
            assert!(
                weights.len() == count && weights[1..].iter().all(|weight| *weight == 0.0),
                "{weights:?}"
            );
            let [found, before] = [(&now, &poses[0]), (&character, &poses[1])]
                .map(|(file, pose)| file.rigged.world_vertices(BAR, pose).unwrap());
            assert_eq!(found, before);
        }
    }
}

#[test]
fn an_animation_is_played_once_and_one_that_is_missing_is_refused() {
    let character = bar();
    let folder = tempfile::tempdir().unwrap();
    let options =
        SkinnedGlbOptions { animation: Some(1), fps: FPS, is_compact: false, ..SkinnedGlbOptions::default() };
    let mut writer = SkinnedGlb::new(folder.path().join("clips.glb"), &character, options).unwrap();
    let pose = character.rigged.pose_at(1, 0.0).unwrap();
    writer.frame(&pose, &[(BAR, &moved(&character, 1, 0))]).unwrap();
    assert!(writer.begin_clip(Some(1), FPS, 0.0).unwrap_err().to_string().contains("twice"));
    assert!(writer.begin_clip(Some(9), FPS, 0.0).unwrap_err().to_string().contains("not in the file"));
}
