//! Mesh coarsening by edge collapse, until edge lengths are nearly uniform.
//!
//! An edge may collapse if its ends have no common neighbours but the two vertices opposite it (the link condition), because then
//! the mesh stays manifold. It may not if a triangle would flip or an edge would become too long.

use super::ImplicitSurface;
use crate::TriMesh;
use rayon::prelude::*;
use sinew_math::Vec3;

/// Edges shorter than the first fraction of the spacing collapse, and none becomes longer than the second. Equilateral triangles
/// of edge 1, split or merged, have edges from 1/√2 to √2.
const MIN_EDGE: f64 = 0.7;
const MAX_EDGE: f64 = 1.45;

/// The minimum cosine between the normal of a triangle and the mean gradient of the field at its corners.
pub(crate) const MIN_NORMAL_COSINE: f64 = 0.3;

/// The maximum number of passes over all edges; about six are usual.
const MAX_PASSES: usize = 20;

struct EdgeCollapse<'a> {
    mesh: &'a mut TriMesh,
    /// The normalised gradient of the field at each vertex.
    normals: Vec<Vec3>,
    /// The triangles incident to each vertex.
    around: Vec<Vec<u32>>,
    is_removed: Vec<bool>,
    max_edge: f64,
}

/// Collapses edges much shorter than `spacing` (m).
pub(crate) fn coarsen(implicit: &ImplicitSurface, spacing: f64, mesh: &mut TriMesh) {
    let normal = |p: &Vec3| implicit.distance_and_gradient(p).1.try_normalize(1e-9).unwrap_or_default();
    let mut around = vec![Vec::with_capacity(6); mesh.vertices.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        corners.iter().for_each(|&v| around[v as usize].push(t as u32));
    }
    let mut edge_collapse = EdgeCollapse {
        normals: mesh.vertices.par_iter().map(normal).collect(),
        is_removed: vec![false; mesh.triangles.len()],
        around,
        max_edge: MAX_EDGE * spacing,
        mesh,
    };
    for _ in 0..MAX_PASSES {
        if edge_collapse.pass(MIN_EDGE * spacing) == 0 {
            break;
        }
    }
    edge_collapse.finish();
}

impl EdgeCollapse<'_> {
    /// Collapses short edges, the shortest first, each vertex at most once. Returns the number of collapses.
    fn pass(&mut self, shortest: f64) -> usize {
        let mut short: Vec<(f64, u32, u32)> = self
            .mesh
            .triangles
            .par_iter()
            .enumerate()
            .filter(|(t, _)| !self.is_removed[*t])
            .flat_map_iter(|(_, &[a, b, c])| [(a, b), (b, c), (c, a)])
            .filter(|(a, b)| a < b)
            .map(|(a, b)| ((self.place(a) - self.place(b)).norm(), a, b))
            .filter(|edge| edge.0 < shortest)
            .collect();
        short.par_sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2))));
        let mut is_done = vec![false; self.mesh.vertices.len()];
        let mut count = 0;
        for (_, a, b) in short {
            if !is_done[a as usize] && !is_done[b as usize] && self.collapse(a, b) {
                (is_done[a as usize], is_done[b as usize]) = (true, true);
                count += 1;
            }
        }
        count
    }

    fn place(&self, v: u32) -> Vec3 {
        self.mesh.vertices[v as usize]
    }

    /// Collapses edge ab into its midpoint, which becomes vertex `a`, if the mesh stays valid.
    fn collapse(&mut self, a: u32, b: u32) -> bool {
        if !self.satisfies_link_condition(a, b) {
            return false;
        }
        let middle = (self.place(a) + self.place(b)) / 2.0;
        let normal = self.normals[a as usize] + self.normals[b as usize];
        let normal = normal.try_normalize(1e-9).unwrap_or(self.normals[a as usize]);
        if !(self.stays_valid(a, b, &middle, &normal) && self.stays_valid(b, a, &middle, &normal)) {
            return false;
        }
        self.mesh.vertices[a as usize] = middle;
        self.normals[a as usize] = normal;
        for t in core::mem::take(&mut self.around[b as usize]) {
            let corners = &mut self.mesh.triangles[t as usize];
            if corners.contains(&a) {
                self.is_removed[t as usize] = true;
                for &v in corners.iter().filter(|&&v| v != b) {
                    self.around[v as usize].retain(|&other| other != t);
                }
            } else {
                *corners = corners.map(|v| if v == b { a } else { v });
                self.around[a as usize].push(t);
            }
        }
        true
    }

    /// The link condition: exactly two common neighbours, and neither is left with two triangles.
    fn satisfies_link_condition(&self, a: u32, b: u32) -> bool {
        let (near_a, near_b) = (self.neighbours(a), self.neighbours(b));
        let mut common = near_a.iter().filter(|v| near_b.contains(v));
        let (Some(&c), Some(&d), None) = (common.next(), common.next(), common.next()) else { return false };
        [c, d].iter().all(|&v| self.around[v as usize].len() > 3)
    }

    /// The one-ring of a vertex: each neighbour follows it in one triangle.
    fn neighbours(&self, v: u32) -> Vec<u32> {
        let after = |t: &u32| {
            let corners = self.mesh.triangles[*t as usize];
            corners[(corners.iter().position(|&c| c == v).unwrap_or(0) + 1) % 3]
        };
        self.around[v as usize].iter().map(after).collect()
    }

    /// Whether the triangles at `v`, except those at `other`, keep their orientation and edge length with `v` at `place`.
    fn stays_valid(&self, v: u32, other: u32, place: &Vec3, normal: &Vec3) -> bool {
        self.around[v as usize]
            .iter()
            .map(|&t| self.mesh.triangles[t as usize])
            .filter(|t| !t.contains(&other))
            .all(|corners| {
                let p = corners.map(|c| if c == v { *place } else { self.place(c) });
                let out: Vec3 =
                    corners.iter().map(|&c| if c == v { *normal } else { self.normals[c as usize] }).sum();
                let is_short = (0..3).all(|i| corners[i] == v || (p[i] - place).norm() <= self.max_edge);
                is_short && is_front_facing(&p, &out)
            })
    }

    /// Removes deleted vertices and triangles.
    fn finish(self) {
        let mesh = self.mesh;
        let mut number = vec![u32::MAX; mesh.vertices.len()];
        let mut vertices = Vec::new();
        for v in 0..number.len() {
            if !self.around[v].is_empty() {
                number[v] = vertices.len() as u32;
                vertices.push(mesh.vertices[v]);
            }
        }
        let kept = core::iter::zip(&mesh.triangles, &self.is_removed).filter(|(_, gone)| !**gone);
        mesh.triangles = kept.map(|(t, _)| t.map(|v| number[v as usize])).collect();
        mesh.vertices = vertices;
    }
}

/// Whether the normal of a triangle is within [`MIN_NORMAL_COSINE`] of `out`.
pub(crate) fn is_front_facing(p: &[Vec3; 3], out: &Vec3) -> bool {
    let normal = (p[1] - p[0]).cross(&(p[2] - p[0]));
    normal.dot(out) > MIN_NORMAL_COSINE * normal.norm() * out.norm()
}
