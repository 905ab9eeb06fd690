//! Overlaps at rest: skins are drawn through each other in armpits and groins, and in layers over each other.
//!
//! A vertex that is inside other flesh at rest, by a depth within the range of contact, is repelled only when it is deeper: its gap is minus that depth. Deeper vertices, and layers below others, which move with
//! them, never collide. A vertex in front of another surface at rest is repelled from half that distance on. So nothing is pushed apart at rest.

use super::soft_surface::SoftSurface;
use crate::body::Body;
use rayon::prelude::*;
use sinew_contact::{SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;
use sinew_mesh::WindingTree;

/// Winding number above which a point is inside; for closed surfaces it is 0 outside and 1 inside, in between near holes.
const INSIDE: f64 = 0.6;
/// The inside test is made in front of a vertex, at this fraction of its gap.
const IN_FRONT: f64 = 0.25;
/// A vertex in front of another surface at rest is repelled from this fraction of the distance on.
const OF_CLEARANCE: f64 = 0.5;

/// Where a sample is at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rest {
    /// In front of other surfaces, at least at this distance (m).
    Clear(f64),
    /// Inside other flesh, at this depth (m).
    Inside(f64),
    /// Inside other flesh, deeper than contact is detected, or below a layer that moves with it.
    Hidden,
}

/// Fits the gaps of vertices to overlaps at rest.
pub(super) fn fit_gaps(bodies: &[Body], soft: &mut [SoftSurface], pairs: &mut SurfacePairs) {
    // pairs at rest
    let x: Vec<Vec3> = bodies.iter().flat_map(|body| body.surface.vertices.iter().copied()).collect();
    let still = vec![Vec3::zeros(); x.len()];
    pairs.refit(&x, &still);
    pairs.find(&x, &still, 0.0, &vec![0.0; bodies.len()]);

    // where each sample is
    let normals = vertex_normals(bodies);
    let places =
        bodies.iter().flat_map(|body| (0..body.surface.triangles.len()).map(|t| body.surface.corners(t)));
    let winding = WindingTree::build(places.collect());
    let mut first = 0;
    for (body, soft) in bodies.iter().zip(soft) {
        let count = body.surface.vertices.len();
        let find = |v: usize| {
            if !soft.samples.is_sample[v] {
                return Rest::Clear(f64::INFINITY);
            }
            let global = first + v;
            let front = x[global] + IN_FRONT * soft.gap[v] * normals[global];
            let is_inside = winding.winding_number(&front) > INSIDE;
            let nearest = nearest_at_rest(pairs, global as u32, &x);
            match (is_inside, nearest) {
                (false, distance) => Rest::Clear(distance.unwrap_or(f64::INFINITY)),
                (true, Some(depth)) => Rest::Inside(depth),
                (true, None) => Rest::Hidden,
            }
        };
        let found: Vec<Rest> = (0..count).into_par_iter().with_min_len(256).map(find).collect();
        for (v, rest) in found.into_iter().enumerate() {
            match rest {
                Rest::Clear(distance) => soft.gap[v] = soft.gap[v].min(OF_CLEARANCE * distance),
                Rest::Inside(depth) => soft.gap[v] = -depth - IN_FRONT * soft.gap[v],
                Rest::Hidden => soft.drop_vertex(v),
            }
        }
        soft.drop_edges();
        first += count;
    }
}

/// The distance of a vertex from the nearest triangle that it may collide with, if one is within reach (m).
fn nearest_at_rest(pairs: &SurfacePairs, vertex: u32, x: &[Vec3]) -> Option<f64> {
    let all = pairs.vertex_pairs();
    let start = all.partition_point(|pair| pair.first < vertex);
    let own = all[start..].iter().take_while(|pair| pair.first == vertex);
    let distance = |triangle: u32| {
        let corners = pairs.triangle(triangle).map(|v| x[v as usize]);
        (nearest_on_triangle(&x[vertex as usize], &corners).point - x[vertex as usize]).norm()
    };
    own.map(|pair| distance(pair.second)).reduce(f64::min)
}

/// Unit normals of the vertices of all bodies, weighted by area.
fn vertex_normals(bodies: &[Body]) -> Vec<Vec3> {
    let mut normals = Vec::new();
    for body in bodies {
        let first = normals.len();
        normals.resize(first + body.surface.vertices.len(), Vec3::zeros());
        for (t, corners) in body.surface.triangles.iter().enumerate() {
            let [a, b, c] = body.surface.corners(t);
            corners.iter().for_each(|v| normals[first + *v as usize] += (b - a).cross(&(c - a)));
        }
    }
    normals.iter_mut().for_each(|normal| *normal = normal.try_normalize(0.0).unwrap_or(Vec3::zeros()));
    normals
}
