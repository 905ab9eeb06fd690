//! Characters written as files and read back are the same characters, and move alike.

use sinew_contact::TriangleSolid;
use sinew_control::{ConstraintMotion, Extrapolation, Interpolation, Key, Keyframes, Motion, PlaceMotion};
use sinew_io::read_scene;
use sinew_math::{Isometry, Vec3, so3};
use sinew_mesh::shapes;
use sinew_sim::desc::{
    BeltDesc, CageSize, ConstraintDesc, ConstraintKind, Mobility, ObstacleDesc, PointDesc, Region, Shape,
    ShapeDesc,
};
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
        assert!((read.preroll - scene.preroll).abs() < 1e-9);
        let cage = |scene: &Scene| match &scene.world.bodies[0].shape {
            ShapeDesc::Surface { surface, cage } => Some((surface.clone(), *cage)),
            _ => None,
        };
        assert!(cage(&read) == cage(&scene), "{name}: another surface or cage");

        let (a, b) = (played(&coarse(scene), 0.5), played(&coarse(read), 0.5));
        let size = |player: &Player| {
            let skeletons = player.model.rigs().iter().map(|rig| &rig.skeleton);
            let (bones, dof) = skeletons.fold((0, 0), |n, s| (n.0 + s.bones().len(), n.1 + s.v_count()));
            (player.model.tets().len(), player.model.node_count(), bones, dof)
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

/// Points of all kinds, held in all ways, and how they are led.
#[test]
fn constraints_are_written_and_read_back() {
    let mut scene = sinew_zoo::fish_jump();
    let (body, rig) = (scene.world.bodies[0].name.clone(), &scene.world.rigs[0]);
    let (rig, bone) = (rig.name.clone(), rig.skeleton.bones[0].name.clone());
    let obstacle = scene.world.obstacles[0].name.clone();
    let surface = PointDesc::Surface { body: body.clone(), place: Vec3::new(0.1, 0.2, 0.3) };
    let inside = PointDesc::Inside { body: body.clone(), place: Vec3::new(0.1, 0.2, 0.25) };
    let region = Region::Ball { center: Vec3::x(), radius: 0.5 };
    let middle = PointDesc::Region { body: body.clone(), region };
    let bone = PointDesc::Bone { rig, bone, place: Some(Vec3::y()) };
    let ground = PointDesc::Obstacle { obstacle, place: None };
    let belt = BeltDesc { body, center: Vec3::y(), axis: Vec3::z(), length: Some(0.7) };
    let place = Some(Vec3::new(0.0, 0.5, 0.0));
    let kinds = [
        ConstraintKind::Drag { point: surface, place },
        ConstraintKind::Pin { point: inside, place: None },
        ConstraintKind::Join { points: [middle, bone.clone()], length: Some(0.0), is_unilateral: false },
        ConstraintKind::Join { points: [bone, ground], length: None, is_unilateral: true },
        ConstraintKind::Belt(belt),
    ];
    let named =
        |(i, kind)| ConstraintDesc { stiffness: Some(12.5), ..ConstraintDesc::new(format!("c {i}"), kind) };
    scene.world.constraints = kinds.into_iter().enumerate().map(named).collect();
    let keys = |values: [f64; 2]| {
        let keys = vec![Key::at(0.0, values[0]), Key::at(0.5, values[1])];
        Some(Keyframes::build(keys, Interpolation::Linear, Extrapolation::Loop).expect("sound keys"))
    };
    let path = vec![Key::at(0.0, Vec3::new(0.0, 0.5, 0.0)), Key::at(0.5, Vec3::x())];
    let path = Keyframes::build(path, Interpolation::Linear, Extrapolation::Loop).expect("sound keys");
    let still = ConstraintMotion::default();
    let glide = Motion::Glide { velocity: Vec3::x() };
    scene.constraint_motions = vec![
        ConstraintMotion { place: PlaceMotion::Along(path), strength: keys([1.0, 0.5]), length: None },
        ConstraintMotion { place: PlaceMotion::Moved(glide), ..still.clone() },
        still.clone(),
        still.clone(),
        ConstraintMotion { length: keys([1.0, 0.25]), ..still },
    ];
    let read = written_and_read(&SceneFiles::of(&scene, "fish-jump").expect("all of it can be said"));
    assert_eq!(read.world.constraints, scene.world.constraints);
    assert_eq!(read.constraint_motions, scene.constraint_motions);
}

/// A cage that is a mesh, free and thrown, and joints that change hands.
#[test]
fn obstacles_and_cues_are_written_and_read_back() {
    let mut scene = sinew_zoo::fish_jump();
    let mesh = TriangleSolid::build(shapes::cuboid([0.2, 0.1, 0.3])).expect("a solid");
    let pose = Isometry::from_parts(Vec3::new(0.0, 1.0, 0.0).into(), so3::exp(&Vec3::new(0.1, 0.2, 0.3)));
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
