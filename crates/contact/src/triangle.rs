//! Point-triangle proximity.

use sinew_math::Vec3;

/// The closest point of a triangle to another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrianglePoint {
    /// The point (m).
    pub point: Vec3,
    /// Its barycentric weights, not negative, sum 1.
    pub weights: [f64; 3],
}

/// The point of triangle `abc` closest to `p`, by its Voronoi regions. [Ericson2005, §5.1.5]
///
/// Triangles without area are treated as segments or points.
#[inline]
pub fn nearest_on_triangle(p: &Vec3, [a, b, c]: &[Vec3; 3]) -> TrianglePoint {
    // vertex regions of a and b, edge region of ab
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return TrianglePoint { point: *a, weights: [1.0, 0.0, 0.0] };
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return TrianglePoint { point: *b, weights: [0.0, 1.0, 0.0] };
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let fraction = d1 / (d1 - d3);
        return TrianglePoint { point: a + fraction * ab, weights: [1.0 - fraction, fraction, 0.0] };
    }

    // vertex region of c, edge regions of ac and bc
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return TrianglePoint { point: *c, weights: [0.0, 0.0, 1.0] };
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let fraction = d2 / (d2 - d6);
        return TrianglePoint { point: a + fraction * ac, weights: [1.0 - fraction, 0.0, fraction] };
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let fraction = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return TrianglePoint { point: b + fraction * (c - b), weights: [0.0, 1.0 - fraction, fraction] };
    }

    // face region
    let sum = 1.0 / (va + vb + vc);
    let (v, w) = (vb * sum, vc * sum);
    TrianglePoint { point: a + v * ab + w * ac, weights: [1.0 - v - w, v, w] }
}

/// The times between 0 and 1 at which four points that move linearly are coplanar, in order: what continuous collision detection is
/// tested against.
///
/// ```text
/// (p − a) · ((b − a) × (c − a)) = 0,        a cubic in the time                           [BridsonFedkiw2002, §6]
/// ```
///
/// Each monotone interval between the extrema of the cubic has at most one root, found by bisection.
#[cfg(test)]
pub(crate) fn coplanar_times(start: &[Vec3; 4], motion: &[Vec3; 4]) -> [Option<f64>; 3] {
    let volume = |s: f64| {
        let [p, a, b, c] = core::array::from_fn(|i| (start[i] - start[0]) + s * (motion[i] - motion[0]));
        (p - a).dot(&(b - a).cross(&(c - a)))
    };
    // the cubic through its values at four points (Newton form)
    let (f0, f1, f2, f3) = (volume(0.0), volume(1.0 / 3.0), volume(2.0 / 3.0), volume(1.0));
    let (d1, d2, d3) = (f1 - f0, f2 - 2.0 * f1 + f0, f3 - 3.0 * f2 + 3.0 * f1 - f0);
    // extrema: derivative in u = 3 s of f0 + u d1 + u(u−1)/2 d2 + u(u−1)(u−2)/6 d3
    let (qa, qb, qc) = (0.5 * d3, d2 - d3, d1 - 0.5 * d2 + d3 / 3.0);
    let mut ends = [0.0, 1.0, 1.0, 1.0];
    let discriminant = qb * qb - 4.0 * qa * qc;
    if qa == 0.0 && qb != 0.0 {
        ends[1] = -qc / qb / 3.0;
    } else if qa != 0.0 && discriminant >= 0.0 {
        let q = -0.5 * (qb + discriminant.sqrt().copysign(qb));
        let (r0, r1) = (q / qa, if q != 0.0 { qc / q } else { 0.0 });
        (ends[1], ends[2]) = (r0.min(r1) / 3.0, r0.max(r1) / 3.0);
    }

    // roots in the monotone intervals
    let mut low = 0.0;
    core::array::from_fn(|i| {
        let high = ends[i + 1].clamp(low, 1.0);
        let root = bisect(&volume, low, high);
        low = high;
        root
    })
}

/// The root of a function that is monotone on an interval.
#[cfg(test)]
fn bisect(f: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> Option<f64> {
    let (start, end) = (f(low), f(high));
    if start == 0.0 {
        return Some(low);
    }
    if start.signum() == end.signum() && end != 0.0 {
        return None;
    }
    for _ in 0..44 {
        let middle = 0.5 * (low + high);
        if f(middle).signum() == start.signum() { low = middle } else { high = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vec3; 3] =
        [Vec3::new(0.0, 0.0, 0.0), Vec3::new(2.0, 0.0, 0.1), Vec3::new(0.3, 1.5, -0.2)];

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// No sample of the triangle is closer, and the weights reproduce the point.
    #[test]
    fn no_point_of_the_triangle_is_closer() {
        let mut seed = 3;
        for _ in 0..300 {
            let p = 2.0 * Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
            let found = nearest_on_triangle(&p, &CORNERS);
            let [u, v, w] = found.weights;
            assert!((CORNERS[0] * u + CORNERS[1] * v + CORNERS[2] * w - found.point).norm() < 1e-14);
            assert!((u + v + w - 1.0).abs() < 1e-14 && u >= 0.0 && v >= 0.0 && w >= 0.0);
            for i in 0..=10 {
                for j in 0..=10 - i {
                    let [s, t] = [f64::from(i) / 10.0, f64::from(j) / 10.0];
                    let other = CORNERS[0] * (1.0 - s - t) + CORNERS[1] * s + CORNERS[2] * t;
                    assert!((p - other).norm() >= (p - found.point).norm() - 1e-12);
                }
            }
        }
    }

    #[test]
    fn degenerate_triangles_are_segments_and_points() {
        let p = Vec3::new(0.5, 1.0, 0.0);
        let segment = [Vec3::zeros(), Vec3::x(), 2.0 * Vec3::x()];
        assert!((nearest_on_triangle(&p, &segment).point - Vec3::new(0.5, 0.0, 0.0)).norm() < 1e-12);
        let found = nearest_on_triangle(&p, &[Vec3::y(); 3]);
        assert_eq!(found.point, Vec3::y());
        assert!(found.weights.iter().all(|w| w.is_finite()));
    }
}
