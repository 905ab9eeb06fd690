//! Energy of undamped bodies between barriers.

use super::bodies::{BARRIER, intersections, still, tet_box, world};
use sinew_math::Vec3;
use sinew_sim::desc::ObstacleDesc;
use sinew_sim::{ImplicitSettings, Model, Solver, State, Stepper, WorldDesc};

/// Takes steps, none of which may raise the sum of kinetic, elastic, gravitational and barrier energy by more than a fraction of a scale (J); the barrier's share is in `supplied_energy`. Returns the energy lost.
fn assert_energy_never_rises(
    mut world: WorldDesc,
    tolerance: f64,
    (dt, seconds): (f64, f64),
    allowed: f64,
) -> f64 {
    world.contact.friction = 0.0;
    let model = Model::build(&world).expect("sound");
    let settings = ImplicitSettings { contact: BARRIER.contact, tolerance, ..ImplicitSettings::ACCURATE };
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    let mut state = State::at_rest(&model);
    let scale = model.mass() * 9.81 * 0.3;
    let (first, mut before) = (state.supplied_energy, f64::INFINITY);
    for step in 0..(seconds / dt).round() as usize {
        stepper.step(&model, &still(&model)(step), dt, &mut state).expect("holds");
        let now = state.supplied_energy;
        assert!(now <= before + allowed * scale, "step {step}: {before} to {now} J of {scale}");
        before = now;
    }
    assert_eq!(intersections(&model, &state), 0);
    first - before
}

/// Undamped bodies without friction that rebound from each other and from the ground, and a box that tips over an edge and falls off, where the barrier is not convex: no step gains energy, however loosely it is solved. What may rise is round-off of
/// energies of some joules, and elastic energies near 1e-12 of the terms that cancel in them.
#[test]
fn energy_never_rises() {
    let ground = || vec![ObstacleDesc { friction: Some(0.0), ..ObstacleDesc::ground(0.0) }];
    for young in [5e4, 5e5] {
        for (at, seconds) in [(Vec3::new(0.004, 0.35, 0.003), 1.0), (Vec3::new(0.105, 0.18, 0.003), 0.8)] {
            for (dt, tolerance) in [(1.0 / 60.0, 1e-3), (1.0 / 60.0, 1e-5), (1.0 / 240.0, 1e-5)] {
                let boxes = vec![
                    tet_box("lower", 2, [0.2, 0.1, 0.2], Vec3::new(0.0, 0.051, 0.0), young),
                    tet_box("upper", 2, [0.1; 3], at, young),
                ];
                let lost = assert_energy_never_rises(world(boxes, ground()), tolerance, (dt, seconds), 1e-10);
                assert!(lost > 0.0, "{lost}");
            }
        }
    }
}

/// Two boxes that meet in space, one corner ahead: energy does not rise, and momentum stays what it was to the tolerance of the steps, a hundred-thousandth of the force of the impact.
#[test]
fn energy_never_rises_in_space_and_momentum_stays() {
    let mut boxes = vec![
        tet_box("still", 2, [0.1; 3], Vec3::zeros(), 1e5),
        tet_box("flying", 2, [0.1; 3], Vec3::new(0.06, 0.13, 0.05), 1e5),
    ];
    boxes[1].velocity = Vec3::new(-0.3, -2.0, -0.2);
    let mut desc = world(boxes, Vec::new());
    desc.gravity = Vec3::zeros();
    desc.contact.friction = 0.0;
    let model = Model::build(&desc).expect("sound");
    let momentum = State::at_rest(&model).momentum(&model);
    let lost = assert_energy_never_rises(desc.clone(), 1e-5, (1.0 / 120.0, 0.3), 1e-10);
    assert!(lost > 0.0, "{lost}");
    let settings = ImplicitSettings { contact: BARRIER.contact, ..ImplicitSettings::ACCURATE };
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    let mut state = State::at_rest(&model);
    for step in 0..36 {
        stepper.step(&model, &still(&model)(step), 1.0 / 120.0, &mut state).expect("holds");
    }
    let drift = (state.momentum(&model) - momentum).norm();
    assert!(drift < 1e-4 * momentum.norm(), "{drift} of {}", momentum.norm());
}
