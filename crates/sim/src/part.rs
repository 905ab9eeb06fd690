//! Connected parts of bodies without bones, and how fast their deformation is damped.
//!
//! Damping acts on the velocity of a node relative to the rigid motion of its part, so that a body falls, flies and spins as if it were undamped:
//!
//! ```text
//! v̇ᵢ = fᵢ/mᵢ − c (vᵢ − v̄ − ω × (xᵢ − x̄)),    (v̄, ω) = argmin Σ wᵢ |vᵢ − v̄ − ω × (xᵢ − x̄)|²
//! ```
//!
//! With wᵢ = mᵢ the damping forces have no resultant and no moment. Pinned nodes have so large a weight that the rigid motion is theirs as far as they
//! determine it: three that are not in line determine all of it, one leaves the part free to swing about it.
//!
//! The viscosity β of the elements damps every mode as well. Together they are Rayleigh damping, which gives a mode of frequency ω the damping ratio
//!
//! ```text
//! ζ(ω) = c/(2ω) + β ω/2,     c = 2 ω₁ (ζ − β ω₁/2)
//! ```
//!
//! that of the material at the lowest frequency ω₁ of deformation.

mod lowest_frequency;
mod rigid_moments;

pub(crate) use rigid_moments::{RigidField, RigidMoments};

use crate::body_kind::PartDamping;
use core::ops::Range;
use lowest_frequency::lowest_frequency;
use sinew_flesh::ElementDesc;
use sinew_math::Vec3;

/// A connected part of a body without bones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// Its nodes: a range of [`Parts::nodes`].
    pub(crate) nodes: Range<usize>,
    /// Whether any of its nodes is pinned.
    pub(crate) is_pinned: bool,
    /// Lowest frequency of its deformation (rad/s); 0 if no node is free.
    pub(crate) frequency: f64,
    /// Damping rate c of its deformation (1/s).
    pub(crate) damping_rate: f64,
}

/// The parts of all bodies without bones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    /// Nodes of all parts, part by part in ascending order.
    pub(crate) nodes: Vec<u32>,
    /// The part of each node, [`Parts::NONE`] for those of other bodies.
    pub(crate) node_part: Vec<u32>,
    /// Weight of each node in the rigid motion of its part (kg).
    pub(crate) node_weight: Vec<f64>,
    /// Range of parts of each body.
    of_body: Vec<Range<usize>>,
}

/// Weight of a pinned node in masses of its part. The rigid motion differs from that of the pins by a millionth of what the free nodes do.
const PIN_WEIGHT: f64 = 1e6;

impl Parts {
    /// The part of nodes that have none.
    pub(crate) const NONE: u32 = u32::MAX;

    /// Starts without parts for a model of this many nodes.
    pub(crate) fn of_nodes(count: usize) -> Parts {
        Parts { node_part: vec![Parts::NONE; count], node_weight: vec![0.0; count], ..Parts::default() }
    }

    /// Adds the parts of the next body, a tet mesh without bones with the given damping ratio. The viscosity of its elements is lowered where it alone would damp the lowest mode by more than that.
    pub(crate) fn add_body(&mut self, nodes: BodyNodes, elements: &mut [ElementDesc], ratio: f64) {
        let first_part = self.parts.len();
        for members in components(&nodes.range, elements.iter().map(|element| element.nodes)) {
            self.add(members, &nodes, elements, ratio);
        }
        self.of_body.push(first_part..self.parts.len());
    }

    /// Adds the parts of the next body, whose nodes are connected in pairs, counted from its first; its deformation decays at a rate (1/s).
    pub(crate) fn add_linked_body(&mut self, nodes: BodyNodes, damping: &PartDamping) {
        let first_part = self.parts.len();
        let links = damping.links.iter().map(|link| link.map(|node| node + nodes.range.start as u32));
        for members in components(&nodes.range, links) {
            self.add(members, &nodes, &mut [], 0.0);
        }
        self.parts[first_part..].iter_mut().for_each(|part| part.damping_rate = damping.rate);
        self.of_body.push(first_part..self.parts.len());
    }

    /// Adds a body on bones, or one whose kind damps it: it has no parts.
    pub(crate) fn add_none(&mut self) {
        self.of_body.push(self.parts.len()..self.parts.len());
    }

    fn add(&mut self, members: Vec<u32>, nodes: &BodyNodes, elements: &mut [ElementDesc], ratio: f64) {
        // where its nodes are listed, and their weights
        let (number, first) = (self.parts.len() as u32, self.nodes.len());
        let is_free = |node: u32| nodes.inverse_mass[node as usize] > 0.0;
        let mass: f64 = members.iter().map(|node| nodes.mass[*node as usize]).sum();
        for &node in &members {
            self.node_part[node as usize] = number;
            self.node_weight[node as usize] =
                if is_free(node) { nodes.mass[node as usize] } else { PIN_WEIGHT * mass };
        }
        let is_pinned = members.iter().any(|node| !is_free(*node));
        self.nodes.extend_from_slice(&members);

        // Rayleigh damping with the ratio of the material at its lowest frequency
        let is_own = |element: &ElementDesc| self.node_part[element.nodes[0] as usize] == number;
        let (mut frequency, mut damping_rate) = (0.0, 0.0);
        if ratio > 0.0 {
            let own: Vec<ElementDesc> = elements.iter().filter(|element| is_own(element)).copied().collect();
            frequency = lowest_frequency(&members, nodes, &own);
            let viscosity = own.first().map_or(0.0, |element| element.viscosity);
            let viscosity = if frequency > 0.0 { viscosity.min(2.0 * ratio / frequency) } else { viscosity };
            elements.iter_mut().filter(|element| is_own(element)).for_each(|e| e.viscosity = viscosity);
            damping_rate = 2.0 * frequency * (ratio - 0.5 * viscosity * frequency);
        }
        self.parts.push(Part { nodes: first..self.nodes.len(), is_pinned, frequency, damping_rate });
    }

    /// All parts.
    pub(crate) fn all(&self) -> &[Part] {
        &self.parts
    }

    /// The parts of a body, as a range of [`Parts::all`].
    pub(crate) fn of_body(&self, body: usize) -> Range<usize> {
        self.of_body[body].clone()
    }

    /// The nodes of a part.
    pub(crate) fn nodes_of(&self, part: &Part) -> &[u32] {
        &self.nodes[part.nodes.clone()]
    }

    /// Sets the damping rates of a body to multiples of those of other parts.
    pub(crate) fn scale_damping(&mut self, own: &Parts, body: usize, factor: f64) {
        for part in own.of_body(body) {
            self.parts[part].damping_rate = factor * own.parts[part].damping_rate;
        }
    }

    /// The part of a body with most nodes.
    pub(crate) fn largest(&self, body: usize) -> Option<&Part> {
        self.parts[self.of_body(body)].iter().max_by_key(|part| part.nodes.len())
    }
}

/// The nodes of a body within arrays over all nodes.
pub(crate) struct BodyNodes<'a> {
    /// Its nodes.
    pub(crate) range: Range<usize>,
    /// Stress-free positions (m).
    pub(crate) unstressed: &'a [Vec3],
    /// Masses (kg).
    pub(crate) mass: &'a [f64],
    /// Inverse masses, 0 for pinned nodes (1/kg).
    pub(crate) inverse_mass: &'a [f64],
}

/// Sets of nodes that are connected, each in ascending order, by their first nodes.
fn components<const N: usize>(
    nodes: &Range<usize>,
    connected: impl Iterator<Item = [u32; N]>,
) -> Vec<Vec<u32>> {
    // a forest in which every root is the lowest node of its tree
    let mut parent: Vec<usize> = (0..nodes.len()).collect();
    for group in connected {
        let group = group.map(|node| node as usize - nodes.start);
        let Some((&first, others)) = group.split_first() else { continue };
        for &other in others {
            let (a, b) = (root(&mut parent, first), root(&mut parent, other));
            parent[a.max(b)] = a.min(b);
        }
    }

    // nodes by their root; one that no element has is no part
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for node in 0..nodes.len() {
        members[root(&mut parent, node)].push((nodes.start + node) as u32);
    }
    members.retain(|members| members.len() > 1);
    members
}

/// The root of a node, halving the path to it.
fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_flesh::Material;

    #[test]
    fn elements_that_share_a_node_are_one_part() {
        let element = |nodes| ElementDesc { nodes, material: Material::default(), fill: 1.0, viscosity: 0.0 };
        let elements = [element([9, 8, 7, 13]), element([3, 4, 5, 6]), element([13, 10, 11, 12])];
        let parts = components(&(3..14), elements.iter().map(|element| element.nodes));
        assert_eq!(parts, [vec![3, 4, 5, 6], vec![7, 8, 9, 10, 11, 12, 13]]);
    }
}
