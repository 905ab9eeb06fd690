//! Painted skinning weights at the nodes of a cage.
//!
//! A node that carries surface has the mean of the weights painted there, by what it carries of each vertex. A node inside carries none: it takes
//! those of its neighbours over the tets, first layer by layer from the surface inwards, then by rounds of averaging, which come near the
//! harmonic function with the surface's values:
//!
//! ```text
//! w_i = Σ_v φ_vi w_v / Σ_v φ_vi   where φ_vi > 0,      w_i = mean of w_j over neighbours j   elsewhere
//! ```

use super::{Neighbours, RestRig};
use crate::body::Shape;

/// Rounds of averaging inside: flesh is some four to eight edges thick.
const ROUNDS: usize = 8;
/// Smaller weights are dropped on the way.
const SMALLEST: f64 = 1e-3;

/// The bones of every node with their painted weights.
pub(super) struct NodePaint {
    /// Increasing by bone; their sum is 1, or 0 where nothing is painted.
    of_node: Vec<Vec<(usize, f64)>>,
}

impl NodePaint {
    /// Spreads the weights of vertices to nodes; `None` without weights.
    pub(super) fn spread(
        skin_weights: &[Vec<(u32, f32)>],
        rig: &RestRig,
        shape: &Shape,
        neighbours: &Neighbours,
    ) -> Option<NodePaint> {
        if skin_weights.is_empty() {
            return None;
        }
        let nodes = 0..shape.mesh.nodes.len();
        let mut of_node: Vec<Vec<(usize, f64)>> =
            nodes.map(|node| carried_weights(skin_weights, rig, shape, node)).collect();
        let inside = fill_layers(&mut of_node, neighbours);
        for _ in 0..ROUNDS {
            for &node in &inside {
                of_node[node] = mean_of(neighbours.of_node(node), &of_node);
            }
        }
        Some(NodePaint { of_node })
    }

    /// The weight of a bone at a node.
    pub(super) fn weight(&self, node: usize, bone: usize) -> f64 {
        self.of_node[node].iter().find(|(own, _)| *own == bone).map_or(0.0, |(_, weight)| *weight)
    }

    /// The bone with the largest weight at a node, and that weight; the first of several.
    pub(super) fn heaviest(&self, node: usize) -> Option<(usize, f64)> {
        self.of_node[node].iter().copied().min_by(|a, b| b.1.total_cmp(&a.1))
    }
}

/// The mean weights over the surface that a node carries.
fn carried_weights(
    skin_weights: &[Vec<(u32, f32)>],
    rig: &RestRig,
    shape: &Shape,
    node: usize,
) -> Vec<(usize, f64)> {
    let mut sum = Vec::new();
    for (vertex, fraction) in shape.embedding.node(node) {
        for (place, weight) in &skin_weights[vertex as usize] {
            if let Some(bone) = rig.bone_of_desc(*place as usize) {
                sum.push((bone, fraction.max(0.0) * f64::from(*weight)));
            }
        }
    }
    merged(sum)
}

/// Gives nodes without weights the mean of their neighbours', one layer after the other; returns those nodes.
fn fill_layers(of_node: &mut [Vec<(usize, f64)>], neighbours: &Neighbours) -> Vec<usize> {
    let mut empty: Vec<usize> = (0..of_node.len()).filter(|&node| of_node[node].is_empty()).collect();
    let inside = empty.clone();
    while !empty.is_empty() {
        let means: Vec<_> = empty.iter().map(|&node| mean_of(neighbours.of_node(node), of_node)).collect();
        let before = empty.len();
        for (&node, mean) in empty.iter().zip(means) {
            of_node[node] = mean;
        }
        empty.retain(|&node| of_node[node].is_empty());
        // what no surface reaches stays without
        if empty.len() == before {
            break;
        }
    }
    inside
}

fn mean_of(nodes: &[u32], of_node: &[Vec<(usize, f64)>]) -> Vec<(usize, f64)> {
    merged(nodes.iter().flat_map(|&node| of_node[node as usize].iter().copied()).collect())
}

/// One entry per bone, in increasing order, with the sum 1.
fn merged(mut entries: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    entries.sort_by_key(|(bone, _)| *bone);
    entries.dedup_by(|later, first| {
        let same = later.0 == first.0;
        first.1 += if same { later.1 } else { 0.0 };
        same
    });
    let sum: f64 = entries.iter().map(|(_, weight)| weight).sum();
    entries.retain(|(_, weight)| *weight > SMALLEST * sum);
    let sum: f64 = entries.iter().map(|(_, weight)| weight).sum();
    entries.iter_mut().for_each(|(_, weight)| *weight /= sum);
    entries
}
