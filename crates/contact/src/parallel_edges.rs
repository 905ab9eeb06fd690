//! Mollifier of the barrier between nearly parallel edges, where the closest points jump from end to end.

use sinew_math::Vec3;

/// A factor of the barrier of two edges that vanishes with its gradient where they are parallel:
///
/// ```text
/// m = s (2 − s)  for s = |u × v|²/ε < 1, else 1,      ε = 10⁻³ |u|² |v|² at rest          [Li2020, §4.4, eq. 23]
/// ```
///
/// Points and faces keep such edges apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParallelEdges {
    /// m.
    pub factor: f64,
    /// ∂m with respect to the four points (1/m).
    pub gradient: [Vec3; 4],
}

/// Sine squared of the angle below which edges count as nearly parallel.
const SMALL_ANGLE: f64 = 1e-3;

impl ParallelEdges {
    /// Of two edges, the first two and the last two points, whose lengths at rest have the squares `rest` (m²). None if they are far from
    /// parallel, where the factor is 1.
    pub fn of(x: &[Vec3; 4], rest: [f64; 2]) -> Option<ParallelEdges> {
        let (u, v) = (x[1] - x[0], x[3] - x[2]);
        let w = u.cross(&v);
        let limit = SMALL_ANGLE * rest[0] * rest[1];
        let s = w.norm_squared() / limit;
        if limit <= 0.0 || s >= 1.0 {
            return None;
        }
        // ∂|u × v|²/∂u = 2 v × (u × v), ∂/∂v = 2 (u × v) × u
        let rate = (2.0 - 2.0 * s) * 2.0 / limit;
        let (along_u, along_v) = (rate * v.cross(&w), rate * w.cross(&u));
        Some(ParallelEdges { factor: s * (2.0 - s), gradient: [-along_u, along_u, -along_v, along_v] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ccd::tests::Random;

    #[test]
    fn gradient_agrees_with_finite_differences() {
        let mut random = Random(9);
        let mut count = 0;
        for _ in 0..200 {
            let (a, c, u) = (random.point(), random.point(), random.point());
            let v = u + 0.03 * random.point();
            let x = [a, a + u, c, c + v];
            let rest = [u.norm_squared(), v.norm_squared()];
            let Some(found) = ParallelEdges::of(&x, rest) else { continue };
            count += 1;
            let factor = |x: &[Vec3; 4]| ParallelEdges::of(x, rest).map_or(1.0, |found| found.factor);
            for k in 0..12 {
                let shifted = |by: f64| {
                    let mut x = x;
                    x[k / 3][k % 3] += by;
                    factor(&x)
                };
                // edges of length 1 turn by the angle of 0.03 over a distance of 0.03: third derivatives of order 1e5
                let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                assert!((difference - found.gradient[k / 3][k % 3]).abs() < 1e-4 * 100.0);
            }
        }
        assert!(count > 50);
    }

    #[test]
    fn parallel_edges_have_no_barrier() {
        let x = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::new(2.0, 1.0, 0.0)];
        let found = ParallelEdges::of(&x, [1.0, 4.0]).expect("parallel");
        assert_eq!((found.factor, found.gradient), (0.0, [Vec3::zeros(); 4]));
        assert_eq!(ParallelEdges::of(&[Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()], [1.0, 2.0]), None);
    }
}
