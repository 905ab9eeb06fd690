//! Contact in implicit steps of 1/60 s: friction, rest, high speed, contact between bodies.

use super::contact::{
    G, assert_no_drift, assert_sticks, ball, block, center, lowest, on_incline, run, world,
};
use super::contact_bodies::{
    along_incline, assert_fingers_stay_apart, assert_nothing_at_rest, assert_same_bits, on_soft_incline,
    plate, soft_box,
};
use sinew::contact::Shape;
use sinew::math::{real, so3};
use sinew::prelude::*;
use sinew::sim::implicit::{ImplicitSettings, Solver, settle};

const DT: f64 = 1.0 / 60.0;

fn implicit() -> Stepper {
    Stepper::with_solver(Solver::Implicit(ImplicitSettings::ACCURATE))
}

/// Takes implicit steps of `dt` (s), all of which must converge.
fn run_implicit(model: &Model, state: &mut State, dt: f64, seconds: f64) {
    let mut stepper = implicit();
    for _ in 0..(seconds / dt).round() as usize {
        let report = stepper.step(model, &Control::still(model), dt, state).expect("holds");
        let solve = report.solve.expect("an implicit step");
        assert!(solve.converged, "{solve:?} at {} s", state.time);
    }
}

/// Takes steps of 1/60 s.
fn run_frames(model: &Model, state: &mut State, seconds: f64) {
    run_implicit(model, state, DT, seconds);
}

#[test]
fn block_below_the_angle_of_friction_sticks() {
    assert_sticks(&run_frames);
}

/// v' = a = g (sin θ − μ cos θ): damping acts on deformation only.
#[test]
fn block_above_the_angle_of_friction_slides_with_the_expected_acceleration() {
    for (friction, angle) in [(0.3, 0.6), (0.0, 0.3)] {
        let (model, mut state) = on_incline(angle, friction);
        run_implicit(&model, &mut state, DT, 0.5);
        let before = state.momentum(&model).x / model.mass();
        run_implicit(&model, &mut state, DT, 1.0);
        let after = state.momentum(&model).x / model.mass();
        let a = G * (real::sin(angle) - friction * real::cos(angle));
        let expected = before + a;
        assert!((after - expected).abs() < 0.01 * expected, "friction {friction}: {after} {expected}");
    }
}

/// Explicit steps, implicit steps and the static solver use the same contact springs, so a block comes to rest at the same place. Explicit steps still vibrate by some micrometres.
#[test]
fn explicit_implicit_and_static_solutions_agree_at_rest() {
    let model = Model::build(&world(vec![block(1e5)], vec![ObstacleDesc::ground(0.0)])).expect("sound");
    let rest = |way: &dyn Fn(&mut State)| {
        let mut state = State::at_rest(&model);
        way(&mut state);
        let squeezed = state.node_x.iter().map(|x| x.y).fold(f64::NEG_INFINITY, f64::max);
        (center(&model, &state).y, squeezed)
    };
    let explicit = rest(&|state| run(&model, state, 4.0));
    let stepped = rest(&|state| run_implicit(&model, state, DT, 4.0));
    let settled = rest(&|state| {
        let report = settle(&model, &Control::still(&model), state).expect("rests");
        assert!(report.converged, "{report:?}");
    });
    assert!(explicit.0 < 0.05 - 1e-5, "it gives way: {explicit:?}");
    for other in [stepped, settled] {
        let apart = (other.0 - explicit.0).abs().max((other.1 - explicit.1).abs());
        assert!(apart < 5e-6, "{explicit:?} {other:?}");
    }
}

#[test]
fn resting_block_does_not_drift() {
    assert_no_drift(&run_frames);
}

/// A ball at 200 m/s travels 3.3 m per step and hits a plate of 2 mm. Contact springs yield by decimetres at such an impact, but keep the side it came from.
#[test]
fn fast_body_does_not_tunnel_through_a_thin_plate() {
    let plate = Shape::Cuboid { half: Vec3::new(1.0, 0.001, 1.0) };
    let mut body = ball(1e5, 0.1);
    body.velocity = Vec3::new(0.0, -200.0, 0.0);
    let obstacle = ObstacleDesc::fixed("plate", plate, Isometry::identity());
    let model = Model::build(&world(vec![body], vec![obstacle])).expect("sound");
    let mut state = State::at_rest(&model);
    let mut stepper = implicit();
    for _ in 0..60 {
        stepper.step(&model, &Control::still(&model), DT, &mut state).expect("holds");
    }
    let center = center(&model, &state);
    assert!(center.y > 0.0, "{center:?}");
}

/// A dropped ball gains no energy, penetrates no deeper than weight and impact explain, and comes to rest.
#[test]
fn dropped_ball_comes_to_rest_on_the_ground() {
    let model = Model::build(&world(vec![ball(5e4, 0.05)], vec![ObstacleDesc::ground(0.0)])).expect("sound");
    let mut state = State::at_rest(&model);
    let total = |state: &State| {
        let energies = state.energies(&model);
        energies.kinetic + energies.elastic + energies.potential
    };
    let (mut before, mut deepest) = (total(&state), 0.0f64);
    let mut stepper = implicit();
    for _ in 0..180 {
        stepper.step(&model, &Control::still(&model), DT, &mut state).expect("holds");
        let now = total(&state);
        assert!(now < before + 1e-3 * model.mass() * G * 0.4, "{before} {now}");
        before = now;
        deepest = deepest.max(-lowest(&model, &state));
    }
    // a step stops an impact at 2.8 m/s over a penetration of v h_s²/(κ h), with the mass of the whole ball on the few points in contact
    assert!(deepest > 0.0 && deepest < 0.01, "{deepest}");
    assert!(state.momentum(&model).norm() < 0.02 * model.mass());
    assert!((0.07..0.1).contains(&center(&model, &state).y));
}

/// A kinematic ball that swings into flesh carries it along; flesh leaves one that starts inside it without a burst.
#[test]
fn kinematic_obstacles_push_and_obstacles_inside_flesh_are_stable() {
    // a slow and a fast ball hit flesh
    for speed in [1.0, 100.0] {
        let at = Isometry::translation(-0.5, 0.5, 0.0);
        let hammer = ObstacleDesc {
            mobility: Mobility::Kinematic,
            ..ObstacleDesc::fixed("hammer", Shape::Sphere { radius: 0.05 }, at)
        };
        let mut desc = world(vec![ball(5e4, 0.1)], vec![hammer]);
        desc.gravity = Vec3::zeros();
        let model = Model::build(&desc).expect("sound");
        let motion = Motion::Glide { velocity: Vec3::new(speed, 0.0, 0.0) };
        let mut script = Script { obstacle_motions: vec![motion], ..Script::default() };
        let (mut state, mut control, mut stepper) = (State::at_rest(&model), Control::default(), implicit());
        for _ in 0..40 {
            script.control(&model, &state, DT, &mut control);
            stepper.step(&model, &control, DT, &mut state).expect("holds");
        }
        assert!(state.node_x.iter().all(|x| x.norm() < 100.0));
        assert!(state.momentum(&model).x > 0.0, "{speed}");
        let there = state.obstacles[0].pose.translation.vector;
        assert!((there.x - (-0.5 + speed * 40.0 * DT)).abs() < 1e-9, "{there:?}");
    }

    // an obstacle that starts inside flesh
    for shape in [Shape::Sphere { radius: 0.03 }, Shape::Cuboid { half: Vec3::repeat(0.02) }] {
        let inside = ObstacleDesc::fixed("inside", shape, Isometry::translation(0.0, 0.42, 0.0));
        let model = Model::build(&world(vec![ball(2e4, 0.1)], vec![inside])).expect("sound");
        let mut state = State::at_rest(&model);
        let mut stepper = implicit();
        for _ in 0..30 {
            stepper.step(&model, &Control::still(&model), DT, &mut state).expect("holds");
        }
        assert!(state.node_x.iter().all(|x| x.norm() < 10.0));
    }
}

/// A block on a turntable, carried along by friction.
#[test]
fn friction_carries_a_block_along_on_a_turntable() {
    // a block 0.2 m from the axis of a turntable
    let table = ObstacleDesc {
        mobility: Mobility::Kinematic,
        friction: Some(0.8),
        ..ObstacleDesc::fixed(
            "table",
            Shape::Cylinder { half_length: 0.1, radius: 0.5 },
            Isometry::translation(0.0, -0.1, 0.0),
        )
    };
    let mut body = block(1e5);
    if let ShapeDesc::Tets(mesh) = &mut body.shape {
        mesh.nodes.iter_mut().for_each(|x| x.x += 0.2);
    }
    body.material.damping_ratio = 0.0;
    let model = Model::build(&world(vec![body], vec![table])).expect("sound");

    // two seconds at 1 rad/s
    let (mut state, mut stepper) = (State::at_rest(&model), implicit());
    let turned = |angle: f64| Isometry::from_parts(Vec3::zeros().into(), so3::exp(&(angle * Vec3::y())));
    let rate = 1.0;
    let mut control = Control::still(&model);
    for step in 0..120 {
        let [from, to] = [step, step + 1].map(|i| turned(rate * DT * f64::from(i)));
        control.obstacles[0] = PinPath { from, to };
        stepper.step(&model, &control, DT, &mut state).expect("holds");
    }
    let there = center(&model, &state);
    let angle = real::atan2(-there.z, there.x);
    // the turntable starts abruptly, so the block slips at first, and it is never ahead
    assert!((there.x.hypot(there.z) - 0.2).abs() < 0.01, "{there:?}");
    assert!(angle > 1.85 && angle < 2.0 + 1e-6, "{angle}");
}

#[test]
fn stack_of_three_soft_boxes_is_stable() {
    let boxes = vec![soft_box("low", 0.0), soft_box("middle", 0.105), soft_box("high", 0.21)];
    let mut desc = world(boxes, vec![ObstacleDesc::ground(0.0)]);
    desc.contact.between_bodies = true;
    let model = Model::build(&desc).expect("sound");
    let mut state = State::at_rest(&model);
    run_implicit(&model, &mut state, DT, 4.0);
    for (i, body) in model.bodies().iter().enumerate() {
        let middle = state.node_x[body.nodes.clone()].iter().sum::<Vec3>() / body.nodes.len() as f64;
        let expected = 0.05 + 0.1 * i as f64;
        assert!((middle.y - expected).abs() < 0.01 && middle.x.hypot(middle.z) < 0.01, "{i}: {middle:?}");
    }
    assert!(state.momentum(&model).norm() < 0.02 * model.mass());
}

/// Friction between soft bodies sticks and slips as on hard ground.
#[test]
fn soft_bodies_stick_below_the_angle_of_friction_and_slide_above() {
    let (model, mut state) = on_soft_incline(real::atan2(0.4, 1.0), 0.5);
    run_implicit(&model, &mut state, DT, 2.0);
    let settled = along_incline(&model, &state.node_x);
    run_implicit(&model, &mut state, DT, 3.0);
    let drift = along_incline(&model, &state.node_x) - settled;
    assert!(drift.abs() < 1e-5 && !state.pair_anchors.is_empty(), "{drift}");

    // within 2 % of the force of friction
    let (friction, angle) = (0.3, 0.5);
    for dt in [DT, DT / 4.0] {
        let (model, mut state) = on_soft_incline(angle, friction);
        run_implicit(&model, &mut state, dt, 0.2);
        let before = along_incline(&model, &state.node_v);
        run_implicit(&model, &mut state, dt, 0.25);
        let after = along_incline(&model, &state.node_v);
        let a = G * (real::sin(angle) - friction * real::cos(angle));
        let expected = before + 0.25 * a;
        let allowed = 0.02 * 0.25 * G * friction * real::cos(angle);
        assert!((after - expected).abs() < allowed, "{dt} s: {after} {expected}");
    }
}

/// Two plates thrown at each other at 2 cm to 17 cm per step each, in air that slows them by a third per step. Without it they push through each other at steps of 1/60 s even at 1 m/s, a known weakness. Momentum is conserved to the tolerance of the solver.
#[test]
fn fast_plates_do_not_tunnel_through_each_other() {
    for speed in [1.0, 5.0, 10.0] {
        let mut desc = world(vec![plate("low", 0.0, speed), plate("high", 0.1, -speed)], Vec::new());
        desc.gravity = Vec3::zeros();
        desc.bodies.iter_mut().for_each(|body| body.air_drag = 29.0);
        desc.contact.between_bodies = true;
        let model = Model::build(&desc).expect("sound");
        let mut state = State::at_rest(&model);
        let mut stepper = implicit();
        let mean = |values: &[Vec3], body: usize| {
            let nodes = model.bodies()[body].nodes.clone();
            values[nodes.clone()].iter().map(|v| v.y).sum::<f64>() / nodes.len() as f64
        };
        for _ in 0..20 {
            stepper.step(&model, &Control::still(&model), DT, &mut state).expect("holds");
            let [low, high] = [0, 1].map(|body| mean(&state.node_x, body));
            assert!(low + 0.02 < high, "{speed} m/s: {low} {high}");
        }
        let left = state.momentum(&model).norm();
        assert!(left < 1e-4 * speed * model.mass(), "{speed} m/s: {left}");
    }
}

#[test]
fn self_contact_keeps_prongs_pushed_together_apart() {
    assert_fingers_stay_apart(&run_frames);
}

#[test]
fn self_contact_gives_no_force_at_rest() {
    assert_nothing_at_rest(&run_frames);
}

#[test]
fn contact_gives_the_same_bits_on_any_number_of_threads_and_after_resuming() {
    let mut desc =
        world(vec![soft_box("low", 0.0), soft_box("high", 0.103)], vec![ObstacleDesc::ground(0.0)]);
    desc.contact.between_bodies = true;
    desc.contact.self_contact.push("low".into());
    let model = Model::build(&desc).expect("sound");
    assert_same_bits(&model, &implicit);
}
