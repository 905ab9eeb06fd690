//! Sums of what elements do to their corners, node by node in a fixed order.

use sinew_math::Vec3;

/// For each node the corners of elements that it is.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeSums {
    offsets: Vec<u32>,
    corners: Vec<u32>,
}

impl NodeSums {
    /// From the node of each corner.
    pub(super) fn build(node_count: usize, nodes: impl Iterator<Item = u32> + Clone) -> NodeSums {
        let mut offsets = vec![0u32; node_count + 1];
        nodes.clone().for_each(|node| offsets[node as usize + 1] += 1);
        for node in 0..node_count {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut corners = vec![0; offsets[node_count] as usize];
        for (corner, node) in nodes.enumerate() {
            corners[next[node as usize] as usize] = corner as u32;
            next[node as usize] += 1;
        }
        NodeSums { offsets, corners }
    }

    /// The sum over the corners of a node.
    #[inline]
    pub(super) fn at(&self, node: usize, corner_values: &[Vec3]) -> Vec3 {
        let own = &self.corners[self.offsets[node] as usize..self.offsets[node + 1] as usize];
        own.iter().fold(Vec3::zeros(), |sum, corner| sum + corner_values[*corner as usize])
    }
}
