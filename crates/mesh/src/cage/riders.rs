//! The surface's vertices in the tets of a cage, each in the copy that its part of the solid has.

use super::cells::{CellKind, Cells};
use super::joining::Joined;
use super::lattice::{Frame, TetKey};
use super::pieces::Pieces;
use crate::{Embedding, Solid};
use rayon::prelude::*;
use sinew_math::Vec3;

/// A vertex in a tet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rider {
    pub(crate) tet: u32,
    /// Barycentric weights of the tet's corners.
    pub(crate) weights: [f64; 4],
    /// Whether the tet holds it; the others are extrapolated.
    pub(crate) is_held: bool,
}

/// What tells which tet of a cage holds a point.
pub(crate) struct Places<'a> {
    pub(crate) solid: &'a Solid,
    pub(crate) cells: &'a Cells,
    pieces: &'a [Pieces],
    /// The number of each cell's first piece.
    first: Vec<usize>,
    piece_tet: &'a [u32],
}

impl<'a> Places<'a> {
    pub(crate) fn new(
        solid: &'a Solid,
        cells: &'a Cells,
        pieces: &'a [Pieces],
        piece_tet: &'a [u32],
    ) -> Self {
        let mut first = vec![0];
        for p in pieces {
            first.push(first.last().copied().unwrap_or(0) + p.pieces.len());
        }
        Self { solid, cells, pieces, first, piece_tet }
    }

    /// Puts every vertex in the tet that holds it, in the copy with its triangle.
    pub(crate) fn riders(&self) -> Vec<Rider> {
        let solid = self.solid;
        let mut triangle_of = vec![u32::MAX; solid.vertices.len()];
        for (t, corners) in solid.triangles.iter().enumerate().rev() {
            corners.iter().for_each(|&v| triangle_of[v as usize] = t as u32);
        }
        let place = |v: usize| {
            let p = self.cells.vertices[v];
            let (cell, is_held) = match self.cell(&p) {
                Some(cell) => (cell, true),
                None => (nearest_cell(self.cells, &p), false),
            };
            let cut = self.cells.cuts(cell).binary_search_by_key(&triangle_of[v], |cut| cut.triangle);
            let piece = cut.map_or(0, |k| self.pieces[cell].cut_piece[k]);
            let weights = Frame::of(self.cells.keys[cell]).barycentric(&p);
            Rider { tet: self.tet(cell, piece), weights, is_held }
        };
        (0..solid.vertex_count).into_par_iter().with_min_len(1024).map(place).collect()
    }

    fn cell(&self, p: &Vec3) -> Option<usize> {
        TetKey::holding(p).and_then(|key| self.cells.cell(key))
    }

    fn tet(&self, cell: usize, piece: u32) -> u32 {
        self.piece_tet[self.first[cell] + piece as usize]
    }

    /// The tet that holds a point (lattice), before any node was moved, and how its cell meets the solid. Of several copies it is that of
    /// the nearest wall: nothing stands between a point inside and the wall nearest to it.
    pub(crate) fn tet_holding(&self, p: &Vec3) -> Option<(u32, CellKind)> {
        let cell = self.cell(p)?;
        let pieces = &self.pieces[cell];
        let mut nearest = (f64::INFINITY, 0);
        if pieces.pieces.len() > 1 {
            for (cut, &piece) in core::iter::zip(self.cells.cuts(cell), &pieces.cut_piece) {
                let corners =
                    self.solid.triangles[cut.triangle as usize].map(|v| self.cells.vertices[v as usize]);
                let distance = (nearest_point(&corners, p) - p).norm_squared();
                if distance < nearest.0 {
                    nearest = (distance, piece);
                }
            }
        }
        Some((self.tet(cell, nearest.1), self.cells.kinds[cell]))
    }
}

/// The embedding of all riders, and how many are outside the cage.
pub(crate) fn embed(joined: &Joined, riders: &[Rider]) -> (Embedding, usize) {
    let points: Vec<([u32; 4], [f64; 4])> =
        riders.iter().map(|r| (joined.mesh.tets[r.tet as usize], r.weights)).collect();
    let outside = riders.iter().filter(|r| !r.is_held).count();
    (Embedding::from_barycentric(joined.mesh.nodes.len(), &points), outside)
}

/// A cell near a point outside the cage: the nearest of a few hundred, for points that carry nothing.
fn nearest_cell(cells: &Cells, p: &Vec3) -> usize {
    let distance = |c: &usize| (Frame::of(cells.keys[*c]).point(&[0.25; 4]) - p).norm_squared();
    let spread = (0..cells.count()).step_by(cells.count().div_ceil(256).max(1));
    spread.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// The point of a triangle nearest to `p`: on its plane if that is over it, on an edge if not.
fn nearest_point(corners: &[Vec3; 3], p: &Vec3) -> Vec3 {
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
        let (q, way) = (corners[i], corners[(i + 1) % 3] - corners[i]);
        q + way * (way.dot(&(p - q)) / way.norm_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    };
    let far = |q: &Vec3| (q - p).norm_squared();
    let nearer = |q: Vec3, r: Vec3| if far(&r) < far(&q) { r } else { q };
    nearer(nearer(on_edge(0), on_edge(1)), on_edge(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_of_a_triangle_is_over_its_face_edge_or_corner() {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(Vec3::from);
        let cases = [
            ([0.2, 0.3, 5.0], [0.2, 0.3, 0.0]),
            ([0.4, -2.0, 1.0], [0.4, 0.0, 0.0]),
            ([-3.0, -2.0, 1.0], [0.0, 0.0, 0.0]),
            ([1.0, 1.0, 0.0], [0.5, 0.5, 0.0]),
        ];
        for (p, q) in cases {
            assert!((nearest_point(&corners, &p.into()) - Vec3::from(q)).norm() < 1e-15);
        }
    }
}
