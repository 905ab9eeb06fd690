//! A point that moves with something: the nodes that carry it, or where it is on a bone or an obstacle.

use sinew_math::Vec3;

/// Nodes with their weights, whose sum is 1.
pub(crate) type NodeRow = Vec<(u32, f64)>;

/// A point that moves with something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Anchor {
    /// Carried by nodes.
    Nodes(NodeRow),
    /// Fixed to a bone.
    Bone {
        rig: usize,
        /// Its place in the rig.
        bone: usize,
        /// Where on the bone (m, bone's frame).
        place: Vec3,
    },
    /// Fixed to an obstacle.
    Obstacle {
        obstacle: usize,
        /// Where on it (m, its own frame).
        place: Vec3,
    },
}

/// Σ φᵢ xᵢ
pub(crate) fn sum(row: &[(u32, f64)], values: &[Vec3]) -> Vec3 {
    row.iter().fold(Vec3::zeros(), |sum, (node, weight)| sum + *weight * values[*node as usize])
}

/// Rows scaled and added, each node once, in the order of nodes.
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
