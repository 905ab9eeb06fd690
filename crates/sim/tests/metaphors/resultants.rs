//! Forces and torques of metaphors have no resultant, and several of them add up.

use crate::bodies::{cloth, cylinder, ear, model_with, on_all, on_ear, raise, springs, world};
use sinew_math::Vec3;
use sinew_sim::desc::{MetaphorDesc, MetaphorKind};
use sinew_sim::{Control, ImplicitSettings, Model, Solver, State, WorldDesc, metaphor_forces};

/// Σ f and Σ (x − x̄) × f, relative to Σ |f| and to that times the size.
fn resultant(model: &Model, state: &State, forces: &[Vec3]) -> [f64; 2] {
    let center = state.node_x.iter().sum::<Vec3>() / state.node_x.len() as f64;
    let size = state.node_x.iter().map(|x| (x - center).norm()).fold(0.0, f64::max);
    let total: f64 = forces.iter().map(|force| force.norm()).sum();
    assert!(total > 0.0, "{} does nothing", model.metaphors()[0].name);
    let torque: Vec3 = state.node_x.iter().zip(forces).map(|(x, force)| (x - center).cross(force)).sum();
    [forces.iter().sum::<Vec3>().norm() / total, torque.norm() / (total * size)]
}

fn act(model: &Model) -> Control {
    Control { metaphors: vec![[1.0; 2]; model.metaphors().len()], ..Control::still(model) }
}

const KINDS: [MetaphorKind; 4] =
    [MetaphorKind::Stretch, MetaphorKind::Bend, MetaphorKind::Twist, MetaphorKind::Push];

/// On every kind of body, at rest and deformed. Each of some thousand terms is rounded at 1e-16 of its size, and the removal divides by moments of inertia that differ by at most a hundred: 1e-12 bounds their sum.
#[test]
fn sums_of_forces_and_torques_vanish() {
    let bodies = [("cylinder", cylinder()), ("ear", ear()), ("cloth", cloth()), ("springs", springs())];
    for (name, body) in bodies {
        for kind in KINDS {
            let desc = if name == "ear" { on_ear(kind) } else { on_all(kind) };
            let model = model_with(body.clone(), desc);
            let (_, state) = raise(&model, Solver::Explicit, 1.0, 10);
            for state in [State::at_rest(&model), state] {
                let found = resultant(&model, &state, &metaphor_forces(&model, &act(&model), &state));
                assert!(found.iter().all(|own| *own < 1e-12), "{name} {kind:?}: {found:?}");
            }
        }
    }
}

/// A free body keeps its momentum and its angular momentum through explicit steps, relative to what one side alone would have received: forces of elements are equal and opposite to the bit, and their torques to the 6e-8 of single precision.
#[test]
fn a_free_body_is_not_set_in_motion() {
    for kind in KINDS {
        let model = model_with(ear(), on_ear(kind));
        let (_, state) = raise(&model, Solver::Explicit, 1.0, 30);
        let metaphor = &model.metaphors()[0];
        let lever = if kind == MetaphorKind::Twist { 1.0 } else { 0.1 };
        let given = metaphor.unit * 0.25;
        let (linear, angular) = (state.momentum(&model).norm(), state.angular_momentum(&model).norm());
        assert!(linear < 1e-12 * given && angular < 1e-6 * given * lever, "{kind:?}");
    }
}

/// Implicit steps take forces as constant where nodes are going to be: momentum stays to the tolerance of the solver, 1e-3, and angular momentum to 1 % of what one set alone would have received (0.13 % is the largest seen).
#[test]
fn implicit_steps_hardly_turn_a_free_body() {
    for kind in KINDS {
        let model = model_with(ear(), on_ear(kind));
        let (_, state) = raise(&model, Solver::Implicit(ImplicitSettings::default()), 1.0, 30);
        let metaphor = &model.metaphors()[0];
        let lever = if kind == MetaphorKind::Twist { 1.0 } else { 0.1 };
        let given = metaphor.unit * 0.25;
        let (linear, angular) = (state.momentum(&model).norm(), state.angular_momentum(&model).norm());
        assert!(linear < 1e-3 * given / lever && angular < 0.01 * given * lever, "{kind:?}");
    }
}

/// A push that may leave a net force gives the body its impulse ∫ F dt. Its magnitude is taken at the end of each sub-step, which of those 90 adds 1/90 at most, and its direction turns with the body by a few degrees.
#[test]
fn a_push_with_net_force_moves_the_body_away() {
    let desc = MetaphorDesc { leaves_net: true, ..on_all(MetaphorKind::Push) };
    let model = model_with(cylinder(), desc);
    let (_, state) = raise(&model, Solver::Explicit, 1.0, 6);
    let impulse = 0.5 * model.metaphors()[0].unit * 0.1;
    let momentum = state.momentum(&model);
    assert!((-momentum.x / impulse - 1.0).abs() < 0.03, "{momentum:?} {impulse}");
}

/// The force of compound metaphors on a node is the sum of those of each.                      \[Transue2014, eq. 4.1\]
#[test]
fn compound_metaphors_add_up() {
    let descs: Vec<MetaphorDesc> =
        KINDS.iter().map(|kind| MetaphorDesc { name: kind.name().into(), ..on_ear(*kind) }).collect();
    let model = Model::build(&WorldDesc { metaphors: descs.clone(), ..world(ear()) }).expect("a sound world");
    let (_, state) = raise(&model, Solver::Explicit, 0.5, 10);
    let magnitudes = [0.7, -1.2, 1.0, 0.4];
    let asked =
        |of: &[f64]| Control { metaphors: of.iter().map(|m| [*m; 2]).collect(), ..Control::default() };
    let together = metaphor_forces(&model, &asked(&magnitudes), &state);
    let mut sum = vec![Vec3::zeros(); model.node_count()];
    for i in 0..magnitudes.len() {
        let mut alone = [0.0; 4];
        alone[i] = magnitudes[i];
        let forces = metaphor_forces(&model, &asked(&alone), &state);
        sum.iter_mut().zip(forces).for_each(|(sum, force)| *sum += force);
    }
    let largest = sum.iter().map(|f| f.norm()).fold(0.0, f64::max);
    for (a, b) in together.iter().zip(&sum) {
        assert!((a - b).norm() <= 1e-14 * largest);
    }
}
