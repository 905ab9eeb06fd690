//! Marching tetrahedra over a body-centred cubic lattice.
//!
//! Every lattice point is inside or outside, and a tet with both has one triangle or one quadrilateral between them, with a
//! vertex on each edge that changes sign. Two tets agree on their common face, so the surface is closed, and the triangles around
//! each edge form one ring: the mesh is manifold. Octree blocks whose centre is too far from the surface are not refined, so the
//! cost scales with the surface and not with its bounding box.

use super::ImplicitSurface;
use crate::TriMesh;
use crate::cage::lattice::{Lattice, LatticeTet, TetKey, to_vec};
use crate::tet_mesh::TET_FACES;
use rayon::prelude::*;
use sinew_math::Vec3;

/// Sorted lattice points, and the field at each.
struct Samples {
    keys: Vec<u64>,
    values: Vec<f64>,
}

/// Bits per lattice coordinate in the key of a lattice point.
const AXIS_BITS: u32 = 21;

/// The tolerance of the root search on an edge, as a fraction of the lattice edge.
const TOLERANCE: f64 = 1e-3;

/// The maximum number of iterations of that search.
const MAX_ITERATIONS: usize = 12;

/// The zero level set of the field, sampled on the lattice. Vertices are near it, not exactly on it.
pub(crate) fn march(implicit: &ImplicitSurface, lattice: &Lattice) -> TriMesh {
    // the tets that may contain part of the surface
    let cubes = cubes_near(implicit, lattice);
    let mut tets: Vec<TetKey> = cubes.par_iter().flat_map_iter(|&cube| TetKey::of_cube(cube)).collect();
    tets.par_sort_unstable();
    tets.dedup();

    // the field at their corners
    let mut keys: Vec<u64> = cubes.par_iter().flat_map_iter(|&cube| points_of(cube)).collect();
    keys.par_sort_unstable();
    keys.dedup();
    let at = |key: u64| lattice.space_from_lattice(&to_vec(point_of(key)));
    let values = keys.par_iter().map(|&key| implicit.distance(&at(key))).collect();
    let samples = Samples { keys, values };

    // triangles over sign-changing edges, and the vertex of each edge
    let triangles: Vec<[u64; 3]> = tets.par_iter().flat_map_iter(|&tet| samples.triangles(tet)).collect();
    let mut edges: Vec<u64> = triangles.par_iter().flat_map_iter(|t| *t).collect();
    edges.par_sort_unstable();
    edges.dedup();
    let number = |edge: u64| edges.binary_search(&edge).map_or(0, |i| i as u32);
    let crossing = |&edge: &u64| {
        let (i, o) = ((edge >> 32) as usize, (edge & 0xffff_ffff) as usize);
        let inner = (at(samples.keys[i]), samples.values[i]);
        find_crossing(implicit, inner, (at(samples.keys[o]), samples.values[o]), TOLERANCE * lattice.edge)
    };
    TriMesh {
        vertices: edges.par_iter().map(crossing).collect(),
        triangles: triangles.par_iter().map(|t| t.map(number)).collect(),
    }
}

/// The cubes whose centre is no farther from the surface than half their diagonal, found by octree refinement: no other cube
/// contains part of it.
fn cubes_near(implicit: &ImplicitSurface, lattice: &Lattice) -> Vec<[i32; 3]> {
    let (lo, hi) = implicit.bounds();
    let cube = |p: &Vec3| {
        let p = lattice.lattice_from_space(p);
        [p.x, p.y, p.z].map(|x| (x / 2.0).floor() as i32)
    };
    let (lo, hi) = (cube(&lo).map(|c| c - 1), cube(&hi).map(|c| c + 1));
    let widest = (0..3).map(|k| hi[k] - lo[k] + 1).max().unwrap_or(1);
    let mut size = (widest as u32).next_power_of_two() as i32;
    let mut blocks = vec![lo];
    loop {
        let reach = 0.5 * 3f64.sqrt() * f64::from(size) * lattice.edge;
        blocks = blocks
            .into_par_iter()
            .filter(|block| {
                let middle = to_vec(block.map(|c| 2 * c + size));
                (0..3).all(|k| block[k] <= hi[k])
                    && implicit.distance(&lattice.space_from_lattice(&middle)).abs() <= reach * (1.0 + 1e-9)
            })
            .collect();
        if size == 1 {
            return blocks;
        }
        size /= 2;
        let eighth = |block: &[i32; 3], i: i32| {
            [block[0] + (i & 1) * size, block[1] + (i >> 1 & 1) * size, block[2] + (i >> 2) * size]
        };
        blocks = blocks.iter().flat_map(|block| (0..8).map(|i| eighth(block, i))).collect();
    }
}

impl Samples {
    /// The triangles in a tet, each vertex given by the inside and the outside lattice point of its edge.
    fn triangles(&self, tet: TetKey) -> impl Iterator<Item = [u64; 3]> + use<> {
        let points =
            LatticeTet::of(tet).corners().map(|c| self.keys.binary_search(&point_key(c)).unwrap_or(0));
        let inside = points.map(|p| self.values[p] < 0.0);
        let edge = |(i, o): (usize, usize)| (points[i] as u64) << 32 | points[o] as u64;
        let (triangles, count) = faces_between(inside);
        triangles.map(|t| t.map(edge)).into_iter().take(count)
    }
}

/// Up to two triangles that separate the inside corners of a tet from the outside ones, facing outwards. A vertex of a triangle
/// is a pair of corners of the tet, the first inside.
fn faces_between(inside: [bool; 4]) -> ([[(usize, usize); 3]; 2], usize) {
    let alone = |wanted: bool| (0..4).find(|&i| inside[i] == wanted).unwrap_or(0);
    let mut triangles = [[(0, 0); 3]; 2];
    match inside.iter().filter(|&&i| i).count() {
        1 => {
            let i = alone(true);
            triangles[0] = TET_FACES[i].map(|o| (i, o));
            (triangles, 1)
        }
        3 => {
            let o = alone(false);
            let [a, b, c] = TET_FACES[o];
            triangles[0] = [(a, o), (c, o), (b, o)];
            (triangles, 1)
        }
        2 => {
            let [i, j, k, l] =
                EVEN_PAIRS.into_iter().find(|p| inside[p[0]] && inside[p[1]]).unwrap_or_default();
            triangles = [[(i, k), (i, l), (j, l)], [(i, k), (j, l), (j, k)]];
            (triangles, 2)
        }
        _ => (triangles, 0),
    }
}

/// The splits of four corners into two pairs, ordered as even permutations: for those the quadrilateral over the edges ik, il,
/// jl, jk faces from the first pair to the second.
const EVEN_PAIRS: [[usize; 4]; 6] =
    [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]];

/// Root of the field on an edge from inside to outside, by the Illinois variant of regula falsi.
fn find_crossing(implicit: &ImplicitSurface, inner: (Vec3, f64), outer: (Vec3, f64), tolerance: f64) -> Vec3 {
    let ((mut a, mut fa), (mut b, mut fb)) = (inner, outer);
    let mut p = a + (b - a) * (fa / (fa - fb));
    let mut stayed = 0;
    for _ in 0..MAX_ITERATIONS {
        let f = implicit.distance(&p);
        if f.abs() <= tolerance {
            break;
        }
        if f < 0.0 {
            (a, fa) = (p, f);
            fb *= if stayed == 1 { 0.5 } else { 1.0 };
            stayed = 1;
        } else {
            (b, fb) = (p, f);
            fa *= if stayed == -1 { 0.5 } else { 1.0 };
            stayed = -1;
        }
        p = a + (b - a) * (fa / (fa - fb));
    }
    p
}

/// The lattice points of all tets that overlap a cube: its centre, its corners, and the centres of the six adjacent cubes.
fn points_of(cube: [i32; 3]) -> impl Iterator<Item = u64> {
    let middle = cube.map(|c| 2 * c + 1);
    let corners = (0..8).map(move |i| [0, 1, 2].map(|k| middle[k] + 2 * (i >> k & 1) - 1));
    let beside = (0..6)
        .map(move |i| [0, 1, 2].map(|k| middle[k] + if i / 2 == k as i32 { 4 * (i & 1) - 2 } else { 0 }));
    core::iter::once(middle).chain(corners).chain(beside).map(point_key)
}

fn point_key(p: [i32; 3]) -> u64 {
    p.iter().fold(0, |key, &x| key << AXIS_BITS | x as u64)
}

fn point_of(key: u64) -> [i32; 3] {
    let mask = (1 << AXIS_BITS) - 1;
    [key >> (2 * AXIS_BITS), key >> AXIS_BITS & mask, key & mask].map(|x| x as i32)
}
