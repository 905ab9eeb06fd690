//! Overlaps at rest: skins are drawn through each other in armpits and groins, and in layers over each other.
//!
//! A vertex that is inside other flesh at rest, by a depth within the range of contact, is repelled only when it is deeper: its gap is minus that depth. Deeper vertices, and layers below others, which move with
//! them, never collide. A vertex in front of another surface at rest is repelled from half that distance on. So nothing is pushed apart at rest. As far as a vertex has come apart from that surface, its gap is the usual one
//! again, see `rest_gap`.

use super::rest_gap::{NearestAtRest, RestGap};
use super::soft_surface::SoftSurface;
use crate::body::Body;
use rayon::prelude::*;
use sinew_contact::{SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;
use sinew_mesh::{TriMesh, WindingTree};

/// Winding number above which a point is inside; for closed surfaces it is 0 outside and 1 inside, in between near holes.
const INSIDE: f64 = 0.6;
/// The inside test is made in front of a vertex, at this fraction of its gap.
const IN_FRONT: f64 = 0.25;
/// A vertex in front of another surface at rest is repelled from this fraction of the distance on.
const OF_CLEARANCE: f64 = 0.5;

/// Where a sample is at rest.
#[derive(Clone, Copy, Debug)]
enum Rest {
    /// In front of other surfaces, the nearest of which may be within reach.
    Clear(Option<NearestAtRest>),
    /// Inside other flesh, below this point.
    Inside(NearestAtRest),
    /// Inside other flesh, deeper than contact is detected, or below a layer that moves with it.
    Hidden,
}

/// Fits the gaps of vertices to overlaps at rest, and returns those that depend on how far surfaces have come apart.
pub(super) fn fit_gaps(bodies: &[Body], soft: &mut [SoftSurface], pairs: &mut SurfacePairs) -> Vec<RestGap> {
    // pairs at rest
    let surfaces = || bodies.iter().map(|body| body.contact_mesh().0);
    let x: Vec<Vec3> = surfaces().flat_map(|surface| surface.vertices.iter().copied()).collect();
    let still = vec![Vec3::zeros(); x.len()];
    pairs.refit(&x, &still);
    pairs.find(&x, &still, 0.0, &vec![0.0; bodies.len()]);

    // where each sample is
    let normals = vertex_normals(surfaces(), x.len());
    let places = surfaces().flat_map(|surface| (0..surface.triangles.len()).map(|t| surface.corners(t)));
    let winding = WindingTree::build(places.collect());
    let (mut first, mut fitted) = (0, Vec::new());
    for (surface, soft) in surfaces().zip(soft) {
        let count = surface.vertices.len();
        let find = |v: usize| {
            if !soft.samples.is_sample[v] {
                return Rest::Clear(None);
            }
            let global = first + v;
            let front = x[global] + IN_FRONT * soft.gap[v] * normals[global];
            let is_inside = winding.winding_number(&front) > INSIDE;
            let nearest = nearest_at_rest(pairs, global as u32, &x);
            match (is_inside, nearest) {
                (false, nearest) => Rest::Clear(nearest),
                (true, Some(nearest)) => Rest::Inside(nearest),
                (true, None) => Rest::Hidden,
            }
        };
        let found: Vec<Rest> = (0..count).into_par_iter().with_min_len(256).map(find).collect();
        for (v, rest) in found.into_iter().enumerate() {
            let usual = soft.gap[v];
            let (nearest, at_rest) = match rest {
                Rest::Clear(Some(nearest)) => (nearest, usual.min(OF_CLEARANCE * nearest.distance)),
                Rest::Inside(nearest) => (nearest, -nearest.distance - IN_FRONT * usual),
                Rest::Clear(None) => continue,
                Rest::Hidden => {
                    soft.drop_vertex(v);
                    continue;
                }
            };
            if at_rest < usual {
                soft.gap[v] = at_rest;
                let NearestAtRest { corners, point, distance } = nearest;
                let (vertex, weights, length) = ((first + v) as u32, point.weights, soft.nominal_range());
                fitted.push(RestGap { vertex, corners, weights, distance, at_rest, usual, length });
            }
        }
        soft.drop_edges();
        first += count;
    }
    fitted
}

/// The nearest point of a triangle that a vertex may collide with, if one is within reach.
fn nearest_at_rest(pairs: &SurfacePairs, vertex: u32, x: &[Vec3]) -> Option<NearestAtRest> {
    let all = pairs.vertex_pairs();
    let start = all.partition_point(|pair| pair.first < vertex);
    let own = all[start..].iter().take_while(|pair| pair.first == vertex);
    let nearest = |triangle: u32| {
        let corners = pairs.triangle(triangle);
        let point = nearest_on_triangle(&x[vertex as usize], &corners.map(|v| x[v as usize]));
        NearestAtRest { corners, point, distance: (point.point - x[vertex as usize]).norm() }
    };
    own.map(|pair| nearest(pair.second)).reduce(|a, b| if b.distance < a.distance { b } else { a })
}

/// Unit normals of the vertices of all surfaces, weighted by area.
fn vertex_normals<'a>(surfaces: impl Iterator<Item = &'a TriMesh>, count: usize) -> Vec<Vec3> {
    let (mut normals, mut first) = (vec![Vec3::zeros(); count], 0);
    for surface in surfaces {
        for (t, corners) in surface.triangles.iter().enumerate() {
            let [a, b, c] = surface.corners(t);
            corners.iter().for_each(|v| normals[first + *v as usize] += (b - a).cross(&(c - a)));
        }
        first += surface.vertices.len();
    }
    normals.iter_mut().for_each(|normal| *normal = normal.try_normalize(0.0).unwrap_or(Vec3::zeros()));
    normals
}
