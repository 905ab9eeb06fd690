//! Sutherland-Hodgman clipping of triangles against lattice tets and axis-aligned half-spaces.
//!
//! In barycentric coordinates each face of a tet is where one coordinate is zero, so clipping needs no plane equations, and the clipped
//! polygon shows which faces it reaches. All clipping is conservative by a small tolerance.

use super::lattice::LatticeTet;
use sinew_math::Vec3;

/// Clipping tolerance (lattice units): points this far outside a tet or cube count as inside. It is above the round-off of lattice
/// coordinates and below anything visible. A triangle that crosses a face is found in the tets on both sides.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// A convex polygon: a triangle clipped by at most six planes.
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

    /// The part where `height` is not negative; `between` interpolates two points.
    fn clip(&self, height: impl Fn(&P) -> f64, between: impl Fn(&P, &P, f64) -> P) -> Self {
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
    /// The part in an axis-aligned half-space: coordinate `axis` at least `at` if `above`, at most `at` if not.
    pub(crate) fn half_space(&self, axis: usize, at: f64, above: bool) -> Self {
        let side = if above { 1.0 } else { -1.0 };
        self.clip(
            |p| side * (p[axis] - at) + TOLERANCE,
            |p, q, t| [0, 1, 2].map(|k| p[k] + t * (q[k] - p[k])),
        )
    }
}

/// A triangle clipped to a tet, in barycentric coordinates.
pub(crate) type Clip = Polygon<[f64; 4]>;

impl Clip {
    /// Clips a triangle (lattice coordinates) to a tet; `None` if they do not intersect.
    pub(crate) fn of(tet: &LatticeTet, triangle: &[Vec3; 3]) -> Option<Self> {
        let corners = triangle.map(|p| tet.barycentric(&p));
        if (0..4).any(|i| corners.iter().all(|b| b[i] < -TOLERANCE)) {
            return None;
        }
        let mut clip = Self::triangle(corners);
        for i in 0..4 {
            clip = clip.clip(|b| b[i] + TOLERANCE, |p, q, t| [0, 1, 2, 3].map(|k| p[k] + t * (q[k] - p[k])));
        }
        (clip.count > 0).then_some(clip)
    }

    /// The faces it reaches: bit `i` for the face opposite corner `i`.
    pub(crate) fn faces(&self) -> u8 {
        (0..4).filter(|&i| self.points().iter().any(|b| b[i] <= TOLERANCE)).fold(0, |bits, i| bits | 1 << i)
    }

    /// The mean of its vertices.
    pub(crate) fn centroid(&self) -> [f64; 4] {
        let fraction = 1.0 / self.count as f64;
        self.points()
            .iter()
            .fold([0.0; 4], |m, b| [0, 1, 2, 3].map(|k| m[k] + fraction * b[k].clamp(0.0, 1.0)))
    }
}

/// Whether the segment from `p` to `q` (lattice coordinates) intersects the tet.
pub(crate) fn segment_intersects(tet: &LatticeTet, p: &Vec3, q: &Vec3) -> bool {
    let (bp, bq) = (tet.barycentric(p), tet.barycentric(q));
    let (mut start, mut end) = (0.0f64, 1.0f64);
    for i in 0..4 {
        let (hp, hq) = (bp[i] + TOLERANCE, bq[i] + TOLERANCE);
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

    fn tet() -> LatticeTet {
        TetKey::containing(&Vec3::new(10.3, 11.1, 12.7)).map(LatticeTet::of).unwrap()
    }

    #[test]
    fn a_triangle_inside_a_tet_is_not_clipped_and_reaches_no_face() {
        let tet = tet();
        let corners =
            [[0.3, 0.3, 0.2, 0.2], [0.2, 0.3, 0.3, 0.2], [0.2, 0.2, 0.3, 0.3]].map(|b| tet.point(&b));
        let clip = Clip::of(&tet, &corners).unwrap();
        assert_eq!((clip.points().len(), clip.faces()), (3, 0));
    }

    /// A plane of constant first coordinate cuts the three other faces only.
    #[test]
    fn a_large_triangle_is_clipped_to_the_tet_and_reaches_its_faces() {
        let tet = tet();
        let corners =
            [[0.4, 6.0, -2.4, -3.0], [0.4, -3.0, 6.0, -2.4], [0.4, -2.4, -3.0, 6.0]].map(|b| tet.point(&b));
        let clip = Clip::of(&tet, &corners).unwrap();
        assert_eq!(clip.faces(), 0b1110);
        assert!(clip.points().iter().all(|b| b.iter().all(|&x| x > -1e-8) && (b[0] - 0.4).abs() < 1e-12));
        assert!(segment_intersects(&tet, &corners[0], &tet.point(&[0.25; 4])));
    }

    #[test]
    fn a_triangle_beyond_a_face_is_clipped_away() {
        let tet = tet();
        let corners =
            [[-0.1, 1.1, 0.0, 0.0], [-0.1, 0.0, 1.1, 0.0], [-0.1, 0.0, 0.0, 1.1]].map(|b| tet.point(&b));
        assert!(Clip::of(&tet, &corners).is_none());
        assert!(!segment_intersects(&tet, &corners[0], &corners[1]));
    }
}
