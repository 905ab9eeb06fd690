//! Snapping of cage nodes to given points (anchors).
//!
//! An interior node can move to any point in the kernel of its star, where no incident tet inverts. The faces opposite the node do not move,
//! so the star fills the same space: no embedded vertex leaves the cage, and a vertex of the star finds its new tet within the star. Boundary
//! nodes of the cage lie outside the solid; moving one inwards would pull the cage off the surface, so they stay.

use super::cells::CellKind;
use super::fill_sampling::samples;
use super::fragments::Fragment;
use super::lattice::TetKey;
use super::tet_fill::TetFill;
use super::tet_locator::{EmbeddedVertex, TetLocator};
use crate::TetMesh;
use rayon::prelude::*;
use sinew_math::{Mat3, Vec3};

/// The minimum quality of a tet with a moved node: volume / longest edge³ relative to that of a lattice tet (1/12).
///
/// A single node that moves anywhere within its Voronoi cell, so by at most √5/4 of an edge, keeps all its tets above this: at the worst
/// point, the Voronoi vertex at (½, ¼, 0) edges, a tet keeps a quarter of its volume. So an anchor gets no node only if the nearest nodes
/// are boundary nodes or other anchors are close.
const MIN_QUALITY: f64 = 0.2;

/// The number of tets around an interior lattice node.
const TETS_AROUND: usize = 24;

/// Assigns nodes to anchors and moves them.
pub(crate) struct Anchoring<'a> {
    locator: &'a TetLocator<'a>,
    mesh: &'a mut TetMesh,
    embedded: &'a mut [EmbeddedVertex],
    /// The tets incident to each candidate node.
    around: Vec<Vec<u32>>,
    /// The surface vertices embedded in each tet.
    vertices_of_tet: Vec<Vec<u32>>,
    /// Whether a tet has a moved node.
    is_modified: Vec<bool>,
}

/// Moves nodes onto the anchors and updates embedded vertices and fills. Returns the node of each anchor, if it got one.
pub(crate) fn move_nodes(
    locator: &TetLocator<'_>,
    anchors: &[Vec3],
    mesh: &mut TetMesh,
    embedded: &mut [EmbeddedVertex],
    fills: &mut [TetFill],
) -> Vec<Option<u32>> {
    if anchors.is_empty() {
        return Vec::new();
    }
    let mut anchoring = Anchoring::new(locator, mesh, embedded);
    let node_of = anchoring.assign(anchors);
    anchoring.fill(fills);
    node_of
}

impl<'a> Anchoring<'a> {
    fn new(locator: &'a TetLocator<'a>, mesh: &'a mut TetMesh, embedded: &'a mut [EmbeddedVertex]) -> Self {
        let mut vertices_of_tet = vec![Vec::new(); mesh.tets.len()];
        for (v, vertex) in embedded.iter().enumerate() {
            vertices_of_tet[vertex.tet as usize].push(v as u32);
        }
        let (around, is_modified) = (vec![Vec::new(); mesh.nodes.len()], vec![false; mesh.tets.len()]);
        Self { locator, mesh, embedded, around, vertices_of_tet, is_modified }
    }

    /// Greedy assignment: pairs of anchor and node in order of distance. The candidates of an anchor are the corners of the tet that contains
    /// it, the nearest of which is the nearest node.
    fn assign(&mut self, anchors: &[Vec3]) -> Vec<Option<u32>> {
        let mut pairs: Vec<(f64, u32, u32)> = Vec::new();
        for (i, anchor) in anchors.iter().enumerate() {
            let p = self.locator.cells.lattice.lattice_from_space(anchor);
            let Some((tet, _)) = self.locator.tet_containing(&p) else { continue };
            let distance = |n: u32| (self.mesh.nodes[n as usize] - anchor).norm();
            pairs.extend(self.mesh.tets[tet as usize].map(|n| (distance(n), i as u32, n)));
        }
        pairs.sort_by(|p, q| p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2))));
        self.find_around(pairs.iter().map(|p| p.2));

        let mut node_of = vec![None; anchors.len()];
        let mut is_taken = vec![false; self.mesh.nodes.len()];
        for (_, anchor, node) in pairs {
            let (a, n) = (anchor as usize, node as usize);
            if node_of[a].is_none() && !is_taken[n] && self.may_move(node, &anchors[a]) {
                self.move_node(node, &anchors[a]);
                (node_of[a], is_taken[n]) = (Some(node), true);
            }
        }
        node_of
    }

    /// Finds the stars of the given nodes.
    fn find_around(&mut self, nodes: impl Iterator<Item = u32>) {
        let mut is_wanted = vec![false; self.mesh.nodes.len()];
        nodes.for_each(|n| is_wanted[n as usize] = true);
        for (t, tet) in self.mesh.tets.iter().enumerate() {
            for &n in tet.iter().filter(|&&n| is_wanted[n as usize]) {
                self.around[n as usize].push(t as u32);
            }
        }
    }

    /// Whether the node is interior and its tets keep the minimum quality with it at `place`.
    fn may_move(&self, node: u32, place: &Vec3) -> bool {
        let around = &self.around[node as usize];
        around.len() == TETS_AROUND
            && self.is_closed_around(node)
            && around.iter().all(|&t| {
                let corner = |n: u32| if n == node { *place } else { self.mesh.nodes[n as usize] };
                quality(&self.mesh.tets[t as usize].map(corner)) >= MIN_QUALITY
            })
    }

    /// Whether each face at the node has a tet on both sides. Across a face there is one lattice tet only, so 24 tets without
    /// open faces are the 24 tets around a lattice point, each once.
    fn is_closed_around(&self, node: u32) -> bool {
        let mut pairs = Vec::with_capacity(3 * TETS_AROUND);
        for &t in &self.around[node as usize] {
            let others: Vec<u32> = self.mesh.tets[t as usize].into_iter().filter(|&n| n != node).collect();
            for i in 0..others.len() {
                let (a, b) = (others[i], others[(i + 1) % others.len()]);
                pairs.push((a.min(b), a.max(b)));
            }
        }
        pairs.sort_unstable();
        pairs.chunk_by(|a, b| a == b).all(|same| same.len() == 2)
    }

    /// Moves a node and re-embeds the surface vertices of its star.
    fn move_node(&mut self, node: u32, place: &Vec3) {
        self.mesh.nodes[node as usize] = *place;
        let around = core::mem::take(&mut self.around[node as usize]);
        let mut moving: Vec<u32> =
            around.iter().flat_map(|&t| core::mem::take(&mut self.vertices_of_tet[t as usize])).collect();
        moving.sort_unstable();
        let shapes: Vec<(u32, Vec3, Mat3)> = around
            .iter()
            .filter_map(|&t| self.barycentric_map(t).map(|(a, inverse)| (t, a, inverse)))
            .collect();
        for v in moving {
            let p = self.locator.solid.vertices[v as usize];
            let vertex = &mut self.embedded[v as usize];
            let (stays, is_inside) = (vertex.tet, vertex.is_inside);
            // a vertex outside the cage keeps its tet
            let weighed = shapes.iter().filter(|(t, ..)| is_inside || *t == stays);
            let weighed = weighed.map(|(t, a, inverse)| (*t, weights(a, inverse, &p)));
            if let Some((tet, weights)) =
                weighed.max_by(|(_, x), (_, y)| min_weight(x).total_cmp(&min_weight(y)))
            {
                (vertex.tet, vertex.weights) = (tet, weights);
            }
            self.vertices_of_tet[vertex.tet as usize].push(v);
        }
        around.iter().for_each(|&t| self.is_modified[t as usize] = true);
        self.around[node as usize] = around;
    }

    /// The barycentric map of a tet: its first corner and the inverse of its edge matrix; `None` if it is degenerate.
    fn barycentric_map(&self, t: u32) -> Option<(Vec3, Mat3)> {
        Some((self.mesh.corners(t as usize)[0], self.mesh.edges(t as usize).try_inverse()?))
    }

    /// Resamples the fill of tets with moved nodes. A sample is solid if it is inside the solid and in a tet of the same part of the cage.
    fn fill(&self, fills: &mut [TetFill]) {
        let volume = self.locator.cells.lattice.tet_volume();
        fills.par_iter_mut().enumerate().filter(|(t, _)| self.is_modified[*t]).for_each(|(t, fill)| {
            let corners = self.mesh.corners(t);
            let mut is_full = true;
            let inside: Vec<[f64; 4]> = samples(TetKey(t as u64))
                .filter(|b| {
                    let kind = self.kind_at(&(0..4).map(|i| b[i] * corners[i]).sum());
                    is_full &= kind == Some(CellKind::Full);
                    kind.is_some()
                })
                .collect();
            let fragment = if is_full {
                Fragment { fill: 1.0, corners: [0.25; 4] }
            } else {
                Fragment::of(&inside, || [0.25; 4])
            };
            *fill = TetFill { fragment, is_full, relative_volume: self.mesh.tet_volume(t) / volume };
        });
    }

    /// The kind of the cell at a point (m), if the point is solid and in a part of the cage with moved nodes.
    fn kind_at(&self, p: &Vec3) -> Option<CellKind> {
        let (tet, kind) = self.locator.tet_containing(&self.locator.cells.lattice.lattice_from_space(p))?;
        let is_solid =
            self.is_modified[tet as usize] && (kind == CellKind::Full || self.locator.solid.contains(p));
        is_solid.then_some(kind)
    }
}

/// Tet quality 12 V / l³ with the longest edge l: 1 for a lattice tet, 0 for a flat one, negative for an inverted one.
fn quality(corners: &[Vec3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let volume = (b - a).dot(&(c - a).cross(&(d - a))) / 6.0;
    let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
    let longest = edges.iter().map(|e| e.norm_squared()).fold(0.0, f64::max).sqrt();
    12.0 * volume / (longest * longest * longest)
}

/// Barycentric weights of `p`, from the first corner of a tet and the inverse of its edge matrix.
fn weights(first: &Vec3, inverse: &Mat3, p: &Vec3) -> [f64; 4] {
    let w = inverse * (p - first);
    [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
}

fn min_weight(weights: &[f64; 4]) -> f64 {
    weights.iter().fold(f64::INFINITY, |m, w| m.min(*w))
}

#[cfg(test)]
mod tests {
    use super::super::lattice::{LatticeTet, to_vec};
    use super::*;

    /// The star of a lattice node, with the node displaced by `offset` (in edges).
    fn star(offset: Vec3) -> Vec<[Vec3; 4]> {
        let node = [20, 20, 20];
        let cubes = (0..8).map(|i| [9 + (i & 1), 9 + (i >> 1 & 1), 9 + (i >> 2)]);
        let mut keys: Vec<TetKey> = cubes.flat_map(TetKey::of_cube).collect();
        keys.sort_unstable();
        keys.dedup();
        let corners = keys.into_iter().map(|key| LatticeTet::of(key).corners());
        let place = |c: [i32; 3]| if c == node { to_vec(node) / 2.0 + offset } else { to_vec(c) / 2.0 };
        corners.filter(|tet| tet.contains(&node)).map(|tet| tet.map(place)).collect()
    }

    #[test]
    fn a_lattice_tet_has_quality_one() {
        let star = star(Vec3::zeros());
        assert_eq!(star.len(), TETS_AROUND);
        assert!(star.iter().all(|tet| (quality(tet) - 1.0).abs() < 1e-12));
    }

    /// The Voronoi cell of a lattice point is a truncated octahedron: |x| ≤ ½ and |x| + |y| + |z| ≤ ¾. By symmetry one octant
    /// is enough, on a grid that has all of its corners.
    #[test]
    fn a_single_node_can_move_anywhere_in_its_voronoi_cell() {
        let mut worst = f64::INFINITY;
        for i in 0..=20 {
            for j in 0..=20 {
                for k in (0..=20).filter(|k| i + j + k <= 30) {
                    let offset = Vec3::new(f64::from(i), f64::from(j), f64::from(k)) / 40.0;
                    worst = star(offset).iter().map(quality).fold(worst, f64::min);
                }
            }
        }
        assert!((MIN_QUALITY..1.5 * MIN_QUALITY).contains(&worst), "{worst}");
    }
}
