//! Triangles cut to a tet or to a range of cubes.
//!
//! The one idea: in barycentric coordinates each face of a tet is where one coordinate is zero, so a
//! cut needs no planes, and what is left knows which faces it reaches. All cuts are a little fat.

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
        let fraction = 1.0 / self.count as f64;
        self.points()
            .iter()
            .fold([0.0; 4], |m, b| [0, 1, 2, 3].map(|k| m[k] + fraction * b[k].clamp(0.0, 1.0)))
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

#[cfg(test)]
mod tests {
    use super::super::lattice::TetKey;
    use super::*;

    fn tet() -> Frame {
        TetKey::holding(&Vec3::new(10.3, 11.1, 12.7)).map(Frame::of).unwrap()
    }

    #[test]
    fn a_triangle_within_a_tet_is_left_whole_and_reaches_no_face() {
        let frame = tet();
        let corners =
            [[0.3, 0.3, 0.2, 0.2], [0.2, 0.3, 0.3, 0.2], [0.2, 0.2, 0.3, 0.3]].map(|b| frame.point(&b));
        let clip = Clip::of(&frame, &corners).unwrap();
        assert_eq!((clip.points().len(), clip.faces()), (3, 0));
    }

    /// A plane of constant first coordinate cuts the three other faces only.
    #[test]
    fn a_large_triangle_is_cut_to_the_tet_and_reaches_its_faces() {
        let frame = tet();
        let corners =
            [[0.4, 6.0, -2.4, -3.0], [0.4, -3.0, 6.0, -2.4], [0.4, -2.4, -3.0, 6.0]].map(|b| frame.point(&b));
        let clip = Clip::of(&frame, &corners).unwrap();
        assert_eq!(clip.faces(), 0b1110);
        assert!(clip.points().iter().all(|b| b.iter().all(|&x| x > -1e-8) && (b[0] - 0.4).abs() < 1e-12));
        assert!(segment_meets(&frame, &corners[0], &frame.point(&[0.25; 4])));
    }

    #[test]
    fn a_triangle_beyond_a_face_leaves_nothing() {
        let frame = tet();
        let corners =
            [[-0.1, 1.1, 0.0, 0.0], [-0.1, 0.0, 1.1, 0.0], [-0.1, 0.0, 0.0, 1.1]].map(|b| frame.point(&b));
        assert!(Clip::of(&frame, &corners).is_none());
        assert!(!segment_meets(&frame, &corners[0], &corners[1]));
    }
}
