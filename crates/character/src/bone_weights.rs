//! Harmonic skinning weights of flesh on bones, for surfaces that nobody painted.
//!
//! A node of the cage that is fixed to a bone has the weight 1 for it, and every other node has the mean of its neighbours, the near ones
//! counting more. Weights are smooth, between 0 and 1, sum to 1, and go around gaps between limbs as flesh does.
//!
//! ```text
//! w_i = Σ_j c_ij w_j / Σ_j c_ij,   c_ij = 1/‖x_i − x_j‖²
//! ```
//!
//! The surface takes them by its embedding, and the four largest are kept. Where a file has painted weights, those are used instead
//! ([`SkinWeights`](crate::SkinWeights)).

use rayon::prelude::*;
use sinew_sim::Model;

/// Bones and weights of a vertex, largest first; bone 0 where the weight is 0. They sum to 1 in single precision.
pub type VertexWeights = ([u16; 4], [f32; 4]);

/// Sweeps end when no weight changes by more, or after so many. Fixed nodes are a few edges from all others, and an error that spans d edges
/// fades in about d sweeps of over-relaxation: a few dozen are usual.
const TOLERANCE: f64 = 1e-5;
const MAX_SWEEPS: usize = 1000;
/// Over-relaxation: between 1, plain Gauss-Seidel, and 2, where it no longer converges.
const RELAXATION: f64 = 1.6;
/// Smaller weights are left out: a bone that turns by 180° moves such a vertex by a thousandth of its distance.
const MIN_WEIGHT: f64 = 1e-3;

/// The rig that a body is attached to, by its index, and the bones of each vertex of its surface; `None` for a body without bones.
pub fn bone_weights(model: &Model, body: usize) -> Option<(usize, Vec<VertexWeights>)> {
    // which nodes are fixed to which bone
    let body = &model.bodies()[body];
    let bones: Vec<Option<(usize, usize)>> = body
        .nodes
        .clone()
        .map(|node| model.bone_of_node(node).map(|(rig, bone)| (rig, bone.index())))
        .collect();
    let rig = bones.iter().flatten().next()?.0;
    let fixed: Vec<Option<usize>> = bones.iter().map(|bone| bone.map(|(_, bone)| bone)).collect();
    let bone_count = model.rigs()[rig].skeleton.bones().len();

    // every bone's weights at all nodes, then at vertices
    let neighbours = Neighbours::of(model, body);
    let of_bones: Vec<Vec<f64>> =
        (0..bone_count).into_par_iter().map(|bone| neighbours.spread(&fixed, bone)).collect();
    let reserve = fixed.iter().flatten().next().copied().unwrap_or_default();
    let vertex = |vertex: usize| {
        let mut weights = vec![0.0; bone_count];
        for (node, fraction) in body.embedding.point(vertex) {
            let of_node = of_bones.iter().map(|of_bone| fraction.max(0.0) * of_bone[node as usize]);
            weights.iter_mut().zip(of_node).for_each(|(sum, weight)| *sum += weight);
        }
        best_four(&weights, reserve)
    };
    Some((rig, (0..body.embedding.point_count()).into_par_iter().map(vertex).collect()))
}

/// The nodes of a body's cage that share an edge, and c of it.
struct Neighbours {
    offsets: Vec<usize>,
    nodes: Vec<(u32, f64)>,
}

impl Neighbours {
    fn of(model: &Model, body: &sinew_sim::Body) -> Neighbours {
        let first = body.nodes.start as u32;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for tet in &model.tets()[body.tets.clone()] {
            for a in tet {
                pairs.extend(tet.iter().filter(|b| *b != a).map(|b| (a - first, b - first)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let rest = &model.node_rest()[body.nodes.clone()];
        let mut offsets = vec![0; rest.len() + 1];
        pairs.iter().for_each(|(a, _)| offsets[*a as usize + 1] += 1);
        (0..rest.len()).for_each(|node| offsets[node + 1] += offsets[node]);
        let nodes = pairs.iter().map(|(a, b)| {
            let squared = (rest[*a as usize] - rest[*b as usize]).norm_squared();
            (*b, 1.0 / squared.max(f64::MIN_POSITIVE))
        });
        Neighbours { offsets, nodes: nodes.collect() }
    }

    /// The weights of all nodes for one bone, by Gauss-Seidel sweeps with over-relaxation.
    fn spread(&self, fixed: &[Option<usize>], bone: usize) -> Vec<f64> {
        let mut weights: Vec<f64> =
            fixed.iter().map(|fixed| if *fixed == Some(bone) { 1.0 } else { 0.0 }).collect();
        // a bone that holds nothing moves nothing
        if !fixed.contains(&Some(bone)) {
            return weights;
        }
        for _ in 0..MAX_SWEEPS {
            let mut largest = 0.0f64;
            for node in (0..weights.len()).filter(|node| fixed[*node].is_none()) {
                let around = &self.nodes[self.offsets[node]..self.offsets[node + 1]];
                let (mut sum, mut total) = (0.0, 0.0);
                for (other, c) in around {
                    sum += c * weights[*other as usize];
                    total += c;
                }
                if total > 0.0 {
                    let change = RELAXATION * (sum / total - weights[node]);
                    weights[node] += change;
                    largest = largest.max(change.abs());
                }
            }
            if largest < TOLERANCE {
                break;
            }
        }
        weights
    }
}

/// The four largest weights, normalised to a sum of 1; all of `reserve` where there are none.
fn best_four(weights: &[f64], reserve: usize) -> VertexWeights {
    let mut order: Vec<usize> = (0..weights.len()).filter(|bone| weights[*bone] > MIN_WEIGHT).collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]).then(a.cmp(b)));
    order.truncate(4);
    let total: f64 = order.iter().map(|bone| weights[*bone]).sum();
    let (mut joints, mut kept) = ([0; 4], [0.0f32; 4]);
    if order.is_empty() {
        joints[0] = reserve as u16;
    }
    for (place, bone) in order.iter().enumerate() {
        (joints[place], kept[place]) = (*bone as u16, (weights[*bone] / total) as f32);
    }
    // the largest takes what rounding left
    kept[0] = 1.0 - (kept[1] + kept[2] + kept[3]);
    (joints, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of nodes.
    fn row(count: usize) -> Neighbours {
        let around = |node: usize| {
            let sides = [node.checked_sub(1), Some(node + 1).filter(|next| *next < count)];
            sides.into_iter().flatten().map(|other| (other as u32, 1.0)).collect::<Vec<_>>()
        };
        let lists: Vec<Vec<(u32, f64)>> = (0..count).map(around).collect();
        let mut offsets = vec![0];
        lists.iter().for_each(|list| offsets.push(offsets[offsets.len() - 1] + list.len()));
        Neighbours { offsets, nodes: lists.concat() }
    }

    #[test]
    fn between_two_bones_weights_change_evenly_and_beyond_them_not_at_all() {
        let mut fixed = vec![None; 14];
        (fixed[2], fixed[11]) = (Some(0), Some(1));
        let [first, second] = [0, 1].map(|bone| row(14).spread(&fixed, bone));
        for node in 0..14 {
            let fraction = (node as f64 - 2.0).clamp(0.0, 9.0) / 9.0;
            // changes below 1e-5 that shrink by a third in every sweep add up to less than 1e-4
            assert!(
                (second[node] - fraction).abs() < 1e-4 && (first[node] + second[node] - 1.0).abs() < 1e-4
            );
        }
        assert_eq!(row(14).spread(&fixed, 2), vec![0.0; 14]);
    }

    #[test]
    fn four_are_kept_and_add_up_to_one() {
        let (joints, kept) = best_four(&[0.1, 0.3, 0.0, 0.25, 0.2, 0.15], 3);
        assert_eq!(joints, [1, 3, 4, 5]);
        assert!(kept.is_sorted_by(|a, b| a >= b));
        assert_eq!(kept.iter().rev().sum::<f32>(), 1.0);
        assert_eq!(best_four(&[0.0, 1e-4, 0.0], 2), ([2, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]));
        assert_eq!(best_four(&[0.0, 0.9, 0.0], 2), ([1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]));
    }
}
