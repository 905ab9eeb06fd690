//! Geometric nested dissection: the elimination order of a sparse Cholesky factor.
//!
//! A set of nodes is bisected at the median along the longest side of its bounding box. Nodes of the upper half that are adjacent to the lower half
//! form the separator, which is ordered last, so the two halves are uncoupled. Halves are bisected recursively until they are small. Each leaf and
//! each separator is one front of the factor.

use super::BlockCsr;
use crate::Vec3;

/// Sets of at most this many nodes are leaves.
const LEAF: usize = 24;

/// An elimination order, partitioned into fronts.
#[derive(Clone, Debug, Default)]
pub(super) struct Dissection {
    /// The nodes in elimination order.
    pub(super) order: Vec<u32>,
    /// The number of nodes of each front; fronts are contiguous in the order.
    pub(super) fronts: Vec<usize>,
}

impl Dissection {
    /// Orders the rows of a matrix whose nodes are at `positions`.
    pub(super) fn find(matrix: &BlockCsr, positions: &[Vec3]) -> Dissection {
        let mut found = Dissection::default();
        let mut side = vec![Side::Outside; matrix.row_count()];
        found.bisect(matrix, positions, (0..matrix.row_count() as u32).collect(), &mut side);
        found
    }

    fn bisect(&mut self, matrix: &BlockCsr, positions: &[Vec3], mut nodes: Vec<u32>, side: &mut [Side]) {
        if nodes.len() <= LEAF {
            self.push(nodes);
            return;
        }
        // median split along the longest side
        let axis = longest_side(positions, &nodes);
        let key = |node: &u32| positions[*node as usize][axis];
        nodes.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        let upper = nodes.split_off(nodes.len() / 2);

        // the separator: nodes of the upper half adjacent to the lower one
        nodes.iter().for_each(|node| side[*node as usize] = Side::Lower);
        let is_adjacent = |node: &u32| {
            matrix.columns_of(*node as usize).iter().any(|other| side[*other as usize] == Side::Lower)
        };
        let (separator, rest): (Vec<u32>, Vec<u32>) = upper.into_iter().partition(is_adjacent);
        nodes.iter().for_each(|node| side[*node as usize] = Side::Outside);
        if rest.is_empty() {
            // the graph is dense: bisection gains nothing
            nodes.extend(separator);
            self.push(nodes);
            return;
        }
        self.bisect(matrix, positions, nodes, side);
        self.bisect(matrix, positions, rest, side);
        self.push(separator);
    }

    fn push(&mut self, nodes: Vec<u32>) {
        if !nodes.is_empty() {
            self.fronts.push(nodes.len());
            self.order.extend(nodes);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Outside,
    Lower,
}

fn longest_side(positions: &[Vec3], nodes: &[u32]) -> usize {
    let first = positions[nodes[0] as usize];
    let (mut low, mut high) = (first, first);
    for node in nodes {
        low = low.inf(&positions[*node as usize]);
        high = high.sup(&positions[*node as usize]);
    }
    (high - low).imax()
}
