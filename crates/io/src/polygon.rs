//! Triangulates polygons: bisection for convex ones, ear clipping for concave ones.
//!
//! Ears are clipped in the plane of the mean normal, so that no triangle covers what is outside the polygon. The work is bounded: a polygon
//! without ears (it intersects itself) ends as a fan, and one with very many corners is bisected as if it were convex. Bisection leaves few
//! long triangles, where a fan has nothing else.

use sinew_math::Vec3;

/// The most corners for ear clipping, whose cost is quadratic.
const EAR_LIMIT: usize = 512;
/// Convex polygons with so few corners become a fan: its triangles are hardly longer than others would be.
const FAN_LIMIT: usize = 16;
/// Candidate ears tested per corner; ordinary polygons need about two.
const TRIES_PER_CORNER: usize = 8;

/// Appends the triangles of a polygon with the given corners, which must be indices of `vertices`.
pub(crate) fn triangulate(corners: &[u32], vertices: &[Vec3], triangles: &mut Vec<[u32; 3]>) {
    // triangles and convex polygons
    let n = corners.len();
    if n == 3 {
        triangles.push([corners[0], corners[1], corners[2]]);
        return;
    }
    let at = |i: u32| vertices[i as usize];
    let normal = mean_normal(corners, vertices);
    let turns_left = |a: u32, b: u32, c: u32| (at(b) - at(a)).cross(&(at(c) - at(b))).dot(&normal) > 0.0;
    let convex = (0..n).all(|i| turns_left(corners[i], corners[(i + 1) % n], corners[(i + 2) % n]));
    if convex && n <= FAN_LIMIT {
        return fan(corners, triangles);
    }
    if convex || n > EAR_LIMIT {
        return bisect(corners, triangles);
    }

    // clip ears until a triangle is left
    let mut ring = corners.to_vec();
    let mut start = 0;
    let mut misses = 0;
    let mut tries = TRIES_PER_CORNER * n;
    while ring.len() > 3 && misses < ring.len() && tries > 0 {
        let n = ring.len();
        let [before, i, after] = [start % n, (start + 1) % n, (start + 2) % n];
        let [a, b, c] = [ring[before], ring[i], ring[after]];
        let holds_another = || {
            let inside = |p: u32| {
                let p = at(p);
                let left_of = |s: u32, e: u32| (at(e) - at(s)).cross(&(p - at(s))).dot(&normal) >= 0.0;
                left_of(a, b) && left_of(b, c) && left_of(c, a)
            };
            ring.iter().any(|&p| p != a && p != b && p != c && inside(p))
        };
        let is_left = turns_left(a, b, c);
        tries -= usize::from(is_left);
        if is_left && !holds_another() {
            triangles.push([a, b, c]);
            ring.remove(i);
            // the next candidate is past this one, which spreads the ears around the polygon
            start = if i == 0 { before } else { before + 1 };
            misses = 0;
        } else {
            start += 1;
            misses += 1;
        }
    }
    fan(&ring, triangles);
}

/// Cuts off the triangle of the first, the middle and the last corner, and does the same on both sides of it.
fn bisect(ring: &[u32], triangles: &mut Vec<[u32; 3]>) {
    let mut open = vec![(0, ring.len() - 1)];
    while let Some((first, last)) = open.pop() {
        if last - first >= 2 {
            let middle = first + (last - first) / 2;
            triangles.push([ring[first], ring[middle], ring[last]]);
            open.extend([(first, middle), (middle, last)]);
        }
    }
}

fn fan(ring: &[u32], triangles: &mut Vec<[u32; 3]>) {
    triangles.extend((2..ring.len()).map(|i| [ring[0], ring[i - 1], ring[i]]));
}

/// Twice the vector area of the polygon: Σ pᵢ × pᵢ₊₁ relative to the first corner.
fn mean_normal(corners: &[u32], vertices: &[Vec3]) -> Vec3 {
    let at = |i: usize| vertices[corners[i] as usize] - vertices[corners[0] as usize];
    (2..corners.len()).map(|i| at(i - 1).cross(&at(i))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(points: &[[f64; 2]]) -> (f64, f64) {
        let vertices: Vec<Vec3> = points.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
        let corners: Vec<u32> = (0..points.len() as u32).collect();
        let mut triangles = Vec::new();
        triangulate(&corners, &vertices, &mut triangles);
        assert_eq!(triangles.len(), points.len() - 2);
        let doubled = triangles.iter().map(|t| {
            let [a, b, c] = t.map(|v| vertices[v as usize]);
            (b - a).cross(&(c - a)).z
        });
        let (mut signed, mut absolute) = (0.0, 0.0);
        doubled.for_each(|z| {
            signed += z / 2.0;
            absolute += z.abs() / 2.0;
        });
        (signed, absolute)
    }

    #[test]
    fn a_concave_quad_is_covered_once_from_any_first_corner() {
        let arrow = [[0.0, 0.0], [2.0, -1.0], [0.5, 0.0], [2.0, 1.0]];
        for first in 0..4 {
            let mut turned = arrow;
            turned.rotate_left(first);
            let (signed, absolute) = area(&turned);
            assert!((signed - 0.5).abs() < 1e-12 && (absolute - 0.5).abs() < 1e-12, "{first}: {absolute}");
        }
    }

    #[test]
    fn a_star_is_covered_once() {
        let star: Vec<[f64; 2]> = (0..10)
            .map(|i| {
                let (angle, r) =
                    (f64::from(i) * core::f64::consts::PI / 5.0, if i % 2 == 0 { 2.0 } else { 0.7 });
                [r * sinew_math::real::cos(angle), r * sinew_math::real::sin(angle)]
            })
            .collect();
        let (signed, absolute) = area(&star);
        assert!(signed > 0.0 && (signed - absolute).abs() < 1e-12);
    }

    /// A circle of n corners has n − 2 triangles, of which only about log₂ n levels reach far: a fan would have n long ones.
    #[test]
    fn few_triangles_of_a_circle_are_long() {
        let n = 50_000;
        let angle = |i: usize| core::f64::consts::TAU * i as f64 / n as f64;
        let at = |i: usize| Vec3::new(sinew_math::real::cos(angle(i)), sinew_math::real::sin(angle(i)), 0.0);
        let vertices: Vec<Vec3> = (0..n).map(at).collect();
        let corners: Vec<u32> = (0..n as u32).collect();
        let mut triangles = Vec::new();
        triangulate(&corners, &vertices, &mut triangles);
        assert_eq!(triangles.len(), n - 2);
        let length = |t: &&[u32; 3]| (vertices[t[0] as usize] - vertices[t[2] as usize]).norm();
        assert!(triangles.iter().filter(|t| length(t) > 0.1).count() < 100);
    }

    #[test]
    fn a_polygon_without_area_terminates() {
        area(&[[0.0, 0.0]; 7]);
        area(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 3.0], [0.5, -3.0]]);
    }
}
