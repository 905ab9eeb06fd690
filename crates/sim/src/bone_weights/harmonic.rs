//! Harmonic weights of bones at nodes, for surfaces that nobody painted.
//!
//! A node that is fixed to a bone has the weight 1 for it, and every other node has the mean of its neighbours, the near ones counting more.
//! Weights are smooth, between 0 and 1, sum to 1, and go around gaps between limbs as flesh does.
//!
//! ```text
//! w_i = Σ_j c_ij w_j / Σ_j c_ij,   c_ij = 1/‖x_i − x_j‖²
//! ```
//!
//! Other than [`NodeWeights`](super::NodeWeights) they are solved to a tolerance and reach from bone to bone: what is exported is skinned by
//! them alone, and has no flesh that smooths the rest.

use rayon::prelude::*;
use sinew_math::Vec3;
use sinew_mesh::NodeNeighbours;

/// Sweeps end when no weight changes by more, or after so many. Fixed nodes are a few edges from all others, and an error that spans d edges
/// fades in about d sweeps of over-relaxation: a few dozen are usual.
const TOLERANCE: f64 = 1e-5;
const MAX_SWEEPS: usize = 1000;
/// Over-relaxation: between 1, plain Gauss-Seidel, and 2, where it no longer converges.
const RELAXATION: f64 = 1.6;

/// For each bone its weights at all nodes, which stand at `rest` (m).
pub(crate) fn harmonic(
    neighbours: &NodeNeighbours,
    rest: &[Vec3],
    fixed: &[Option<usize>],
    bone_count: usize,
) -> Vec<Vec<f64>> {
    let nearness = |node: usize, other: &u32| {
        1.0 / (rest[node] - rest[*other as usize]).norm_squared().max(f64::MIN_POSITIVE)
    };
    let of_node = |node: usize| neighbours.of_node(node).iter().map(move |other| nearness(node, other));
    let c: Vec<f64> = (0..rest.len()).flat_map(of_node).collect();
    (0..bone_count).into_par_iter().map(|bone| of_bone(neighbours, &c, fixed, bone)).collect()
}

/// The weights of all nodes for one bone, by Gauss-Seidel sweeps with over-relaxation; c_ij in the order of the neighbours.
fn of_bone(neighbours: &NodeNeighbours, c: &[f64], fixed: &[Option<usize>], bone: usize) -> Vec<f64> {
    let is_own = |fixed: &Option<usize>| if *fixed == Some(bone) { 1.0 } else { 0.0 };
    let mut weights: Vec<f64> = fixed.iter().map(is_own).collect();
    // a bone that holds nothing moves nothing
    if !fixed.contains(&Some(bone)) {
        return weights;
    }
    for _ in 0..MAX_SWEEPS {
        let mut largest = 0.0f64;
        for node in (0..weights.len()).filter(|node| fixed[*node].is_none()) {
            let (mut sum, mut total) = (0.0, 0.0);
            for (other, c) in neighbours.of_node(node).iter().zip(&c[neighbours.range(node)]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of nodes 1 m apart. Tets of two corners each are edges.
    #[test]
    fn between_two_bones_weights_change_evenly_and_beyond_them_not_at_all() {
        let edges: Vec<[u32; 4]> = (0..13).map(|node| [node, node, node, node + 1]).collect();
        let neighbours = NodeNeighbours::build(14, &edges);
        let rest: Vec<Vec3> = (0..14).map(|node| Vec3::new(f64::from(node), 0.0, 0.0)).collect();
        let mut fixed = vec![None; 14];
        (fixed[2], fixed[11]) = (Some(0), Some(1));
        let weights = harmonic(&neighbours, &rest, &fixed, 3);
        for node in 0..14 {
            let fraction = (node as f64 - 2.0).clamp(0.0, 9.0) / 9.0;
            // changes below 1e-5 that shrink by a third in every sweep add up to less than 1e-4
            assert!((weights[1][node] - fraction).abs() < 1e-4);
            assert!((weights[0][node] + weights[1][node] - 1.0).abs() < 1e-4);
        }
        assert_eq!(weights[2], vec![0.0; 14]);
    }
}
