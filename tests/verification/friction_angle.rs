//! The angle of friction, at any frame rate, in explicit and in implicit steps with springs.

use super::contact::{G, on_incline};
use sinew::math::real;
use sinew::prelude::*;

const FRICTION: f64 = 0.5;

/// What a block on an incline does after it has settled for a second, at an angle given by its tangent relative to the coefficient of friction: how far it goes along it in a second (m), and by how much its speed grows (m/s).
fn slide(solver: Solver, relative: f64, rate: f64) -> (f64, f64) {
    let (model, mut state) = on_incline(real::atan2(relative * FRICTION, 1.0), FRICTION);
    let mut stepper = Stepper::with_solver(solver);
    let mut run = |state: &mut State| {
        for _ in 0..rate as usize {
            stepper.step(&model, &Control::still(&model), 1.0 / rate, state).expect("holds");
        }
    };
    let place = |state: &State| {
        let sum: f64 = state.node_x.iter().zip(model.node_mass()).map(|(x, m)| m * x.x).sum();
        sum / model.mass()
    };
    let speed = |state: &State| state.momentum(&model).x / model.mass();
    run(&mut state);
    let before = (place(&state), speed(&state));
    run(&mut state);
    (place(&state) - before.0, speed(&state) - before.1)
}

/// Two per cent below the angle of friction a block stays where it is, to a tenth of a millimetre in a second; two per cent above it slides with a = g (sin θ − μ cos θ), a fiftieth of what friction takes: a quarter of that
/// stands for half a per cent of friction.
#[test]
fn blocks_slide_above_the_angle_of_friction_and_not_below_at_any_frame_rate() {
    let angle = real::atan2(1.02 * FRICTION, 1.0);
    let expected = G * (real::sin(angle) - FRICTION * real::cos(angle));
    for solver in [Solver::Explicit, Solver::Implicit(ImplicitSettings::ACCURATE)] {
        for rate in [24.0, 60.0, 240.0] {
            let (crept, _) = slide(solver, 0.98, rate);
            assert!(crept.abs() < 1e-4, "{solver:?} at {rate} Hz: {crept} m");
            let (_, gained) = slide(solver, 1.02, rate);
            assert!(
                (gained - expected).abs() < 0.25 * expected,
                "{solver:?} at {rate} Hz: {gained} of {expected} m/s"
            );
        }
    }
}
