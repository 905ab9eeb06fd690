//! Which nodes of a mesh share a tet.

/// The nodes that share a tet with each node, in increasing order.
pub(super) struct Neighbours {
    first: Vec<u32>,
    nodes: Vec<u32>,
}

impl Neighbours {
    /// Those of `node_count` nodes.
    pub(super) fn of(node_count: usize, tets: &[[u32; 4]]) -> Neighbours {
        let mut pairs: Vec<(u32, u32)> = tets
            .iter()
            .flat_map(|tet| {
                tet.iter().flat_map(|&a| tet.iter().filter(move |&&b| b != a).map(move |&b| (a, b)))
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut first = vec![0u32; node_count + 1];
        pairs.iter().for_each(|(a, _)| first[*a as usize + 1] += 1);
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        Neighbours { first, nodes: pairs.into_iter().map(|(_, b)| b).collect() }
    }

    /// Those of a node.
    pub(super) fn of_node(&self, node: usize) -> &[u32] {
        &self.nodes[self.first[node] as usize..self.first[node + 1] as usize]
    }
}
