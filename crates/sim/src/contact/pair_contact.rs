//! Vertex–triangle contact between soft surfaces.

use crate::Model;
use crate::friction_anchor::PairFrictionAnchor;
use sinew_contact::{NearPair, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;

/// A vertex in contact with a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairContact {
    pub(super) vertex: u32,
    pub(super) triangle: u32,
    pub(super) corners: [u32; 3],
    /// Barycentric weights of the contact point.
    pub(super) weights: [f64; 3],
    /// Depth below the distance at which the force begins (m), and the outward normal.
    pub(super) depth: f64,
    pub(super) normal: Vec3,
}

/// Two edges at an angle below a thousandth of a right angle leave the plane of a triangle to round-off: the square of that.
const SLIVER: f64 = 1e-6;

impl PairContact {
    /// The triangle nearest to a vertex, if the vertex is within the gap in front of it or the range behind it. Of equally near triangles, as at an edge, the one
    /// that faces the vertex most directly.
    pub(super) fn nearest<'a>(
        finder: &SurfacePairs,
        pairs: impl Iterator<Item = &'a NearPair>,
        x: impl Fn(u32) -> Vec3,
    ) -> Option<PairContact> {
        let reach = finder.range();
        let mut best: Option<(f64, f64, f64, PairContact)> = None;
        for pair in pairs {
            // nearest point, within the range
            let p = x(pair.vertex);
            let corners = finder.triangle(pair.triangle);
            let [a, b, c] = corners.map(&x);
            let found = nearest_on_triangle(&p, &[a, b, c]);
            let off = p - found.point;
            let distance = off.norm();
            if distance > reach {
                continue;
            }

            // signed distance
            let normal = (b - a).cross(&(c - a));
            let length = normal.norm();
            if length == 0.0 {
                continue;
            }
            let normal = normal / length;
            let height = off.dot(&normal);

            // keep the nearest, or of equally near ones the one facing the vertex
            let same = |other: f64| (distance - other).abs() <= 1e-9 * reach;
            let is_better = match &best {
                None => true,
                Some((other, facing, _, _)) => {
                    if same(*other) {
                        height.abs() > *facing
                    } else {
                        distance < *other
                    }
                }
            };
            if is_better {
                let side = if height < 0.0 { -1.0 } else { 1.0 };
                let normal = if distance > 1e-9 * reach { off * (side / distance) } else { normal };
                let contact = PairContact {
                    vertex: pair.vertex,
                    triangle: pair.triangle,
                    corners,
                    weights: found.weights,
                    depth: pair.gap - side * distance,
                    normal,
                };
                best = Some((distance, height.abs(), pair.gap, contact));
            }
        }
        best.map(|(_, _, _, contact)| contact).filter(|contact| contact.depth > 0.0)
    }

    /// Whether the flesh on either side is inverted, with nodes at the given positions (m): the outward normal is then unreliable, and contact would increase the penetration.
    pub(super) fn is_inside_out(&self, model: &Model, node_x: &[Vec3]) -> bool {
        let turned =
            |point: u32| model.contact_surface().is_inside_out(point as usize, model.node_rest(), node_x);
        turned(self.vertex) || self.corners.into_iter().any(turned)
    }

    /// The vector from the friction anchor to the contact point (m). `None` if the anchor is on another side, as on a second nearby surface.
    pub(super) fn stretch(
        &self,
        corners: &[Vec3; 3],
        anchor: &PairFrictionAnchor,
        held: &[Vec3; 3],
    ) -> Option<Vec3> {
        let side = (held[1] - held[0]).cross(&(held[2] - held[0]));
        (side.dot(&self.normal) > 0.0).then(|| weighted(self.weights, corners) - anchor.place(*held))
    }

    /// The friction anchor that is stretched by s (m) to the contact point, projected onto the plane of the triangle: with its edges e₁ and e₂ from the first corner
    ///
    /// ```text
    /// anchor = point − (u e₁ + v e₂),    (eᵢ · eⱼ) (u, v) = (e₁ · s, e₂ · s)
    /// ```
    pub(super) fn hold(&self, [a, b, c]: &[Vec3; 3], stretch: &Vec3) -> PairFrictionAnchor {
        let [wa, wb, wc] = self.weights;
        let (e1, e2) = (b - a, c - a);
        let (e11, e12, e22) = (e1.norm_squared(), e1.dot(&e2), e2.norm_squared());
        let (s1, s2) = (e1.dot(stretch), e2.dot(stretch));
        let area = e11 * e22 - e12 * e12;
        // slivers have no well-defined plane: their stretch is reset
        let (u, v) = if area > SLIVER * e11 * e22 {
            ((s1 * e22 - s2 * e12) / area, (s2 * e11 - s1 * e12) / area)
        } else {
            (0.0, 0.0)
        };
        PairFrictionAnchor {
            vertex: self.vertex,
            triangle: self.triangle,
            weights: [wa + u + v, wb - u, wc - v],
        }
    }
}

fn weighted(weights: [f64; 3], corners: &[Vec3; 3]) -> Vec3 {
    weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vec3; 3] =
        [Vec3::new(0.0, 0.0, 0.0), Vec3::new(2.0, 0.0, 0.0), Vec3::new(0.5, 0.0, -1.5)];

    fn contact() -> PairContact {
        PairContact {
            vertex: 5,
            triangle: 2,
            corners: [0, 1, 2],
            weights: [0.2, 0.3, 0.5],
            depth: 0.1,
            normal: Vec3::y(),
        }
    }

    /// An anchor reproduces the stretch it was made for, also outside the triangle, except for the normal component.
    #[test]
    fn a_hold_leaves_the_stretch_it_was_made_for() {
        for stretch in [Vec3::zeros(), Vec3::new(0.3, 0.0, -0.2), Vec3::new(-9.0, 0.0, 4.0)] {
            let anchor = contact().hold(&CORNERS, &(stretch + 0.7 * Vec3::y()));
            assert_eq!((anchor.vertex, anchor.triangle), (5, 2));
            assert!((anchor.weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let found = contact().stretch(&CORNERS, &anchor, &CORNERS).expect("the same side");
            assert!((found - stretch).norm() < 1e-13, "{found:?}");
        }
    }

    /// The anchor moves with its surface: rotated and shifted together with the vertex, the stretch stays zero.
    #[test]
    fn a_surface_that_moves_along_stretches_nothing() {
        let anchor = contact().hold(&CORNERS, &Vec3::zeros());
        let moved = CORNERS.map(|c| Vec3::new(-c.z, c.y, c.x) + Vec3::new(3.0, 1.0, -2.0));
        assert!(contact().stretch(&moved, &anchor, &moved).expect("the same side").norm() < 1e-14);
    }

    #[test]
    fn a_hold_on_the_far_side_is_let_go_and_slivers_hold_at_the_point() {
        let anchor = contact().hold(&CORNERS, &Vec3::zeros());
        let [a, b, c] = CORNERS;
        assert!(contact().stretch(&CORNERS, &anchor, &[a, c, b]).is_none());
        let sliver = [a, b, b + Vec3::new(1.0, 0.0, 1e-9)];
        assert_eq!(contact().hold(&sliver, &Vec3::x()).weights, contact().weights);
    }
}
