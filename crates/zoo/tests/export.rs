//! Characters written as files and read back are the same characters, and move to the same bits.

use sinew_contact::TriangleSolid;
use sinew_control::{
    ConstraintMotion, Curve, Extrapolation, Interpolation, Key, Keyframes, Motion, PlaceMotion,
};
use sinew_io::{SceneFiles, read_scene};
use sinew_math::{Isometry, Vec3, so3};
use sinew_mesh::shapes;
use sinew_sim::desc::{
    BeltDesc, ConstraintDesc, ConstraintKind, Mobility, ObstacleDesc, PointDesc, Region, Shape,
};
use sinew_take::{Player, Scene};
use sinew_zoo::catalog;

fn written_and_read(files: &SceneFiles) -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = files.write(folder.path()).expect("files");
    let read = read_scene(&paths[0]).unwrap_or_else(|e| panic!("{e}"));
    assert!(read.notes.is_empty(), "{:?}", read.notes);
    read.value
}

/// The state some frames into the take, after a preroll of two frames.
fn played(scene: &Scene) -> u64 {
    let scene = Scene { preroll: 2.0 / scene.fps, ..scene.clone() };
    let mut player = Player::build(&scene).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
    player.preroll(|_, _| {}).expect("a step");
    for _ in 0..3 {
        player.advance().expect("a step");
    }
    player.state.hash()
}

/// Everything that a motion, a preroll and cues are made of, in digits that no other number has.
fn performances(scene: &Scene) -> String {
    format!("{:?}", (&scene.performances, scene.preroll))
}

/// Meshes, motions and all numbers of an exported character come back as they were: its state is the same to the bit.
#[test]
fn every_character_read_back_moves_to_the_same_bits() {
    for character in catalog() {
        let name = character.name;
        let scene = (character.build)();
        let files = SceneFiles::of(&scene, name).unwrap_or_else(|e| panic!("{name}: {e}"));
        let read = written_and_read(&files);
        assert_eq!((read.name.as_str(), read.seconds, read.fps), (name, scene.seconds, scene.fps));
        assert!(performances(&read) == performances(&scene), "{name} does something else");
        assert_eq!(played(&read), played(&scene), "{name}");
    }
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
        Curve::Spline(Keyframes::build(keys, Interpolation::Linear, Extrapolation::Loop).expect("sound keys"))
    };
    let path = vec![Key::at(0.0, Vec3::new(0.0, 0.5, 0.0)), Key::at(0.5, Vec3::x())];
    let path = Keyframes::build(path, Interpolation::Linear, Extrapolation::Loop).expect("sound keys");
    let still = ConstraintMotion::default();
    let glide = Motion::Glide { velocity: Vec3::x() };
    scene.constraint_motions = vec![
        ConstraintMotion { place: PlaceMotion::Along(path), strength: keys([1.0, 0.5]), ..still.clone() },
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
    assert!(files.others.iter().any(|(name, _)| name == "a_stone.obj"));
    let read = written_and_read(&files);
    assert_eq!(read.world.contact, scene.world.contact);
    assert_eq!(format!("{:?}", read.world.obstacles), format!("{:?}", scene.world.obstacles));
    assert_eq!(read.performances[0].cues, scene.performances[0].cues);
}
