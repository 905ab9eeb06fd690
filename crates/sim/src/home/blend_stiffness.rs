//! Stiffness of flesh between bones: what elasticity does against the motion of one bone beside the others.
//!
//! Elements of flesh with a home see nodes relative to their homes, so that a motion u_b of bone b, with nodes at rest, is a displacement −w_b u_b of their nodes. Over an element its gradient is
//! −u_b ⊗ ∇w_b, as far as weights change; the rigid motion of all bones together does nothing. Its energy is bounded by
//!
//! ```text
//! E = V/2 (μ (|u|² |∇w|² + (u · ∇w)²) + λ (u · ∇w)²) ≤ V/2 (2μ + λ) |∇w|² |u|²
//! ```
//!
//! and of the n bones of an element together by n times the sum of these. A quarter of it, n V (2μ + λ) |∇w_b|²/4, is laid on each node.

use super::Homes;
use sinew_flesh::ElementDesc;
use sinew_math::{Mat3, Vec3};

/// The stiffness of all parts of nodes (N/m), in their order. Elements none of whose nodes is free have none.
pub(crate) fn blend_stiffness(
    homes: &Homes,
    elements: &[ElementDesc],
    node_rest: &[Vec3],
    is_free: impl Fn(usize) -> bool,
) -> Vec<f64> {
    let nodes = homes.bodies.iter().flat_map(|body| body.nodes.clone());
    let count = nodes.map(|node| homes.range_of_node(node).end).max().unwrap_or(0);
    let mut stiffness = vec![0.0; count];
    let mut bones: Vec<u32> = Vec::new();
    for element in elements {
        let corners = element.nodes.map(|node| node as usize);
        let free = corners.iter().filter(|node| is_free(**node)).count() as f64;
        bones.clear();
        bones.extend(corners.iter().flat_map(|node| homes.of_node(*node)).map(|part| part.bone));
        bones.sort_unstable();
        bones.dedup();
        if bones.len() < 2 || free == 0.0 {
            continue;
        }

        // what each of its bones strains
        let [a, b, c, d] = corners.map(|node| node_rest[node]);
        let edges = Mat3::from_columns(&[b - a, c - a, d - a]);
        let Some(inverse) = edges.try_inverse() else { continue };
        let lame = element.material.lame();
        let modulus = element.fill * edges.determinant().abs() / 6.0 * (2.0 * lame.mu + lame.lambda);
        for &bone in &bones {
            let weight = |node: usize| {
                homes.of_node(node).iter().find(|part| part.bone == bone).map_or(0.0, |part| part.weight)
            };
            let w = corners.map(weight);
            let gradient = inverse.tr_mul(&Vec3::new(w[1] - w[0], w[2] - w[0], w[3] - w[0]));
            let each = bones.len() as f64 * modulus * gradient.norm_squared() / free;
            for &node in corners.iter().filter(|node| is_free(**node)) {
                let range = homes.range_of_node(node);
                let own = homes.of_node(node).iter().position(|part| part.bone == bone);
                if let Some(place) = own {
                    stiffness[range.start + place] += each;
                }
            }
        }
    }
    stiffness
}
