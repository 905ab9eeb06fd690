//! Flesh whose home is the skinned shape: rest in every pose, closed forms of its springs, momentum, and the agreement of both solvers.

use super::coupling::{FRAME, Worm, play, wriggle};
use sinew::prelude::*;

/// Frequency of the springs (rad/s) and their limit (m).
const FREQUENCY: f64 = 25.0;
const LIMIT: f64 = 0.03;

/// A worm whose vertices are painted to its bones by their place along it, with springs towards home.
fn worm(gravity: Vec3) -> Model {
    painted(Worm { gravity, ..Worm::default() })
}

fn painted(worm: Worm) -> Model {
    Model::build(&painted_world(worm)).expect("a sound world")
}

pub(crate) fn painted_world(worm: Worm) -> WorldDesc {
    let mut world = worm.world();
    let bare = Model::build(&world).expect("a sound world");
    let surface = &bare.bodies()[0].surface.vertices;
    let low = surface.iter().map(|v| v.x).fold(f64::INFINITY, f64::min);
    let high = surface.iter().map(|v| v.x).fold(f64::NEG_INFINITY, f64::max);
    let painted = |v: &Vec3| {
        // bones blend over the fifth of a segment around each joint
        let along = 3.0 * (v.x - low) / (high - low) - 0.5;
        let bone = along.clamp(0.0, 2.0).floor().min(1.0);
        let blend = ((along - bone - 0.4) / 0.2).clamp(0.0, 1.0) as f32;
        vec![(bone as u32, 1.0 - blend), (bone as u32 + 1, blend)]
    };
    let attachment = world.bodies[0].attachment.as_mut().expect("on bones");
    attachment.skin_weights = surface.iter().map(painted).collect();
    attachment.home = Some(HomeDesc::even(surface.len(), FREQUENCY, LIMIT));
    world
}

fn solvers() -> [Stepper; 2] {
    [Stepper::default(), Stepper::with_solver(Solver::Implicit(ImplicitSettings::ACCURATE))]
}

/// The largest distance of a node from where it was (m).
fn farthest(state: &State, from: &[Vec3]) -> f64 {
    state.node_x.iter().zip(from).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// In a bent pose, with the root where it was, flesh that is put home stays there: nothing is stressed, and its weight is balanced up to the mean rotation of its bones, which at angles that cancel is none.
/// What moves is round-off: element forces of single precision, 6e-8 of some 100 N at 0.03 kg, over ω² = 625.
#[test]
fn flesh_holds_still_in_any_pose() {
    let model = worm(Vec3::zeros());
    for mut stepper in solvers() {
        let mut state = State::at_rest(&model);
        state.rigs[0] = wriggle(&model.rigs()[0], 1.3);
        state.rigs[0].v.fill(0.0);
        state.carry_flesh(&model);
        let start = state.node_x.clone();
        let mut control = Control::still(&model);
        (control.rigs[0].from, control.rigs[0].to) = (state.rigs[0].clone(), state.rigs[0].clone());
        for _ in 0..30 {
            stepper.step(&model, &control, FRAME, &mut state).expect("holds");
        }
        let bend = farthest(&state, model.node_rest());
        assert!(bend > 0.05, "the pose is bent by {bend} m");
        let moved = farthest(&state, &start);
        assert!(moved < 1e-6, "{moved:e}");
    }
}

/// Upright nothing sags; upside down every node feels 2 g and, where the whole body is displaced alike, springs alone hold it: r = r₀/(1 + r₀/L) with r₀ = 2 g/ω².
/// Nodes fixed to bones stay, so the mean over free nodes is smaller, and none exceeds r by more than elasticity concentrates it.
#[test]
fn gravity_is_balanced_as_drawn_and_felt_when_the_body_turns() {
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    let model = worm(gravity);
    let r0 = 2.0 * 9.81 / (FREQUENCY * FREQUENCY);
    // springs are made for 0.95 of the limit
    let alone = r0 / (1.0 + r0 / (0.95 * LIMIT));
    for mut stepper in solvers() {
        for (turn, least, most) in [(0.0, 0.0, 1e-6), (core::f64::consts::PI, 0.05 * alone, 1.02 * alone)] {
            let mut state = State::at_rest(&model);
            let mut root = state.rigs[0].clone();
            root.set_chart_of(&model.rigs()[0].skeleton, BoneId(0), &[0.0, 0.0, 0.0, turn, 0.0, 0.0]);
            state.rigs[0] = root.clone();
            state.carry_flesh(&model);
            let start = state.node_x.clone();
            let mut control = Control::still(&model);
            (control.rigs[0].from, control.rigs[0].to) = (root.clone(), root);
            for _ in 0..180 {
                stepper.step(&model, &control, FRAME, &mut state).expect("holds");
            }
            let moved = farthest(&state, &start);
            assert!(moved >= least && moved <= most, "turned by {turn}: {moved} of {alone}");
        }
    }
}

/// A root that jumps back and forth by 0.3 m within a tenth of a second, at 30 g and more, never takes a node beyond its limit; the parabola beyond 0.98 L begins at 49 ω² L = 919 m/s².
#[test]
fn the_limit_holds_however_violent_the_motion() {
    let model = worm(Vec3::zeros());
    for mut stepper in solvers() {
        let mut state = State::at_rest(&model);
        let mut control = Control::still(&model);
        let place = |t: f64| {
            let mut pose = SkeletonState::at_rest(&model.rigs()[0].skeleton);
            let (s, c) = (sinew::math::real::sin(31.0 * t), sinew::math::real::cos(31.0 * t));
            pose.set_chart_of(&model.rigs()[0].skeleton, BoneId(0), &[0.0, 0.3 * s, 0.0, 0.0, 0.0, 0.0]);
            pose.v[1] = 0.3 * 31.0 * c;
            pose
        };
        state.rigs[0] = place(0.0);
        state.move_along(&model);
        let mut largest: f64 = 0.0;
        for _ in 0..60 {
            control.rigs[0].from = place(state.time);
            control.rigs[0].to = place(state.time + FRAME);
            stepper.step(&model, &control, FRAME, &mut state).expect("holds");
            // homes of a state whose root alone has moved are the rest positions, shifted
            let shift = 0.3 * sinew::math::real::sin(31.0 * state.time);
            let homes: Vec<Vec3> = model.node_rest().iter().map(|x| x + shift * Vec3::y()).collect();
            largest = largest.max(farthest(&state, &homes));
        }
        assert!(largest < LIMIT, "{largest}");
        assert!(largest > 0.3 * LIMIT, "it swings: {largest}");
    }
}

/// Forces between flesh and its bones have one line of action, so that a wriggling worm without weight keeps its momentum: to double round-off, and in rotation to that of element torques in single precision, as
/// flesh without a home does.
#[test]
fn flesh_with_a_home_conserves_momentum() {
    let model = worm(Vec3::zeros());
    let mut state = State::at_rest(&model);
    state.node_v.iter_mut().for_each(|v| *v = Vec3::new(0.3, -0.2, 0.1));
    state.rigs[0].v[..3].copy_from_slice(&[0.3, -0.2, 0.1]);
    state.restart(&model);
    let start = (state.momentum(&model), state.angular_momentum(&model));
    play(&model, &mut state, 60, wriggle);
    let linear = (state.momentum(&model) - start.0).norm();
    let angular = (state.angular_momentum(&model) - start.1).norm();
    assert!(linear < 1e-11, "{linear:e}");
    assert!(angular < 1e-8, "{angular:e}");
}

/// Both solvers play the same wriggle with kinematic bones. Backward Euler at 1/480 s damps a swing of 25 rad/s by ω h/2 = 2.6 % of critical beside 20 %, so amplitudes differ by some tenth of themselves, and their
/// difference is a fraction of the largest displacement.
#[test]
fn explicit_and_implicit_steps_agree() {
    let model = worm(Vec3::zeros());
    let dt = FRAME / 8.0;
    let run = |mut stepper: Stepper| {
        let mut state = State::at_rest(&model);
        let mut control = Control::still(&model);
        let mut frames = Vec::new();
        for _ in 0..480 {
            control.rigs[0].from = wriggle(&model.rigs()[0], state.time);
            control.rigs[0].to = wriggle(&model.rigs()[0], state.time + dt);
            stepper.step(&model, &control, dt, &mut state).expect("holds");
            frames.push(state.clone());
        }
        frames
    };
    let [explicit, implicit] = solvers().map(run);
    let mut swing: f64 = 0.0;
    let mut apart: f64 = 0.0;
    for (a, b) in explicit.iter().zip(&implicit) {
        let mut home = a.clone();
        home.carry_flesh(&model);
        swing = swing.max(farthest(a, &home.node_x));
        apart = apart.max(farthest(a, &b.node_x));
    }
    assert!(swing > 3e-3, "it swings by {swing}");
    assert!(apart < 0.15 * swing, "{apart} of {swing}");
}

/// A limp worm in flight whose bones are as dense as air: it swings and twists for a second without a retry, at a fifth of the speed of its start and more, and its momentum is what it was plus that of gravity, exact but
/// for the round-off of some 10⁶ sums, 10⁻¹⁰ of it.
#[test]
fn limp_flesh_on_light_bones_falls_freely() {
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    let model = painted(Worm { gravity, density: 1.0, ..Worm::default() });
    let mut state = State::at_rest(&model);
    for (i, v) in state.rigs[0].v.iter_mut().enumerate() {
        *v = if i < 3 { 0.5 } else { 3.0 - 0.6 * i as f64 };
    }
    state.carry_flesh(&model);
    state.restart(&model);
    let start = state.momentum(&model);
    let mass = model.node_mass().iter().sum::<f64>() + model.rigs()[0].bone_mass;
    let mut stepper = Stepper::default();
    let mut control = Control::still(&model);
    control.rigs[0].drives.fill(DriveKind::Torque);
    for _ in 0..60 {
        let report = stepper.step(&model, &control, FRAME, &mut state).expect("falls");
        assert_eq!(report.retries, 0);
    }
    let gained = state.momentum(&model) - start;
    let wanted = mass * gravity * state.time;
    assert!((gained - wanted).norm() < 1e-10 * wanted.norm(), "{gained} {wanted}");
}
