//! Convex hull by incremental insertion, and the distance to its planes.

use super::{Probe, ShapeFault};
use crate::Bounds;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;

/// A convex polyhedron.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexHull {
    surface: TriMesh,
    /// Outward unit normals of the planes and their distances from the origin.
    planes: Vec<(Vec3, f64)>,
    thickness: f64,
}

/// Planes whose normals differ by less than this are equal.
const SAME_NORMAL: f64 = 1e-9;
/// Points closer to a face than this fraction of the size are on it.
const FLAT: f64 = 1e-9;
/// The maximum number of points: construction is quadratic in their number.
const MAX_POINTS: usize = 20_000;

impl ConvexHull {
    /// The convex hull of points (m), built incrementally: the faces visible from a new point are replaced by those between it
    /// and their horizon.
    pub fn build(points: &[Vec3]) -> Result<ConvexHull, ShapeFault> {
        let fault = |what: String| Err(ShapeFault(what));
        if points.len() > MAX_POINTS {
            return fault(format!("its hull has {} points: give at most {MAX_POINTS}", points.len()));
        }
        if points.iter().any(|p| !p.iter().all(|x| x.is_finite())) {
            return fault("a point of its hull is not finite".into());
        }
        let size = if points.is_empty() { 0.0 } else { Bounds::around(points).radius() };
        let Some(first) = first_tet(points, FLAT * size) else {
            return fault(format!(
                "its hull of {} points has no volume: give four or more that lie in no plane",
                points.len()
            ));
        };
        let mut faces = first;
        for i in 0..points.len() as u32 {
            add_point(points, &mut faces, i, FLAT * size);
        }
        Ok(ConvexHull::of_faces(points, &faces))
    }

    fn of_faces(points: &[Vec3], faces: &[[u32; 3]]) -> ConvexHull {
        let mut used: Vec<u32> = faces.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let place = |v: u32| used.binary_search(&v).unwrap_or(0) as u32;
        let surface = TriMesh {
            vertices: used.iter().map(|&v| points[v as usize]).collect(),
            triangles: faces.iter().map(|face| face.map(place)).collect(),
        };
        let mut planes: Vec<(Vec3, f64)> = Vec::new();
        for t in 0..surface.triangles.len() {
            let [a, b, c] = surface.corners(t);
            let normal = (b - a).cross(&(c - a));
            let length = normal.norm();
            if length > 0.0 {
                let normal = normal / length;
                if !planes.iter().any(|(other, _)| (other - normal).norm() < SAME_NORMAL) {
                    planes.push((normal, normal.dot(&a)));
                }
            }
        }
        let width = |(normal, offset): &(Vec3, f64)| {
            offset - surface.vertices.iter().map(|v| normal.dot(v)).fold(f64::INFINITY, f64::min)
        };
        let thickness = 0.5 * planes.iter().map(width).fold(f64::INFINITY, f64::min);
        ConvexHull { surface, planes, thickness }
    }

    /// Its surface.
    pub fn surface(&self) -> &TriMesh {
        &self.surface
    }

    pub(super) fn thickness(&self) -> f64 {
        self.thickness
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds::around(&self.surface.vertices)
    }

    /// The largest signed distance from any of its planes: exact inside and in front of faces, a lower bound in front of edges
    /// and vertices.
    #[inline]
    pub(super) fn probe(&self, p: &Vec3) -> Probe {
        let mut best = Probe { distance: f64::NEG_INFINITY, normal: Vec3::y() };
        for (normal, offset) in &self.planes {
            let distance = normal.dot(p) - offset;
            if distance > best.distance {
                best = Probe { distance, normal: *normal };
            }
        }
        best
    }
}

fn face_normal(points: &[Vec3], [a, b, c]: [u32; 3]) -> Vec3 {
    let (a, b, c) = (points[a as usize], points[b as usize], points[c as usize]);
    let normal = (b - a).cross(&(c - a));
    let length = normal.norm();
    if length > 0.0 { normal / length } else { Vec3::zeros() }
}

/// An initial tet with volume, as faces visible from outside.
fn first_tet(points: &[Vec3], flat: f64) -> Option<Vec<[u32; 3]>> {
    let farthest = |score: &dyn Fn(&Vec3) -> f64| {
        let (mut best, mut found) = (flat, None);
        for (i, p) in points.iter().enumerate() {
            if score(p) > best {
                (best, found) = (score(p), Some(i));
            }
        }
        found
    };
    let a = 0;
    let b = farthest(&|p| (p - points[a]).norm())?;
    let along = (points[b] - points[a]).normalize();
    let c = farthest(&|p| (p - points[a]).cross(&along).norm())?;
    let normal = face_normal(points, [a as u32, b as u32, c as u32]);
    let d = farthest(&|p| normal.dot(&(p - points[a])).abs())?;
    let (mut b, mut c) = (b as u32, c as u32);
    if normal.dot(&(points[d] - points[a])) > 0.0 {
        (b, c) = (c, b);
    }
    let (a, d) = (a as u32, d as u32);
    Some(vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
}

fn add_point(points: &[Vec3], faces: &mut Vec<[u32; 3]>, new: u32, flat: f64) {
    let p = points[new as usize];
    let is_visible = |face: &[u32; 3]| {
        !face.contains(&new) && face_normal(points, *face).dot(&(p - points[face[0] as usize])) > flat
    };
    let (visible, kept): (Vec<[u32; 3]>, Vec<[u32; 3]>) = faces.iter().partition(|face| is_visible(face));
    if visible.is_empty() {
        return;
    }
    let edges: Vec<(u32, u32)> = visible.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
    *faces = kept;
    for &(a, b) in edges.iter().filter(|(a, b)| !edges.contains(&(*b, *a))) {
        faces.push([a, b, new]);
    }
}
