//! Intersection of two triangles, by the edges of each against the other: an independent check of states that must have none.

use sinew_math::Vec3;

/// Whether two triangles have a point in common.
///
/// Two triangles that are not coplanar intersect where an edge of one pierces the other, which four signed volumes tell
/// `[GuigueDevillers2003]`; coplanar ones where two edges cross or one contains a corner of the other. Signs are those of rounded
/// volumes: triangles closer than some 1e-16 of their size may count as intersecting.
pub fn triangles_intersect(first: &[Vec3; 3], second: &[Vec3; 3]) -> bool {
    // all corners of one strictly on one side of the other
    let sides = |of: &[Vec3; 3], points: &[Vec3; 3]| points.map(|p| volume(of, &p));
    let [over, under] = [sides(second, first), sides(first, second)];
    if is_one_side(&over) || is_one_side(&under) {
        return false;
    }
    if over == [0.0; 3] || under == [0.0; 3] {
        return coplanar_intersect(first, second);
    }
    edges(first).any(|edge| pierces(&edge, second)) || edges(second).any(|edge| pierces(&edge, first))
}

fn edges([a, b, c]: &[Vec3; 3]) -> impl Iterator<Item = [Vec3; 2]> + use<> {
    [[*a, *b], [*b, *c], [*c, *a]].into_iter()
}

/// Six times the signed volume of the tetrahedron of a triangle and a point (m³).
fn volume([a, b, c]: &[Vec3; 3], p: &Vec3) -> f64 {
    (a - p).dot(&(b - p).cross(&(c - p)))
}

fn is_one_side(volumes: &[f64; 3]) -> bool {
    volumes.iter().all(|v| *v > 0.0) || volumes.iter().all(|v| *v < 0.0)
}

/// Whether a segment has a point in common with a triangle that is not coplanar with it: its ends are not on one side, and its line
/// passes all edges on the same side.
fn pierces([p, q]: &[Vec3; 2], triangle: &[Vec3; 3]) -> bool {
    let (at_p, at_q) = (volume(triangle, p), volume(triangle, q));
    if at_p * at_q > 0.0 || (at_p == 0.0 && at_q == 0.0) {
        return false;
    }
    let [a, b, c] = triangle;
    let passes = [volume(&[*p, *a, *b], q), volume(&[*p, *b, *c], q), volume(&[*p, *c, *a], q)];
    passes.iter().all(|v| *v >= 0.0) || passes.iter().all(|v| *v <= 0.0)
}

/// The same for triangles in one plane, projected along its largest component.
fn coplanar_intersect(first: &[Vec3; 3], second: &[Vec3; 3]) -> bool {
    let normal = |[a, b, c]: &[Vec3; 3]| (b - a).cross(&(c - a));
    let axis = (normal(first).abs() + normal(second).abs()).imax();
    let flat = |p: Vec3| [p[(axis + 1) % 3], p[(axis + 2) % 3]];
    let (first, second) = (first.map(flat), second.map(flat));
    let sides = |t: &[[f64; 2]; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let crossing = sides(&first).iter().any(|one| sides(&second).iter().any(|other| cross(one, other)));
    crossing || contains(&first, &second[0]) || contains(&second, &first[0])
}

/// Twice the signed area of a triangle in the plane (m²).
fn area(a: &[f64; 2], b: &[f64; 2], c: &[f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn cross([a, b]: &[[f64; 2]; 2], [c, d]: &[[f64; 2]; 2]) -> bool {
    let box_overlaps = (0..2).all(|k| a[k].min(b[k]) <= c[k].max(d[k]) && c[k].min(d[k]) <= a[k].max(b[k]));
    box_overlaps && area(a, b, c) * area(a, b, d) <= 0.0 && area(c, d, a) * area(c, d, b) <= 0.0
}

fn contains([a, b, c]: &[[f64; 2]; 3], p: &[f64; 2]) -> bool {
    let sides = [area(a, b, p), area(b, c, p), area(c, a, p)];
    let is_flat = area(a, b, c) == 0.0;
    !is_flat && (sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ccd::tests::Random;
    use crate::{nearest_on_segments, nearest_on_triangle};

    /// The smallest distance between corners and faces and between edges: positive for triangles apart, and for those of which an edge
    /// pierces the inside of the other.
    fn boundary_distance(a: &[Vec3; 3], b: &[Vec3; 3]) -> f64 {
        let faces = a.iter().map(|p| (p - nearest_on_triangle(p, b).point).norm());
        let others = b.iter().map(|p| (p - nearest_on_triangle(p, a).point).norm());
        let crossed = edges(a).flat_map(|e| edges(b).map(move |f| nearest_on_segments(&e, &f).gap().norm()));
        faces.chain(others).chain(crossed).fold(f64::INFINITY, f64::min)
    }

    /// Whether the segment meets the inside of the triangle, by the solution of a linear system.
    fn solves_inside([p, q]: &[Vec3; 2], [a, b, c]: &[Vec3; 3]) -> bool {
        let matrix = sinew_math::Mat3::from_columns(&[b - a, c - a, p - q]);
        let Some(found) = matrix.lu().solve(&(p - a)) else { return false };
        found.iter().all(|x| *x >= 0.0) && found.z <= 1.0 && found.x + found.y <= 1.0
    }

    #[test]
    fn signs_of_volumes_agree_with_linear_systems_for_random_triangles() {
        let mut random = Random(7);
        let mut count = 0;
        for _ in 0..300_000 {
            let [a, b]: [[Vec3; 3]; 2] = core::array::from_fn(|_| core::array::from_fn(|_| random.point()));
            if boundary_distance(&a, &b) < 1e-9 {
                continue;
            }
            let expected =
                edges(&a).any(|e| solves_inside(&e, &b)) || edges(&b).any(|e| solves_inside(&e, &a));
            count += usize::from(expected);
            assert_eq!(triangles_intersect(&a, &b), expected, "{a:?} {b:?}");
            assert_eq!(triangles_intersect(&b, &[a[2], a[0], a[1]]), expected);
        }
        assert!(count > 20_000);
    }

    #[test]
    fn triangles_in_one_plane_and_with_common_corners() {
        let a = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let moved = |by: Vec3| a.map(|p| p + by);
        assert!(triangles_intersect(&a, &moved(Vec3::new(0.3, 0.3, 0.0))));
        assert!(triangles_intersect(&a, &a.map(|p| 0.2 * p + Vec3::new(0.2, 0.2, 0.0))));
        assert!(!triangles_intersect(&a, &moved(Vec3::new(1.1, 0.0, 0.0))));
        assert!(!triangles_intersect(&a, &moved(Vec3::new(0.0, 0.0, 1e-12))));
        assert!(triangles_intersect(&a, &[Vec3::x(), Vec3::new(2.0, 0.0, 1.0), Vec3::new(2.0, 0.0, -1.0)]));
    }
}
