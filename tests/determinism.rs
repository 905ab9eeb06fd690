//! Determinism: the same bits twice, on any number of threads, and after saving and resuming.

mod crowd;

use sinew::control::{
    BoneSelection, ConstraintMotion, Cue, CueDrive, Curve, DriveMode, Extrapolation, Interpolation, Key,
    Keyframes, PlaceMotion, SkeletonMotion,
};
use sinew::prelude::*;
use sinew::sim::contact::{PairFrictionAnchor, SoftPair};
use sinew::skeleton::Skeleton;
use sinew::take::PlayError;
use std::ops::ControlFlow;

fn short_scene() -> Scene {
    Scene { seconds: 0.25, ..sinew::zoo::jelly_torus() }
}

/// A starfish with a free root, one arm of which goes limp and returns to the motion: kinematic joints, dynamic joints, and changes of drive.
fn coupled_scene() -> Scene {
    let mut scene = Scene { seconds: 0.25, ..sinew::zoo::starfish(6000) };
    scene.performances[0].set_drive_mode(DriveMode::TwoWay);
    let arm = |time: f64, drive: CueDrive| Cue {
        time,
        bones: BoneSelection::These(vec![BoneId(1), BoneId(2)]),
        drive,
    };
    scene.performances[0].cues.extend([arm(0.05, CueDrive::Limp), arm(0.15, CueDrive::Motion)]);
    scene
}

/// A jelly ring above the ground that is dragged by a point, belted, and joined to a ball: constraint forces on nodes and obstacles, animated targets, lengths and strengths.
fn constrained_scene() -> Scene {
    // points on the body, and a ball above it
    let mut scene = Scene { seconds: 0.25, ..sinew::zoo::jelly_torus() };
    let body = scene.world.bodies[0].name.clone();
    let (low, high) = match &scene.world.bodies[0].shape {
        ShapeDesc::Surface { surface, .. } => surface.bounds().expect("it has vertices"),
        _ => unreachable!("the torus is a surface"),
    };
    let (middle, side) =
        (0.5 * (low + high), Vec3::new(high.x, 0.5 * (low.y + high.y), 0.5 * (low.z + high.z)));
    let point = |place| PointDesc::Surface { body: body.clone(), place };
    let ball = ObstacleDesc {
        mobility: Mobility::Free { density: 400.0, velocity: Vec3::zeros(), spin: Vec3::zeros() },
        ..ObstacleDesc::fixed(
            "ball",
            Shape::Sphere { radius: 0.03 },
            Isometry::translation(0.0, high.y + 0.1, 0.0),
        )
    };
    let on_ball = PointDesc::Obstacle { obstacle: "ball".into(), place: None };

    // drag, join and belt
    let belt = BeltDesc { body: body.clone(), center: side, axis: Vec3::z(), length: None };
    let join = ConstraintKind::Join {
        points: [on_ball, point(middle + Vec3::y() * high.y)],
        length: None,
        is_unilateral: true,
    };
    let kinds = [ConstraintKind::Drag { point: point(side), place: None }, join, ConstraintKind::Belt(belt)];
    scene.world.constraints =
        kinds.into_iter().enumerate().map(|(i, kind)| ConstraintDesc::new(format!("{i}"), kind)).collect();
    scene.world.obstacles = vec![ObstacleDesc::ground(low.y - 0.02), ball];

    // their animation
    let keys = |values: [f64; 2]| {
        let keys = vec![Key::at(0.0, values[0]), Key::at(0.2, values[1])];
        Curve::Spline(Keyframes::build(keys, Interpolation::Linear, Extrapolation::Hold).expect("sound keys"))
    };
    let shake = Motion::Shake { amplitude: Vec3::new(0.05, 0.02, 0.0), frequency: 2.0 };
    scene.constraint_motions = vec![
        ConstraintMotion { place: PlaceMotion::Moved(shake), ..ConstraintMotion::default() },
        ConstraintMotion { strength: keys([1.0, 0.0]), ..ConstraintMotion::default() },
        ConstraintMotion { length: keys([1.0, 0.8]), ..ConstraintMotion::default() },
    ];
    scene
}

/// The starfish of nearly incompressible flesh, with mean-dilatation patches.
fn muscle_scene() -> Scene {
    let mut scene = coupled_scene();
    scene.world.bodies[0].material.poisson = 0.47;
    scene
}

/// The same with one implicit step per frame, which solves for flesh and dynamic bones together.
fn implicit_scene() -> Scene {
    Scene { solver: Solver::Implicit(ImplicitSettings::INTERACTIVE), ..muscle_scene() }
}

/// The coupled starfish 3 m away from frame 5 of its motion on, which is a sudden cut, and a ball that waits for the take.
fn cut_scene() -> Scene {
    let mut scene = coupled_scene();
    scene.performances[0].cues.clear();
    let skeleton = Skeleton::build(&scene.world.rigs[0].skeleton.with_plain_masses()).expect("sound");
    let motion = scene.performances[0].motion.take().expect("it has one");
    let mut frames: Vec<f64> = (0..motion.frame_count()).flat_map(|i| motion.frame(i).to_vec()).collect();
    let root = skeleton.bone(BoneId(0)).joint.q().start;
    for frame in frames.chunks_exact_mut(skeleton.q_count()).skip(5) {
        frame[root] += 3.0;
    }
    let cut = SkeletonMotion::build(&skeleton, motion.frame_seconds(), frames).expect("sound");
    assert_eq!(cut.cuts().len(), 1);
    scene.performances[0].motion = Some(cut.with(motion.interpolation, motion.extrapolation));
    scene.world.obstacles.push(ObstacleDesc {
        mobility: Mobility::Free { density: 400.0, velocity: Vec3::zeros(), spin: Vec3::x() },
        ..ObstacleDesc::fixed("ball", Shape::Sphere { radius: 0.03 }, Isometry::translation(0.0, 2.0, 0.0))
    });
    scene
}

fn hash_with_threads(scene: &Scene, threads: usize) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let mut player = Player::build(scene).expect("a sound scene");
        player.play(&mut [], |_| {}).expect("plays");
        player.state.hash()
    })
}

#[test]
fn bits_are_the_same_twice_and_on_1_2_and_5_threads() {
    let others = [muscle_scene(), implicit_scene(), cut_scene()];
    for scene in [short_scene(), coupled_scene(), constrained_scene()].into_iter().chain(others) {
        let first = hash_with_threads(&scene, 1);
        for threads in [1, 2, 5] {
            assert_eq!(hash_with_threads(&scene, threads), first, "{}: {threads} threads", scene.name);
        }
    }
}

/// The hashes of two runs. All operations are exact by IEEE 754 or come from one portable implementation, so every platform must reproduce them;
/// only a change to the physics, the cage or the scene changes them.
#[test]
fn state_hashes_equal_the_stored_ones() {
    assert_eq!(format!("{:016x}", hash_with_threads(&short_scene(), 2)), "5bc602f377b29043");
    assert_eq!(format!("{:016x}", hash_with_threads(&coupled_scene(), 2)), "cd37baf4057fd795");
}

/// Two bodies in one world, the second one pinned and loaded, move with the same bits as each alone. Both have the same size and material, so that the
/// sub-steps are the same.
#[test]
fn separate_bodies_in_one_world_do_not_affect_each_other() {
    // a free body, and one with a pin and a load
    let body = |name: &str, pinned: bool| {
        let region = Region::End { direction: Vec3::y(), fraction: 0.2 };
        let force = Vec3::new(0.3, 0.0, 0.1);
        let pull = LoadDesc { region: Region::Nearest(Vec3::new(0.1, 0.0, 0.0)), force };
        BodyDesc {
            name: name.into(),
            shape: ShapeDesc::Surface {
                surface: sinew::mesh::shapes::sphere(0.1, 3),
                cage: CageSize::Tets(900),
            },
            material: Material::soft_solid(5e3, 0.4, 1000.0, 0.1),
            velocity: Vec3::new(0.1, 0.2, 0.0),
            pins: if pinned { vec![PinDesc { region }] } else { Vec::new() },
            loads: if pinned { vec![pull] } else { Vec::new() },
            attachment: None,
            sag: Sag::Free,
            ..BodyDesc::default()
        }
    };

    // their nodes after ten frames
    let run = |bodies: Vec<BodyDesc>, step: Option<f64>| {
        let model = Model::build(&WorldDesc {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            bodies,
            max_step: step,
            ..WorldDesc::default()
        })
        .expect("sound");
        let mut state = State::at_rest(&model);
        let mut stepper = Stepper::default();
        for _ in 0..10 {
            stepper.step(&model, &Control::still(&model), 1.0 / 60.0, &mut state).expect("holds");
        }
        let nodes = model.bodies().iter().map(|b| state.node_x[b.nodes.clone()].to_vec()).collect::<Vec<_>>();
        (nodes, model.stable_step().seconds)
    };

    // together and alone
    let (both, step) = run(vec![body("free", false), body("pinned", true)], None);
    let (free, _) = run(vec![body("free", false)], Some(step));
    let (pinned, _) = run(vec![body("pinned", true)], Some(step));
    assert_eq!(both, [free[0].clone(), pinned[0].clone()]);
}

#[test]
fn resumed_run_ends_with_the_same_bits() {
    let others = [muscle_scene(), implicit_scene(), cut_scene()];
    for scene in [short_scene(), coupled_scene(), constrained_scene()].into_iter().chain(others) {
        let mut whole = Player::build(&scene).expect("a sound scene");
        whole.play(&mut [], |_| {}).expect("plays");

        let mut first = Player::build(&scene).expect("a sound scene");
        for _ in 0..6 {
            first.advance().expect("holds");
        }
        let saved = Checkpoint::of(&first.state).as_bytes().to_vec();
        let mut second = Player::build(&scene).expect("a sound scene");
        second.resume(6, &Checkpoint::from_bytes(saved)).expect("a sound checkpoint");
        let mut frames = Vec::new();
        second.play(&mut [], |frame| frames.push(frame)).expect("plays");
        assert_eq!(frames, (6..=15).collect::<Vec<_>>());
        assert_eq!(second.state.hash(), whole.state.hash(), "{}", scene.name);
    }
}

/// Watchers may stop a take at any frame, those of its preroll included.
#[test]
fn a_stopped_and_continued_run_ends_with_the_same_bits() {
    let scene = coupled_scene();
    let mut whole = Player::build(&scene).expect("a sound scene");
    whole.play(&mut [], |_| {}).expect("plays");
    let mut parts = Player::build(&scene).expect("a sound scene");
    let mut stops = 0;
    loop {
        let mut calls = 0;
        let watch = |_| {
            calls += 1;
            if calls < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        match parts.play(&mut [], watch) {
            Ok(()) => break,
            Err(PlayError::Stopped(_)) => stops += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(stops > 5, "{stops}");
    assert_eq!(parts.state.hash(), whole.state.hash());
}

#[test]
fn checkpoints_hold_pair_friction_anchors_and_version_3_without_them_is_read() {
    let player = Player::build(&coupled_scene()).expect("a sound scene");
    let mut state = player.state.clone();
    let saved = Checkpoint::of(&state).as_bytes().to_vec();
    // version 3 has no count of them after that of other friction anchors
    let mut older = saved.clone();
    older[8] = 3;
    older.drain(48..56);
    let restore = |bytes: Vec<u8>| Checkpoint::from_bytes(bytes).restore(&player.model);
    assert_eq!(restore(older).expect("is read"), state);

    let before = state.hash();
    let pairs = [
        (SoftPair::VertexTriangle { vertex: 3, triangle: 7 }, [1.5, -0.25, -0.25]),
        (SoftPair::VertexTriangle { vertex: u32::MAX, triangle: u32::MAX }, [0.1, 0.2, 0.7]),
        (SoftPair::Edges { edges: [0, 5] }, [0.1, -0.2, 0.0]),
        (SoftPair::Edges { edges: [7, u32::MAX] }, [1.1, 0.5, 0.0]),
    ];
    state.pair_anchors.extend(pairs.map(|(pair, weights)| PairFrictionAnchor { pair, weights }));
    assert_ne!(state.hash(), before);
    assert_eq!(restore(Checkpoint::of(&state).as_bytes().to_vec()).expect("sound"), state);
    let mut more = Checkpoint::of(&state).as_bytes().to_vec();
    more[48..56].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(restore(more).is_err());
}

/// Two limp characters, self-contact, contact between bodies, edges and dynamic obstacles at once, by explicit and by implicit steps: the same bits on 1, 2 and 8 threads, and after saving and resuming in the middle of it. Barriers, which support
/// no dynamic obstacles, are tested beside their code.
#[test]
fn everything_in_contact_ends_with_the_same_bits_on_any_threads_and_resumed() {
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::INTERACTIVE)] {
        let scene = crowd::crowd(solver);
        let first = hash_with_threads(&scene, 1);
        for threads in [2, 8] {
            assert_eq!(hash_with_threads(&scene, threads), first, "{solver:?}: {threads} threads");
        }

        // saved after two thirds of it
        let mut whole = Player::build(&scene).expect("a sound scene");
        let is_edge = |anchor: &&PairFrictionAnchor| matches!(anchor.pair, SoftPair::Edges { .. });
        let (mut edges, mut on_obstacles) = (0, 0);
        for _ in 0..8 {
            whole.advance().expect("holds");
            edges = edges.max(whole.state.pair_anchors.iter().filter(is_edge).count());
            on_obstacles = on_obstacles.max(whole.state.anchors.len());
        }
        // edges of implicit springs are the sharp ones alone, which vertices keep apart here
        let has_edges = edges > 0 || solver != Solver::Explicit;
        assert!(has_edges && on_obstacles > 0, "{solver:?}: {edges} {on_obstacles}");
        let saved = Checkpoint::of(&whole.state).as_bytes().to_vec();
        let mut resumed = Player::build(&scene).expect("a sound scene");
        resumed.resume(8, &Checkpoint::from_bytes(saved)).expect("a sound checkpoint");
        resumed.play(&mut [], |_| {}).expect("plays");
        assert_eq!(resumed.state.hash(), first, "{solver:?}");
    }
}

#[test]
fn damaged_checkpoint_is_rejected() {
    let scene = coupled_scene();
    let player = Player::build(&scene).expect("a sound scene");
    let saved = Checkpoint::of(&player.state).as_bytes().to_vec();
    for place in [0, 9, 17, 30, 100, saved.len() - 1] {
        let mut damaged = saved.clone();
        damaged[place] ^= 1;
        assert!(Checkpoint::from_bytes(damaged).restore(&player.model).is_err(), "byte {place}");
    }
    for length in [0, 7, 24, 47, saved.len() - 8] {
        assert!(Checkpoint::from_bytes(saved[..length].to_vec()).restore(&player.model).is_err());
    }
}
