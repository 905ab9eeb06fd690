//! The damping ratio of a material is what its lowest vibration shows.

use super::bodies::{loose, world};
use sinew::mesh::shapes;
use sinew::prelude::*;

const LENGTH: f64 = 0.4;

/// A beam of 0.4 × 0.1 × 0.1 m without gravity, clamped at one end or free.
fn beam(ratio: f64, is_clamped: bool) -> Model {
    let mut body = loose(shapes::beam(2, [LENGTH, 0.1, 0.1]), Material::soft_solid(2e5, 0.3, 1000.0, ratio));
    if is_clamped {
        let region = Region::Box { min: Vec3::repeat(-1.0), max: Vec3::new(1e-9, 1.0, 1.0) };
        body.pins.push(PinDesc { region });
    }
    world(Vec3::zeros(), body)
}

/// Deflection of the lowest bending mode, up to a few percent of higher ones: of a clamped beam that under uniform load, of a free one the quartic curvature (1 − ξ²)².
fn deflection(x: f64, is_clamped: bool) -> f64 {
    let s = x / LENGTH;
    let xi = 2.0 * s - 1.0;
    if is_clamped {
        s * s * (6.0 - 4.0 * s + s * s) / 3.0
    } else {
        xi.powi(2) / 2.0 - xi.powi(4) / 6.0 + xi.powi(6) / 30.0 - 0.1365
    }
}

/// The damping ratio of a swing from an initial deflection of 2 mm. Between extremes n half-periods apart the amplitude falls by exp(−n π ζ/√(1 − ζ²)).
fn shown(model: &Model, is_clamped: bool, solver: Solver, dt: f64) -> f64 {
    // the amplitude along the mode, of which higher ones have a thousandth
    let shape: Vec<f64> = model.node_rest().iter().map(|x| deflection(x.x, is_clamped)).collect();
    let bent = model.node_rest().iter().zip(&shape).map(|(x, shape)| x + Vec3::z() * 2e-3 * *shape);
    let mut state = State::from_motion(model, bent.collect(), vec![Vec3::zeros(); model.node_count()]);
    let amplitude = |state: &State| {
        let own = state.node_x.iter().zip(model.node_rest()).zip(model.node_mass()).zip(&shape);
        own.map(|(((x, rest), m), shape)| m * shape * (x.z - rest.z)).sum::<f64>()
    };

    // the largest deflection of every swing to one side, until it has fallen by a factor of about e
    let count = (1.0 / (core::f64::consts::PI * model.bodies()[0].material.damping_ratio)).ceil() as usize;
    let mut stepper = Stepper::with_solver(solver);
    let mut samples = vec![amplitude(&state)];
    let mut swings = vec![0.0_f64];
    while swings.len() < count + 3 {
        assert!(samples.len() as f64 * dt < 20.0, "it does not swing: {swings:?}");
        stepper.step(model, &Control::default(), dt, &mut state).expect("holds");
        samples.push(amplitude(&state));
        if let [.., a, b, c] = samples[..] {
            if a * b < 0.0 {
                swings.push(0.0);
            }
            // the extreme of the parabola through three samples
            if (b - a) * (c - b) < 0.0 {
                let (derivative, bend) = (0.5 * (c - a), a - 2.0 * b + c);
                let own = swings.last_mut().expect("a swing");
                *own = own.max((b - 0.5 * derivative * derivative / bend).abs());
            }
        }
    }
    let decrement: f64 =
        sinew::math::real::ln(swings[1] / swings[count + 1]) / (count as f64 * core::f64::consts::PI);
    decrement / (1.0 + decrement * decrement).sqrt()
}

/// Explicit steps and implicit ones of second order show the ratio of the material: 5 % are for what is not of the lowest mode. A free beam bends at a frequency a little
/// above its lowest one, of torsion, where the ratio is a little smaller or larger; implicit steps of 6 ms would add 0.0005 to it.
#[test]
fn a_beam_swings_with_the_damping_ratio_of_its_material() {
    let second = ImplicitSettings { order: StepOrder::Second, ..ImplicitSettings::ACCURATE };
    for is_clamped in [true, false] {
        for ratio in [0.02, 0.1, 0.3] {
            let model = beam(ratio, is_clamped);
            for (solver, dt) in [(Solver::Explicit, 1.0 / 240.0), (Solver::Implicit(second), 1.0 / 360.0)] {
                let found = shown(&model, is_clamped, solver, dt);
                assert!(
                    (found / ratio - 1.0).abs() < 0.05,
                    "clamped {is_clamped}: {found} for {ratio}, {solver:?}"
                );
            }
        }
    }
}

/// Backward Euler adds numerical damping of ω h/2: 1/(1 + (ω h)²) of the energy remains per step. What it shows is the sum, to second order in ω h and the ratio.
#[test]
fn first_order_steps_add_their_numerical_damping() {
    let model = beam(0.1, true);
    let (dt, ratio) = (1.0 / 240.0, 0.1);
    let found = shown(&model, true, Solver::Implicit(ImplicitSettings::ACCURATE), dt);
    let frequency = model.bodies()[0].frequency.expect("of a damped body");
    let numerical = 0.5 * frequency * dt;
    assert!((found - ratio - numerical).abs() < 0.1 * numerical, "{found}, {frequency} rad/s");
}
