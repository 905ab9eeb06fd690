//! Dynamic obstacles as unknowns of implicit steps.

use crate::constraint_forces;
use crate::desc::{
    BodyDesc, ConstraintDesc, ConstraintKind, Mobility, ObstacleDesc, PinDesc, PointDesc, Region, Sag,
    ShapeDesc, WorldDesc,
};
use crate::implicit::{ImplicitSettings, Solver, StepOrder, settle};
use crate::{Control, Model, State, Stepper};
use sinew_contact::Shape;
use sinew_flesh::Material;
use sinew_math::{Isometry, Vec3, real, so3};
use sinew_mesh::shapes;

pub(super) const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;

/// A soft block of side 0.1 m whose lower face is at a height (m), displaced along x (m).
pub(super) fn block(name: &str, young: f64, at: [f64; 2]) -> BodyDesc {
    let mut mesh = shapes::beam(2, [0.1, 0.1, 0.1]);
    let middle = mesh.nodes.iter().sum::<Vec3>() / mesh.nodes.len() as f64;
    mesh.nodes.iter_mut().for_each(|x| *x += Vec3::new(at[0], at[1] + 0.05, 0.0) - middle);
    BodyDesc {
        name: name.into(),
        shape: ShapeDesc::Tets(mesh),
        material: Material::soft_solid(young, 0.3, 1000.0, 0.05),
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    }
}

/// A dynamic obstacle.
pub(super) fn free(name: &str, shape: Shape, at: Vec3, density: f64) -> ObstacleDesc {
    ObstacleDesc {
        mobility: Mobility::Free { density, velocity: Vec3::zeros(), spin: Vec3::zeros() },
        ..ObstacleDesc::fixed(name, shape, Isometry::translation(at.x, at.y, at.z))
    }
}

/// A dynamic cube of side 0.1 m.
fn cube(name: &str, at: Vec3, density: f64) -> ObstacleDesc {
    free(name, Shape::Cuboid { half: Vec3::repeat(0.05) }, at, density)
}

pub(super) fn world(bodies: Vec<BodyDesc>, obstacles: Vec<ObstacleDesc>) -> WorldDesc {
    WorldDesc { gravity: Vec3::new(0.0, -G, 0.0), bodies, obstacles, ..WorldDesc::default() }
}

pub(super) fn implicit(order: StepOrder) -> Stepper {
    Stepper::with_solver(Solver::Implicit(ImplicitSettings { order, ..ImplicitSettings::ACCURATE }))
}

/// Takes steps of `dt` (s), all of which must converge.
pub(super) fn run_with(stepper: &mut Stepper, model: &Model, state: &mut State, dt: f64, seconds: f64) {
    let control = Control::still(model);
    for _ in 0..(seconds / dt).round() as usize {
        let report = stepper.step(model, &control, dt, state).expect("holds");
        assert!(report.solve.is_none_or(|solve| solve.converged), "{report:?} at {} s", state.time);
    }
}

fn center(state: &State, obstacle: usize) -> Vec3 {
    state.obstacles[obstacle].pose.translation.vector
}

/// x = x₀ + v t + ½ g t², and a spin about a principal axis is constant: the solver has nothing to do, so what remains is the round-off of some hundred steps.
#[test]
fn a_free_box_falls_on_a_parabola() {
    let (velocity, spin) = (Vec3::new(1.0, 2.0, -0.5), Vec3::new(0.0, 7.0, 0.0));
    let mut falling = cube("box", Vec3::new(0.0, 5.0, 0.0), 300.0);
    falling.mobility = Mobility::Free { density: 300.0, velocity, spin };
    let model = Model::build(&world(vec![block("soft", 1e5, [1.0, 3.0])], vec![falling])).expect("sound");
    for order in [StepOrder::First, StepOrder::Second] {
        let mut state = State::at_rest(&model);
        run_with(&mut implicit(order), &model, &mut state, DT, 1.0);
        let expected = Vec3::new(0.0, 5.0, 0.0) + velocity - Vec3::new(0.0, 0.5 * G, 0.0);
        assert!((center(&state, 0) - expected).norm() < 1e-12, "{order:?} {:?}", center(&state, 0));
        assert!((state.obstacles[0].linear - velocity + Vec3::new(0.0, G, 0.0)).norm() < 1e-11);
        let turned = state.obstacles[0].pose.rotation * so3::exp(&spin).inverse();
        // the Runge–Kutta method for free rotation is off by some 1e-9 rad per radian
        assert!(so3::log(&turned).norm() < 1e-7, "{order:?} {turned:?}");
    }
}

/// A book thrown about its intermediate axis tumbles: angular momentum is kept to round-off, and kinetic energy to the accuracy of the free rotation, a billionth per step.
#[test]
fn a_tumbling_body_keeps_angular_momentum_and_energy() {
    let mut book = free("book", Shape::Cuboid { half: Vec3::new(0.1, 0.02, 0.06) }, Vec3::zeros(), 500.0);
    let (velocity, spin) = (Vec3::zeros(), Vec3::new(0.3, 0.1, 15.0));
    book.mobility = Mobility::Free { density: 500.0, velocity, spin };
    let mut desc = world(vec![block("soft", 1e5, [3.0, 0.0])], vec![book]);
    desc.gravity = Vec3::zeros();
    let model = Model::build(&desc).expect("sound");
    for order in [StepOrder::First, StepOrder::Second] {
        let mut state = State::at_rest(&model);
        let (momentum, energy) = (state.angular_momentum(&model), state.energies(&model).kinetic);
        run_with(&mut implicit(order), &model, &mut state, DT, 5.0);
        let drift = (state.angular_momentum(&model) - momentum).norm();
        assert!(drift < 1e-12 * momentum.norm(), "{order:?} {drift}");
        let gained = state.energies(&model).kinetic - energy;
        assert!(gained.abs() < 1e-6 * energy, "{order:?} {gained} {energy}");
    }
}

/// A ball hits a soft block in free space: momentum is exchanged and its sum kept to the tolerance of the solver, a hundred-thousandth of the forces of a step.
#[test]
fn flesh_and_a_free_obstacle_conserve_momentum() {
    for (order, density) in
        [(StepOrder::First, 100.0), (StepOrder::First, 3000.0), (StepOrder::Second, 1000.0)]
    {
        let mut bullet = free("bullet", Shape::Sphere { radius: 0.04 }, Vec3::new(-0.2, 0.07, 0.01), density);
        let velocity = Vec3::new(2.0, 0.0, 0.0);
        bullet.mobility = Mobility::Free { density, velocity, spin: Vec3::zeros() };
        let mut desc = world(vec![block("soft", 5e4, [0.0, 0.0])], vec![bullet]);
        desc.gravity = Vec3::zeros();
        let model = Model::build(&desc).expect("sound");
        let mut state = State::at_rest(&model);
        let start = state.momentum(&model);
        run_with(&mut implicit(order), &model, &mut state, DT, 0.5);
        let flesh: Vec3 = state.node_v.iter().zip(model.node_mass()).map(|(v, m)| *m * v).sum();
        assert!(flesh.x > 0.2 * start.x, "they met: {flesh:?}");
        let drift = (state.momentum(&model) - start).norm();
        assert!(drift < 1e-4 * start.norm(), "{order:?} {density}: {drift} {start:?}");
    }
}

/// A box on the ground, a box on a soft block, and a soft block on a box: all come to rest at the same place as with explicit steps, and where settling finds them.
#[test]
fn explicit_implicit_and_static_solutions_agree_at_rest() {
    let slab =
        free("slab", Shape::Cuboid { half: Vec3::new(0.1, 0.05, 0.1) }, Vec3::new(1.0, 0.051, 0.0), 800.0);
    let plate = Shape::Cuboid { half: Vec3::new(0.08, 0.02, 0.08) };
    let on_flesh = free("on flesh", plate, Vec3::new(0.0, 0.121, 0.0), 500.0);
    let alone = cube("alone", Vec3::new(-1.0, 0.051, 0.0), 500.0);
    let bodies = vec![block("below", 1e5, [0.0, 0.0]), block("above", 1e5, [1.0, 0.102])];
    let ground = ObstacleDesc::ground(0.0);
    let model = Model::build(&world(bodies, vec![ground, slab, on_flesh, alone])).expect("sound");
    let rest = |way: &dyn Fn(&mut State)| {
        let mut state = State::at_rest(&model);
        way(&mut state);
        let tops = model.bodies().iter().map(|body| {
            state.node_x[body.nodes.clone()].iter().map(|x| x.y).fold(f64::NEG_INFINITY, f64::max)
        });
        let mut heights: Vec<f64> = tops.collect();
        heights.extend((1..4).map(|i| center(&state, i).y));
        heights
    };
    // explicit steps still bob by some 20 µm after six seconds
    let explicit = rest(&|state| run_with(&mut Stepper::default(), &model, state, DT, 12.0));
    let stepped = rest(&|state| run_with(&mut implicit(StepOrder::First), &model, state, DT, 6.0));
    let settled = rest(&|state| {
        let report = settle(&model, &Control::still(&model), state).expect("rests");
        assert!(report.converged, "{report:?}");
    });
    for other in [stepped, settled] {
        for (a, b) in explicit.iter().zip(&other) {
            // where friction holds flesh that spread while it was compressed by a millimetre depends on how it came there, in a hundredth of that
            assert!((a - b).abs() < 1.5e-5, "{explicit:?} {other:?}");
        }
    }
}

/// Slides a body or an obstacle on an incline (gravity is rotated instead), and returns the ratio of its acceleration to g (sin θ − μ cos θ).
fn sliding(
    desc: &WorldDesc,
    (friction, angle): (f64, f64),
    dt: f64,
    speed: impl Fn(&Model, &State) -> f64,
) -> f64 {
    let mut desc = desc.clone();
    desc.gravity = G * Vec3::new(real::sin(angle), -real::cos(angle), 0.0);
    desc.contact.friction = friction;
    let model = Model::build(&desc).expect("sound");
    let mut state = State::at_rest(&model);
    let mut stepper = implicit(StepOrder::First);
    run_with(&mut stepper, &model, &mut state, dt, 0.25);
    let before = speed(&model, &state);
    run_with(&mut stepper, &model, &mut state, dt, 0.25);
    let gained = speed(&model, &state) - before;
    gained / (0.25 * G * (real::sin(angle) - friction * real::cos(angle)))
}

/// The friction force that the measured ratio of accelerations implies, relative to Coulomb's.
fn friction_ratio((friction, angle): (f64, f64), ratio: f64) -> f64 {
    let (sine, drag) = (real::sin(angle), friction * real::cos(angle));
    (sine - ratio * (sine - drag)) / drag
}

#[test]
fn a_rigid_box_slides_and_sticks_by_coulombs_law() {
    let flat =
        free("box", Shape::Cuboid { half: Vec3::new(0.05, 0.02, 0.05) }, Vec3::new(0.0, 0.0201, 0.0), 500.0);
    let desc = world(vec![block("far", 1e5, [9.0, 0.0])], vec![ObstacleDesc::ground(0.0), flat]);
    for rate in [24.0, 60.0, 240.0] {
        let law = (0.3, 0.5);
        let ratio = sliding(&desc, law, 1.0 / rate, |_, state| state.obstacles[1].linear.x);
        let friction = friction_ratio(law, ratio);
        assert!((friction - 1.0).abs() < 0.02, "{rate} Hz: {friction}");

        // it sticks a fiftieth below the angle of friction, and slides a fiftieth above it
        for factor in [0.98, 1.02] {
            let mut desc = desc.clone();
            let angle = real::atan2(factor * 0.3, 1.0);
            desc.gravity = G * Vec3::new(real::sin(angle), -real::cos(angle), 0.0);
            desc.contact.friction = 0.3;
            let model = Model::build(&desc).expect("sound");
            let mut state = State::at_rest(&model);
            run_with(&mut implicit(StepOrder::First), &model, &mut state, 1.0 / rate, 1.0);
            let start = center(&state, 1).x;
            run_with(&mut implicit(StepOrder::First), &model, &mut state, 1.0 / rate, 1.0);
            let moved = center(&state, 1).x - start;
            assert_eq!(moved > 1e-3, factor > 1.0, "{rate} Hz, {factor}: {moved}");
        }
    }
}

/// A soft box thrown along a plank that lies on the ground decelerates by μ g, and the plank, pressed to the ground by both, stays where it is.
#[test]
fn a_soft_box_slides_on_a_rigid_one_by_coulombs_law() {
    let friction = 0.3;
    let plank = Shape::Cuboid { half: Vec3::new(1.0, 0.02, 0.2) };
    let plank = free("plank", plank, Vec3::new(0.5, 0.0201, 0.0), 500.0);
    let mut desc = world(vec![block("box", 1e5, [0.0, 0.041])], vec![ObstacleDesc::ground(0.0), plank]);
    desc.contact.friction = friction;
    let model = Model::build(&desc).expect("sound");
    for rate in [24.0, 60.0, 240.0] {
        let (mut state, mut stepper) = (State::at_rest(&model), implicit(StepOrder::First));
        run_with(&mut stepper, &model, &mut state, 1.0 / rate, 0.5);
        state.node_v.iter_mut().for_each(|v| v.x += 2.0);
        let speed = |state: &State| {
            let sum: f64 = state.node_v.iter().zip(model.node_mass()).map(|(v, m)| m * v.x).sum();
            sum / model.node_mass().iter().sum::<f64>()
        };
        let start = center(&state, 1);
        run_with(&mut stepper, &model, &mut state, 1.0 / rate, 0.125);
        let before = speed(&state);
        run_with(&mut stepper, &model, &mut state, 1.0 / rate, 0.25);
        let found = (before - speed(&state)) / (0.25 * friction * G);
        let moved = (center(&state, 1) - start).norm();
        assert!((found - 1.0).abs() < 0.02, "{rate} Hz: {found}");
        assert!(moved < 1e-3, "{rate} Hz: {moved}");
    }
}

/// Five boxes, soft and rigid in turn, stand for ten seconds. Soft ones of 1e5 Pa would buckle, in explicit steps as well: they are as tall as a column of that stiffness can be.
#[test]
fn a_stack_of_soft_and_rigid_boxes_stands() {
    let bodies = vec![block("first", 1e6, [0.0, 0.101]), block("second", 1e6, [0.0, 0.303])];
    let wide = Shape::Cuboid { half: Vec3::new(0.06, 0.05, 0.06) };
    let cubes = [0.05, 0.252, 0.454];
    let cubes = cubes.map(|y| free(&format!("at {y}"), wide.clone(), Vec3::new(0.0, y, 0.0), 500.0));
    let mut obstacles = vec![ObstacleDesc::ground(0.0)];
    obstacles.extend(cubes);
    let model = Model::build(&world(bodies, obstacles)).expect("sound");
    for mut stepper in [Stepper::default(), implicit(StepOrder::First)] {
        let mut state = State::at_rest(&model);
        run_with(&mut stepper, &model, &mut state, DT, 10.0);
        for (i, y) in [(1, 0.05), (2, 0.25), (3, 0.45)] {
            // each contact yields by some tenths of a millimetre under what is above, and soft boxes by a hundredth
            let off = center(&state, i) - Vec3::new(0.0, y, 0.0);
            assert!(off.norm() < 5e-3 && off.xz().norm() < 1e-4, "{i} {off:?}");
        }
        assert!(state.momentum(&model).norm() < 1e-3 * model.mass());
    }
}

/// A hollow box of two parts, thrown with a spin onto flesh and ground, and a cube on a rope.
fn busy_world() -> WorldDesc {
    let lid =
        free("lid", Shape::Cuboid { half: Vec3::new(0.06, 0.01, 0.06) }, Vec3::new(0.0, 0.2, 0.0), 400.0);
    let wall = ObstacleDesc {
        mobility: Mobility::PartOf(1),
        ..ObstacleDesc::fixed(
            "wall",
            Shape::Cuboid { half: Vec3::new(0.01, 0.04, 0.06) },
            Isometry::translation(0.05, 0.15, 0.0),
        )
    };
    let lid = ObstacleDesc {
        mobility: Mobility::Free {
            density: 400.0,
            velocity: Vec3::new(0.3, 0.0, 0.1),
            spin: Vec3::new(1.0, 2.0, 3.0),
        },
        ..lid
    };
    let hanging = cube("hanging", Vec3::new(0.5, 1.0, 0.0), 300.0);
    let mut desc =
        world(vec![block("soft", 5e4, [0.0, 0.0])], vec![ObstacleDesc::ground(0.0), lid, wall, hanging]);
    let point = |obstacle: &str, y: f64| PointDesc::Obstacle {
        obstacle: obstacle.into(),
        place: Some(Vec3::new(0.5, y, 0.0)),
    };
    let points = [point("hanging", 1.05), point("ground", 1.55)];
    let rope = ConstraintKind::Join { points, length: Some(0.5), is_unilateral: true };
    desc.constraints.push(ConstraintDesc::new("rope", rope));
    desc
}

/// Parts move rigidly with their carrier, to round-off, and a rope of 0.5 m bears a cube of 0.3 kg: it is extended by its weight over the stiffness of the rope, and does not turn.
#[test]
fn parts_are_carried_and_constraints_hold_free_obstacles() {
    let model = Model::build(&busy_world()).expect("sound");
    let mut state = State::at_rest(&model);
    let apart = |state: &State| state.obstacles[1].pose.inverse() * state.obstacles[2].pose;
    let start = apart(&state);
    run_with(&mut implicit(StepOrder::First), &model, &mut state, DT, 3.0);
    let moved = apart(&state);
    assert!((moved.translation.vector - start.translation.vector).norm() < 1e-12);
    assert!((state.obstacles[1].pose.rotation.angle()) > 0.1, "it tumbled");
    let weight = G * 300.0 * 0.1f64.powi(3);
    let tension = constraint_forces(&model, &Control::still(&model), &state)[0].tension;
    assert!((tension - weight).abs() < 1e-3 * weight, "{tension} {weight}");
    assert!(state.obstacles[3].angular.norm() < 1e-6 && state.obstacles[3].pose.rotation.angle() < 1e-6);
}

/// The same bits on one and three threads, and after resuming with a new stepper from a copy of the state.
#[test]
fn free_obstacles_give_the_same_bits_on_any_number_of_threads_and_after_resuming() {
    let model = Model::build(&busy_world()).expect("sound");
    for order in [StepOrder::First, StepOrder::Second] {
        let play = |threads: usize, resumes: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let (mut state, mut stepper) = (State::at_rest(&model), implicit(order));
                for step in 0..60 {
                    if resumes && step % 7 == 3 {
                        stepper = implicit(order);
                        state = state.clone();
                    }
                    stepper.step(&model, &Control::still(&model), DT, &mut state).expect("holds");
                }
                assert!(!state.anchors.is_empty());
                state.hash()
            })
        };
        let alone = play(1, false);
        assert_eq!(alone, play(3, false), "{order:?}");
        assert_eq!(alone, play(2, true), "{order:?}");
    }
}

/// A rod on a pin at its end, released from the horizontal, swings towards the limit of explicit steps: half the step leaves half of the error at first order, and a quarter at second.
#[test]
fn a_swinging_rod_converges_at_the_order_of_the_method() {
    let rod =
        free("rod", Shape::Cuboid { half: Vec3::new(0.2, 0.02, 0.02) }, Vec3::new(0.2, 1.0, 0.0), 500.0);
    let mut desc = world(vec![block("far", 1e5, [9.0, 0.0])], vec![rod]);
    let end = PointDesc::Obstacle { obstacle: "rod".into(), place: Some(Vec3::new(0.0, 1.0, 0.0)) };
    desc.constraints.push(ConstraintDesc::new("pin", ConstraintKind::Pin { point: end, place: None }));
    desc.bodies[0].pins.push(PinDesc { region: Region::End { direction: Vec3::y(), fraction: 1.0 } });
    desc.bodies[0].material.damping_ratio = 0.0;
    let model = Model::build(&desc).expect("sound");
    let swing = |mut stepper: Stepper, dt: f64| {
        let mut state = State::at_rest(&model);
        run_with(&mut stepper, &model, &mut state, dt, 0.25);
        state.obstacles[0].angular
    };
    let limit = swing(Stepper::default(), 1.0 / 9600.0);
    for (order, expected) in [(StepOrder::First, 2.0), (StepOrder::Second, 4.0)] {
        let errors = [240.0, 480.0].map(|rate| (swing(implicit(order), 1.0 / rate) - limit).norm());
        let ratio = errors[0] / errors[1];
        // the next order of the error, and that of the reference, a fortieth of the smaller one
        assert!((ratio / expected - 1.0).abs() < 0.05, "{order:?}: {errors:?}");
    }
}
