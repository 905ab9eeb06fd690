//! Homes of a body's nodes, from its skin weights and the values at its vertices.

use crate::body::Shape;
use crate::bone_weights::{BoneWeights, NodeWeights, Smoothing, normalise};
use crate::desc::{AttachmentDesc, HomeDesc};
use crate::home::{HomeParts, HomeSpring};
use crate::rig::{Attachment, RestRig};
use sinew_math::real;
use sinew_mesh::NodeNeighbours;

/// Weights blend over some two edges to each side of where bones meet. Drawn vertices are skinned by their own weights and take only the displacement from nodes, so
/// smoothing costs no accuracy of the drawn shape; it keeps the homes of neighbouring nodes close to each other in every pose.
const SMOOTHING: Smoothing = Smoothing { rounds: 6, smallest: 5e-3 };

/// Nodes of flesh with a home stay fixed to a bone only where the bone has this part of their weight: elsewhere the bone's rigid motion is not that of the skin.
const WHOLLY_PAINTED: f64 = 0.95;

/// Springs are made for this fraction of the limit: explicit sub-steps know where homes go to first order only, which at 30 g and 3 ms is off by 1.3 mm.
const WITHIN: f64 = 0.95;

/// What is wrong with the home that is asked for.
pub(super) fn find_faults(attachment: &AttachmentDesc, shape: &Shape) -> Result<(), Vec<String>> {
    let Some(home) = &attachment.home else { return Ok(()) };
    let vertices = shape.surface.vertices.len();
    let mut faults = home.faults(vertices);
    if attachment.skin_weights.len() != vertices {
        faults.push("home: the skinned shape needs skin weights, one list for each vertex".into());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Frees nodes that are fixed to a bone but painted to others as well.
pub(super) fn loosen(attachment: &AttachmentDesc, rig: &RestRig, shape: &Shape, found: &mut Attachment) {
    let vertex_weights = vertex_weights(attachment, rig);
    let neighbours = NodeNeighbours::build(shape.mesh.nodes.len(), &shape.mesh.tets);
    let none = vec![None; found.fixed.len()];
    let weights = node_weights(shape, &neighbours, &vertex_weights, (&none, &found.reference));
    for (bone, weights) in found.fixed.iter_mut().zip(&weights) {
        let own = |fixed: usize| weights.iter().find(|(other, _)| *other as usize == fixed);
        if bone.is_some_and(|bone| own(bone).is_none_or(|(_, weight)| *weight < WHOLLY_PAINTED)) {
            *bone = None;
        }
    }
}

/// The homes of a body's nodes.
pub(super) fn build(
    home: &HomeDesc,
    attachment: &AttachmentDesc,
    rig: &RestRig,
    shape: &Shape,
    found: &Attachment,
) -> HomeParts {
    let vertex_weights = vertex_weights(attachment, rig);
    let neighbours = NodeNeighbours::build(shape.mesh.nodes.len(), &shape.mesh.tets);
    let node_weights = node_weights(shape, &neighbours, &vertex_weights, (&found.fixed, &found.reference));
    let squared: Vec<f64> = home.frequency.iter().map(|omega| omega * omega).collect();
    let stiffness = smooth(&neighbours, node_values(shape, &neighbours, &squared));
    let limits = node_values(shape, &neighbours, &home.limit);
    let even = smooth(&neighbours, limits.clone());
    let springs = stiffness.into_iter().zip(limits).zip(even).map(|((stiffness, limit), even)| {
        let damping = 2.0 * home.damping_ratio * stiffness.sqrt();
        HomeSpring { stiffness, limit: WITHIN * limit.min(even), damping }
    });
    HomeParts {
        body: 0,
        first_node: 0,
        bones: rig.bones.clone(),
        node_weights,
        springs: springs.collect(),
        surface: shape.surface.vertices.clone(),
        vertex_weights,
        gravity_fraction: home.gravity_fraction,
    }
}

/// The weights of all nodes, from those of the surface they carry. Nodes `fixed` to a bone have all of it; nodes that no surface reaches through the cage have all of
/// their `reserve`.
fn node_weights(
    shape: &Shape,
    neighbours: &NodeNeighbours,
    vertex_weights: &[BoneWeights],
    (fixed, reserve): (&[Option<usize>], &[usize]),
) -> Vec<BoneWeights> {
    let mut weights = NodeWeights::of_surface(&shape.embedding, vertex_weights, 0.0);
    weights.fix(fixed);
    weights.fill(neighbours);
    weights.fill_up(reserve);
    weights.smooth(neighbours, |node| fixed[node].is_none(), SMOOTHING);
    weights.into_lists()
}

/// The mean over the surface that each node carries of a value per vertex; nodes that carry nothing take the mean of their neighbours, layer by layer.
fn node_values(shape: &Shape, neighbours: &NodeNeighbours, vertex: &[f64]) -> Vec<f64> {
    let carried = |node: usize| shape.embedding.mean_at_node(node, |v| vertex[v]);
    let mut values: Vec<Option<f64>> = (0..neighbours.node_count()).map(carried).collect();
    let all = values.iter().flatten().sum::<f64>() / values.iter().flatten().count().max(1) as f64;
    neighbours.fill(&mut values, Option::is_none, |values, around| {
        let near: Vec<f64> = around.iter().filter_map(|other| values[*other as usize]).collect();
        (!near.is_empty()).then(|| near.iter().sum::<f64>() / near.len() as f64)
    });
    values.into_iter().map(|value| value.unwrap_or(all)).collect()
}

/// Rounds of averaging springs over the edges of the cage.
const SPRING_ROUNDS: usize = 6;

/// Averages positive values over the edges of the cage, so that flesh swings as a whole where its thickness or its bone changes, instead of in facets. With Nᵢ the neighbours of node i, each round is
///
/// ```text
/// ln aᵢ ← ½ ln aᵢ + ½ mean(ln aⱼ, j ∈ Nᵢ)
/// ```
fn smooth(neighbours: &NodeNeighbours, mut values: Vec<f64>) -> Vec<f64> {
    values.iter_mut().for_each(|value| *value = real::ln(value.max(f64::MIN_POSITIVE)));
    for _ in 0..SPRING_ROUNDS {
        let old = values.clone();
        for (node, value) in values.iter_mut().enumerate() {
            let around = neighbours.of_node(node);
            if !around.is_empty() {
                let mean = around.iter().map(|other| old[*other as usize]).sum::<f64>() / around.len() as f64;
                *value = 0.5 * (*value + mean);
            }
        }
    }
    values.iter_mut().for_each(|value| *value = real::exp(*value));
    values
}

/// The skin weights of vertices over the bones of the built rig, in their order, with a sum of 1; unpainted vertices follow the first bone.
fn vertex_weights(attachment: &AttachmentDesc, rig: &RestRig) -> Vec<BoneWeights> {
    let mut of_vertex = rig.painted(&attachment.skin_weights);
    for own in &mut of_vertex {
        own.sort_unstable_by_key(|(bone, _)| *bone);
        normalise(own, 0.0);
        if own.is_empty() {
            own.push((0, 1.0));
        }
    }
    of_vertex
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of tets whose values jump by a factor of 100 in the middle: they rise evenly afterwards, within their range, and equal values stay as they are.
    #[test]
    fn springs_change_evenly_along_the_cage() {
        let tets: Vec<[u32; 4]> = (0..37).map(|i| [i, i + 1, i + 2, i + 3]).collect();
        let neighbours = NodeNeighbours::build(40, &tets);
        let jump: Vec<f64> = (0..40).map(|i| if i < 20 { 1.0 } else { 100.0 }).collect();
        let even = smooth(&neighbours, jump);
        for pair in even.windows(2) {
            let ratio = pair[1] / pair[0];
            assert!((1.0 - 1e-12..2.5).contains(&ratio), "{ratio}");
        }
        assert!(even.iter().all(|value| (1.0 - 1e-12..100.0 + 1e-9).contains(value)));
        assert!(smooth(&neighbours, vec![7.0; 40]).iter().all(|value| (value - 7.0).abs() < 1e-12));
    }
}
