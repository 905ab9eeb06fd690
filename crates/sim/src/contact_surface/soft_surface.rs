//! The surface of a body in contact with other soft surfaces: which of its vertices and edges are tested, and over which distances.
//!
//! All lengths are those of the body itself: ℓ, the mean distance of the nodes that carry a vertex, below which nothing deforms, and the local thickness. Neither other bodies nor the resolution of the drawn surface
//! change them. A sheet has no inside: its range is its thickness, half of which it adds to the gap of what comes near, on either side.

use super::coarse_surface::{Coarseness, coarsen};
use super::samples::{Samples, choose_samples};
use crate::body::Body;
use sinew_contact::{CarrierRows, PairSurface, SurfaceEdge};
use sinew_math::Vec3;
use sinew_mesh::{TriMesh, local_thickness};

/// The surface of a body as the broad phase sees it.
#[derive(Clone, Debug)]
pub(super) struct SoftSurface {
    /// ℓ (m).
    pub(super) scale: f64,
    /// The triangles that contact sees: those that are drawn, or fewer where they are much finer than the cage.
    surface: TriMesh,
    /// Nodes that carry each vertex, as compressed rows.
    offsets: Vec<u32>,
    carriers: Vec<u32>,
    /// Vertices that are tested against triangles.
    pub(super) samples: Samples,
    /// The distance at which repulsion of each vertex starts (m).
    pub(super) gap: Vec<f64>,
    /// The depth behind each triangle down to which contact is detected (m).
    range: Vec<f64>,
    edges: Vec<SurfaceEdge>,
    /// The thickness of a body without an inside (m).
    thickness: Option<f64>,
}

/// Repulsion starts at this fraction of ℓ, a millimetre or two on a person.
const GAP: f64 = 0.04;
/// Contact is detected down to this fraction of ℓ,
const RANGE: f64 = 0.4;
/// and of the radius of the flesh: deeper vertices would be pushed out of the far side.
const RANGE_IN_RADIUS: f64 = 0.7;
/// In flesh thinner than that, down to this fraction of ℓ.
const MIN_RANGE: f64 = 0.05;
/// The gap is at most this fraction of the range.
const GAP_IN_RANGE: f64 = 0.5;
/// Triangles are as large as they may be within this fraction of ℓ of every drawn vertex, half of the distance at which repulsion starts,
const COARSE_WITHIN: f64 = 0.02;
/// and with edges no longer than samples are apart, which are its vertices.
const COARSE_EDGE: f64 = SAMPLE_SPACING;
/// Samples are this fraction of ℓ apart, where the surface is fine enough: the cage cannot bulge between them.
const SAMPLE_SPACING: f64 = 0.25;
/// Edges longer than this fraction of ℓ are tested against edges: the vertices of shorter ones are so dense that nothing passes between them.
const LONG_EDGE: f64 = 0.75;
/// The triangles beside a sharp edge are at more than this angle at rest (its cosine, 30°).
const SHARP: f64 = 0.87;

impl SoftSurface {
    pub(super) fn build(body: &Body, node_rest: &[Vec3]) -> SoftSurface {
        // carriers and their distances
        let (drawn, embedding) = body.contact_mesh();
        let (mut offsets, mut carriers) = (vec![0u32], Vec::new());
        let own_rest = &node_rest[body.nodes.clone()];
        for vertex in 0..drawn.vertices.len() {
            carriers.extend(embedding.point(vertex).map(|(node, _)| node));
            offsets.push(carriers.len() as u32);
        }
        let scale = scale(drawn, own_rest, &offsets, &carriers);
        let coarseness = Coarseness { distance: COARSE_WITHIN * scale, max_edge: COARSE_EDGE * scale };
        let surface = coarsen(drawn, coarseness);

        // distances from ℓ and the thickness
        let thickness = body.thickness();
        let radius = if thickness.is_some() { Vec::new() } else { local_thickness(drawn) };
        let depth = |v: u32| {
            let thick = || (RANGE * scale).min(RANGE_IN_RADIUS * radius[v as usize]).max(MIN_RANGE * scale);
            thickness.unwrap_or_else(thick)
        };
        let range: Vec<f64> = surface
            .triangles
            .iter()
            .map(|corners| corners.iter().map(|v| depth(*v)).fold(f64::INFINITY, f64::min))
            .collect();
        let count = surface.vertices.len() as u32;
        // of two sheets each adds half of its thickness
        let gap_at =
            |v: u32| thickness.map_or_else(|| (GAP * scale).min(GAP_IN_RANGE * depth(v)), |t| 0.5 * t);
        let gap = (0..count).map(gap_at).collect();
        SoftSurface {
            scale,
            samples: choose_samples(&surface, SAMPLE_SPACING * scale),
            gap,
            range,
            edges: long_edges(&surface, LONG_EDGE * scale),
            surface,
            offsets,
            carriers,
            thickness,
        }
    }

    /// The range within which contact is detected where flesh is thick (m).
    pub(super) fn nominal_range(&self) -> f64 {
        self.thickness.unwrap_or(RANGE * self.scale)
    }

    pub(super) fn as_pair_surface<'a>(
        &'a self,
        collides_with_itself: bool,
        collides_with_others: bool,
    ) -> PairSurface<'a> {
        PairSurface {
            triangles: &self.surface.triangles,
            rest: &self.surface.vertices,
            carriers: CarrierRows { offsets: &self.offsets, carriers: &self.carriers },
            is_sample: &self.samples.is_sample,
            gap: &self.gap,
            range: &self.range,
            edges: &self.edges,
            is_two_sided: self.thickness.is_some(),
            nominal_range: self.nominal_range(),
            collides_with_itself,
            collides_with_others,
        }
    }

    /// Whether each vertex is a corner of a triangle.
    pub(super) fn corners(&self) -> Vec<bool> {
        let mut is_corner = vec![false; self.surface.vertices.len()];
        self.surface.triangles.iter().flatten().for_each(|v| is_corner[*v as usize] = true);
        is_corner
    }

    /// Whether each edge is sharp.
    pub(super) fn sharp_edges(&self) -> impl Iterator<Item = bool> {
        self.edges.iter().map(|edge| is_sharp(&self.surface, edge))
    }

    /// A vertex that never collides, and its edges.
    pub(super) fn drop_vertex(&mut self, vertex: usize) {
        self.samples.is_sample[vertex] = false;
        self.gap[vertex] = f64::NEG_INFINITY;
    }

    /// Removes the edges of dropped vertices.
    pub(super) fn drop_edges(&mut self) {
        let gap = &self.gap;
        self.edges.retain(|edge| edge.ends.iter().all(|v| gap[*v as usize].is_finite()));
    }
}

/// The mean distance of the carriers of vertices (m); for vertices that are nodes themselves the mean length of edges.
fn scale(surface: &TriMesh, own_rest: &[Vec3], offsets: &[u32], carriers: &[u32]) -> f64 {
    let rows = offsets.windows(2).map(|row| &carriers[row[0] as usize..row[1] as usize]);
    let carried =
        rows.flat_map(|row| (0..row.len()).flat_map(move |i| (0..i).map(move |j| [row[i], row[j]])));
    let carried = carried.map(|pair| pair.map(|node| own_rest[node as usize]));
    let edges = (0..surface.triangles.len()).flat_map(|t| {
        let [a, b, c] = surface.corners(t);
        [[a, b], [b, c], [c, a]]
    });
    mean_length(carried).or_else(|| mean_length(edges)).unwrap_or(1.0)
}

fn mean_length(pairs: impl Iterator<Item = [Vec3; 2]>) -> Option<f64> {
    let (sum, count) = pairs.fold((0.0, 0usize), |(sum, count), [a, b]| (sum + (a - b).norm(), count + 1));
    (sum > 0.0).then(|| sum / count as f64)
}

/// The edges longer than a length (m), each once; where more than two triangles meet, with the first two.
fn long_edges(surface: &TriMesh, length: f64) -> Vec<SurfaceEdge> {
    // half-edges with their third corners, sorted by ends
    let mut halves: Vec<([u32; 2], u32, bool)> = Vec::new();
    for &[a, b, c] in &surface.triangles {
        for (a, b, c) in [(a, b, c), (b, c, a), (c, a, b)] {
            if (surface.vertices[a as usize] - surface.vertices[b as usize]).norm() > length {
                halves.push(([a.min(b), a.max(b)], c, a < b));
            }
        }
    }
    halves.sort_unstable();
    let edge = |group: &[([u32; 2], u32, bool)]| {
        let ahead = group.iter().find(|half| half.2).unwrap_or(&group[0]);
        let back = group.iter().find(|half| !half.2).unwrap_or(ahead);
        SurfaceEdge { ends: ahead.0, wings: [ahead.1, back.1] }
    };
    halves.chunk_by(|a, b| a.0 == b.0).map(edge).collect()
}

/// Whether an edge is convex and its triangles are at an angle at rest, or it is a border.
fn is_sharp(surface: &TriMesh, SurfaceEdge { ends, wings }: &SurfaceEdge) -> bool {
    let at = |v: u32| surface.vertices[v as usize];
    let [a, b] = ends.map(at);
    let [c, d] = wings.map(at);
    if wings[0] == wings[1] {
        return true;
    }
    let (ahead, back) = ((b - a).cross(&(c - a)), (a - b).cross(&(d - b)));
    ahead.dot(&back) < SHARP * ahead.norm() * back.norm() && ahead.dot(&(d - a)) < 0.0
}
