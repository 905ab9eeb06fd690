//! Skin weights of cage nodes: those of the surface that a node carries, spread through the cage and smoothed.
//!
//! Drawn vertices are skinned by their own weights and take only the displacement from nodes, so smoothing here costs no accuracy of the
//! drawn shape; it keeps the homes of neighbouring nodes close to each other in every pose.

use sinew_mesh::Embedding;

/// Weights of bones, in the order of the bones.
pub(crate) type BoneWeights = Vec<(u32, f64)>;

/// Rounds of averaging: weights blend over some two edges to each side of where bones meet.
const ROUNDS: usize = 6;

/// Smaller weights are dropped.
const SMALLEST: f64 = 5e-3;

/// The surface of a body with its skin weights, and the cage that carries it.
pub(crate) struct PaintedCage<'a> {
    pub(crate) tets: &'a [[u32; 4]],
    pub(crate) embedding: &'a Embedding,
    /// For each vertex its bones.
    pub(crate) vertex_weights: &'a [BoneWeights],
}

impl PaintedCage<'_> {
    /// The mean weights over the surface that each node carries; none for nodes that carry nothing.
    pub(crate) fn painted(&self) -> Vec<BoneWeights> {
        let painted = |node: usize| {
            let mut sum = BoneWeights::new();
            for (vertex, fraction) in self.embedding.node(node).filter(|(_, fraction)| *fraction > 0.0) {
                add(&mut sum, &self.vertex_weights[vertex as usize], fraction);
            }
            normalise(&mut sum);
            sum
        };
        (0..self.embedding.node_count()).map(painted).collect()
    }

    /// The weights of all nodes. Nodes fixed to a bone have all of it; nodes that no surface reaches through the cage have all of their `reserve`.
    pub(crate) fn spread(
        &self,
        mut weights: Vec<BoneWeights>,
        fixed: &[Option<usize>],
        reserve: &[usize],
    ) -> Vec<BoneWeights> {
        for (own, bone) in weights.iter_mut().zip(fixed) {
            if let Some(bone) = bone {
                *own = vec![(*bone as u32, 1.0)];
            }
        }
        let neighbours = neighbours(weights.len(), self.tets);

        // outwards from the nodes that have weights
        let mut empty: Vec<usize> = (0..weights.len()).filter(|node| weights[*node].is_empty()).collect();
        while !empty.is_empty() {
            let found: Vec<BoneWeights> =
                empty.iter().map(|node| mean(&weights, &neighbours[*node])).collect();
            let count = empty.len();
            for (node, found) in empty.iter().zip(found) {
                weights[*node] = found;
            }
            empty.retain(|node| weights[*node].is_empty());
            if empty.len() == count {
                empty.iter().for_each(|node| weights[*node] = vec![(reserve[*node] as u32, 1.0)]);
                break;
            }
        }

        // smoothly from one bone to the next
        for _ in 0..ROUNDS {
            let before = weights.clone();
            for (node, own) in weights.iter_mut().enumerate().filter(|(node, _)| fixed[*node].is_none()) {
                let mut sum = mean(&before, &neighbours[node]);
                add(&mut sum, &before[node], 1.0);
                sum.retain(|(_, weight)| *weight > 2.0 * SMALLEST);
                normalise(&mut sum);
                *own = sum;
            }
        }
        weights
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
fn mean(weights: &[BoneWeights], nodes: &[u32]) -> BoneWeights {
    let mut sum = BoneWeights::new();
    nodes.iter().for_each(|node| add(&mut sum, &weights[*node as usize], 1.0));
    normalise(&mut sum);
    sum
}

fn normalise(weights: &mut BoneWeights) {
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    if sum > 0.0 {
        weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
    } else {
        weights.clear();
    }
}

/// The nodes that share a tet with each node, in order.
fn neighbours(count: usize, tets: &[[u32; 4]]) -> Vec<Vec<u32>> {
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); count];
    for tet in tets {
        for a in tet {
            lists[*a as usize].extend(tet.iter().filter(|b| *b != a));
        }
    }
    lists.iter_mut().for_each(|list| {
        list.sort_unstable();
        list.dedup();
    });
    lists
}

/// The mean over the surface that each node carries of a value per vertex; nodes that carry nothing take the mean of their neighbours, outwards.
pub(crate) fn spread_values(tets: &[[u32; 4]], embedding: &Embedding, vertex: &[f64]) -> Vec<f64> {
    let carried = |node: usize| {
        let (mut sum, mut whole) = (0.0, 0.0);
        for (v, fraction) in embedding.node(node).filter(|(_, fraction)| *fraction > 0.0) {
            (sum, whole) = (sum + fraction * vertex[v as usize], whole + fraction);
        }
        (whole > 0.0).then_some(sum / whole)
    };
    let mut values: Vec<Option<f64>> = (0..embedding.node_count()).map(carried).collect();
    let neighbours = neighbours(values.len(), tets);
    let all = values.iter().flatten().sum::<f64>() / values.iter().flatten().count().max(1) as f64;
    loop {
        let mut found = Vec::new();
        for node in (0..values.len()).filter(|node| values[*node].is_none()) {
            let near: Vec<f64> =
                neighbours[node].iter().filter_map(|other| values[*other as usize]).collect();
            if !near.is_empty() {
                found.push((node, near.iter().sum::<f64>() / near.len() as f64));
            }
        }
        if found.is_empty() {
            return values.into_iter().map(|value| value.unwrap_or(all)).collect();
        }
        found.into_iter().for_each(|(node, value)| values[node] = Some(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    /// On a beam whose two halves follow two bones, all weights sum to 1, ends follow one bone, and the middle follows both.
    #[test]
    fn weights_blend_where_bones_meet() {
        let mesh = shapes::beam(2, [1.0, 0.1, 0.1]);
        let (surface, vertex_node) = mesh.boundary();
        let embedding = Embedding::of_nodes(&mesh, &vertex_node);
        let middle = mesh.bounds().map(|(low, high)| 0.5 * (low + high)).unwrap_or_default();
        let along = |x: f64| if x < middle.x { vec![(0, 1.0)] } else { vec![(1, 1.0)] };
        let vertex_weights: Vec<BoneWeights> = surface.vertices.iter().map(|v| along(v.x)).collect();
        let cage = PaintedCage { tets: &mesh.tets, embedding: &embedding, vertex_weights: &vertex_weights };
        let none = vec![None; mesh.nodes.len()];
        let weights = cage.spread(cage.painted(), &none, &vec![0; mesh.nodes.len()]);
        let mut blended = 0;
        for (x, own) in mesh.nodes.iter().zip(&weights) {
            assert!((own.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-12);
            if (x.x - middle.x).abs() > 0.4 {
                assert_eq!(own.len(), 1);
            }
            blended += usize::from(own.len() == 2);
        }
        assert!(blended > 0);
    }
}
