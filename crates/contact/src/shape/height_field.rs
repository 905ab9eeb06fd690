//! Ground: heights over a grid in x and z, solid below.

use super::{Probe, ShapeFault};
use crate::Bounds;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// Heights over a grid about the origin; beyond its rim there is nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    counts: [usize; 2],
    spacing: f64,
    heights: Vec<f64>,
    low: f64,
    high: f64,
}

impl HeightField {
    /// Heights along y (m) of so many points in x and in z, row by row in x, `spacing` apart (m).
    pub fn build(counts: [usize; 2], spacing: f64, heights: Vec<f64>) -> Result<HeightField, ShapeFault> {
        let [nx, nz] = counts;
        if nx < 2 || nz < 2 || nx.checked_mul(nz) != Some(heights.len()) {
            return Err(ShapeFault(format!(
                "a grid of {nx} by {nz} heights has {} numbers: give two or more each way, and as many as they make",
                heights.len()
            )));
        }
        if !(spacing > 0.0 && spacing < 1e9) || heights.iter().any(|h| !h.is_finite()) {
            return Err(ShapeFault(format!("spacing {spacing} m or a height is not a sound number")));
        }
        let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(HeightField { counts, spacing, heights, low, high })
    }

    /// How many points there are in x and in z.
    pub fn counts(&self) -> [usize; 2] {
        self.counts
    }

    /// How far apart they are (m).
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Their heights along y (m), row by row in x.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    fn half(&self) -> (f64, f64) {
        let half = |n: usize| 0.5 * self.spacing * (n - 1) as f64;
        (half(self.counts[0]), half(self.counts[1]))
    }

    fn point(&self, i: usize, k: usize) -> Vec3 {
        let (hx, hz) = self.half();
        let height = self.heights[i + k * self.counts[0]];
        Vec3::new(i as f64 * self.spacing - hx, height, k as f64 * self.spacing - hz)
    }

    /// Height above the facet below or above the point, along its normal.
    #[inline]
    pub(super) fn probe(&self, p: &Vec3) -> Probe {
        let (hx, hz) = self.half();
        let (u, w) = ((p.x + hx) / self.spacing, (p.z + hz) / self.spacing);
        let [nx, nz] = self.counts;
        if !(u >= 0.0 && w >= 0.0 && u <= (nx - 1) as f64 && w <= (nz - 1) as f64) {
            return Probe::FAR;
        }
        let (i, k) = ((u as usize).min(nx - 2), (w as usize).min(nz - 2));
        let (s, t) = (u - i as f64, w - k as f64);
        let height = |di: usize, dk: usize| self.heights[i + di + (k + dk) * nx];
        // each square is two triangles
        let (du, dw, base) = if s + t <= 1.0 {
            (height(1, 0) - height(0, 0), height(0, 1) - height(0, 0), height(0, 0))
        } else {
            let (du, dw) = (height(1, 1) - height(0, 1), height(1, 1) - height(1, 0));
            (du, dw, height(1, 1) - du - dw)
        };
        let normal = Vec3::new(-du / self.spacing, 1.0, -dw / self.spacing).normalize();
        Probe { distance: (p.y - (base + du * s + dw * t)) * normal.y, normal }
    }

    pub(super) fn bounds(&self) -> Bounds {
        let (hx, hz) = self.half();
        Bounds { min: Vec3::new(-hx, f64::NEG_INFINITY, -hz), max: Vec3::new(hx, self.high, hz) }
    }

    pub(super) fn surface(&self) -> TriMesh {
        let [nx, nz] = self.counts;
        let vertices =
            (0..nz).flat_map(|k| (0..nx).map(move |i| (i, k))).map(|(i, k)| self.point(i, k)).collect();
        let mut triangles = Vec::new();
        for k in 0..nz - 1 {
            for i in 0..nx - 1 {
                let [a, b, c, d] =
                    [i + k * nx, i + 1 + k * nx, i + (k + 1) * nx, i + 1 + (k + 1) * nx].map(|v| v as u32);
                triangles.extend([[a, c, b], [b, c, d]]);
            }
        }
        TriMesh { vertices, triangles }
    }
}
