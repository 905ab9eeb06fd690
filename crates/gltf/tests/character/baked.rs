//! A take of made-up flesh, written into a character's file and read again.

use crate::naive::Naive;
use crate::read;
use serde_json::Value;
use sinew_character::{CharacterPose, SurfaceId};
use sinew_gltf::{CharacterFile, SkinnedGlb, SkinnedGlbOptions, SkinnedGlbReport};
use sinew_math::{Vec3, real};

/// What single precision leaves: keys of joints and times are off by 6e-8 of lengths up to 10 and of seconds at speeds up to 10.
pub(crate) const ROUND_OFF: f64 = 2e-6;

pub(crate) const FRAMES: usize = 40;

/// What was written, and what it was written from.
pub(crate) struct Baked {
    pub(crate) bytes: Vec<u8>,
    pub(crate) report: SkinnedGlbReport,
    /// By frame, then by surface.
    fed: Vec<Vec<(SurfaceId, Vec<Vec3>)>>,
    options: SkinnedGlbOptions,
}

/// Flesh that swings to and fro and bulges, more where it is higher.
pub(crate) fn wobble(x: &Vec3, time: f64) -> Vec3 {
    let swing = 0.2 * real::sin(9.0 * time) * (1.0 + x.z);
    let bulge = 0.1 * real::cos(5.0 * time);
    x + Vec3::new(swing, bulge * real::sin(4.0 * x.z), -0.3 * bulge * x.x)
}

/// The pose of a frame as the file has it.
pub(crate) fn pose_of_file(
    character: &CharacterFile,
    options: &SkinnedGlbOptions,
    time: f64,
) -> CharacterPose {
    options.animation.map_or_else(
        || character.rigged.rest_pose(),
        |animation| character.rigged.pose_at(animation, time).unwrap(),
    )
}

/// Writes flesh on some surfaces of a character in given poses.
pub(crate) fn bake(
    character: &CharacterFile,
    options: SkinnedGlbOptions,
    surfaces: &[SurfaceId],
    pose: impl Fn(f64) -> CharacterPose,
    flesh: impl Fn(&Vec3, f64) -> Vec3,
) -> Baked {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("baked.glb");
    let mut writer = SkinnedGlb::new(&target, character, options).unwrap();
    let mut fed = Vec::new();
    for frame in 0..FRAMES {
        let time = options.start + frame as f64 / options.fps;
        let pose = pose(time);
        let moved = |surface: &SurfaceId| {
            let vertices = character.rigged.world_vertices(*surface, &pose).unwrap();
            (*surface, vertices.iter().map(|x| flesh(x, time)).collect())
        };
        let moved: Vec<(SurfaceId, Vec<Vec3>)> = surfaces.iter().map(moved).collect();
        let given: Vec<(SurfaceId, &[Vec3])> =
            moved.iter().map(|(surface, vertices)| (*surface, vertices.as_slice())).collect();
        writer.frame(&pose, &given).unwrap();
        fed.push(moved);
    }
    assert!(!target.exists());
    let report = writer.finish().unwrap();
    let bytes = std::fs::read(&target).unwrap();
    assert_eq!((report.bytes, std::fs::read_dir(folder.path()).unwrap().count()), (bytes.len() as u64, 1));
    Baked { bytes, report, fed, options }
}

impl Baked {
    pub(crate) fn character(&self) -> CharacterFile {
        read(self.bytes.clone()).value
    }

    pub(crate) fn json(&self) -> Value {
        Naive::of_glb(&self.bytes).json
    }

    /// The time of every frame (s), and where the vertices of a surface were in it.
    pub(crate) fn moments(&self, surface: SurfaceId) -> Vec<(f64, Vec<Vec3>)> {
        let moment = |(frame, fed): (usize, &Vec<(SurfaceId, Vec<Vec3>)>)| {
            let time = self.options.start + frame as f64 / self.options.fps;
            (time, fed.iter().find(|(other, _)| *other == surface).unwrap().1.clone())
        };
        self.fed.iter().enumerate().map(moment).collect()
    }

    /// The animation that holds the keys.
    pub(crate) fn animation(&self) -> usize {
        self.options.animation.unwrap_or(0)
    }

    /// Every frame, read by our reader and by the naive one, is where it was fed, within the error that was reported.
    pub(crate) fn assert_plays(&self, what: &str) {
        let (character, naive) = (self.character(), Naive::of_glb(&self.bytes));
        let animation = self.animation();
        for (frame, fed) in self.fed.iter().enumerate() {
            let time = self.options.start + frame as f64 / self.options.fps;
            let pose = character.rigged.pose_at(animation, time).unwrap();
            for (surface, fed) in fed {
                let body = self.report.bodies.iter().find(|body| body.node == surface.node).unwrap();
                let found = character.rigged.world_vertices(*surface, &pose).unwrap();
                let again = naive.vertices(surface.node, surface.primitive, Some((animation, time)));
                let largest = |found: &mut dyn Iterator<Item = Vec3>| {
                    found.zip(fed).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
                };
                let gaps = [largest(&mut found.into_iter()), largest(&mut again.into_iter().map(Vec3::from))];
                for gap in gaps {
                    assert!(gap <= body.largest_error + ROUND_OFF, "{what}, frame {frame}: {gap} {body}");
                }
            }
        }
    }

    /// Nothing of the original document is missing or changed, but for what is at the given paths; the buffer begins with the
    /// original one.
    pub(crate) fn assert_keeps(&self, original: &Naive, buffer: &[u8], changed: &[&str]) {
        let mut now = Naive::of_glb(&self.bytes);
        let count = |json: &Value| json["animations"].as_array().map_or(0, Vec::len);
        if self.options.animation.is_none() && count(&now.json) > count(&original.json) {
            // the animation of flesh stands before those of the file
            now.json["animations"].as_array_mut().unwrap().remove(0);
        }
        assert_eq!(&now.buffer[..buffer.len()], buffer);
        let mut found = Vec::new();
        differences(&original.json, &now.json, String::new(), &mut found);
        found.retain(|path| !changed.iter().any(|allowed| path.starts_with(allowed)));
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Paths of what is in `before` and not the same in `now`.
fn differences(before: &Value, now: &Value, path: String, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            for (key, value) in before {
                differences(value, now.get(key).unwrap_or(&Value::Null), format!("{path}/{key}"), found);
            }
        }
        (Value::Array(before), Value::Array(now)) if now.len() >= before.len() => {
            for (index, (before, now)) in before.iter().zip(now).enumerate() {
                differences(before, now, format!("{path}/{index}"), found);
            }
        }
        _ if before == now => {}
        _ => found.push(path),
    }
}
