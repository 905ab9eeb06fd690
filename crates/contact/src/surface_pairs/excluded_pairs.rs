//! Excluded pairs: subtrees of one surface whose primitives all move together and never collide, found once at rest.

use super::surface_tree::SurfaceTree;

/// Pairs of nodes of one hierarchy that need no traversal.
#[derive(Clone, Debug, Default)]
pub(super) struct ExcludedPairs {
    /// Compressed rows: for each node, the partners with larger index.
    first: Vec<u32>,
    others: Vec<u32>,
}

/// The search is parallel down to this depth.
const PARALLEL_DEPTH: usize = 8;

impl ExcludedPairs {
    /// Finds all pairs; `move_together(a, b)` tells whether all primitives of two leaves do.
    pub(super) fn find(
        surface_tree: &SurfaceTree,
        move_together: &(impl Fn(u32, u32) -> bool + Sync),
    ) -> ExcludedPairs {
        if surface_tree.tree.nodes.is_empty() {
            return ExcludedPairs::default();
        }
        let mut pairs = Search { surface_tree, move_together }.within(0, 0).1;
        pairs.sort_unstable();
        let mut first = vec![0u32; surface_tree.tree.nodes.len() + 1];
        pairs.iter().for_each(|(a, _)| first[*a as usize + 1] += 1);
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        ExcludedPairs { first, others: pairs.into_iter().map(|(_, b)| b).collect() }
    }

    /// Whether a pair of nodes is excluded.
    #[inline]
    pub(super) fn contains(&self, a: usize, b: usize) -> bool {
        let (a, b) = (a.min(b), a.max(b));
        let Some(&[from, to]) = self.first.get(a..a + 2) else { return false };
        self.others[from as usize..to as usize].binary_search(&(b as u32)).is_ok()
    }
}

struct Search<'a, N> {
    surface_tree: &'a SurfaceTree,
    move_together: &'a N,
}

/// Whether a whole pair is excluded, and the largest excluded pairs below it.
type Exclusion = (bool, Vec<(u32, u32)>);

impl<N: Fn(u32, u32) -> bool + Sync> Search<'_, N> {
    fn within(&self, a: u32, depth: usize) -> Exclusion {
        let node = self.surface_tree.tree.nodes[a as usize];
        if node.count > 0 {
            return self.leaves(a, a);
        }
        let (left, right) = (a + 1, node.start);
        let two = || (self.within(left, depth + 1), self.within(right, depth + 1));
        let (two, across) = if depth < PARALLEL_DEPTH {
            let own = || rayon::join(|| self.within(left, depth + 1), || self.within(right, depth + 1));
            rayon::join(own, || self.between(left, right))
        } else {
            (two(), self.between(left, right))
        };
        merge(a, a, [two.0, two.1, across])
    }

    fn between(&self, a: u32, b: u32) -> Exclusion {
        let surface_tree = self.surface_tree;
        let [ra, rb] = [&surface_tree.rest[a as usize], &surface_tree.rest[b as usize]];
        if !ra.intersects(rb) {
            return (false, Vec::new());
        }
        let [na, nb] = [a, b].map(|node| surface_tree.tree.nodes[node as usize]);
        let opens_first = nb.count > 0
            || (na.count == 0 && (ra.max - ra.min).norm_squared() >= (rb.max - rb.min).norm_squared());
        match (na.count > 0, nb.count > 0) {
            (true, true) => self.leaves(a, b),
            _ if opens_first => merge(a, b, [a + 1, na.start].map(|child| self.between(child, b))),
            _ => merge(a, b, [b + 1, nb.start].map(|child| self.between(a, child))),
        }
    }

    fn leaves(&self, a: u32, b: u32) -> Exclusion {
        let all = (self.move_together)(a, b);
        (all, if all { vec![(a.min(b), a.max(b))] } else { Vec::new() })
    }
}

fn merge<const N: usize>(a: u32, b: u32, parts: [Exclusion; N]) -> Exclusion {
    if parts.iter().all(|(whole, _)| *whole) {
        return (true, vec![(a.min(b), a.max(b))]);
    }
    (false, parts.into_iter().flat_map(|(_, pairs)| pairs).collect())
}
