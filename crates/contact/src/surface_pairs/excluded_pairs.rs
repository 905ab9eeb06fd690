//! Excluded pairs: subtrees of one surface whose primitives all move together and never collide, found once at rest.

use super::carrier_sets::CarrierSets;
use super::creases::CreaseBounds;
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
    /// Finds all pairs with something to test; `move_together(a, b)` tells whether all primitives of two leaves do.
    pub(super) fn find(
        surface_tree: &SurfaceTree,
        (carriers, creases): (&CarrierSets, &CreaseBounds),
        move_together: &(impl Fn(u32, u32) -> bool + Sync),
    ) -> ExcludedPairs {
        if surface_tree.tree.nodes.is_empty() {
            return ExcludedPairs::default();
        }
        let mut pairs = Vec::new();
        Search { surface_tree, carriers, creases, move_together }.within(0, 0, &mut pairs);
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
    pub(super) fn contains(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a.min(b) as usize, a.max(b));
        let Some(&[from, to]) = self.first.get(a..a + 2) else { return false };
        self.others[from as usize..to as usize].binary_search(&b).is_ok()
    }
}

struct Search<'a, N> {
    surface_tree: &'a SurfaceTree,
    carriers: &'a CarrierSets,
    creases: &'a CreaseBounds,
    move_together: &'a N,
}

/// The largest excluded pairs below those visited so far.
type Found = Vec<(u32, u32)>;

impl<N: Fn(u32, u32) -> bool + Sync> Search<'_, N> {
    /// Whether one carrier moves everything below two nodes, and nothing of them can face each other.
    fn move_as_one(&self, a: u32, b: u32) -> bool {
        self.carriers.move_together(a, b) && !self.creases.may_face(a, b)
    }

    /// Adds the largest excluded pairs within a subtree; returns whether all of it is excluded.
    fn within(&self, a: u32, depth: usize, out: &mut Found) -> bool {
        let node = self.surface_tree.tree.nodes[a as usize];
        let start = out.len();
        if self.move_as_one(a, a) {
            return add_whole(a, a, start, out);
        }
        let (left, right) = (a + 1, node.start);
        let is_whole = if node.count > 0 {
            (self.move_together)(a, a)
        } else if depth < PARALLEL_DEPTH {
            let (mut second, mut across) = (Vec::new(), Vec::new());
            let both = || {
                rayon::join(
                    || self.within(left, depth + 1, out),
                    || self.within(right, depth + 1, &mut second),
                )
            };
            let (both, apart) = rayon::join(both, || self.between(left, right, &mut across));
            out.append(&mut second);
            out.append(&mut across);
            both.0 && both.1 && apart
        } else {
            let ours = self.within(left, depth + 1, out);
            let theirs = self.within(right, depth + 1, out);
            self.between(left, right, out) && ours && theirs
        };
        is_whole && add_whole(a, a, start, out)
    }

    /// The same between two subtrees. Pairs without anything to test count as excluded but are not added.
    fn between(&self, a: u32, b: u32, out: &mut Found) -> bool {
        let surface_tree = self.surface_tree;
        let [ra, rb] = [&surface_tree.rest[a as usize], &surface_tree.rest[b as usize]];
        if !ra.intersects(rb) {
            return false;
        }
        let [na, nb] = [a, b].map(|node| &surface_tree.nodes[node as usize]);
        if !na.tested.meets(nb.tested) {
            return true;
        }
        if self.carriers.are_disjoint(a, b) {
            return false;
        }
        let start = out.len();
        if self.move_as_one(a, b) {
            return add_whole(a, b, start, out);
        }
        let opens_first = nb.count > 0
            || (na.count == 0 && (ra.max - ra.min).norm_squared() >= (rb.max - rb.min).norm_squared());
        let is_whole = match (na.count > 0, nb.count > 0) {
            (true, true) => (self.move_together)(a, b),
            _ if opens_first => {
                let first = self.between(a + 1, b, out);
                self.between(na.start, b, out) && first
            }
            _ => {
                let first = self.between(a, b + 1, out);
                self.between(a, nb.start, out) && first
            }
        };
        is_whole && add_whole(a, b, start, out)
    }
}

/// Replaces the excluded pairs from `start` on by a pair of which they are all; returns `true`.
fn add_whole(a: u32, b: u32, start: usize, out: &mut Found) -> bool {
    out.truncate(start);
    out.push((a.min(b), a.max(b)));
    true
}
