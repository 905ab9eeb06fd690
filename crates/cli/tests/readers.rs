//! What is written, as other people's programs read it. Each test needs one of them, which `.ci/readers` installs and a variable names; those of real characters also need the folder that
//! `SINEW_ASSETS` names.

mod reader_programs;

use reader_programs::{named_by, run, script};
use sinew_character::{AnimationChannel, ChannelInterpolation, ChannelPath, CharacterPose, RiggedCharacter};
use sinew_math::{Rotation, Vec3, nalgebra::Quaternion};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

fn sinew(folder: &Path, arguments: &[&str]) {
    run(env!("CARGO_BIN_EXE_sinew"), arguments, folder);
}

/// A rigged bar of the glTF corpus.
const BAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../gltf/tests/corpus/bar_plain.glb");

/// A take of a rigged bar and one of the zoo, each in every format, made once. The bar goes limp, so that all its joints get keys of ours.
fn takes() -> &'static Path {
    static TAKES: OnceLock<TempDir> = OnceLock::new();
    let folder = TAKES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (input, name) in [(BAR, "bar"), ("jelly-torus", "torus")] {
            let take = format!("{name}.take");
            sinew(
                folder.path(),
                &["simulate", input, "-o", &take, "--seconds", "0.4", "--ragdoll", "--no-preview"],
            );
            // the bar is so small that morph targets for a thousandth of its size are more than three times as large
            for output in [format!("{name}.glb"), format!("{name}.usda"), format!("{name}-frames")] {
                sinew(folder.path(), &["bake", &take, "-o", &output, "--error", "0.1", "--no-preview"]);
            }
            let world = format!("{name}-world.glb");
            sinew(folder.path(), &["bake", &take, "-o", &world, "--world", "--no-preview"]);
        }
        folder
    });
    folder.path()
}

/// Characters that other people made.
const CHARACTERS: [&str; 8] = [
    "RiggedSimple.glb",
    "RiggedFigure.glb",
    "CesiumMan.glb",
    "mixamo_samba.fbx",
    "Cow.gltf",
    "KnightCharacter.gltf",
    "Pug.gltf",
    "RobotExpressive.glb",
];
/// The frames of their takes: a third of a second at 60 per second.
const CHARACTER_FRAMES: usize = 21;

fn asset(name: &str) -> PathBuf {
    named_by("SINEW_ASSETS").join(name)
}

/// The stem of a file.
fn stem(name: &str) -> &str {
    name.split('.').next().expect("a name")
}

/// A short take of each character with no options but its length, as a GLB, a USD file and an OBJ sequence; made once.
fn character_takes() -> &'static Path {
    static TAKES: OnceLock<TempDir> = OnceLock::new();
    let folder = TAKES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in CHARACTERS {
            let (input, stem) = (asset(name), stem(name));
            let input = input.to_str().expect("a path of text");
            let [glb, usda, frames] = ["glb", "usda", "frames"].map(|form| match form {
                "frames" => format!("{stem}-frames"),
                form => format!("{stem}.{form}"),
            });
            // the GLB by the default path, the others from a take, which is the same to the bit
            let take = format!("{stem}.take");
            for output in [&glb, &take] {
                sinew(
                    folder.path(),
                    &["simulate", input, "--seconds", "0.3334", "-o", output, "--no-preview"],
                );
            }
            for output in [&usda, &frames] {
                sinew(folder.path(), &["bake", &take, "-o", output, "--no-preview"]);
            }
        }
        folder
    });
    folder.path()
}

/// The vertices of every frame of an OBJ sequence, all of its bodies after one another.
fn obj_frames(folder: &Path) -> Vec<Vec<f64>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("frames").map(|entry| entry.unwrap().path()).collect();
    // beside them are their materials
    files.retain(|file| file.extension().is_some_and(|extension| extension == "obj"));
    files.sort();
    let numbers = |file: &PathBuf| {
        let text = fs::read_to_string(file).expect("text");
        let vertices = text.lines().filter_map(|line| line.strip_prefix("v "));
        vertices
            .flat_map(|line| line.split(' ').map(|x| x.parse().expect("a number")).collect::<Vec<f64>>())
            .collect()
    };
    files.iter().map(numbers).collect()
}

fn frames_of(text: &str) -> Vec<Vec<f64>> {
    text.lines().map(|line| line.split(' ').map(|x| x.parse().expect("a number")).collect()).collect()
}

fn largest_gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// What is wrong with a file, as the validator says it.
fn errors_in(file: &str, folder: &Path) -> Vec<String> {
    let mut node = Command::new("node");
    node.arg(script("validate.js")).arg(file).env("NODE_PATH", named_by("SINEW_GLTF_VALIDATOR"));
    let output = node.current_dir(folder).output().expect("node starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// The bar has no bounds on its accessors, which the validator minds; nothing else may be wrong, and nothing that was not wrong before.
#[test]
fn the_gltf_validator_finds_no_new_errors() {
    let folder = takes();
    for file in ["torus.glb", "torus-world.glb", "bar-world.glb"] {
        assert_eq!(errors_in(file, folder), [""; 0], "{file}");
    }
    let before = errors_in(BAR, folder);
    assert!(before.iter().all(|error| error.contains("WITHOUT_BOUNDS")), "{before:?}");
    let new: Vec<String> =
        errors_in("bar.glb", folder).into_iter().filter(|error| !before.contains(error)).collect();
    assert_eq!(new, [""; 0]);
}

/// The characters' own files have no errors but RobotExpressive, whose weights do not all sum to one, so that theirs with flesh in them have no others either; that of the FBX is ours alone.
#[test]
fn the_gltf_validator_finds_no_errors_in_characters() {
    let folder = character_takes();
    for name in CHARACTERS {
        let own = asset(name);
        let before = match name {
            "RobotExpressive.glb" => errors_in(own.to_str().expect("a path of text"), folder),
            _ => Vec::new(),
        };
        assert!(before.iter().all(|error| error.contains("WEIGHTS_NON_NORMALIZED")), "{name}: {before:?}");
        let now = errors_in(&format!("{}.glb", stem(name)), folder);
        let new: Vec<String> = now.into_iter().filter(|error| !before.contains(error)).collect();
        assert_eq!(new, [""; 0], "{name}");
    }
}

/// Numbers are written with all digits of single precision, once as text for USD and once as OBJ: 1e-6 of a body of one metre.
#[test]
fn open_usd_reads_the_points_of_every_frame() {
    let python = named_by("SINEW_USD_PYTHON");
    let folder = takes();
    for name in ["bar", "torus"] {
        let text = run(&python, &[&script("usd_points.py"), &format!("{name}.usda")], folder);
        let (found, expected) = (frames_of(&text), obj_frames(&folder.join(format!("{name}-frames"))));
        assert_eq!((found.len(), expected.len()), (25, 25));
        for (found, expected) in found.iter().zip(&expected) {
            assert!(largest_gap(found, expected) < 2e-6, "{name}");
        }
    }
}

/// As above, for sizes of up to two metres.
#[test]
fn open_usd_reads_the_points_of_characters() {
    let python = named_by("SINEW_USD_PYTHON");
    let folder = character_takes();
    for name in CHARACTERS {
        let stem = stem(name);
        let text = run(&python, &[&script("usd_points.py"), &format!("{stem}.usda")], folder);
        let (found, expected) = (frames_of(&text), obj_frames(&folder.join(format!("{stem}-frames"))));
        assert_eq!((found.len(), expected.len()), (CHARACTER_FRAMES, CHARACTER_FRAMES), "{name}");
        for (found, expected) in found.iter().zip(&expected) {
            let gap = largest_gap(found, expected);
            assert!(gap < 1e-5, "{name}: {gap}");
        }
    }
}

/// The direction that Blender's importer gives bones (its option Bone Dir): its default, but for a character whose rigid parts hang from joints of a scaled armature. With the default the importer divides
/// the length ℓ of a bone by the scale s of its armature, but moves what hangs from the bone back from its tip by the undivided length, so that it is off by (1 − 1/s) ℓ along the bone: by 99 % of lengths of 58
/// to 66 cm here, in the original file as in the bake. Other directions leave the length as it is, and all parts are where they belong.
fn bone_direction(name: &str) -> &'static str {
    if name.starts_with("RobotExpressive") { "TEMPERANCE" } else { "BLENDER" }
}

/// The vertices of a mesh, or of all (`*`), in some frames of the first clip of a file as Blender plays it at 60 frames per second.
fn blender_frames(file: &str, mesh: &str, frames: &[&str], folder: &Path) -> Vec<Vec<f64>> {
    let script = script("blender_points.py");
    let arguments = [&[script.as_str(), file, mesh, "60", bone_direction(file)], frames].concat();
    let found = blender_prints(&arguments, folder);
    assert_eq!(found.len(), frames.len(), "{file}");
    found
}

/// The frames that a script in Blender prints.
fn blender_prints(arguments: &[&str], folder: &Path) -> Vec<Vec<f64>> {
    let text = run(named_by("SINEW_BLENDER_PYTHON"), arguments, folder);
    text.lines().filter_map(|line| line.strip_prefix("frame ")).flat_map(frames_of).collect()
}

/// Within the error that morph targets are allowed: a thousandth of sizes of about one metre. Blender's frames are those of the take at 60 frames per second.
#[test]
fn blender_plays_what_was_simulated() {
    let folder = takes();
    for (name, body) in [("bar", "bar"), ("bar-world", "bar"), ("torus", "jelly-torus")] {
        let file = format!("{name}.glb");
        let found = blender_frames(&file, body, &["0", "7", "24"], folder);
        let expected = obj_frames(&folder.join(format!("{}-frames", name.trim_end_matches("-world"))));
        for (found, frame) in found.iter().zip([0, 7, 24]) {
            // the flesh comes first, then what only hangs on the skeleton
            let gap = largest_gap(found, &expected[frame][..found.len()]);
            assert!(gap < 1.5e-3, "{name}, frame {frame}: {gap}");
        }
    }
}

/// Within a thousandth of the size for morph targets, as above, and what [`BY_COMPONENTS`] is beside it: Blender is asked at the ends of the take and in its middle, wherever the animation's keys are. Every surface of the file is there.
#[test]
fn blender_plays_characters() {
    let folder = character_takes();
    for name in CHARACTERS {
        let stem = stem(name);
        let file = format!("{stem}.glb");
        let frames = ["0", "10", "20"];
        let found = blender_frames(&file, "*", &frames, folder);
        let expected = obj_frames(&folder.join(format!("{stem}-frames")));
        let size = extent(&expected[0]);
        for (found, frame) in found.iter().zip([0, 10, 20]) {
            let gap = largest_gap(found, &expected[frame]);
            assert!(gap < (STATED_ERROR + BY_COMPONENTS) * size, "{name}, frame {frame}: {gap} of {size}");
        }
    }
}

/// Whole and quarter frames within takes of a third of a second; one of them lies between the farthest keys of all original files, 124° apart.
const CLIP_FRAMES: [&str; 6] = ["0", "3.25", "7.5", "12", "16.75", "20"];
/// How far Blender may be from our own reader where both interpolate alike, as a fraction of the size. Blender computes in single precision, 6e-8 of the size for each of some tens of joints, weights and targets,
/// and rotations of helper bones in keys of 16 bits are unit quaternions for both.
const SAME_INTERPOLATION: f64 = 1e-5;
/// The error that flesh is allowed by default, as a fraction of the size.
const STATED_ERROR: f64 = 1e-3;
/// How far Blender may be from our own reader as it is, as a fraction of the size. Blender interpolates rotations by components, which between keys of an angle θ is off by up to θ³/(144 √3): where they are at most 17° apart by a
/// tenth of the stated error for each joint, times its distance from the vertex as a fraction of the size. From a hand or a foot up to the root these distances add up to less than three sizes. Helper bones
/// turn as far as they like from one frame to the next, but carry a few vertices around them, near their axes where they turn far.
const BY_COMPONENTS: f64 = 3e-4;
/// How far apart neighbouring keys of rotations may be in a bake (rad): 16.7°, and round-off of single precision.
const NEAR_KEYS: f64 = 0.2922;

/// All clips of all characters, baked with no options but their length and imported once each: Blender plays them as our own reader does, by which errors are stated, at whole frames and between them, however far apart the keys of
/// the original file are. What is left is the interpolation of rotations: with that of Blender in our reader there is nothing.
#[test]
fn blender_plays_every_clip_of_characters() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in CHARACTERS {
        let (input, file) = (asset(name), format!("{}.glb", stem(name)));
        let input = input.to_str().expect("a path of text");
        let wishes = ["--animation", "all", "--seconds", "0.3334", "-o", &file, "--no-preview"];
        sinew(folder.path(), &[&["simulate", input], &wishes[..]].concat());
        let script = script("blender_clips.py");
        let arguments = [&[script.as_str(), &file, "60", bone_direction(name)], &CLIP_FRAMES[..]].concat();
        let found = blender_prints(&arguments, folder.path());

        let path = folder.path().join(&file);
        let character = sinew_gltf::open_character(&path).expect("our own file").value.rigged;
        assert_eq!(found.len(), character.animations.len() * CLIP_FRAMES.len(), "{name}");
        for (clip, found) in found.chunks(CLIP_FRAMES.len()).enumerate() {
            check_clip(&character, clip, (&CLIP_FRAMES, found), name);
        }
    }
}

/// Three clips with far keys from their beginning to their end, by every third quarter of a frame: a punch with keys 124° apart and a roll with 92° in the original files, and a leap on helper bones. Their keys are 2.5 frames apart, so that
/// every tenth of the way between keys is seen; at keys and in the middle between them all interpolations agree.
#[test]
fn blender_plays_whole_clips_of_characters() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let clips =
        [("RobotExpressive.glb", "Punch"), ("KnightCharacter.gltf", "Roll_sword"), ("Pug.gltf", "Jump")];
    for (name, clip) in clips {
        let (input, file) = (asset(name), format!("{}.glb", stem(name)));
        let input = input.to_str().expect("a path of text");
        sinew(folder.path(), &["simulate", input, "--animation", clip, "-o", &file, "--no-preview"]);
        let character = sinew_gltf::open_character(&folder.path().join(&file)).expect("our own file");
        let character = character.value.rigged;
        let count = (character.animations[0].duration * 60.0 / 0.75) as usize;
        let frames: Vec<String> = (0..=count).map(|i| (0.75 * i as f64).to_string()).collect();
        let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
        let found = blender_frames(&file, "*", &frames, folder.path());
        check_clip(&character, 0, (&frames, &found), name);
    }
}

/// Checks what Blender plays in some frames of a clip, and prints what was measured.
#[expect(clippy::print_stdout, reason = "docs/formats.md has numbers of it")]
fn check_clip(character: &RiggedCharacter, clip: usize, (frames, found): (&[&str], &[Vec<f64>]), name: &str) {
    for (found, frame) in found.iter().zip(frames) {
        let time = frame.parse::<f64>().expect("a number") / 60.0;
        let alike = vertices_with_triangles(character, &pose_by_components(character, clip, time));
        let pose = character.pose_at(clip, time).expect("an animation");
        let expected = vertices_with_triangles(character, &pose);
        let size = extent(&expected);
        let [alike, gap] = [&alike, &expected].map(|points| largest_gap(found, points) / size);
        let angle = farthest_keys(character, clip, time);
        let told = format!(
            "{name}, clip {clip}, frame {frame}: {alike:.1e} and {gap:.1e} of {size} m, keys {angle:.2} apart"
        );
        println!("{told}");
        assert!(alike < SAME_INTERPOLATION && gap < BY_COMPONENTS && angle < NEAR_KEYS, "{told}");
    }
}

/// The vertices of all surfaces in the world but those without triangles, which Blender's importer leaves out.
fn vertices_with_triangles(character: &RiggedCharacter, pose: &CharacterPose) -> Vec<f64> {
    let mut numbers = Vec::new();
    for surface in character.surfaces() {
        let vertices = character.world_vertices(surface, pose).expect("vertices");
        let mut is_used = vec![false; vertices.len()];
        let triangles = character.primitive(surface).expect("a primitive").triangles.iter().flatten();
        triangles.for_each(|corner| is_used[*corner as usize] = true);
        let used = vertices.iter().zip(is_used).filter(|(_, is_used)| *is_used);
        numbers.extend(used.flat_map(|(vertex, _): (&Vec3, bool)| [vertex.x, vertex.y, vertex.z]));
    }
    numbers
}

/// Linear keys of a rotation around a time: the earlier one, the later one on its side, and how far the time is between them, 0 to 1. There are none before the first key and after the last.
fn rotations_around(
    channel: &AnimationChannel,
    time: f64,
) -> Option<(Quaternion<f64>, Quaternion<f64>, f64)> {
    let is_linear = channel.interpolation == ChannelInterpolation::Linear;
    let later = channel.times.partition_point(|key| *key <= time);
    if channel.path != ChannelPath::Rotation || !is_linear || later == 0 || later == channel.times.len() {
        return None;
    }
    let of_key = |key: usize| {
        let value = channel.value(key);
        Quaternion::new(value[3], value[0], value[1], value[2]).normalize()
    };
    let (a, b) = (of_key(later - 1), of_key(later));
    let (from, to) = (channel.times[later - 1], channel.times[later]);
    Some((a, if a.dot(&b) < 0.0 { -b } else { b }, (time - from) / (to - from)))
}

/// The pose at a time of an animation with rotations between keys as Blender finds them: q = ((1 − s) q_k + s q_{k+1}) / |…|.
fn pose_by_components(character: &RiggedCharacter, clip: usize, time: f64) -> CharacterPose {
    let mut pose = character.pose_at(clip, time).expect("an animation");
    for channel in &character.animations[clip].channels {
        if let Some((a, b, s)) = rotations_around(channel, time) {
            pose.parent_from_node[channel.node].rotation = Rotation::new_normalize(a * (1.0 - s) + b * s);
        }
    }
    character.place(&mut pose);
    pose
}

/// The largest angle (rad) between the keys around a time that one of the file's own joints has.
fn farthest_keys(character: &RiggedCharacter, clip: usize, time: f64) -> f64 {
    let is_own = |channel: &&AnimationChannel| {
        let name = character.nodes[channel.node].name.as_deref();
        !name.is_some_and(|name| name.starts_with("flesh helper"))
    };
    let own = character.animations[clip].channels.iter().filter(is_own);
    let angles = own.filter_map(|channel| {
        let (a, b, _) = rotations_around(channel, time)?;
        Some(Rotation::new_unchecked(a).angle_to(&Rotation::new_unchecked(b)))
    });
    angles.fold(0.0, f64::max)
}

/// The largest extent of points.
fn extent(points: &[f64]) -> f64 {
    let along = |axis: usize| {
        let values = points.iter().skip(axis).step_by(3);
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
        high - low
    };
    along(0).max(along(1)).max(along(2))
}
