//! Homes of a body's nodes, from its skin weights and the values at its vertices.

use crate::body::Shape;
use crate::desc::{AttachmentDesc, HomeDesc};
use crate::home::{BoneWeights, HomeParts, HomeSpring, PaintedCage, spread_values};
use crate::rig::{Attachment, RestRig};

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
    let cage = painted_cage(shape, &vertex_weights);
    let none = vec![None; found.fixed.len()];
    let weights = cage.spread(cage.painted(), &none, &found.reference);
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
    let cage = painted_cage(shape, &vertex_weights);
    let node_weights = cage.spread(cage.painted(), &found.fixed, &found.reference);
    let spread = |values: &[f64]| spread_values(&shape.mesh.tets, &shape.embedding, values);
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

fn painted_cage<'a>(shape: &'a Shape, vertex_weights: &'a [BoneWeights]) -> PaintedCage<'a> {
    PaintedCage { tets: &shape.mesh.tets, embedding: &shape.embedding, vertex_weights }
}

/// The skin weights of vertices over the bones of the built rig, in their order, with a sum of 1; unpainted vertices follow the first bone.
fn vertex_weights(attachment: &AttachmentDesc, rig: &RestRig) -> Vec<BoneWeights> {
    let of_vertex = |painted: &Vec<(u32, f32)>| {
        let mut own: BoneWeights = painted
            .iter()
            .filter_map(|(place, weight)| {
                Some((rig.bone_of_desc(*place as usize)? as u32, f64::from(*weight)))
            })
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        own.sort_unstable_by_key(|(bone, _)| *bone);
        let sum: f64 = own.iter().map(|(_, weight)| weight).sum();
        if sum > 0.0 {
            own.iter_mut().for_each(|(_, weight)| *weight /= sum);
        } else {
            own = vec![(0, 1.0)];
        }
        own
    };
    attachment.skin_weights.iter().map(of_vertex).collect()
}
