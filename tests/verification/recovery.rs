//! Recovery from crushed, flat and inverted initial configurations.

use super::bodies::{LAWS, loose, random_vector, world};
use sinew::math::nalgebra::Isometry3;
use sinew::mesh::shapes;
use sinew::prelude::*;

/// The beam of 1,280 tets, lightly damped, pinned at one end so that its rest configuration is unique.
fn held_beam(law: Law) -> Model {
    let material = Material { law, ..Material::soft_solid(5e5, 0.4, 1000.0, 0.15) };
    let mut body = loose(shapes::beam(4, [0.4, 0.1, 0.1]), material);
    let region = Region::Box { min: Vec3::repeat(-1.0), max: Vec3::new(1e-9, 1.0, 1.0) };
    body.pins.push(PinDesc { region });
    world(Vec3::zeros(), body)
}

/// Simulates an initial configuration for four seconds; returns the distance from rest as a fraction of the beam's length, and the number of inverted elements.
fn distance_after(model: &Model, start: impl FnMut(&Vec3) -> Vec3) -> (f64, usize) {
    let node_x = model.node_rest().iter().map(start).collect();
    let mut state = State::from_motion(model, node_x, vec![Vec3::zeros(); model.node_count()]);
    let mut stepper = Stepper::default();
    let mut inverted = 0;
    for _ in 0..240 {
        inverted = stepper
            .step(model, &Control::default(), 1.0 / 60.0, &mut state)
            .expect("a bad start is no divergence")
            .max_inverted;
    }
    let moved = state.node_x.iter().zip(model.node_rest()).map(|(x, rest)| (x - rest).norm());
    (moved.fold(0.0, f64::max) / 0.4, inverted)
}

#[test]
fn flattened_beam_recovers() {
    for law in LAWS {
        let model = held_beam(law);
        let (distance, inverted) = distance_after(&model, |x| Vec3::new(x.x, x.y, 0.0));
        assert!(distance < 0.01 && inverted == 0, "{law:?}: {distance} {inverted}");
    }
}

/// Every node is displaced by up to eight cells.
#[test]
fn scrambled_beam_untangles() {
    for law in LAWS {
        let model = held_beam(law);
        let mut seed = 3;
        let (distance, inverted) = distance_after(&model, |x| x + 0.2 * random_vector(&mut seed));
        assert!(distance < 0.01 && inverted == 0, "{law:?}: {distance} {inverted}");
    }
}

/// A free flattened body recovers too, at any place and orientation: all its stretches return to 1.
#[test]
fn free_flattened_body_recovers_its_shape() {
    for law in LAWS {
        let material = Material { law, ..Material::soft_solid(1e5, 0.4, 1000.0, 0.2) };
        let model = world(Vec3::zeros(), loose(shapes::beam(2, [0.2, 0.1, 0.1]), material));
        let lay = Isometry3::rotation(Vec3::new(0.3, 0.2, 0.9));
        let node_x = model.node_rest().iter().map(|x| lay.rotation * Vec3::new(x.x, x.y, 0.0)).collect();
        let mut state = State::from_motion(&model, node_x, vec![Vec3::zeros(); model.node_count()]);
        let mut stepper = Stepper::default();
        for _ in 0..300 {
            stepper.step(&model, &Control::default(), 1.0 / 60.0, &mut state).expect("holds");
        }
        let energy = state.energies(&model).elastic;
        let stored_by_a_strain_of_one_percent = 0.5 * 1e5 * 1e-4 * model.bodies()[0].volume;
        assert!(energy < stored_by_a_strain_of_one_percent, "{law:?}: {energy}");
    }
}
