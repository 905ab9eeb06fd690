//! Flesh that is struck harder than its elasticity can bear: elements lock before they pass through themselves.

use super::bodies::loose;
use super::coupling::{FRAME, Worm};
use sinew::math::Isometry;
use sinew::prelude::*;
use sinew::sim::desc::{ContactDesc, ObstacleDesc, Shape};

/// Flesh of 10 kPa that moves at 6 m/s against limp bones at rest: ρ v² is 3.6 times its modulus. Locked elements push on nodes and bones by impulses that sum to zero with their moments: momentum stays to
/// the round-off of some 10⁶ sums, angular momentum to that of single-precision torques (as for the floating worm in `coupling`, with forces a hundred times larger), and no energy is gained.
#[test]
fn flesh_thrown_against_its_bones_conserves_momentum() {
    // flesh that collides with itself is limited in worlds with contact: a ground that it never reaches
    let far = Isometry::translation(0.0, -50.0, 0.0);
    let ground = ObstacleDesc::fixed("ground", Shape::Plane { normal: Vec3::y() }, far);
    let mut world = WorldDesc { obstacles: vec![ground], ..Worm::default().world() };
    world.contact.self_contact = world.bodies.iter().map(|body| body.name.clone()).collect();
    let model = Model::build(&world).expect("a sound world");
    let mut state = State::at_rest(&model);
    state.node_v.iter_mut().for_each(|v| *v = Vec3::new(0.5, 6.0, -2.0));
    state.restart(&model);
    let start = (state.momentum(&model), state.angular_momentum(&model));
    let energy = |state: &State| {
        let energies = state.energies(&model);
        energies.kinetic + energies.elastic
    };
    let before = energy(&state);
    let (mut stepper, mut most) = (Stepper::default(), 0);
    for _ in 0..30 {
        let report = stepper.step(&model, &Control::default(), FRAME, &mut state).expect("holds");
        assert_eq!(report.retries, 0);
        most = most.max(report.max_inverted);
        assert!(energy(&state) <= before * (1.0 + 1e-9), "{} J of {before} J", energy(&state));
    }
    let size = start.0.norm();
    assert!((state.momentum(&model) - start.0).norm() < 1e-11 * size);
    assert!((state.angular_momentum(&model) - start.1).norm() < 1e-6 * size);
    assert!(most * 50 <= model.elements().count(), "{most} of {} inverted", model.elements().count());
}

/// A cube of jelly of 5 kPa that hits the ground at 4 m/s, with ρ v² three times its modulus, keeps its elements upright but for a few at its edges, and bounces no higher than it fell.
#[test]
fn jelly_locks_before_it_is_turned_inside_out() {
    let mesh = sinew::mesh::shapes::beam(6, [0.2, 0.2, 0.2]);
    let velocity = Vec3::new(0.0, -4.0, 0.0);
    let body = BodyDesc { velocity, ..loose(mesh, Material::soft_solid(5e3, 0.4, 1000.0, 0.05)) };
    let up = Shape::Plane { normal: Vec3::y() };
    let contact = ContactDesc { self_contact: vec![body.name.clone()], ..ContactDesc::default() };
    let world = WorldDesc {
        contact,
        gravity: Vec3::new(0.0, -9.81, 0.0),
        bodies: vec![body],
        obstacles: vec![ObstacleDesc::fixed("ground", up, Isometry::translation(0.0, -0.12, 0.0))],
        ..WorldDesc::default()
    };
    let model = Model::build(&world).expect("a sound world");
    let mut state = State::at_rest(&model);
    let (mut stepper, mut most) = (Stepper::default(), 0);
    for _ in 0..30 {
        let report = stepper.step(&model, &Control::default(), FRAME, &mut state).expect("holds");
        assert_eq!(report.retries, 0);
        most = most.max(report.max_inverted);
    }
    assert!(most * 100 <= model.elements().count(), "{most} of {} inverted", model.elements().count());
    let fastest = state.node_v.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(fastest < 4.0, "{fastest} m/s");
}
