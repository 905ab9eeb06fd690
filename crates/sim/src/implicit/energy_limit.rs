//! Limits the energy at the end of a step with barriers to that at its beginning.
//!
//! At the minimum of the incremental potential M Δv/h = −∇E(x′), so that the total energy changes by
//!
//! ```text
//! ΔE = E(x′) − E(x) − ∇E(x′) · (x′ − x) − ½ |Δv|²_M
//! ```
//!
//! which is not positive if E is convex. The barrier of a point in front of an edge or a corner is not: across the direction of the distance d its Hessian is b′(d)/d < 0. A box that slips off an edge gained 1e-5 of its energy
//! in a step, with whatever tolerance the step was solved. Such a gain is taken from the velocities of the bodies in contact, relative to their common mean, so that their momentum stays; to the world if they touch an obstacle or are pinned:
//!
//! ```text
//! v ← c + s (v − c),    s² = 1 − ΔE/K,    K = ½ Σ m |v − c|²
//! ```
//!
//! Steps in which anything else does work are left as they are: prescribed motion, loads, constraints, joints, other energies.

use crate::contact::BarrierContact;
use crate::{Model, State};
use sinew_math::Vec3;

/// Whether nothing but gravity, elasticity and contact does work in a model. What is prescribed may do so in addition.
pub(super) fn is_closed(model: &Model) -> bool {
    let is_of_tets = model.bodies().iter().all(|body| !body.tets.is_empty());
    let is_left_alone = model.loads().is_empty()
        && model.constraints().is_empty()
        && model.metaphors().is_empty()
        && model.muscles().is_empty();
    model.rigs().is_empty() && is_left_alone && is_of_tets
}

/// Slows the bodies in contact down until the energy of a state is at most `limit` (J), as far as their motion allows.
pub(super) fn limit_energy(model: &Model, barrier: &BarrierContact, limit: f64, state: &mut State) {
    let excess = state.supplied_energy - limit;
    if excess <= 0.0 || !excess.is_finite() {
        return;
    }

    // the bodies in contact, and the frame that they are slowed down in
    let touching = model.bodies().iter().enumerate().filter(|(i, _)| barrier.touches(*i));
    let nodes: Vec<usize> = touching.flat_map(|(_, body)| body.nodes.clone()).collect();
    let is_free = |node: &usize| model.node_inverse_mass()[*node] > 0.0;
    let is_held = barrier.touches_obstacle() || !nodes.iter().all(is_free);
    let (mut mass, mut momentum) = (0.0, Vec3::zeros());
    for &node in nodes.iter().filter(|node| is_free(node)) {
        mass += model.node_mass()[node];
        momentum += model.node_mass()[node] * state.node_v[node];
    }
    let mean = if is_held || mass == 0.0 { Vec3::zeros() } else { momentum / mass };

    // their velocities in it
    let free = || nodes.iter().copied().filter(is_free);
    let kinetic: f64 =
        free().map(|node| 0.5 * model.node_mass()[node] * (state.node_v[node] - mean).norm_squared()).sum();
    if kinetic > 0.0 {
        let taken = excess.min(kinetic);
        let factor = (1.0 - taken / kinetic).max(0.0).sqrt();
        free().for_each(|node| state.node_v[node] = mean + factor * (state.node_v[node] - mean));
        state.supplied_energy -= taken;
    }
}
