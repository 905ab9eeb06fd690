//! Gravity compensation: flesh keeps its drawn shape under its own weight, by balancing forces or by a stressed rest shape.

use super::coupling::{FRAME, Worm, play, wriggle};
use sinew::math::{Isometry, Rotation};
use sinew::prelude::*;

const GRAVITY: f64 = 9.81;

fn balanced(worm: &Worm) -> Model {
    with(worm, Sag::Balanced)
}

fn with(worm: &Worm, sag: Sag) -> Model {
    let mut world = worm.world();
    world.bodies.iter_mut().for_each(|body| body.sag = sag);
    Model::build(&world).expect("a sound world")
}

/// Simulates flesh for a number of frames with the bones fixed, rotated about z by `angle` (rad); returns the node positions in the bones' rest frame.
fn settled(model: &Model, angle: f64, frames: usize) -> Vec<Vec3> {
    let turn = Isometry::from_parts(Vec3::zeros().into(), Rotation::from_axis_angle(&Vec3::z_axis(), angle));
    let mut state = State::at_rest(model);
    state.node_x.iter_mut().for_each(|x| *x = turn.rotation * *x);
    state.rigs[0].set_chart_of(&model.rigs()[0].skeleton, BoneId(0), &[0.0, 0.0, 0.0, 0.0, 0.0, angle]);
    state.restart(model);
    let mut control = Control::still(model);
    control.rigs[0] = RigControl::hold(&model.rigs()[0]);
    control.rigs[0].from = state.rigs[0].clone();
    control.rigs[0].to = state.rigs[0].clone();
    let mut stepper = Stepper::default();
    for _ in 0..frames {
        stepper.step(model, &control, FRAME, &mut state).expect("holds");
    }
    state.node_x.iter().map(|x| turn.rotation.inverse() * x).collect()
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Weight and balancing forces cancel to double round-off: after a second the nodes have not moved.
#[test]
fn balanced_flesh_does_not_sag() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, ..Worm::default() };
    let still = farthest(&settled(&balanced(&worm), 0.0, 60), worm.model().node_rest());
    assert!(still < 1e-12, "{still:e}");
    let sags = farthest(&settled(&worm.model(), 0.0, 60), worm.model().node_rest());
    assert!(sags > 1e-3, "{sags}");
}

/// Upside down, weight and balancing forces have the same direction: it sags like unbalanced flesh under twice the weight. Both settle in a second and a half at
/// 0.2 of critical damping; remaining motion and single precision are far below a hundredth of the sag.
#[test]
fn balanced_flesh_upside_down_sags_as_under_twice_its_weight() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, damping: 0.5, ..Worm::default() };
    let turned = settled(&balanced(&worm), core::f64::consts::PI, 150);
    let twice = Worm { gravity: Vec3::y() * 2.0 * GRAVITY, damping: 0.5, ..Worm::default() };
    let twice = settled(&twice.model(), 0.0, 150);
    let rest = worm.model();
    let (gap, sag) = (farthest(&turned, &twice), farthest(&twice, rest.node_rest()));
    assert!(sag > 2e-3 && gap < 0.01 * sag, "{gap} of {sag}");
}

/// The bones carry the reaction of the balancing forces: the whole falls with g and keeps its angular momentum. The tolerances are those of the floating worm in `coupling`.
#[test]
fn balanced_character_is_in_free_fall() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, ..Worm::default() };
    for sag in [Sag::Balanced, Sag::RestShape] {
        let model = with(&worm, sag);
        let mut state = State::at_rest(&model);
        play(&model, &mut state, 60, wriggle);
        let fallen = state.momentum(&model) - model.mass() * model.gravity() * state.time;
        assert!(fallen.norm() < 1e-10, "{sag:?}: {:e}", fallen.norm());
    }
}

/// The balancing force m R c rotates with the bone and has a potential: without damping, the energy equals the work of the joints, within the error of symplectic
/// steps, as without balance.
#[test]
fn energy_with_balancing_forces_equals_the_work_of_joints() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, damping: 0.0, ..Worm::default() };
    for sag in [Sag::Balanced, Sag::RestShape] {
        let model = with(&worm, sag);
        let mut state = State::at_rest(&model);
        play(&model, &mut state, 60, wriggle);
        let energies = state.energies(&model);
        let all = energies.kinetic + energies.elastic + energies.potential;
        assert!(energies.kinetic > 1.0, "{energies:?}");
        let error = (all - state.supplied_energy).abs();
        assert!(error < 0.03 * energies.kinetic, "{sag:?}: {all} {}", state.supplied_energy);
    }
}

/// With a rest shape, stress carries the weight, in explicit steps too. Forces come from strains in single precision, 6e-8 each, and the search for the rest shape stops at 1e-5 of the sag of some
/// millimetres: a micrometre covers both.
#[test]
fn flesh_with_a_rest_shape_does_not_sag() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, damping: 0.5, ..Worm::default() };
    let model = with(&worm, Sag::RestShape);
    let off = farthest(&settled(&model, 0.0, 60), model.node_rest());
    assert!(off < 1e-6, "{off:e}");
    let energy = model.elements().energy(model.node_rest());
    assert!(energy > 1e-6, "the drawn shape has stress: {energy:e} J");
}

/// With a rest shape, flesh has its true weight in any orientation: upside down it sags by one weight from the rest shape, balanced flesh by two weights from the drawn shape. At strains of some
/// percent both reach the same place up to that fraction.
#[test]
fn rest_shape_upside_down_sags_like_balanced_flesh_to_first_order() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, damping: 0.5, ..Worm::default() };
    let shaped = settled(&with(&worm, Sag::RestShape), core::f64::consts::PI, 150);
    let balanced = settled(&balanced(&worm), core::f64::consts::PI, 150);
    let sag = farthest(&shaped, worm.model().node_rest());
    let gap = farthest(&shaped, &balanced);
    assert!(sag > 2e-3 && gap < 0.2 * sag, "{gap} of {sag}");
    assert!(gap > 1e-3 * sag, "they are not the same flesh: {gap} of {sag}");
}
