//! Flesh that is struck or squeezed harder than its elasticity bears: inelastic stops of elements at the limit of compression, and of surfaces deep in each other or in fixed obstacles
//! ([`sinew_flesh::CompressionLimit`]).

use super::Explicit;
use crate::contact::Contacts;
use crate::{Control, Model, State};

/// Squeezed flesh is stopped by fixed obstacles at this depth, as a fraction of the distance of surface vertices; above it springs do.
const STOP_DEPTH: f64 = 0.25;

impl Explicit {
    /// Finds elements near the limit of compression, flesh that is deep in other flesh, and, if any is, flesh that is deep in a fixed obstacle, of bodies that collide with themselves: an inverted element has passed through
    /// itself. Elements of flesh with a home deform about it, which has limits of its own; its surface is stopped like any other, and its homes pass that on to the bones.
    pub(super) fn find_squeezed(&mut self, model: &Model, control: &Control, state: &State) {
        let lockable = model.lockable_nodes();
        let is_own = |node: usize| lockable[node];
        let Explicit { compression, corner_forces, contacts, .. } = self;
        // worlds in which nothing is limited need no memory for it
        let stops = model.elements().count() + model.contact_surface().count();
        compression.begin(lockable.len(), if lockable.is_empty() { 0 } else { stops });
        if lockable.is_empty() || !Contacts::can_collide_in(model, control) {
            return;
        }
        let has_no_home = |node: usize| is_own(node) && !model.homes().holds(node);
        compression.add_elements(model.elements(), corner_forces, &state.node_x, has_no_home);
        let surface = model.contact_surface();
        for (points, direction) in contacts.deep_pairs() {
            let row =
                |(point, weight): (u32, f64)| surface.row(point as usize).map(move |(n, w)| (n, w * weight));
            let carriers = || points.into_iter().flat_map(row);
            if carriers().all(|(node, _)| is_own(node)) {
                compression.add_stop(carriers(), &direction);
            }
        }
        if compression.is_empty() {
            return;
        }
        for (point, out) in contacts.deep_in_fixed(model, STOP_DEPTH * surface.spacing) {
            if surface.row(point).all(|(node, _)| is_own(node)) {
                compression.add_stop(surface.row(point), &out);
            }
        }
    }

    /// Keeps elements from being squeezed below the limit of compression. Nodes that are fixed to bones are taken as free ones of their own mass: as parts of a bone they move less under the same impulses, which bones
    /// feel when they move, so that no energy is gained however light the bone. What elements that turn back add to the kinetic energy is supplied.
    pub(super) fn limit_compression(&mut self, model: &Model, control: &Control, h: f64, state: &mut State) {
        let is_held = |node: usize| {
            control.node_waits(model, node)
                || (model.node_inverse_mass()[node] == 0.0 && !model.fixed_nodes().holds(node))
        };
        let mobility = |node: usize| if is_held(node) { 0.0 } else { 1.0 / model.node_mass()[node] };
        self.compression.project(&state.node_v, mobility, h);
        let mut work = 0.0;
        for (node, impulse) in self.compression.node_impulses().filter(|(node, _)| !is_held(*node)) {
            work += impulse.dot(&(state.node_v[node] + 0.5 * mobility(node) * impulse));
            let change = model.node_inverse_mass()[node] * impulse;
            state.node_v[node] += change;
            state.node_x[node] += h * change;
        }
        state.supplied_energy += work.max(0.0);
    }
}
