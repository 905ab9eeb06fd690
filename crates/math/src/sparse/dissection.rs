//! The order in which rows are eliminated: nested dissection by places in space.
//!
//! A set of nodes is cut in two at the median along its longest side. Nodes of the upper half that touch the lower half are the separator: they come last,
//! and the halves before them do not see each other. Halves are cut again until they are small. Each leaf and each separator is one
//! front of the factor.

use super::BlockCsr;
use crate::Vec3;

/// Sets with no more nodes are not cut.
const LEAF: usize = 24;

/// An order of nodes, cut into fronts.
#[derive(Clone, Debug, Default)]
pub(super) struct Dissection {
    /// The node that comes at each place.
    pub(super) order: Vec<u32>,
    /// How many nodes each front has; they follow each other in the order.
    pub(super) fronts: Vec<usize>,
}

impl Dissection {
    /// Of the nodes of a matrix, which stand at `places`.
    pub(super) fn find(matrix: &BlockCsr, places: &[Vec3]) -> Dissection {
        let mut found = Dissection::default();
        let mut side = vec![Side::Outside; matrix.row_count()];
        found.cut(matrix, places, (0..matrix.row_count() as u32).collect(), &mut side);
        found
    }

    fn cut(&mut self, matrix: &BlockCsr, places: &[Vec3], mut nodes: Vec<u32>, side: &mut [Side]) {
        if nodes.len() <= LEAF {
            self.push(nodes);
            return;
        }
        let axis = longest_side(places, &nodes);
        let key = |node: &u32| places[*node as usize][axis];
        nodes.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        let upper = nodes.split_off(nodes.len() / 2);
        nodes.iter().for_each(|node| side[*node as usize] = Side::Lower);
        let touches = |node: &u32| {
            matrix.columns_of(*node as usize).iter().any(|other| side[*other as usize] == Side::Lower)
        };
        let (separator, rest): (Vec<u32>, Vec<u32>) = upper.into_iter().partition(touches);
        nodes.iter().for_each(|node| side[*node as usize] = Side::Outside);
        if rest.is_empty() {
            // everything touches everything: cutting gains nothing
            nodes.extend(separator);
            self.push(nodes);
            return;
        }
        self.cut(matrix, places, nodes, side);
        self.cut(matrix, places, rest, side);
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

fn longest_side(places: &[Vec3], nodes: &[u32]) -> usize {
    let first = places[nodes[0] as usize];
    let (mut low, mut high) = (first, first);
    for node in nodes {
        low = low.inf(&places[*node as usize]);
        high = high.sup(&places[*node as usize]);
    }
    (high - low).imax()
}
