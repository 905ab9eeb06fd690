//! Weights of bones at the nodes of a cage.
//!
//! Three questions are answered from the same parts, means over the surface that a node carries and means over neighbouring nodes:
//!
//! | asked by | begins with | then |
//! | --- | --- | --- |
//! | `rig/attachment`: whose motion the flesh around a node follows | painted weights | nodes inside: harmonic |
//! | `model/home`: where the skinned shape carries a node | painted weights, fixed nodes | all that are not fixed: smoothed |
//! | `rig/fixed_nodes`: a first guess of how flesh follows bones | the nearest bone | all that are not fixed: smoothed |
//!
//! Smoothing would blur the paint that the first compares with a threshold, and the homes of the second need it: neighbouring nodes are to
//! stay close in every pose. Surfaces that nobody painted get weights of their own for export, in [`mod@harmonic`].

mod harmonic;

pub(crate) use harmonic::harmonic;

use sinew_mesh::{Embedding, NodeNeighbours};

/// Weights of bones, in the order of the bones; their sum is 1, or there are none.
pub(crate) type BoneWeights = Vec<(u32, f64)>;

/// The weights of all nodes of a cage.
pub(crate) struct NodeWeights {
    of_node: Vec<BoneWeights>,
    /// Smaller weights are dropped from means, but for those of [`NodeWeights::smooth`].
    smallest: f64,
}

/// How weights are smoothed.
#[derive(Clone, Copy)]
pub(crate) struct Smoothing {
    pub(crate) rounds: usize,
    /// Smaller weights are dropped in each round.
    pub(crate) smallest: f64,
}

impl NodeWeights {
    /// The given weights of all nodes.
    pub(crate) fn new(of_node: Vec<BoneWeights>) -> NodeWeights {
        NodeWeights { of_node, smallest: 0.0 }
    }

    /// The mean weights over the surface that each node carries; none for nodes that carry nothing:
    ///
    /// ```text
    /// w_i = Σ_v φ_vi w_v / Σ_v φ_vi Σ w_v,   φ_vi > 0
    /// ```
    pub(crate) fn of_surface(
        embedding: &Embedding,
        vertex_weights: &[BoneWeights],
        smallest: f64,
    ) -> NodeWeights {
        let carried = |node: usize| {
            let mut sum = BoneWeights::new();
            for (vertex, fraction) in embedding.node(node).filter(|(_, fraction)| *fraction > 0.0) {
                add(&mut sum, &vertex_weights[vertex as usize], fraction);
            }
            normalise(&mut sum, smallest);
            sum
        };
        NodeWeights { of_node: (0..embedding.node_count()).map(carried).collect(), smallest }
    }

    /// Gives fixed nodes all of their bone.
    pub(crate) fn fix(&mut self, fixed: &[Option<usize>]) {
        for (own, bone) in self.of_node.iter_mut().zip(fixed) {
            if let Some(bone) = bone {
                *own = vec![(*bone as u32, 1.0)];
            }
        }
    }

    /// Gives nodes without weights the mean of their neighbours, layer by layer; returns them.
    pub(crate) fn fill(&mut self, neighbours: &NodeNeighbours) -> Vec<usize> {
        let empty = (0..self.of_node.len()).filter(|node| self.of_node[*node].is_empty()).collect();
        let smallest = self.smallest;
        neighbours.fill(&mut self.of_node, Vec::is_empty, |weights, around| mean(weights, around, smallest));
        empty
    }

    /// Gives nodes that are still without weights all of the bone of `reserve`.
    pub(crate) fn fill_up(&mut self, reserve: &[usize]) {
        for (own, bone) in self.of_node.iter_mut().zip(reserve).filter(|(own, _)| own.is_empty()) {
            *own = vec![(*bone as u32, 1.0)];
        }
    }

    /// Harmonic weights of some nodes, w_i = mean of w_j over neighbours j, by so many Gauss-Seidel sweeps.
    pub(crate) fn relax(&mut self, neighbours: &NodeNeighbours, nodes: &[usize], sweeps: usize) {
        for _ in 0..sweeps {
            for &node in nodes {
                self.of_node[node] = mean(&self.of_node, neighbours.of_node(node), self.smallest);
            }
        }
    }

    /// Laplacian smoothing: in each round the mean of a free node and of the mean of its neighbours.
    ///
    /// ```text
    /// w_i ← ½ w_i + ½ mean of w_j over neighbours j
    /// ```
    pub(crate) fn smooth(
        &mut self,
        neighbours: &NodeNeighbours,
        is_free: impl Fn(usize) -> bool,
        smoothing: Smoothing,
    ) {
        for _ in 0..smoothing.rounds {
            let before = self.of_node.clone();
            for (node, own) in self.of_node.iter_mut().enumerate().filter(|(node, _)| is_free(*node)) {
                let mut sum = mean(&before, neighbours.of_node(node), 0.0);
                add(&mut sum, &before[node], 1.0);
                normalise(&mut sum, smoothing.smallest);
                *own = sum;
            }
        }
    }

    /// The weight of a bone at a node.
    pub(crate) fn weight(&self, node: usize, bone: usize) -> f64 {
        let own = self.of_node[node].iter().find(|(own, _)| *own as usize == bone);
        own.map_or(0.0, |(_, weight)| *weight)
    }

    /// The bone with the largest weight at a node, and that weight; the first of several.
    pub(crate) fn heaviest(&self, node: usize) -> Option<(usize, f64)> {
        let heaviest = self.of_node[node].iter().min_by(|a, b| b.1.total_cmp(&a.1));
        heaviest.map(|(bone, weight)| (*bone as usize, *weight))
    }

    /// The weights of each node.
    pub(crate) fn into_lists(self) -> Vec<BoneWeights> {
        self.of_node
    }
}

/// Adds weights times a factor.
fn add(sum: &mut BoneWeights, weights: &[(u32, f64)], factor: f64) {
    for (bone, weight) in weights {
        match sum.binary_search_by_key(bone, |(own, _)| *own) {
            Ok(place) => sum[place].1 += factor * weight,
            Err(place) => sum.insert(place, (*bone, factor * weight)),
        }
    }
}

/// The mean weights of some nodes, of those that have any.
fn mean(weights: &[BoneWeights], nodes: &[u32], smallest: f64) -> BoneWeights {
    let mut sum = BoneWeights::new();
    nodes.iter().for_each(|node| add(&mut sum, &weights[*node as usize], 1.0));
    normalise(&mut sum, smallest);
    sum
}

/// Drops weights of at most the fraction `smallest` of all, and scales the others to a sum of 1.
pub(crate) fn normalise(weights: &mut BoneWeights, smallest: f64) {
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.retain(|(_, weight)| *weight > smallest * sum);
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    /// On a beam whose two halves follow two bones, all weights sum to 1, ends follow one bone, and the middle follows both.
    #[test]
    fn smoothed_weights_blend_where_bones_meet() {
        let mesh = shapes::beam(2, [1.0, 0.1, 0.1]);
        let (surface, vertex_node) = mesh.boundary();
        let embedding = Embedding::of_nodes(&mesh, &vertex_node);
        let middle = mesh.bounds().map(|(low, high)| 0.5 * (low + high)).unwrap_or_default();
        let along = |x: f64| if x < middle.x { vec![(0, 1.0)] } else { vec![(1, 1.0)] };
        let vertex_weights: Vec<BoneWeights> = surface.vertices.iter().map(|v| along(v.x)).collect();
        let neighbours = NodeNeighbours::build(mesh.nodes.len(), &mesh.tets);
        let mut weights = NodeWeights::of_surface(&embedding, &vertex_weights, 0.0);
        weights.fill(&neighbours);
        weights.smooth(&neighbours, |_| true, Smoothing { rounds: 6, smallest: 5e-3 });
        let mut blended = 0;
        for (x, own) in mesh.nodes.iter().zip(weights.into_lists()) {
            // four roundings of numbers below 1
            assert!((own.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-15);
            if (x.x - middle.x).abs() > 0.4 {
                assert_eq!(own.len(), 1);
            }
            blended += usize::from(own.len() == 2);
        }
        assert!(blended > 0);
    }

    /// Nodes of a row between ones that keep two bones: the harmonic weights change evenly along it, and what nothing reaches takes its reserve.
    #[test]
    fn relaxed_weights_are_harmonic_and_unreached_nodes_take_their_reserve() {
        // node 1 has the neighbours 0, 2, 3 of one tet, and node 4 none
        let neighbours = NodeNeighbours::build(5, &[[0, 1, 2, 3]]);
        let start = vec![vec![(0, 1.0)], vec![], vec![(1, 1.0)], vec![(1, 1.0)], vec![]];
        let mut weights = NodeWeights::new(start);
        assert_eq!(weights.fill(&neighbours), [1, 4]);
        weights.relax(&neighbours, &[1], 3);
        assert!((weights.weight(1, 1) - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(weights.heaviest(1).map(|(bone, _)| bone), Some(1));
        assert_eq!((weights.heaviest(4), weights.weight(4, 0)), (None, 0.0));
        weights.fill_up(&[0, 0, 0, 0, 2]);
        assert_eq!(weights.heaviest(4), Some((2, 1.0)));
    }
}
