//! Local thickness of a solid: radii of the largest inscribed balls that touch its surface, by the shrinking-ball algorithm.
//!
//! A ball inside the surface touches it at p, with its centre at p − r n. While another point q of the surface lies in it, it shrinks to the ball through p and q:
//!
//! ```text
//! r = |p − q|² / (2 n · (p − q))                                                        [Ma2012, §3.1]
//! ```
//!
//! Points are vertices and samples of large triangles. Shells that face inwards are turned first; open or tangled surfaces give rough values, no errors.

use crate::{DisjointSets, TriMesh};
use kdtree::KdTree;
use kdtree::distance::squared_euclidean;
use rayon::prelude::*;
use sinew_math::Vec3;
use std::collections::HashMap;

/// Samples are no farther apart than this fraction of the surface's size, so that balls do not slip through coarse triangles.
const SPACING: f64 = 0.012;
/// Balls are sought at no more vertices than this, evenly chosen; the others take the mean of their neighbours.
const MAX_BALLS: usize = 3000;
/// No more samples than this.
const MAX_SAMPLES: usize = 60_000;
/// A ball does not shrink to a point that it sees less than this apart from p (cosine): that is the roughness of the surface, not its other side.
const ROUGH: f64 = 0.75;
/// Rounds of averaging over edges.
const SMOOTHING: usize = 8;
/// A ball shrinks at most so often.
const MAX_SHRINKS: usize = 24;

/// For each vertex the radius of the largest ball inside the surface that touches it there (m): half the thickness of a plate, the radius of a limb. No more than half the size of the surface.
pub fn local_thickness(surface: &TriMesh) -> Vec<f64> {
    let count = surface.vertices.len();
    let Some((low, high)) = surface.bounds() else { return vec![0.0; count] };
    let size = (high - low).norm();
    if surface.triangles.is_empty() || size == 0.0 {
        return vec![0.0; count];
    }
    let (welded, normals) = outward_normals(surface);
    let tree = sample_tree(surface, &welded, SPACING * size);

    // balls at evenly chosen vertices
    let own: Vec<usize> =
        (0..count).filter(|v| welded[*v] as usize == *v && normals[*v] != Vec3::zeros()).collect();
    let stride = own.len().div_ceil(MAX_BALLS).max(1);
    let chosen: Vec<usize> = own.into_iter().step_by(stride).collect();
    let radii: Vec<f64> =
        chosen.par_iter().map(|&v| shrink(&tree, &surface.vertices[v], &normals[v], 0.5 * size)).collect();
    let mut found = vec![None; count];
    chosen.iter().zip(radii).for_each(|(v, radius)| found[*v] = Some(radius));
    spread(surface, &welded, found, 0.5 * size)
}

/// The radius of the ball at p with the outward normal n, no larger than `largest`.
fn shrink(tree: &KdTree<f64, [f64; 3], [f64; 3]>, p: &Vec3, n: &Vec3, largest: f64) -> f64 {
    let mut radius = largest;
    for _ in 0..MAX_SHRINKS {
        let center = p - radius * n;
        let near = tree.nearest(&[center.x, center.y, center.z], 1, &squared_euclidean);
        let Some((distance, q)) =
            near.ok().and_then(|found| found.first().map(|(d, q)| (d.sqrt(), Vec3::from(**q))))
        else {
            break;
        };
        let off = p - q;
        let (squared, along) = (off.norm_squared(), off.dot(n));
        // nothing is inside any more
        if distance >= radius * (1.0 - 1e-3) || along <= 1e-12 * radius || squared == 0.0 {
            break;
        }
        // the other point is a neighbour on a rough surface
        let smaller = squared / (2.0 * along);
        let to_q = (q - (p - smaller * n)) / smaller;
        if n.dot(&to_q) > ROUGH {
            break;
        }
        radius = smaller;
    }
    radius
}

/// For each vertex the first vertex at its place, and there the normal that points out of its shell; 0 elsewhere.
fn outward_normals(surface: &TriMesh) -> (Vec<u32>, Vec<Vec3>) {
    // vertices at one place are one, and triangles that share one are a shell
    let mut at: HashMap<[u64; 3], u32> = HashMap::new();
    let key = |v: &Vec3| [v.x, v.y, v.z].map(|x| (x + 0.0).to_bits());
    let welded: Vec<u32> =
        (0u32..).zip(&surface.vertices).map(|(i, v)| *at.entry(key(v)).or_insert(i)).collect();
    let mut shells = DisjointSets::new(welded.len());
    let corners = |triangle: &[u32; 3]| triangle.map(|v| welded[v as usize] as usize);
    for triangle in &surface.triangles {
        let [a, b, c] = corners(triangle);
        shells.join(a, b);
        shells.join(a, c);
    }

    // signed volume of each shell, about one of its own points
    let mut volume = vec![0.0; welded.len()];
    let mut normals = vec![Vec3::zeros(); welded.len()];
    for triangle in &surface.triangles {
        let places = corners(triangle);
        let shell = shells.find(places[0]);
        let [a, b, c] = places.map(|v| surface.vertices[v]);
        let origin = surface.vertices[shell];
        volume[shell] += (a - origin).cross(&(b - origin)).dot(&(c - origin));
        let area = (b - a).cross(&(c - a));
        places.iter().for_each(|v| normals[*v] += area);
    }

    // out of the shell
    for v in 0..normals.len() {
        let outward = if volume[shells.find(v)] < 0.0 { -1.0 } else { 1.0 };
        normals[v] = normals[v].try_normalize(0.0).map_or_else(Vec3::zeros, |n| outward * n);
    }
    (welded, normals)
}

/// Vertices and points on large triangles, no farther apart than `spacing` (m) unless there are too many.
fn sample_tree(surface: &TriMesh, welded: &[u32], spacing: f64) -> KdTree<f64, [f64; 3], [f64; 3]> {
    let mut tree = KdTree::with_capacity(3, 32);
    let mut add = |p: Vec3| {
        if p.iter().all(|x| x.is_finite()) {
            // a finite point of three coordinates is never refused
            let _ = tree.add([p.x, p.y, p.z], [p.x, p.y, p.z]);
        }
    };
    let own = |v: &usize| welded[*v] as usize == *v;
    (0..welded.len()).filter(own).for_each(|v| add(surface.vertices[v]));
    let area = surface.area();
    let spacing = spacing.max((2.0 * area / MAX_SAMPLES as f64).sqrt());
    for t in 0..surface.triangles.len() {
        let [a, b, c] = surface.corners(t);
        let longest = (b - a).norm().max((c - a).norm()).max((c - b).norm());
        let pieces = (longest / spacing).ceil().min(256.0) as usize;
        for i in 0..=pieces {
            for j in 0..=(pieces - i) {
                let is_corner = (i == 0 && j == 0) || i == pieces || j == pieces;
                if pieces > 1 && !is_corner {
                    let (u, v) = (i as f64 / pieces as f64, j as f64 / pieces as f64);
                    add(a + u * (b - a) + v * (c - a));
                }
            }
        }
    }
    tree
}

/// Gives every vertex the mean of its neighbours, outwards from those that have a value, and smooths it.
fn spread(surface: &TriMesh, welded: &[u32], found: Vec<Option<f64>>, fallback: f64) -> Vec<f64> {
    // neighbours over edges
    let mut edges: Vec<(u32, u32)> = surface
        .triangles
        .iter()
        .flat_map(|t| {
            let [a, b, c] = t.map(|v| welded[v as usize]);
            [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)]
        })
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mean = |values: &[Option<f64>], around: &[(u32, u32)]| {
        let near: Vec<f64> = around.iter().filter_map(|(_, other)| values[*other as usize]).collect();
        (!near.is_empty()).then(|| near.iter().sum::<f64>() / near.len() as f64)
    };

    // outwards until all are reached, and at least so often that it is smooth
    let mut values = found;
    let mut rounds = 0;
    loop {
        let before = values.clone();
        let mut grew = false;
        for around in edges.chunk_by(|a, b| a.0 == b.0) {
            let v = around[0].0 as usize;
            match (before[v], mean(&before, around)) {
                (Some(own), Some(near)) => values[v] = Some(0.5 * (own + near)),
                (None, Some(near)) => {
                    values[v] = Some(near);
                    grew = true;
                }
                _ => {}
            }
        }
        rounds += 1;
        if !grew && rounds >= SMOOTHING {
            break;
        }
    }
    welded.iter().map(|v| values[*v as usize].unwrap_or(fallback)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use sinew_math::real;

    /// The largest ball that touches a sphere from within is the sphere itself; its facets lie up to 1 − cos(π/16) ≈ 2 % inside.
    #[test]
    fn a_sphere_is_as_thick_as_its_radius() {
        let thickness = local_thickness(&shapes::sphere(0.3, 3));
        assert!(thickness.iter().all(|t| (t - 0.3).abs() < 0.02 * 0.3), "{thickness:?}");
    }

    /// A torus of minor radius R = 0.1 has balls of that radius everywhere, whichever way its triangles face.
    ///
    /// Facets lie inside the torus by at most d, the sagittas of the tube and of the outer rim. A sample that is d too deep at the angle θ from p, seen from the centre,
    /// gives a ball of R (1 − d/R / (1 − cos θ)), and cos θ is at most ROUGH. Above R a ball has room between samples: no point of the surface is farther than s/√3
    /// from one, so it comes out by s²/6R at most, which is twice what its radius is too large; it ends within another 1e-3 of that.
    #[test]
    fn a_torus_is_as_thick_as_its_tube_even_if_it_faces_inwards() {
        let (major, minor) = (0.5, 0.1);
        let mut torus = shapes::torus(major, minor, 96, 48);
        let sagitta = |radius: f64, count: f64| radius * (1.0 - real::cos(core::f64::consts::PI / count));
        let deep = sagitta(minor, 48.0) + sagitta(major + minor, 96.0);
        let (low, high) = torus.bounds().expect("points");
        let spacing = SPACING * (high - low).norm();
        let below = deep / (1.0 - ROUGH);
        let above = spacing * spacing / (12.0 * minor) + 1e-3 * minor;
        let fits = |t: &f64| *t > minor - below && *t < minor + above;
        let right = local_thickness(&torus);
        assert!(right.iter().all(fits), "{below} {above} {right:?}");
        torus.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        let turned = local_thickness(&torus);
        assert!(turned.iter().all(fits), "{below} {above} {turned:?}");
    }

    #[test]
    fn nothing_and_a_point_have_no_thickness() {
        assert!(local_thickness(&TriMesh::default()).is_empty());
        let point = TriMesh { vertices: vec![Vec3::zeros(); 3], triangles: vec![[0, 1, 2]] };
        assert_eq!(local_thickness(&point), [0.0; 3]);
    }
}
