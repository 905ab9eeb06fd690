//! Takes through the program: recorded, killed, gone on with, damaged and converted.

mod program;

use program::{run, sinew, words};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A worm of two bones: it bends to its first pose and settles before the take begins.
const WORM: &str = "seconds = 1\n[[character]]\nname = 'worm'\nmaterial = { name = 'fat', young = 6000 }\ncage_tets = 600\nmode = 'two-way'\n\
bone = [\n { name = 'a', from = [-0.2, 0, 0], to = [0, 0, 0], radius = 0.016, flesh = [0.05, 0.05] },\n \
{ name = 'b', parent = 'a', from = [0, 0, 0], to = [0.2, 0, 0], radius = 0.016, flesh = [0.05, 0.05] } ]\n\
motion = { interpolation = 'kochanek-bartels' }\n\
key = [ { time = 0.0, pose = { b = [0, 0, 20] } }, { time = 0.5, pose = { b = [0, 0, -20] } }, { time = 1.0, pose = { b = [0, 0, 10] } } ]\n";

fn worm_folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("worm.toml"), WORM).unwrap();
    folder
}

/// The statistics of a run that do not depend on clocks and threads.
fn lasting(path: &Path) -> Value {
    let mut stats: Value = serde_json::from_slice(&fs::read(path).expect("statistics")).expect("JSON");
    for key in ["wall_seconds", "write_seconds", "build_seconds", "realtime_factor", "threads"] {
        stats.as_object_mut().expect("an object").remove(key).expect("a clock");
    }
    stats
}

/// The worm simulated in one go, recorded as `whole.take`, with its statistics.
fn whole(folder: &Path) -> Value {
    run(folder, &["simulate", "worm.toml", "-o", "whole.take", "--no-preview", "--stats", "whole.json"]);
    lasting(&folder.join("whole.json"))
}

#[test]
fn a_take_bakes_to_what_the_simulation_would_have_written_also_without_the_scene() {
    let folder = worm_folder();
    let at = |name: &str| folder.path().join(name);
    run(folder.path(), &["simulate", "worm.toml", "-o", "direct.glb", "--stats", "direct.json"]);
    run(folder.path(), &["simulate", "worm.toml", "-o", "objs", "--no-preview"]);
    run(
        folder.path(),
        &["simulate", "worm.toml", "-o", "worm.take", "--stats", "take.json", "--threads", "1"],
    );
    assert_eq!(lasting(&at("direct.json")), lasting(&at("take.json")));
    assert_eq!(fs::read(at("worm.png")).unwrap(), fs::read(at("direct.png")).unwrap());

    fs::remove_file(at("worm.toml")).unwrap();
    let said = run(folder.path(), &["bake", "worm.take", "-o", "baked.glb"]);
    assert!(said.contains("61 frames, 1.00 s") && said.contains("wrote baked.glb"), "{said}");
    run(folder.path(), &["bake", "worm.take", "-o", "baked", "--threads", "1"]);
    for (ours, direct) in [("baked.glb", "direct.glb"), ("baked.png", "direct.png")] {
        assert!(fs::read(at(ours)).unwrap() == fs::read(at(direct)).unwrap(), "{ours}");
    }
    for frame in 1..=61 {
        let name = format!("frame_{frame:04}.obj");
        assert!(fs::read(at("baked").join(&name)).unwrap() == fs::read(at("objs").join(&name)).unwrap());
    }

    let said = run(folder.path(), &["inspect", "worm.take"]);
    for part in ["take of worm.toml", "contains worm.toml", "complete: 61 of 61 frames", "skeleton 'worm'"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// A built-in scene, whatever else has its name by then.
#[test]
fn a_built_in_scene_is_found_again_by_its_name() {
    let folder = worm_folder();
    run(folder.path(), &["simulate", "beam", "-o", "b.take", "--seconds", "0.1", "--no-preview"]);
    run(folder.path(), &["bake", "b.take", "-o", "beam", "--no-preview"]);
    run(folder.path(), &["bake", "b.take", "-o", "beam", "--no-preview"]);
    assert_eq!(fs::read_dir(folder.path().join("beam")).unwrap().count(), 7);
}

/// Starts `sinew` and kills it without warning when the take has grown by so much or after so long, whichever comes first. Whether it was still running.
fn kill_during(folder: &Path, arguments: &[&str], growth: u64, patience: Duration) -> bool {
    let size = || fs::metadata(folder.join("k.take")).map_or(0, |metadata| metadata.len());
    let (before, start) = (size(), Instant::now());
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    while size() < before + growth && start.elapsed() < patience && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

#[test]
fn killed_at_any_moment_and_resumed_a_take_ends_in_the_same_state_as_one_never_stopped() {
    let folder = worm_folder();
    let expected = whole(folder.path());
    let start: &[&str] = &["simulate", "worm.toml", "-o", "k.take", "--no-preview", "--threads"];
    let go_on: &[&str] = &["simulate", "--resume", "k.take", "--no-preview", "--threads"];
    let mut resumed_kills = 0;
    // a fixed sequence of moments: some by the clock, before there is a take at all, most by how much has been recorded
    let mut seed = 0x9e37_79b9_u64;
    for round in 0..3 {
        let _ = fs::remove_file(folder.path().join("k.take"));
        for kill in 0..6 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let threads = ["1", "2", "3"][(seed >> 33) as usize % 3];
            let exists = folder.path().join("k.take").exists();
            let call = if exists { go_on } else { start };
            let arguments: Vec<&str> = call.iter().copied().chain([threads]).collect();
            let patience = Duration::from_millis(if kill < 2 { (seed >> 40) % 40 } else { 60_000 });
            let was_running = kill_during(folder.path(), &arguments, 1 + (seed >> 40) % 60_000, patience);
            resumed_kills += usize::from(exists && was_running);
        }
        let threads = ["1", "2", "4"][round];
        let call = if folder.path().join("k.take").exists() { go_on } else { start };
        let arguments: Vec<&str> = call.iter().copied().chain([threads, "--stats", "k.json"]).collect();
        run(folder.path(), &arguments);
        assert_eq!(lasting(&folder.path().join("k.json")), expected, "round {round}");
        run(folder.path(), &["bake", "k.take", "-o", "k.glb", "--no-preview"]);
        run(folder.path(), &["bake", "whole.take", "-o", "w.glb", "--no-preview"]);
        assert!(
            fs::read(folder.path().join("k.glb")).unwrap() == fs::read(folder.path().join("w.glb")).unwrap()
        );
    }
    assert!(resumed_kills >= 3, "only {resumed_kills} kills met a take that had been begun");
}

#[test]
fn a_complete_take_is_not_gone_on_with() {
    let folder = worm_folder();
    let expected = whole(folder.path());
    let bytes = fs::read(folder.path().join("whole.take")).unwrap();
    let said = run(folder.path(), &["simulate", "--resume", "whole.take"]);
    assert!(said.contains("is complete: 61 of 61 frames") && said.contains("nothing to do"), "{said}");
    run(folder.path(), &["simulate", "--resume", "whole.take", "--stats", "again.json"]);
    assert_eq!(lasting(&folder.path().join("again.json")), expected);
    assert!(fs::read(folder.path().join("whole.take")).unwrap() == bytes);
}

#[test]
fn a_take_cut_short_goes_on_from_its_last_whole_chunk_and_one_without_a_scene_is_refused() {
    let folder = worm_folder();
    let expected = whole(folder.path());
    let at = |name: &str| folder.path().join(name);
    let bytes = fs::read(at("whole.take")).unwrap();
    // in the header, in the scene
    for end in [0, 5, 16, 20, 200] {
        fs::write(at("cut.take"), &bytes[..end]).unwrap();
        for call in [["simulate", "--resume", "cut.take"].as_slice(), &["bake", "cut.take", "-o", "cut.glb"]]
        {
            let output = sinew(folder.path(), call);
            assert_eq!(output.status.code(), Some(2), "{end}: {}", words(&output));
            assert!(words(&output).contains("cut.take"), "{}", words(&output));
            assert_eq!(fs::read(at("cut.take")).unwrap(), &bytes[..end]);
            assert!(!at("cut.glb").exists());
        }
    }
    // in a chunk of frames, in the end
    for end in [bytes.len() / 2, bytes.len() - 1] {
        fs::write(at("cut.take"), &bytes[..end]).unwrap();
        let said = run(folder.path(), &["bake", "cut.take", "-o", "cut.glb", "--no-preview"]);
        assert!(
            said.contains("of 61 frames are recorded") && said.contains("is damaged: its last"),
            "{said}"
        );
        let said = run(folder.path(), &["simulate", "--resume", "cut.take", "--stats", "cut.json"]);
        assert!(
            said.contains("of 61 frames are recorded") && said.contains("wrote cut.take, cut.png"),
            "{said}"
        );
        assert_eq!(lasting(&at("cut.json")), expected);
        assert!(run(folder.path(), &["inspect", "cut.take"]).contains("complete: 61 of 61"));
    }
}

#[test]
fn what_is_no_take_of_this_version_is_refused_and_left_alone() {
    let folder = worm_folder();
    whole(folder.path());
    let at = |name: &str| folder.path().join(name);
    let mut other = fs::read(at("whole.take")).unwrap();
    other[8] = 77;
    fs::write(at("other.take"), &other).unwrap();
    fs::write(at("text.take"), "once upon a time there was a worm").unwrap();
    for (name, says) in [
        ("other.take", "format version 77"),
        ("text.take", "is not a take"),
        ("worm.toml", "is not a take"),
        ("missing.take", "no such file"),
        (".", "is not a file"),
    ] {
        for call in [["simulate", "--resume", name].as_slice(), &["bake", name, "-o", "x.glb"]] {
            let output = sinew(folder.path(), call);
            assert_eq!(output.status.code(), Some(2), "{call:?}: {}", words(&output));
            assert!(words(&output).contains(says), "{call:?}: {}", words(&output));
        }
    }
    assert_eq!(fs::read(at("other.take")).unwrap(), other);
    assert!(!at("x.glb").exists() && !at("x.png").exists());
}

#[test]
fn bad_calls_about_takes_are_refused_with_code_2() {
    let folder = worm_folder();
    whole(folder.path());
    fs::create_dir(folder.path().join("folder.take")).unwrap();
    let calls: [(&[&str], &str); 7] = [
        (&["simulate", "whole.take"], "--resume whole.take"),
        (&["simulate", "--resume", "whole.take", "--seconds", "9"], "cannot be used with"),
        (&["simulate", "--resume", "whole.take", "-o", "b.take"], "cannot be used with"),
        (&["simulate", "worm.toml", "-o", "no/such/w.take"], "there is no folder"),
        (&["simulate", "worm.toml", "-o", "folder.take"], "it is a folder"),
        (&["bake", "whole.take", "-o", "b.take"], "copy its file"),
        (&["bake", "whole.take", "-o", "b.fbx"], ".fbx is not an output format"),
    ];
    for (call, says) in calls {
        let output = sinew(folder.path(), call);
        assert_eq!(output.status.code(), Some(2), "{call:?}: {}", words(&output));
        assert!(words(&output).contains(says), "{call:?}: {}", words(&output));
    }
}

#[test]
fn a_new_take_replaces_a_complete_one_but_an_unfinished_one_only_by_force() {
    let folder = worm_folder();
    whole(folder.path());
    let take = folder.path().join("whole.take");
    let again = ["simulate", "worm.toml", "-o", "whole.take", "--no-preview", "--seconds", "0.1"];
    run(folder.path(), &again);
    let short = fs::read(&take).unwrap();
    assert!(run(folder.path(), &["inspect", "whole.take"]).contains("complete: 7 of 7 frames"));

    // a scene that cannot be simulated leaves it as it is
    fs::write(folder.path().join("bad.toml"), WORM.replace("cage_tets = 600", "cage_tets = 600\nmass = -1"))
        .unwrap();
    assert_eq!(sinew(folder.path(), &["simulate", "bad.toml", "-o", "whole.take"]).status.code(), Some(2));
    assert_eq!(fs::read(&take).unwrap(), short);

    fs::write(&take, &short[..short.len() - 1]).unwrap();
    let output = sinew(folder.path(), &again);
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("an unfinished take with 7 of 7 frames"), "{}", words(&output));
    assert_eq!(fs::read(&take).unwrap(), &short[..short.len() - 1]);
    let forced: Vec<&str> = again.into_iter().chain(["--force"]).collect();
    run(folder.path(), &forced);
    assert!(fs::read(&take).unwrap() == short, "the same run makes the same file");
}

/// A file size limit stands in for a full disk: writing fails in the midst of a chunk.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_keeps_what_was_recorded_and_can_be_gone_on_from() {
    let folder = worm_folder();
    let expected = whole(folder.path());
    let size = fs::metadata(folder.path().join("whole.take")).unwrap().len();
    // in blocks of 512 or 1024 bytes, as the shell has it: half or all but a little of what is needed
    let limit = size * 9 / 10 / 1024;
    let script = format!(
        "trap '' XFSZ; ulimit -f {limit}; exec {} simulate worm.toml -o full.take --no-preview",
        env!("CARGO_BIN_EXE_sinew")
    );
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    assert!(words(&output).contains("cannot write full.take"), "{}", words(&output));
    assert!(words(&output).contains("the frames recorded so far are kept"), "{}", words(&output));
    let said = run(folder.path(), &["inspect", "full.take"]);
    assert!(said.contains("unfinished: "), "the torn chunk was taken away: {said}");
    run(folder.path(), &["simulate", "--resume", "full.take", "--no-preview", "--stats", "full.json"]);
    assert_eq!(lasting(&folder.path().join("full.json")), expected);
}

/// A pin three times as fast as light: no step of it holds for long. Going on meets the same end.
#[test]
fn a_simulation_that_fails_keeps_what_it_reached() {
    let folder = worm_folder();
    let cube = "v 0 0 0\nv .5 0 0\nv 0 .5 0\nv .5 .5 0\nv 0 0 .5\nv .5 0 .5\nv 0 .5 .5\nv .5 .5 .5\n\
                f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    fs::write(folder.path().join("cube.obj"), cube).unwrap();
    let scene = "seconds = 1\n[[body]]\nsurface = 'cube.obj'\ncage_tets = 200\nmaterial = { law = 'neo-hookean' }\n\
                 [[body.pin]]\nregion = { end = 'top' }\nmotion = { glide = { velocity = [1e9, 0, 0] } }\n";
    fs::write(folder.path().join("fast.toml"), scene).unwrap();
    let calls: [&[&str]; 2] =
        [&["simulate", "fast.toml", "-o", "fast.take"], &["simulate", "--resume", "fast.take"]];
    for call in calls {
        let output = sinew(folder.path(), call);
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        assert!(words(&output).contains("diverged at 0.0000 s"), "{}", words(&output));
        assert!(run(folder.path(), &["inspect", "fast.take"]).contains("unfinished: 1 of 61 frames"));
    }
}
