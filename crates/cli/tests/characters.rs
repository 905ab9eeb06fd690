//! Characters as a user meets them: bones, motions and what is wrong with them.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn sinew(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

/// A folder with a scene of one character of two bones, whose text may be changed.
fn folder_with(scene: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("scene.toml"), scene).expect("written");
    folder
}

const ARM: &str = r#"
seconds = 0.2
[[character]]
name = "arm"
cage_tets = 400
preroll_hold = 0.1
[[character.bone]]
name = "upper"
joint = "revolute"
axis = [0, 0, 1]
from = [0, 0, 0]
to = [0.2, 0, 0]
radius = 0.015
flesh = [0.05, 0.04]
[[character.bone]]
name = "lower"
parent = "upper"
joint = "revolute"
axis = [0, 0, 1]
from = [0.2, 0, 0]
to = [0.38, 0, 0]
radius = 0.012
flesh = [0.04, 0.03]
[[character.key]]
time = 0.0
pose = { lower = 0 }
[[character.key]]
time = 0.2
pose = { lower = 30 }
"#;

#[test]
fn an_arm_bends_and_its_numbers_are_told() {
    let folder = folder_with(ARM);
    let output = sinew(folder.path(), &["simulate", "scene.toml", "--stats", "s.json", "--no-preview"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stats: Value = serde_json::from_slice(&fs::read(folder.path().join("s.json")).unwrap()).unwrap();
    assert_eq!((stats["bones"].as_u64(), stats["dof"].as_u64()), (Some(2), Some(2)));
    let joints = stats["skeletons"][0]["prescribed_joints"].as_array().unwrap();
    assert_eq!(joints.len(), 2);
    // the shoulder carries the arm: about its weight at half its length, within what swings
    let mass =
        stats["bodies"][0]["mass"].as_f64().unwrap() + stats["skeletons"][0]["bone_mass"].as_f64().unwrap();
    let render_frame = mass * 9.81 * 0.18;
    let torque = joints[0]["torque"][0].as_f64().unwrap();
    assert!(torque > 0.4 * render_frame && torque < 2.5 * render_frame, "{torque} N m of {render_frame}");
    assert!(joints[0]["peak_torque"][0].as_f64().unwrap() >= torque.abs());
    assert_eq!(stats["momentum"].as_array().map(Vec::len), Some(3));
    assert_eq!(stats["angular_momentum"].as_array().map(Vec::len), Some(3));

    let tree = sinew(folder.path(), &["inspect", "scene.toml"]);
    let text = String::from_utf8_lossy(&tree.stdout).into_owned();
    assert!(tree.status.success() && text.contains("2 bones, 2 degrees of freedom"), "{text}");
    assert!(
        text.contains("  upper (1 degrees of freedom") && text.contains("  · lower (1 degrees"),
        "{text}"
    );
}

#[test]
fn who_leads_is_an_option() {
    let folder = folder_with(ARM);
    let hash = |arguments: &[&str]| {
        let mut all = vec!["simulate", "scene.toml", "--no-preview", "--json"];
        all.extend(arguments);
        let output = sinew(folder.path(), &all);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
        let prescribed = stats["skeletons"][0]["prescribed_joints"].as_array().unwrap().len();
        (stats["state_hash"].as_str().unwrap().to_owned(), prescribed)
    };
    let one_way = hash(&[]);
    assert_eq!(one_way, hash(&["--threads", "1"]), "the bits do not depend on threads");
    assert_eq!(one_way.1, 2);
    let two_way = hash(&["--two-way"]);
    assert_eq!(two_way, hash(&["--two-way", "--threads", "1"]));
    assert_eq!(two_way.1, 1);
    assert_eq!(hash(&["--ragdoll"]).1, 0);
    assert_ne!(one_way.0, two_way.0);
    assert_eq!(sinew(folder.path(), &["simulate", "--two-way", "--ragdoll"]).status.code(), Some(2));
}

/// Every fault is bad input (exit code 2), says what and where, and leaves no file behind.
#[test]
fn broken_characters_are_refused_by_name() {
    let bare = |bones: &str| format!("[[character]]\nname = 'x'\n{bones}");
    let cases = [
        // what is changed, and what must be said
        (ARM.replace("name = \"upper\"\njoint", "name = \"upper\"\nparent = \"lower\"\njoint"), "upper"),
        (ARM.replace("name = \"lower\"", "name = \"upper\"").replace("lower =", "upper ="), "upper"),
        (ARM.replace("parent = \"upper\"", "parent = \"upperr\""), "upperr"),
        (ARM.replace("time = 0.2", "time = nan"), "time"),
        (ARM.replace("time = 0.2", "time = 0.0"), "sort the keys by time"),
        (ARM.replace("lower = 30", "lower = inf"), "lower"),
        (ARM.replace("lower = 30", "lower = [1, 2]"), "takes 1 numbers"),
        (ARM.replace("lower = 30", "lowr = 30"), "did you mean `lower`"),
        (ARM.replace("axis = [0, 0, 1]\nfrom = [0.2, 0, 0]", "from = [0.2, 0, 0]"), "axis"),
        (ARM.replace("axis = [0, 0, 1]\nfrom = [0.2, 0, 0]", "axis = [0, 0, 0]\nfrom = [0.2, 0, 0]"), "axis"),
        (ARM.replace("flesh = [0.04, 0.03]", "flesh = [0.04, -0.03]"), "flesh"),
        (ARM.replace("joint = \"revolute\"", "joint = \"planar\"\nlimits = [-1, 1]"), "limits"),
        (ARM.replace("radius = 0.015", "radius = 0"), "radius"),
        (ARM.replace("joint = \"revolute\"", "joint = \"revolut\""), "revolute"),
        (ARM.replace("[[character.key]]", "[[character.keys]]"), "did you mean `key`"),
        (format!("{ARM}\n[[character.cue]]\ntime = 0.1\nbones = ['elbow']\ndrive = 'limp'\n"), "elbow"),
        (
            format!("{ARM}\n[[character.cue]]\ntime = 0.1\nbones = ['lower']\ntorque = [1, 2]\n"),
            "1 degrees of freedom",
        ),
        (format!("{ARM}\n[[character.tie]]\nbone = 'lower'\nnodes = [99999999]\n"), "node 99999999"),
        (format!("{ARM}\n[[character.tie]]\nregion = {{ nearest = [0, 0, 0] }}\n"), "bone"),
        // a leaf that weighs nothing, under torque, and out of reach of any flesh that could weigh on it
        (
            format!("{ARM}\n[[character.bone]]\nname = 'feeler'\nparent = 'lower'\nfrom = [0.38, 0, 0]\n"),
            "feeler",
        ),
        (bare("[[character.bone]]\nname = 'a'\nfrom = [0, 0, 0]\nto = [1, 0, 0]\nradius = 0.1\n"), "flesh"),
        (bare("skeleton = 'none.bvh'"), "none.bvh"),
        (bare("skeleton = 'short.bvh'"), "short.bvh"),
        (bare(""), "skeleton"),
    ];
    for (scene, said) in cases {
        let folder = folder_with(&scene);
        let short = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n1 2\n";
        fs::write(folder.path().join("short.bvh"), short).unwrap();
        let output = sinew(folder.path(), &["simulate", "scene.toml", "-o", "out.glb"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}: {error}");
        assert!(error.contains(said), "'{said}' is missing in: {error}");
        assert!(!error.contains("panicked"), "{error}");
        assert!(!folder.path().join("out.glb").exists());
    }
}

/// A rigged bar of the glTF corpus.
fn bar() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gltf/tests/corpus/bar_plain.glb")
}

/// The file itself comes back with morph targets, and plays what was simulated: our skinning and morphs of the written file against the frames of the take.
#[test]
fn a_character_is_written_into_its_own_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bar = bar();
    let bar = bar.to_str().unwrap();
    let common = ["--seconds", "0.4", "--no-preview"];
    for output in ["out.glb", "out.take", "frames"] {
        let mut arguments = vec!["simulate", bar, "-o", output];
        arguments.extend(common);
        let run = sinew(folder.path(), &arguments);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    let baked = sinew(folder.path(), &["bake", "out.take", "-o", "baked.glb", "--no-preview"]);
    assert!(baked.status.success(), "{}", String::from_utf8_lossy(&baked.stderr));
    let [direct, baked] = ["out.glb", "baked.glb"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(direct, baked, "the bake is what was simulated");

    let original = sinew_gltf::open_character(Path::new(bar)).unwrap().value;
    let written = sinew_gltf::read_character(direct).unwrap().value;
    assert_eq!(original.rigged.nodes.len(), written.rigged.nodes.len());
    assert_eq!(original.rigged.skins.len(), written.rigged.skins.len());
    let surfaces: Vec<_> = written.rigged.surfaces().collect();
    assert!(!surfaces.is_empty());
    let mut names: Vec<_> =
        fs::read_dir(folder.path().join("frames")).unwrap().map(|e| e.unwrap().path()).collect();
    // beside them are their materials
    names.retain(|name| name.extension().is_some_and(|extension| extension == "obj"));
    names.sort();
    let (first, last) = (&names[0], &names[names.len() - 1]);
    for (file, time) in [(first, 0.0), (last, 0.4)] {
        let text = fs::read_to_string(file).unwrap();
        let points: Vec<[f64; 3]> = text
            .lines()
            .filter_map(|line| line.strip_prefix("v "))
            .map(|line| {
                let mut numbers = line.split_whitespace().map(|number| number.parse().unwrap());
                [(); 3].map(|()| numbers.next().unwrap())
            })
            .collect();
        let pose = written.rigged.pose_at(0, time).unwrap();
        let played: Vec<_> =
            surfaces.iter().flat_map(|id| written.rigged.world_vertices(*id, &pose).unwrap()).collect();
        assert_eq!(played.len(), points.len(), "vertices keep their count and order");
        let size = (played.iter().map(|p| p.norm()).fold(0.0, f64::max)) * 2.0;
        for (a, b) in played.iter().zip(&points) {
            let off = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
            // the bound of 0.1 % of the size, and single precision
            assert!(off < 1.1e-3 * size, "{off} m off at {time} s");
        }
    }
}

#[test]
fn what_a_character_file_does_not_have_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("text.glb"), "no character").unwrap();
    fs::write(folder.path().join("scene.toml"), ARM).unwrap();
    let bar = bar();
    let bar = bar.to_str().unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["simulate", bar, "--animation", "dance"], "no animation 'dance'"),
        (&["simulate", bar, "--motion", "none.bvh"], "none.bvh"),
        (&["simulate", "text.glb"], "text.glb"),
        (&["simulate", "scene.toml", "--motion", "a.bvh"], "--motion"),
        (&["simulate", "scene.toml", "--loop"], "--loop needs"),
    ];
    for (arguments, said) in cases {
        let output = sinew(folder.path(), arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(said) && !error.contains("panicked"), "{arguments:?}: {error}");
    }
}

#[test]
fn a_cycle_ends_as_it_begins() {
    let cycle = ARM.replace("preroll_hold = 0.1", "preroll_hold = 0.1\nmotion = { loop = true }").replace(
        "[[character.key]]\ntime = 0.2\npose = { lower = 30 }",
        "[[character.key]]\ntime = 0.25\npose = { lower = 30 }\n[[character.key]]\ntime = 0.5\npose = { lower = 0 }",
    );
    let folder = folder_with(&cycle);
    let output = sinew(folder.path(), &["simulate", "scene.toml", "--loop", "-o", "frames", "--no-preview"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut names: Vec<_> =
        fs::read_dir(folder.path().join("frames")).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    assert_eq!(names.len(), 31);
    let vertices = |path: &Path| -> Vec<String> {
        fs::read_to_string(path)
            .unwrap()
            .lines()
            .filter(|line| line.starts_with("v "))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(vertices(&names[0]), vertices(&names[30]));
    assert_ne!(vertices(&names[0]), vertices(&names[15]));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let gap = text
        .split("flesh was ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .and_then(|gap| gap.parse::<f64>().ok());
    // flesh that is shaken near its own frequency need not come back to a millimetre
    assert!(gap.is_some_and(|gap| gap < 5.0), "{text}");
}

/// Two bars of one file side by side, an arm of bones and a box.
#[test]
fn several_characters_are_written_into_their_own_files() {
    let rest = ARM.replace("seconds = 0.2", "").replace("cage_tets = 400", "cage_tets = 150");
    let bar = bar();
    let file = bar.to_str().unwrap().replace('\\', "/");
    let bars = ["", "translate = [3, 0, 0]\nturn = [0, 90, 0]\n"]
        .map(|placed| format!("[[character]]\nfile = '{file}'\ncage_tets = 150\n{placed}"))
        .concat();
    let folder = folder_with(&format!(
        "seconds = 0.1\n{bars}{rest}[[body]]\nsurface = 'box.obj'\ncage_tets = 50\ntranslate = [0, 0, 5]\n"
    ));
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    fs::write(folder.path().join("box.obj"), tetrahedron).expect("written");

    let run = sinew(folder.path(), &["simulate", "scene.toml", "-o", "a.take", "--stats", "s.json"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let baked = sinew(folder.path(), &["bake", "a.take", "-o", "out.glb", "--no-preview"]);
    assert!(baked.status.success(), "{}", String::from_utf8_lossy(&baked.stderr));
    let said = String::from_utf8_lossy(&baked.stdout).into_owned();
    let names: Vec<&str> = ["out-bar_plain.glb", "out-bar_plain-2.glb", "out.glb"]
        .into_iter()
        .filter(|name| said.contains(&format!("wrote {name}")))
        .collect();
    assert_eq!(names.len(), 3, "{said}");
    for name in names {
        let file = sinew_gltf::open_character(&folder.path().join(name)).unwrap().value;
        assert!(!file.rigged.animations.is_empty(), "{name}");
    }
    let drawn = sinew(folder.path(), &["render", "a.take", "-o", "a-still.png", "--time", "0.1", "--strain"]);
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    for output in ["out.pc2", "frames"] {
        let baked = sinew(folder.path(), &["bake", "a.take", "-o", output, "--no-preview"]);
        assert!(baked.status.success(), "{}", String::from_utf8_lossy(&baked.stderr));
    }
    let chosen = sinew(folder.path(), &["simulate", "scene.toml", "--animation", "0", "--no-preview"]);
    assert!(String::from_utf8_lossy(&chosen.stderr).contains("the scene has several"));
}

#[test]
fn a_glb_that_misses_its_error_is_written_and_ends_with_one_unless_that_is_allowed() {
    let folder = folder_with(ARM);
    let coarse = [
        "simulate",
        "scene.toml",
        "-o",
        "arm.glb",
        "--no-preview",
        "--morph-targets",
        "1",
        "--error",
        "0.0001",
    ];
    let missed = sinew(folder.path(), &coarse);
    let message = String::from_utf8_lossy(&missed.stderr).into_owned();
    assert_eq!(missed.status.code(), Some(1), "{message}");
    assert!(message.contains("was written") && message.contains("--allow-error"), "{message}");
    assert!(folder.path().join("arm.glb").exists());
    let allowed = sinew(folder.path(), &[&coarse[..], &["--allow-error"]].concat());
    assert!(allowed.status.success(), "{}", String::from_utf8_lossy(&allowed.stderr));
}
