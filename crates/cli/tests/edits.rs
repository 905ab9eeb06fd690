//! Editing takes through the program: edits, undo, versions, extension, other cages, and kills in the middle of it.

mod program;

use program::{run, sinew, words};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A worm of two bones that bends, for half a second.
const WORM: &str = "seconds = 0.5\n[[character]]\nname = 'worm'\nmaterial = { name = 'fat', young = 6000 }\ncage_tets = 400\n\
bone = [\n { name = 'a', from = [-0.2, 0, 0], to = [0, 0, 0], radius = 0.016, flesh = [0.05, 0.05] },\n \
{ name = 'b', parent = 'a', from = [0, 0, 0], to = [0.2, 0, 0], radius = 0.016, flesh = [0.05, 0.05] } ]\n\
key = [ { time = 0.0, pose = { b = [0, 0, 20] } }, { time = 0.25, pose = { b = [0, 0, -20] } }, { time = 0.5, pose = { b = [0, 0, 10] } } ]\n";

/// An edit as a command has it, and as a scene file has it.
const EDIT: &str = "gravity = [0, 5, 0]\nbody = [{ name = 'worm', material = { young = 20000 } }]";

/// A folder with the worm, recorded as `w.take`.
fn recorded() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("worm.toml"), WORM).unwrap();
    run(folder.path(), &["simulate", "worm.toml", "-o", "w.take", "--no-preview"]);
    folder
}

/// The hash of the last state of a take.
fn final_hash(folder: &Path, take: &str) -> String {
    run(folder, &["simulate", "--resume", take, "--stats", "s.json", "--force"]);
    let stats: Value = serde_json::from_slice(&fs::read(folder.join("s.json")).unwrap()).unwrap();
    stats["state_hash"].to_string()
}

#[test]
fn an_edited_take_is_the_one_whose_scene_had_the_edit_from_the_start() {
    let folder = recorded();
    let at = folder.path();
    let unedited = final_hash(at, "w.take");

    // recorded, edited and continued
    let said = run(at, &["edit", "w.take", "add", "--time", "0.2", EDIT, "--simulate"]);
    assert!(said.contains("version 2 with 1 edit: 13 of 31 frames"), "{said}");
    // what follows the edit, and no more
    assert!(said.contains("\n0.30 s simulated in "), "{said}");
    let edited = final_hash(at, "w.take");
    assert_ne!(edited, unedited);

    // in the scene from the start
    fs::create_dir(at.join("edited")).unwrap();
    fs::write(at.join("edited/worm.toml"), format!("{WORM}[[edit]]\ntime = 0.2\n{EDIT}\n")).unwrap();
    run(at, &["simulate", "edited/worm.toml", "-o", "e.take", "--no-preview"]);
    assert_eq!(final_hash(at, "e.take"), edited);
    run(at, &["bake", "w.take", "-o", "w.glb", "--no-preview"]);
    run(at, &["bake", "e.take", "-o", "e.glb", "--no-preview"]);
    assert!(fs::read(at.join("w.glb")).unwrap() == fs::read(at.join("e.glb")).unwrap());
    assert!(run(at, &["edit", "e.take", "list"]).contains("1: frame 12: time = 0.2, gravity = [0, 5, 0]"));

    // undo and redo are immediate
    assert!(run(at, &["edit", "w.take", "undo"]).contains("version 1 with 0 edits: 31 of 31 frames"));
    assert_eq!(final_hash(at, "w.take"), unedited);
    assert!(run(at, &["edit", "w.take", "redo"]).contains("version 2 with 1 edit: 31 of 31 frames"));
    assert_eq!(final_hash(at, "w.take"), edited);
    let said = run(at, &["edit", "w.take", "versions"]);
    assert!(said.contains("* version 2: 1 edit, 31 frames, 13 of them shared with version 1"), "{said}");

    // the exact state of a frame, and its shape
    let said = run(at, &["take", "w.take", "frame", "12", "-o", "f.glb"]);
    assert!(said.contains("frame 12 at 0.2000 s") && said.contains("wrote f.glb"), "{said}");
    assert!(run(at, &["take", "w.take", "info"]).contains("for each of 49 recorded frames"));

    // an edit of the scene file can be removed; extension goes past the end
    run(at, &["edit", "e.take", "remove", "1", "--simulate"]);
    assert_eq!(final_hash(at, "e.take"), unedited);
    let said = run(at, &["simulate", "--extend", "e.take", "--seconds", "0.25", "--no-preview"]);
    assert!(said.contains("wrote e.take") && said.contains("\n0.25 s simulated in "), "{said}");
    run(at, &["simulate", "worm.toml", "-o", "long.take", "--seconds", "0.75", "--no-preview"]);
    assert_eq!(final_hash(at, "e.take"), final_hash(at, "long.take"));

    // dropped versions give back their space
    let before = fs::metadata(at.join("w.take")).unwrap().len();
    assert!(run(at, &["edit", "w.take", "drop"]).contains("disk space were given back"));
    assert!(fs::metadata(at.join("w.take")).unwrap().len() < before);
    assert_eq!(final_hash(at, "w.take"), edited);

    // with other cages: the same edits, in a take of its own
    run(at, &["simulate", "w.take", "--resolution", "900", "-o", "fine.take", "--no-preview"]);
    let said = run(at, &["edit", "fine.take", "list"]);
    assert!(said.contains("1: frame 12"), "{said}");
    assert_ne!(final_hash(at, "fine.take"), edited);
    assert!(run(at, &["inspect", "fine.take"]).contains("complete: 31 of 31"));
}

#[test]
fn edits_that_cannot_be_made_are_refused_and_leave_the_take_alone() {
    let folder = recorded();
    let at = folder.path();
    let before = fs::read(at.join("w.take")).unwrap();
    fs::write(at.join("scene.toml"), WORM).unwrap();
    let calls: [(&[&str], &str); 11] = [
        (&["edit", "w.take", "add", "--time", "0.2", "gravitas = 1"], "did you mean"),
        (&["edit", "w.take", "add", "--time", "0.2", "gravity = 3"], "`gravity` is a"),
        (
            &["edit", "w.take", "add", "--time", "0.2", "body = [{ name = 'snake' }]\nremove = ['rope']"],
            "rope",
        ),
        (
            &["edit", "w.take", "add", "--time", "0.2", "body = [{ name = 'snake', air_drag = 1 }]"],
            "there is no body 'snake': the scene has worm",
        ),
        (&["edit", "w.take", "add", "--time", "-1", "gravity = [0, 0, 0]"], "unexpected argument"),
        (
            &[
                "edit",
                "w.take",
                "add",
                "--time",
                "0.2",
                "body = [{ name = 'worm', material = { young = -5 } }]",
            ],
            "material",
        ),
        (&["edit", "w.take", "add", "--file", "scene.toml"], "begin each one in a file with [[edit]]"),
        (&["edit", "w.take", "remove", "1"], "there is no edit 1: the take has 0"),
        (&["edit", "w.take", "undo"], "there is nothing to undo"),
        (&["edit", "w.take", "switch", "4"], "there is no version 4"),
        (&["take", "w.take", "frame", "99"], "frame 99 is not recorded: the take has frames 0 to 30"),
    ];
    for (call, says) in calls {
        let output = sinew(at, call);
        assert_eq!(output.status.code(), Some(2), "{call:?}: {}", words(&output));
        assert!(words(&output).contains(says), "{call:?}: {}", words(&output));
        assert!(fs::read(at.join("w.take")).unwrap() == before, "{call:?}");
    }
}

/// Ghosts of what comes, with and without an edit, are drawn, and the take stays what it is to the byte.
#[test]
fn ghosts_show_what_comes_next_and_leave_the_take_alone() {
    let folder = recorded();
    let at = folder.path();
    let before = fs::read(at.join("w.take")).unwrap();
    let said = run(
        at,
        &["take", "w.take", "ghosts", "--frame", "12", "--frames", "40", "--every", "10", "-o", "g.png"],
    );
    assert!(said.contains("wrote g.png: frame 12, and ghosts of 22, 32, 42, 52"), "{said}");
    run(at, &["take", "w.take", "ghosts", "--frames", "6", "--every", "3", "--edit", EDIT, "-o", "e.png"]);
    assert_ne!(fs::read(at.join("g.png")).unwrap(), fs::read(at.join("e.png")).unwrap());
    assert!(fs::read(at.join("w.take")).unwrap() == before);

    // what cannot be drawn
    let calls: [(&[&str], &str); 4] = [
        (&["--frame", "99", "-o", "x.png"], "frame 99 is not recorded"),
        (&["--frames", "5", "-o", "x.png"], "--frames 5 and --every 10 make 0 ghosts"),
        (&["-o", "x.gif"], "ghosts are drawn as a .png"),
        (&["--edit", "gravitas = 1", "-o", "x.png"], "did you mean"),
    ];
    for (call, says) in calls {
        let output = sinew(at, &[&["take", "w.take", "ghosts"], call].concat());
        assert_eq!(output.status.code(), Some(2), "{call:?}: {}", words(&output));
        assert!(words(&output).contains(says), "{call:?}: {}", words(&output));
    }
    assert!(!at.join("x.png").exists());
}

/// Killed at any of fifty random moments of an edit, the take opens, and has the edit or has not; continued, it ends as it should.
#[test]
fn a_kill_during_an_edit_leaves_the_take_with_it_or_without_it() {
    const KILLS: usize = 50;
    let folder = recorded();
    let at = folder.path();
    let edit = ["edit", "k.take", "add", "--time", "0.2", EDIT, "--simulate"];
    let unedited = final_hash(at, "w.take");

    // how long an edit takes, and what comes of it
    fs::copy(at.join("w.take"), at.join("k.take")).unwrap();
    let start = Instant::now();
    run(at, &edit);
    let duration = start.elapsed().as_micros() as u64;
    let edited = final_hash(at, "k.take");

    let (mut with, mut without) = (0, 0);
    let mut seed = 0x5eed_u64;
    for kill in 0..KILLS {
        fs::copy(at.join("w.take"), at.join("k.take")).unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(edit)
            .current_dir(at)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_micros((seed >> 33) % duration));
        child.kill().unwrap();
        child.wait().unwrap();
        let said = run(at, &["edit", "k.take", "versions"]);
        assert!(said.contains("version 1: 0 edits, 31 frames"), "{said}");
        match said.lines().count() {
            1 => without += 1,
            2 => {
                with += 1;
                // to the end of some, which takes longer
                if kill % 5 == 0 {
                    assert_eq!(final_hash(at, "k.take"), edited);
                    run(at, &["edit", "k.take", "undo"]);
                }
            }
            _ => panic!("{said}"),
        }
        // what was recorded before is there
        if kill % 5 == 0 {
            assert_eq!(final_hash(at, "k.take"), unedited);
        }
    }
    assert_eq!(with + without, KILLS);
    // a kill before the edit is written and one after it are both likely
    assert!(with > 0 && without > 0, "{with} with the edit, {without} without");
}

/// A goal of inverse kinematics is met after its blend, and not before; what is out of reach is told by how much.
#[test]
fn a_frame_says_how_far_goals_are_from_their_targets() {
    let folder = recorded();
    let at = folder.path();
    let gap = |place: &str, frame: &str| {
        let edit = format!(
            "character = [{{ name = 'worm', mode = 'reach', goal = [{{ name = 'tip', bone = 'b', point = [0.2, 0, 0], place = {place}, blend = 0.1 }}] }}]"
        );
        run(at, &["edit", "w.take", "add", "--time", "0.1", &edit, "--simulate"]);
        let said = run(at, &["take", "w.take", "frame", frame]);
        run(at, &["edit", "w.take", "undo"]);
        let words =
            said.split("goal 'tip' of 'worm': its point is ").nth(1).unwrap_or_else(|| panic!("{said}"));
        words.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    // a point at 0.2 m from the joint at the origin, which is where bone 'b' begins
    let [within, beyond] = ["[0.16, 0.12, 0]", "[0.32, 0.24, 0]"];
    assert!(gap(within, "8") > 1.0);
    assert!(gap(within, "20") < 0.02);
    // no nearer than the arm is long, and as near as inverse kinematics comes
    let left = gap(beyond, "20");
    assert!(left > 19.9 && left < 22.0, "{left}");
}

/// A column that is twisted from 0.1 s on, beside a metaphor that may be too strong.
fn twisted(other: f64) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    run(folder.path(), &["zoo", "export", "cylinder", "-o", "."]);
    let scene = format!(
        "seconds = 0.5\ngravity = [0, 0, 0]\n[[body]]\nname = 'bar'\nsurface = 'cylinder.obj'\ncage_tets = 300\n\
         material = {{ name = 'rubber', damping = 0.5 }}\n[[edit]]\ntime = 0.1\nmetaphor = [\n\
         {{ name = 'turn', body = 'bar', kind = 'twist', magnitude = {{ keys = [[0.1, 0], [0.3, 0.5]] }} }},\n\
         {{ name = 'other', body = 'bar', kind = 'stretch', magnitude = {{ keys = [[0.1, 0], [0.4, {other}]] }} }} ]\n"
    );
    fs::write(folder.path().join("bar.toml"), scene).unwrap();
    folder
}

/// A wanted angle is reached at its frame to 1 %, as a version that can be undone; what cannot be reached, and an angle of a stretch, change nothing.
#[test]
fn a_magnitude_is_found_for_a_wanted_angle() {
    let folder = twisted(0.1);
    let at = folder.path();
    run(at, &["simulate", "bar.toml", "-o", "b.take", "--no-preview"]);
    let goal =
        ["edit", "b.take", "reach", "--metaphor", "turn", "--angle", "40", "--frame", "25", "--simulate"];
    let said = run(at, &goal);
    assert!(said.contains("twisted by 40.") || said.contains("twisted by 39."), "{said}");
    assert!(
        said.contains("its magnitude is multiplied by") && said.contains("version 2 with 1 edit"),
        "{said}"
    );
    let shown = run(at, &["take", "b.take", "frame", "25"]);
    assert!(
        shown.contains("metaphor 'turn': twisted by 40.")
            || shown.contains("metaphor 'turn': twisted by 39."),
        "{shown}"
    );
    // the take was made shorter on purpose
    assert!(!said.contains("unfinished"), "{said}");
    assert!(run(at, &["edit", "b.take", "undo"]).contains("version 1"));

    let before = fs::read(at.join("b.take")).unwrap();
    let refused = |args: &[&str], what: &str| {
        let output = sinew(at, args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(what), "{said}");
    };
    let wild = ["edit", "b.take", "reach", "--metaphor", "turn", "--angle", "4000", "--frame", "25"];
    refused(&wild, "cannot reach that at frame 25");
    let wrong = ["edit", "b.take", "reach", "--metaphor", "other", "--angle", "10", "--frame", "25"];
    refused(&wrong, "give the --displacement");
    assert!(fs::read(at.join("b.take")).unwrap() == before);
}

/// Where another metaphor is too strong whatever this one does, the message names that one.
#[test]
fn the_search_for_a_magnitude_blames_the_metaphor_that_is_too_strong() {
    let folder = twisted(3000.0);
    let at = folder.path();
    let output = sinew(at, &["simulate", "bar.toml", "-o", "b.take", "--no-preview"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("metaphor 'other'"));
    let output =
        sinew(at, &["edit", "b.take", "reach", "--metaphor", "turn", "--angle", "40", "--frame", "25"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("metaphor 'other' of magnitude") && said.contains("too strong"), "{said}");
    assert!(!said.contains("metaphor 'turn' cannot reach"), "{said}");
}
