//! Conforming refinement of triangle meshes by edge midpoints.

use crate::TriMesh;
use sinew_math::Vec3;
use std::collections::HashMap;

/// A refinement halves edges at most so often: a thousand parts of the longest.
const MAX_ROUNDS: usize = 10;

/// The same surface with no edge longer than a length (m): all long edges get a vertex in their middle, and again, until none is left. Vertices of the mesh stay where they are, before new ones.
/// Edges at the same place are split alike, so that seams stay closed.
pub fn split_long_edges(surface: &TriMesh, length: f64) -> TriMesh {
    split_long_edges_between(surface, length).0
}

/// The same, with the ends of the edge that each new vertex is the middle of, in the order of new vertices; an end may itself be new.
pub fn split_long_edges_between(surface: &TriMesh, length: f64) -> (TriMesh, Vec<[u32; 2]>) {
    let (mut refined, mut ends) = (surface.clone(), Vec::new());
    for _ in 0..MAX_ROUNDS {
        let count = refined.vertices.len();
        refined = split_once(refined, length, &mut ends);
        if refined.vertices.len() == count {
            break;
        }
    }
    (refined, ends)
}

fn split_once(
    TriMesh { mut vertices, triangles }: TriMesh,
    length: f64,
    all_ends: &mut Vec<[u32; 2]>,
) -> TriMesh {
    // the middle of a long edge, shared by its triangles; in the same order of its ends for all, so that both sides of a seam get the same bits
    let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
    let mut middle = |vertices: &mut Vec<Vec3>, a: u32, b: u32| {
        let ends = [vertices[a as usize], vertices[b as usize]];
        if (ends[0] - ends[1]).norm_squared() <= length * length {
            return None;
        }
        Some(*middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
            vertices.push(0.5 * (ends[0] + ends[1]));
            all_ends.push([a, b]);
            vertices.len() as u32 - 1
        }))
    };

    // one to four parts of each triangle
    let mut parts = Vec::with_capacity(triangles.len());
    for [a, b, c] in triangles {
        let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(a, b)| middle(&mut vertices, a, b));
        // turned so that an edge that is alone in its kind is the first
        match (ab, bc, ca) {
            (None, None, None) => parts.push([a, b, c]),
            (Some(m), None, None) => parts.extend(halves([a, b, c], m)),
            (None, Some(m), None) => parts.extend(halves([b, c, a], m)),
            (None, None, Some(m)) => parts.extend(halves([c, a, b], m)),
            (None, Some(m), Some(n)) => parts.extend(thirds([a, b, c], m, n)),
            (Some(n), None, Some(m)) => parts.extend(thirds([b, c, a], m, n)),
            (Some(m), Some(n), None) => parts.extend(thirds([c, a, b], m, n)),
            (Some(ab), Some(bc), Some(ca)) => {
                parts.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
            }
        }
    }
    TriMesh { vertices, triangles: parts }
}

/// Two parts, with m in the middle of the first edge.
fn halves([a, b, c]: [u32; 3], m: u32) -> [[u32; 3]; 2] {
    [[a, m, c], [m, b, c]]
}

/// Three parts, with m and n in the middle of the second and the third edge.
fn thirds([a, b, c]: [u32; 3], m: u32, n: u32) -> [[u32; 3]; 3] {
    [[m, c, n], [a, b, m], [a, m, n]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    fn area(surface: &TriMesh) -> Vec3 {
        let own = |t: usize| {
            let [a, b, c] = surface.corners(t);
            let normal = 0.5 * (b - a).cross(&(c - a));
            // opposite faces do not cancel
            normal.component_mul(&normal).map(f64::sqrt)
        };
        (0..surface.triangles.len()).map(own).sum()
    }

    /// Same area towards each axis, same volume, no long edge, closed as before.
    #[test]
    fn refined_surface_is_the_same_surface() {
        for (surface, length) in [
            (shapes::cuboid([1.0, 0.1, 0.2]), 0.07),
            (shapes::sphere(0.1, 1), 0.01),
            (shapes::torus(0.1, 0.03, 9, 5), 0.02),
        ] {
            let fine = split_long_edges(&surface, length);
            assert!(
                fine.vertices.starts_with(&surface.vertices) && fine.vertices.len() > surface.vertices.len()
            );
            assert!((area(&fine) - area(&surface)).norm() < 1e-12);
            assert!((fine.signed_volume() - surface.signed_volume()).abs() < 1e-14);
            let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
            for [a, b, c] in &fine.triangles {
                for (a, b) in [(a, b), (b, c), (c, a)] {
                    assert!((fine.vertices[*a as usize] - fine.vertices[*b as usize]).norm() <= length);
                    *edges.entry([*a.min(b), *a.max(b)]).or_default() += if a < b { 1 } else { -1 };
                }
            }
            assert!(edges.values().all(|sum| *sum == 0));
        }
    }

    #[test]
    fn fine_surfaces_stay_as_they_are() {
        let ball = shapes::sphere(0.1, 3);
        assert_eq!(split_long_edges(&ball, 0.1), ball);
        assert_eq!(split_long_edges(&TriMesh::default(), 0.1), TriMesh::default());
    }
}
