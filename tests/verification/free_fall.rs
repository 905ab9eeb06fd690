//! Free fall, with and without drag.

use super::bodies::{loose, world};
use sinew::mesh::shapes;
use sinew::prelude::*;

/// x(t) = g t²/2. Symplectic Euler takes each sub-step at its end velocity, so it is ahead by exactly g t h/2; the remainder is the round-off
/// of the elastic forces of an undeformed body, which conserve momentum.
#[test]
fn free_fall_is_ahead_by_half_a_substep() {
    let material = Material::soft_solid(1e4, 0.4, 1000.0, 0.0);
    let model = world(Vec3::new(0.0, 0.0, -9.81), loose(shapes::beam(2, [0.4, 0.1, 0.1]), material));
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    let mut substeps = 0;
    for _ in 0..30 {
        substeps = stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds").substeps;
    }
    let (t, h) = (0.5, 1.0 / 60.0 / substeps as f64);
    let mass: f64 = model.node_mass().iter().sum();
    let center = |x: &[Vec3]| x.iter().zip(model.node_mass()).map(|(x, m)| *m * x).sum::<Vec3>() / mass;
    let fallen = center(model.node_rest()).z - center(&state.node_x).z;
    assert!((fallen - 0.5 * 9.81 * t * (t + h)).abs() < 1e-12);
}

/// With mass-proportional damping at rate c the speed tends to g/c.
#[test]
fn mass_proportional_damping_gives_the_terminal_speed() {
    let material = Material::soft_solid(1e4, 0.4, 1000.0, 0.3);
    let model = world(Vec3::new(0.0, 0.0, -9.81), loose(shapes::beam(2, [0.4, 0.1, 0.1]), material));
    let mut state = State::at_rest(&model);
    let mut stepper = Stepper::default();
    for _ in 0..300 {
        stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
    }
    let speed = -state.momentum(&model).z / model.bodies()[0].mass;
    let terminal = 9.81 / model.bodies()[0].damping_rate;
    // after 5 s with a time constant 1/c below 0.3 s only the first-order error c h of the scheme remains
    assert!(model.bodies()[0].damping_rate > 3.0);
    assert!((speed / terminal - 1.0).abs() < model.bodies()[0].damping_rate * model.stable_step().seconds);
}
