//! What a point in one cell sees: which triangles stand between it and another point, and whether
//! it is inside the solid.
//!
//! The one idea: a tet is convex, so only the triangles in it can stand on a segment in it. With the
//! winding number of one point known, crossings give that of every other; where a crossing is too
//! close to an edge to call, the winding number is computed in full.

use super::cells::Cells;
use super::lattice::Frame;
use crate::Solid;
use sinew_math::Vec3;

/// The triangles of one cell, and one point whose winding number is known.
pub(crate) struct CellVisibility<'a> {
    pub(crate) solid: &'a Solid,
    cells: &'a Cells,
    /// Triangles in the order of the cell's cuts.
    pub(crate) triangles: Vec<Facet>,
    known: Option<(Vec3, f64)>,
}

/// A triangle (lattice) and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub(crate) corners: [Vec3; 3],
    /// Normal times twice the area, outwards.
    pub(crate) normal: Vec3,
    /// Whether the winding number jumps across it.
    pub(crate) active: bool,
    /// Whether the solid ends at it: not so inside overlapping parts.
    pub(crate) blocks: bool,
}

/// How a segment passes a triangle.
enum Passing {
    Beside,
    /// Through it: 1 inwards, −1 outwards.
    Through(f64),
    /// Through its border, or ending on it.
    Unclear,
}

/// Volumes (lattice units³) below this are round-off of products of lengths near one.
const TINY_VOLUME: f64 = 1e-12;

/// A segment that ends this near a plane (lattice units) ends on it.
const TINY_HEIGHT: f64 = 1e-9;

/// How far the winding number may be from a whole number, and from what crossings foretell, where no
/// opening is near: twice this stays clear of one half.
const STEADY: f64 = 0.2;

impl<'a> CellVisibility<'a> {
    pub(crate) fn new(solid: &'a Solid, cells: &'a Cells, cell: usize) -> Self {
        let mut visibility = Self { solid, cells, triangles: facets(solid, cells, cell), known: None };
        if !solid.closed {
            visibility.trust_crossings_if_they_hold(&Frame::of(cells.keys[cell]));
        }
        visibility
    }

    /// Near openings the winding number changes without crossings. Apart from its jumps it is
    /// harmonic in the tet, so if the middle foretells the corners and faces, it foretells all.
    fn trust_crossings_if_they_hold(&mut self, frame: &Frame) {
        let full = |p: &Vec3| self.solid.winding_number(&self.cells.lattice.space_from_lattice(p));
        let middle = frame.point(&[0.25; 4]);
        let w = full(&middle);
        if (w - w.round()).abs() > STEADY {
            return;
        }
        let known = Some((middle, w));
        let corner = |i: usize| core::array::from_fn(|j| if i == j { 0.97 } else { 0.01 });
        let face = |i: usize| core::array::from_fn(|j| if i == j { 0.01 } else { 0.33 });
        let holds = (0..4).flat_map(|i| [corner(i), face(i)]).all(|b: [f64; 4]| {
            let p = frame.point(&b);
            self.from(known, &p).is_some_and(|foretold| (foretold - full(&p)).abs() < STEADY)
        });
        if holds {
            self.known = known;
        }
    }

    /// Whether the inside ends here without triangles.
    pub(crate) fn near_opening(&self) -> bool {
        !self.solid.closed && self.known.is_none()
    }

    /// The winding number at a point of the cell (lattice).
    pub(crate) fn winding_number(&mut self, p: &Vec3) -> f64 {
        if let Some(w) = self.from(self.known, p) {
            return w;
        }
        let w = self.solid.winding_number(&self.cells.lattice.space_from_lattice(p));
        if !self.solid.closed {
            return w;
        }
        if self.known.is_none() && (w - w.round()).abs() < 0.25 {
            self.known = Some((*p, w.round()));
        }
        w.round()
    }

    /// Whether a point of the cell (lattice) is inside.
    pub(crate) fn contains(&mut self, p: &Vec3) -> bool {
        self.winding_number(p) > 0.5
    }

    /// The winding number at `p` from a known one; `None` if a crossing is unclear.
    fn from(&self, known: Option<(Vec3, f64)>, p: &Vec3) -> Option<f64> {
        let (from, mut w) = known?;
        for facet in self.triangles.iter().filter(|f| f.active) {
            match facet.passing(&from, p) {
                Passing::Beside => {}
                Passing::Through(inwards) => w += inwards,
                Passing::Unclear => return None,
            }
        }
        Some(w)
    }

    /// Whether the boundary of the solid stands between two points (lattice).
    pub(crate) fn blocked(&self, p: &Vec3, q: &Vec3) -> bool {
        self.triangles.iter().filter(|f| f.blocks).any(|f| match f.passing(p, q) {
            Passing::Beside => false,
            Passing::Through(_) => true,
            Passing::Unclear => f.stands_between(p, q),
        })
    }

    /// The first triangle of the boundary on the way from `p` to `q`, other than `except`, and the
    /// fraction of the way to it.
    pub(crate) fn first_hit(&self, p: &Vec3, q: &Vec3, except: usize) -> Option<(usize, f64)> {
        let mut first: Option<(usize, f64)> = None;
        for (i, facet) in self.triangles.iter().enumerate().filter(|(i, f)| *i != except && f.blocks) {
            if !matches!(facet.passing(p, q), Passing::Beside) && facet.stands_between(p, q) {
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
    /// Height of `p` over the plane, times the length of the normal.
    fn height(&self, p: &Vec3) -> f64 {
        self.normal.dot(&(p - self.corners[0]))
    }

    /// Where an edge of this triangle passes through another triangle.
    pub(crate) fn edge_crossing(&self, other: &Self) -> Option<Vec3> {
        (0..3).find_map(|k| {
            let (p, q) = (&self.corners[k], &self.corners[(k + 1) % 3]);
            let (hp, hq) = (other.height(p), other.height(q));
            matches!(other.passing(p, q), Passing::Through(_)).then(|| p + (q - p) * (hp / (hp - hq)))
        })
    }

    fn stands_between(&self, p: &Vec3, q: &Vec3) -> bool {
        let clear = TINY_HEIGHT * self.normal.norm();
        let (hp, hq) = (self.height(p), self.height(q));
        (hp > clear && hq < -clear) || (hp < -clear && hq > clear)
    }

    /// The segment passes through when its ends are on two sides of the plane and all three edges
    /// turn the same way around it.
    fn passing(&self, p: &Vec3, q: &Vec3) -> Passing {
        let clear = TINY_HEIGHT * self.normal.norm();
        let (hp, hq) = (self.height(p), self.height(q));
        if (hp > clear && hq > clear) || (hp < -clear && hq < -clear) {
            return Passing::Beside;
        }
        let d = q - p;
        let [a, b, c] = self.corners.map(|x| x - p);
        let turns = [d.dot(&a.cross(&b)), d.dot(&b.cross(&c)), d.dot(&c.cross(&a))];
        let (low, high) =
            (turns.iter().fold(f64::MAX, |m, &x| m.min(x)), turns.iter().fold(f64::MIN, |m, &x| m.max(x)));
        if low < -TINY_VOLUME && high > TINY_VOLUME {
            Passing::Beside
        } else if (low > TINY_VOLUME || high < -TINY_VOLUME) && self.stands_between(p, q) {
            Passing::Through(if hp > hq { 1.0 } else { -1.0 })
        } else {
            Passing::Unclear
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::CellKind;
    use super::super::filling::samples;
    use super::super::sizing::{CageSize, cells_of};
    use super::*;
    use crate::shapes;

    /// Off the surface the tree is within 3/16 of a whole number, so rounding it is exact.
    #[test]
    fn crossings_agree_with_the_winding_number() {
        let solid = Solid::build(&shapes::torus(0.3, 0.1, 40, 20)).unwrap();
        let cells = cells_of(&solid, CageSize::Tets(300)).unwrap();
        for cell in (0..cells.count()).filter(|&c| cells.kinds[c] == CellKind::Cut) {
            let (frame, mut visibility) =
                (Frame::of(cells.keys[cell]), CellVisibility::new(&solid, &cells, cell));
            for b in samples(cells.keys[cell]) {
                let p = frame.point(&b);
                let full = solid.winding_number(&cells.lattice.space_from_lattice(&p)).round();
                assert_eq!(visibility.winding_number(&p), full);
            }
        }
    }
}
