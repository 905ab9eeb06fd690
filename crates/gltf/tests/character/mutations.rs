//! Thousands of changes to small files, always the same ones: a reader answers each with a character that holds together, or with
//! errors.

use crate::bar::{Document, bars, glb};
use crate::packed::packed;
use serde_json::{Value, json};
use sinew_character::SurfaceId;
use sinew_gltf::{CharacterFile, SkinnedGlb, SkinnedGlbOptions, read_character};
use sinew_math::Vec3;

/// A generator of numbers that are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// What every character that is read must fulfil, whatever file it comes from.
fn hold_together(character: &CharacterFile) {
    let count = character.rigged.nodes.len();
    assert_eq!(character.rigged.order.len(), count);
    let mut seen = vec![false; count];
    for &node in &character.rigged.order {
        assert!(character.rigged.nodes[node].parent.is_none_or(|parent| seen[parent]));
        seen[node] = true;
    }
    assert!(character.rigged.nodes.iter().all(|node| node.world_from_node.iter().all(|x| x.is_finite())));
    for skin in &character.rigged.skins {
        assert!(skin.joints.iter().all(|joint| *joint < count) && skin.top < skin.joints.len());
        assert_eq!((skin.inverse_bind.len(), skin.bind_pose.len()), (skin.joints.len(), skin.joints.len()));
        assert!(skin.bind_pose.iter().flatten().all(|x| x.is_finite()));
    }
    for primitive in character.rigged.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        let vertices = primitive.positions.len();
        assert!(primitive.triangles.iter().flatten().all(|corner| (*corner as usize) < vertices));
        assert!(primitive.targets.iter().all(|t| t.vertices.iter().all(|v| (*v as usize) < vertices)));
        if let Some(weights) = &primitive.weights {
            assert_eq!(weights.vertex_count(), vertices);
            for vertex in 0..vertices {
                let sum: f64 = weights.of(vertex).iter().map(|entry| entry.weight).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{sum}");
            }
        }
    }
    let joints = character.rigged.find_joints();
    assert!(joints.iter().enumerate().all(|(i, joint)| joint.parent.is_none_or(|parent| parent < i)));
    let mut poses = vec![character.rigged.rest_pose()];
    for animation in 0..character.rigged.animations.len() {
        let duration = character.rigged.animations[animation].duration;
        poses.extend(
            [0.0, 0.3 * duration, duration, f64::NAN]
                .map(|time| character.rigged.pose_at(animation, time).unwrap()),
        );
    }
    for surface in character.rigged.surfaces() {
        let vertices = character.rigged.primitive(surface).unwrap().positions.len();
        assert_eq!(character.rigged.bind_vertices(surface).unwrap().len(), vertices);
        poses.iter().for_each(|pose| {
            assert_eq!(character.rigged.world_vertices(surface, pose).unwrap().len(), vertices)
        });
    }
}

/// Reads, and says whether it was a character.
fn answer(bytes: Vec<u8>) -> bool {
    match read_character(bytes) {
        Ok(read) => {
            hold_together(&read.value);
            true
        }
        Err(errors) => {
            assert!(!errors.errors.is_empty() && errors.errors.iter().all(|error| error.message.len() > 10));
            false
        }
    }
}

/// Both answers must come up, or the changes test nothing.
fn expect_both(what: &str, answers: &[bool]) {
    let good = answers.iter().filter(|good| **good).count();
    assert!(good > 0 && good < answers.len(), "{what}: {good} of {} were characters", answers.len());
}

/// All bars, then two of them packed.
fn files() -> Vec<Document> {
    let mut files: Vec<Document> = bars().into_iter().map(|(_, document)| document).collect();
    files.extend([0, 1].map(|bar| packed(&files[bar])));
    files
}

#[test]
fn bytes_that_are_flipped_anywhere() {
    let mut dice = Dice(1);
    let seeds: Vec<Vec<u8>> =
        files().iter().flat_map(|document| [document.to_glb(), document.to_text(None)]).collect();
    let answers: Vec<bool> = (0..3000)
        .map(|case| {
            let mut bytes = seeds[case % seeds.len()].clone();
            for _ in 0..=dice.below(4) {
                let at = dice.below(bytes.len());
                bytes[at] =
                    if dice.below(2) == 0 { bytes[at] ^ 1 << dice.below(8) } else { dice.next() as u8 };
            }
            answer(bytes)
        })
        .collect();
    expect_both("flips", &answers);
}

#[test]
fn bytes_of_the_buffer_that_are_anything() {
    let mut dice = Dice(2);
    let seeds = files();
    let extremes =
        [0u32, 1, 0xffff_ffff, 0x7fc0_0000, 0x7f80_0000, 0xff7f_ffff, 0x7f7f_ffff, 0x0000_ffff, 0x8000_0000];
    let answers: Vec<bool> = (0..2000)
        .map(|case| {
            let mut document = seeds[case % seeds.len()].clone();
            for _ in 0..=dice.below(3) {
                let at = 4 * dice.below(document.buffer.len() / 4);
                let word = extremes[dice.below(extremes.len())];
                document.buffer[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            answer(document.to_glb())
        })
        .collect();
    expect_both("buffers", &answers);
}

#[test]
fn files_that_are_cut_anywhere() {
    let bytes = files()[0].to_glb();
    let text = files()[0].to_text(None);
    for seed in [bytes, text] {
        for length in (0..seed.len()).step_by(7) {
            assert!(!answer(seed[..length].to_vec()), "{length}");
        }
        // a container whose header is honest about the cut
        for length in (20..seed.len()).step_by(13).filter(|_| seed.starts_with(b"glTF")) {
            let mut cut = seed[..length].to_vec();
            cut[8..12].copy_from_slice(&(length as u32).to_le_bytes());
            assert!(!answer(cut), "{length}");
        }
    }
}

/// All places of a value, the value itself included.
fn places(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| places(item, format!("{path}/{i}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| places(member, format!("{path}/{key}"), found));
        }
        _ => {}
    }
    found.push(path);
}

fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(4),
        json!(5),
        json!(7),
        json!(-1),
        json!(255),
        json!(65_535),
        json!(4_294_967_295u32),
        json!(1u64 << 40),
        json!(u64::MAX),
        json!(0.5),
        json!(1e300),
        json!("VEC3"),
        json!("SCALAR"),
        json!("MAT4"),
        json!("weights"),
        json!("scale"),
        json!("CUBICSPLINE"),
        json!("STEP"),
        json!([]),
        json!([0]),
        json!([1, 1, 2]),
        json!([0, 1, 2, 3]),
        json!({}),
        json!({ "POSITION": 0 }),
        json!([{}]),
        json!(5120),
        json!(5121),
        json!(5123),
        json!(5125),
        json!(5126),
    ]
}

/// Every value of the document takes on every odd value once.
#[test]
fn members_that_are_anything() {
    let odd = odd_values();
    let mut answers = Vec::new();
    for document in files() {
        let json = document.json_with_buffer(None);
        let mut found = Vec::new();
        places(&json, String::new(), &mut found);
        // half of all pairs, another half for every file
        for (i, path) in found.iter().enumerate() {
            for value in odd.iter().skip((i + answers.len()) % 2).step_by(2) {
                let mut changed = json.clone();
                *changed.pointer_mut(path).unwrap() = value.clone();
                answers.push(answer(glb(&changed.to_string(), &document.buffer)));
            }
        }
    }
    assert!(answers.len() > 10_000, "{}", answers.len());
    expect_both("members", &answers);
}

#[test]
fn members_that_change_places() {
    let mut dice = Dice(3);
    let seeds = files();
    let answers: Vec<bool> = (0..3000)
        .map(|case| {
            let document = &seeds[case % seeds.len()];
            let mut json = document.json_with_buffer(None);
            for _ in 0..=dice.below(3) {
                let mut found = Vec::new();
                places(&json, String::new(), &mut found);
                let from = found[dice.below(found.len())].clone();
                let taken = json.pointer(&from).unwrap().clone();
                *json.pointer_mut(&found[dice.below(found.len())]).unwrap() = taken;
            }
            answer(glb(&json.to_string(), &document.buffer))
        })
        .collect();
    expect_both("places", &answers);
}

/// Writes two frames of flesh on every surface into a character's file; `None` if they were refused.
fn written_back(character: &CharacterFile) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("baked.glb");
    let animation = (!character.rigged.animations.is_empty()).then_some(0);
    let options = SkinnedGlbOptions { animation, ..SkinnedGlbOptions::default() };
    let mut writer = SkinnedGlb::new(&target, character, options).unwrap();
    let pose = animation
        .map_or(character.rigged.rest_pose(), |animation| character.rigged.pose_at(animation, 0.0).unwrap());
    for frame in 0..2 {
        let mut pose = pose.clone();
        if let Some(place) = pose.parent_from_node.last_mut() {
            place.translation.x += f64::from(frame);
        }
        character.rigged.place(&mut pose);
        let moved = |surface: SurfaceId| {
            let vertices = character.rigged.world_vertices(surface, &pose).unwrap().into_iter();
            let swing = Vec3::new(0.0, 0.1 * f64::from(frame), 0.2);
            (surface, vertices.enumerate().map(|(i, x)| x + (i % 3) as f64 * swing).collect())
        };
        let moved: Vec<(SurfaceId, Vec<Vec3>)> = character.rigged.surfaces().map(moved).collect();
        let given: Vec<(SurfaceId, &[Vec3])> =
            moved.iter().map(|(surface, vertices)| (*surface, vertices.as_slice())).collect();
        writer.frame(&pose, &given).ok()?;
    }
    writer.finish().ok()?;
    Some(std::fs::read(&target).unwrap())
}

/// Odd files that can be read take flesh, and can be read again.
#[test]
fn odd_characters_are_written_back_as_characters() {
    let odd = odd_values();
    let mut answers = Vec::new();
    for (document, fraction) in files().iter().zip([3, 9]) {
        let json = document.json_with_buffer(None);
        let mut found = Vec::new();
        places(&json, String::new(), &mut found);
        for (i, path) in found.iter().enumerate() {
            for value in odd.iter().skip(i % fraction).step_by(fraction) {
                let mut changed = json.clone();
                *changed.pointer_mut(path).unwrap() = value.clone();
                let Ok(character) = read_character(glb(&changed.to_string(), &document.buffer)) else {
                    continue;
                };
                let bytes = written_back(&character.value);
                answers.push(bytes.is_some());
                if let Some(Err(errors)) = bytes.map(read_character) {
                    panic!("{path} = {value}: {errors}");
                }
            }
        }
    }
    expect_both("written back", &answers);
}
