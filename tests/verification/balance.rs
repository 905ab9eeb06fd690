//! Flesh whose shape at rest is what it looks like under its own weight.

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

/// Holds the bones for so many frames, turned about z, until flesh is at rest against them; where each node is, as its bone's frame was at rest sees it.
fn settled(model: &Model, angle: f64, frames: usize) -> Vec<Vec3> {
    let turn = Isometry::from_parts(Vec3::zeros().into(), Rotation::from_axis_angle(&Vec3::z_axis(), angle));
    let mut state = State::at_rest(model);
    state.node_x.iter_mut().for_each(|x| *x = turn.rotation * *x);
    state.rigs[0].set_chart_of(&model.rigs[0].skeleton, BoneId(0), &[0.0, 0.0, 0.0, 0.0, 0.0, angle]);
    state.restart(model);
    let mut control = Control::still(model);
    control.rigs[0] = RigControl::hold(&model.rigs[0]);
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

/// Weight and what balances it cancel to round-off of doubles, g itself being 1e-15 of it: after a second the nodes are where they were.
#[test]
fn it_does_not_sag_from_there() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, ..Worm::default() };
    let still = farthest(&settled(&balanced(&worm), 0.0, 60), &worm.model().node_rest);
    assert!(still < 1e-12, "{still:e}");
    let sags = farthest(&settled(&worm.model(), 0.0, 60), &worm.model().node_rest);
    assert!(sags > 1e-3, "{sags}");
}

/// Upside down its weight and what balanced it pull the same way: it hangs as flesh without balance does under twice the weight. Both settle in a second and a half
/// at 0.2 of critical damping; what is left and single precision are far below a hundredth of the sag.
#[test]
fn upside_down_it_sags_as_under_twice_its_weight() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, damping: 0.5, ..Worm::default() };
    let turned = settled(&balanced(&worm), core::f64::consts::PI, 150);
    let twice = Worm { gravity: Vec3::y() * 2.0 * GRAVITY, damping: 0.5, ..Worm::default() };
    let twice = settled(&twice.model(), 0.0, 150);
    let rest = worm.model().node_rest;
    let (gap, sag) = (farthest(&turned, &twice), farthest(&twice, &rest));
    assert!(sag > 2e-3 && gap < 0.01 * sag, "{gap} of {sag}");
}

/// What balances flesh is borne by bones: the whole falls as it would without, and does not turn by itself. The bounds are those of a floating worm.
#[test]
fn the_whole_falls_as_anything_does() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, ..Worm::default() };
    for sag in [Sag::Balanced, Sag::RestShape] {
        let model = with(&worm, sag);
        let mut state = State::at_rest(&model);
        play(&model, &mut state, 60, wriggle);
        let fallen = state.momentum(&model) - model.mass() * model.gravity * state.time;
        assert!(fallen.norm() < 1e-10, "{sag:?}: {:e}", fallen.norm());
    }
}

/// The force m R c turns with the bone and has a potential: without damping, what joints put in is what is there. As without balance, within the error of
/// symplectic steps.
#[test]
fn its_energy_is_accounted_for() {
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

/// Stress carries the weight in explicit steps too. Their forces come from strains in single precision, 6e-8 each, and the rest shape from a search that ends at 1e-5 of the sag of some millimetres:
/// a micrometre has room for both.
#[test]
fn a_rest_shape_does_not_sag_either() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, damping: 0.5, ..Worm::default() };
    let model = with(&worm, Sag::RestShape);
    let off = farthest(&settled(&model, 0.0, 60), &model.node_rest);
    assert!(off < 1e-6, "{off:e}");
    let energy = model.elements.energy(&model.node_rest);
    assert!(energy > 1e-6, "the drawn shape has stress: {energy:e} J");
}

/// Turned by any angle and back flesh feels its true weight: upside down it hangs by once its weight from the rest shape, where balance makes that twice from the drawn one. At the strains
/// here, some hundredths, both come to the same place but for that fraction of the way: the sag goes from one weight up to one weight down.
#[test]
fn a_rest_shape_upside_down_hangs_as_balanced_flesh_does_to_first_order() {
    let worm = Worm { gravity: -Vec3::y() * GRAVITY, damping: 0.5, ..Worm::default() };
    let shaped = settled(&with(&worm, Sag::RestShape), core::f64::consts::PI, 150);
    let balanced = settled(&balanced(&worm), core::f64::consts::PI, 150);
    let sag = farthest(&shaped, &worm.model().node_rest);
    let gap = farthest(&shaped, &balanced);
    assert!(sag > 2e-3 && gap < 0.2 * sag, "{gap} of {sag}");
    assert!(gap > 1e-3 * sag, "they are not the same flesh: {gap} of {sag}");
}
