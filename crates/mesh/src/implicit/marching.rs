//! The surface as it passes through the tets of a lattice.
//!
//! The one idea: every lattice point is inside or outside, and a tet with both has one triangle or one
//! quadrilateral between them, with a corner on each edge from inside to outside. Two tets at a face agree on
//! it, so the triangles always close, and around each edge they form one ring: the mesh is a manifold. Cubes
//! whose middle is too far from the surface are never divided, so the cost follows the surface and not its box.

use super::ImplicitSurface;
use crate::TriMesh;
use crate::cage::lattice::{Frame, Lattice, TetKey, to_vec};
use crate::tet_mesh::TET_FACES;
use rayon::prelude::*;
use sinew_math::Vec3;

/// Lattice points in order, and the field at each.
struct Samples {
    keys: Vec<u64>,
    values: Vec<f64>,
}

/// Bits of a lattice coordinate in the key of a lattice point.
const AXIS_BITS: u32 = 21;

/// A corner of the surface is sought until the field is below this fraction of an edge of the lattice.
const CLOSE_ENOUGH: f64 = 1e-3;

/// Steps of that search at most.
const STEPS: usize = 12;

/// The zero set of a body's field between the points of a lattice. Corners are near it, not on it.
pub(crate) fn march(implicit: &ImplicitSurface, lattice: &Lattice) -> TriMesh {
    // the tets that may hold part of the surface
    let cubes = cubes_near(implicit, lattice);
    let mut tets: Vec<TetKey> = cubes.par_iter().flat_map_iter(|&cube| TetKey::of_cube(cube)).collect();
    tets.par_sort_unstable();
    tets.dedup();

    // what is inside
    let mut keys: Vec<u64> = cubes.par_iter().flat_map_iter(|&cube| points_of(cube)).collect();
    keys.par_sort_unstable();
    keys.dedup();
    let at = |key: u64| lattice.space_from_lattice(&to_vec(point_of(key)));
    let values = keys.par_iter().map(|&key| implicit.distance(&at(key))).collect();
    let samples = Samples { keys, values };

    // what lies between
    let triangles: Vec<[u64; 3]> = tets.par_iter().flat_map_iter(|&tet| samples.triangles(tet)).collect();
    let mut edges: Vec<u64> = triangles.par_iter().flat_map_iter(|t| *t).collect();
    edges.par_sort_unstable();
    edges.dedup();
    let number = |edge: u64| edges.binary_search(&edge).map_or(0, |i| i as u32);
    let crossing = |&edge: &u64| {
        let (i, o) = ((edge >> 32) as usize, (edge & 0xffff_ffff) as usize);
        let inner = (at(samples.keys[i]), samples.values[i]);
        find_crossing(implicit, inner, (at(samples.keys[o]), samples.values[o]), CLOSE_ENOUGH * lattice.edge)
    };
    TriMesh {
        vertices: edges.par_iter().map(crossing).collect(),
        triangles: triangles.par_iter().map(|t| t.map(number)).collect(),
    }
}

/// The cubes whose middle is no farther from the surface than their corners are from their middle, in order: all others hold
/// none of it.
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
    /// The triangles in a tet, each corner named by the lattice points inside and outside that it lies between.
    fn triangles(&self, tet: TetKey) -> impl Iterator<Item = [u64; 3]> + use<> {
        let points = Frame::of(tet).corners().map(|c| self.keys.binary_search(&point_key(c)).unwrap_or(0));
        let inside = points.map(|p| self.values[p] < 0.0);
        let edge = |(i, o): (usize, usize)| (points[i] as u64) << 32 | points[o] as u64;
        let (triangles, count) = faces_between(inside);
        triangles.map(|t| t.map(edge)).into_iter().take(count)
    }
}

/// Up to two triangles between the corners of a tet that are inside and those that are outside, facing outwards. A corner of a
/// triangle is a pair of corners of the tet, the first inside.
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

/// The ways to split four corners in two pairs, ordered as even permutations: for those the quadrilateral over the edges
/// ik, il, jl, jk faces from the first pair to the second.
const EVEN_PAIRS: [[usize; 4]; 6] =
    [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]];

/// Where the field is zero between a point inside and one outside, nearly: the straight line between the two
/// values, with the value halved at an end that stays (the Illinois rule).
fn find_crossing(implicit: &ImplicitSurface, inner: (Vec3, f64), outer: (Vec3, f64), close: f64) -> Vec3 {
    let ((mut a, mut fa), (mut b, mut fb)) = (inner, outer);
    let mut p = a + (b - a) * (fa / (fa - fb));
    let mut stayed = 0;
    for _ in 0..STEPS {
        let f = implicit.distance(&p);
        if f.abs() <= close {
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

/// The lattice points of all tets that share volume with a cube: its middle, its corners, and the middles of the cubes beside it.
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
