//! Constraints: drags, pins, joins and belts.

use super::bodies::loose;
use sinew::math::real;
use sinew::mesh::shapes;
use sinew::prelude::*;
use sinew::sim::implicit::settle;
use sinew::sim::{constraint_energy, constraint_forces};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;

/// A block of side 0.1 m with its centre at `middle`.
fn block(name: &str, middle: Vec3, damping: f64) -> BodyDesc {
    let mut mesh = shapes::beam(2, [0.1, 0.1, 0.1]);
    let own = mesh.nodes.iter().sum::<Vec3>() / mesh.nodes.len() as f64;
    mesh.nodes.iter_mut().for_each(|x| *x += middle - own);
    BodyDesc { name: name.into(), ..loose(mesh, Material::soft_solid(2e4, 0.3, 1000.0, damping)) }
}

fn world(gravity: f64, bodies: Vec<BodyDesc>, constraints: Vec<ConstraintDesc>) -> WorldDesc {
    WorldDesc { gravity: -gravity * Vec3::y(), bodies, constraints, ..WorldDesc::default() }
}

/// The centre of a face of a block.
fn face(name: &str, direction: Vec3) -> PointDesc {
    PointDesc::Region { body: name.into(), region: Region::End { direction, fraction: 0.01 } }
}

fn drag(point: PointDesc, stiffness: f64) -> ConstraintDesc {
    let kind = ConstraintKind::Drag { point, place: None };
    ConstraintDesc { stiffness: Some(stiffness), ..ConstraintDesc::new("drag", kind) }
}

fn join(points: [PointDesc; 2], length: Option<f64>) -> ConstraintDesc {
    ConstraintDesc::new("join", ConstraintKind::Join { points, length, is_unilateral: false })
}

fn belt(body: &str, length: f64) -> ConstraintDesc {
    let (center, axis) = (Vec3::zeros(), Vec3::new(0.1, 1.0, 0.0));
    let belt = BeltDesc { body: body.into(), center, axis, length: Some(length) };
    ConstraintDesc::new("belt", ConstraintKind::Belt(belt))
}

fn run(model: &Model, control: &Control, state: &mut State, seconds: f64) -> usize {
    let mut stepper = Stepper::default();
    let step = |_| stepper.step(model, control, DT, state).expect("holds").retries;
    (0..(seconds / DT).round() as usize).map(step).sum()
}

/// A weight stretches a spring by m g/k. With the damping of drag and flesh the oscillation at √(k/m) = 10 /s decays in eight seconds to some 1e-6 of its amplitude, a
/// tenth of a micrometre; the flesh sags too, which does not affect the dragged point.
#[test]
fn weight_on_a_drag_stretches_it_by_weight_over_stiffness() {
    let drag = drag(face("weight", Vec3::y()), 100.0);
    let model =
        Model::build(&world(G, vec![block("weight", Vec3::zeros(), 0.3)], vec![drag])).expect("sound");
    let mut state = State::at_rest(&model);
    let control = Control::still(&model);
    let retries = run(&model, &control, &mut state, 8.0);
    let force = &constraint_forces(&model, &control, &state)[0];
    let stretch = force.points[1].y - force.points[0].y;
    let expected = model.mass() * G / 100.0;
    assert!((stretch - expected).abs() < 1e-4 * expected, "{stretch} {expected}");
    assert_eq!(retries, 0);

    // the static solver finds the same place
    let mut settled = State::at_rest(&model);
    assert!(settle(&model, &control, &mut settled).expect("rests").converged);
    let force = &constraint_forces(&model, &control, &settled)[0];
    assert!((force.tension - model.mass() * G).abs() < 1e-4 * force.tension, "{}", force.tension);
}

/// An obstacle on a spring obeys the same law; dragged off its centre it rotates until the centre is below the point.
#[test]
fn ball_hangs_on_a_drag_with_its_centre_below_the_point() {
    let mobility = Mobility::Free { density: 500.0, velocity: Vec3::zeros(), spin: Vec3::zeros() };
    let pose = Isometry::translation(1.0, 0.0, 0.0);
    let ball = ObstacleDesc { mobility, ..ObstacleDesc::fixed("ball", Shape::Sphere { radius: 0.1 }, pose) };
    let top = PointDesc::Obstacle { obstacle: "ball".into(), place: Some(Vec3::new(1.1, 0.0, 0.0)) };
    let pinned = BodyDesc {
        pins: vec![PinDesc { region: Region::End { direction: Vec3::y(), fraction: 0.2 } }],
        ..block("aside", Vec3::zeros(), 0.3)
    };
    let drag = ConstraintDesc { damping: Some(5.0), ..drag(top, 300.0) };
    let world = WorldDesc { obstacles: vec![ball], ..world(G, vec![pinned], vec![drag]) };
    let model = Model::build(&world).expect("sound");
    let mut state = State::at_rest(&model);
    let control = Control::still(&model);
    let retries = run(&model, &control, &mut state, 20.0);
    let force = &constraint_forces(&model, &control, &state)[0];
    let expected = 500.0 * 4.0 / 3.0 * core::f64::consts::PI * 1e-3 * G / 300.0;
    let stretch = force.points[1] - force.points[0];
    // only the spring's damping acts on its oscillation: a thousandth of it remains
    assert!((stretch.y - expected).abs() < 0.02 * expected, "{stretch:?} {expected}");
    let centre = state.obstacles[0].pose.translation.vector;
    assert!(
        (force.points[0] - centre).norm() - 0.1 < 1e-9 && centre.y < force.points[0].y - 0.09,
        "{centre:?}"
    );
    assert_eq!(retries, 0);
}

/// A bar with a hinge at one end, dragged to be level at the other: the spring there carries half its weight.
#[test]
fn bone_dragged_at_its_end_loads_the_spring_with_half_its_weight() {
    // the bar with its hinge, and a drag at its tip
    let bone = BoneDesc {
        name: "bar".into(),
        parent: Parent::World,
        parent_from_joint: Isometry::translation(0.0, 2.0, 0.0),
        joint: JointDesc::of(JointKind::Revolute(Vec3::z())),
        mass: MassDesc::Solid {
            shape: SolidShape::Box {
                size: Vec3::new(0.4, 0.04, 0.04),
                pose: Isometry::translation(0.2, 0.0, 0.0),
            },
            density: 2000.0,
        },
    };
    let tip =
        PointDesc::Bone { rig: "rig".into(), bone: "bar".into(), place: Some(Vec3::new(0.4, 2.0, 0.0)) };
    let pinned = BodyDesc {
        pins: vec![PinDesc { region: Region::End { direction: Vec3::y(), fraction: 0.2 } }],
        ..block("aside", Vec3::zeros(), 0.3)
    };
    let drag = ConstraintDesc { damping: Some(1.0), ..drag(tip, 2000.0) };
    let rig = RigDesc { name: "rig".into(), skeleton: SkeletonDesc { bones: vec![bone] } };
    let world = WorldDesc { rigs: vec![rig], ..world(G, vec![pinned], vec![drag]) };

    // time steps, then the static solver
    let model = Model::build(&world).expect("sound");
    let mut control = Control::still(&model);
    control.rigs[0].drives[0] = DriveKind::Torque;
    let mut state = State::at_rest(&model);
    let retries = run(&model, &control, &mut state, 5.0);
    let weight = 2000.0 * 0.4 * 0.04 * 0.04 * G;
    let tension = |state: &State| constraint_forces(&model, &control, state)[0].tension;
    // the bar sags by θ = 3 mm/0.4 m, which shortens the lever arms of weight and spring alike, up to θ²
    assert!((tension(&state) - 0.5 * weight).abs() < 1e-4 * weight, "{} {weight}", tension(&state));
    assert_eq!(retries, 0);
    let mut settled = State::at_rest(&model);
    assert!(settle(&model, &control, &mut settled).expect("rests").converged);
    assert!((tension(&settled) - 0.5 * weight).abs() < 1e-3 * weight, "{} {weight}", tension(&settled));
}

/// A block on a rod of 0.5 m swings from horizontal: the rod keeps its length up to the stretch under its tension, at most three times the weight, and
/// the deformation of the flesh.
#[test]
fn joined_pendulum_keeps_its_length() {
    for implicit in [false, true] {
        // a rod from a fixed point to the face of a block: an obstacle in explicit steps, a pinned body in implicit ones
        let hook =
            ObstacleDesc::fixed("hook", Shape::Sphere { radius: 0.01 }, Isometry::translation(0.0, 1.0, 0.0));
        let peg = BodyDesc {
            pins: vec![PinDesc { region: Region::End { direction: Vec3::y(), fraction: 1.0 } }],
            ..block("peg", Vec3::y(), 0.3)
        };
        let from = if implicit {
            PointDesc::Inside { body: "peg".into(), place: Vec3::y() }
        } else {
            PointDesc::Obstacle { obstacle: "hook".into(), place: None }
        };
        let rod = join([from, face("bob", -Vec3::x())], None);
        let bodies = vec![block("bob", Vec3::new(0.55, 1.0, 0.0), 0.1), peg];
        let mut world = world(G, bodies, vec![rod]);
        if !implicit {
            world.bodies.pop();
            world.obstacles = vec![hook];
        }
        let model = Model::build(&world).expect("sound");
        let constraint = &model.constraints()[0];
        assert!((constraint.length - 0.5).abs() < 1e-9, "{}", constraint.length);

        // a second of its swing
        let settings = ImplicitSettings { substeps: 4, ..ImplicitSettings::ACCURATE };
        let mut stepper =
            Stepper::with_solver(if implicit { Solver::Implicit(settings) } else { Solver::Explicit });
        let mut state = State::at_rest(&model);
        let control = Control::still(&model);
        let (mut lowest, mut worst) = (f64::INFINITY, 0.0f64);
        for _ in 0..60 {
            let report = stepper.step(&model, &control, DT, &mut state).expect("holds");
            assert_eq!(report.retries, 0);
            let points = &constraint_forces(&model, &control, &state)[0].points;
            worst = worst.max(((points[0] - points[1]).norm() - 0.5).abs());
            lowest = lowest.min(points[1].y);
        }
        // it has passed the lowest point
        assert!(lowest < 0.52, "{lowest}");
        let most = 3.5 * 1.0 * G / constraint.stiffness;
        assert!(worst < most, "{worst} {most} implicit: {implicit}");
    }
}

/// Joined bodies and a belted one without gravity conserve linear and angular momentum. Constraint forces are exactly opposite, distributed by weights that sum to 1 to round-off: some
/// 500 sub-steps of 200 sums of order 10 N · 1 ms, ε at random. Elements are computed in single precision; their torques leave 1e-9, as in `floating_worm_conserves_momentum`.
#[test]
fn joins_and_belts_conserve_momentum() {
    let far = Vec3::new(0.3, 0.05, 0.0);
    let bodies = vec![block("a", Vec3::zeros(), 0.0), block("b", far, 0.0)];
    let points = [face("a", Vec3::x()), PointDesc::surface("b", far + Vec3::new(-0.05, 0.04, 0.03))];
    let constraints = vec![join(points, Some(0.05)), belt("a", 0.3)];
    let model = Model::build(&world(0.0, bodies, constraints)).expect("sound");
    let mut state = State::at_rest(&model);
    let first = model.bodies()[0].nodes.clone();
    state.node_v[first].iter_mut().for_each(|v| *v = Vec3::new(0.1, -0.2, 0.3));
    state.restart(&model);
    let start = (state.momentum(&model), state.angular_momentum(&model));
    let control = Control::still(&model);
    let energy = |state: &State| {
        let energies = state.energies(&model);
        energies.kinetic + energies.elastic + constraint_energy(&model, &control, state)
    };
    let before = energy(&state);
    assert!(constraint_energy(&model, &control, &state) > 0.05);
    let retries = run(&model, &control, &mut state, 1.0);
    let moved = state.node_v.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(moved > 0.3, "something moves at {moved} m/s");
    let linear = (state.momentum(&model) - start.0).norm();
    let angular = (state.angular_momentum(&model) - start.1).norm();
    assert!(linear < 1e-12 && angular < 1e-8, "{linear:e} {angular:e}");
    assert_eq!(retries, 0);
    // damping only dissipates
    assert!(energy(&state) < 1.01 * before, "{} {before}", energy(&state));
}

/// The supplied energy includes the work of constraints and of their moving targets: without damping it equals the energy of the world, up to the oscillation of symplectic
/// Euler, a few percent of the energy in springs.
#[test]
fn work_of_constraints_is_accounted_for() {
    let pin = ConstraintKind::Pin { point: face("a", Vec3::x()), place: None };
    let pin = ConstraintDesc { damping: Some(0.0), ..ConstraintDesc::new("pin", pin) };
    let belt = ConstraintDesc { damping: Some(0.0), ..belt("a", 0.4) };
    let model =
        Model::build(&world(G, vec![block("a", Vec3::zeros(), 0.0)], vec![pin, belt])).expect("sound");
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    let mut control = Control::still(&model);
    let start = model.constraints()[0].place().expect("a pin has a place");
    let (mut most, mut worst, mut retries) = (0.0f64, 0.0f64, 0);
    for frame in 0..90 {
        let at = |frame: i32| {
            let t = f64::from(frame) * DT;
            start + Vec3::new(0.1 * real::sin(4.0 * t), 0.2 * t, 0.0)
        };
        control.constraints[0].place = Some([at(frame), at(frame + 1)]);
        let tight = |frame: i32| 1.0 - 0.3 * (f64::from(frame) / 90.0);
        control.constraints[1].length = [tight(frame), tight(frame + 1)];
        retries += stepper.step(&model, &control, DT, &mut state).expect("holds").retries;
        let energies = state.energies(&model);
        let own = energies.kinetic + energies.elastic + energies.potential;
        most = most.max(energies.kinetic + energies.elastic + energies.potential.abs());
        worst = worst.max((own - state.supplied_energy).abs());
    }
    assert!(most > 1.0 && worst < 0.05 * most, "{worst} of {most}");
    assert_eq!(retries, 0);
}

/// A pin at constant velocity carries its point along; once the swing below it has decayed in the air the only lags are that of air drag, a m v/k, and a sub-step, since forces are those at its beginning. The block hangs
/// below it.
#[test]
fn pinned_point_follows_its_path() {
    let pin = ConstraintDesc::new("pin", ConstraintKind::Pin { point: face("a", Vec3::y()), place: None });
    let hung = BodyDesc { air_drag: 3.0, ..block("a", Vec3::zeros(), 0.2) };
    let model = Model::build(&world(G, vec![hung], vec![pin])).expect("sound");
    let start = model.constraints()[0].place().expect("a place");
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    let mut control = Control::still(&model);
    let velocity = Vec3::new(0.3, 0.0, 0.1);
    let mut substeps = 0;
    for frame in 0..180 {
        let at = |frame: i32| start + f64::from(frame) * DT * velocity;
        control.constraints[0].place = Some([at(frame), at(frame + 1)]);
        substeps = stepper.step(&model, &control, DT, &mut state).expect("holds").substeps;
    }
    let force = &constraint_forces(&model, &control, &state)[0];
    let off = force.points[0] - force.points[1];
    let stiffness = model.constraints()[0].stiffness;
    let drag = model.bodies()[0].air_drag * model.mass() * velocity.norm();
    let expected = (drag * drag + (model.mass() * G) * (model.mass() * G)).sqrt() / stiffness;
    let late = velocity.norm() * DT / substeps as f64;
    assert!(off.norm() < 1.05 * expected + late && off.norm() < 0.01, "{off:?} {expected}");
}

/// A belt of two thirds of a ball's circumference makes it thinner there and not elsewhere, and the ball recovers when the strength returns to 0.
#[test]
fn belt_makes_a_waist_that_recovers_on_release() {
    let surface = shapes::sphere(0.1, 3);
    let shape = ShapeDesc::Surface { surface, cage: CageSize::Tets(1500) };
    let ball = BodyDesc { shape, ..block("ball", Vec3::zeros(), 0.5) };
    let desc = BeltDesc { body: "ball".into(), center: Vec3::zeros(), axis: Vec3::y(), length: None };
    let belt = ConstraintDesc::new("belt", ConstraintKind::Belt(desc));
    let mut bodies = vec![ball];
    bodies[0].material = Material::soft_solid(2e3, 0.3, 1000.0, 0.5);
    let model = Model::build(&world(0.0, bodies, vec![belt])).expect("sound");
    let own = model.constraints()[0].length;
    // slightly less than the circumference of the ball
    assert!(own < 0.2 * core::f64::consts::PI && own > 0.19 * core::f64::consts::PI, "{own}");
    let mut state = State::at_rest(&model);
    let mut control = Control::still(&model);
    let height = |state: &State| {
        let mut frame = Frame::default();
        frame.update(&model, state);
        let y = |v: &[f32; 3]| f64::from(v[1]);
        frame.surfaces.iter().flatten().map(y).fold(0.0, f64::max)
    };
    let round = |control: &Control, state: &State| {
        let points = &constraint_forces(&model, control, state)[0].points;
        (0..points.len()).map(|i| (points[(i + 1) % points.len()] - points[i]).norm()).sum::<f64>()
    };
    control.constraints[0].length = [0.66; 2];
    let retries = run(&model, &control, &mut state, 3.0);
    let tight = round(&control, &state);
    assert!(tight < 0.88 * own && tight > 0.66 * own, "{tight} of {own}");
    // the displaced volume moves up and down
    assert!(height(&state) > 0.101, "{}", height(&state));
    assert_eq!(retries, 0);

    // the static solver finds the same waist
    let mut settled = State::at_rest(&model);
    assert!(settle(&model, &control, &mut settled).expect("rests").converged);
    assert!(
        (round(&control, &settled) - tight).abs() < 2e-3 * tight,
        "{} {tight}",
        round(&control, &settled)
    );

    control.constraints[0].strength = [0.0; 2];
    run(&model, &control, &mut state, 3.0);
    let loose = round(&control, &state);
    assert!((loose - own).abs() < 1e-3 * own, "{loose} {own}");
}

/// A bar of flesh, pinned at one end, dragged at the other and belted between, comes to rest in the same shape by time steps and by the static solver. The tolerance is the remainder
/// of an oscillation of 5 cm after ten seconds.
#[test]
fn time_steps_and_static_solver_agree_at_rest() {
    // a bar with two pins, a drag and a belt
    let mesh = shapes::beam(4, [0.6, 0.1, 0.1]);
    let bar = BodyDesc { name: "a".into(), ..loose(mesh, Material::soft_solid(3e4, 0.3, 1000.0, 0.4)) };
    let at = |x: f64, y: f64| PointDesc::surface("a", Vec3::new(x, y, 0.0));
    let pin =
        |name: &str, x| ConstraintDesc::new(name, ConstraintKind::Pin { point: at(x, 0.05), place: None });
    let desc = BeltDesc { body: "a".into(), center: Vec3::x() * 0.3, axis: Vec3::x(), length: Some(0.3) };
    let belt = ConstraintDesc::new("belt", ConstraintKind::Belt(desc));
    let place = Some(Vec3::new(0.55, 0.2, 0.0));
    let drag = ConstraintDesc::new("drag", ConstraintKind::Drag { point: at(0.55, 0.05), place });
    let constraints = vec![pin("left", 0.05), pin("middle", 0.2), drag, belt];
    let model = Model::build(&world(G, vec![bar], constraints)).expect("sound");

    // explicit steps and the static solver
    let control = Control::still(&model);
    let mut stepped = State::at_rest(&model);
    let retries = run(&model, &control, &mut stepped, 10.0);
    assert_eq!(retries, 0);
    let mut settled = State::at_rest(&model);
    assert!(settle(&model, &control, &mut settled).expect("rests").converged);
    let gap = stepped.node_x.iter().zip(&settled.node_x).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    let moved = settled.node_x.iter().zip(model.node_rest()).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(moved > 0.01 && gap < 0.01 * moved, "{gap} of {moved}");

    // implicit steps stay there
    let mut stepper = Stepper::with_solver(Solver::Implicit(ImplicitSettings::ACCURATE));
    let mut implicit = settled.clone();
    for _ in 0..30 {
        stepper.step(&model, &control, DT, &mut implicit).expect("holds");
    }
    let drift = implicit.node_x.iter().zip(&settled.node_x).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(drift < 1e-3 * moved, "{drift} of {moved}");
}

/// Fifty pins on one small body, all moving back and forth: their combined stiffness is limited for the step and stays stable.
#[test]
fn many_constraints_on_the_same_nodes_are_stable() {
    let place = |i: usize| {
        let a = i as f64;
        0.05 * Vec3::new(real::sin(1.3 * a), real::cos(0.7 * a), real::sin(2.1 * a + 1.0))
    };
    let pin = |i: usize| {
        let kind = ConstraintKind::Pin {
            point: PointDesc::Inside { body: "a".into(), place: place(i) },
            place: None,
        };
        ConstraintDesc { damping: Some(0.0), ..ConstraintDesc::new(format!("{i}"), kind) }
    };
    let pins = (0..50).map(pin).collect();
    let model = Model::build(&world(G, vec![block("a", Vec3::zeros(), 0.0)], pins)).expect("sound");
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::default());
    let mut control = Control::still(&model);
    for frame in 0..120 {
        let shift = |frame: i32| Vec3::new(0.02 * real::sin(20.0 * f64::from(frame) * DT), 0.0, 0.0);
        for (path, own) in control.constraints.iter_mut().zip(model.constraints()) {
            path.place = own.place().map(|place| [place + shift(frame), place + shift(frame + 1)]);
        }
        assert_eq!(stepper.step(&model, &control, DT, &mut state).expect("holds").retries, 0);
    }
    let speed = state.node_v.iter().map(|v| v.norm()).fold(0.0, f64::max);
    // the shake itself has a speed of 0.4 m/s
    assert!(speed < 2.0, "{speed}");
}
