//! Vertices moved along the surface towards the middle of their neighbours, and onto it.
//!
//! The one idea: the middle of the neighbours says where along the surface, the field says how far off it. A move that turns a
//! triangle over is taken back.

use super::ImplicitSurface;
use super::coarsening::is_upright;
use crate::TriMesh;
use rayon::prelude::*;
use sinew_math::Vec3;

/// Rounds of moves: the spread of edge lengths hardly falls after these.
const ROUNDS: usize = 5;

/// Newton steps onto the surface at most; three are usual. The error after a step is about its length² times half the curvature, so a
/// step shorter than [`SHORT_STEP`] spacings, where radii are no smaller than a spacing, leaves round-off.
const NEWTON_STEPS: usize = 6;
const SHORT_STEP: f64 = 1e-7;

/// The fraction of the way to the middle of the neighbours: all of it overshoots where all move at once.
const FRACTION: f64 = 0.6;

/// Evens out a mesh of edges of about `spacing` (m), and puts its vertices where the field is zero.
pub(crate) fn relax(implicit: &ImplicitSurface, spacing: f64, mesh: &mut TriMesh) {
    let mut normals = vec![Vec3::zeros(); mesh.vertices.len()];
    project(implicit, spacing, mesh, &mut normals);
    for _ in 0..ROUNDS {
        let before = (mesh.vertices.clone(), normals.clone());
        let middles = middles(mesh);
        for v in 0..normals.len() {
            let way = middles[v] - mesh.vertices[v];
            mesh.vertices[v] += FRACTION * (way - normals[v] * normals[v].dot(&way));
        }
        project(implicit, spacing, mesh, &mut normals);
        take_back_harm(mesh, &mut normals, before);
    }
}

/// Moves every vertex to where the field is zero.
fn project(implicit: &ImplicitSurface, spacing: f64, mesh: &mut TriMesh, normals: &mut [Vec3]) {
    mesh.vertices.par_iter_mut().zip(normals).for_each(|(x, normal)| {
        let start = *x;
        for _ in 0..NEWTON_STEPS {
            let (f, gradient) = implicit.distance_and_gradient(x);
            let steepness = gradient.norm_squared();
            if steepness < MIN_STEEPNESS {
                break;
            }
            *normal = gradient / steepness.sqrt();
            let step = f * gradient / steepness;
            *x -= step;
            if step.norm() <= SHORT_STEP * spacing {
                break;
            }
        }
        // where the field has a crease Newton may run off
        if (*x - start).norm() > 0.5 * spacing {
            *x = start;
        }
    });
}

/// Squared gradients below this point nowhere in particular: they are sums of opposite ones.
const MIN_STEEPNESS: f64 = 1e-4;

/// The middle of the triangles around each vertex, weighted by area.
fn middles(mesh: &TriMesh) -> Vec<Vec3> {
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

/// Puts the vertices of triangles that turned over back where they were, until no triangle that moved is turned.
fn take_back_harm(mesh: &mut TriMesh, normals: &mut [Vec3], before: (Vec<Vec3>, Vec<Vec3>)) {
    let mut is_back = vec![false; mesh.vertices.len()];
    loop {
        let turned: Vec<[u32; 3]> = (0..mesh.triangles.len())
            .into_par_iter()
            .filter(|&t| {
                let corners = mesh.triangles[t];
                let out: Vec3 = corners.iter().map(|&v| normals[v as usize]).sum();
                corners.iter().any(|&v| !is_back[v as usize]) && !is_upright(&mesh.corners(t), &out)
            })
            .map(|t| mesh.triangles[t])
            .collect();
        if turned.is_empty() {
            return;
        }
        for v in turned.into_iter().flatten().map(|v| v as usize) {
            (mesh.vertices[v], normals[v], is_back[v]) = (before.0[v], before.1[v], true);
        }
    }
}
