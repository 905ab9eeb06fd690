//! The preroll moves characters and what hangs on them; all else waits for the take.

use super::bodies::loose;
use super::coupling::Worm;
use sinew::control::{Approach, Performance, SkeletonMotion};
use sinew::prelude::*;
use sinew::sim::{ImplicitSettings, Solver};
use sinew::skeleton::Skeleton;

const GRAVITY: f64 = 9.81;

/// A worm that bends before time 0, a jelly thrown upwards beside it, a ball above it, and a plate that glides.
fn scene(solver: Solver) -> Scene {
    let mut world = Worm { gravity: -Vec3::y() * GRAVITY, ..Worm::default() }.world();
    let mut mesh = shapes::beam(2, [0.1, 0.1, 0.1]);
    mesh.nodes.iter_mut().for_each(|x| *x += Vec3::new(0.3, 0.0, 0.5));
    let material = Material::soft_solid(1e4, 0.4, 1000.0, 0.0);
    world.bodies.push(BodyDesc {
        name: "jelly".into(),
        velocity: Vec3::new(0.0, 1.0, 0.0),
        sag: Sag::Free,
        ..loose(mesh, material)
    });
    if solver == Solver::Explicit {
        let at = |name: &str, y: f64, mobility| ObstacleDesc {
            mobility,
            ..ObstacleDesc::fixed(name, Shape::Sphere { radius: 0.05 }, Isometry::translation(0.3, y, 0.0))
        };
        let spin = Vec3::new(0.0, 0.0, 2.0);
        let free = Mobility::Free { density: 500.0, velocity: Vec3::new(0.1, 0.0, 0.0), spin };
        world.obstacles = vec![at("ball", 0.6, free), at("plate", -0.5, Mobility::Kinematic)];
    }
    let skeleton = Skeleton::build(&world.rigs[0].skeleton).expect("a sound skeleton");
    let mut bent = SkeletonState::at_rest(&skeleton);
    bent.set_chart_of(&skeleton, BoneId(1), &[0.0, 0.0, 0.5]);
    let motion = SkeletonMotion::build(&skeleton, 0.1, bent.q).expect("a sound motion");
    let approach = Some(Approach { begin: -0.5, end: -0.2 });
    let performance = Performance { approach, ..Performance::of(Some(motion)) };
    Scene {
        world,
        solver,
        performances: vec![performance],
        obstacle_motions: vec![Motion::Still, Motion::Glide { velocity: Vec3::x() }],
        preroll: 0.5,
        seconds: 0.2,
        ..Scene::default()
    }
}

#[test]
fn free_bodies_and_obstacles_wait_for_the_take() {
    let settings = ImplicitSettings::INTERACTIVE;
    for solver in [Solver::Explicit, Solver::Implicit(settings)] {
        let mut player = Player::build(&scene(solver)).expect("a sound scene");
        player.preroll(|_, _| {}).expect("holds");

        // at time 0 nothing of them has moved, and they set off as the scene says
        let (model, state) = (&player.model, &player.state);
        let jelly = model.bodies()[1].nodes.clone();
        assert_eq!(state.node_x[jelly.clone()], model.node_rest()[jelly.clone()]);
        assert!(state.node_v[jelly.clone()].iter().all(|v| *v == Vec3::new(0.0, 1.0, 0.0)));
        assert!(state.obstacles.iter().zip(model.obstacles()).all(|(now, own)| *now == own.start));
        assert!(state.rigs[0].chart_of(&model.rigs()[0].skeleton, BoneId(1))[2] > 0.49, "the worm bends");

        // then they fly, implicitly with the tolerance of the solver of a thousandth of the weight
        let middle = |player: &Player| {
            let nodes = &player.state.node_x[jelly.clone()];
            nodes.iter().sum::<Vec3>() / nodes.len() as f64
        };
        let start = middle(&player);
        let allowed = if solver == Solver::Explicit { 1e-6 } else { 1e-3 };
        for _ in 0..12 {
            player.advance().expect("holds");
        }
        let risen = middle(&player).y - start.y;
        let wanted = 0.2 - 0.5 * GRAVITY * 0.04;
        assert!((risen - wanted).abs() < allowed * 0.5 * GRAVITY * 0.04, "{risen} {wanted}");
        if solver == Solver::Explicit {
            let [ball, plate] = [0, 1].map(|i| player.state.obstacles[i].pose.translation.vector);
            assert!((ball - Vec3::new(0.32, 0.6 - 0.5 * GRAVITY * 0.04, 0.0)).norm() < 1e-9, "{ball:?}");
            assert!((plate - Vec3::new(0.5, -0.5, 0.0)).norm() < 1e-9, "{plate:?}");
        }
    }
}

/// A ball on a string from a bone, and a jelly that is pinned, belong to what gets ready before the take.
#[test]
fn what_is_held_moves_before_the_take() {
    let mut scene = scene(Solver::Explicit);
    let string = ConstraintKind::Join {
        points: [
            PointDesc::Bone { rig: "worm".into(), bone: "bone 0".into(), place: None },
            PointDesc::Obstacle { obstacle: "ball".into(), place: None },
        ],
        length: None,
        is_unilateral: true,
    };
    scene.world.constraints = vec![ConstraintDesc::new("string", string)];
    let end = Region::End { direction: Vec3::x(), fraction: 0.1 };
    scene.world.bodies[1].pins = vec![PinDesc { region: end }];
    let mut player = Player::build(&scene).expect("a sound scene");
    player.preroll(|_, _| {}).expect("holds");
    let (model, state) = (&player.model, &player.state);
    let jelly = model.bodies()[1].nodes.clone();
    assert_ne!(state.node_x[jelly.clone()], model.node_rest()[jelly]);
    assert_ne!(state.obstacles[0].pose, model.obstacles()[0].start.pose);
}
