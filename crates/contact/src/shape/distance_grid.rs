//! Signed distance grid with trilinear interpolation.

use super::{Probe, SampleGrid, ShapeFault, TriangleSolid};
use crate::Bounds;
use rayon::prelude::*;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// Signed distances at the points of a grid; outside the grid there is no contact.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceGrid {
    /// The points.
    pub grid: SampleGrid,
    distances: Vec<f32>,
    /// The surface it was sampled from, for rendering.
    surface: TriMesh,
}

/// The maximum number of grid points.
const MAX_POINTS: usize = 1 << 28;

impl DistanceGrid {
    /// From signed distances (m), x fastest, z slowest.
    pub fn build(
        origin: Vec3,
        spacing: f64,
        counts: [usize; 3],
        distances: Vec<f32>,
    ) -> Result<DistanceGrid, ShapeFault> {
        let points = counts.iter().try_fold(1usize, |sum, n| sum.checked_mul(*n));
        let sound = counts.iter().all(|n| *n >= 2) && points == Some(distances.len());
        if !(sound && spacing > 0.0 && spacing.is_finite()) || distances.iter().any(|d| !d.is_finite()) {
            return Err(ShapeFault(format!(
                "a grid of {counts:?} points, {spacing} m apart, with {} distances is invalid: give at least two points along each axis, a positive \
                 spacing and one finite distance per point",
                distances.len()
            )));
        }
        let grid = SampleGrid { origin, spacing, counts };
        Ok(DistanceGrid { grid, distances, surface: TriMesh::default() })
    }

    /// Samples the distance to a closed surface, with about `cells` cells along its longest side.
    pub fn of_surface(surface: TriMesh, cells: usize) -> Result<DistanceGrid, ShapeFault> {
        let solid = TriangleSolid::build(surface)?;
        let bounds = solid.bounds();
        let spacing = (bounds.max - bounds.min).max() / cells.clamp(2, 1000) as f64;
        let origin = bounds.min.add_scalar(-2.5 * spacing);
        let counts = [0, 1, 2].map(|k| ((bounds.max[k] - bounds.min[k]) / spacing).ceil() as usize + 6);
        if counts.iter().product::<usize>() > MAX_POINTS {
            return Err(ShapeFault(format!("a grid of {counts:?} points is too large: ask for fewer cells")));
        }
        let grid = SampleGrid { origin, spacing, counts };
        let at = |i: usize| solid.probe(&grid.point(i)).distance as f32;
        let distances: Vec<f32> = (0..grid.count()).into_par_iter().map(at).collect();
        let mut grid = DistanceGrid::build(origin, spacing, counts, distances)?;
        grid.surface = solid.into_surface();
        Ok(grid)
    }

    /// The surface that it was made from; empty if distances were given.
    pub fn surface(&self) -> &TriMesh {
        &self.surface
    }

    /// About how many cells there are along the longest side of the surface that it was made from; none if distances were given.
    pub fn cells(&self) -> Option<usize> {
        let (min, max) = self.surface.bounds()?;
        Some(((max - min).max() / self.grid.spacing).round() as usize)
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.grid.bounds()
    }

    /// The same for points that are known to be in the grid.
    #[inline]
    pub(crate) fn probe_inside(&self, p: &Vec3) -> Probe {
        self.probe(p)
    }

    /// Trilinear interpolation; the normal is its gradient.
    #[inline]
    pub(super) fn probe(&self, p: &Vec3) -> Probe {
        let Some((distance, gradient)) = self.grid.interpolate(&self.distances, p) else { return Probe::FAR };
        let length = gradient.norm();
        let normal = if length > 0.0 { gradient / length } else { Vec3::y() };
        Probe { distance, normal }
    }
}
