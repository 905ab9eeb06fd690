//! Plane section of a surface: closed polylines, as points embedded in the surface.

use crate::body::Body;
use crate::constraint::{NodeRow, belt, combined};
use sinew_math::Vec3;
use std::collections::BTreeMap;

/// A closed polyline on the surface of a body at rest.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Vertices (m), one on each edge that is cut.
    pub(crate) points: Vec<Vec3>,
    /// The edges that contain them.
    edges: Vec<CutEdge>,
}

/// A surface edge cut by the plane.
#[derive(Clone, Copy, Debug)]
struct CutEdge {
    /// Vertices at both ends.
    ends: [u32; 2],
    /// Position of the cut along the edge, from 0 to 1.
    fraction: f64,
}

/// All closed polylines in which the plane through `center` cuts the surface of a body.
pub(crate) fn find_loops(body: &Body, center: &Vec3, normal: &Vec3) -> Vec<Loop> {
    let surface = &body.surface;
    let same = welded(&surface.vertices);
    // a vertex on the plane counts as above it, so that no polyline passes through a vertex
    let height = |v: u32| (surface.vertices[v as usize] - center).dot(normal);
    let mut ahead: BTreeMap<[u32; 2], [u32; 2]> = BTreeMap::new();

    // each cut triangle links the edge where the polyline enters to the one where it leaves
    for triangle in &surface.triangles {
        let corners = triangle.map(|v| same[v as usize]);
        let above = corners.map(|v| height(v) >= 0.0);
        let (mut goes_in, mut goes_out) = (None, None);
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            match (above[k], above[(k + 1) % 3]) {
                (true, false) => goes_in = Some(edge(a, b)),
                (false, true) => goes_out = Some(edge(a, b)),
                _ => {}
            }
        }
        if let (Some(from), Some(to)) = (goes_in, goes_out) {
            ahead.insert(from, to);
        }
    }

    // follow the links to closed loops
    let mut loops = Vec::new();
    while let Some((&start, _)) = ahead.first_key_value() {
        let mut edges = Vec::new();
        let mut at = start;
        while let Some(next) = ahead.remove(&at) {
            edges.push(at);
            at = next;
        }
        if at == start && edges.len() > 2 {
            loops.push(cut_loop(&surface.vertices, &edges, height));
        }
    }
    loops
}

impl Loop {
    /// Length of the polyline (m).
    pub(crate) fn length(&self) -> f64 {
        belt::length(&self.points)
    }

    /// Centroid of the polyline (m).
    pub(crate) fn middle(&self) -> Vec3 {
        let sides = (0..self.points.len()).map(|i| (belt::side(&self.points, i), self.points[i]));
        let sum: Vec3 = sides.map(|(side, from)| side.norm() * (from + 0.5 * side)).sum();
        sum / self.length()
    }

    /// `count` points evenly spaced along the polyline, as weighted nodes of the model.
    pub(crate) fn rows(&self, body: &Body, count: usize) -> Vec<NodeRow> {
        let step = self.length() / count as f64;
        let (mut rows, mut passed, mut i) = (Vec::with_capacity(count), 0.0, 0);
        for k in 0..count {
            let wanted = step * k as f64;
            let mut side = belt::side(&self.points, i).norm();
            while i + 1 < self.points.len() && passed + side < wanted {
                passed += side;
                i += 1;
                side = belt::side(&self.points, i).norm();
            }
            let fraction = if side > 0.0 { ((wanted - passed) / side).clamp(0.0, 1.0) } else { 0.0 };
            let (here, next) = (self.edges[i], self.edges[(i + 1) % self.edges.len()]);
            let ends = [
                (here.ends[0], (1.0 - fraction) * (1.0 - here.fraction)),
                (here.ends[1], (1.0 - fraction) * here.fraction),
                (next.ends[0], fraction * (1.0 - next.fraction)),
                (next.ends[1], fraction * next.fraction),
            ];
            rows.push(vertex_row(body, &ends));
        }
        rows
    }
}

/// Weighted vertices of a body's surface as weighted nodes of the model.
pub(crate) fn vertex_row(body: &Body, vertices: &[(u32, f64)]) -> NodeRow {
    let first = body.nodes.start as u32;
    let rows: Vec<(NodeRow, f64)> = vertices
        .iter()
        .map(|(vertex, weight)| {
            let row = body.embedding.point(*vertex as usize);
            (row.map(|(node, weight)| (node + first, weight)).collect(), *weight)
        })
        .collect();
    combined(&rows.iter().map(|(row, weight)| (row.as_slice(), *weight)).collect::<Vec<_>>())
}

fn cut_loop(vertices: &[Vec3], edges: &[[u32; 2]], height: impl Fn(u32) -> f64) -> Loop {
    let place = |&ends: &[u32; 2]| {
        let [low, high] = ends.map(&height);
        CutEdge { ends, fraction: low / (low - high) }
    };
    let edges: Vec<CutEdge> = edges.iter().map(place).collect();
    let point = |edge: &CutEdge| {
        let [a, b] = edge.ends.map(|end| vertices[end as usize]);
        a + edge.fraction * (b - a)
    };
    Loop { points: edges.iter().map(point).collect(), edges }
}

fn edge(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Maps each vertex to the first one at the same position: texture seams do not split the surface.
fn welded(vertices: &[Vec3]) -> Vec<u32> {
    let key = |v: &Vec3| [v.x, v.y, v.z].map(|x| (x + 0.0).to_bits());
    let mut first: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let own = |(i, v): (usize, &Vec3)| *first.entry(key(v)).or_insert(i as u32);
    vertices.iter().enumerate().map(own).collect()
}
