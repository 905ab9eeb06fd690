//! Voxelisation of a solid into lattice tets: cells cut by the surface, then a flood fill of the interior.
//!
//! The surface marks the tets it cuts, and the interior is flooded from there across faces without crossing the surface. Only cut and
//! interior tets are stored, in Morton order, so the cost scales with the solid and not with its bounding box.

use super::clip::{Clip, Polygon};
use super::lattice::{Lattice, LatticeTet, TetKey};
use crate::Solid;
use crate::disjoint_sets::DisjointSets;
use rayon::prelude::*;
use sinew_math::Vec3;
use std::collections::HashSet;

/// The lattice tets that overlap the solid, in Morton order, with the triangles that cut each.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    pub(crate) lattice: Lattice,
    /// The solid's vertices, in lattice coordinates.
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) keys: Vec<TetKey>,
    pub(crate) kinds: Vec<CellKind>,
    offsets: Vec<u32>,
    cuts: Vec<Cut>,
}

/// How a lattice tet overlaps the solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// The surface cuts it.
    Cut,
    /// It lies inside the solid.
    Full,
    /// An opening of the surface passes through it: partly inside, but without triangles.
    Open,
}

/// A triangle that cuts a tet, and the faces of the tet that it reaches (bit `i` for the face opposite corner `i`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cut {
    pub(crate) triangle: u32,
    pub(crate) faces: u8,
}

/// Off the surface the winding number is smooth, and one half only in openings. If it is this close to an integer at the centroid of a
/// tet, no opening passes through the tet.
const FAR_FROM_OPENINGS: f64 = 0.15;

/// The solid has more cells than the limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooManyCells;

impl Cells {
    /// Finds all cells of a solid; fails above `limit` cells.
    pub(crate) fn find(solid: &Solid, lattice: Lattice, limit: usize) -> Result<Self, TooManyCells> {
        // the tets that each triangle cuts
        let vertices: Vec<Vec3> = solid.vertices.par_iter().map(|p| lattice.lattice_from_space(p)).collect();
        let mut marks: Vec<(TetKey, Cut)> = (0..solid.triangles.len())
            .into_par_iter()
            .with_min_len(512)
            .flat_map_iter(|t| {
                let corners = solid.triangles[t].map(|v| vertices[v as usize]);
                tets_of_triangle(corners).into_iter().filter_map(move |key| {
                    let faces = Clip::of(&LatticeTet::of(key), &corners)?.faces();
                    Some((key, Cut { triangle: t as u32, faces }))
                })
            })
            .collect();
        marks.par_sort_unstable();

        // flood fill of the interior
        let mut cut: Vec<TetKey> = marks.iter().map(|m| m.0).collect();
        cut.dedup();
        let flood = FloodFill { solid, lattice, cut: &cut, limit: limit.saturating_sub(cut.len()) };
        let inside = if solid.closed { flood.closed()? } else { flood.open()? };

        // all cells in Morton order, with the range of cuts of each
        let mut kept: Vec<(TetKey, CellKind)> = cut.iter().map(|&key| (key, CellKind::Cut)).collect();
        kept.extend(inside);
        kept.par_sort_unstable_by_key(|k| k.0);
        let mut offsets = vec![0];
        let mut at = 0;
        for (key, _) in &kept {
            while at < marks.len() && marks[at].0 == *key {
                at += 1;
            }
            offsets.push(at as u32);
        }
        Ok(Self {
            lattice,
            vertices,
            keys: kept.iter().map(|k| k.0).collect(),
            kinds: kept.iter().map(|k| k.1).collect(),
            offsets,
            cuts: marks.into_iter().map(|m| m.1).collect(),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.keys.len()
    }

    /// The triangles that cut cell `c`, by index.
    pub(crate) fn cuts(&self, c: usize) -> &[Cut] {
        &self.cuts[self.offsets[c] as usize..self.offsets[c + 1] as usize]
    }

    /// The cell of a lattice tet, if it overlaps the solid.
    pub(crate) fn cell(&self, key: TetKey) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }
}

/// The flood fill over tets that the surface does not cut.
struct FloodFill<'a> {
    solid: &'a Solid,
    lattice: Lattice,
    cut: &'a [TetKey],
    limit: usize,
}

impl FloodFill<'_> {
    /// Interior of a closed surface. Face neighbours without surface between them are both inside or both outside, so one inside test
    /// per connected component of the tets along the surface decides all.
    fn closed(&self) -> Result<Vec<(TetKey, CellKind)>, TooManyCells> {
        // connected components of the uncut tets next to cut ones
        let rim = self.uncut_neighbours(self.cut);
        let mut groups = DisjointSets::new(rim.len());
        for (a, key) in rim.iter().enumerate() {
            for i in 0..4 {
                if let Ok(b) = rim.binary_search(&key.neighbour(i)) {
                    groups.join(a, b);
                }
            }
        }
        let (group, group_count) = groups.number();

        // one inside test per component
        let mut first = vec![usize::MAX; group_count];
        for a in (0..rim.len()).rev() {
            first[group[a] as usize] = a;
        }
        let is_in: Vec<bool> = first.into_par_iter().map(|a| self.contains(rim[a], &[0.25; 4])).collect();

        // flood the interior layer by layer
        let mut layer: Vec<TetKey> =
            (0..rim.len()).filter(|&a| is_in[group[a] as usize]).map(|a| rim[a]).collect();
        let mut seen: HashSet<TetKey> = layer.iter().copied().collect();
        let mut inside = layer.clone();
        while !layer.is_empty() {
            layer = self.uncut_neighbours(&layer);
            layer.retain(|&key| seen.insert(key));
            inside.extend(&layer);
            if inside.len() > self.limit {
                return Err(TooManyCells);
            }
        }
        Ok(inside.into_iter().map(|key| (key, CellKind::Full)).collect())
    }

    /// Interior of an open surface. It ends at openings without a triangle, so every tet is tested.
    fn open(&self) -> Result<Vec<(TetKey, CellKind)>, TooManyCells> {
        let mut seen: HashSet<TetKey> = HashSet::new();
        let mut inside = Vec::new();
        let mut layer = self.uncut_neighbours(self.cut);
        while !layer.is_empty() {
            layer.retain(|&key| seen.insert(key));
            let kept: Vec<(TetKey, CellKind)> =
                layer.par_iter().filter_map(|&key| self.kind_of(key).map(|kind| (key, kind))).collect();
            layer = self.uncut_neighbours(&kept.iter().map(|k| k.0).collect::<Vec<_>>());
            inside.extend(kept);
            if inside.len() > self.limit {
                return Err(TooManyCells);
            }
        }
        Ok(inside)
    }

    /// The kind of an uncut tet by winding numbers; `None` outside.
    fn kind_of(&self, key: TetKey) -> Option<CellKind> {
        let w = self.winding_number(key, &[0.25; 4]);
        if (w - w.round()).abs() < FAR_FROM_OPENINGS {
            return (w > 0.5).then_some(CellKind::Full);
        }
        // the centroid, and points near the corners
        let near = |i: usize| {
            let mut b = [0.05; 4];
            b[i] = 0.85;
            b
        };
        let count = (0..4).filter(|&i| self.contains(key, &near(i))).count() + usize::from(w > 0.5);
        match count {
            0 => None,
            5 => Some(CellKind::Full),
            _ => Some(CellKind::Open),
        }
    }

    fn winding_number(&self, key: TetKey, b: &[f64; 4]) -> f64 {
        let p = self.lattice.space_from_lattice(&LatticeTet::of(key).point(b));
        // outside the bounding box there is nothing
        let (lo, hi) = self.solid.bounds;
        if (0..3).all(|k| lo[k] <= p[k] && p[k] <= hi[k]) { self.solid.winding_number(&p) } else { 0.0 }
    }

    fn contains(&self, key: TetKey, b: &[f64; 4]) -> bool {
        self.winding_number(key, b) > 0.5
    }

    fn uncut_neighbours(&self, keys: &[TetKey]) -> Vec<TetKey> {
        let mut found: Vec<TetKey> = keys
            .par_iter()
            .with_min_len(1024)
            .flat_map_iter(|key| (0..4).map(|i| key.neighbour(i)))
            .filter(|key| self.cut.binary_search(key).is_err())
            .collect();
        found.par_sort_unstable();
        found.dedup();
        found
    }
}

/// Candidate tets for a triangle (lattice coordinates), sorted: all tets of the cubes that it passes through.
fn tets_of_triangle(corners: [Vec3; 3]) -> Vec<TetKey> {
    let mut keys = Vec::new();
    let all = i32::MIN / 2..i32::MAX / 2;
    bisect(Polygon::triangle(corners.map(Into::into)), [all.start; 3], [all.end; 3], &mut |cube| {
        keys.extend(TetKey::of_cube(cube));
    });
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Recursively bisects the range of cubes around a polygon, and clips the polygon with it, down to single cubes.
fn bisect(polygon: Polygon<[f64; 3]>, lo: [i32; 3], hi: [i32; 3], found: &mut impl FnMut([i32; 3])) {
    let Some(&first) = polygon.points().first() else { return };
    let (mut low, mut high) = (first, first);
    for p in polygon.points() {
        low = [0, 1, 2].map(|k| p[k].min(low[k]));
        high = [0, 1, 2].map(|k| p[k].max(high[k]));
    }
    let cube = |x: f64| (x / 2.0).floor() as i32;
    let lo = [0, 1, 2].map(|k| cube(low[k] - super::clip::TOLERANCE).max(lo[k]));
    let hi = [0, 1, 2].map(|k| cube(high[k] + super::clip::TOLERANCE).min(hi[k]));
    let Some(axis) = (0..3).max_by_key(|&k| hi[k].saturating_sub(lo[k])) else { return };
    if (0..3).any(|k| hi[k] < lo[k]) {
        return;
    }
    if hi[axis] == lo[axis] {
        return found(lo);
    }
    let middle = lo[axis] + (hi[axis] - lo[axis] + 1) / 2;
    let plane = f64::from(2 * middle);
    let (mut below, mut above) = (hi, lo);
    below[axis] = middle - 1;
    above[axis] = middle;
    bisect(polygon.half_space(axis, plane, false), lo, below, found);
    bisect(polygon.half_space(axis, plane, true), above, hi, found);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    fn cells(edge: f64) -> (Solid, Cells) {
        let solid = Solid::build(&shapes::sphere(0.5, 3)).unwrap();
        let lattice = Lattice::around(solid.bounds(), edge, [0.1, 0.2, 0.3]).unwrap();
        let cells = Cells::find(&solid, lattice, usize::MAX).unwrap();
        (solid, cells)
    }

    #[test]
    fn full_cells_are_inside_and_every_inside_point_has_a_cell() {
        let (solid, cells) = cells(0.15);
        let place = |p: &Vec3| cells.lattice.space_from_lattice(p);
        for c in (0..cells.count()).filter(|&c| cells.kinds[c] == CellKind::Full) {
            for corner in LatticeTet::of(cells.keys[c]).corners() {
                assert!(solid.contains(&place(&super::super::lattice::to_vec(corner))));
            }
        }
        for i in 0..500 {
            let t = f64::from(i);
            let p = Vec3::new(0.37 * t % 1.0, 0.73 * t % 1.0, 0.11 * t % 1.0) - Vec3::repeat(0.5);
            let key = TetKey::containing(&cells.lattice.lattice_from_space(&p)).unwrap();
            assert!(!solid.contains(&p) || cells.cell(key).is_some());
        }
    }

    #[test]
    fn too_many_cells_are_an_error() {
        let (solid, all) = cells(0.15);
        assert!(Cells::find(&solid, all.lattice, all.count() - 1).is_err());
    }

    #[test]
    fn a_triangle_marks_every_tet_that_it_cuts() {
        let corners = [[10.3, 11.1, 12.7], [31.9, 14.2, 20.1], [17.7, 29.3, 26.2]].map(Vec3::from);
        let keys = tets_of_triangle(corners);
        for i in 0..40 {
            for j in 0..=i {
                let (u, v) = (f64::from(i - j) / 40.0, f64::from(j) / 40.0);
                let p = corners[0] + u * (corners[1] - corners[0]) + v * (corners[2] - corners[0]);
                assert!(keys.binary_search(&TetKey::containing(&p).unwrap()).is_ok());
            }
        }
    }
}
