//! Signed distance to a triangle mesh by angle-weighted pseudonormals. `[Baerentzen2005]`
//!
//! Closed meshes are solid; open ones are shells with contact up to a limited depth behind their front. The sign is that of the
//! pseudonormal of the nearest face, edge or vertex, which is exact for closed meshes.

use super::simple_surface::is_simple;
use super::{Probe, ShapeFault};
use crate::{Bounds, BoxTree, nearest_on_triangle};
use sinew_math::{Vec3, real};
use sinew_mesh::TriMesh;

/// A triangle mesh with a bounding volume hierarchy and pseudonormals.
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleSolid {
    surface: TriMesh,
    tree: BoxTree,
    face_normal: Vec<Vec3>,
    /// Pseudonormals of the edges from each corner to the next.
    edge_normal: Vec<[Vec3; 3]>,
    vertex_normal: Vec<Vec3>,
    /// The depth behind the surface up to which there is contact (m).
    shell: f64,
    /// Whether the surface is closed and simple, so that its signed distance is exact everywhere.
    is_exact: bool,
}

/// The contact depth of an open surface, as a fraction of its size.
const OPEN_SHELL: f64 = 0.05;
/// Barycentric weights below this count as zero.
const ON_EDGE: f64 = 1e-12;

impl TriangleSolid {
    /// Builds the hierarchy and the pseudonormals. Triangles without area are removed.
    pub fn build(mut surface: TriMesh) -> Result<TriangleSolid, ShapeFault> {
        if surface.vertices.iter().any(|v| !v.iter().all(|x| x.is_finite())) {
            return Err(ShapeFault("a vertex of its surface is not finite".into()));
        }
        let count = surface.vertices.len() as u32;
        if surface.triangles.iter().flatten().any(|v| *v >= count) {
            return Err(ShapeFault(format!("a triangle refers to a vertex that is not among its {count}")));
        }

        // remove triangles without area
        let corners = |surface: &TriMesh, triangle: &[u32; 3]| triangle.map(|v| surface.vertices[v as usize]);
        let normal = |[a, b, c]: [Vec3; 3]| (b - a).cross(&(c - a));
        let vertices = TriMesh { vertices: core::mem::take(&mut surface.vertices), triangles: Vec::new() };
        surface.triangles.retain(|t| normal(corners(&vertices, t)).norm() > 0.0);
        surface.vertices = vertices.vertices;
        if surface.triangles.is_empty() {
            return Err(ShapeFault("its surface has no triangle with area".into()));
        }

        // face normals, angle-weighted vertex normals
        let all: Vec<[Vec3; 3]> = surface.triangles.iter().map(|t| corners(&surface, t)).collect();
        let face_normal: Vec<Vec3> = all.iter().map(|abc| normal(*abc).normalize()).collect();
        let mut vertex_normal = vec![Vec3::zeros(); surface.vertices.len()];
        let mut edges: Vec<(u32, u32, usize, usize)> = Vec::new();
        for (t, triangle) in surface.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                edges.push((a.min(b), a.max(b), t, k));
                let (u, v) = (all[t][(k + 1) % 3] - all[t][k], all[t][(k + 2) % 3] - all[t][k]);
                let angle = real::atan2(u.cross(&v).norm(), u.dot(&v));
                vertex_normal[a as usize] += angle * face_normal[t];
            }
        }
        vertex_normal.iter_mut().for_each(|n| *n = n.try_normalize(0.0).unwrap_or(Vec3::y()));

        // edge normals, and whether the surface is closed
        edges.sort_unstable();
        let mut edge_normal = vec![[Vec3::zeros(); 3]; all.len()];
        let mut is_closed = true;
        for same in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            is_closed &= same.len() == 2;
            let sum: Vec3 = same.iter().map(|(_, _, t, _)| face_normal[*t]).sum();
            for (_, _, t, k) in same {
                edge_normal[*t][*k] = sum.try_normalize(1e-12).unwrap_or(face_normal[*t]);
            }
        }

        // hierarchy over the triangles
        let boxes: Vec<Bounds> = all.iter().map(Bounds::around).collect();
        let tree = BoxTree::build(&boxes);
        let shell = if is_closed { f64::INFINITY } else { OPEN_SHELL * tree.bounds().radius() };
        let is_exact = is_closed && is_simple(&surface, &tree);
        Ok(TriangleSolid { surface, tree, face_normal, edge_normal, vertex_normal, shell, is_exact })
    }

    /// Its surface.
    pub fn surface(&self) -> &TriMesh {
        &self.surface
    }

    pub(super) fn into_surface(self) -> TriMesh {
        self.surface
    }

    /// The depth behind its surface up to which there is contact (m); infinite for a closed surface.
    pub fn shell(&self) -> f64 {
        self.shell
    }

    /// Whether its signed distance is exact everywhere: it is closed, does not intersect itself, and encloses no point twice.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.tree.bounds()
    }

    pub(super) fn probe(&self, p: &Vec3) -> Probe {
        let distance = |t: usize| (nearest_on_triangle(p, &self.surface.corners(t)).point - p).norm_squared();
        let Some((t, _)) = self.tree.find_nearest(p, f64::INFINITY, distance) else { return Probe::FAR };
        let nearest = nearest_on_triangle(p, &self.surface.corners(t));
        let away = p - nearest.point;
        let pseudo = self.pseudo_normal(t, &nearest.weights);
        let side = if away.dot(&pseudo) < 0.0 { -1.0 } else { 1.0 };
        let length = away.norm();
        if side < 0.0 && length > self.shell {
            return Probe::FAR;
        }
        let normal = if length > 1e-12 { away * (side / length) } else { pseudo };
        Probe { distance: side * length, normal }
    }

    fn pseudo_normal(&self, t: usize, weights: &[f64; 3]) -> Vec3 {
        let none = |k: usize| weights[k] < ON_EDGE;
        match (none(0), none(1), none(2)) {
            (false, true, true) => self.vertex_normal[self.surface.triangles[t][0] as usize],
            (true, false, true) => self.vertex_normal[self.surface.triangles[t][1] as usize],
            (true, true, false) => self.vertex_normal[self.surface.triangles[t][2] as usize],
            (false, false, true) => self.edge_normal[t][0],
            (true, false, false) => self.edge_normal[t][1],
            (false, true, false) => self.edge_normal[t][2],
            _ => self.face_normal[t],
        }
    }
}
