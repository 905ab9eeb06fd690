//! Tangential Laplacian relaxation with projection onto the implicit surface.
//!
//! The centroid of the neighbouring triangles gives the tangential displacement, Newton's method on the field the normal one.
//! Moves that flip a triangle are reverted.

use super::ImplicitSurface;
use super::edge_collapse::is_front_facing;
use crate::TriMesh;
use rayon::prelude::*;
use sinew_math::Vec3;

/// Iterations: the spread of edge lengths hardly decreases after these.
const ITERATIONS: usize = 5;

/// The maximum number of Newton iterations onto the surface; three are usual. The error after a step is about its length² times
/// half the curvature, so after a step shorter than [`SHORT_STEP`] spacings, where radii of curvature are no smaller than a
/// spacing, only round-off is left.
const NEWTON_STEPS: usize = 6;
const SHORT_STEP: f64 = 1e-7;

/// The fraction of the displacement to the centroid: all of it overshoots, because all vertices move at once.
const FRACTION: f64 = 0.6;

/// Equalises a mesh of edges of about `spacing` (m), and projects its vertices onto the zero level set.
pub(crate) fn relax(implicit: &ImplicitSurface, spacing: f64, mesh: &mut TriMesh) {
    let mut normals = vec![Vec3::zeros(); mesh.vertices.len()];
    project(implicit, spacing, mesh, &mut normals);
    for _ in 0..ITERATIONS {
        let before = (mesh.vertices.clone(), normals.clone());
        let centroids = centroids(mesh);
        for v in 0..normals.len() {
            let offset = centroids[v] - mesh.vertices[v];
            mesh.vertices[v] += FRACTION * (offset - normals[v] * normals[v].dot(&offset));
        }
        project(implicit, spacing, mesh, &mut normals);
        revert_flipped_triangles(mesh, &mut normals, before);
    }
}

/// Projects every vertex onto the zero level set.
fn project(implicit: &ImplicitSurface, spacing: f64, mesh: &mut TriMesh, normals: &mut [Vec3]) {
    mesh.vertices.par_iter_mut().zip(normals).for_each(|(x, normal)| {
        let start = *x;
        for _ in 0..NEWTON_STEPS {
            let (f, gradient) = implicit.distance_and_gradient(x);
            let gradient_squared = gradient.norm_squared();
            if gradient_squared < MIN_GRADIENT_SQUARED {
                break;
            }
            *normal = gradient / gradient_squared.sqrt();
            let step = f * gradient / gradient_squared;
            *x -= step;
            if step.norm() <= SHORT_STEP * spacing {
                break;
            }
        }
        // at a crease of the field Newton's method may diverge
        if (*x - start).norm() > 0.5 * spacing {
            *x = start;
        }
    });
}

/// Squared gradients below this have no reliable direction: they are sums of opposite ones.
const MIN_GRADIENT_SQUARED: f64 = 1e-4;

/// The area-weighted centroid of the triangles around each vertex.
fn centroids(mesh: &TriMesh) -> Vec<Vec3> {
    let mut sums = vec![(Vec3::zeros(), 0.0); mesh.vertices.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        let (area, middle) = ((b - a).cross(&(c - a)).norm(), (a + b + c) / 3.0);
        for &v in corners {
            let sum = &mut sums[v as usize];
            *sum = (sum.0 + area * middle, sum.1 + area);
        }
    }
    core::iter::zip(&mesh.vertices, sums)
        .map(|(x, (sum, area))| if area > 0.0 { sum / area } else { *x })
        .collect()
}

/// Moves the vertices of flipped triangles back to where they were, until no triangle that moved is flipped.
fn revert_flipped_triangles(mesh: &mut TriMesh, normals: &mut [Vec3], before: (Vec<Vec3>, Vec<Vec3>)) {
    let mut is_reverted = vec![false; mesh.vertices.len()];
    loop {
        let flipped: Vec<[u32; 3]> = (0..mesh.triangles.len())
            .into_par_iter()
            .filter(|&t| {
                let corners = mesh.triangles[t];
                let out: Vec3 = corners.iter().map(|&v| normals[v as usize]).sum();
                corners.iter().any(|&v| !is_reverted[v as usize]) && !is_front_facing(&mesh.corners(t), &out)
            })
            .map(|t| mesh.triangles[t])
            .collect();
        if flipped.is_empty() {
            return;
        }
        for v in flipped.into_iter().flatten().map(|v| v as usize) {
            (mesh.vertices[v], normals[v], is_reverted[v]) = (before.0[v], before.1[v], true);
        }
    }
}
