//! Conservation of momentum, angular momentum and energy of free bodies.

use super::bodies::{LAWS, loose, random_vector, world};
use sinew::mesh::shapes;
use sinew::prelude::*;

/// A beam that translates, rotates and vibrates.
fn tumbling(law: Law) -> (Model, State) {
    let material = Material { law, ..Material::soft_solid(2e4, 0.4, 1000.0, 0.0) };
    let model = world(Vec3::zeros(), loose(shapes::beam(3, [0.4, 0.1, 0.1]), material));
    let mut seed = 1;
    let spin = Vec3::new(3.0, 5.0, -4.0);
    let node_v = model
        .node_rest()
        .iter()
        .map(|x| Vec3::new(1.0, -2.0, 0.5) + spin.cross(x) + 0.2 * random_vector(&mut seed))
        .collect();
    let state = State::from_motion(&model, model.node_rest().to_vec(), node_v);
    (model, state)
}

/// The corner forces of every element sum to zero in double precision, so linear momentum is conserved to the round-off of some
/// 10⁵ additions. Angular momentum is affected by the single-precision rounding of each element's stress: torques of relative size 2⁻²⁴ with random signs,
/// which over n sub-steps accumulate to √n 2⁻²⁴ of force × arm × h. At 1,000 sub-steps this is √1000 × 6e-8 ≈ 2e-6 of the angular
/// momentum that the same forces exchange; 1e-5 allows for the size of the vibration.
#[test]
fn free_body_conserves_linear_and_angular_momentum() {
    for law in LAWS {
        let (model, mut state) = tumbling(law);
        let (linear, angular) = (state.momentum(&model), state.angular_momentum(&model));
        let mut stepper = Stepper::default();
        for _ in 0..60 {
            stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
        }
        let linear_drift = (state.momentum(&model) - linear).norm() / linear.norm();
        assert!(linear_drift < 1e-12, "{law:?}: {linear_drift:e}");
        let angular_drift = (state.angular_momentum(&model) - angular).norm() / angular.norm();
        assert!(angular_drift < 1e-5, "{law:?}: {angular_drift:e}");
    }
}

/// Symplectic Euler conserves a shadow energy that differs from the true one by O(h ω). For the modes that carry the energy here, well
/// below the highest, that is a few percent; the energy oscillates and does not drift. The test compares kinetic plus elastic energy over
/// 20,000 sub-steps, the last quarter with the first.
#[test]
fn energy_of_an_undamped_body_is_bounded_over_20_000_steps() {
    for law in LAWS {
        let (model, mut state) = tumbling(law);
        let total = |state: &State| {
            let energies = state.energies(&model);
            energies.kinetic + energies.elastic
        };
        let start = total(&state);
        let mut stepper = Stepper::default();
        let mut substeps = 0;
        let mut fractions = Vec::new();
        while substeps < 20_000 {
            substeps +=
                stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds").substeps;
            fractions.push(total(&state) / start);
        }
        let mean = |fractions: &[f64]| fractions.iter().sum::<f64>() / fractions.len() as f64;
        let quarter = fractions.len() / 4;
        let (first, last) = (mean(&fractions[..quarter]), mean(&fractions[3 * quarter..]));
        assert!(fractions.iter().all(|fraction| (fraction - 1.0).abs() < 0.1), "{law:?}: {fractions:?}");
        assert!((last - first).abs() < 5e-3, "{law:?}: {first} {last}");
    }
}
