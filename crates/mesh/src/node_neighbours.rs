//! Adjacency of the nodes of a tet mesh.

use core::ops::Range;

/// The nodes that share a tet with each node, in increasing order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeNeighbours {
    /// For each node the end of its neighbours, after a leading 0.
    ends: Vec<usize>,
    nodes: Vec<u32>,
}

impl NodeNeighbours {
    /// Those of `node_count` nodes.
    pub fn build(node_count: usize, tets: &[[u32; 4]]) -> NodeNeighbours {
        // both directions of every edge of every tet, those of a node together
        let mut ends = vec![0; node_count + 1];
        tets.iter().flatten().for_each(|a| ends[*a as usize + 1] += 3);
        (0..node_count).for_each(|node| ends[node + 1] += ends[node]);
        let (mut next, mut nodes) = (ends.clone(), vec![0; 12 * tets.len()]);
        for tet in tets {
            for (i, a) in tet.iter().enumerate() {
                for b in tet[..i].iter().chain(&tet[i + 1..]) {
                    nodes[next[*a as usize]] = *b;
                    next[*a as usize] += 1;
                }
            }
        }

        // each once, in order
        let mut kept = 0;
        for node in 0..node_count {
            let own = ends[node]..next[node];
            nodes[own.clone()].sort_unstable();
            ends[node] = kept;
            for k in own {
                // a tet may have a node twice
                let is_new = kept == ends[node] || nodes[kept - 1] != nodes[k];
                if is_new && nodes[k] as usize != node {
                    nodes[kept] = nodes[k];
                    kept += 1;
                }
            }
        }
        ends[node_count] = kept;
        nodes.truncate(kept);
        NodeNeighbours { ends, nodes }
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.ends.len().saturating_sub(1)
    }

    /// Those of a node.
    pub fn of_node(&self, node: usize) -> &[u32] {
        &self.nodes[self.range(node)]
    }

    /// Where those of a node stand among those of all nodes, one after the other.
    pub fn range(&self, node: usize) -> Range<usize> {
        self.ends[node]..self.ends[node + 1]
    }

    /// Gives empty nodes the mean of their neighbours, one layer after the other. A mean is empty where no neighbour has a value yet; nodes that no value reaches stay
    /// empty.
    pub fn fill<T>(&self, values: &mut [T], is_empty: impl Fn(&T) -> bool, mean: impl Fn(&[T], &[u32]) -> T) {
        let mut empty: Vec<usize> = (0..values.len()).filter(|node| is_empty(&values[*node])).collect();
        loop {
            let found: Vec<T> = empty.iter().map(|node| mean(values, self.of_node(*node))).collect();
            let before = empty.len();
            for (node, found) in empty.iter().zip(found) {
                values[*node] = found;
            }
            empty.retain(|node| is_empty(&values[*node]));
            if empty.len() == before {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_a_tet_are_neighbours_and_values_spread_layer_by_layer() {
        // three tets in a row, and a node in none
        let neighbours = NodeNeighbours::build(7, &[[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]]);
        assert_eq!(neighbours.node_count(), 7);
        assert_eq!(neighbours.of_node(0), [1, 2, 3]);
        assert_eq!(neighbours.of_node(3), [0, 1, 2, 4, 5]);
        assert!(neighbours.of_node(6).is_empty());

        // the layer of a node is its distance from node 0 in edges
        let mut layers = vec![None; 7];
        layers[0] = Some(0);
        neighbours.fill(&mut layers, Option::is_none, |layers: &[Option<i32>], around| {
            around.iter().filter_map(|node| layers[*node as usize]).min().map(|layer| layer + 1)
        });
        assert_eq!(layers, [Some(0), Some(1), Some(1), Some(1), Some(2), Some(2), None]);
    }
}
