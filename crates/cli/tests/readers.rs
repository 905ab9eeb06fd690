//! What is written, as other people's programs read it. Each test needs one of them, which `.ci/readers` installs and a variable names; those of real characters also need the folder that
//! `SINEW_ASSETS` names.

mod reader_programs;

use reader_programs::{named_by, run, script};
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

/// A take of a rigged bar and one of the zoo, each in every format, made once. The bar goes limp, so that all its joints get a key for every frame: between the far keys
/// of its own animation Blender turns joints by other ways than the standard.
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
const CHARACTERS: [&str; 7] = [
    "RiggedSimple.glb",
    "RiggedFigure.glb",
    "CesiumMan.glb",
    "mixamo_samba.fbx",
    "Cow.gltf",
    "KnightCharacter.gltf",
    "Pug.gltf",
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

/// The characters' own files have no errors, so that theirs with flesh in them has none either; that of the FBX is ours alone.
#[test]
fn the_gltf_validator_finds_no_errors_in_characters() {
    let folder = character_takes();
    for name in CHARACTERS {
        assert_eq!(errors_in(&format!("{}.glb", stem(name)), folder), [""; 0], "{name}");
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

/// The vertices of a mesh, or of all (`*`), in some frames of a file as Blender plays it at 60 frames per second.
fn blender_frames(file: &str, mesh: &str, frames: &[&str], folder: &Path) -> Vec<Vec<f64>> {
    let script = script("blender_points.py");
    let arguments = [&[script.as_str(), file, mesh, "60"], frames].concat();
    let text = run(named_by("SINEW_BLENDER_PYTHON"), &arguments, folder);
    let found: Vec<Vec<f64>> =
        text.lines().filter_map(|line| line.strip_prefix("frame ")).flat_map(frames_of).collect();
    assert_eq!(found.len(), frames.len(), "{file}: {text}");
    found
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

/// Within a thousandth of the size for morph targets, as above, and as much again for rotations between keys, which Blender interpolates by components: it is asked at
/// the ends of the take and in its middle, wherever the animation's keys are. Every surface of the file is there.
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
            assert!(gap < 2e-3 * size, "{name}, frame {frame}: {gap} of {size}");
        }
    }
}

/// Between frames, where errors are stated too: Blender is where our own reader is, by which they are measured. It interpolates rotations by components, which between the farthest
/// keys of these files, 43° apart, is off by 0.1°: by 1.7 thousandths of the distance from the joint, half of the size. Characters whose vertices all have triangles, since Blender's importer leaves out the others.
#[test]
fn blender_plays_characters_between_frames() {
    let folder = character_takes();
    for name in ["RiggedSimple.glb", "RiggedFigure.glb", "CesiumMan.glb", "Cow.gltf", "Pug.gltf"] {
        let file = format!("{}.glb", stem(name));
        let frames = ["3.25", "7.5", "16.75"];
        let found = blender_frames(&file, "*", &frames, folder);
        let character = sinew_gltf::open_character(&folder.join(&file)).expect("our own file").value.rigged;
        for (found, frame) in found.iter().zip(frames) {
            let time = frame.parse::<f64>().expect("a number") / 60.0;
            let pose = character.pose_at(0, time).expect("an animation");
            let surfaces =
                character.surfaces().filter_map(|surface| character.world_vertices(surface, &pose));
            let expected: Vec<f64> = surfaces.flatten().flat_map(|v| [v.x, v.y, v.z]).collect();
            let gap = largest_gap(found, &expected);
            assert!(gap < 1e-3 * extent(&expected), "{name}, frame {frame}: {gap} of {}", extent(&expected));
        }
    }
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
