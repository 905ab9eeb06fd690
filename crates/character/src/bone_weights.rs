//! Skinning weights of surfaces that nobody painted.
//!
//! The surface takes the harmonic weights of the nodes of its cage ([`Model::harmonic_weights`]) by its embedding, and the four largest are
//! kept. Where a file has painted weights, those are used instead ([`SkinWeights`](crate::SkinWeights)).

use rayon::prelude::*;
use sinew_sim::Model;

/// Bones and weights of a vertex, largest first; bone 0 where the weight is 0. They sum to 1 in single precision.
pub type VertexWeights = ([u16; 4], [f32; 4]);

/// Smaller weights are left out: a bone that turns by 180° moves such a vertex by a thousandth of its distance.
const MIN_WEIGHT: f64 = 1e-3;

/// The rig that a body is attached to, by its index, and the bones of each vertex of its surface; `None` for a body without bones.
pub fn bone_weights(model: &Model, body: usize) -> Option<(usize, Vec<VertexWeights>)> {
    let harmonic = model.harmonic_weights(body)?;
    let embedding = &model.bodies()[body].embedding;
    let bone_count = harmonic.of_bones.len();
    let vertex = |vertex: usize| {
        let mut weights = vec![0.0; bone_count];
        for (node, fraction) in embedding.point(vertex) {
            let of_node = harmonic.of_bones.iter().map(|of_bone| fraction.max(0.0) * of_bone[node as usize]);
            weights.iter_mut().zip(of_node).for_each(|(sum, weight)| *sum += weight);
        }
        best_four(&weights, harmonic.first_bone)
    };
    Some((harmonic.rig, (0..embedding.point_count()).into_par_iter().map(vertex).collect()))
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
