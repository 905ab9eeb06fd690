//! Violent scenes, each checked after every step by tests of all pairs of triangles.

use super::bodies::{caged, cuboid, kinematic, run_apart, still, tet_box, world};
use sinew_contact::Shape;
use sinew_math::{Isometry, Vec3, real, so3};
use sinew_mesh::shapes;
use sinew_sim::desc::{ObstacleDesc, PinDesc, Region};
use sinew_sim::{Control, Model, PinPath, WorldDesc};

const DT: f64 = 1.0 / 60.0;

fn build(world: &WorldDesc) -> Model {
    Model::build(world).expect("sound")
}

/// The control of a step in which obstacles glide with given velocities (m/s) up to a number of steps.
fn gliding(velocities: &[Vec3], step: usize, last: usize) -> Control {
    let path = |v: &Vec3| {
        let at = |step: usize| {
            let t = step.min(last) as f64 * DT;
            Isometry::translation(v.x * t, v.y * t, v.z * t)
        };
        PinPath { from: at(step), to: at(step + 1) }
    };
    Control { obstacles: velocities.iter().map(path).collect(), ..Control::default() }
}

/// Two balls meet at 40 m/s, off centre. At 67 cm per step they squeeze past each other sideways; at 17 cm they rebound.
#[test]
fn balls_thrown_at_each_other() {
    let ball = |name: &str, x: f64, v: f64| {
        let mut ball = caged(name, shapes::sphere(0.1, 2), 300, Vec3::new(x, 0.005 * x, 0.0), 1e6);
        ball.velocity = Vec3::new(v, 0.0, 0.0);
        ball
    };
    let mut world = world(vec![ball("left", -0.3, 20.0), ball("right", 0.3, -20.0)], Vec::new());
    world.gravity = Vec3::zeros();
    let model = build(&world);
    run_apart(&model, DT, 20, still(&model));
    let (state, _) = run_apart(&model, 0.25 * DT, 20, still(&model));
    let center = |i: usize| {
        let nodes = model.bodies()[i].nodes.clone();
        state.node_x[nodes.clone()].iter().sum::<Vec3>() / nodes.len() as f64
    };
    assert!(center(0).x < center(1).x, "they rebound");
}

/// Two plates of 4 cm meet face to face at 50 m/s, 83 cm per step.
#[test]
fn plates_at_fifty_metres_per_second() {
    let plate = |name: &str, y: f64, v: f64| {
        let mut plate = tet_box(name, 1, [0.4, 0.04, 0.4], Vec3::new(0.003 * v, y, 0.001 * v), 1e6);
        plate.velocity = Vec3::new(0.0, v, 0.0);
        plate
    };
    let mut world = world(vec![plate("lower", 0.0, 25.0), plate("upper", 0.5, -25.0)], Vec::new());
    world.gravity = Vec3::zeros();
    let model = build(&world);
    run_apart(&model, DT, 20, still(&model));
}

/// Bars of eight vertices each cross: only edges meet.
#[test]
fn crossed_bars_of_eight_vertices() {
    for height in [0.01, 0.7] {
        let along_z = cuboid([0.1, 0.1, 1.0]);
        let lower = caged("lower", along_z.clone(), 120, Vec3::new(0.0, 0.051, 0.0), 5e6);
        let along_x = cuboid([1.0, 0.1, 0.1]);
        let upper = caged("upper", along_x, 120, Vec3::new(0.02, 0.152 + height, 0.01), 5e6);
        let model = build(&world(vec![lower, upper], vec![ObstacleDesc::ground(0.0)]));
        let (state, _) = run_apart(&model, DT, 60, still(&model));
        let nodes = model.bodies()[1].nodes.clone();
        let y = state.node_x[nodes.clone()].iter().map(|x| x.y).sum::<f64>() / nodes.len() as f64;
        assert!(y > 0.05, "the upper bar fell through: {y}");
    }
}

/// A cube of eight vertices falls onto a thin rail, which no vertex meets, and the rail then moves aside and up.
#[test]
fn cube_of_eight_vertices_on_a_thin_rail() {
    let cube = caged("cube", cuboid([0.2; 3]), 150, Vec3::new(0.013, 0.15, 0.007), 1e5);
    let rail = kinematic("rail", Shape::Cuboid { half: Vec3::new(0.5, 0.01, 0.01) }, Vec3::zeros());
    let model = build(&world(vec![cube], vec![rail]));
    run_apart(&model, DT, 60, |step| gliding(&[Vec3::new(0.3, 0.4, 0.0)], step, 60));
}

/// A ball between two plates that close to two fifths of its diameter.
#[test]
fn ball_squeezed_between_kinematic_plates() {
    let ball = caged("ball", shapes::sphere(0.1, 2), 300, Vec3::zeros(), 5e4);
    let half = Vec3::new(0.3, 0.02, 0.3);
    let plate = |name: &str, y: f64| kinematic(name, Shape::Cuboid { half }, Vec3::new(0.0, y, 0.0));
    let world = world(vec![ball], vec![plate("lower", -0.125), plate("upper", 0.125)]);
    let model = build(&world);
    let close = [Vec3::new(0.0, 0.25, 0.0), Vec3::new(0.0, -0.25, 0.0)];
    run_apart(&model, DT, 24, |step| gliding(&close, step, 16));
}

/// A stack of four soft boxes.
#[test]
fn stack_of_boxes() {
    let place = |i: usize| Vec3::new(0.005 * i as f64, 0.051 + 0.104 * i as f64, 0.003 * i as f64);
    let boxes = (0..4).map(|i| tet_box(&format!("box {i}"), 2, [0.1; 3], place(i), 5e5)).collect();
    let model = build(&world(boxes, vec![ObstacleDesc::ground(0.0)]));
    let (state, _) = run_apart(&model, DT, 60, still(&model));
    let top = state.node_x.iter().map(|x| x.y).fold(0.0, f64::max);
    assert!(top > 0.38, "the stack stands: {top}");
}

/// A torus pressed flat, so that it meets itself.
#[test]
fn torus_flattened_into_itself() {
    let mut surface = shapes::torus(0.2, 0.05, 24, 10);
    surface.vertices.iter_mut().for_each(|v| *v = Vec3::new(v.x, v.z, v.y));
    surface.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let torus = caged("torus", surface, 500, Vec3::zeros(), 5e4);
    let half = Vec3::new(0.02, 0.3, 0.3);
    let plate = |name: &str, x: f64| kinematic(name, Shape::Cuboid { half }, Vec3::new(x, 0.0, 0.0));
    let mut world = world(vec![torus], vec![plate("left", -0.275), plate("right", 0.275)]);
    world.gravity = Vec3::zeros();
    let model = build(&world);
    let close = [Vec3::new(0.5, 0.0, 0.0), Vec3::new(-0.5, 0.0, 0.0)];
    run_apart(&model, DT, 30, |step| gliding(&close, step, 18));
}

/// A bar whose ends are turned by two rounds and pushed together, so that it buckles into itself.
#[test]
fn twisted_bar_in_contact_with_itself() {
    let mut bar = tet_box("bar", 2, [0.8, 0.08, 0.08], Vec3::zeros(), 1e5);
    let end = |x: f64| PinDesc { region: Region::End { direction: Vec3::new(x, 0.0, 0.0), fraction: 0.02 } };
    bar.pins = vec![end(-1.0), end(1.0)];
    let world = world(vec![bar], Vec::new());
    let model = build(&world);
    let steps = 60;
    let pose = |side: f64, step: usize| {
        let fraction = step as f64 / steps as f64;
        let turn = so3::exp(&Vec3::new(side * fraction * core::f64::consts::TAU, 0.0, 0.0));
        Isometry::from_parts(Vec3::new(-side * 0.2 * fraction, 0.0, 0.0).into(), turn)
    };
    run_apart(&model, DT, steps, |step| {
        let path = |side: f64| PinPath { from: pose(side, step), to: pose(side, step + 1) };
        Control { pins: vec![path(-1.0), path(1.0)], ..Control::default() }
    });
}

/// A kinematic ball swings into a soft block at 2 m/s and carries it against a wall.
#[test]
fn block_thrown_against_a_wall_by_a_hammer() {
    let block = tet_box("block", 3, [0.15; 3], Vec3::new(0.0, 0.0, 0.01), 5e4);
    let hammer = kinematic("hammer", Shape::Sphere { radius: 0.05 }, Vec3::new(-0.2, 0.012, 0.0));
    let wall = ObstacleDesc::fixed(
        "wall",
        Shape::Cuboid { half: Vec3::new(0.02, 0.5, 0.5) },
        Isometry::translation(0.2, 0.0, 0.0),
    );
    let mut world = world(vec![block], vec![hammer, wall]);
    world.gravity = Vec3::zeros();
    let model = build(&world);
    run_apart(&model, DT, 40, |step| gliding(&[Vec3::new(2.0, 0.0, 0.0), Vec3::zeros()], step, 6));
}

/// A fast ball and a plate of two millimetres: 3.3 m per step.
#[test]
fn ball_at_two_hundred_metres_per_second_and_a_thin_plate() {
    let mut ball = caged("ball", shapes::sphere(0.1, 2), 300, Vec3::new(0.0, 0.5, 0.0), 1e5);
    ball.velocity = Vec3::new(0.0, -200.0, 0.0);
    let half = Vec3::new(1.0, 0.001, 1.0);
    let plate = ObstacleDesc::fixed("plate", Shape::Cuboid { half }, Isometry::identity());
    let model = build(&world(vec![ball], vec![plate]));
    let (state, _) = run_apart(&model, DT, 30, still(&model));
    assert!(state.node_x.iter().map(|x| x.y).fold(0.0, f64::max) > 0.0);
}

/// Soft fingers, held at their upper ends, that swing into each other.
#[test]
fn fingers_that_swing_into_each_other() {
    let finger = |i: usize| {
        let mut finger = tet_box(
            &format!("finger {i}"),
            2,
            [0.04, 0.3, 0.04],
            Vec3::new(0.05 * i as f64, 0.0, 0.002 * i as f64),
            1e5,
        );
        finger.pins = vec![PinDesc { region: Region::End { direction: Vec3::y(), fraction: 0.02 } }];
        finger.velocity = Vec3::new(if i.is_multiple_of(2) { 6.0 } else { -6.0 }, 0.0, 0.0);
        finger
    };
    let model = build(&world((0..4).map(finger).collect(), Vec::new()));
    run_apart(&model, DT, 30, |step| {
        let at = |step: usize| Isometry::translation(0.004 * real::sin(0.6 * step as f64), 0.0, 0.0);
        let path = PinPath { from: at(step), to: at(step + 1) };
        let still = PinPath::default();
        Control { pins: vec![path, still, path, still], ..Control::default() }
    });
}
