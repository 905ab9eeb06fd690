//! What the program says: short by default, everything with -v, nothing but errors with -q.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn sinew(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

/// Everything that a call prints, which must succeed.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = sinew(folder, arguments);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {text}");
    text
}

/// A folder with a rigged bar of the glTF corpus.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gltf/tests/corpus/bar_plain.glb");
    fs::copy(bar, folder.path().join("bar.glb")).expect("a copy");
    folder
}

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

const SIMULATE: [&str; 6] = ["simulate", "bar.glb", "--seconds", "0.2", "--no-preview", "-o"];

#[test]
fn a_character_is_told_in_twelve_lines_with_a_verdict() {
    let folder = folder();
    let text = said(folder.path(), &[&SIMULATE[..], &["a.glb", "--stats", "s.json"]].concat());
    assert!(text.lines().count() <= 12, "{text}");
    for word in ["bar: ", " kg of flesh on ", "s simulated in ", "wrote a.glb"] {
        assert!(text.contains(word), "'{word}' is missing in: {text}");
    }
    assert!(text.contains("looks sound") != text.contains("WARNING: "), "{text}");
    assert!(!text.contains("note: "), "{text}");

    let stats = json(folder.path().join("s.json"));
    assert!(stats["inverted_fraction"].is_number());
    let character = &stats["characters"][0];
    assert_eq!(character["name"], "bar");
    assert!(character["rigid_parts"].is_array());
    for key in [
        "size",
        "first_frame_mean",
        "first_frame_max",
        "take_mean",
        "take_max",
        "volume_change",
        "skinning_volume_change",
    ] {
        assert!(character[key].as_f64().is_some_and(|value| value >= 0.0), "{key}");
    }
}

#[test]
fn all_is_told_with_v_and_nothing_but_errors_with_q() {
    let folder = folder();
    let text = said(folder.path(), &[&["-v"], &SIMULATE[..], &["a.glb"]].concat());
    assert!(text.contains("surface vertices") && text.contains("volume changed by"), "{text}");
    assert_eq!(said(folder.path(), &[&SIMULATE[..], &["a.glb", "-q"]].concat()), "");
    let wrong = sinew(folder.path(), &["-q", "simulate", "none.glb"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).starts_with("error: "));
}

#[test]
fn implausible_input_is_questioned_and_simulated() {
    let folder = folder();
    let cube = "v 0 0 0\nv 20 0 0\nv 0 20 0\nv 20 20 0\nv 0 0 20\nv 20 0 20\nv 0 20 20\nv 20 20 20\n\
                f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    fs::write(folder.path().join("cube.obj"), cube).unwrap();
    let scene = "seconds = 0.02\n[[body]]\nsurface = 'cube.obj'\ncage_tets = 50\nmaterial = 'rubber'\n\
                 [[obstacle]]\nname = 'floor'\nplane = [0, 1, 0]\nposition = [0, -50, 0]\n";
    fs::write(folder.path().join("scene.toml"), scene).unwrap();
    let text = said(folder.path(), &["simulate", "scene.toml", "--no-preview"]);
    assert!(text.contains("QUESTION: is 'cube' meant to weigh 8000 tonnes"), "{text}");
}

#[test]
fn jiggle_reaches_the_flesh_and_is_recorded() {
    let folder = folder();
    let hash = |arguments: &[&str]| {
        said(folder.path(), &[&SIMULATE[..], arguments, &["--stats", "s.json"]].concat());
        json(folder.path().join("s.json"))["state_hash"].clone()
    };
    let (usual, less) = (hash(&["a.glb"]), hash(&["a.glb", "--jiggle", "0.2"]));
    assert_ne!(usual, less);
    assert_eq!(less, hash(&["b.take", "--jiggle", "0.2"]));
    said(folder.path(), &["bake", "b.take", "-o", "b.glb", "--no-preview"]);
    for wrong in ["-1", "11", "nan", "much"] {
        let output = sinew(folder.path(), &["simulate", "bar.glb", "--jiggle", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    assert_eq!(sinew(folder.path(), &["simulate", "worm", "--jiggle", "1"]).status.code(), Some(2));
}

#[test]
fn inspect_lists_what_a_character_file_contains() {
    let text = said(folder().path(), &["inspect", "bar.glb"]);
    for word in ["animation 0 '", " s, played", "  mesh '", " materials: ", " joints: "] {
        assert!(text.contains(word), "'{word}' is missing in: {text}");
    }
}

#[test]
fn pictures_follow_what_is_named() {
    let folder = folder();
    let cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    fs::write(folder.path().join("crate.obj"), cube).unwrap();
    let scene = "seconds = 1\n[[character]]\nfile = 'bar.glb'\ncage_tets = 100\n\
                 [[body]]\nsurface = 'crate.obj'\ncage_tets = 50\ntranslate = [9, 0, 0]\n";
    fs::write(folder.path().join("scene.toml"), scene).unwrap();
    said(folder.path(), &["simulate", "scene.toml", "--no-preview", "-o", "a.take"]);
    let picture = |name: &str, arguments: &[&str]| {
        let common = ["render", "a.take", "-o", name, "--time", "1", "--size", "80x60"];
        said(folder.path(), &[&common[..], arguments].concat());
        fs::read(folder.path().join(name)).unwrap()
    };
    let usual = picture("usual.png", &[]);
    assert_eq!(usual, picture("bar.png", &["--follow", "BAR"]), "the camera frames the character");
    assert_ne!(usual, picture("crate.png", &["--follow", "crate"]));
    let wrong = sinew(folder.path(), &["render", "a.take", "-o", "no.png", "--follow", "cat"]);
    let told = String::from_utf8_lossy(&wrong.stderr);
    assert!(told.contains("there is no body 'cat': the scene has") && told.contains("crate"), "{told}");
}

#[test]
fn a_folder_of_characters_is_measured_and_a_broken_file_is_a_row() {
    let folder = folder();
    fs::write(folder.path().join("broken.glb"), "no character").unwrap();
    let run = ["bench", "characters", ".", "--max-seconds", "0.2", "--json", "b.json", "--sheet", "sheets"];
    let text = said(folder.path(), &run);
    assert!(text.contains("bars are missed by"), "{text}");
    let report = json(folder.path().join("b.json"));
    let rows = report["rows"].as_array().unwrap();
    let (broken, measured): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["error"].is_string());
    assert!(broken.len() == 1 && broken[0]["file"] == "broken.glb" && !measured.is_empty(), "{rows:?}");
    for row in measured {
        for key in ["frames", "retries", "inverted_fraction", "first_frame_mean", "take_max", "roll"] {
            assert!(row[key].is_number(), "{key}");
        }
        let (file, animation) = (row["file"].as_str().unwrap(), row["animation"].as_str().unwrap());
        assert!(file == "bar.glb" && !animation.is_empty());
    }
    let sheets = fs::read_dir(folder.path().join("sheets")).unwrap().count();
    assert_eq!(sheets, rows.len() - 1);
    assert_eq!(sinew(folder.path(), &["bench", "characters", "sheets"]).status.code(), Some(2));
}
