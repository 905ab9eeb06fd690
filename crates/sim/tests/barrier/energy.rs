//! Energy of undamped bodies between barriers.

use super::bodies::{BARRIER, intersections, still, tet_box, world};
use sinew_math::Vec3;
use sinew_sim::desc::ObstacleDesc;
use sinew_sim::{ImplicitSettings, Model, Solver, State, Stepper};

/// Backward Euler never raises the sum of kinetic, elastic, gravitational and barrier energy of undamped bodies without friction while they rebound; the barrier's share is in `supplied_energy`. (Where the potential is concave, as for a box that tips
/// over an edge, it does so by itself: 5e-4 J of 15 in a step.)
/// Solves leave a gradient of 1e-5 of the inertial force m v/h of bodies that a contact stops, which does the work 1e-5 m v² over the way v h of a step: 2e-5 of the energy of the fall.
#[test]
fn energy_never_rises() {
    let boxes = vec![
        tet_box("lower", 2, [0.2, 0.1, 0.2], Vec3::new(0.0, 0.051, 0.0), 5e4),
        tet_box("upper", 2, [0.1; 3], Vec3::new(0.004, 0.35, 0.003), 5e4),
    ];
    let mut world = world(boxes, vec![ObstacleDesc { friction: Some(0.0), ..ObstacleDesc::ground(0.0) }]);
    world.contact.friction = 0.0;
    let model = Model::build(&world).expect("sound");
    let settings = ImplicitSettings { contact: BARRIER.contact, ..ImplicitSettings::ACCURATE };
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    let mut state = State::at_rest(&model);
    let scale = model.mass() * 9.81 * 0.3;
    let mut before = f64::INFINITY;
    for step in 0..60 {
        stepper.step(&model, &still(&model)(step), 1.0 / 60.0, &mut state).expect("holds");
        assert_eq!(intersections(&model, &state), 0);
        let now = state.supplied_energy;
        assert!(now <= before + 2e-5 * scale, "step {step}: {before} to {now} J of {scale}");
        before = now;
    }
}
