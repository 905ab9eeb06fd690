//! The separate pieces of the solid in one lattice tet.
//!
//! The one idea: surface that hangs together within the tet bounds one piece, so a tet with one patch
//! of surface has one piece, whatever its shape. Where there are several patches, they are linked by
//! what lies between them: a ray inwards that meets another patch first, or chains of inside points
//! that see each other. In doubt pieces are one: a body glued too much is mild, one that falls apart
//! is not. Linking across tets is for [`super::joining`].

use super::cells::{CellKind, Cells, Cut};
use super::clip::{Clip, segment_meets};
use super::filling::{SAMPLES, samples};
use super::lattice::{Frame, to_vec};
use super::sight::Sight;
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

/// One piece: what it fills of its tet, as shares of the tet's volume.
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

/// Rays cast inwards per patch: a patch that lies along another over a twelfth of its triangles is
/// linked.
const RAYS_PER_PATCH: usize = 12;

/// How far off a triangle (lattice units) its two sides are asked for.
const LIFT: f64 = 1e-6;

/// Each inside point looks for this many of its nearest: enough that points spread evenly over a
/// convex region form one chain.
const NEAREST: usize = 10;

impl Pieces {
    pub(crate) fn find(solid: &Solid, cells: &Cells, cell: usize) -> Self {
        if cells.kinds[cell] == CellKind::Full {
            let full = Piece { fill: 1.0, corners: [0.25; 4] };
            return Self { pieces: vec![full], cut_piece: Vec::new(), face_piece: Vec::new() };
        }
        let frame = Frame::of(cells.keys[cell]);
        let cuts = cells.cuts(cell);
        let mut patches = find_patches(solid, cells, &frame, cuts);
        let mut sight = Sight::new(solid, cells, cell);
        let inside: Vec<[f64; 4]> =
            samples(cells.keys[cell]).filter(|b| sight.contains(&frame.point(b))).collect();

        let (patch, patch_count) = patches.number();
        // where the inside ends without a wall, nothing tells pieces apart
        let tell_apart = patch_count > 1 && !sight.near_opening();
        let links = tell_apart.then(|| Links::find(solid, &frame, sight, &patch, patch_count, &inside));
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
    fn of(samples: &[[f64; 4]], middle: impl FnOnce() -> [f64; 4]) -> Self {
        let share = 1.0 / SAMPLES as f64;
        let mut piece = Self::default();
        for b in samples {
            piece.fill += share;
            piece.corners = [0, 1, 2, 3].map(|i| piece.corners[i] + share * b[i]);
        }
        if samples.is_empty() {
            piece.fill = 0.5 * share;
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
fn middle_of(cells: &Cells, solid: &Solid, frame: &Frame, cuts: &[Cut]) -> [f64; 4] {
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

/// Which patches and inside points of a tet belong together.
///
/// Members are numbered: the patches first, then the points.
struct Links<'a> {
    solid: &'a Solid,
    sets: DisjointSets,
    patch_count: usize,
    points: Vec<Vec3>,
    /// The first member that is a volume sample, and the face and number of each face sample.
    first_sample: usize,
    face_samples: Vec<(usize, usize)>,
    piece_count: usize,
}

impl<'a> Links<'a> {
    fn find(
        solid: &'a Solid,
        frame: &Frame,
        mut sight: Sight<'_>,
        patch: &[u32],
        patch_count: usize,
        inside: &[[f64; 4]],
    ) -> Self {
        let mut links = Self {
            solid,
            sets: DisjointSets::new(patch_count),
            patch_count,
            points: Vec::new(),
            first_sample: 0,
            face_samples: Vec::new(),
            piece_count: 0,
        };
        if solid.overlaps() || !solid.closed {
            find_inner_walls(frame, &mut sight);
            links.join_what_intersects(frame, &sight, patch);
        }
        links.cast_rays(frame, &mut sight, patch);
        if links.count_patch_groups() > 1 {
            links.first_sample = links.members();
            inside.iter().for_each(|b| links.add(frame.point(b)));
            links.add_face_samples(frame, &mut sight);
            links.join_what_sees_each_other(&sight);
            links.give_strays_to_the_nearest();
        }
        links.piece_count = links.count_patch_groups();
        links
    }

    fn members(&self) -> usize {
        self.patch_count + self.points.len()
    }

    fn add(&mut self, p: Vec3) {
        self.points.push(p);
        self.sets.grow();
    }

    fn add_to_patch(&mut self, p: Vec3, patch: usize) {
        self.add(p);
        self.sets.join(patch, self.members() - 1);
    }

    fn count_patch_groups(&mut self) -> usize {
        (0..self.patch_count).filter(|&p| self.sets.find(p) == p).count()
    }

    /// From some triangles of each patch, looks inwards: the solid reaches from there to whatever
    /// boundary comes first, or to the end of the tet.
    fn cast_rays(&mut self, frame: &Frame, sight: &mut Sight<'_>, patch: &[u32]) {
        let mut of_patch = vec![Vec::new(); self.patch_count];
        for (i, &p) in patch.iter().enumerate() {
            of_patch[p as usize].push(i);
        }
        for (p, members) in of_patch.iter().enumerate() {
            let stride = members.len().div_ceil(RAYS_PER_PATCH);
            for &i in members.iter().step_by(stride) {
                self.cast_ray(frame, sight, patch, p, i);
            }
        }
    }

    fn cast_ray(&mut self, frame: &Frame, sight: &mut Sight<'_>, patch: &[u32], p: usize, i: usize) {
        let facet = sight.triangles[i];
        let Some(clip) = Clip::of(frame, &facet.corners).filter(|_| facet.active) else { return };
        let from = frame.point(&clip.middle());
        let inwards = -facet.normal / facet.normal.norm();
        if !facet.blocks {
            // a wall inside the solid, or one outside it: what is inside on either side belongs to it
            for side in [from - LIFT * inwards, from + LIFT * inwards] {
                if sight.contains(&side) {
                    self.add_to_patch(side, p);
                }
            }
            return;
        }
        let end = from + way_out(frame, &from, &inwards) * inwards;
        let hit = sight.first_hit(&(from + 2.0 * super::clip::FAT * inwards), &end, i);
        let depth = hit.map_or(1.0, |h| h.1);
        let middle = from + 0.5 * depth * (end - from);
        if depth * (end - from).norm() > 4.0 * super::clip::FAT && sight.contains(&middle) {
            self.add_to_patch(middle, p);
            if depth * (end - from).norm() > 4.0 * LIFT {
                self.add_to_patch(from + LIFT * inwards, p);
            }
            if let Some((other, _)) = hit {
                self.sets.join(p, patch[other] as usize);
            }
        }
    }

    /// Patches that pass through each other in the tet bound one body there.
    fn join_what_intersects(&mut self, frame: &Frame, sight: &Sight<'_>, patch: &[u32]) {
        for i in 0..patch.len() {
            for j in (0..patch.len()).filter(|&j| patch[j] != patch[i]) {
                let (p, q) = (patch[i] as usize, patch[j] as usize);
                let crossing = || sight.triangles[i].edge_crossing(&sight.triangles[j]);
                if !self.sets.joined(p, q) && crossing().is_some_and(|x| segment_meets(frame, &x, &x)) {
                    self.sets.join(p, q);
                }
            }
        }
    }

    fn add_face_samples(&mut self, frame: &Frame, sight: &mut Sight<'_>) {
        for i in 0..4 {
            for (k, p) in face_points(frame, i).into_iter().enumerate() {
                if sight.contains(&p) {
                    self.face_samples.push((i, k));
                    self.add(p);
                }
            }
        }
    }

    fn join_what_sees_each_other(&mut self, sight: &Sight<'_>) {
        let mut near: Vec<(f64, usize)> = Vec::with_capacity(self.points.len());
        for i in 0..self.points.len() {
            let p = self.points[i];
            near.clear();
            near.extend(self.points.iter().enumerate().map(|(j, q)| ((q - p).norm_squared(), j)));
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for &(_, j) in near.iter().skip(1).take(NEAREST) {
                self.join_if_seen(sight, i, j);
            }
        }
        // the points at patches are the ones that decide: each looks at all others
        for i in 0..self.first_sample - self.patch_count {
            for j in 0..i {
                self.join_if_seen(sight, i, j);
            }
        }
    }

    fn join_if_seen(&mut self, sight: &Sight<'_>, i: usize, j: usize) {
        let (a, b) = (self.patch_count + i, self.patch_count + j);
        if !self.sets.joined(a, b) && !sight.blocked(&self.points[i], &self.points[j]) {
            self.sets.join(a, b);
        }
    }

    /// Points linked to no patch go where the nearest linked point is.
    fn give_strays_to_the_nearest(&mut self) {
        let is_linked: Vec<bool> =
            (0..self.members()).map(|m| self.sets.find(m) < self.patch_count).collect();
        for i in (0..self.points.len()).filter(|i| !is_linked[self.patch_count + i]) {
            let distance = |j: &usize| (self.points[*j] - self.points[i]).norm_squared();
            let nearest = (0..self.points.len())
                .filter(|j| is_linked[self.patch_count + j])
                .min_by(|a, b| distance(a).total_cmp(&distance(b)));
            let home = nearest.map_or(0, |j| self.patch_count + j);
            self.sets.join(home, self.patch_count + i);
        }
    }

    fn into_pieces(
        mut self,
        cells: &Cells,
        frame: &Frame,
        cuts: &[Cut],
        patch: &[u32],
        inside: &[[f64; 4]],
    ) -> Pieces {
        let solid = self.solid;
        let roots: Vec<usize> = (0..self.patch_count).filter(|&p| self.sets.find(p) == p).collect();
        let mut piece_of = |member: usize| {
            let root = self.sets.find(member);
            roots.binary_search(&root).unwrap_or(0) as u32
        };
        let cut_piece: Vec<u32> = patch.iter().map(|&p| piece_of(p as usize)).collect();
        let mut own: Vec<Vec<[f64; 4]>> = vec![Vec::new(); roots.len()];
        for (k, b) in inside.iter().enumerate() {
            own[piece_of(self.first_sample + k) as usize].push(*b);
        }
        let mut face_piece = vec![[None; FACE_SAMPLES]; 4];
        for (n, &(face, k)) in self.face_samples.iter().enumerate() {
            face_piece[face][k] = Some(piece_of(self.first_sample + inside.len() + n));
        }
        let middle = |piece: usize| {
            let own: Vec<Cut> = core::iter::zip(cuts, &cut_piece)
                .filter(|(_, p)| **p as usize == piece)
                .map(|(c, _)| *c)
                .collect();
            middle_of(cells, solid, frame, &own)
        };
        let pieces = own.iter().enumerate().map(|(p, own)| Piece::of(own, || middle(p))).collect();
        Pieces { pieces, cut_piece, face_piece }
    }
}

/// Finds the triangles that the solid does not end at, because both of their sides are inside or
/// both outside.
fn find_inner_walls(frame: &Frame, sight: &mut Sight<'_>) {
    for i in 0..sight.triangles.len() {
        let facet = sight.triangles[i];
        if let Some(clip) = Clip::of(frame, &facet.corners).filter(|_| facet.active) {
            let outer = frame.point(&clip.middle()) + LIFT * facet.normal / facet.normal.norm();
            let w = sight.winding_number(&outer);
            // behind the triangle it is one more
            sight.triangles[i].blocks = w <= 0.5 && w + 1.0 > 0.5;
        }
    }
}

/// How far (lattice units) a ray from inside a tet goes until it leaves it.
fn way_out(frame: &Frame, from: &Vec3, direction: &Vec3) -> f64 {
    let (start, ahead) = (frame.barycentric(from), frame.barycentric(&(from + direction)));
    (0..4)
        .filter(|&i| ahead[i] < start[i])
        .map(|i| start[i].max(0.0) / (start[i] - ahead[i]))
        .fold(4.0, f64::min)
}
