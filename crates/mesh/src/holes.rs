//! Hole detection and closing: loops of boundary edges, each closed by a triangle fan.
//!
//! The boundary of any set of triangles consists of loops, and a fan from the centroid of a loop closes it. The winding number
//! decides whether it should: across a true hole it falls from 1 to 0 and is near one half on the fan; between torn pieces of one
//! skin it is not.

use crate::WindingTree;
use crate::disjoint_sets::DisjointSets;
use crate::orientation::Orientation;
use sinew_math::Vec3;

/// All boundary loops of a surface.
#[derive(Clone, Debug)]
pub(crate) struct Holes {
    pub(crate) holes: Vec<Hole>,
    pub(crate) edge_count: usize,
}

/// One connected loop of boundary edges.
#[derive(Clone, Debug)]
pub(crate) struct Hole {
    /// Directed edges, as in their triangles.
    pub(crate) edges: Vec<[u32; 2]>,
    /// The apex of the fan: the length-weighted centroid of the edges (m).
    pub(crate) apex: Vec3,
    /// Area (m²) of the shell with the hole.
    shell_area: f64,
}

/// A fan with more than this fraction of the area of its shell lies against it: the shell is an open sheet, not a container.
const MAX_FAN_FRACTION: f64 = 0.9;

/// The largest mean deviation of the winding number (mod 1) from one half over a fan. For a round hole in a large body it is at
/// most a few hundredths; for a gap between torn pieces it is one half.
const MAX_DEVIATION: f64 = 0.2;

impl Holes {
    pub(crate) fn find(vertices: &[Vec3], surface: &Orientation) -> Self {
        let mut sets = DisjointSets::new(vertices.len());
        let mut edges = Vec::new();
        for uses in surface.edge_uses().chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let net: i64 = uses.iter().map(|u| if u.3 { 1 } else { -1 }).sum();
            let (low, high) = (uses[0].0, uses[0].1);
            let edge = if net > 0 { [low, high] } else { [high, low] };
            for _ in 0..net.unsigned_abs() {
                edges.push(edge);
                sets.join(low as usize, high as usize);
            }
        }
        let shell_area = shell_areas(vertices, surface);

        let edge_count = edges.len();
        let mut grouped: Vec<(usize, [u32; 2])> =
            edges.into_iter().map(|e| (sets.find(e[0] as usize), e)).collect();
        grouped.sort_unstable();
        let holes = grouped
            .chunk_by(|a, b| a.0 == b.0)
            .map(|group| {
                let edges: Vec<[u32; 2]> = group.iter().map(|g| g.1).collect();
                let apex = middle(vertices, &edges);
                Hole { shell_area: shell_area[edges[0][0] as usize], edges, apex }
            })
            .collect();
        Self { holes, edge_count }
    }
}

impl Hole {
    /// Whether a fan should close the hole.
    pub(crate) fn should_close(&self, vertices: &[Vec3], tree: &WindingTree) -> bool {
        let (mut area, mut off) = (0.0, 0.0);
        for &[a, b] in &self.edges {
            let [a, b] = [vertices[a as usize], vertices[b as usize]];
            let fraction = 0.5 * (a - self.apex).cross(&(b - self.apex)).norm();
            let w = tree.winding_number(&((a + b + self.apex) / 3.0));
            area += fraction;
            off += fraction * (w - w.floor() - 0.5).abs();
        }
        // a slit: closing it adds no volume
        let slit = area <= 1e-6 * self.shell_area;
        slit || (area <= MAX_FAN_FRACTION * self.shell_area && off <= MAX_DEVIATION * area)
    }
}

/// The length-weighted centroid of the edges.
fn middle(vertices: &[Vec3], edges: &[[u32; 2]]) -> Vec3 {
    let (mut length, mut sum) = (0.0, Vec3::zeros());
    for &[a, b] in edges {
        let [a, b] = [vertices[a as usize], vertices[b as usize]];
        length += (b - a).norm();
        sum += (b - a).norm() * (a + b) / 2.0;
    }
    if length > 0.0 { sum / length } else { vertices[edges[0][0] as usize] }
}

/// The area (m²) of the shell of each welded vertex.
fn shell_areas(vertices: &[Vec3], surface: &Orientation) -> Vec<f64> {
    let mut shells = DisjointSets::new(vertices.len());
    let active = || (0..surface.triangles.len()).filter(|&t| surface.active[t]);
    for t in active() {
        let [a, b, c] = surface.welded_corners(t).map(|v| v as usize);
        shells.join(a, b);
        shells.join(a, c);
    }
    let mut area = vec![0.0; vertices.len()];
    for t in active() {
        let corners = surface.welded_corners(t);
        let [a, b, c] = corners.map(|v| vertices[v as usize]);
        area[shells.find(corners[0] as usize)] += 0.5 * (b - a).cross(&(c - a)).norm();
    }
    (0..vertices.len()).map(|v| area[shells.find(v)]).collect()
}
