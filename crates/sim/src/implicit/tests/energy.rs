//! Energy behaviour of implicit steps: numerical damping of an oscillation, and no energy gain.

use super::beam::{beam_world, rubber};
use crate::implicit::ImplicitSettings;
use crate::{Control, Model, State, Stepper};
use crate::{NodeEnergy, PointSprings};
use sinew_math::Vec3;

/// A weightless body on springs of k = m ω² at every node: it oscillates as a whole, as a single oscillator.
fn oscillator(omega: f64) -> (Model, PointSprings) {
    let mut world = beam_world(1, rubber(1e5, 0.3, 0.0), false);
    world.gravity = Vec3::zeros();
    let model = Model::build(&world).expect("sound");
    let spring =
        |node: usize| (node as u32, model.node_rest()[node], model.node_mass()[node] * omega * omega);
    let springs = PointSprings { springs: (0..model.node_count()).map(spring).collect() };
    (model, springs)
}

/// Displacement and velocity of a node after some steps of an oscillator that starts at 10 mm.
pub(super) fn swing(settings: &ImplicitSettings, (omega, h): (f64, f64), steps: usize) -> [f64; 2] {
    let (model, mut springs) = oscillator(omega);
    let mut state = State::at_rest(&model);
    state.node_x.iter_mut().for_each(|x| x.z += 0.01);
    let (mut stepper, control) = (Stepper::default(), Control::still(&model));
    for _ in 0..steps {
        let mut extras: [&mut dyn NodeEnergy; 1] = [&mut springs];
        stepper.step_with(&model, &control, settings, &mut extras, h, &mut state).expect("a step");
    }
    [state.node_x[3].z - model.node_rest()[3].z, state.node_v[3].z]
}

/// Backward Euler for x'' = −ω² x is v' = (v − h ω² x)/(1 + h² ω²), x' = x + h v': the fraction 1/(1 + h² ω²) of the energy is retained. Solved to a relative gradient of 1e-5 per step.
#[test]
fn backward_euler_keeps_its_share_of_a_swing() {
    for (omega, h) in [(10.0, 1.0 / 60.0), (200.0, 1.0 / 60.0)] {
        let [mut x, mut v] = [0.01, 0.0];
        for _ in 0..20 {
            v = (v - h * omega * omega * x) / (1.0 + h * h * omega * omega);
            x += h * v;
        }
        let [found_x, found_v] = swing(&ImplicitSettings::ACCURATE, (omega, h), 20);
        assert!(
            (found_x - x).abs() < 2e-6 && (found_v - v).abs() < 2e-6 * omega,
            "{found_x} {x} {found_v} {v}"
        );
    }
}

/// For a convex energy, the minimum of a step lies below its start by at least the dissipated motion: E' ≤ E − ½ Σ m |v' − v|². The energy of bending flesh is not convex everywhere, so this
/// holds for this beam and is not a general law; the tolerance of 1e-5 contributes less than a millionth.
#[test]
fn a_beam_that_swings_freely_only_loses_energy() {
    let mut world = beam_world(2, rubber(2e4, 0.4, 0.0), false);
    world.gravity = Vec3::zeros();
    let model = Model::build(&world).expect("sound");
    let mut state = State::at_rest(&model);
    for (v, x) in state.node_v.iter_mut().zip(model.node_rest()) {
        v.z = 60.0 * (x.x - 0.2) * (x.x - 0.2) - 0.8;
    }
    let total = |state: &State| {
        let energies = state.energies(&model);
        energies.kinetic + energies.elastic
    };
    let (first, mut before) = (total(&state), total(&state));
    let mut stepper = Stepper::default();
    for _ in 0..60 {
        let control = Control::still(&model);
        stepper
            .step_with(&model, &control, &ImplicitSettings::ACCURATE, &mut [], 1.0 / 60.0, &mut state)
            .expect("a step");
        let now = total(&state);
        assert!(now < before + 1e-6 * first, "{now} {before}");
        before = now;
    }
    assert!(before < 0.5 * first, "{before} {first}");
}
