//! Whether a closed surface is simple: it does not intersect itself, and encloses no point twice. The signed distance to such a surface changes by no more than the point moves.
//!
//! Where sheets intersect, or a shell is inside another that faces the same way, the sign of the nearest triangle may change without the surface being crossed.

use crate::{Bounds, BoxTree, triangles_intersect};
use rayon::prelude::*;
use sinew_mesh::{TriMesh, WindingTree};

/// How far outside of the middle of a triangle winding numbers are evaluated, in units of the root of its area, and how much the error of the winding number may be.
const OUTSIDE: f64 = 1e-4;
const HALF: f64 = 0.5;
/// A triangle with a corner in common is compared without this fraction of it next to the corner.
const CORNER: f64 = 1e-3;

/// Whether a closed surface with a hierarchy over its triangles is simple.
pub(super) fn is_simple(surface: &TriMesh, tree: &BoxTree) -> bool {
    let windings = WindingTree::build((0..surface.triangles.len()).map(|t| surface.corners(t)).collect());
    let is_outer = |t: usize| {
        let [a, b, c] = surface.corners(t);
        let normal = (b - a).cross(&(c - a));
        let size = normal.norm();
        let outside = (a + b + c) / 3.0 + normal * (OUTSIDE / size.sqrt());
        windings.winding_number(&outside).abs() < HALF
    };
    let is_free = |t: usize| {
        let mut is_free = true;
        tree.for_each_near(&Bounds::around(&surface.corners(t)), |other| {
            is_free &= other <= t || !intersect(surface, [t, other]);
        });
        is_free
    };
    (0..surface.triangles.len()).into_par_iter().all(|t| is_outer(t) && is_free(t))
}

/// Whether two triangles have more than their common corners in common; neighbours across an edge have not.
fn intersect(surface: &TriMesh, [one, other]: [usize; 2]) -> bool {
    let theirs = surface.triangles[other];
    let common: Vec<usize> = (0..3).filter(|k| theirs.contains(&surface.triangles[one][*k])).collect();
    let mut corners = surface.corners(one);
    match common.as_slice() {
        [] => {}
        [k] => {
            let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
            corners[*k] += CORNER * (middle - corners[*k]);
        }
        _ => return false,
    }
    triangles_intersect(&corners, &surface.corners(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::{Vec3, real};
    use sinew_mesh::shapes;

    fn is_simple_mesh(surface: &TriMesh) -> bool {
        let boxes: Vec<Bounds> =
            (0..surface.triangles.len()).map(|t| Bounds::around(&surface.corners(t))).collect();
        is_simple(surface, &BoxTree::build(&boxes))
    }

    /// The union of two surfaces, the second moved and maybe inverted.
    fn with(first: &TriMesh, second: &TriMesh, by: Vec3, is_cavity: bool) -> TriMesh {
        let (mut both, count) = (first.clone(), first.vertices.len() as u32);
        both.vertices.extend(second.vertices.iter().map(|v| v + by));
        both.triangles.extend(second.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|v| v + count);
            if is_cavity { [a, c, b] } else { [a, b, c] }
        }));
        both
    }

    /// A bowl of revolution with walls of a tenth of its radius and a hole in its bottom.
    fn bowl() -> TriMesh {
        let (around, along) = (48u32, 14u32);
        let mut bowl = TriMesh::default();
        for ring in 0..2 * along {
            let (radius, step) = if ring < along { (0.2, ring) } else { (0.22, 2 * along - 1 - ring) };
            let height = 0.02 + 1.5 * f64::from(step) / f64::from(along - 1);
            let (sin, cos) = (real::sin(height), real::cos(height));
            for k in 0..around {
                let angle = core::f64::consts::TAU * f64::from(k) / f64::from(around);
                let (s, c) = (real::sin(angle), real::cos(angle));
                bowl.vertices.push(radius * Vec3::new(sin * c, -cos, sin * s));
                let (next, beside) = ((ring + 1) % (2 * along), (k + 1) % around);
                let [a, b] = [ring * around + k, ring * around + beside];
                let [c, d] = [next * around + k, next * around + beside];
                bowl.triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
        bowl
    }

    #[test]
    fn shapes_are_simple_and_what_overlaps_or_is_enclosed_twice_is_not() {
        let (ball, small) = (shapes::sphere(0.1, 3), shapes::sphere(0.05, 2));
        for simple in [&ball, &shapes::torus(0.1, 0.03, 30, 12), &shapes::cuboid([0.1, 0.2, 0.3]), &bowl()] {
            assert!(is_simple_mesh(simple));
        }
        assert!(is_simple_mesh(&with(&ball, &small, Vec3::x(), false)), "apart");
        assert!(is_simple_mesh(&with(&ball, &small, Vec3::zeros(), true)), "a cavity");
        assert!(!is_simple_mesh(&with(&ball, &small, Vec3::zeros(), false)), "one in the other");
        assert!(!is_simple_mesh(&with(&ball, &small, 0.1 * Vec3::x(), false)), "overlapping");
        let mut inverted = ball.clone();
        inverted.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert!(!is_simple_mesh(&inverted));
    }
}
