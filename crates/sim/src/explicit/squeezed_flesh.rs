//! Flesh that is struck or squeezed harder than its elasticity bears: inelastic stops of elements at the limit of compression, and of surfaces deep in each other or in fixed obstacles
//! ([`sinew_flesh::CompressionLimit`]).

use super::Explicit;
use crate::contact::Contacts;
use crate::{Control, Model, State};
use sinew_math::Vec3;

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
    ///
    /// Springs towards home are as stiff as a sub-step bears at their limit L, and weigh in with all of the flesh: what is held there against an obstacle throws its bones, and with them the character. So a node takes of an
    /// impulse j only what leaves it within its limit, and its home passes on to its bones what is left, inelastically. Nor do nodes with a home count as lighter than the mean m̄ of their body: the cage has nodes
    /// outside of the flesh with a thousandth of the mass of others, which an impulse would throw far.
    ///
    /// ```text
    /// Δv = j/max(m, m̄) (1 − r/L)⁺ outwards,     j − m Δv to the bones by their weights,     r the distance from home
    /// ```
    pub(super) fn limit_compression(&mut self, model: &Model, control: &Control, h: f64, state: &mut State) {
        let is_held = |node: usize| {
            control.node_waits(model, node)
                || (model.node_inverse_mass()[node] == 0.0 && !model.fixed_nodes().holds(node))
        };
        let mobility = |node: usize| if is_held(node) { 0.0 } else { 1.0 / stopped_mass(model, node) };
        self.compression.project(&state.node_v, mobility, h);
        let mut work = 0.0;
        for (node, impulse) in self.compression.node_impulses().filter(|(node, _)| !is_held(*node)) {
            let taken = impulse
                * (model.node_mass()[node] / stopped_mass(model, node))
                * self.room_at_home(model, node, &state.node_x[node], &impulse);
            work += taken.dot(&(state.node_v[node] + 0.5 * mobility(node) * impulse));
            let change = model.node_inverse_mass()[node] * taken;
            state.node_v[node] += change;
            state.node_x[node] += h * change;
            if model.node_inverse_mass()[node] > 0.0 {
                self.drag[node] += (impulse - taken) / h;
            }
        }
        state.supplied_energy += work.max(0.0);
    }

    /// The fraction of an impulse that a node at a position takes without leaving the limit of its home; 1 without one, and towards it.
    fn room_at_home(&self, model: &Model, node: usize, x: &Vec3, impulse: &Vec3) -> f64 {
        let homes = model.homes();
        if homes.is_empty() || !homes.holds(node) {
            return 1.0;
        }
        let off = x - self.homes.nodes[node].place;
        if off.dot(impulse) <= 0.0 { 1.0 } else { (1.0 - off.norm() / homes.springs[node].limit).max(0.0) }
    }
}

/// The mass that a stop moves with a node (kg): its own, or the mean of its body for a lighter one with a home.
fn stopped_mass(model: &Model, node: usize) -> f64 {
    let own = model.node_mass()[node];
    let body = model.homes().bodies.iter().find(|body| body.nodes.contains(&node));
    match body.filter(|_| model.homes().holds(node)) {
        Some(body) => own.max(model.bodies()[body.body].mass / body.nodes.len() as f64),
        None => own,
    }
}
