//! Exact mass properties of the interior of a closed triangle mesh.
//!
//! ```text
//! ∫ 1 = Σ V,   ∫ x = Σ V s/4,   ∫ x xᵀ = Σ V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ)
//! ```
//!
//! over the signed tets from one reference point to each triangle (a, b, c), with V = a · (b × c)/6 and s = a + b + c. The signs
//! of V make the sums exact for any closed surface, convex or not.

use super::MassProperties;
use sinew_math::{Mat3, Vec3};
use sinew_mesh::TriMesh;
use std::collections::BTreeMap;

/// Mass properties of the interior of `mesh` with `density` (kg/m³), or what is wrong with the mesh.
pub(crate) fn properties(mesh: &TriMesh, density: f64) -> Result<MassProperties, String> {
    check(mesh)?;
    let reference = mesh.vertices.iter().sum::<Vec3>() / mesh.vertices.len() as f64;
    let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(|p| p - reference);
        let v = a.dot(&b.cross(&c)) / 6.0;
        let s = a + b + c;
        volume += v;
        first += v * s / 4.0;
        second +=
            (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose()) * (v / 20.0);
    }
    if !(volume.is_finite() && volume > 0.0) {
        return Err(format!(
            "the surface encloses {volume:.3e} m³: orient its triangles outwards, and give it volume"
        ));
    }
    let center = first / volume;
    let central = second - volume * center * center.transpose();
    let tensor = (Mat3::identity() * central.trace() - central) * density;
    Ok(MassProperties { mass: density * volume, center: reference + center, tensor })
}

fn check(mesh: &TriMesh) -> Result<(), String> {
    let count = mesh.vertices.len();
    if let Some(t) = mesh.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= count)) {
        return Err(format!("triangle {t} refers to a vertex that is not among the {count} of the mesh"));
    }
    if let Some(v) = mesh.vertices.iter().position(|v| !v.iter().all(|x| x.is_finite())) {
        return Err(format!("vertex {v} is not finite"));
    }
    if mesh.triangles.is_empty() {
        return Err("the mesh has no triangles".into());
    }
    match open_edges(mesh) {
        0 => Ok(()),
        open => Err(format!(
            "the surface is not closed: {open} edges lack an opposite half-edge; close its holes"
        )),
    }
}

/// The number of edges whose half-edges do not cancel; vertices at the same position are welded.
fn open_edges(mesh: &TriMesh) -> usize {
    let mut places = BTreeMap::new();
    // adding zero gives −0 and 0 the same bits
    let bits = |v: &Vec3| [v.x, v.y, v.z].map(|x| (x + 0.0).to_bits());
    let place: Vec<u32> =
        mesh.vertices.iter().enumerate().map(|(i, v)| *places.entry(bits(v)).or_insert(i as u32)).collect();
    let mut balance: BTreeMap<(u32, u32), i32> = BTreeMap::new();
    for triangle in &mesh.triangles {
        let corner = triangle.map(|v| place[v as usize]);
        for k in 0..3 {
            let (a, b) = (corner[k], corner[(k + 1) % 3]);
            if a != b {
                *balance.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
    }
    balance.values().filter(|&&sum| sum != 0).count()
}

#[cfg(test)]
mod tests {
    use super::super::SolidShape;
    use super::*;
    use sinew_math::{Isometry, so3};
    use sinew_mesh::shapes;

    fn moved(mut mesh: TriMesh, pose: &Isometry) -> TriMesh {
        mesh.vertices.iter_mut().for_each(|v| {
            *v = pose * sinew_math::nalgebra::Point3::from(*v) - sinew_math::nalgebra::Point3::origin()
        });
        mesh
    }

    fn agree(a: &MassProperties, b: &MassProperties, fraction: f64) {
        assert!((a.mass / b.mass - 1.0).abs() < fraction, "{} {}", a.mass, b.mass);
        assert!((a.center - b.center).norm() < fraction, "{} {}", a.center, b.center);
        assert!((a.tensor - b.tensor).amax() < fraction * b.tensor.amax(), "{} {}", a.tensor, b.tensor);
    }

    fn pose() -> Isometry {
        Isometry::from_parts(Vec3::new(0.3, -2.0, 1.0).into(), so3::exp(&Vec3::new(0.4, 1.0, -0.7)))
    }

    /// Both are exact: a few ε, times the squared distance of the box from the origin.
    #[test]
    fn a_triangulated_box_is_exact() {
        let size = Vec3::new(0.2, 0.5, 1.1);
        let mesh = moved(shapes::cuboid(size.into()), &pose());
        let exact = SolidShape::Box { size, pose: pose() }.properties(1200.0).unwrap();
        agree(&properties(&mesh, 1200.0).unwrap(), &exact, 1e-13);
    }

    /// The volume error of triangles inscribed in a sphere is quadratic in their edges; splitting them quarters it.
    #[test]
    fn triangulated_spheres_converge() {
        let radii = Vec3::repeat(0.5);
        let exact = SolidShape::Ellipsoid { radii, pose: Isometry::identity() }.properties(1000.0).unwrap();
        let gap = |n: u32| {
            1.0 - properties(&shapes::sphere(0.5, n), 1000.0).unwrap().tensor[(0, 0)] / exact.tensor[(0, 0)]
        };
        assert!(gap(4) > 0.0 && gap(4) < 5e-3, "{}", gap(4));
        assert!((gap(3) / gap(4) - 4.0).abs() < 0.1);
    }

    /// A sphere cut in halves that are moved apart: still inscribed, so the error is positive and quadratic in the edges, which
    /// are a thirtieth of the radius after five subdivisions.
    #[test]
    fn triangulated_capsules_converge() {
        let (radius, half) = (0.2, 0.35);
        let mesh = |n: u32| {
            let mut mesh = shapes::sphere(radius, n);
            mesh.vertices.iter_mut().for_each(|v| v.y += half * v.y.signum());
            properties(&mesh, 900.0).unwrap()
        };
        let shape = SolidShape::Capsule { from: -Vec3::y() * half, to: Vec3::y() * half, radius };
        let exact = shape.properties(900.0).unwrap();
        let gaps = |n: u32| {
            let found = mesh(n);
            [0, 1, 2].map(|i| 1.0 - found.tensor[(i, i)] / exact.tensor[(i, i)])
        };
        for (coarse, fine) in gaps(4).into_iter().zip(gaps(5)) {
            assert!(fine > 0.0 && fine < 4e-3 && coarse / fine > 2.5, "{coarse} {fine}");
        }
    }

    /// A torus about y: m R²(1 + 3/4 (r/R)²) about its axis. It is not convex, and the reference point lies in its hole.
    #[test]
    fn a_torus_is_accurate_without_convexity() {
        let (major, minor) = (0.5, 0.2);
        let ring = properties(&shapes::torus(major, minor, 256, 128), 1.0).unwrap();
        let about_axis = ring.mass * (major * major + 0.75 * minor * minor);
        assert!((ring.tensor[(1, 1)] / about_axis - 1.0).abs() < 1e-3);
    }

    #[test]
    fn surfaces_without_volume_are_rejected() {
        let mut open = shapes::cuboid([1.0, 1.0, 1.0]);
        open.triangles.pop();
        assert!(properties(&open, 1.0).unwrap_err().starts_with("the surface is not closed: 3 edges"));
        let mut inside_out = shapes::cuboid([1.0, 1.0, 1.0]);
        inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert!(properties(&inside_out, 1.0).unwrap_err().contains("-1.000e0 m³"));
        let mut invalid = shapes::cuboid([1.0, 1.0, 1.0]);
        invalid.triangles[3][1] = 99;
        assert!(properties(&invalid, 1.0).unwrap_err().contains("triangle 3"));
        assert!(properties(&TriMesh::default(), 1.0).is_err());
    }
}
