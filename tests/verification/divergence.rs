//! Divergence: a diverging step is repeated with smaller sub-steps; if that fails the state is unchanged.

use super::bodies::{loose, random_vector, world};
use sinew::math::Isometry;
use sinew::mesh::shapes;
use sinew::prelude::*;
use sinew::sim::StepError;

/// A neo-Hookean beam stretched threefold in all directions is some eighty times stiffer than at rest: the first sub-steps are too long.
fn overstretched() -> (Model, State) {
    let material = Material { law: Law::StableNeoHookean, ..Material::soft_solid(5e5, 0.4, 1000.0, 0.05) };
    let model = world(Vec3::zeros(), loose(shapes::beam(2, [0.4, 0.1, 0.1]), material));
    let node_x = model.node_rest().iter().map(|x| 3.0 * x).collect();
    let state = State::from_motion(&model, node_x, vec![Vec3::zeros(); model.node_count()]);
    (model, state)
}

#[test]
fn diverging_step_is_repeated_with_more_substeps_and_the_next_ones_start_with_them() {
    let (model, mut state) = overstretched();
    let mut stepper = Stepper::default();
    let first = stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds at last");
    assert!(first.retries > 0);
    assert_eq!(state.backoff.doublings as usize, first.retries);
    let second = stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
    assert!(second.retries < first.retries);

    // at rest in the end, with the number of sub-steps that suffices there
    let mut last = second;
    for _ in 0..400 {
        last = stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
    }
    assert_eq!((state.backoff.doublings, last.retries), (0, 0));
    assert!(last.substeps < first.substeps);
}

#[test]
fn backoff_is_saved_and_resumed() {
    let (model, mut state) = overstretched();
    let mut stepper = Stepper::default();
    stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds at last");
    let mut resumed = Checkpoint::of(&state).restore(&model).expect("a sound checkpoint");
    assert_eq!(resumed, state);
    for state in [&mut state, &mut resumed] {
        Stepper::default().step(&model, &Control::default(), 1.0 / 60.0, state).expect("holds");
    }
    assert_eq!(resumed.hash(), state.hash());
}

/// Pins that jump a million beam lengths in a step diverge with any number of sub-steps.
#[test]
fn failed_step_leaves_the_state_unchanged_and_names_the_place() {
    let material = Material { law: Law::StableNeoHookean, ..Material::soft_solid(1e4, 0.4, 1000.0, 0.05) };
    let mut body = loose(shapes::beam(2, [0.4, 0.1, 0.1]), material);
    let region = Region::Box { min: Vec3::repeat(-1.0), max: Vec3::new(1e-9, 1.0, 1.0) };
    body.pins.push(PinDesc { region });
    let model = world(Vec3::zeros(), body);
    let mut state = State::at_rest(&model);
    let before = state.hash();
    let control = Control {
        pins: vec![PinPath { from: Isometry::identity(), to: Isometry::translation(4e155, 0.0, 0.0) }],
        ..Control::default()
    };
    let error = Stepper::default().step(&model, &control, 1.0 / 60.0, &mut state).expect_err("diverges");
    assert!(matches!(&error, StepError::Diverged { body, .. } if body == "body"), "{error}");
    assert_eq!(state.hash(), before);
}

#[test]
fn invalid_time_steps_are_rejected() {
    let material = Material::soft_solid(1e30, 0.4, 1000.0, 0.0);
    let model = world(Vec3::zeros(), loose(shapes::beam(1, [0.1, 0.1, 0.1]), material));
    let mut state = State::at_rest(&model);
    let mut step = |dt: f64| Stepper::default().step(&model, &Control::default(), dt, &mut state);
    assert!(matches!(step(1.0 / 60.0), Err(StepError::TooManySubsteps { .. })));
    assert!(matches!(step(f64::NAN), Err(StepError::BadTimeStep(_))));
    assert!(matches!(step(-1.0), Err(StepError::BadTimeStep(_))));
}

/// Scaled and reversed loads do not count as divergence: their work is accounted for.
#[test]
fn energy_check_accounts_for_loads_of_any_scale() {
    let mut body = loose(shapes::beam(2, [0.4, 0.1, 0.1]), Material::soft_solid(5e4, 0.4, 1000.0, 0.0));
    let region = Region::End { direction: Vec3::x(), fraction: 0.1 };
    let force = Vec3::new(0.0, 0.0, 0.5);
    body.loads.push(LoadDesc { region, force });
    let model = world(Vec3::zeros(), body);
    for scales in [[0.0, 0.0], [3.0, 3.0], [-1.0, -1.0], [2.0, -5.0]] {
        let mut state = State::at_rest(&model);
        let mut stepper = Stepper::default();
        for frame in 0..60 {
            let load_forces = vec![Some(scales[frame % 2] * force)];
            let control = Control { load_forces, ..Control::default() };
            let report = stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("no divergence");
            assert_eq!(report.retries, 0, "{scales:?}");
        }
    }
}

/// A rotation a hundred metres from the origin gives the same motion as at the origin; positions there have two digits less.
#[test]
fn rotating_pins_do_not_depend_on_the_distance_from_the_origin() {
    let run = |offset: Vec3| {
        let mut mesh = shapes::beam(2, [0.2, 0.1, 0.1]);
        let mut seed = 5;
        mesh.nodes.iter_mut().for_each(|x| *x += offset + 1e-3 * random_vector(&mut seed));
        let mut body = loose(mesh, Material::soft_solid(2e4, 0.4, 1000.0, 0.05));
        body.pins.push(PinDesc { region: Region::End { direction: -Vec3::x(), fraction: 0.1 } });
        let model = world(Vec3::zeros(), body);
        let spin = Motion::Spin { axis: Vec3::y(), center: offset, rate: 0.5 };
        let mut script = Script { pin_motions: vec![spin], ..Script::default() };
        let (mut state, mut control) = (State::at_rest(&model), Control::default());
        let mut stepper = Stepper::default();
        for _ in 0..30 {
            script.control(&model, &state, 1.0 / 60.0, &mut control);
            stepper.step(&model, &control, 1.0 / 60.0, &mut state).expect("holds");
        }
        state.node_x.iter().map(|x| x - offset).collect::<Vec<_>>()
    };
    let (near, far) = (run(Vec3::zeros()), run(Vec3::new(100.0, 0.0, -50.0)));
    for (a, b) in near.iter().zip(&far) {
        assert!((a - b).norm() < 1e-5, "{}", (a - b).norm());
    }
}
