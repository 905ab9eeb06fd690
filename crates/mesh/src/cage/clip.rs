//! Triangles cut to a tet or to a range of cubes.

use super::lattice::Frame;
use sinew_math::Vec3;

/// How far outside a tet or cube still counts as in it (lattice units): above the round-off of
/// lattice coordinates, below anything visible. Whatever crosses a face is seen from both sides.
pub(crate) const FAT: f64 = 1e-9;

/// A convex polygon: a triangle after cuts by at most six planes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polygon<P> {
    points: [P; 10],
    count: usize,
}

impl<P: Copy + Default> Polygon<P> {
    pub(crate) fn triangle(corners: [P; 3]) -> Self {
        let mut points = [P::default(); 10];
        points[..3].copy_from_slice(&corners);
        Self { points, count: 3 }
    }

    pub(crate) fn points(&self) -> &[P] {
        &self.points[..self.count]
    }

    /// The part where `height` is not negative; `between` blends two points.
    fn cut(&self, height: impl Fn(&P) -> f64, between: impl Fn(&P, &P, f64) -> P) -> Self {
        let mut kept = Self { points: [P::default(); 10], count: 0 };
        let mut push = |p: P| {
            if kept.count < 10 {
                kept.points[kept.count] = p;
                kept.count += 1;
            }
        };
        for i in 0..self.count {
            let (p, q) = (&self.points[i], &self.points[(i + 1) % self.count]);
            let (hp, hq) = (height(p), height(q));
            if hp >= 0.0 {
                push(*p);
            }
            if (hp < 0.0) != (hq < 0.0) {
                push(between(p, q, hp / (hp - hq)));
            }
        }
        kept
    }
}

impl Polygon<[f64; 3]> {
    /// The part on one side of a plane across `axis`: at least `at` if `above`, at most `at` if not.
    pub(crate) fn beside(&self, axis: usize, at: f64, above: bool) -> Self {
        let side = if above { 1.0 } else { -1.0 };
        self.cut(|p| side * (p[axis] - at) + FAT, |p, q, t| [0, 1, 2].map(|k| p[k] + t * (q[k] - p[k])))
    }
}

/// The part of a triangle in a tet, as barycentric coordinates.
pub(crate) type Clip = Polygon<[f64; 4]>;

impl Clip {
    /// Cuts a triangle (lattice) to a tet. `None` if nothing is left.
    pub(crate) fn of(frame: &Frame, triangle: &[Vec3; 3]) -> Option<Self> {
        let corners = triangle.map(|p| frame.barycentric(&p));
        if (0..4).any(|i| corners.iter().all(|b| b[i] < -FAT)) {
            return None;
        }
        let mut clip = Self::triangle(corners);
        for i in 0..4 {
            clip = clip.cut(|b| b[i] + FAT, |p, q, t| [0, 1, 2, 3].map(|k| p[k] + t * (q[k] - p[k])));
        }
        (clip.count > 0).then_some(clip)
    }

    /// The faces it reaches: bit `i` for the face opposite corner `i`.
    pub(crate) fn faces(&self) -> u8 {
        (0..4).filter(|&i| self.points().iter().any(|b| b[i] <= FAT)).fold(0, |bits, i| bits | 1 << i)
    }

    /// The mean of its points.
    pub(crate) fn middle(&self) -> [f64; 4] {
        let share = 1.0 / self.count as f64;
        self.points().iter().fold([0.0; 4], |m, b| [0, 1, 2, 3].map(|k| m[k] + share * b[k].clamp(0.0, 1.0)))
    }
}

/// Whether the segment from `p` to `q` (lattice) meets the tet.
pub(crate) fn segment_meets(frame: &Frame, p: &Vec3, q: &Vec3) -> bool {
    let (bp, bq) = (frame.barycentric(p), frame.barycentric(q));
    let (mut start, mut end) = (0.0f64, 1.0f64);
    for i in 0..4 {
        let (hp, hq) = (bp[i] + FAT, bq[i] + FAT);
        if hp < 0.0 && hq < 0.0 {
            return false;
        } else if hp < 0.0 {
            start = start.max(hp / (hp - hq));
        } else if hq < 0.0 {
            end = end.min(hp / (hp - hq));
        }
    }
    start <= end
}
