//! Scenes with several characters: they simulate, are recorded and resumed to the same bits, and each is baked into its own file.

#[path = "../../gltf/tests/character/bar.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod bar;

use bar::PLAIN;
use sinew_character::TakeSettings;
use sinew_gltf::{FileCharacter, open_character};
use sinew_io::{
    CapturedFiles, CharacterChoice, Existing, OpenedScene, SinkOptions, TakeFile, TakeOrigin, TakeRecipe,
    TakeRecorder, open_sink, open_source,
};
use sinew_math::Vec3;
use sinew_take::{Frame, FrameSink, Player, SinkError, SurfaceInfo};
use std::path::Path;

/// Two bars of one file, an arm of bones, a box, and an obstacle that glides by.
const SCENE: &str = "
seconds = 0.2
fps = 30
[[body]]
surface = 'box.obj'
name = 'box'
cage_tets = 50
translate = [0, 0, 6]
[[character]]
file = 'bar.glb'
cage_tets = 150
[[character]]
file = 'bar.glb'
cage_tets = 150
scale = 0.5
turn = [0, 90, 0]
translate = [3, 0.25, 0]
mode = 'two-way'
[[character]]
name = 'arm'
cage_tets = 150
settle = 0.1
bone = [
  { name = 'upper', from = [-3, 0, 0], to = [-2.5, 0, 0], radius = 0.05, flesh = 0.15 },
  { name = 'lower', parent = 'upper', from = [-2.5, 0, 0], to = [-2, 0, 0], radius = 0.05, flesh = 0.15 },
]
key = [{ time = 0, pose = { lower = [0, 0, 0] } }, { time = 0.2, pose = { lower = [0, 0, 30] } }]
[[obstacle]]
name = 'ball'
sphere = 0.2
position = [0, 1, 4]
motion = { glide = { velocity = [0, 0, -1] } }
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bar.glb"), PLAIN.document().to_glb()).unwrap();
    std::fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n";
    let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    std::fs::write(folder.path().join("box.obj"), format!("{corners}{faces}")).unwrap();
    folder
}

fn open(folder: &Path) -> OpenedScene {
    let opened = open_source(&folder.join("scene.toml"), &CharacterChoice::default());
    opened.unwrap_or_else(|errors| panic!("{errors}")).value
}

/// All frames of a take.
#[derive(Default)]
struct Kept(Vec<Frame>);

impl FrameSink for Kept {
    fn begin(&mut self, _: &[SurfaceInfo], _: f64) -> Result<(), SinkError> {
        Ok(())
    }
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.0.push(frame.clone());
        Ok(())
    }
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

#[test]
fn bodies_have_their_own_names_and_places() {
    let folder = folder();
    let opened = open(folder.path());
    let world = &opened.scene.world;
    let names: Vec<&str> = world.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["box", "bar", "bar-2", "arm"]);
    let found: Vec<_> = opened.bindings().map(|c| (c.name.as_str(), c.body, c.rig)).collect();
    assert_eq!(found, [("bar", 1, 0), ("bar-2", 2, 1)]);
    assert_eq!(
        (world.rigs.len(), opened.scene.performances.len(), opened.scene.pin_motions.len()),
        (3, 3, 4)
    );
    let parts = opened.other_parts();
    assert_eq!((parts.bodies, parts.rigs), (vec![0, 3], vec![2]));
    let targets = opened.character_targets(Path::new("to/out.glb"));
    assert_eq!(targets, [Path::new("to/out-bar.glb"), Path::new("to/out-bar-2.glb")]);
    let names = opened.shown().names();
    assert_eq!(names[0], "box");
    assert!(names[1].starts_with("bar ") && names.last().is_some_and(|name| name == "arm"), "{names:?}");
    // the longest of all; flesh in the artist's shape begins in the pose that it has, without the 1.4 s of the physical shape
    assert!((opened.scene.preroll - 0.8).abs() < 1e-12, "{}", opened.scene.preroll);
}

/// The flesh of each bar in its own file, at the last frame and put back into the scene, is where it was simulated.
#[test]
fn each_character_is_baked_into_its_own_file() {
    let folder = folder();
    let opened = open(folder.path());
    let mut player = Player::build(&opened.scene).unwrap();
    let target = folder.path().join("out.glb");
    let options = SinkOptions { error_fraction: 1e-4, preview: false, ..SinkOptions::default() };
    let (mut kept, mut sink) =
        (Kept::default(), open_sink(&target, &opened, &player.model, &options).unwrap());
    player.play(&mut [&mut kept, &mut sink], |_| {}).unwrap();
    let (report, targets) = (sink.report(), opened.character_targets(&target));
    assert_eq!(report.files, [targets.as_slice(), &[target]].concat());
    let names: Vec<Option<&str>> = report.rigged.iter().map(|glb| glb.character.as_deref()).collect();
    assert_eq!(names, [Some("bar"), Some("bar-2"), None]);
    let last = kept.0.last().unwrap();
    assert!(kept.0.len() == 7 && last.surfaces.iter().flatten().flatten().all(|x| x.is_finite()));

    let written = targets.iter().zip(&report.rigged);
    for (FileCharacter { file, binding }, (target, glb)) in opened.characters.iter().zip(written) {
        let baked = open_character(target).unwrap().value;
        assert_eq!(baked.rigged.nodes.len(), file.rigged.nodes.len());
        let allowed = glb.report.bodies[0].allowed_error;
        assert!(glb.report.bodies.iter().all(|body| body.is_met()));
        let pose = baked.rigged.pose_at(0, last.time).unwrap();
        let character = binding.played(&opened.scene);
        let parts = character.parts_in(last, &character.pose_in(last));
        for part in parts.iter().filter(|part| part.is_flesh) {
            let played = baked.rigged.world_vertices(part.id, &pose).unwrap();
            for (played, simulated) in played.iter().zip(&part.vertices) {
                let gap = (played - binding.placement.file_from_scene(simulated)).norm();
                // single precision of positions up to 4 m, twice
                assert!(gap <= allowed + 2e-6, "{}: {gap} m", binding.name);
            }
        }
    }
    let others = open_character(&folder.path().join("out.glb")).unwrap().value;
    let labels: Vec<&str> = others.rigged.nodes.iter().map(|node| node.label.as_str()).collect();
    assert_eq!(labels, ["arm skeleton", "upper", "lower", "box", "arm"]);
}

#[test]
fn a_placed_character_stands_where_it_was_put() {
    let folder = folder();
    let opened = open(folder.path());
    let [first, second] = [0, 1].map(|i| &opened.characters[i].binding);
    let id = first.surface_ids()[0];
    let (at, placed) = (first.rigged.bind_vertices(id).unwrap(), second.rigged.bind_vertices(id).unwrap());
    for (p, q) in at.iter().zip(&placed) {
        // half as large, a quarter turn about y, moved
        let expected = Vec3::new(0.5 * p.z + 3.0, 0.5 * p.y + 0.25, -0.5 * p.x);
        assert!((q - expected).norm() < 1e-12, "{q} {expected}");
    }
}

#[test]
fn a_take_is_resumed_to_the_same_bits() {
    let folder = folder();
    let (opened, files) = CapturedFiles::keep(folder.path(), || open(folder.path()));
    let mut player = Player::build(&opened.scene).unwrap();
    let settings =
        TakeSettings { seconds: opened.scene.seconds, fps: opened.scene.fps, ..TakeSettings::default() };
    let origin = TakeOrigin::File("scene.toml".into());
    let recipe =
        TakeRecipe { sinew: "test".into(), origin, settings, model_hash: player.model.hash(), files };
    let path = folder.path().join("a.take");
    let mut recorder = TakeRecorder::create(&path, &recipe, Existing::ReplaceComplete).unwrap();
    player.record(&mut recorder, &mut [], |_| {}).unwrap();
    drop(recorder);
    let whole = player.state;

    // the second half again, from what the take holds
    for name in ["bar.glb", "box.obj", "scene.toml"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    let take = TakeFile::open(&path).unwrap();
    let again = take.recipe().files.serve(|| open(Path::new("")));
    let mut player = Player::build(&again.scene).unwrap();
    take.check_model(&player.model).unwrap();
    player.preroll(|_, _| {}).unwrap();
    for _ in 0..3 {
        player.advance().unwrap();
    }
    let bookmark = player.bookmark();
    let mut resumed = Player::build(&again.scene).unwrap();
    resumed.resume_from(&bookmark).unwrap();
    for _ in 3..6 {
        resumed.advance().unwrap();
    }
    assert_eq!(resumed.state.node_x, whole.node_x);
    assert_eq!(resumed.state.rigs, whole.rigs);
}
