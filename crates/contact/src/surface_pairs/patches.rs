//! Patches: small subtrees of the hierarchies, a few neighbouring triangles each, which vertices are paired with where the triangles themselves are compared later.

use super::surface_tree::SurfaceTree;

/// A few neighbouring triangles of one surface.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    first: u32,
    count: u32,
    /// The surface that they are part of.
    pub surface: u32,
    /// The shell that all of them are part of, if it is one.
    pub shell: Option<u32>,
    /// The largest depth behind them down to which contact is detected (m).
    pub range: f64,
}

impl Patch {
    /// Whether it is small enough to be compared as a whole with vertices of other surfaces. With larger ones fewer pairs are found in less time, and more triangles of each are compared later.
    #[inline]
    pub(super) fn is_small(&self) -> bool {
        self.count <= MAX_TRIANGLES
    }

    /// The union of two neighbours.
    fn and(&self, next: &Patch) -> Patch {
        Patch {
            first: self.first.min(next.first),
            count: self.count + next.count,
            surface: self.surface,
            shell: self.shell.filter(|_| self.shell == next.shell),
            range: self.range.max(next.range),
        }
    }
}

/// The largest number of triangles of a patch that is not a leaf: two or three leaves.
const MAX_TRIANGLES: u32 = 8;

/// A patch for each node of all hierarchies.
#[derive(Clone, Debug, Default)]
pub(super) struct Patches {
    patches: Vec<Patch>,
    triangles: Vec<u32>,
}

impl Patches {
    /// The nodes of hierarchies, with the shell and the range of each triangle. Sets the number of the first patch of each hierarchy.
    pub(super) fn of_nodes(surfaces: &mut [SurfaceTree], shells: &[u32], range: &[f64]) -> Patches {
        let mut all = Patches::default();
        for (surface, tree) in surfaces.iter_mut().enumerate() {
            tree.first_patch = all.patches.len() as u32;
            let first_triangle = all.triangles.len() as u32;
            all.triangles.extend(tree.tree.order.iter().map(|t| tree.first_triangle as u32 + t));
            let of_triangle = |first: u32| {
                let triangle = all.triangles[first as usize] as usize;
                let (surface, shell) = (surface as u32, Some(shells[triangle]));
                Patch { first, count: 1, surface, shell, range: range[triangle] }
            };

            // from the last node to the first, so that children come before their parents
            let mut own: Vec<Patch> = Vec::with_capacity(tree.tree.nodes.len());
            for (i, node) in tree.tree.nodes.iter().enumerate().rev() {
                let behind = |child: usize| &own[tree.tree.nodes.len() - 1 - child];
                let patch = if node.count == 0 {
                    behind(i + 1).and(behind(node.start as usize))
                } else {
                    let triangles = node.start..node.start + node.count;
                    let mut each = triangles.map(|k| of_triangle(first_triangle + k));
                    let first = each.next().expect("a leaf has triangles");
                    each.fold(first, |sum, next| sum.and(&next))
                };
                own.push(patch);
            }
            all.patches.extend(own.into_iter().rev());
        }
        all
    }

    pub(super) fn count(&self) -> usize {
        self.patches.len()
    }

    #[inline]
    pub(super) fn patch(&self, i: u32) -> &Patch {
        &self.patches[i as usize]
    }

    /// The triangles of a patch.
    #[inline]
    pub(super) fn triangles(&self, patch: &Patch) -> &[u32] {
        &self.triangles[patch.first as usize..][..patch.count as usize]
    }
}
