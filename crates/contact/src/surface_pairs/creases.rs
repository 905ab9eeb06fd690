//! Creases: places of one surface that face each other at rest, as the two sides of a bent joint do.
//!
//! What has a carrier in common moves together, as long as it is flat or convex. In a cage whose cells are as large as an ankle, shin and instep have carriers in common as well, and fold into each other. A vertex and a
//! triangle face each other if at rest, where n and m are the normals of triangle and vertex, and g leads from the nearest point of the triangle to the vertex,
//!
//! ```text
//! n · g > c |g|,     m · g < 0,     |g| > r
//! ```
//!
//! Only as far apart as that, beyond the range of contact, flesh has deformed before they meet.

use super::PairSurface;
use super::surface_tree::SurfaceTree;
use crate::{Bounds, nearest_on_triangle};
use sinew_math::Vec3;

/// Where vertices are at rest, and which way they face.
#[derive(Clone, Debug, Default)]
pub(super) struct Creases {
    x: Vec<Vec3>,
    normal: Vec<Vec3>,
    /// r of each vertex (m); infinite on sheets, whose neighbours fold as elasticity lets them.
    apart: Vec<f64>,
}

/// c, the cosine of the angle to the normal within which a vertex is in front of a triangle.
const IN_FRONT: f64 = 0.3;
/// r in units of the range of contact.
const APART: f64 = 2.0;

impl Creases {
    /// Adds the vertices of a surface.
    pub(super) fn add(&mut self, surface: &PairSurface) {
        let first = self.x.len();
        self.x.extend_from_slice(surface.rest);
        let apart = if surface.is_two_sided { f64::INFINITY } else { APART * surface.nominal_range };
        self.apart.resize(self.x.len(), apart);
        self.normal.resize(self.x.len(), Vec3::zeros());
        for corners in surface.triangles {
            let [a, b, c] = corners.map(|v| surface.rest[v as usize]);
            let normal = (b - a).cross(&(c - a));
            corners.iter().for_each(|v| self.normal[first + *v as usize] += normal);
        }
        let unit = |normal: &mut Vec3| *normal = normal.try_normalize(0.0).unwrap_or_default();
        self.normal[first..].iter_mut().for_each(unit);
    }

    /// Whether a vertex and a triangle face each other.
    #[inline]
    pub(super) fn face(&self, vertex: u32, corners: [u32; 3]) -> bool {
        let (x, apart) = (self.x[vertex as usize], self.apart[vertex as usize]);
        let corners = corners.map(|v| self.x[v as usize]);
        let [a, b, c] = corners;
        let normal = (b - a).cross(&(c - a));
        if normal.dot(&(x - a)) <= 0.0 {
            return false;
        }
        let gap = x - nearest_on_triangle(&x, &corners).point;
        let distance = gap.norm();
        distance > apart
            && normal.dot(&gap) > IN_FRONT * normal.norm() * distance
            && self.normal[vertex as usize].dot(&gap) < 0.0
    }
}

/// Bounds on what faces what below the nodes of a hierarchy.
#[derive(Debug)]
pub(super) struct CreaseBounds {
    /// Boxes around the normals of triangles and of vertices below each node.
    normals: Vec<[Bounds; 2]>,
    places: Vec<Bounds>,
    apart: f64,
}

impl CreaseBounds {
    /// Collects bounds from the leaves to the root.
    pub(super) fn build(tree: &SurfaceTree, creases: &Creases) -> CreaseBounds {
        let nodes = &tree.tree.nodes;
        let mut normals = vec![[Bounds::EMPTY; 2]; nodes.len()];
        for (i, node) in nodes.iter().enumerate().rev() {
            if node.count == 0 {
                let [left, right] = [normals[i + 1], normals[node.start as usize]];
                normals[i] = [0, 1].map(|k| left[k].and(&right[k]));
                continue;
            }
            for corners in tree.leaf_corners(node) {
                let vertices = corners.map(|v| tree.vertices[v as usize] as usize);
                let [a, b, c] = vertices.map(|v| creases.x[v]);
                let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default();
                normals[i][0] = normals[i][0].with(&normal);
                vertices.iter().for_each(|v| normals[i][1] = normals[i][1].with(&creases.normal[*v]));
            }
        }
        let apart = tree.vertices.first().map_or(f64::INFINITY, |v| creases.apart[*v as usize]);
        CreaseBounds { normals, places: tree.tree.bounds.clone(), apart }
    }

    /// Whether anything below one node may face something below the other.
    pub(super) fn may_face(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|node| node as usize);
        let all = self.places[a].and(&self.places[b]);
        if (all.max - all.min).norm() <= self.apart {
            return false;
        }
        let sees = |vertices: usize, triangles: usize| {
            let (p, q) = (&self.places[vertices], &self.places[triangles]);
            let (low, high) = (p.min - q.max, p.max - q.min);
            let up = max_dot(&self.normals[triangles][0], (&low, &high));
            let back = max_dot(&self.normals[vertices][1], (&-high, &-low));
            up > IN_FRONT * self.apart && back > 0.0
        };
        sees(a, b) || sees(b, a)
    }
}

/// The largest n · g for n and g in two boxes.
fn max_dot(n: &Bounds, (low, high): (&Vec3, &Vec3)) -> f64 {
    let along = |k: usize| {
        let all = [n.min[k] * low[k], n.min[k] * high[k], n.max[k] * low[k], n.max[k] * high[k]];
        all.into_iter().fold(f64::NEG_INFINITY, f64::max)
    };
    along(0) + along(1) + along(2)
}
