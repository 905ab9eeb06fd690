//! The connected fragments of the solid in one lattice tet.
//!
//! Surface that is connected within the tet bounds one fragment, so a tet with one surface patch has one fragment, whatever its
//! shape. Where there are several patches, [`PatchConnectivity`] decides which bound the same fragment. In doubt fragments are
//! merged: a body with too many connections behaves mildly, one that falls apart does not. Adjacency across tets is the matter of
//! [`super::virtual_nodes`].

use super::cells::{CellKind, Cells, Cut};
use super::clip::{Clip, segment_intersects};
use super::fill_sampling::{SAMPLES, samples};
use super::lattice::{LatticeTet, to_vec};
use super::patch_connectivity::PatchConnectivity;
use super::visibility::CellVisibility;
use crate::Solid;
use crate::disjoint_sets::DisjointSets;
use sinew_math::Vec3;

/// The fragments of one cell.
#[derive(Clone, Debug)]
pub(crate) struct CellFragments {
    pub(crate) fragments: Vec<Fragment>,
    /// The fragment of each cut of the cell.
    pub(crate) cut_fragment: Vec<u32>,
    /// The fragment at each sample point of each face, where that is inside; empty for a single fragment.
    pub(crate) face_fragment: Vec<[Option<u32>; FACE_SAMPLES]>,
}

/// One fragment: its fill, as a fraction of the volume of the tet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Fragment {
    pub(crate) fill: f64,
    /// ∫ φᵢ dV over the fragment, for each corner, relative to the volume of the tet.
    pub(crate) corners: [f64; 4],
}

/// Sample points per face, where the solid may pass through.
pub(crate) const FACE_SAMPLES: usize = 7;

/// Barycentric coordinates of the samples over the corners in lattice order: both tets at a face test the same points.
const FACE_POINTS: [[f64; 3]; FACE_SAMPLES] = [
    [0.334, 0.333, 0.333],
    [0.7, 0.16, 0.14],
    [0.14, 0.7, 0.16],
    [0.16, 0.14, 0.7],
    [0.45, 0.43, 0.12],
    [0.12, 0.45, 0.43],
    [0.43, 0.12, 0.45],
];

impl CellFragments {
    pub(crate) fn find(solid: &Solid, cells: &Cells, cell: usize) -> Self {
        if cells.kinds[cell] == CellKind::Full {
            let full = Fragment { fill: 1.0, corners: [0.25; 4] };
            return Self { fragments: vec![full], cut_fragment: Vec::new(), face_fragment: Vec::new() };
        }
        let tet = LatticeTet::of(cells.keys[cell]);
        let cuts = cells.cuts(cell);
        let mut patches = find_patches(solid, cells, &tet, cuts);
        let mut visibility = CellVisibility::new(solid, cells, cell);
        let inside: Vec<[f64; 4]> =
            samples(cells.keys[cell]).filter(|b| visibility.contains(&tet.point(b))).collect();

        let (patch, patch_count) = patches.number();
        // where the inside ends without a triangle, nothing separates fragments
        let tell_apart = patch_count > 1 && !visibility.near_opening();
        let connectivity =
            tell_apart.then(|| PatchConnectivity::find(&tet, visibility, &patch, patch_count, &inside));
        match connectivity {
            Some(connectivity) if connectivity.fragment_count > 1 => {
                connectivity.into_fragments(cells, &tet, cuts, &patch, &inside)
            }
            _ => Self {
                fragments: vec![Fragment::of(&inside, || surface_centroid(cells, solid, &tet, cuts))],
                cut_fragment: vec![0; cuts.len()],
                face_fragment: Vec::new(),
            },
        }
    }
}

impl CellFragments {
    /// The fragment with the largest fill.
    pub(crate) fn largest(&self) -> u32 {
        let fill = |p: &usize| self.fragments[*p].fill;
        (0..self.fragments.len()).max_by(|a, b| fill(a).total_cmp(&fill(b)).then(b.cmp(a))).unwrap_or(0)
            as u32
    }
}

impl Fragment {
    /// A fragment with the given inside samples. Without any it fills half a sample at its surface, so that it has mass.
    pub(crate) fn of(samples: &[[f64; 4]], middle: impl FnOnce() -> [f64; 4]) -> Self {
        let fraction = 1.0 / SAMPLES as f64;
        let mut fragment = Self::default();
        for b in samples {
            fragment.fill += fraction;
            fragment.corners = [0, 1, 2, 3].map(|i| fragment.corners[i] + fraction * b[i]);
        }
        if samples.is_empty() {
            fragment.fill = 0.5 * fraction;
            fragment.corners = middle().map(|b| fragment.fill * b);
        }
        fragment
    }
}

/// Joins triangles that share an edge or a vertex within the tet.
fn find_patches(solid: &Solid, cells: &Cells, tet: &LatticeTet, cuts: &[Cut]) -> DisjointSets {
    let mut patches = DisjointSets::new(cuts.len());
    let mut edges = Vec::with_capacity(3 * cuts.len());
    for (i, cut) in cuts.iter().enumerate() {
        let corners = solid.triangles[cut.triangle as usize].map(|v| solid.welded[v as usize]);
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            edges.push((a.min(b), a.max(b), i));
        }
    }
    edges.sort_unstable();
    let place = |v: u32| &cells.vertices[v as usize];
    let mut ends = Vec::new();
    for same in edges.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
        let (a, b, first) = same[0];
        if same.len() > 1 && segment_intersects(tet, place(a), place(b)) {
            same[1..].iter().for_each(|e| patches.join(first, e.2));
        }
        ends.extend(same.iter().flat_map(|e| [(e.0, e.2), (e.1, e.2)]));
    }
    ends.sort_unstable();
    for same in ends.chunk_by(|p, q| p.0 == q.0) {
        let p = place(same[0].0);
        if segment_intersects(tet, p, p) {
            same[1..].iter().for_each(|e| patches.join(same[0].1, e.1));
        }
    }
    patches
}

/// The mean position of the surface in a tet, in barycentric coordinates.
pub(crate) fn surface_centroid(cells: &Cells, solid: &Solid, tet: &LatticeTet, cuts: &[Cut]) -> [f64; 4] {
    let middles = cuts.iter().filter_map(|cut| {
        let corners = solid.triangles[cut.triangle as usize].map(|v| cells.vertices[v as usize]);
        Some(Clip::of(tet, &corners)?.centroid())
    });
    let (sum, count) =
        middles.fold(([0.0; 4], 0.0), |(sum, n), b| ([0, 1, 2, 3].map(|i| sum[i] + b[i]), n + 1.0));
    let whole: f64 = sum.iter().sum();
    if count > 0.0 && whole > 0.0 { sum.map(|s| s / whole) } else { [0.25; 4] }
}

/// The sample points on face `i` of a tet (lattice coordinates), the same for both of its tets.
pub(crate) fn face_points(tet: &LatticeTet, i: usize) -> [Vec3; FACE_SAMPLES] {
    let mut corners: Vec<[i32; 3]> =
        tet.corners().into_iter().enumerate().filter(|&(j, _)| j != i).map(|(_, c)| c).collect();
    corners.sort_unstable();
    FACE_POINTS.map(|b| (0..3).map(|j| b[j] * to_vec(corners[j])).sum())
}
