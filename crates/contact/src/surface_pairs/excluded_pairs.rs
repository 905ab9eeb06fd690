//! Parts of a surface that hang together: pairs of patches of which no vertex ever touches a triangle of the other, found once at rest.

use super::patch::Patch;

/// Pairs of nodes of one tree that are not worth comparing.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// Where the others of each node begin, for the smaller node of each pair.
    first: Vec<u32>,
    others: Vec<u32>,
}

/// The search is split among threads down to this depth.
const SPLIT: usize = 8;

impl Beside {
    /// Finds all pairs; `never(vertex, triangle)` says which vertices never touch which triangles of the patch.
    pub(super) fn find(patch: &Patch, never: &(impl Fn(u32, u32) -> bool + Sync)) -> Beside {
        if patch.tree.nodes.is_empty() {
            return Beside::default();
        }
        let mut pairs = Search { patch, never }.within(0, 0).1;
        pairs.sort_unstable();
        let mut first = vec![0u32; patch.tree.nodes.len() + 1];
        pairs.iter().for_each(|(a, _)| first[*a as usize + 1] += 1);
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        Beside { first, others: pairs.into_iter().map(|(_, b)| b).collect() }
    }

    /// Whether two nodes are such a pair.
    #[inline]
    pub(super) fn contains(&self, a: usize, b: usize) -> bool {
        let (a, b) = (a.min(b), a.max(b));
        let Some(&[from, to]) = self.first.get(a..a + 2) else { return false };
        self.others[from as usize..to as usize].binary_search(&(b as u32)).is_ok()
    }
}

struct Search<'a, N> {
    patch: &'a Patch,
    never: &'a N,
}

/// Whether a whole pair is beside each other, and the largest pairs below it that are.
type Found = (bool, Vec<(u32, u32)>);

impl<N: Fn(u32, u32) -> bool + Sync> Search<'_, N> {
    fn within(&self, a: u32, depth: usize) -> Found {
        let node = self.patch.tree.nodes[a as usize];
        if node.count > 0 {
            return self.leaves(a, a);
        }
        let (left, right) = (a + 1, node.start);
        let two = || (self.within(left, depth + 1), self.within(right, depth + 1));
        let (two, across) = if depth < SPLIT {
            let own = || rayon::join(|| self.within(left, depth + 1), || self.within(right, depth + 1));
            rayon::join(own, || self.between(left, right))
        } else {
            (two(), self.between(left, right))
        };
        merge(a, a, [two.0, two.1, across])
    }

    fn between(&self, a: u32, b: u32) -> Found {
        let patch = self.patch;
        let [ra, rb] = [&patch.rest[a as usize], &patch.rest[b as usize]];
        if !ra.intersects(rb) {
            return (false, Vec::new());
        }
        let [na, nb] = [a, b].map(|node| patch.tree.nodes[node as usize]);
        let opens_first = nb.count > 0
            || (na.count == 0 && (ra.max - ra.min).norm_squared() >= (rb.max - rb.min).norm_squared());
        match (na.count > 0, nb.count > 0) {
            (true, true) => self.leaves(a, b),
            _ if opens_first => merge(a, b, [a + 1, na.start].map(|child| self.between(child, b))),
            _ => merge(a, b, [b + 1, nb.start].map(|child| self.between(a, child))),
        }
    }

    fn leaves(&self, a: u32, b: u32) -> Found {
        let all = self.vertices_never(a, b) && (a == b || self.vertices_never(b, a));
        (all, if all { vec![(a.min(b), a.max(b))] } else { Vec::new() })
    }

    /// Whether no vertex of the first leaf ever touches a triangle of the second.
    fn vertices_never(&self, a: u32, b: u32) -> bool {
        let (first, last) = self.patch.vertices_of_node[a as usize];
        let leaf = self.patch.tree.nodes[b as usize];
        let triangles = &self.patch.tree.order[leaf.start as usize..][..leaf.count as usize];
        let vertices = &self.patch.vertices[first as usize..last as usize];
        vertices.iter().all(|vertex| triangles.iter().all(|t| (self.never)(*vertex, *t)))
    }
}

fn merge<const N: usize>(a: u32, b: u32, parts: [Found; N]) -> Found {
    if parts.iter().all(|(whole, _)| *whole) {
        return (true, vec![(a.min(b), a.max(b))]);
    }
    (false, parts.into_iter().flat_map(|(_, pairs)| pairs).collect())
}
