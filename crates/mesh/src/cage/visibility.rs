//! Visibility and winding numbers within one cell, by counting crossings of its triangles.
//!
//! A tet is convex, so only the triangles in it can intersect a segment in it. From one point with a known winding number, signed
//! crossings give that of every other point. Where a crossing is too close to an edge to classify, the winding number is computed
//! in full.

use super::cells::Cells;
use super::lattice::LatticeTet;
use crate::Solid;
use sinew_math::Vec3;

/// The triangles of one cell, and a reference point whose winding number is known.
pub(crate) struct CellVisibility<'a> {
    pub(crate) solid: &'a Solid,
    cells: &'a Cells,
    /// The triangles, in the order of the cuts of the cell.
    pub(crate) triangles: Vec<Facet>,
    reference: Option<(Vec3, f64)>,
}

/// A triangle (lattice coordinates) and its role.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub(crate) corners: [Vec3; 3],
    /// Outward normal times twice the area.
    pub(crate) normal: Vec3,
    /// Whether the winding number jumps across it.
    pub(crate) active: bool,
    /// Whether it bounds the solid: triangles inside overlapping parts do not.
    pub(crate) blocks: bool,
}

/// How a segment and a triangle intersect.
enum SegmentCrossing {
    Misses,
    /// The segment crosses the triangle: 1 inwards, −1 outwards.
    Crosses(f64),
    /// The segment meets an edge of the triangle, or ends on it.
    Ambiguous,
}

/// Volumes (lattice units³) below this are round-off of products of lengths near one.
const TINY_VOLUME: f64 = 1e-12;

/// A segment that ends this close to a plane (lattice units) ends on it.
const TINY_HEIGHT: f64 = 1e-9;

/// The largest deviation of the winding number from an integer, and from the value predicted by crossings, away from openings:
/// twice this is still below one half.
const MAX_DEVIATION: f64 = 0.2;

impl<'a> CellVisibility<'a> {
    pub(crate) fn new(solid: &'a Solid, cells: &'a Cells, cell: usize) -> Self {
        let mut visibility = Self { solid, cells, triangles: facets(solid, cells, cell), reference: None };
        if !solid.closed {
            visibility.adopt_reference_if_consistent(&LatticeTet::of(cells.keys[cell]));
        }
        visibility
    }

    /// Near openings the winding number varies without crossings. Apart from its jumps it is harmonic in the tet, so if crossings
    /// from the centroid predict it at the corners and faces, they predict it everywhere.
    fn adopt_reference_if_consistent(&mut self, tet: &LatticeTet) {
        let full = |p: &Vec3| self.solid.winding_number(&self.cells.lattice.space_from_lattice(p));
        let middle = tet.point(&[0.25; 4]);
        let w = full(&middle);
        if (w - w.round()).abs() > MAX_DEVIATION {
            return;
        }
        let reference = Some((middle, w));
        let corner = |i: usize| core::array::from_fn(|j| if i == j { 0.97 } else { 0.01 });
        let face = |i: usize| core::array::from_fn(|j| if i == j { 0.01 } else { 0.33 });
        let holds = (0..4).flat_map(|i| [corner(i), face(i)]).all(|b: [f64; 4]| {
            let p = tet.point(&b);
            self.winding_from(reference, &p)
                .is_some_and(|predicted| (predicted - full(&p)).abs() < MAX_DEVIATION)
        });
        if holds {
            self.reference = reference;
        }
    }

    /// Whether the inside ends in this cell without a triangle.
    pub(crate) fn near_opening(&self) -> bool {
        !self.solid.closed && self.reference.is_none()
    }

    /// The winding number at a point of the cell (lattice coordinates).
    pub(crate) fn winding_number(&mut self, p: &Vec3) -> f64 {
        if let Some(w) = self.winding_from(self.reference, p) {
            return w;
        }
        let w = self.solid.winding_number(&self.cells.lattice.space_from_lattice(p));
        if !self.solid.closed {
            return w;
        }
        if self.reference.is_none() && (w - w.round()).abs() < 0.25 {
            self.reference = Some((*p, w.round()));
        }
        w.round()
    }

    /// Whether a point of the cell (lattice coordinates) is inside.
    pub(crate) fn contains(&mut self, p: &Vec3) -> bool {
        self.winding_number(p) > 0.5
    }

    /// The winding number at `p` from a reference; `None` if a crossing is ambiguous.
    fn winding_from(&self, reference: Option<(Vec3, f64)>, p: &Vec3) -> Option<f64> {
        let (from, mut w) = reference?;
        for facet in self.triangles.iter().filter(|f| f.active) {
            match facet.classify(&from, p) {
                SegmentCrossing::Misses => {}
                SegmentCrossing::Crosses(inwards) => w += inwards,
                SegmentCrossing::Ambiguous => return None,
            }
        }
        Some(w)
    }

    /// Whether the boundary of the solid separates two points (lattice coordinates).
    pub(crate) fn blocked(&self, p: &Vec3, q: &Vec3) -> bool {
        self.triangles.iter().filter(|f| f.blocks).any(|f| match f.classify(p, q) {
            SegmentCrossing::Misses => false,
            SegmentCrossing::Crosses(_) => true,
            SegmentCrossing::Ambiguous => f.separates(p, q),
        })
    }

    /// The first boundary triangle on the segment from `p` to `q`, other than `except`, and the fraction of the segment up to it.
    pub(crate) fn first_hit(&self, p: &Vec3, q: &Vec3, except: usize) -> Option<(usize, f64)> {
        let mut first: Option<(usize, f64)> = None;
        for (i, facet) in self.triangles.iter().enumerate().filter(|(i, f)| *i != except && f.blocks) {
            if !matches!(facet.classify(p, q), SegmentCrossing::Misses) && facet.separates(p, q) {
                let (hp, hq) = (facet.height(p), facet.height(q));
                let fraction = hp / (hp - hq);
                if first.is_none_or(|(_, best)| fraction < best) {
                    first = Some((i, fraction));
                }
            }
        }
        first
    }
}

fn facets(solid: &Solid, cells: &Cells, cell: usize) -> Vec<Facet> {
    let facet = |t: usize| {
        let corners = solid.triangles[t].map(|v| cells.vertices[v as usize]);
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        Facet { corners, normal, active: solid.active[t], blocks: solid.active[t] }
    };
    cells.cuts(cell).iter().map(|cut| facet(cut.triangle as usize)).collect()
}

impl Facet {
    /// Signed distance of `p` from the plane, times the length of the normal.
    fn height(&self, p: &Vec3) -> f64 {
        self.normal.dot(&(p - self.corners[0]))
    }

    /// The point where an edge of this triangle crosses another triangle.
    pub(crate) fn edge_crossing(&self, other: &Self) -> Option<Vec3> {
        (0..3).find_map(|k| {
            let (p, q) = (&self.corners[k], &self.corners[(k + 1) % 3]);
            let (hp, hq) = (other.height(p), other.height(q));
            matches!(other.classify(p, q), SegmentCrossing::Crosses(_))
                .then(|| p + (q - p) * (hp / (hp - hq)))
        })
    }

    fn separates(&self, p: &Vec3, q: &Vec3) -> bool {
        let clear = TINY_HEIGHT * self.normal.norm();
        let (hp, hq) = (self.height(p), self.height(q));
        (hp > clear && hq < -clear) || (hp < -clear && hq > clear)
    }

    /// The segment crosses if its ends are on opposite sides of the plane and the tets it spans with the three edges have volumes
    /// of one sign.
    fn classify(&self, p: &Vec3, q: &Vec3) -> SegmentCrossing {
        let clear = TINY_HEIGHT * self.normal.norm();
        let (hp, hq) = (self.height(p), self.height(q));
        if (hp > clear && hq > clear) || (hp < -clear && hq < -clear) {
            return SegmentCrossing::Misses;
        }
        let d = q - p;
        let [a, b, c] = self.corners.map(|x| x - p);
        let volumes = [d.dot(&a.cross(&b)), d.dot(&b.cross(&c)), d.dot(&c.cross(&a))];
        let (low, high) = (
            volumes.iter().fold(f64::MAX, |m, &x| m.min(x)),
            volumes.iter().fold(f64::MIN, |m, &x| m.max(x)),
        );
        if low < -TINY_VOLUME && high > TINY_VOLUME {
            SegmentCrossing::Misses
        } else if (low > TINY_VOLUME || high < -TINY_VOLUME) && self.separates(p, q) {
            SegmentCrossing::Crosses(if hp > hq { 1.0 } else { -1.0 })
        } else {
            SegmentCrossing::Ambiguous
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::CellKind;
    use super::super::fill_sampling::samples;
    use super::super::sizing::{CageSize, cells_of};
    use super::*;
    use crate::shapes;

    /// Off the surface the error of the tree is below 3/16, so rounding is exact.
    #[test]
    fn crossing_counts_agree_with_the_winding_number_tree() {
        let solid = Solid::build(&shapes::torus(0.3, 0.1, 40, 20)).unwrap();
        let cells = cells_of(&solid, CageSize::Tets(300)).unwrap();
        for cell in (0..cells.count()).filter(|&c| cells.kinds[c] == CellKind::Cut) {
            let (tet, mut visibility) =
                (LatticeTet::of(cells.keys[cell]), CellVisibility::new(&solid, &cells, cell));
            for b in samples(cells.keys[cell]) {
                let p = tet.point(&b);
                let full = solid.winding_number(&cells.lattice.space_from_lattice(&p)).round();
                assert_eq!(visibility.winding_number(&p), full);
            }
        }
    }
}
