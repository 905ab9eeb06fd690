//! Characters written as files and read back are the same characters, and move alike.

use sinew_contact::TriangleSolid;
use sinew_io::read_scene;
use sinew_math::{Isometry, Vec3, turn};
use sinew_mesh::shapes;
use sinew_sim::desc::{CageSize, Mobility, ObstacleDesc, Shape, ShapeDesc};
use sinew_take::{Frame, Player, Scene};
use sinew_zoo::{SceneFiles, catalog};

fn written_and_read(files: &SceneFiles) -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in &files.files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let read = read_scene(&folder.path().join(&files.files[0].0)).unwrap_or_else(|e| panic!("{e}"));
    assert!(read.notes.is_empty(), "{:?}", read.notes);
    read.value
}

fn coarse(mut scene: Scene) -> Scene {
    for body in &mut scene.world.bodies {
        if let ShapeDesc::Surface { cage, .. } = &mut body.shape {
            assert!(matches!(cage, CageSize::Tets(_)));
            *cage = CageSize::Tets(600);
        }
    }
    scene
}

fn played(scene: &Scene, seconds: f64) -> (Player, Frame) {
    let mut player = Player::build(scene).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
    for _ in 0..(seconds * scene.fps) as usize {
        player.advance().expect("a step");
    }
    let mut frame = Frame::default();
    frame.update(&player.model, &player.state);
    (player, frame)
}

/// Poses are written with six places of degrees and metres: bones are off by 10⁻⁶ m and 2·10⁻⁸ rad on arms of a metre at most, and flesh follows
/// what shakes it up to 1/(2ζ) = 10 times as far, so 2·10⁻⁵ m. A frame keeps positions in single precision, which is 10⁻⁷ m here.
const CLOSE: f32 = 2e-5;

/// Half a second in coarse cages, so that all of them are compared; the cage asked for is compared before it is changed.
#[test]
fn a_character_read_back_moves_as_it_did() {
    // the four starfish differ in the size of their cages alone
    for character in catalog().iter().filter(|character| !character.name.contains("fine")) {
        let name = character.name;
        let scene = (character.build)();
        let read = written_and_read(&character.files().unwrap_or_else(|e| panic!("{name}: {e}")));
        assert_eq!(read.name, name);
        assert_eq!((read.seconds, read.fps), (scene.seconds, scene.fps));
        assert!((read.warm_up - scene.warm_up).abs() < 1e-9);
        let cage = |scene: &Scene| match &scene.world.bodies[0].shape {
            ShapeDesc::Surface { surface, cage } => Some((surface.clone(), *cage)),
            ShapeDesc::Tets(_) => None,
        };
        assert!(cage(&read) == cage(&scene), "{name}: another surface or cage");

        let (a, b) = (played(&coarse(scene), 0.5), played(&coarse(read), 0.5));
        let size = |player: &Player| {
            let skeletons = player.model.rigs.iter().map(|rig| &rig.skeleton);
            let (bones, dof) = skeletons.fold((0, 0), |n, s| (n.0 + s.bones().len(), n.1 + s.v_count()));
            (player.model.tets.len(), player.model.node_count(), bones, dof)
        };
        assert_eq!(size(&a.0), size(&b.0), "{name}");
        assert!((a.0.model.mass() / b.0.model.mass() - 1.0).abs() < 1e-9, "{name}");
        let pairs = a.1.surfaces.iter().flatten().flatten().zip(b.1.surfaces.iter().flatten().flatten());
        let farthest = pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
        assert!(farthest < CLOSE, "{name}: {farthest} m apart");
    }
}

#[test]
fn what_a_scene_file_cannot_say_is_refused_by_name() {
    let mut scene = sinew_zoo::starfish(200);
    scene.world.bodies[0].velocity.x = 1.0;
    let error = SceneFiles::of(&scene, "starfish").expect_err("a velocity cannot be written");
    assert!(error.contains("'starfish'") && error.contains("velocity"), "{error}");
}

/// A cage that is a mesh, free and thrown, and joints that change hands.
#[test]
fn obstacles_and_cues_are_written_and_read_back() {
    let mut scene = sinew_zoo::fish_jump();
    let mesh = TriangleSolid::build(shapes::cuboid([0.2, 0.1, 0.3])).expect("a solid");
    let pose = Isometry::from_parts(Vec3::new(0.0, 1.0, 0.0).into(), turn::exp(&Vec3::new(0.1, 0.2, 0.3)));
    let mobility = Mobility::Free { density: 300.0, velocity: Vec3::x(), spin: Vec3::new(0.0, 0.5, 0.0) };
    let mut stone = ObstacleDesc::fixed("a stone", Shape::Mesh(mesh), pose);
    (stone.mobility, stone.friction, stone.stiffness) = (mobility, Some(0.25), 2.0);
    scene.world.obstacles.push(stone);
    let files = SceneFiles::of(&scene, "fish-jump").expect("all of it can be said");
    assert!(files.files.iter().any(|(name, _)| name == "a-stone.obj"));
    let read = written_and_read(&files);
    assert_eq!(read.world.contact, scene.world.contact);
    let [ground, stone] = &read.world.obstacles[..] else { panic!("two obstacles") };
    let given = &scene.world.obstacles[1];
    assert_eq!(
        (&ground.name, &ground.shape),
        (&scene.world.obstacles[0].name, &scene.world.obstacles[0].shape)
    );
    assert_eq!((&stone.name, &stone.shape), (&given.name, &given.shape));
    assert_eq!((stone.friction, stone.stiffness), (given.friction, given.stiffness));
    // degrees and back are off by round-off
    assert!((stone.pose.to_homogeneous() - pose.to_homogeneous()).amax() < 1e-12);
    let Mobility::Free { density, velocity, spin } = stone.mobility else { panic!("a free stone") };
    assert_eq!((density, velocity), (300.0, Vec3::x()));
    assert!((spin - Vec3::new(0.0, 0.5, 0.0)).norm() < 1e-12);
    let cues = |scene: &Scene| {
        scene.performances[0].cues.iter().map(|cue| (cue.time, cue.drive.clone())).collect::<Vec<_>>()
    };
    assert_eq!(cues(&read), cues(&scene));
}
