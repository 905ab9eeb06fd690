//! Procedural meshes of simple shapes, for tests, benchmarks and the zoo.

use crate::{TetMesh, TriMesh};
use sinew_math::{Vec3, real};

/// A box of the given sizes (m), centred on the origin.
pub fn cuboid(size: [f64; 3]) -> TriMesh {
    let half = Vec3::from(size) / 2.0;
    let vertices = (0..8)
        .map(|i| {
            let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            Vec3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
        })
        .collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5u32]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriMesh { vertices, triangles }
}

/// A flat sheet in the plane of x and z, centred on the origin, of the given sizes (m), divided into so many rectangles along x and along z, and each of them into two triangles, by diagonals in one direction.
pub fn sheet([width, depth]: [f64; 2], [across, along]: [u32; 2]) -> TriMesh {
    let mut sheet = TriMesh::default();
    for j in 0..=along {
        for i in 0..=across {
            let [u, v] = [f64::from(i) / f64::from(across), f64::from(j) / f64::from(along)];
            sheet.vertices.push(Vec3::new(width * (u - 0.5), 0.0, depth * (v - 0.5)));
        }
    }
    let id = |i: u32, j: u32| j * (across + 1) + i;
    for j in 0..along {
        for i in 0..across {
            let [a, b, c, d] = [id(i, j), id(i, j + 1), id(i + 1, j + 1), id(i + 1, j)];
            sheet.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    sheet
}

/// A geodesic sphere about the origin: an icosahedron whose triangles are split in four `subdivisions` times.
pub fn sphere(radius: f64, subdivisions: u32) -> TriMesh {
    let mut sphere = icosahedron();
    for _ in 0..subdivisions {
        sphere = split_in_four(&sphere);
    }
    for v in &mut sphere.vertices {
        *v *= radius / v.norm();
    }
    sphere
}

/// A torus about the y axis: a tube of radius `minor` (m) around a circle of radius `major` (m).
pub fn torus(major: f64, minor: f64, around: u32, across: u32) -> TriMesh {
    let cos_sin = |i: u32, n: u32| {
        let angle = core::f64::consts::TAU * f64::from(i) / f64::from(n);
        (real::cos(angle), real::sin(angle))
    };
    let mut torus = TriMesh::default();
    for i in 0..around {
        let (cos_u, sin_u) = cos_sin(i, around);
        for j in 0..across {
            let (cos_v, sin_v) = cos_sin(j, across);
            let r = major + minor * cos_v;
            torus.vertices.push(Vec3::new(r * cos_u, minor * sin_v, -r * sin_u));
        }
    }
    let id = |i: u32, j: u32| (i % around) * across + j % across;
    for i in 0..around {
        for j in 0..across {
            let [a, b, c, d] = [id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)];
            torus.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    torus
}

/// A beam along x of the given sizes (m), one end at x = 0 and centred on y = z = 0. It is divided into cubes, `across` of them
/// over its smallest size, and each cube into five tets, mirrored from cube to cube so that the faces match.
pub fn beam(across: usize, size: [f64; 3]) -> TetMesh {
    let h = size.into_iter().fold(f64::INFINITY, f64::min) / across as f64;
    let [nx, ny, nz] = size.map(|s| (s / h).round() as usize);
    let mut beam = TetMesh::default();
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                let [x, y, z] = [i as f64 * h, j as f64 * h - size[1] / 2.0, k as f64 * h - size[2] / 2.0];
                beam.nodes.push(Vec3::new(x, y, z));
            }
        }
    }
    let id = |i: usize, j: usize, k: usize| ((i * (ny + 1) + j) * (nz + 1) + k) as u32;
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let corner = |c: usize| id(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
                let tets = if (i + j + k) % 2 == 0 { EVEN_CUBE } else { ODD_CUBE };
                beam.tets.extend(tets.map(|tet| tet.map(corner)));
            }
        }
    }
    beam
}

// bits 0, 1 and 2 of a corner index are its x, y and z coordinates in the cube
const EVEN_CUBE: [[usize; 4]; 5] = [[0, 1, 3, 5], [0, 3, 2, 6], [0, 5, 6, 4], [3, 6, 5, 7], [0, 3, 6, 5]];
const ODD_CUBE: [[usize; 4]; 5] = [[1, 3, 2, 7], [1, 2, 0, 4], [1, 7, 4, 5], [2, 4, 7, 6], [1, 2, 4, 7]];

fn icosahedron() -> TriMesh {
    // corners of three golden rectangles
    let p = (1.0 + 5f64.sqrt()) / 2.0;
    let xs = [
        [-1.0, p, 0.0],
        [1.0, p, 0.0],
        [-1.0, -p, 0.0],
        [1.0, -p, 0.0],
        [0.0, -1.0, p],
        [0.0, 1.0, p],
        [0.0, -1.0, -p],
        [0.0, 1.0, -p],
        [p, 0.0, -1.0],
        [p, 0.0, 1.0],
        [-p, 0.0, -1.0],
        [-p, 0.0, 1.0],
    ];

    // five triangles around each pole, ten between them
    let triangles = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    TriMesh { vertices: xs.map(|x| Vec3::from(x).normalize()).to_vec(), triangles }
}

fn split_in_four(mesh: &TriMesh) -> TriMesh {
    let mut vertices = mesh.vertices.clone();
    let mut middles = std::collections::BTreeMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            vertices.push((vertices[a as usize] + vertices[b as usize]).normalize());
            vertices.len() as u32 - 1
        })
    };
    let mut triangles = Vec::with_capacity(4 * mesh.triangles.len());
    for &[a, b, c] in &mesh.triangles {
        let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
        triangles.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    TriMesh { vertices, triangles }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::PI;

    #[test]
    fn shapes_face_outwards_and_enclose_their_volume() {
        assert!((cuboid([1.0, 2.0, 3.0]).signed_volume() - 6.0).abs() < 1e-12);
        // a polyhedron inscribed in a sphere lacks about (edge / radius)² / 4 of its volume
        let ball = sphere(0.5, 4).signed_volume() / (PI / 6.0);
        assert!(ball < 1.0 && ball > 1.0 - 4e-3, "{ball}");
        let ring = torus(0.3, 0.1, 96, 48).signed_volume() / (2.0 * PI * PI * 0.3 * 0.01);
        assert!(ring < 1.0 && ring > 1.0 - 6e-3, "{ring}");
    }

    #[test]
    fn every_tet_of_a_beam_has_positive_volume() {
        let beam = beam(3, [0.4, 0.1, 0.1]);
        assert_eq!(beam.tets.len(), 20 * 27);
        assert!((0..beam.tets.len()).all(|t| beam.tet_volume(t) > 0.0));
        assert!((beam.volume() - 4e-3).abs() < 1e-15);
    }
}
