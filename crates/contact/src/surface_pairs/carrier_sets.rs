//! The carriers below each node of a hierarchy, which decide for whole subtrees whether their primitives move together.

use super::surface_tree::SurfaceTree;

/// For each node the carriers of any of its vertices, and those of all of them; sorted.
#[derive(Debug)]
pub(super) struct CarrierSets {
    entries: Vec<u32>,
    nodes: Vec<NodeSets>,
}

/// Ranges of the entries.
#[derive(Clone, Copy, Debug, Default)]
struct NodeSets {
    any: (u32, u32),
    all: (u32, u32),
    /// Whether the first set is not kept, because it is large.
    has_many: bool,
}

/// Larger sets are not kept: subtrees that large are told apart by their boxes.
const MAX_KEPT: usize = 64;

impl CarrierSets {
    /// Collects the carriers from the leaves to the root; `row` gives those of a vertex.
    pub(super) fn build<'a>(tree: &SurfaceTree, row: impl Fn(u32) -> &'a [u32]) -> CarrierSets {
        let count = tree.tree.nodes.len();
        let mut sets = CarrierSets { entries: Vec::new(), nodes: vec![NodeSets::default(); count] };
        let (mut any, mut all, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for (i, node) in tree.tree.nodes.iter().enumerate().rev() {
            any.clear();
            all.clear();
            let mut has_many = false;
            if node.count > 0 {
                for (k, corner) in tree.leaf_corners(node).iter().flatten().enumerate() {
                    own.clear();
                    own.extend_from_slice(row(tree.vertices[*corner as usize]));
                    any.extend_from_slice(&own);
                    if k == 0 {
                        all.extend_from_slice(&own);
                    }
                    all.retain(|carrier| own.contains(carrier));
                }
                all.sort_unstable();
            } else {
                let [left, right] = [i + 1, node.start as usize].map(|child| sets.nodes[child]);
                has_many = left.has_many || right.has_many;
                any.extend_from_slice(sets.slice(left.any));
                any.extend_from_slice(sets.slice(right.any));
                let theirs = sets.slice(right.all);
                all.extend(sets.slice(left.all).iter().filter(|carrier| theirs.contains(carrier)));
            }
            any.sort_unstable();
            any.dedup();
            has_many |= any.len() > MAX_KEPT;
            if has_many {
                any.clear();
            }
            sets.nodes[i] = NodeSets { any: sets.keep(&any), all: sets.keep(&all), has_many };
        }
        sets
    }

    fn keep(&mut self, set: &[u32]) -> (u32, u32) {
        let first = self.entries.len() as u32;
        self.entries.extend_from_slice(set);
        (first, self.entries.len() as u32)
    }

    fn slice(&self, (first, last): (u32, u32)) -> &[u32] {
        &self.entries[first as usize..last as usize]
    }

    /// Whether one carrier moves everything below two nodes.
    pub(super) fn move_together(&self, a: u32, b: u32) -> bool {
        let [ours, theirs] = [a, b].map(|node| self.slice(self.nodes[node as usize].all));
        ours.iter().any(|carrier| theirs.contains(carrier))
    }

    /// Whether no carrier moves something below both of two nodes; `false` if that is unknown.
    pub(super) fn are_disjoint(&self, a: u32, b: u32) -> bool {
        let [ours, theirs] = [a, b].map(|node| &self.nodes[node as usize]);
        if ours.has_many || theirs.has_many {
            return false;
        }
        let (mut ours, mut theirs) = (self.slice(ours.any), self.slice(theirs.any));
        while let (Some(a), Some(b)) = (ours.first(), theirs.first()) {
            match a.cmp(b) {
                core::cmp::Ordering::Equal => return false,
                core::cmp::Ordering::Less => ours = &ours[1..],
                core::cmp::Ordering::Greater => theirs = &theirs[1..],
            }
        }
        true
    }
}
