//! Notices a step that blew up.
//!
//! Elastic energy, that of joint springs included, is never negative, so free nodes and bones cannot move with more kinetic energy than was ever supplied: what the world started
//! with, plus the work of pins, loads and joints, plus what gravity has given since. Symplectic Euler lets the kinetic energy of a mode of frequency ω swing
//! up to 1/(1 − (hω/2)²) of its true value: below a factor of two for the frequencies at rest, whose hω/2 stays under 0.9/√2. More is divergence, and
//! so are non-finite numbers.
//!
//! The whole world is judged at once and what damping took is not counted, so small bodies beside large ones and bodies long shaken are watched
//! less closely.

use crate::coupling::BoneCoupling;
use crate::{Model, State, contact, custom_bodies};

/// Kinetic energy above this many times the supply is divergence.
const SWING: f64 = 2.0;

/// Below this fraction of the speed that crosses an element in a step, motion is round-off and not judged.
const ROUND_OFF: f64 = 1e-4;

/// The kinetic energy that a state has and the most that it can have come by honestly (J).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EnergyCheck {
    kinetic: f64,
    limit: f64,
}

impl EnergyCheck {
    /// Of a state whose bones move as `coupling` knows.
    pub(crate) fn of(model: &Model, coupling: &BoneCoupling, state: &State) -> EnergyCheck {
        let bones = coupling.energies(model, state);
        let obstacles = contact::energies(model, state);
        let coordinates = custom_bodies::energies(model, state);
        let potential = state.node_potential_energy(model)
            + bones.potential
            + obstacles.potential
            + coordinates.potential;
        let available = state.supplied_energy - potential;
        let available = if available < 0.0 { 0.0 } else { available };
        let kinetic =
            state.node_kinetic_energy(model) + bones.kinetic + obstacles.kinetic + coordinates.kinetic;
        EnergyCheck { kinetic, limit: SWING * available + round_off_energy(model) }
    }

    /// Whether the state is to be kept. NaN fails every comparison.
    pub(crate) fn is_sound(&self) -> bool {
        self.kinetic <= self.limit && self.limit.is_finite()
    }
}

/// The kinetic energy of all nodes at a ten-thousandth of the wave speed, taken as highest frequency times body size over the cube root of
/// the node count.
fn round_off_energy(model: &Model) -> f64 {
    let mass: f64 = model.node_mass().iter().sum();
    let volume: f64 = model.bodies().iter().map(|body| body.volume).sum();
    let spacing = sinew_math::real::cbrt(volume / model.node_count().max(1) as f64);
    let speed = ROUND_OFF * spacing * model.stable_step().omega;
    0.5 * mass * speed * speed
}

/// The free node that moves fastest, or one whose position or velocity is not finite.
pub(crate) fn worst_node(model: &Model, state: &State) -> usize {
    let speed = |node: usize| {
        let v = state.node_v[node].norm_squared() + 0.0 * state.node_x[node].norm_squared();
        if v.is_nan() { f64::INFINITY } else { v }
    };
    let moves = |node: &usize| model.node_inverse_mass()[*node] > 0.0 || model.is_reduced(*node);
    let free = (0..model.node_count()).filter(moves);
    free.max_by(|&a, &b| speed(a).total_cmp(&speed(b))).unwrap_or(0)
}
