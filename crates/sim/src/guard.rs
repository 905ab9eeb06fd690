//! Notices a step that blew up.
//!
//! Elastic energy is never negative, so free nodes cannot move with more kinetic energy than was ever supplied: what the world started
//! with, plus the work of pins, plus what gravity and loads have given since. Symplectic Euler lets the energy swing about
//! its true value, by less than a factor of two below the limit of its stability; more is divergence. So are numbers that are none.

use crate::{Model, State};

/// Kinetic energy above this many times the supply is divergence.
const SWING: f64 = 2.0;

/// Below this share of the speed that crosses an element in a step, motion is round-off and not judged.
const ROUND_OFF: f64 = 1e-4;

/// The kinetic energy that a state has and the most that it can have come by honestly (J).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) kinetic: f64,
    pub(crate) limit: f64,
}

impl Verdict {
    pub(crate) fn of(model: &Model, state: &State) -> Verdict {
        let available = state.supplied_energy - state.potential_energy(model);
        Verdict {
            kinetic: state.kinetic_energy(model),
            limit: SWING * available.max(0.0) + round_off_energy(model),
        }
    }

    /// Whether the state is to be kept. Numbers that are none fail every comparison.
    pub(crate) fn is_sound(&self) -> bool {
        self.kinetic <= self.limit
    }
}

/// The kinetic energy of all nodes at a ten-thousandth of the wave speed, taken as highest frequency times body size over the cube root of
/// the node count.
fn round_off_energy(model: &Model) -> f64 {
    let mass: f64 = model.node_mass.iter().sum();
    let volume: f64 = model.bodies.iter().map(|body| body.volume).sum();
    let spacing = sinew_math::real::cbrt(volume / model.node_count().max(1) as f64);
    let speed = ROUND_OFF * spacing * model.stable_step.omega;
    0.5 * mass * speed * speed
}

/// The free node that moves fastest, or the first whose position or velocity is no number.
pub(crate) fn worst_node(state: &State) -> usize {
    let speed = |node: usize| {
        let v = state.node_v[node].norm_squared() + 0.0 * state.node_x[node].norm_squared();
        if v.is_nan() { f64::INFINITY } else { v }
    };
    (0..state.node_v.len()).fold(0, |worst, node| if speed(node) > speed(worst) { node } else { worst })
}
