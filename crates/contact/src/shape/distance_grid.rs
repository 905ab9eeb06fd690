//! Signed distance grid with trilinear interpolation.

use super::{Probe, ShapeFault, TriangleSolid};
use crate::Bounds;
use rayon::prelude::*;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// Signed distances at the points of a grid; outside the grid there is no contact.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceGrid {
    /// The corner with the smallest coordinates (m).
    pub origin: Vec3,
    /// Grid spacing (m).
    pub spacing: f64,
    counts: [usize; 3],
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
        Ok(DistanceGrid { origin, spacing, counts, distances, surface: TriMesh::default() })
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
        let at = |i: usize| {
            let (x, rest) = (i % counts[0], i / counts[0]);
            let cell = Vec3::new(x as f64, (rest % counts[1]) as f64, (rest / counts[1]) as f64);
            solid.probe(&(origin + spacing * cell)).distance as f32
        };
        let distances: Vec<f32> = (0..counts.iter().product()).into_par_iter().map(at).collect();
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
        Some(((max - min).max() / self.spacing).round() as usize)
    }

    pub(super) fn bounds(&self) -> Bounds {
        let size = Vec3::from_fn(|k, _| (self.counts[k] - 1) as f64) * self.spacing;
        Bounds { min: self.origin, max: self.origin + size }
    }

    /// Trilinear interpolation; the normal is its gradient.
    #[inline]
    pub(super) fn probe(&self, p: &Vec3) -> Probe {
        let u = (p - self.origin) / self.spacing;
        if !(0..3).all(|k| u[k] >= 0.0 && u[k] <= (self.counts[k] - 1) as f64) {
            return Probe::FAR;
        }
        let cell: [usize; 3] = core::array::from_fn(|k| (u[k] as usize).min(self.counts[k] - 2));
        let s = Vec3::from_fn(|k, _| u[k] - cell[k] as f64);
        let [nx, ny, _] = self.counts;
        let corner = |i: usize, j: usize, k: usize| {
            f64::from(self.distances[cell[0] + i + nx * (cell[1] + j + ny * (cell[2] + k))])
        };
        let mix = |a: f64, b: f64, s: f64| a + s * (b - a);
        // along x on the four edges, then y, then z
        let edge = |j: usize, k: usize| {
            (mix(corner(0, j, k), corner(1, j, k), s.x), corner(1, j, k) - corner(0, j, k))
        };
        let (e00, e10, e01, e11) = (edge(0, 0), edge(1, 0), edge(0, 1), edge(1, 1));
        let near = (mix(e00.0, e10.0, s.y), mix(e00.1, e10.1, s.y), e10.0 - e00.0);
        let far = (mix(e01.0, e11.0, s.y), mix(e01.1, e11.1, s.y), e11.0 - e01.0);
        let gradient = Vec3::new(mix(near.1, far.1, s.z), mix(near.2, far.2, s.z), far.0 - near.0);
        let length = gradient.norm();
        let normal = if length > 0.0 { gradient / length } else { Vec3::y() };
        Probe { distance: mix(near.0, far.0, s.z), normal }
    }
}
