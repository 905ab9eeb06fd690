//! The lattice spacing of a cage for a given edge or a requested number of tets.
//!
//! A lattice of edge a has about 12 V/a³ tets in the volume and 5 A/a² at the surface. The requested number gives a first edge,
//! and the ratio of the counted to the estimated number corrects it in a few iterations.

use super::cells::Cells;
use super::lattice::Lattice;
use super::{CageError, TET_LIMIT};
use crate::Solid;

/// The resolution of a cage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CageSize {
    /// The edge of the lattice cubes (m).
    Edge(f64),
    /// The approximate number of tets.
    Tets(usize),
}

/// The relative errors of the count that end the search: in the first iterations, and later.
const COUNT_TOLERANCES: [f64; 2] = [0.02, 0.04];

/// The maximum number of iterations. Three are usual.
const MAX_ITERATIONS: usize = 10;

/// A symmetric surface in a symmetric lattice gains and loses tets in whole orbits. From this iteration on the lattice is shifted
/// by [`SHIFT`], where counts change one by one, and steps are halved.
const FIRST_SHIFTED_ITERATION: usize = 5;

/// The shift of the lattice (in edges): off every symmetry.
const SHIFT: [f64; 3] = [0.127, 0.219, 0.331];

/// The largest edge, in bounding-box diagonals of the solid: beyond it no sample would find the solid in its tet.
const MAX_EDGE_DIAGONALS: f64 = 4.0;

/// The maximum number of pairs of a triangle and a tet that it cuts, at 16 bytes each.
const PAIR_LIMIT: f64 = 4e8;

/// Surface tets beyond those of the volume, per area / edge².
///
/// A plane cuts (mean width of a tet) / (its volume) tets per area. The mean width of a convex body is Σ l (π − θ) / 4π over its
/// edges: 0.827 a for a lattice tet, so 9.93 / a² tets are cut. Half of their volume is outside the solid.
const CUT_PER_AREA: f64 = 4.96;

pub(crate) fn cells_of(solid: &Solid, size: CageSize) -> Result<Cells, CageError> {
    let estimate = TetCountEstimate::of(solid);
    match size {
        CageSize::Edge(edge) => {
            let widest = MAX_EDGE_DIAGONALS * estimate.diagonal;
            if edge > 0.0 && edge <= widest {
                estimate.cells(solid, edge, [0.0; 3])
            } else {
                Err(CageError::Edge { edge, widest })
            }
        }
        CageSize::Tets(0) => Err(CageError::NoTets),
        CageSize::Tets(count) if count > TET_LIMIT => Err(estimate.too_many(count as f64, 0.0)),
        CageSize::Tets(count) => estimate.search(solid, count as f64),
    }
}

/// Estimates the number of tets from the volume and area of a solid.
struct TetCountEstimate {
    volume: f64,
    area: f64,
    /// Twice the length of all edges (m): thin triangles cut tets without having area.
    length: f64,
    triangle_count: f64,
    diagonal: f64,
}

impl TetCountEstimate {
    fn of(solid: &Solid) -> Self {
        let (lo, hi) = solid.bounds();
        let round = |t: usize| {
            let [a, b, c] = solid.corners(t);
            (b - a).norm() + (c - b).norm() + (a - c).norm()
        };
        let extents = hi - lo;
        Self {
            volume: solid.volume().min(extents.x * extents.y * extents.z),
            area: solid.area(),
            length: (0..solid.triangles.len()).map(round).sum(),
            triangle_count: solid.triangles.len() as f64,
            diagonal: extents.norm(),
        }
    }

    /// The estimated number of tets of a lattice of cubes of `edge` (m).
    fn tets(&self, edge: f64) -> f64 {
        12.0 * self.volume / (edge * edge * edge) + CUT_PER_AREA * self.area / (edge * edge)
    }

    /// The edge (m) at which [`Self::tets`] estimates a count, by bisection of its logarithm.
    fn edge(&self, count: f64) -> f64 {
        let (mut fine, mut coarse) = (1e-9 * self.diagonal, 1e3 * self.diagonal);
        for _ in 0..80 {
            let middle = (fine * coarse).sqrt();
            *(if self.tets(middle) > count { &mut fine } else { &mut coarse }) = middle;
        }
        coarse
    }

    fn too_many(&self, count: f64, edge: f64) -> CageError {
        CageError::TooManyTets { count, edge, limit: TET_LIMIT, coarsest: self.edge(0.8 * TET_LIMIT as f64) }
    }

    fn cells(&self, solid: &Solid, edge: f64, shift: [f64; 3]) -> Result<Cells, CageError> {
        // pairs of a triangle and a tet: by area, along edges, and a few for every triangle
        let pairs = 2.0 * CUT_PER_AREA * self.area / (edge * edge) + 4.0 * self.length / edge;
        let estimated = self.tets(edge).max(0.1 * pairs);
        if estimated > 2.0 * TET_LIMIT as f64 || pairs + 4.0 * self.triangle_count > PAIR_LIMIT {
            return Err(self.too_many(estimated, edge));
        }
        let lattice =
            Lattice::around(solid.bounds(), edge, shift).ok_or_else(|| self.too_many(estimated, edge))?;
        let cells = Cells::find(solid, lattice, TET_LIMIT).map_err(|_| self.too_many(estimated, edge))?;
        if cells.count() > TET_LIMIT { Err(self.too_many(cells.count() as f64, edge)) } else { Ok(cells) }
    }

    fn search(&self, solid: &Solid, count: f64) -> Result<Cells, CageError> {
        let widest = MAX_EDGE_DIAGONALS * self.diagonal;
        let mut edge = self.edge(count).min(widest);
        let mut best = self.cells(solid, edge, [0.0; 3])?;
        let off = |cells: &Cells| (cells.count() as f64 / count - 1.0).abs();
        let mut counted = best.count() as f64;
        for round in 1..MAX_ITERATIONS {
            if off(&best) <= COUNT_TOLERANCES[usize::from(round > 2)] {
                break;
            }
            // the estimate is off by the same factor at nearby edges
            let ratio = count / counted;
            let (ratio, shift) =
                if round < FIRST_SHIFTED_ITERATION { (ratio, [0.0; 3]) } else { (ratio.sqrt(), SHIFT) };
            edge = self.edge(self.tets(edge) * ratio).min(widest);
            let cells = self.cells(solid, edge, shift)?;
            counted = cells.count() as f64;
            if off(&cells) < off(&best) {
                best = cells;
            }
        }
        Ok(best)
    }
}
