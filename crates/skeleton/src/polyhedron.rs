//! Mass properties of the inside of a closed triangle mesh, exactly.
//!
//! ```text
//! ∫ 1 = Σ V,   ∫ x = Σ V s/4,   ∫ x xᵀ = Σ V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ)
//! ```
//!
//! over the tets from one inner point to each triangle (a, b, c), with V = a · (b × c)/6 and s = a + b + c. The signs of V make
//! any closed surface come out right, convex or not.

use crate::mass::MassProperties;
use sinew_math::{Mat3, Vec3};
use sinew_mesh::TriMesh;
use std::collections::BTreeMap;

/// Mass properties of the inside of `mesh`, filled with `density` (kg/m³), or what is wrong with the mesh.
pub(crate) fn properties(mesh: &TriMesh, density: f64) -> Result<MassProperties, String> {
    check(mesh)?;
    let middle = mesh.vertices.iter().sum::<Vec3>() / mesh.vertices.len() as f64;
    let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(|p| p - middle);
        let v = a.dot(&b.cross(&c)) / 6.0;
        let s = a + b + c;
        volume += v;
        first += v * s / 4.0;
        second +=
            (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose()) * (v / 20.0);
    }
    if !(volume.is_finite() && volume > 0.0) {
        return Err(format!(
            "the surface encloses {volume:.3e} m³: turn its triangles to face outwards, and make it solid"
        ));
    }
    let center = first / volume;
    let central = second - volume * center * center.transpose();
    let tensor = (Mat3::identity() * central.trace() - central) * density;
    Ok(MassProperties { mass: density * volume, center: middle + center, tensor })
}

fn check(mesh: &TriMesh) -> Result<(), String> {
    let count = mesh.vertices.len();
    if let Some(t) = mesh.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= count)) {
        return Err(format!("triangle {t} names a vertex that is not among the {count} of the mesh"));
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
            "the surface is not closed: {open} edges lack a neighbour that runs the other way; close its holes"
        )),
    }
}

/// Edges that are not run through as often one way as the other; corners at the same place are one.
fn open_edges(mesh: &TriMesh) -> usize {
    let mut places = BTreeMap::new();
    // adding zero makes −0 and 0 one place
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
