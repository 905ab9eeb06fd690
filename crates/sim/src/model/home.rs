//! Homes of a body's nodes, from its skin weights and the values at its vertices.

use crate::body::Shape;
use crate::bone_weights::{BoneWeights, NodeWeights, Smoothing, normalise};
use crate::desc::{AttachmentDesc, HomeDesc};
use crate::home::{HomeParts, HomeSpring};
use crate::rig::{Attachment, RestRig};
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
    let spread = |values: &[f64]| node_values(shape, &neighbours, values);
    let squared: Vec<f64> = home.frequency.iter().map(|omega| omega * omega).collect();
    let springs = spread(&squared).into_iter().zip(spread(&home.limit)).map(|(stiffness, limit)| {
        let damping = 2.0 * home.damping_ratio * stiffness.sqrt();
        HomeSpring { stiffness, limit: WITHIN * limit, damping }
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
