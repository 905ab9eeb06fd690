//! The separate pieces of the solid in one lattice tet.
//!
//! The one idea: surface that hangs together within the tet bounds one piece, so a tet with one patch
//! of surface has one piece, whatever its shape. Where there are several patches, [`Links`] tells which
//! belong together. In doubt pieces are one: a body glued too much is mild, one that falls apart is
//! not. What meets across tets is for [`super::joining`].

use super::cells::{CellKind, Cells, Cut};
use super::clip::{Clip, segment_meets};
use super::filling::{SAMPLES, samples};
use super::lattice::{Frame, to_vec};
use super::links::Links;
use super::visibility::CellVisibility;
use crate::Solid;
use crate::disjoint_sets::DisjointSets;
use sinew_math::Vec3;

/// The pieces of one cell.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    pub(crate) pieces: Vec<Piece>,
    /// The piece of each of the cell's cuts.
    pub(crate) cut_piece: Vec<u32>,
    /// The piece at each sample of each face, where that is inside; empty for a single piece.
    pub(crate) face_piece: Vec<[Option<u32>; FACE_SAMPLES]>,
}

/// One piece: what it fills of its tet, as fractions of the tet's volume.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Piece {
    pub(crate) fill: f64,
    /// ∫ φᵢ dV over the piece, for each corner.
    pub(crate) corners: [f64; 4],
}

/// Points per face that are asked whether the solid passes through there.
pub(crate) const FACE_SAMPLES: usize = 7;

/// Where on a face, over its corners in order of place: both tets at a face ask at the same points.
const FACE_POINTS: [[f64; 3]; FACE_SAMPLES] = [
    [0.334, 0.333, 0.333],
    [0.7, 0.16, 0.14],
    [0.14, 0.7, 0.16],
    [0.16, 0.14, 0.7],
    [0.45, 0.43, 0.12],
    [0.12, 0.45, 0.43],
    [0.43, 0.12, 0.45],
];

impl Pieces {
    pub(crate) fn find(solid: &Solid, cells: &Cells, cell: usize) -> Self {
        if cells.kinds[cell] == CellKind::Full {
            let full = Piece { fill: 1.0, corners: [0.25; 4] };
            return Self { pieces: vec![full], cut_piece: Vec::new(), face_piece: Vec::new() };
        }
        let frame = Frame::of(cells.keys[cell]);
        let cuts = cells.cuts(cell);
        let mut patches = find_patches(solid, cells, &frame, cuts);
        let mut visibility = CellVisibility::new(solid, cells, cell);
        let inside: Vec<[f64; 4]> =
            samples(cells.keys[cell]).filter(|b| visibility.contains(&frame.point(b))).collect();

        let (patch, patch_count) = patches.number();
        // where the inside ends without a wall, nothing tells pieces apart
        let tell_apart = patch_count > 1 && !visibility.near_opening();
        let links = tell_apart.then(|| Links::find(&frame, visibility, &patch, patch_count, &inside));
        match links {
            Some(links) if links.piece_count > 1 => links.into_pieces(cells, &frame, cuts, &patch, &inside),
            _ => Self {
                pieces: vec![Piece::of(&inside, || middle_of(cells, solid, &frame, cuts))],
                cut_piece: vec![0; cuts.len()],
                face_piece: Vec::new(),
            },
        }
    }
}

impl Pieces {
    /// The piece that fills most.
    pub(crate) fn largest(&self) -> u32 {
        let fill = |p: &usize| self.pieces[*p].fill;
        (0..self.pieces.len()).max_by(|a, b| fill(a).total_cmp(&fill(b)).then(b.cmp(a))).unwrap_or(0) as u32
    }
}

impl Piece {
    /// A piece with the given samples; without any it fills half a sample about its surface, so that
    /// it has mass.
    pub(crate) fn of(samples: &[[f64; 4]], middle: impl FnOnce() -> [f64; 4]) -> Self {
        let fraction = 1.0 / SAMPLES as f64;
        let mut piece = Self::default();
        for b in samples {
            piece.fill += fraction;
            piece.corners = [0, 1, 2, 3].map(|i| piece.corners[i] + fraction * b[i]);
        }
        if samples.is_empty() {
            piece.fill = 0.5 * fraction;
            piece.corners = middle().map(|b| piece.fill * b);
        }
        piece
    }
}

/// Joins triangles that share an edge or a vertex within the tet.
fn find_patches(solid: &Solid, cells: &Cells, frame: &Frame, cuts: &[Cut]) -> DisjointSets {
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
        if same.len() > 1 && segment_meets(frame, place(a), place(b)) {
            same[1..].iter().for_each(|e| patches.join(first, e.2));
        }
        ends.extend(same.iter().flat_map(|e| [(e.0, e.2), (e.1, e.2)]));
    }
    ends.sort_unstable();
    for same in ends.chunk_by(|p, q| p.0 == q.0) {
        let p = place(same[0].0);
        if segment_meets(frame, p, p) {
            same[1..].iter().for_each(|e| patches.join(same[0].1, e.1));
        }
    }
    patches
}

/// The mean place of the surface in a tet.
pub(crate) fn middle_of(cells: &Cells, solid: &Solid, frame: &Frame, cuts: &[Cut]) -> [f64; 4] {
    let middles = cuts.iter().filter_map(|cut| {
        let corners = solid.triangles[cut.triangle as usize].map(|v| cells.vertices[v as usize]);
        Some(Clip::of(frame, &corners)?.middle())
    });
    let (sum, count) =
        middles.fold(([0.0; 4], 0.0), |(sum, n), b| ([0, 1, 2, 3].map(|i| sum[i] + b[i]), n + 1.0));
    let whole: f64 = sum.iter().sum();
    if count > 0.0 && whole > 0.0 { sum.map(|s| s / whole) } else { [0.25; 4] }
}

/// The points on face `i` of a tet where both of its tets ask (lattice).
pub(crate) fn face_points(frame: &Frame, i: usize) -> [Vec3; FACE_SAMPLES] {
    let mut corners: Vec<[i32; 3]> =
        frame.corners().into_iter().enumerate().filter(|&(j, _)| j != i).map(|(_, c)| c).collect();
    corners.sort_unstable();
    FACE_POINTS.map(|b| (0..3).map(|j| b[j] * to_vec(corners[j])).sum())
}
