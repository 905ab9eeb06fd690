//! Divergence detection by energy.
//!
//! Elastic energy, including that of joint springs, is never negative, so the kinetic energy of free nodes and bones cannot exceed the energy supplied: the initial energy,
//! plus the work of pins, loads, joints and gravity. Symplectic Euler lets the kinetic energy of a mode of frequency ω oscillate
//! up to 1/(1 − (hω/2)²) times its true value: less than a factor of two for the frequencies at rest, whose hω/2 stays below 0.9/√2. A larger value means divergence, and
//! so do non-finite values.
//!
//! The check is global and ignores dissipated energy, so it is less sensitive for small bodies beside large ones and for bodies that were driven for
//! a long time.
//!
//! Bones drive flesh with a home by forces whose work is known to first order only. Such flesh cannot leave its limit, so it is granted the kinetic energy of moving with its
//! home and swinging there, and worlds with homes start a new account after every step.

use crate::coupling::{BoneCoupling, HomePose};
use crate::{Model, State, contact, custom_bodies};

/// Kinetic energy above this multiple of the supplied energy means divergence.
const SWING: f64 = 2.0;

/// Velocities below this fraction of an element size per step are round-off and are not checked.
const ROUND_OFF: f64 = 1e-4;

/// The kinetic energy of a state and its upper bound (J).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EnergyCheck {
    kinetic: f64,
    limit: f64,
}

impl EnergyCheck {
    /// Computes both for a state whose bones are up to date in `coupling` and whose homes are in `homes`.
    pub(crate) fn of(model: &Model, coupling: &BoneCoupling, homes: &HomePose, state: &State) -> EnergyCheck {
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
        let limit = SWING * available + round_off_energy(model) + homes.kinetic_allowance(model);
        EnergyCheck { kinetic, limit }
    }

    /// Whether the state is accepted. NaN fails every comparison.
    pub(crate) fn is_sound(&self) -> bool {
        self.kinetic <= self.limit && self.limit.is_finite()
    }
}

/// Kinetic energy of all nodes at a ten-thousandth of the wave speed, estimated as the highest frequency times the body size over the cube root of
/// the node count.
fn round_off_energy(model: &Model) -> f64 {
    let mass: f64 = model.node_mass().iter().sum();
    let volume: f64 = model.bodies().iter().map(|body| body.volume).sum();
    let spacing = sinew_math::real::cbrt(volume / model.node_count().max(1) as f64);
    let speed = ROUND_OFF * spacing * model.stable_step().omega;
    0.5 * mass * speed * speed
}

/// The free node with the highest speed, or one with a non-finite position or velocity.
pub(crate) fn worst_node(model: &Model, state: &State) -> usize {
    let speed = |node: usize| {
        let v = state.node_v[node].norm_squared() + 0.0 * state.node_x[node].norm_squared();
        if v.is_nan() { f64::INFINITY } else { v }
    };
    let moves = |node: &usize| model.node_inverse_mass()[*node] > 0.0 || model.is_reduced(*node);
    let free = (0..model.node_count()).filter(moves);
    free.max_by(|&a, &b| speed(a).total_cmp(&speed(b))).unwrap_or(0)
}
