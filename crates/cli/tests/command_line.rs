//! The program as a user meets it: what it writes, what it says, how it ends.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Runs `sinew` in a folder.
fn sinew(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Names of all files in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

/// A cube of half a metre as an OBJ file.
const CUBE: &str = "v 0 0 0\nv .5 0 0\nv 0 .5 0\nv .5 .5 0\nv 0 0 .5\nv .5 0 .5\nv 0 .5 .5\nv .5 .5 .5\n\
f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

#[test]
fn without_a_word_the_dancer_dances_into_a_glb_and_a_picture() {
    let folder = folder();
    let output = sinew(folder.path(), &["simulate", "--seconds", "0.2", "--stats", "s.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files(folder.path()), ["dancer.glb", "dancer.png", "s.json"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("wrote dancer.glb"));
    assert_eq!(&fs::read(folder.path().join("dancer.glb")).unwrap()[..4], b"glTF");
    assert_eq!(&fs::read(folder.path().join("dancer.png")).unwrap()[1..4], b"PNG");
}

#[test]
fn statistics_have_every_promised_key_and_the_same_hash_on_any_number_of_threads() {
    let folder = folder();
    fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    let mut hashes = Vec::new();
    for threads in ["1", "2", "5"] {
        let run = [
            "simulate",
            "cube.obj",
            "--seconds",
            "0.1",
            "--threads",
            threads,
            "--stats",
            "s.json",
            "-o",
            "c.glb",
        ];
        let output = sinew(folder.path(), &run);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let stats = json(folder.path().join("s.json"));
        for key in [
            "bodies",
            "bones",
            "dof",
            "steps",
            "simulated_seconds",
            "wall_seconds",
            "realtime_factor",
            "solver",
            "threads",
            "max_inverted",
            "retries",
            "state_hash",
        ] {
            assert!(!stats[key].is_null(), "{key}");
        }
        let body = &stats["bodies"][0];
        assert_eq!(body["name"], "cube");
        assert_eq!(body["surface_vertices"], 8);
        // a cube is closed, so its fills are scaled to its exact volume
        assert!((body["volume"].as_f64().unwrap() - 0.125).abs() < 1e-9);
        assert!((body["mass"].as_f64().unwrap() - 125.0).abs() < 1e-6);
        assert!((stats["simulated_seconds"].as_f64().unwrap() - 0.1).abs() < 1e-9);
        hashes.push(stats["state_hash"].clone());
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]));
}

#[test]
fn a_scene_file_gives_an_obj_per_frame_in_a_folder() {
    let folder = folder();
    fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    let scene = "seconds = 0.1\nfps = 30\n[[body]]\nsurface = 'cube.obj'\ncage_tets = 300\nmaterial = 'rubber'\n\
                 [[body.pin]]\nregion = { end = 'top', fraction = 0.1 }\n\
                 [[body.load]]\nregion = { nearest = [0, 0, 0] }\nforce = [0, 0, 30]\n";
    fs::write(folder.path().join("scene.toml"), scene).unwrap();
    let output = sinew(folder.path(), &["simulate", "scene.toml", "-o", "frames", "--no-preview"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let frames = files(&folder.path().join("frames"));
    assert_eq!(frames.len(), 4, "{frames:?}");
    let last = fs::read_to_string(folder.path().join("frames").join(&frames[3])).unwrap();
    assert_eq!(last.lines().filter(|line| line.starts_with("v ")).count(), 8);
}

#[test]
fn point_caches_have_a_surface_at_rest_beside_them_and_never_replace_the_input() {
    let folder = folder();
    fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    let run = ["simulate", "cube.obj", "--seconds", "0.1", "--fps", "30", "--no-preview", "-o"];
    for name in ["cube.pc2", "cube.mdd", "cube.usda"] {
        let output = sinew(folder.path(), &[&run[..], &[name]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("wrote {name}")));
    }
    assert_eq!(files(folder.path()), ["cube-rest.obj", "cube.mdd", "cube.obj", "cube.pc2", "cube.usda"]);
    assert_eq!(fs::read_to_string(folder.path().join("cube.obj")).unwrap(), CUBE);
    // the start and three frames of eight corners
    assert_eq!(fs::read(folder.path().join("cube.pc2")).unwrap().len(), 32 + 4 * 8 * 12);
    assert_eq!(fs::read(folder.path().join("cube.mdd")).unwrap().len(), 8 + 4 * 4 + 4 * 8 * 12);
    let usda = fs::read_to_string(folder.path().join("cube.usda")).unwrap();
    assert!(usda.contains("endTimeCode = 3\n"), "{usda}");

    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cubes.toml");
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let output = sinew(&out, &["simulate", scene, "--seconds", "0.1", "--no-preview", "-o", "c.pc2"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = files(&out);
    assert_eq!(written.len(), 6, "{written:?}");
    assert!(written.iter().all(|name| name.starts_with("c-")), "{written:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("wrote c-") && written.iter().all(|name| said.contains(name)), "{said}");
}

#[test]
fn the_example_scene_plays() {
    let folder = folder();
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cubes.toml");
    let output = sinew(
        folder.path(),
        &["simulate", scene, "--seconds", "0.5", "--stats", "s.json", "-o", "cubes.glb"],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stats = json(folder.path().join("s.json"));
    assert_eq!(stats["bodies"].as_array().unwrap().len(), 3);
    assert_eq!(stats["max_inverted"], 0);
}

#[test]
fn inspect_says_what_a_file_holds() {
    let folder = folder();
    fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    let output = sinew(folder.path(), &["inspect", "cube.obj"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    assert!(text.contains("8 vertices and 12 triangles") && text.contains("0.125000 m³"), "{text}");
    assert_eq!(files(folder.path()), ["cube.obj"]);
}

#[test]
fn benches_write_their_rows() {
    let folder = folder();
    let output =
        sinew(folder.path(), &["bench", "elements", "beam", "--max-tets", "1500", "--json", "b.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = json(folder.path().join("b.json"));
    assert!(report["machine"]["processor"].is_string());
    let rows = report["rows"].as_array().unwrap();
    let (elements, beam): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["bench"] == "elements");
    assert_eq!((elements.len(), beam.len()), (2, 3));
    for key in
        ["tets", "threads", "melements_per_second", "step_ms", "diagonalised_fraction", "selective_speedup"]
    {
        assert!(elements.iter().all(|row| row[key].is_number()), "{key}");
    }
    for row in beam {
        assert!(row["cpu_per_simulated_second"].as_f64().unwrap() > 0.0);
        // a static solution by Newton's method has 65.58 mm, steps that tend to zero a first swing of 131.5 mm
        assert!((row["tip_static_mm"].as_f64().unwrap() / 65.58 - 1.0).abs() < 0.01, "{row}");
        assert!((row["tip_peak_mm"].as_f64().unwrap() / 131.5 - 1.0).abs() < 0.02, "{row}");
    }
}

/// A bad call: what is wrong, and a word that the message must hold.
struct Refusal {
    scene: &'static str,
    mesh: &'static str,
    says: &'static str,
}

const fn scene(scene: &'static str, says: &'static str) -> Refusal {
    Refusal { scene, mesh: CUBE, says }
}

#[test]
fn bad_scenes_are_refused_with_code_2_and_leave_nothing_behind() {
    let body = "[[body]]\nsurface = 'm.obj'\n";
    let with = |line: &str| Box::leak(format!("{body}{line}\n").into_boxed_str()) as &'static str;
    let refusals = [
        scene(with("density = 5"), "density"),
        scene(with("cage_tet = 5"), "cage_tets"),
        scene(with("[body.material]\ndensity = -1"), "density"),
        scene(with("[body.material]\npoisson = 0.5"), "poisson"),
        scene(with("[body.material]\nyoung = 0"), "young"),
        scene(with("[[body.pin]]\nregion = { box = { min = [5, 5, 5], max = [6, 6, 6] } }"), "holds nothing"),
        scene("seconds = -1\n[[body]]\nsurface = 'm.obj'\n", "seconds"),
        scene("[[body]]\nsurface = 'missing.obj'\n", "missing.obj"),
        scene("this is no scene", "scene.toml"),
        Refusal { scene: body, mesh: "", says: "m.obj" },
        Refusal { scene: body, mesh: "v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n", says: "m.obj" },
        Refusal { scene: body, mesh: "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n", says: "encloses" },
        Refusal { scene: body, mesh: "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", says: "m.obj" },
    ];
    for refusal in refusals {
        let folder = folder();
        fs::write(folder.path().join("scene.toml"), refusal.scene).unwrap();
        fs::write(folder.path().join("m.obj"), refusal.mesh).unwrap();
        let output = sinew(folder.path(), &["simulate", "scene.toml", "-o", "out.glb", "--stats", "s.json"]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{}: {message}", refusal.scene);
        assert!(
            message.contains("error: ") && message.contains(refusal.says),
            "{}: {message}",
            refusal.scene
        );
        assert_eq!(files(folder.path()), ["m.obj", "scene.toml"], "{}", refusal.scene);
    }
}

/// A pin three times as fast as light.
#[test]
fn a_simulation_that_fails_ends_with_code_1_and_leaves_nothing_behind() {
    let folder = folder();
    fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    let scene = "seconds = 1\n[[body]]\nsurface = 'cube.obj'\ncage_tets = 200\nmaterial = { law = 'neo-hookean' }\n\
                 [[body.pin]]\nregion = { end = 'top' }\nmotion = { glide = { velocity = [1e9, 0, 0] } }\n";
    fs::write(folder.path().join("scene.toml"), scene).unwrap();
    let output = sinew(folder.path(), &["simulate", "scene.toml", "-o", "out.glb", "--stats", "s.json"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("diverged at 0.0000 s"), "{message}");
    assert_eq!(files(folder.path()), ["cube.obj", "scene.toml"]);
}

#[test]
fn bad_calls_are_refused_with_code_2_and_leave_nothing_behind() {
    let calls: [&[&str]; 12] = [
        &["simulate", "no-such-thing"],
        &["simulate", "no-such-file.obj"],
        &["simulate", "cube.obj", "-o", "no/such/folder/out.glb"],
        &["simulate", "cube.obj", "-o", "cube.obj/out.glb"],
        &["simulate", "cube.obj", "-o", "out.fbx"],
        &["simulate", "cube.obj", "--stats", "no/such/folder/s.json"],
        &["simulate", "cube.obj", "--seconds", "nan"],
        &["simulate", "cube.obj", "--threads", "0"],
        &["simulate", "cube.obj", "-o", "same.glb", "--stats", "same.glb"],
        &["simulate", "cube.obj", "--stats", "cube.obj"],
        &["simulate", "cube.obj", "-o", "c.pc2", "--stats", "c-rest.obj"],
        &["inspect", "no-such-file.ply"],
    ];
    for call in calls {
        let folder = folder();
        fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
        let output = sinew(folder.path(), call);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{call:?}: {message}");
        assert!(message.contains("error: "), "{call:?}: {message}");
        assert_eq!(files(folder.path()), ["cube.obj"], "{call:?}");
    }
}
