//! Pictures through the program: every kind of them, and everything that cannot be drawn.

mod program;

use program::{run, sinew, words};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A worm of two bones that bends for a quarter of a second.
const WORM: &str = "seconds = 0.25\nfps = 24\n[[character]]\nname = 'worm'\nmaterial = { name = 'fat', young = 6000 }\ncage_tets = 300\n\
bone = [\n { name = 'a', from = [-0.2, 0, 0], to = [0, 0, 0], radius = 0.016, flesh = [0.05, 0.05] },\n \
{ name = 'b', parent = 'a', from = [0, 0, 0], to = [0.2, 0, 0], radius = 0.016, flesh = [0.05, 0.05] } ]\n\
key = [ { time = 0.0, pose = { b = [0, 0, 20] } }, { time = 0.25, pose = { b = [0, 0, -20] } } ]\n";

/// The worm as a scene, a take and a .glb, made once for all tests.
fn worm() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            fs::write(folder.path().join("worm.toml"), WORM).unwrap();
            run(folder.path(), &["simulate", "worm.toml", "-o", "worm.take", "--no-preview"]);
            run(folder.path(), &["bake", "worm.take", "-o", "worm.glb", "--no-preview"]);
            folder
        })
        .path()
}

/// Draws into a folder of its own and returns what is in it.
fn draw(arguments: &[&str], name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join(name);
    run(worm(), &[&["render"], arguments, &["-o", target.to_str().unwrap()]].concat());
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [name], "nothing else is left");
    fs::read(target).unwrap()
}

/// Width and height of a PNG or a GIF.
fn size_of(bytes: &[u8]) -> [usize; 2] {
    if bytes.starts_with(b"GIF89a") {
        return [6, 8].map(|at| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])));
    }
    assert!(bytes.starts_with(b"\x89PNG"));
    [16, 20].map(|at| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize)
}

#[test]
fn a_png_is_a_sheet_unless_one_frame_is_chosen() {
    // six tiles with two pixels between them
    assert_eq!(size_of(&draw(&["worm.take", "--size", "60x40"], "a.png")), [184, 82]);
    assert_eq!(size_of(&draw(&["worm.take", "--size", "60x40", "--sheet", "2x1"], "a.png")), [122, 40]);
    assert_eq!(size_of(&draw(&["worm.take", "--size", "60x40", "--frame", "6"], "a.png")), [60, 40]);
    assert_eq!(size_of(&draw(&["worm.take", "--size", "60x40", "--time", "0.1"], "a.png")), [60, 40]);
    assert_eq!(
        size_of(&draw(&["worm.take", "--size", "60x40", "--frame", "0", "--turntable"], "a.png")),
        [184, 82]
    );
}

#[test]
fn a_take_a_scene_and_a_baked_file_show_the_same() {
    let still = ["--size", "60x40", "--time", "0.25"];
    let pixels = |input: &'static str| draw(&[&[input], &still[..]].concat(), "a.png");
    // the scene is simulated to the same bits
    assert_eq!(pixels("worm.take"), pixels("worm.toml"));
    assert_eq!(size_of(&pixels("worm.glb")), [60, 40]);
}

#[test]
fn everything_that_can_be_drawn_over_a_body_changes_the_picture() {
    let with =
        |flags: &[&str]| draw(&[&["worm.take", "--size", "80x60", "--frame", "6"], flags].concat(), "a.png");
    let plain = with(&[]);
    for flags in [
        &["--bones"][..],
        &["--cage"],
        &["--strain"],
        &["--compare"],
        &["--ghosts", "1"],
        &["--camera", "top"],
        &["--camera", "-30"],
        &["--rise", "40"],
        &["--zoom", "2"],
    ] {
        assert_ne!(plain, with(flags), "{flags:?}");
        assert_eq!(size_of(&plain), [80, 60]);
    }
    assert_eq!(plain, with(&["--threads", "1"]));
}

#[test]
fn a_gif_is_the_whole_take_in_few_bytes() {
    let clip = draw(&["worm.take"], "a.gif");
    assert_eq!(size_of(&clip), [480, 400]);
    assert!(clip.len() < 3_000_000);
    assert_eq!(size_of(&draw(&["worm.glb", "--turntable", "0.5", "--size", "60x40"], "a.gif")), [60, 40]);
    assert_eq!(
        size_of(&draw(&["worm.take", "--from", "0.1", "--to", "0.2", "--size", "60x40"], "a.gif")),
        [60, 40]
    );
}

#[test]
fn what_cannot_be_drawn_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let cases: [(&[&str], &str, &str); 19] = [
        (&["nothing-of-that-name"], "a.png", "the built-in characters are"),
        (&["missing.take"], "a.png", "no such file"),
        (&["worm.take"], "a.bmp", ".png, .gif or .mp4"),
        (&["worm.take"], "a", ".png, .gif or .mp4"),
        (&["worm.take", "--size", "0x40"], "a.png", "at least 1"),
        (&["worm.take", "--size", "tall"], "a.png", "two numbers with an x"),
        (&["worm.take", "--size", "99999999x99999999"], "a.png", "pixels in all are accepted"),
        (&["worm.take", "--sheet", "9999x9999"], "a.png", "pixels in all are accepted"),
        (&["worm.take", "--frame", "7"], "a.png", "the frames are 0 to 6"),
        (&["worm.take", "--time", "9"], "a.png", "times from 0 to 0.250 s"),
        (&["worm.take", "--from", "0.2", "--to", "0.1"], "a.gif", "backwards"),
        (&["worm.take", "--zoom", "NaN"], "a.png", "zoom of NaN"),
        (&["worm.take", "--camera", "left"], "a.png", "front, side, back, top"),
        (&["worm.take", "--turntable", "0"], "a.gif", "above 0"),
        (&["worm.take", "--fps", "0"], "a.gif", "pictures per second"),
        (&["worm.take", "--sheet", "2x2"], "a.gif", "--sheet applies to .png only"),
        (&["worm.glb", "--cage"], "a.png", "add --simulate"),
        (&["worm.glb", "--strain"], "a.png", "add --simulate"),
        (&["worm.take"], "missing/a.png", "there is no folder"),
    ];
    for (arguments, name, expected) in cases {
        let target = out(name);
        let arguments = [&["render"], arguments, &["-o", &target]].concat();
        let output = sinew(worm(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", words(&output));
        assert!(words(&output).contains(expected), "{arguments:?}: {}", words(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_body_without_bones_has_nothing_to_compare() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--compare", "--bones"] {
        let output = sinew(folder.path(), &["render", "beam", "--time", "0", flag, "-o", "a.png"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output).contains("bones"), "{}", words(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
mod video {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A folder with a program `ffmpeg` that does what the script says.
    fn tools(script: &str) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ffmpeg");
        fs::write(&program, format!("#!/bin/sh\n[ \"$1\" = -version ] && exit 0\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    fn draw_video(path: &str, folder: &Path) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(["render", "worm.take", "--size", "33x20", "--fps", "8", "-o"])
            .arg(folder.join("a.mp4"))
            .current_dir(worm())
            .env("PATH", path)
            .output()
            .expect("the program starts")
    }

    #[test]
    fn every_picture_goes_to_the_program_that_makes_videos() {
        let tools = tools("for last; do :; done\n/bin/cat > \"$last\"");
        let folder = tempfile::tempdir().unwrap();
        let output = draw_video(tools.path().to_str().unwrap(), folder.path());
        assert!(output.status.success(), "{}", words(&output));
        // 0, 1/8 and 2/8 s, sides made even
        assert_eq!(fs::read(folder.path().join("a.mp4")).unwrap().len(), 3 * 34 * 20 * 3);
    }

    #[test]
    fn a_program_that_fails_or_is_missing_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let failing = tools("echo 'no such codec' >&2\nexit 3");
        let output = draw_video(failing.path().to_str().unwrap(), folder.path());
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output).contains("no such codec"), "{}", words(&output));
        let empty = tempfile::tempdir().unwrap();
        let output = draw_video(empty.path().to_str().unwrap(), folder.path());
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output).contains("install it, or write a .gif"), "{}", words(&output));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
