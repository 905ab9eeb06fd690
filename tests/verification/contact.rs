//! Contact of flesh with obstacles in explicit steps: friction, rest, rebound, high speed.

use super::bodies::loose;
use sinew::math::{real, so3};
use sinew::mesh::shapes;
use sinew::prelude::*;
use sinew::sim::StepError;

pub(crate) const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;

/// A block of side 0.1 m with its lower face at y = 0.
pub(crate) fn block(young: f64) -> BodyDesc {
    let mut mesh = shapes::beam(2, [0.1, 0.1, 0.1]);
    let middle = mesh.nodes.iter().sum::<Vec3>() / mesh.nodes.len() as f64;
    mesh.nodes.iter_mut().for_each(|x| *x += Vec3::new(0.0, 0.05, 0.0) - middle);
    loose(mesh, Material::soft_solid(young, 0.3, 1000.0, 0.05))
}

pub(crate) fn world(bodies: Vec<BodyDesc>, obstacles: Vec<ObstacleDesc>) -> WorldDesc {
    WorldDesc { gravity: Vec3::new(0.0, -G, 0.0), bodies, obstacles, ..WorldDesc::default() }
}

pub(crate) fn center(model: &Model, state: &State) -> Vec3 {
    let sum: Vec3 = state.node_x.iter().zip(model.node_mass()).map(|(x, m)| *m * x).sum();
    sum / model.node_mass().iter().sum::<f64>()
}

pub(crate) fn run(model: &Model, state: &mut State, seconds: f64) {
    let mut stepper = Stepper::default();
    for _ in 0..(seconds / DT).round() as usize {
        stepper.step(model, &Control::still(model), DT, state).expect("holds");
    }
}

/// A block on a incline of an angle (rad): gravity is turned instead of the ground.
pub(crate) fn on_incline(angle: f64, friction: f64) -> (Model, State) {
    let ground = ObstacleDesc { friction: Some(friction), ..ObstacleDesc::ground(0.0) };
    let mut world = world(vec![block(2e5)], vec![ground]);
    world.gravity = G * Vec3::new(real::sin(angle), -real::cos(angle), 0.0);
    let model = Model::build(&world).expect("sound");
    let state = State::at_rest(&model);
    (model, state)
}

/// Below the angle of friction the block sticks: once it has settled it does not creep by a hundredth of a millimetre in two seconds.
#[test]
fn block_below_the_angle_of_friction_sticks() {
    assert_sticks(&run);
}

/// Simulates for a number of seconds.
pub(crate) type Run<'a> = &'a dyn Fn(&Model, &mut State, f64);

pub(crate) fn assert_sticks(run: Run) {
    let (model, mut state) = on_incline(real::atan2(0.4, 1.0), 0.5);
    run(&model, &mut state, 2.0);
    let settled = center(&model, &state);
    run(&model, &mut state, 2.0);
    let drift = (center(&model, &state) - settled).norm();
    assert!(drift < 1e-5, "{drift}");
}

/// Above the angle of friction it slides with a = g (sin θ − μ cos θ), which damping of its deformation does not change. The block chatters at the start, so 2 % is allowed over a second.
#[test]
fn block_above_the_angle_of_friction_slides_with_the_expected_acceleration() {
    for (friction, angle) in [(0.3, 0.6), (0.0, 0.3)] {
        let (model, mut state) = on_incline(angle, friction);
        run(&model, &mut state, 0.5);
        let before = state.momentum(&model).x / model.mass();
        run(&model, &mut state, 1.0);
        let after = state.momentum(&model).x / model.mass();
        let a = G * (real::sin(angle) - friction * real::cos(angle));
        let expected = before + a;
        assert!((after - expected).abs() < 0.02 * expected, "friction {friction}: {after} {expected}");
    }
}

/// Unlimited friction holds a cube on an incline below 45°, where it would tip over at rest; the first impact makes it rock, so that it tumbles from 0.7 rad on.
#[test]
fn friction_of_any_coefficient_is_stable() {
    let (model, mut state) = on_incline(0.6, f64::INFINITY);
    run(&model, &mut state, 4.0);
    let before = center(&model, &state);
    run(&model, &mut state, 1.0);
    let drift = (center(&model, &state) - before).norm();
    assert!(drift < 1e-3, "{drift}");
}

/// A minute at rest. Friction anchors hold, so nothing creeps.
#[test]
fn resting_block_does_not_drift() {
    assert_no_drift(&run);
}

pub(crate) fn assert_no_drift(run: Run) {
    let model = Model::build(&world(vec![block(1e5)], vec![ObstacleDesc::ground(0.0)])).expect("sound");
    let mut state = State::at_rest(&model);
    run(&model, &mut state, 2.0);
    let settled = center(&model, &state);
    run(&model, &mut state, 60.0);
    let drift = (center(&model, &state) - settled).norm();
    assert!(drift < 1e-4, "{drift}");
    // its penetration is δ = g h² M / (κ Σ μ) with a quarter of the surface below, some hundredths of a millimetre at this step
    let low = state.node_x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    assert!(low > -1e-3, "{low}");
}

pub(crate) fn ball(young: f64, damping: f64) -> BodyDesc {
    let mut surface = shapes::sphere(0.1, 3);
    surface.vertices.iter_mut().for_each(|v| v.y += 0.5);
    let shape = ShapeDesc::Surface { surface, cage: CageSize::Tets(600) };
    let material = Material::soft_solid(young, 0.3, 1000.0, damping);
    BodyDesc { shape, ..loose(shapes::beam(1, [0.1; 3]), material) }
}

/// The height of the lowest surface vertex (m).
pub(crate) fn lowest(model: &Model, state: &State) -> f64 {
    let mut frame = Frame::default();
    frame.update(model, state);
    frame.surfaces.iter().flatten().map(|v| f64::from(v[1])).fold(f64::INFINITY, f64::min)
}

/// A ball dropped from 0.4 m rebounds to a good part of the height without gaining energy, and never penetrates the ground by more than a few times the
/// distance of a sub-step; shorter steps let it in less.
#[test]
fn soft_ball_rebounds_with_a_penetration_of_a_few_substep_distances() {
    let mut depths = Vec::new();
    for stiffness in [1.0, 16.0] {
        let mut world = world(vec![ball(5e4, 0.0)], vec![ObstacleDesc::ground(0.0)]);
        world.contact.stiffness = stiffness;
        let model = Model::build(&world).expect("sound");
        let mut state = State::at_rest(&model);
        let start = state.energies(&model);
        let mut stepper = Stepper::default();
        let (mut deepest, mut top, mut had_contact) = (0.0f64, 0.0f64, false);
        for _ in 0..240 {
            let report = stepper.step(&model, &Control::still(&model), DT / 4.0, &mut state).expect("holds");
            had_contact |= report.in_contact > 0;
            deepest = deepest.max(-lowest(&model, &state));
            if had_contact && report.in_contact == 0 {
                top = top.max(center(&model, &state).y);
            }
        }
        let now = state.energies(&model);
        let total = |e: sinew::sim::Energies| e.kinetic + e.elastic + e.potential;
        assert!(total(now) <= total(start) + 1e-3 * model.mass() * G * 0.4);
        assert!(top > 0.1 + 0.15 && top < 0.5, "{top}");
        let way = (2.0 * G * 0.4f64).sqrt() * model.stable_step().seconds;
        assert!(deepest > 0.0 && deepest < 4.0 * way, "{deepest} {way}");
        depths.push(deepest);
    }
    assert!(depths[1] < 0.6 * depths[0], "{depths:?}");
}

/// A ball at 200 m/s travels 20 to 40 cm per sub-step and hits a plate of 2 mm.
#[test]
fn fast_body_does_not_tunnel_through_a_thin_plate() {
    let plate = ObstacleDesc::fixed(
        "plate",
        Shape::Cuboid { half: Vec3::new(1.0, 0.001, 1.0) },
        Isometry::identity(),
    );
    let mut body = ball(1e5, 0.1);
    body.velocity = Vec3::new(0.0, -200.0, 0.0);
    let model = Model::build(&world(vec![body], vec![plate])).expect("sound");
    let mut state = State::at_rest(&model);
    for _ in 0..120 {
        // a step error would be acceptable too, but there is none
        Stepper::default().step(&model, &Control::still(&model), DT / 8.0, &mut state).expect("holds");
    }
    let center = center(&model, &state);
    assert!(center.y > 0.0, "{center:?}");
}

/// The work of a kinematic obstacle at 100 m/s is accounted for, and flesh leaves an obstacle that starts inside it without a burst.
#[test]
fn fast_obstacles_and_obstacles_inside_flesh_are_stable_or_reported() {
    // a ball at 100 m/s hits flesh
    let hammer = ObstacleDesc {
        mobility: Mobility::Kinematic,
        ..ObstacleDesc::fixed("hammer", Shape::Sphere { radius: 0.05 }, Isometry::translation(-0.5, 0.5, 0.0))
    };
    let model = Model::build(&world(vec![ball(5e4, 0.1)], vec![hammer])).expect("sound");
    let mut script = Script {
        obstacle_motions: vec![Motion::Glide { velocity: Vec3::new(100.0, 0.0, 0.0) }],
        ..Script::default()
    };
    let (mut state, mut control, mut stepper) =
        (State::at_rest(&model), Control::default(), Stepper::default());
    for _ in 0..30 {
        script.control(&model, &state, DT / 4.0, &mut control);
        match stepper.step(&model, &control, DT / 4.0, &mut state) {
            Ok(_) => {}
            Err(StepError::Diverged { .. }) => break,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(state.node_x.iter().all(|x| x.norm() < 100.0));
    assert!(state.momentum(&model).x > 0.0);

    // an obstacle that starts inside flesh
    for shape in [Shape::Sphere { radius: 0.03 }, Shape::Cuboid { half: Vec3::repeat(0.02) }] {
        let inside = ObstacleDesc::fixed("inside", shape, Isometry::translation(0.0, 0.42, 0.0));
        let model = Model::build(&world(vec![ball(2e4, 0.1)], vec![inside])).expect("sound");
        let mut state = State::at_rest(&model);
        run(&model, &mut state, 0.5);
        assert!(state.node_x.iter().all(|x| x.norm() < 10.0));
    }
}

/// A block rests on every shape.
#[test]
fn every_shape_supports_a_block() {
    use sinew::contact::{ConvexHull, DistanceGrid, HeightField, TriangleSolid};

    // every shape with its top at height 0
    let table = Shape::Cuboid { half: Vec3::new(0.3, 0.1, 0.3) };
    let surface = table.surface(1.0);
    let at = Isometry::translation(0.0, -0.1, 0.0);
    let shapes = [
        (Shape::Plane { normal: Vec3::y() }, Isometry::identity()),
        (Shape::Convex(ConvexHull::build(&surface.vertices).expect("hull")), at),
        (Shape::Mesh(TriangleSolid::build(surface.clone()).expect("mesh")), at),
        (Shape::Grid(DistanceGrid::of_surface(surface, 30).expect("grid")), at),
        (
            Shape::Heights(HeightField::build([5, 5], 0.2, vec![0.0; 25]).expect("field")),
            Isometry::identity(),
        ),
        (Shape::Cylinder { half_length: 0.1, radius: 0.3 }, at),
        (Shape::Sphere { radius: 50.0 }, Isometry::translation(0.0, -50.0, 0.0)),
        (
            Shape::Capsule { half_length: 5.0, radius: 0.5 },
            Isometry::from_parts(
                Vec3::new(0.0, -0.5, 0.0).into(),
                so3::exp(&(core::f64::consts::FRAC_PI_2 * Vec3::x())),
            ),
        ),
        (table, at),
    ];
    for (shape, pose) in shapes {
        let obstacle = ObstacleDesc::fixed("ground", shape.clone(), pose);
        let model = Model::build(&world(vec![block(1e5)], vec![obstacle])).expect("sound");
        let mut state = State::at_rest(&model);
        run(&model, &mut state, 1.0);
        let height = center(&model, &state).y;
        // a penetration of 0 to 1 mm, the compression of 0.5 % under its own weight, and the indentation by curved shapes
        assert!((0.045..0.0505).contains(&height), "{height} {shape:?}");
        let speed = state.momentum(&model).norm() / model.mass();
        // on the capsule it rocks
        assert!(speed < 0.02, "{speed} {shape:?}");
    }
}

#[test]
fn invalid_obstacles_and_contact_settings_are_rejected_by_name() {
    let mut desc = world(vec![block(1e5)], vec![ObstacleDesc::ground(0.0), ObstacleDesc::ground(0.0)]);
    desc.obstacles.push(ObstacleDesc::fixed("speck", Shape::Sphere { radius: 0.0 }, Isometry::identity()));
    desc.obstacles.push(ObstacleDesc {
        mobility: Mobility::Free { density: 100.0, velocity: Vec3::zeros(), spin: Vec3::zeros() },
        name: "floor".into(),
        ..ObstacleDesc::ground(0.0)
    });
    desc.contact.friction = -1.0;
    desc.contact.self_contact.push("nobody".into());
    let error = Model::build(&desc).expect_err("faulty").to_string();
    for word in ["ground", "speck", "floor", "friction", "nobody"] {
        assert!(error.contains(word), "{word}: {error}");
    }
}
