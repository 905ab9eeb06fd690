//! Triangle meshes and sample points of shapes.

use super::Shape;
use sinew_math::{Vec3, real};
use sinew_mesh::{TriMesh, shapes};

/// Segments around a surface of revolution.
const AROUND: usize = 32;
/// Rings per hemisphere.
const RINGS: usize = 8;

pub(super) fn of(shape: &Shape, reach: f64) -> TriMesh {
    match shape {
        Shape::Plane { normal } => square(normal, reach),
        Shape::Sphere { radius } => revolve(&arc(0.0, *radius)),
        Shape::Capsule { half_length, radius } => revolve(&arc(*half_length, *radius)),
        Shape::Cylinder { half_length, radius } => {
            let [r, h] = [*radius, *half_length];
            revolve(&[(0.0, h), (r, h), (r, -h), (0.0, -h)].map(|(radius, y)| ProfilePoint { radius, y }))
        }
        Shape::Cuboid { half } => {
            let mut cuboid = shapes::cuboid([2.0 * half.x, 2.0 * half.y, 2.0 * half.z]);
            if let Some((low, high)) = cuboid.bounds() {
                let middle = 0.5 * (low + high);
                cuboid.vertices.iter_mut().for_each(|v| *v -= middle);
            }
            cuboid
        }
        Shape::Convex(hull) => hull.surface().clone(),
        Shape::Heights(field) => field.surface(),
        Shape::Grid(grid) if !grid.surface().triangles.is_empty() => grid.surface().clone(),
        Shape::Grid(grid) => {
            of(&Shape::Cuboid { half: 0.5 * (grid.bounds().max - grid.bounds().min) }, reach)
        }
        Shape::Mesh(mesh) => mesh.surface().clone(),
    }
}

/// Sample points: a grid on the faces of boxes, the vertices of other shapes.
pub(super) fn samples(shape: &Shape) -> Vec<Vec3> {
    match shape {
        Shape::Cuboid { half } => {
            // rows just inside the edges, so that a box rests on another of the same size directly below it
            let fraction = |i: usize| [-1.0, -0.9, 0.0, 0.9, 1.0][i % 5];
            let all = (0..125).map(|i| Vec3::new(fraction(i), fraction(i / 5), fraction(i / 25)));
            all.filter(|s| s.amax() == 1.0).map(|s| s.component_mul(half)).collect()
        }
        Shape::Plane { .. } | Shape::Heights(_) => Vec::new(),
        other => of(other, 1.0).vertices,
    }
}

fn square(normal: &Vec3, reach: f64) -> TriMesh {
    let aside = if normal.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
    let u = normal.cross(&aside).normalize();
    let w = normal.cross(&u);
    let corner = |a: f64, b: f64| (a * u + b * w) * reach;
    TriMesh {
        vertices: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

/// A point of the profile of a surface of revolution about y.
#[derive(Clone, Copy)]
struct ProfilePoint {
    /// Distance from the axis (m).
    radius: f64,
    /// Height (m).
    y: f64,
}

/// The profile of a capsule: a half circle whose halves are moved apart.
fn arc(half_length: f64, radius: f64) -> Vec<ProfilePoint> {
    let at = |i: usize| {
        let angle = core::f64::consts::FRAC_PI_2 * i as f64 / RINGS as f64;
        ProfilePoint { radius: radius * real::sin(angle), y: radius * real::cos(angle) }
    };
    let upper = (0..=RINGS).map(|i| ProfilePoint { y: at(i).y + half_length, ..at(i) });
    let lower = (0..=RINGS).rev().map(|i| ProfilePoint { y: -at(i).y - half_length, ..at(i) });
    upper.chain(lower.skip(usize::from(half_length == 0.0))).collect()
}

/// The surface of revolution about y of a profile, from the top down.
fn revolve(outline: &[ProfilePoint]) -> TriMesh {
    let (first, last) = (outline[0], outline[outline.len() - 1]);
    let rings = &outline[1..outline.len() - 1];
    let mut vertices = vec![Vec3::new(0.0, first.y, 0.0), Vec3::new(0.0, last.y, 0.0)];
    for ProfilePoint { radius, y } in rings {
        for i in 0..AROUND {
            let angle = core::f64::consts::TAU * i as f64 / AROUND as f64;
            vertices.push(Vec3::new(radius * real::cos(angle), *y, radius * real::sin(angle)));
        }
    }
    let at = |ring: usize, i: usize| (2 + ring * AROUND + i % AROUND) as u32;
    let mut triangles = Vec::new();
    for i in 0..AROUND {
        triangles.push([0, at(0, i + 1), at(0, i)]);
        for ring in 0..rings.len() - 1 {
            let [a, b, c, d] = [at(ring, i), at(ring, i + 1), at(ring + 1, i), at(ring + 1, i + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
        triangles.push([1, at(rings.len() - 1, i), at(rings.len() - 1, i + 1)]);
    }
    TriMesh { vertices, triangles }
}
