//! The patch test of membranes: a homogeneous deformation has one stress on any mesh, and no forces within it.

use sinew_flesh::Fabric;
use sinew_flesh::network::{Anisotropy, Membrane, StrainElement};
use sinew_math::Vec3;

/// An irregular grid of a unit square in the plane z = 0: points within are moved by up to a third of a cell.
fn grid(count: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let size = count + 1;
    let cell = 1.0 / count as f64;
    let mut points = Vec::new();
    for j in 0..size {
        for i in 0..size {
            let is_inside = (1..count).contains(&i) && (1..count).contains(&j);
            let wobble = |k: usize| {
                let hash = (i * 73 + j * 151 + k * 37) % 101;
                if is_inside { (hash as f64 / 101.0 - 0.5) * 0.6 * cell } else { 0.0 }
            };
            points.push(Vec3::new(i as f64 * cell + wobble(1), j as f64 * cell + wobble(2), 0.0));
        }
    }
    let at = |i: usize, j: usize| (j * size + i) as u32;
    let mut triangles = Vec::new();
    for j in 0..count {
        for i in 0..count {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    (points, triangles)
}

/// Stretched by 30 %, sheared and turned in space, with metrics and directions of their own: forces at points within are zero to round-off of those of single triangles, and all energies per area are the same.
#[test]
fn a_homogeneous_stretch_has_no_forces_within() {
    let (rest, triangles) = grid(6);
    let fabric = Fabric { stretch: 140.0, poisson: 0.3, ..Fabric::default() };
    let anisotropy = Anisotropy { direction: Vec3::new(0.8, 0.6, 0.0), weights: [40.0, 300.0, 90.0] };
    let stretched = |x: &Vec3| Vec3::new(1.3 * x.x + 0.2 * x.y, 0.4 * x.x - 0.1 * x.y, 0.9 * x.y + 0.3 * x.x);
    let x: Vec<Vec3> = rest.iter().map(stretched).collect();
    for (metric, is_directed) in [(1.0, false), (0.6, false), (0.9, true)] {
        let mut forces = vec![Vec3::zeros(); x.len()];
        let (mut largest, mut densities) = (0.0f64, Vec::new());
        for t in &triangles {
            let corners = t.map(|v| rest[v as usize]);
            let built = Membrane::build(*t, &corners, &fabric).expect("an area").with_metric(metric);
            let own = if is_directed { built.with_anisotropy(&corners, &anisotropy) } else { built };
            let now = t.map(|v| x[v as usize]);
            let strain = own.strain(&now);
            let stress = own.stress(&strain);
            densities.push(0.5 * strain.iter().zip(stress).map(|(s, t)| s * t).sum::<f64>() / own.area);
            for (row, stress) in own.gradients(&now).iter().zip(stress) {
                for (n, gradient) in row.iter().enumerate() {
                    forces[t[n] as usize] += stress * gradient;
                    largest = largest.max((stress * gradient).norm());
                }
            }
        }
        let is_inside = |p: &Vec3| p.x > 1e-9 && p.x < 1.0 - 1e-9 && p.y > 1e-9 && p.y < 1.0 - 1e-9;
        let inside = rest.iter().zip(&forces).filter(|(p, _)| is_inside(p));
        assert!(inside.clone().count() == 25 && largest > 0.1);
        assert!(inside.map(|(_, force)| force.norm()).fold(0.0, f64::max) < 1e-12 * largest);
        assert!(densities.iter().all(|own| (own / densities[0] - 1.0).abs() < 1e-10));
    }
}
