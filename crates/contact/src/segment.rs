//! Closest points of a point and a segment, and of two segments.

use sinew_math::Vec3;

/// The closest points of two segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentPoints {
    /// The points on the first and on the second segment (m).
    pub points: [Vec3; 2],
    /// Their positions along the segments, from 0 at the first end to 1 at the second.
    pub fractions: [f64; 2],
}

impl SegmentPoints {
    /// The vector from the second point to the first (m).
    #[inline]
    pub fn gap(&self) -> Vec3 {
        self.points[0] - self.points[1]
    }
}

/// The position along segment `ab`, between 0 and 1, of its point closest to `p`; 0 for a segment without length.
#[inline]
pub fn nearest_on_segment(p: &Vec3, [a, b]: &[Vec3; 2]) -> f64 {
    let along = b - a;
    let squared = along.norm_squared();
    if squared > 0.0 { (along.dot(&(p - a)) / squared).clamp(0.0, 1.0) } else { 0.0 }
}

/// The closest points of two segments; where several are as close, those of the first kind in the order below.
///
/// Either both points are inside, where the lines come closest, or one of them is an end:
///
/// ```text
/// n = u × v,   s = ((c − a) × v) · n / n²,   t = ((c − a) × u) · n / n²          [Ericson2005, §5.1.9]
/// ```
///
/// with the cross product in place of the Gram determinant u² v² − (u·v)², whose relative error grows with the inverse square of the
/// angle, not with its inverse. Parallel segments, and those without length, have an end among their closest points.
#[inline]
pub fn nearest_on_segments([a, b]: &[Vec3; 2], [c, d]: &[Vec3; 2]) -> SegmentPoints {
    // an end of one segment and a point of the other
    let (ab, cd) = ([*a, *b], [*c, *d]);
    let mut best = between(&ab, &cd, [0.0, nearest_on_segment(a, &cd)]);
    let ends = [
        [1.0, nearest_on_segment(b, &cd)],
        [nearest_on_segment(c, &ab), 0.0],
        [nearest_on_segment(d, &ab), 1.0],
    ];
    for fractions in ends {
        best = closer(best, between(&ab, &cd, fractions));
    }

    // both points inside
    let (u, v, w) = (b - a, d - c, c - a);
    let n = u.cross(&v);
    let squared = n.norm_squared();
    if squared > 0.0 {
        let [s, t] = [w.cross(&v).dot(&n) / squared, w.cross(&u).dot(&n) / squared];
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            // errors of the two along nearly parallel segments differ: one follows from the other
            let t = nearest_on_segment(&(a + s * u), &cd);
            best = closer(best, between(&ab, &cd, [s, t]));
        }
    }
    best
}

#[inline]
fn between([a, b]: &[Vec3; 2], [c, d]: &[Vec3; 2], fractions: [f64; 2]) -> SegmentPoints {
    let [s, t] = fractions;
    SegmentPoints { points: [a + s * (b - a), c + t * (d - c)], fractions }
}

#[inline]
fn closer(one: SegmentPoints, other: SegmentPoints) -> SegmentPoints {
    if other.gap().norm_squared() < one.gap().norm_squared() { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ccd::tests::Random;

    /// No pair of samples is closer than the points found, for segments in general position, nearly parallel and without length.
    #[test]
    fn no_points_of_the_segments_are_closer() {
        let mut random = Random(5);
        for case in 0..3000 {
            let [a, b, c] = [random.point(), random.point(), random.point()];
            let d = match case % 4 {
                0 => random.point(),
                1 => c + (b - a),
                2 => c + (b - a) + 1e-7 * random.point(),
                _ => c,
            };
            let found = nearest_on_segments(&[a, b], &[c, d]);
            let distance = found.gap().norm();
            for i in 0..=20 {
                for j in 0..=20 {
                    let fractions = [f64::from(i) / 20.0, f64::from(j) / 20.0];
                    // coordinates of size 1 are rounded to 1e-16
                    let sample = between(&[a, b], &[c, d], fractions).gap().norm();
                    assert!(sample >= distance - 1e-14, "case {case}: {sample} < {distance}");
                }
            }
        }
    }

    /// Segments that cross at a small angle are at distance 0: the cross product keeps the fraction along them to 1e-16/angle.
    #[test]
    fn segments_that_cross_at_a_small_angle_meet() {
        for angle in [1e-2, 1e-5, 1e-8, 1e-11] {
            let [u, v] = [Vec3::new(1.0, 0.3, 0.2), Vec3::new(1.0, 0.3 + angle, 0.2)];
            let found = nearest_on_segments(&[-0.3 * u, u], &[-0.7 * v, v]);
            // some ten roundings of coordinates of size 1
            assert!(found.gap().norm() < 1e-14, "{angle}: {}", found.gap().norm());
        }
    }
}
