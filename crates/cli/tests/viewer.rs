//! The page of `sinew view` in a real browser: three.js plays what was simulated. Needs Chromium, which `.ci/readers` finds and SINEW_CHROMIUM names.

use serde_json::{Value, json};
use sinew_gltf::CharacterFile;
use sinew_math::Vec3;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A rigged bar of the glTF corpus.
const BAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../gltf/tests/corpus/bar_plain.glb");
/// The rate of takes without another wish.
const FPS: f64 = 60.0;
/// Of every surface one vertex in so many is looked at.
const STRIDE: usize = 7;
/// How far two readers of one file may be apart (m). Keys, deltas and weights are numbers of single precision, 6e-8 of a metre each, and a vertex is a sum of up to 64 targets
/// under a chain of about ten joints: some tens of roundings.
const AGREEMENT: f64 = 1e-5;
/// The same for rotations in keys of 16 bits: they are off by half of 1/32767, three.js does not make them unit quaternions again and so scales by twice that, for each of two joints.
const AGREEMENT_16_BIT: f64 = 1e-4;

fn sinew(folder: &Path, arguments: &[&str]) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_sinew"));
    let output = program.args(arguments).current_dir(folder).output().expect("it starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Opens a page in Chromium and returns what a script in it finds: `viewer` is what `window.sinew` resolves to. The answer comes over the console.
fn asked(page: &Path, flags: &[&str], script: &str) -> Value {
    let ask = format!(
        "<script>sinew.then(async (viewer) => {{ {script} }}).catch((error) => ({{ error: String(error) }})).then((answer) => {{\
         const text = JSON.stringify(answer); for (let at = 0; at < text.length; at += {PIECE}) \
         console.log('{PART}' + text.slice(at, at + {PIECE}) + '{END}'); console.log('{LAST}'); }})</script>\n</body>"
    );
    let text = fs::read_to_string(page).expect("a page");
    let (head, tail) = text.rsplit_once("</body>").expect("a body");
    let asking = page.with_extension("asking.html");
    fs::write(&asking, format!("{head}{ask}{tail}")).expect("a page that asks");
    let answer: Value = serde_json::from_str(&console_of(&asking, flags)).expect("JSON");
    assert!(answer.get("error").is_none(), "{answer}");
    answer
}

/// Numbers of an answer in one message of the console (characters), and what stands around them.
const PIECE: usize = 2000;
const PART: &str = "answer begins:";
const END: &str = ":answer ends";
const LAST: &str = "that is all";

/// What a page says on the console, pieced together.
fn console_of(page: &Path, flags: &[&str]) -> String {
    // a profile of its own, and no service of the browser's that would call anywhere
    let profile = tempfile::tempdir().expect("a folder for the profile");
    let chromium =
        std::env::var_os("SINEW_CHROMIUM").expect("SINEW_CHROMIUM names the browser: see .ci/readers");
    let mut program = Command::new(chromium);
    program.args(["--headless", "--no-sandbox", "--no-first-run", "--disable-background-networking"]);
    program.args([
        "--disable-component-update",
        "--disable-sync",
        "--disable-quic",
        "--enable-logging=stderr",
    ]);
    program.arg(format!("--user-data-dir={}", profile.path().display()));
    program.args(flags).arg(format!("file://{}", page.display()));
    let mut browser = program.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("Chromium starts");

    // the browser stays until it is told to end
    let (mut answer, mut said) = (String::new(), String::new());
    let lines = BufReader::new(browser.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    for line in lines {
        if line.contains(LAST) {
            break;
        }
        let piece = line.split_once(PART).and_then(|(_, rest)| rest.rsplit_once(END));
        answer += piece.map_or("", |(piece, _)| piece);
        said += &line;
    }
    browser.kill().and_then(|()| browser.wait()).expect("Chromium ends");
    assert!(!answer.is_empty(), "no answer: {said}");
    answer
}

/// Positions of some vertices of all surfaces at some times of a clip, as the page plays them: a list of numbers for each time.
fn played(page: &Path, clip: usize, times: &[f64]) -> Vec<Vec<f64>> {
    let script = format!(
        "return {}.map((time) => viewer.surfaces[0].flatMap((count, surface) => viewer.sample({clip}, time, {{ surface, \
         vertices: Array.from({{ length: Math.ceil(count / {STRIDE}) }}, (_, i) => {STRIDE} * i) }})));",
        json!(times)
    );
    let answer = asked(page, &["--disable-gpu"], &script);
    serde_json::from_value(answer).expect("numbers")
}

/// The same by our own reader.
fn read(file: &CharacterFile, clip: usize, time: f64) -> Vec<f64> {
    let character = &file.rigged;
    let pose = character.pose_at(clip, time).expect("an animation");
    let surfaces = character.surfaces().filter_map(|surface| character.world_vertices(surface, &pose));
    surfaces.flat_map(some_of).collect()
}

fn some_of(vertices: Vec<Vec3>) -> Vec<f64> {
    vertices.iter().step_by(STRIDE).flat_map(|vertex| [vertex.x, vertex.y, vertex.z]).collect()
}

/// The same in a frame of a sequence of OBJ files, whose objects are the surfaces.
fn simulated(folder: &Path, frame: usize) -> Vec<f64> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("frames").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let text = fs::read_to_string(&files[frame]).expect("a frame");
    let mut surfaces: Vec<Vec<Vec3>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("o ") {
            surfaces.push(Vec::new());
        } else if let (Some(vertex), Some(surface)) = (line.strip_prefix("v "), surfaces.last_mut()) {
            let numbers: Vec<f64> = vertex.split(' ').map(|x| x.parse().expect("a number")).collect();
            surface.push(Vec3::new(numbers[0], numbers[1], numbers[2]));
        }
    }
    surfaces.into_iter().flat_map(some_of).collect()
}

fn largest_gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Takes an input for 0.4 s, bakes it in every form, and checks what the page plays. `allowed` is the error of morph targets (m): a thousandth of the size, which is asked for, since small files would otherwise stay small.
fn check(folder: &Path, input: &str, options: &[&str], allowed: f64) {
    check_within(folder, input, options, [allowed, AGREEMENT]);
}

/// The same, where two readers agree within another distance (m).
fn check_within(folder: &Path, input: &str, options: &[&str], [allowed, agreement]: [f64; 2]) {
    sinew(
        folder,
        &[&["simulate", input, "-o", "a.take", "--seconds", "0.4", "--no-preview"], options].concat(),
    );
    sinew(folder, &["bake", "a.take", "-o", "a.glb", "--no-preview", "--error", "0.1"]);
    sinew(folder, &["bake", "a.take", "-o", "frames", "--no-preview"]);
    sinew(folder, &["view", "a.glb", "--no-open"]);

    // whole frames are those of the take, within the error that morph targets are allowed
    let page = folder.join("a.html");
    let (whole, quarters) = ([0.0, 7.0, 24.0], [0.25, 7.5, 16.75]);
    let times: Vec<f64> = whole.iter().chain(&quarters).map(|frame| frame / FPS).collect();
    let found = played(&page, 0, &times);
    for (found, frame) in found.iter().zip(whole) {
        let gap = largest_gap(found, &simulated(&folder.join("frames"), frame as usize));
        assert!(gap < allowed, "{input}, frame {frame}: {gap} m");
    }

    // between them two readers of one file agree
    let file = sinew_gltf::open_character(&folder.join("a.glb")).expect("our own file").value;
    for (found, time) in found.iter().zip(&times) {
        let gap = largest_gap(found, &read(&file, 0, *time));
        assert!(gap < agreement, "{input}, {time} s: {gap} m");
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn chromium_plays_rigged_files_with_keys_of_their_own_as_ragdolls_and_quantised() {
    check(folder().path(), BAR, &[], 1.5e-3);
    check(folder().path(), BAR, &["--ragdoll"], 1.5e-3);
    check_within(folder().path(), &BAR.replace("plain", "quantized"), &[], [1.5e-3, AGREEMENT_16_BIT]);
}

#[test]
fn chromium_plays_packed_files() {
    let folder = folder();
    let options = ["-o", "a.glb", "--seconds", "0.8", "--compress", "--no-preview"];
    sinew(folder.path(), &[&["simulate", BAR], &options[..]].concat());
    sinew(folder.path(), &["view", "a.glb", "--no-open"]);
    let path = folder.path().join("a.glb");
    let bytes = fs::read(&path).expect("a file");
    let name = b"EXT_meshopt_compression";
    assert!(bytes.windows(name.len()).any(|window| window == name), "nothing is packed");
    let file = sinew_gltf::open_character(&path).expect("our own file").value;
    let times = [0.0, 0.1, 0.33, 0.7];
    for (found, time) in played(&folder.path().join("a.html"), 0, &times).iter().zip(times) {
        let gap = largest_gap(found, &read(&file, 0, time));
        assert!(gap < AGREEMENT, "{time} s: {gap} m");
    }
}

#[test]
fn chromium_plays_a_body_without_bones() {
    check(folder().path(), "jelly-torus", &[], 1.5e-3);
}

/// What flesh adds is gone when it is switched off: what is left is the skinning of the file.
#[test]
fn chromium_plays_skinning_without_flesh() {
    let folder = folder();
    sinew(folder.path(), &["simulate", BAR, "-o", "a.glb", "--seconds", "0.4", "--no-preview"]);
    sinew(folder.path(), &["view", "a.glb", "--no-open"]);
    let time = 0.2;
    let script = format!("return viewer.sample(0, {time}, {{ flesh: false }});");
    let found: Vec<f64> =
        serde_json::from_value(asked(&folder.path().join("a.html"), &["--disable-gpu"], &script))
            .expect("numbers");
    let bar = sinew_gltf::open_character(Path::new(BAR)).expect("the bar").value.rigged;
    let pose = bar.pose_at(0, time).expect("an animation");
    let surface = bar.surfaces().next().expect("a surface");
    let skinned = bar.world_vertices(surface, &pose).expect("vertices");
    let skinned: Vec<f64> = skinned.iter().flat_map(|vertex| [vertex.x, vertex.y, vertex.z]).collect();
    assert!(largest_gap(&found, &skinned) < AGREEMENT);
}

/// Drawn by the browser's software renderer: the bar is on the picture, and it is another one without its flesh.
#[test]
fn chromium_draws_flesh_and_skinning() {
    let folder = folder();
    sinew(folder.path(), &["simulate", BAR, "-o", "a.take", "--seconds", "0.4", "--no-preview"]);
    sinew(folder.path(), &["view", "a.take", "--no-open"]);
    let script = "const { drawing, cast } = viewer.page; if (!drawing) return { error: 'nothing is drawn' };\
        viewer.page.pause(); drawing.show({ wireframe: false, bones: false, grid: false }); cast.time = 0.2;\
        const gl = drawing.renderer.getContext(); const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];\
        const picture = (surface) => { drawing.draw(surface, 0.5); const pixels = new Uint8Array(4 * width * height);\
          gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels); return pixels; };\
        const [flesh, skinning] = [picture('flesh'), picture('skinning')];\
        let [covered, changed] = [0, 0];\
        for (let i = 0; i < flesh.length; i += 1) { covered += i % 4 === 3 && flesh[i] > 0; changed += flesh[i] !== skinning[i]; }\
        return { covered: covered / (width * height), changed };";
    let answer = asked(
        &folder.path().join("a.html"),
        &["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=640,480"],
        script,
    );
    // framed, the bar covers a few hundredths of the picture at least, and its flesh changes some of its pixels
    assert!(answer["covered"].as_f64().is_some_and(|covered| covered > 0.02 && covered < 0.9), "{answer}");
    assert!(answer["changed"].as_u64().is_some_and(|changed| changed > 0), "{answer}");
}

/// Third-party characters with no options but the length of their clips, in the folder that SINEW_ASSETS names: textured, in several files, with many surfaces, on morph targets, helper bones or both. The page plays every clip as our own reader does, by
/// which the stated errors are measured: at whole and quarter frames within what 16 bits of rotations leave, by the size.
#[test]
#[ignore = "needs the characters of others: SINEW_ASSETS names their folder"]
fn chromium_plays_every_clip_of_shared_characters() {
    let assets = PathBuf::from(std::env::var_os("SINEW_ASSETS").expect("SINEW_ASSETS names the folder"));
    let names = ["CesiumMan.glb", "Pug.gltf", "Cow.gltf", "KnightCharacter.gltf", "RobotExpressive.glb"];
    for name in names.into_iter().chain(["RiggedFigure.glb", "RiggedSimple.glb", "mixamo_samba.fbx"]) {
        let folder = folder();
        let input = assets.join(name).display().to_string();
        sinew(
            folder.path(),
            &["simulate", &input, "--animation", "all", "--seconds", "0.5", "-o", "a.glb", "--no-preview"],
        );
        sinew(folder.path(), &["view", "a.glb", "--no-open"]);
        let file = sinew_gltf::open_character(&folder.path().join("a.glb")).expect("our own file").value;
        let times: Vec<f64> = [0.0, 3.25, 7.5, 16.75, 20.0].map(|frame| frame / FPS).to_vec();
        let size = read(&file, 0, 0.0).iter().fold(0.0f64, |most, x| most.max(x.abs()));
        for clip in 0..file.rigged.animations.len() {
            let found = played(&folder.path().join("a.html"), clip, &times);
            for (found, time) in found.iter().zip(&times) {
                let gap = largest_gap(found, &read(&file, clip, *time));
                assert!(gap < AGREEMENT_16_BIT * size.max(1.0), "{name}, clip {clip}, {time} s: {gap} m");
            }
        }
    }
}
