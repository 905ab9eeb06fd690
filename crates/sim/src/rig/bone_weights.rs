//! Automatic skinning weights of nodes by diffusion.
//!
//! Each node starts with weight 1 for its reference bone; Laplacian smoothing then averages repeatedly over neighbouring nodes. Fixed nodes keep their weight.

use super::FixedNodes;

/// Smoothing iterations: weights blend over about four edges on each side of the boundary between two bones.
const ROUNDS: usize = 20;

/// Smaller weights are dropped.
const SMALLEST: f32 = 1e-2;

/// Bones of every node with their weights, which sum to 1; empty for nodes of bodies without bones.
pub(crate) fn bone_weights(fixed: &FixedNodes, tets: &[[u32; 4]]) -> Vec<Vec<(u32, f32)>> {
    // initial weights
    let node_count = fixed.node_bone.len();
    let start = |node: usize| {
        let bone = if fixed.holds(node) { fixed.node_bone[node] } else { fixed.node_reference[node] };
        if bone > 0 { vec![(bone, 1.0f32)] } else { Vec::new() }
    };
    let mut lists: Vec<Vec<(u32, f32)>> = (0..node_count).map(start).collect();

    // adjacency of nodes
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); node_count];
    for tet in tets {
        for a in tet {
            neighbours[*a as usize].extend(tet.iter().filter(|b| *b != a));
        }
    }
    neighbours.iter_mut().for_each(|list| {
        list.sort_unstable();
        list.dedup();
    });

    // smoothing
    for _ in 0..ROUNDS {
        let before = lists.clone();
        for (node, list) in lists.iter_mut().enumerate() {
            if list.is_empty() || fixed.holds(node) {
                continue;
            }
            let around = &neighbours[node];
            let mut sum: Vec<(u32, f32)> = Vec::new();
            let mut add = |bone: u32, weight: f32| match sum.iter_mut().find(|(own, _)| *own == bone) {
                Some((_, own)) => *own += weight,
                None => sum.push((bone, weight)),
            };
            before[node].iter().for_each(|(bone, weight)| add(*bone, 0.5 * weight));
            let fraction = 0.5 / around.len().max(1) as f32;
            for other in around {
                before[*other as usize].iter().for_each(|(bone, weight)| add(*bone, fraction * weight));
            }

            // drop small weights and normalise
            sum.retain(|(_, weight)| *weight > SMALLEST);
            sum.sort_unstable_by_key(|(bone, _)| *bone);
            let whole: f32 = sum.iter().map(|(_, weight)| weight).sum();
            sum.iter_mut().for_each(|(_, weight)| *weight /= whole);
            *list = sum;
        }
    }
    lists
}
