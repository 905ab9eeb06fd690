//! Material points: weighted nodes, or a point in the frame of a bone or an obstacle.

use sinew_math::Vec3;

/// Nodes with their weights, which sum to 1.
pub(crate) type NodeRow = Vec<(u32, f64)>;

/// A material point of a body, bone or obstacle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Anchor {
    /// Interpolated between nodes.
    Nodes(NodeRow),
    /// Fixed to a bone.
    Bone {
        rig: usize,
        /// Its index in the rig.
        bone: usize,
        /// Position in the bone's frame (m).
        place: Vec3,
    },
    /// Fixed to an obstacle.
    Obstacle {
        obstacle: usize,
        /// Position in the obstacle's frame (m).
        place: Vec3,
    },
}

/// Σ φᵢ xᵢ
pub(crate) fn sum(row: &[(u32, f64)], values: &[Vec3]) -> Vec3 {
    row.iter().fold(Vec3::zeros(), |sum, (node, weight)| sum + *weight * values[*node as usize])
}

/// Linear combination of rows, each node once, in the order of nodes.
pub(crate) fn combined(parts: &[(&[(u32, f64)], f64)]) -> NodeRow {
    let mut all: NodeRow = Vec::new();
    for (row, factor) in parts {
        all.extend(row.iter().map(|(node, weight)| (*node, factor * weight)));
    }
    all.sort_by_key(|(node, _)| *node);
    all.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        if is_same {
            first.1 += next.1;
        }
        is_same
    });
    all.retain(|(_, weight)| *weight != 0.0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_node_by_node() {
        let (a, b) = ([(3, 0.5), (1, 0.5)], [(3, 0.5), (2, 0.5)]);
        assert_eq!(combined(&[(&a, 1.0), (&b, -1.0)]), [(1, 0.5), (2, -0.5)]);
    }
}
