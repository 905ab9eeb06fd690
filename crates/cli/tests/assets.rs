//! Real meshes and motions that other people made, from the folder that `SINEW_ASSETS` names. They are not part of the project;
//! the feature `assets` turns this target on.

#[path = "assets/metaphors.rs"]
mod metaphors;
#[path = "assets/motion_capture.rs"]
mod motion_capture;

use serde_json::Value;
use sinew_character::TakeSettings;
use sinew_io::CharacterChoice;
use sinew_sim::Overlap;
use sinew_sim::implicit::{ImplicitSettings, Solver};
use sinew_take::Player;
use std::path::PathBuf;
use std::process::Command;

/// A mesh, and the volume (m³) of the solid it bounds with what it may be off by: closed surfaces are exact up to overlaps, open ones depend on how
/// their holes are closed.
const MESHES: [(&str, f64, f64); 4] = [
    ("spot.obj", 0.7183, 1e-3),
    ("cow.obj", 53.5, 1e-2),
    ("stanford-bunny.obj", 7.4e-4, 5e-2),
    ("teapot.obj", 25.8, 5e-2),
];

fn assets() -> PathBuf {
    PathBuf::from(
        std::env::var_os("SINEW_ASSETS").expect("SINEW_ASSETS names the folder of the meshes and motions"),
    )
}

#[test]
fn bare_meshes_hang_and_sway_without_trouble() {
    for (name, volume, tolerance) in MESHES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .arg("simulate")
            .arg(assets().join(name))
            .args(["--seconds", "3", "--stats", "s.json", "-o", "out.glb"])
            .current_dir(folder.path())
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let stats: Value =
            serde_json::from_slice(&std::fs::read(folder.path().join("s.json")).unwrap()).unwrap();
        let body = &stats["bodies"][0];
        let found = body["volume"].as_f64().unwrap();
        assert!((found / volume - 1.0).abs() < tolerance, "{name}: {found} m³");
        assert!((body["mass"].as_f64().unwrap() / found - 1000.0).abs() < 1e-6);
        assert!(stats["retries"].as_u64().unwrap() <= 9, "{name}: {}", stats["retries"]);
        let (inverted, tets) = (stats["max_inverted"].as_f64().unwrap(), body["tets"].as_f64().unwrap());
        assert!(inverted < 0.01 * tets, "{name}: {inverted} tets inside out");
    }
}

/// Rigged characters that other people made get flesh by one command, one-way and two-way; what is written is their own file, read back by our reader, with
/// as many vertices and joints as before.
#[test]
fn rigged_characters_get_flesh() {
    for name in ["RiggedSimple.glb", "RiggedFigure.glb", "CesiumMan.glb", "mixamo_samba.fbx"] {
        // the thin shells of the Mixamo figure are crushed when it falls: it is held to its motion only
        let modes = [&["--no-preview"][..], &["--no-preview", "--two-way"]];
        for mode in &modes[..if name.ends_with(".fbx") { 1 } else { 2 }] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
                .arg("simulate")
                .arg(assets().join(name))
                .args(["--seconds", "1", "--stats", "s.json", "-o", "out.glb"])
                .args(*mode)
                .current_dir(folder.path())
                .output()
                .expect("the program starts");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let stats: Value =
                serde_json::from_slice(&std::fs::read(folder.path().join("s.json")).unwrap()).unwrap();
            assert!(stats["bones"].as_u64().unwrap() >= 2, "{name}");
            // those whose root is free fall onto a floor: ten tons of soft cylinder want shorter steps for a few frames
            let most = if mode.contains(&"--two-way") { 9 } else { 0 };
            assert!(stats["retries"].as_u64().unwrap() <= most, "{name}: {}", stats["retries"]);
            let (inverted, tets) = (&stats["max_inverted"], &stats["bodies"][0]["tets"]);
            assert!(
                inverted.as_f64().unwrap() < 0.01 * tets.as_f64().unwrap(),
                "{name}: {inverted} inside out"
            );
            let original = sinew_io::open_character(&assets().join(name)).unwrap().value;
            let written = sinew_gltf::open_character(&folder.path().join("out.glb")).unwrap().value;
            // helper bones come behind the nodes of the file
            let names = |file: &sinew_gltf::CharacterFile| -> Vec<Option<String>> {
                file.rigged.nodes.iter().map(|node| node.name.clone()).collect()
            };
            assert_eq!(names(&original), names(&written)[..original.rigged.nodes.len()], "{name}");
            for id in original.rigged.surfaces() {
                let count =
                    |file: &sinew_gltf::CharacterFile| file.rigged.primitive(id).map(|p| p.positions.len());
                assert_eq!(count(&original), count(&written), "{name}");
            }
        }
    }
}

/// The same take whatever the frame rate, the unit, the axes, the names of joints and the keys: every variant of two characters is within its bar. One is known by its shape alone, the other has feet
/// that hang from a root on the ground.
#[test]
fn variants_of_characters_move_alike() {
    for (files, only, rows_expected) in [
        (&["CesiumMan.glb"][..], "cesiumman", 17),
        (&["KnightCharacter.gltf", "KnightCharacter.bin"], "run_swordright", 17),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in files {
            std::fs::copy(assets().join(file), folder.path().join(file)).expect("a copy");
        }
        let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(["bench", "variants", ".", "--only", only, "--max-seconds", "0.4", "--json", "rows.json"])
            .current_dir(folder.path())
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value =
            serde_json::from_slice(&std::fs::read(folder.path().join("rows.json")).unwrap()).unwrap();
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), rows_expected, "{only}");
        let missed: Vec<&Value> = rows.iter().filter(|row| row["is_missed"] != false).collect();
        assert!(missed.is_empty(), "{missed:?}");
    }
}

/// CesiumMan walks on a floor with flesh that may touch itself: never is a vertex deeper in his own flesh or in the floor than 2 % of his height. He is led, so that his feet go
/// where his bones take them. In explicit steps and in implicit ones.
#[test]
fn a_rigged_character_does_not_pass_through_itself_or_the_floor() {
    let opened = sinew_io::open_source(&assets().join("CesiumMan.glb"), &CharacterChoice::default()).unwrap();
    let mut source = opened.value;
    let floor = source.lowest_height();
    let scene = &mut source.scene;
    let (seconds, fps) = (scene.seconds, scene.fps);
    TakeSettings { seconds, fps, floor, self_contact: true, ..TakeSettings::default() }.apply(scene);
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::INTERACTIVE)] {
        scene.solver = solver;
        let mut player = Player::build(scene).unwrap();
        player.preroll(|_, _| {}).unwrap();
        let (low, high) = player.model.bodies()[0].surface.bounds().unwrap();
        let size = (high - low).max();
        let mut deepest = 0.0f64;
        for frame in 0..scene.frame_count() {
            player.advance().unwrap();
            if frame % 6 == 5 {
                let overlap = Overlap::of(&player.model, &player.state);
                deepest = deepest.max(overlap.surfaces).max(overlap.obstacles);
            }
        }
        assert!(deepest < 0.02 * size, "{solver:?}: {deepest} of {size}");
    }
}

/// A figure in the artist's shape that falls limp on a floor comes to lie there: once on the ground its middle never rises by more than 3 % of its size, as a body that rolls over its arm may. It rises by 0.25 %, and rose by 18 % when flesh that stops held beyond
/// the limit of its home threw the bones.
#[test]
fn a_limp_figure_does_not_leap_off_the_floor() {
    let fall = serde_json::json!({
        "character": assets().join("mixamo_samba.fbx"), "is_limp": true, "seed": 0, "on_stairs": false, "self_contact": true, "seconds": 1.5, "limit": 600.0, "sheet": null,
    });
    let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["bench", "falls", "--fall"])
        .arg(fall.to_string())
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(row["error"].is_null(), "{row}");
    assert!(row["max_rise_fraction"].as_f64().unwrap() < 0.03, "{row}");
}
