//! Nothing of the user's is lost: inputs and files of others stay, signals leave nothing behind, and what cannot be written is an error.

mod program;

use program::{run, sinew, words};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A cube of half a metre as an OBJ file.
const CUBE: &str = "v 0 0 0\nv .5 0 0\nv 0 .5 0\nv .5 .5 0\nv 0 0 .5\nv .5 0 .5\nv 0 .5 .5\nv .5 .5 .5\n\
f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
/// The smallest rigged character: a bar of two bones.
const BAR: &[u8] = include_bytes!("../../gltf/tests/corpus/bar_plain.glb");
/// What a user would miss.
const THESIS: &[u8] = b"the only copy of my thesis";

/// Runs `sinew`, which must refuse.
fn refuse(folder: &Path, arguments: &[&str], why: &str) {
    let output = sinew(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", words(&output));
    assert!(words(&output).contains(why), "{arguments:?}: {}", words(&output));
}

/// Names of all files in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A folder with these files.
fn folder_of(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    files.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    folder
}

/// The bar as a `.gltf` with its buffer and its texture beside it.
fn bar_with_texture(name: &str) -> TempDir {
    let length = u32::from_le_bytes(BAR[12..16].try_into().unwrap()) as usize;
    let mut document: Value = serde_json::from_slice(&BAR[20..20 + length]).unwrap();
    document["buffers"][0]["uri"] = json!(format!("{name}.bin"));
    document["images"] = json!([{ "uri": format!("{name}.png") }]);
    document["textures"] = json!([{ "source": 0 }]);
    let gltf = document.to_string();
    let texture = sinew_picture();
    folder_of(&[
        (&format!("{name}.gltf"), gltf.as_bytes()),
        (&format!("{name}.bin"), &BAR[28 + length..]),
        (&format!("{name}.png"), &texture),
    ])
}

/// A picture that Sinew has drawn: its signature alone would let it be replaced.
fn sinew_picture() -> Vec<u8> {
    let folder = folder_of(&[("bar.glb", BAR)]);
    run(folder.path(), &["render", "bar.glb", "-o", "bar.png", "--time", "0", "--size", "16x16"]);
    fs::read(folder.path().join("bar.png")).unwrap()
}

const HERO: &str =
    "seconds = 0.05\n[[character]]\nfile = 'hero.glb'\ncage_tets = 200\nrun_up = 0\nsettle = 0\n";

#[test]
fn a_character_that_a_scene_names_is_not_replaced_by_its_take() {
    let folder = folder_of(&[("hero.toml", HERO.as_bytes()), ("hero.glb", BAR)]);
    for arguments in [
        &["simulate", "hero.toml"][..],
        &["simulate", "hero.toml", "--force"],
        &["settle", "hero.toml", "-o", "hero.glb"],
        &["simulate", "hero.toml", "-o", "x.glb", "--stats", "hero.glb", "--no-preview"],
        &["simulate", "hero.toml", "-o", "x.glb", "--stats", "hero.toml", "--no-preview"],
    ] {
        refuse(folder.path(), arguments, "this run reads it");
    }
    assert_eq!(fs::read(folder.path().join("hero.glb")).unwrap(), BAR);
    assert_eq!(names(folder.path()), ["hero.glb", "hero.toml"]);
    run(folder.path(), &["simulate", "hero.toml", "-o", "out.glb", "--no-preview"]);
}

#[cfg(unix)]
#[test]
fn an_input_is_not_replaced_under_another_name() {
    let folder = folder_of(&[("hero.toml", HERO.as_bytes()), ("hero.glb", BAR)]);
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    std::os::unix::fs::symlink("hero.glb", at("soft.glb")).unwrap();
    std::os::unix::fs::symlink("..", at("deep/up")).unwrap();
    fs::hard_link(at("hero.glb"), at("hard.glb")).unwrap();
    for name in ["soft.glb", "hard.glb", "deep/../hero.glb", "deep/up/hero.glb"] {
        refuse(folder.path(), &["simulate", "hero.toml", "-o", name, "--force"], "this run reads it");
    }
    // and the other way round: read through the link, written to what it leads to
    fs::write(at("soft.toml"), HERO.replace("hero.glb", "soft.glb")).unwrap();
    refuse(folder.path(), &["simulate", "soft.toml", "-o", "hero.glb", "--force"], "this run reads it");
    for name in ["hero.glb", "soft.glb", "hard.glb"] {
        assert_eq!(fs::read(at(name)).unwrap(), BAR, "{name}");
    }
}

#[test]
fn a_texture_is_not_replaced_by_the_preview_of_its_character() {
    let folder = bar_with_texture("man");
    let texture = fs::read(folder.path().join("man.png")).unwrap();
    for force in [&[][..], &["--force"]] {
        let short = ["simulate", "man.gltf", "-o", "man.glb", "--seconds", "0.05", "--no-preroll"];
        let said = run(folder.path(), &[&short, force].concat());
        assert!(said.contains("the preview is skipped: cannot write man.png: this run reads it"), "{said}");
        assert!(fs::read(folder.path().join("man.png")).unwrap() == texture);
    }
    assert_eq!(names(folder.path()), ["man.bin", "man.glb", "man.gltf", "man.png"]);
    refuse(folder.path(), &["render", "man.gltf", "-o", "man.png", "--force"], "this run reads it");
    refuse(folder.path(), &["render", "man.gltf", "--simulate", "-o", "man.png"], "this run reads it");
    assert!(fs::read(folder.path().join("man.png")).unwrap() == texture);
}

#[test]
fn meshes_are_not_replaced_by_statistics_and_rest_meshes() {
    let scene = "seconds = 0.05\n[[body]]\nsurface = 'cube-rest.obj'\ncage_tets = 100\n";
    let folder = folder_of(&[
        ("cube.obj", CUBE.as_bytes()),
        ("cube-rest.obj", CUBE.as_bytes()),
        ("cube.toml", scene.as_bytes()),
    ]);
    let short = ["--seconds", "0.05", "--no-preview", "--force"];
    for arguments in [
        &["simulate", "cube.obj", "-o", "a.glb", "--stats", "cube.obj"][..],
        &["simulate", "cube.toml", "-o", "cube.pc2"],
        &["simulate", "cube.toml", "-o", "cube.mdd"],
    ] {
        refuse(folder.path(), &[arguments, &short].concat(), "this run reads it");
    }
    for name in ["cube.obj", "cube-rest.obj"] {
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), CUBE.as_bytes(), "{name}");
    }
    assert_eq!(names(folder.path()), ["cube-rest.obj", "cube.obj", "cube.toml"]);
}

#[test]
fn a_sequence_does_not_replace_the_folder_its_mesh_is_in() {
    let scene = "seconds = 0.05\n[[body]]\nsurface = 'objs/frame_0001.obj'\ncage_tets = 100\n";
    let folder = folder_of(&[("s.toml", scene.as_bytes())]);
    fs::create_dir(folder.path().join("objs")).unwrap();
    fs::write(folder.path().join("objs/frame_0001.obj"), format!("# Sinew, at rest\n{CUBE}")).unwrap();
    let arguments = ["simulate", "s.toml", "-o", "objs", "--no-preview", "--force"];
    refuse(folder.path(), &arguments, "this run reads it");
    assert_eq!(names(&folder.path().join("objs")), ["frame_0001.obj"]);
}

/// Every format: written, written again by itself, and a file of others in its place only by force.
#[test]
fn outputs_replace_their_own_kind_and_files_of_others_only_by_force() {
    let folder = folder_of(&[("cube.obj", CUBE.as_bytes()), ("bar.glb", BAR)]);
    let short = ["--seconds", "0.05", "--no-preview"];
    run(folder.path(), &["simulate", "cube.obj", "-o", "k.take", "--seconds", "0.05", "--no-preview"]);
    let simulate = |name: &'static str| [&["simulate", "cube.obj", "-o", name][..], &short].concat();
    let bar = ["simulate", "bar.glb", "-o", "own.glb", "--no-preroll", "--seconds", "0.05", "--no-preview"];
    let small = ["--size", "16x16", "--fps", "5"];
    let commands: Vec<(&str, Vec<&str>)> = vec![
        ("a.glb", simulate("a.glb")),
        ("a.usda", simulate("a.usda")),
        ("a.pc2", simulate("a.pc2")),
        ("a-rest.obj", simulate("a.pc2")),
        ("b.mdd", simulate("b.mdd")),
        ("r.take", simulate("r.take")),
        ("own.glb", bar.to_vec()),
        ("s.json", [&simulate("c.glb")[..], &["--stats", "s.json"]].concat()),
        ("c.glb", vec!["settle", "cube.obj", "-o", "c.glb"]),
        ("d.glb", vec!["bake", "k.take", "-o", "d.glb", "--no-preview"]),
        ("p.png", vec!["render", "k.take", "-o", "p.png", "--size", "16x16", "--time", "0"]),
        ("p.gif", [&["render", "k.take", "-o", "p.gif"][..], &small].concat()),
        ("bench.json", vec!["bench", "build", "--max-tets", "1", "--json", "bench.json"]),
    ];
    for (name, arguments) in commands {
        let path = folder.path().join(name);
        run(folder.path(), &arguments);
        run(folder.path(), &arguments);
        fs::write(&path, THESIS).unwrap();
        refuse(folder.path(), &arguments, "--force");
        assert_eq!(fs::read(&path).unwrap(), THESIS, "{name}");
        run(folder.path(), &[&arguments[..], &["--force"]].concat());
        assert_ne!(fs::read(&path).unwrap(), THESIS, "{name}");
    }
    assert!(!names(folder.path()).iter().any(|name| name.starts_with('.')));
}

#[test]
fn a_folder_of_others_is_not_replaced_by_a_sequence() {
    let folder = folder_of(&[("cube.obj", CUBE.as_bytes())]);
    let arguments = ["simulate", "cube.obj", "-o", "objs", "--seconds", "0.05", "--no-preview"];
    run(folder.path(), &arguments);
    run(folder.path(), &arguments);
    let scan = folder.path().join("objs/frame_0002.obj");
    fs::write(&scan, CUBE).unwrap();
    refuse(folder.path(), &arguments, "--force");
    assert_eq!(fs::read(&scan).unwrap(), CUBE.as_bytes());
    run(folder.path(), &[&arguments[..], &["--force"]].concat());
    // names that no sequence has are not removed by force either
    fs::write(folder.path().join("objs/thesis.txt"), THESIS).unwrap();
    refuse(folder.path(), &[&arguments[..], &["--force"]].concat(), "thesis.txt");
}

#[test]
fn a_preview_in_the_way_of_a_picture_of_others_is_left_out() {
    let folder = folder_of(&[("cube.obj", CUBE.as_bytes()), ("out.png", THESIS)]);
    let arguments = ["simulate", "cube.obj", "-o", "out.glb", "--seconds", "0.05"];
    let said = run(folder.path(), &arguments);
    assert!(said.contains("note: the preview is skipped") && said.contains("wrote out.glb"), "{said}");
    assert!(!said.contains("wrote out.png"), "{said}");
    assert_eq!(fs::read(folder.path().join("out.png")).unwrap(), THESIS);
    run(folder.path(), &[&arguments[..], &["--force"]].concat());
    assert_eq!(&fs::read(folder.path().join("out.png")).unwrap()[1..4], b"PNG");
    run(folder.path(), &arguments);
}

#[test]
fn outputs_that_are_one_file_are_refused() {
    let folder = folder_of(&[("cube.obj", CUBE.as_bytes())]);
    for stats in ["a.png", "./a.glb", "A.GLB"] {
        refuse(folder.path(), &["simulate", "cube.obj", "-o", "a.glb", "--stats", stats], "named twice");
    }
    refuse(folder.path(), &["simulate", "cube.obj", "-o", "a.glb", "--stats", "k.take"], "as JSON");
}

#[test]
fn a_failed_simulation_exits_with_1_and_bad_input_with_2() {
    let wild = "seconds = 0.5\ngravity = [0, 0, -1e9]\n[[character]]\nname = 'a'\ncage_tets = 200\nmode = 'ragdoll'\nrun_up = 0\nsettle = 0\n\
                bone = [\n { name = 'a', from = [-0.2, 0, 0], to = [0, 0, 0], radius = 0.016, flesh = [0.05, 0.05] },\n \
                { name = 'b', parent = 'a', from = [0, 0, 0], to = [0.2, 0, 0], radius = 0.016, flesh = [0.05, 0.05] } ]\n";
    let folder = folder_of(&[("wild.toml", wild.as_bytes()), ("bad.toml", b"seconds = -1")]);
    let output = sinew(folder.path(), &["simulate", "wild.toml", "-o", "a.glb", "--no-preview"]);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert!(words(&output).contains("not finite"), "{}", words(&output));
    assert_eq!(names(folder.path()), ["bad.toml", "wild.toml"]);
    let output = sinew(folder.path(), &["simulate", "bad.toml", "-o", "a.glb"]);
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
}

#[cfg(target_os = "linux")]
mod reports {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn a_report_that_cannot_be_written_is_an_error_unless_its_reader_went_away() {
        let folder = folder_of(&[("cube.obj", CUBE.as_bytes())]);
        let simulate = ["simulate", "cube.obj", "-o", "a.glb", "--seconds", "0.05", "--no-preview"];
        let full = || fs::File::options().write(true).open("/dev/full").expect("a full disk");
        for arguments in [&[&simulate[..], &["--json"]].concat()[..], &simulate, &["inspect", "cube.obj"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
            command.args(arguments).current_dir(folder.path());
            let output = command.stdout(full()).output().expect("the program starts");
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", words(&output));
            assert!(words(&output).contains("report cannot be written"), "{}", words(&output));

            let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
            drop(child.stdout.take());
            assert!(child.wait().unwrap().success(), "{arguments:?}");
        }
        refuse(folder.path(), &[&simulate[..], &["--stats", "/dev/full"]].concat(), "not an ordinary file");
        refuse(folder.path(), &["bench", "build", "--json", "/dev/full"], "not an ordinary file");
    }
}

#[cfg(unix)]
mod signals {
    use super::*;
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A program that has been started, killed if a test fails.
    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    impl Running {
        fn start(folder: &Path, program: &str, arguments: &[&str]) -> Running {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
            Running(command.spawn().expect("the program starts"))
        }

        fn sinew(folder: &Path, arguments: &[&str]) -> Running {
            Running::start(folder, env!("CARGO_BIN_EXE_sinew"), arguments)
        }

        fn send(&self, signal: &str) {
            let status = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
            assert!(status.expect("a signal").success());
        }

        /// Waits for the end: its exit code and what was said.
        fn end(mut self) -> (Option<i32>, String) {
            let is_over = || self.0.try_wait().expect("a child").is_some();
            wait_until(is_over);
            let mut said = String::new();
            let mut stderr = self.0.stderr.take().expect("its words");
            std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
            (self.0.wait().unwrap().code(), said)
        }
    }

    fn wait_until(mut holds: impl FnMut() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < PATIENCE, "nothing happened for {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn has_temporary(folder: &Path) -> bool {
        names(folder).iter().any(|name| name.starts_with(".sinew-") && name.ends_with(".part"))
    }

    /// Whether whoever runs the tests has them ignore a signal, which `sinew` then does too.
    fn is_ignored(number: u32) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> (number - 1) & 1 == 1)
    }

    const SIGNALS: [(&str, u32); 3] = [("-INT", 2), ("-TERM", 15), ("-HUP", 1)];
    /// A simulation of minutes that begins at once.
    const LONG: [&str; 5] = ["simulate", "beam", "--seconds", "1000", "--no-preview"];

    #[test]
    fn a_signal_leaves_nothing_behind_and_is_the_exit_code() {
        for (signal, number) in SIGNALS.into_iter().filter(|(_, number)| !is_ignored(*number)) {
            for output in ["out.usda", "objs", "out.pc2"] {
                let folder = folder_of(&[]);
                let running = Running::sinew(folder.path(), &[&LONG[..], &["-o", output]].concat());
                wait_until(|| has_temporary(folder.path()));
                running.send(signal);
                let (code, said) = running.end();
                assert_eq!(code, Some(128 + number as i32), "{said}");
                assert!(said.contains("interrupted: nothing was"), "{said}");
                assert!(names(folder.path()).is_empty(), "{:?}", names(folder.path()));
            }
        }
    }

    #[test]
    fn a_signal_saves_what_was_recorded_and_says_how_to_resume() {
        if is_ignored(15) {
            return;
        }
        let folder = folder_of(&[]);
        let path = folder.path().join("k.take");
        let running = Running::sinew(folder.path(), &[&LONG[..], &["-o", "k.take"]].concat());
        wait_until(|| path.exists());
        running.send("-TERM");
        let (code, said) = running.end();
        assert_eq!(code, Some(143), "{said}");
        assert!(said.contains("kept in k.take; to continue: sinew simulate --resume k.take"), "{said}");
        assert_eq!(names(folder.path()), ["k.take"]);
        run(folder.path(), &["inspect", "k.take"]);

        let running = Running::sinew(folder.path(), &["simulate", "--resume", "k.take", "--no-preview"]);
        let before = fs::metadata(&path).unwrap().len();
        wait_until(|| fs::metadata(&path).unwrap().len() > before);
        running.send("-TERM");
        assert_eq!(running.end().0, Some(143));
        run(folder.path(), &["inspect", "k.take"]);
    }

    #[test]
    fn a_picture_that_is_interrupted_leaves_no_take_behind() {
        if is_ignored(2) {
            return;
        }
        let scene = "seconds = 1000\n[[body]]\nsurface = 'cube.obj'\ncage_tets = 100\n";
        let folder = folder_of(&[("cube.obj", CUBE.as_bytes()), ("s.toml", scene.as_bytes())]);
        let running = Running::sinew(folder.path(), &["render", "s.toml", "-o", "a.gif"]);
        wait_until(|| has_temporary(folder.path()));
        running.send("-INT");
        let (code, said) = running.end();
        assert_eq!(code, Some(130), "{said}");
        assert_eq!(names(folder.path()), ["cube.obj", "s.toml"]);
    }

    #[test]
    fn a_signal_that_is_ignored_stays_ignored() {
        if is_ignored(15) {
            return;
        }
        let folder = folder_of(&[]);
        let script =
            format!("trap '' HUP; exec {} {} -o k.take", env!("CARGO_BIN_EXE_sinew"), LONG.join(" "));
        let running = Running::start(folder.path(), "sh", &["-c", &script]);
        let path = folder.path().join("k.take");
        wait_until(|| path.exists());
        running.send("-HUP");
        // goes on recording
        let before = fs::metadata(&path).unwrap().len();
        wait_until(|| fs::metadata(&path).unwrap().len() > before + 100_000);
        running.send("-TERM");
        assert_eq!(running.end().0, Some(143));
    }

    #[test]
    fn what_a_killed_run_has_left_is_removed_by_the_next() {
        let folder = folder_of(&[]);
        let mut running = Running::sinew(folder.path(), &[&LONG[..], &["-o", "out.usda"]].concat());
        wait_until(|| has_temporary(folder.path()));
        running.0.kill().unwrap();
        running.0.wait().unwrap();
        assert!(has_temporary(folder.path()));
        let short = ["simulate", "beam", "--seconds", "0.05", "--no-preview", "-o", "out.usda"];
        run(folder.path(), &short);
        assert_eq!(names(folder.path()), ["out.usda"]);
    }

    #[test]
    fn a_take_that_is_deleted_or_replaced_while_it_is_recorded_is_an_error() {
        for is_replaced in [false, true] {
            let folder = folder_of(&[("thesis.txt", THESIS)]);
            let path = folder.path().join("k.take");
            let running = Running::sinew(folder.path(), &[&LONG[..], &["-o", "k.take"]].concat());
            wait_until(|| path.exists());
            if is_replaced {
                fs::rename(folder.path().join("thesis.txt"), &path).unwrap();
            } else {
                fs::remove_file(&path).unwrap();
            }
            let (code, said) = running.end();
            assert_eq!(code, Some(2), "{said}");
            assert!(said.contains("deleted or replaced during the recording"), "{said}");
            if is_replaced {
                assert_eq!(fs::read(&path).unwrap(), THESIS);
            } else {
                assert_eq!(names(folder.path()), ["thesis.txt"]);
            }
        }
    }
}
