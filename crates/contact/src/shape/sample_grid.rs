//! A regular grid of points with trilinear interpolation of the values at them.

use crate::Bounds;
use sinew_math::Vec3;

/// Points at equal distances along each axis; x runs fastest, z slowest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleGrid {
    /// The corner with the smallest coordinates (m).
    pub origin: Vec3,
    /// Grid spacing (m).
    pub spacing: f64,
    /// Points along each axis, two at least.
    pub counts: [usize; 3],
}

impl SampleGrid {
    /// The number of points.
    pub fn count(&self) -> usize {
        self.counts.iter().product()
    }

    /// The place of a point (m).
    pub fn point(&self, i: usize) -> Vec3 {
        let (x, rest) = (i % self.counts[0], i / self.counts[0]);
        let cell = Vec3::new(x as f64, (rest % self.counts[1]) as f64, (rest / self.counts[1]) as f64);
        self.origin + self.spacing * cell
    }

    /// The box of all points.
    pub fn bounds(&self) -> Bounds {
        let size = Vec3::from_fn(|k, _| (self.counts[k] - 1) as f64) * self.spacing;
        Bounds { min: self.origin, max: self.origin + size }
    }

    /// The value at a place, and its gradient (1/m); none outside of the grid.
    #[inline]
    pub fn interpolate(&self, values: &[f32], p: &Vec3) -> Option<(f64, Vec3)> {
        let u = (p - self.origin) / self.spacing;
        if !(0..3).all(|k| u[k] >= 0.0 && u[k] <= (self.counts[k] - 1) as f64) {
            return None;
        }
        let cell: [usize; 3] = core::array::from_fn(|k| (u[k] as usize).min(self.counts[k] - 2));
        let s = Vec3::from_fn(|k, _| u[k] - cell[k] as f64);
        let [nx, ny, _] = self.counts;
        let corner = |i: usize, j: usize, k: usize| {
            f64::from(values[cell[0] + i + nx * (cell[1] + j + ny * (cell[2] + k))])
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
        Some((mix(near.0, far.0, s.z), gradient / self.spacing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trilinear interpolation reproduces linear functions and their gradients, to the round-off of single precision.
    #[test]
    fn linear_functions_are_reproduced() {
        let grid = SampleGrid { origin: Vec3::new(-0.25, 0.125, 0.25), spacing: 0.0625, counts: [4, 3, 5] };
        let (direction, at) = (Vec3::new(2.0, -3.0, 0.5), |p: &Vec3| 0.7 + Vec3::new(2.0, -3.0, 0.5).dot(p));
        let values: Vec<f32> = (0..grid.count()).map(|i| at(&grid.point(i)) as f32).collect();
        for p in [Vec3::new(-0.13, 0.17, 0.41), grid.origin, grid.point(grid.count() - 1)] {
            let (value, gradient) = grid.interpolate(&values, &p).expect("inside");
            assert!(
                (value - at(&p)).abs() < 1e-6 && (gradient - direction).norm() < 1e-4,
                "{value} {gradient}"
            );
        }
        assert_eq!(grid.interpolate(&values, &Vec3::new(-0.26, 0.17, 0.41)), None);
    }
}
