//! Point location in a cage: the tet of each surface vertex, in the copy that belongs to its part of the solid.

use super::cells::{CellKind, Cells};
use super::fragments::CellFragments;
use super::lattice::{LatticeTet, TetKey};
use super::virtual_nodes::MergedMesh;
use crate::{Embedding, Solid};
use rayon::prelude::*;
use sinew_math::Vec3;

/// A surface vertex embedded in a tet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmbeddedVertex {
    pub(crate) tet: u32,
    /// Barycentric weights of the corners of the tet.
    pub(crate) weights: [f64; 4],
    /// Whether the tet contains it; otherwise it is extrapolated.
    pub(crate) is_inside: bool,
}

/// Finds the tet of a cage that contains a point.
pub(crate) struct TetLocator<'a> {
    pub(crate) solid: &'a Solid,
    pub(crate) cells: &'a Cells,
    fragments: &'a [CellFragments],
    /// The index of the first fragment of each cell.
    first: Vec<usize>,
    fragment_tet: &'a [u32],
}

impl<'a> TetLocator<'a> {
    pub(crate) fn new(
        solid: &'a Solid,
        cells: &'a Cells,
        fragments: &'a [CellFragments],
        fragment_tet: &'a [u32],
    ) -> Self {
        let mut first = vec![0];
        for p in fragments {
            first.push(first.last().copied().unwrap_or(0) + p.fragments.len());
        }
        Self { solid, cells, fragments, first, fragment_tet }
    }

    /// Embeds every vertex in the tet that contains it, in the copy of its triangle.
    pub(crate) fn embed_vertices(&self) -> Vec<EmbeddedVertex> {
        let solid = self.solid;
        let mut triangle_of = vec![u32::MAX; solid.vertices.len()];
        for (t, corners) in solid.triangles.iter().enumerate().rev() {
            corners.iter().for_each(|&v| triangle_of[v as usize] = t as u32);
        }
        let place = |v: usize| {
            let p = self.cells.vertices[v];
            let (cell, is_inside) = match self.cell(&p) {
                Some(cell) => (cell, true),
                None => (nearest_cell(self.cells, &p), false),
            };
            let cut = self.cells.cuts(cell).binary_search_by_key(&triangle_of[v], |cut| cut.triangle);
            let fragment = cut.map_or(0, |k| self.fragments[cell].cut_fragment[k]);
            let weights = LatticeTet::of(self.cells.keys[cell]).barycentric(&p);
            EmbeddedVertex { tet: self.tet(cell, fragment), weights, is_inside }
        };
        (0..solid.vertex_count).into_par_iter().with_min_len(1024).map(place).collect()
    }

    fn cell(&self, p: &Vec3) -> Option<usize> {
        TetKey::containing(p).and_then(|key| self.cells.cell(key))
    }

    fn tet(&self, cell: usize, fragment: u32) -> u32 {
        self.fragment_tet[self.first[cell] + fragment as usize]
    }

    /// The tet that contains a point (lattice coordinates), before any node was moved, and the kind of its cell. Among several
    /// copies it is that of the nearest surface: nothing lies between an inside point and the surface nearest to it.
    pub(crate) fn tet_containing(&self, p: &Vec3) -> Option<(u32, CellKind)> {
        let cell = self.cell(p)?;
        let fragments = &self.fragments[cell];
        let mut nearest = (f64::INFINITY, 0);
        if fragments.fragments.len() > 1 {
            for (cut, &fragment) in core::iter::zip(self.cells.cuts(cell), &fragments.cut_fragment) {
                let corners =
                    self.solid.triangles[cut.triangle as usize].map(|v| self.cells.vertices[v as usize]);
                let distance = (closest_point(&corners, p) - p).norm_squared();
                if distance < nearest.0 {
                    nearest = (distance, fragment);
                }
            }
        }
        Some((self.tet(cell, nearest.1), self.cells.kinds[cell]))
    }
}

/// The embedding of all vertices, and the number of those outside the cage.
pub(crate) fn embed(joined: &MergedMesh, embedded: &[EmbeddedVertex]) -> (Embedding, usize) {
    let points: Vec<([u32; 4], [f64; 4])> =
        embedded.iter().map(|r| (joined.mesh.tets[r.tet as usize], r.weights)).collect();
    let outside = embedded.iter().filter(|r| !r.is_inside).count();
    (Embedding::from_barycentric(joined.mesh.nodes.len(), &points), outside)
}

/// A cell near a point outside the cage: the nearest of a few hundred, for vertices without triangles.
fn nearest_cell(cells: &Cells, p: &Vec3) -> usize {
    let distance = |c: &usize| (LatticeTet::of(cells.keys[*c]).point(&[0.25; 4]) - p).norm_squared();
    let spread = (0..cells.count()).step_by(cells.count().div_ceil(256).max(1));
    spread.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// The closest point of a triangle to `p`.
fn closest_point(corners: &[Vec3; 3], p: &Vec3) -> Vec3 {
    let [a, b, c] = corners;
    let normal = (b - a).cross(&(c - a));
    let is_over = (0..3).all(|i| {
        let (q, r) = (corners[i], corners[(i + 1) % 3]);
        normal.cross(&(r - q)).dot(&(p - q)) >= 0.0
    });
    if is_over && normal.norm_squared() > 0.0 {
        return p - normal * (normal.dot(&(p - a)) / normal.norm_squared());
    }
    let on_edge = |i: usize| {
        let (q, edge) = (corners[i], corners[(i + 1) % 3] - corners[i]);
        q + edge * (edge.dot(&(p - q)) / edge.norm_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    };
    let far = |q: &Vec3| (q - p).norm_squared();
    let nearer = |q: Vec3, r: Vec3| if far(&r) < far(&q) { r } else { q };
    nearer(nearer(on_edge(0), on_edge(1)), on_edge(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_point_of_a_triangle_is_on_its_face_edge_or_corner() {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(Vec3::from);
        let cases = [
            ([0.2, 0.3, 5.0], [0.2, 0.3, 0.0]),
            ([0.4, -2.0, 1.0], [0.4, 0.0, 0.0]),
            ([-3.0, -2.0, 1.0], [0.0, 0.0, 0.0]),
            ([1.0, 1.0, 0.0], [0.5, 0.5, 0.0]),
        ];
        for (p, q) in cases {
            assert!((closest_point(&corners, &p.into()) - Vec3::from(q)).norm() < 1e-15);
        }
    }
}
