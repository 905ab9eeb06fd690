//! Explicit and implicit steps through the program.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A stiff worm of two bones that flesh moves with.
const WORM: &str = "seconds = 0.5\n[[character]]\nname = 'worm'\nmaterial = { name = 'fat', young = 6e6 }\ncage_tets = 300\nmode = 'two-way'\npreroll_hold = 0\n\
bone = [\n { name = 'a', from = [-0.2, 0, 0], to = [0, 0, 0], radius = 0.016, flesh = [0.05, 0.05] },\n \
{ name = 'b', parent = 'a', from = [0, 0, 0], to = [0.2, 0, 0], radius = 0.016, flesh = [0.05, 0.05] } ]\n\
key = [ { time = 0.0, pose = { b = [0, 0, 20] } }, { time = 0.5, pose = { b = [0, 0, -20] } } ]\n";

fn sinew(folder: &Path, arguments: &[&str]) -> Output {
    let run = Command::new(env!("CARGO_BIN_EXE_sinew")).args(arguments).current_dir(folder).output();
    run.expect("the program starts")
}

/// Statistics of a run that must end well.
fn stats(folder: &Path, arguments: &[&str]) -> Value {
    let output = sinew(folder, &[arguments, &["--no-preview", "--stats", "s.json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&fs::read(folder.join("s.json")).expect("statistics")).expect("JSON")
}

/// The choice is kept in the take: what goes on after a crash is solved as what was before, to the bit.
#[test]
fn a_take_remembers_its_solver() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("worm.toml"), WORM).expect("written");
    let whole = stats(folder.path(), &["simulate", "worm.toml", "--solver", "implicit", "-o", "w.take"]);
    assert_eq!((&whole["solver"], &whole["solver_reason"]), (&"implicit".into(), &"as asked for".into()));
    let bytes = fs::read(at("w.take")).expect("a take");
    fs::write(at("w.take"), &bytes[..2 * bytes.len() / 3]).expect("cut short");
    let resumed = stats(folder.path(), &["simulate", "--resume", "w.take"]);
    assert_eq!(resumed["solver"], "implicit");
    assert_eq!(resumed["state_hash"], whole["state_hash"]);

    // one step a frame against many, and by the scene as by the option
    let explicit = stats(folder.path(), &["simulate", "worm.toml", "-o", "e.take"]);
    assert_eq!(explicit["solver"], "explicit");
    assert!(explicit["steps"].as_u64() > whole["steps"].as_u64(), "{explicit} {whole}");
    fs::write(at("same.toml"), format!("{WORM}[solver]\nkind = 'implicit'\n")).expect("written");
    let same = stats(folder.path(), &["simulate", "same.toml", "-o", "s.take"]);
    assert_eq!(same["state_hash"], whole["state_hash"]);
}

/// Implicit steps see a floor and free obstacles, and the auto solver chooses by cost.
#[test]
fn implicit_steps_take_scenes_with_free_obstacles() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = format!(
        "{WORM}[[obstacle]]\nname = 'floor'\nplane = [0, 1, 0]\nposition = [0, -0.5, 0]\n\
         [[obstacle]]\nname = 'ball'\nsphere = 0.1\nposition = [0, 1, 0]\ndensity = 500\n"
    );
    fs::write(folder.path().join("ball.toml"), scene).expect("written");
    let run = ["simulate", "ball.toml", "--solver", "implicit", "--seconds", "0.05", "-o", "f.glb"];
    assert_eq!(stats(folder.path(), &run)["solver"], "implicit");
    let run = ["simulate", "ball.toml", "--solver", "auto", "--seconds", "0.02", "-o", "g.glb"];
    let auto = stats(folder.path(), &run);
    assert!(auto["solver_reason"].as_str().is_some_and(|why| why.contains("sub-steps per frame")), "{auto}");
}

#[test]
fn an_unknown_solver_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = sinew(folder.path(), &["simulate", "beam", "--solver", "implict"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("choose explicit, implicit or auto"));
}

/// The clamped beam of 1,280 tets hangs 65.58 mm at rest by a Newton solve of its own mesh; the node farthest out moves a little more than the tip's middle, and nothing is stepped.
#[test]
fn settling_finds_rest_without_stepping() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let settle = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.arg("settle").args(arguments).current_dir(folder.path()).output().expect("the program starts")
    };
    let output = settle(&["beam", "-o", "b.glb", "--no-preview"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.starts_with("at rest: "), "{text}");
    let moved: f64 =
        text.split("up to ").nth(1).and_then(|rest| rest.split(" mm").next()).unwrap().parse().unwrap();
    assert!((65.5..68.5).contains(&moved), "{moved}");
    assert!(folder.path().join("b.glb").exists());
    // and on a floor
    let output = settle(&["pot", "-o", "p.glb", "--no-preview"]);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("at rest: "), "{output:?}");
    // and with a free obstacle
    let output = settle(&["starfish-cage", "-o", "s.glb", "--no-preview"]);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("at rest: "), "{output:?}");
    for (arguments, said) in
        [(&["beam", "--time", "99"][..], "runs from 0 to"), (&["beam", "-o", "b.take"], "is not a take")]
    {
        let output = settle(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(said), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}
