//! Which patches of surface in one tet bound the same piece of the solid.
//!
//! The one idea: two patches belong together if the solid between them does. A ray inwards from one
//! that meets the other first says so, and so do chains of inside points that see each other. Walls
//! inside overlapping parts stop nothing. In doubt patches belong together.

use super::cells::{Cells, Cut};
use super::clip::{Clip, FAT, segment_meets};
use super::lattice::Frame;
use super::pieces::{FACE_SAMPLES, Piece, Pieces, face_points, middle_of};
use super::visibility::CellVisibility;
use crate::Solid;
use crate::disjoint_sets::DisjointSets;
use sinew_math::Vec3;

/// Which patches and inside points of a tet belong together.
///
/// Members are numbered: the patches first, then the points.
pub(crate) struct Links<'a> {
    solid: &'a Solid,
    sets: DisjointSets,
    patch_count: usize,
    points: Vec<Vec3>,
    /// The first member that is a volume sample, and the face and number of each face sample.
    first_sample: usize,
    face_samples: Vec<(usize, usize)>,
    pub(crate) piece_count: usize,
}

/// Rays cast inwards per patch: a patch that lies along another over a twelfth of its triangles is
/// linked.
const RAYS_PER_PATCH: usize = 12;

/// How far off a triangle (lattice units) its two sides are asked for: well below the thinnest wall,
/// well above round-off.
const LIFT: f64 = 1e-6;

/// Each inside point looks for this many of its nearest: enough that points spread evenly over a
/// convex region form one chain.
const NEAREST: usize = 10;

impl<'a> Links<'a> {
    pub(crate) fn find(
        frame: &Frame,
        mut visibility: CellVisibility<'a>,
        patch: &[u32],
        patch_count: usize,
        inside: &[[f64; 4]],
    ) -> Self {
        let solid = visibility.solid;
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
            find_inner_walls(frame, &mut visibility);
            links.join_what_intersects(frame, &visibility, patch);
        }
        links.cast_rays(frame, &mut visibility, patch);
        if links.count_patch_groups() > 1 {
            links.first_sample = links.members();
            inside.iter().for_each(|b| links.add(frame.point(b)));
            links.add_face_samples(frame, &mut visibility);
            links.join_what_sees_each_other(&visibility);
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
    fn cast_rays(&mut self, frame: &Frame, visibility: &mut CellVisibility<'_>, patch: &[u32]) {
        let mut of_patch = vec![Vec::new(); self.patch_count];
        for (i, &p) in patch.iter().enumerate() {
            of_patch[p as usize].push(i);
        }
        for (p, members) in of_patch.iter().enumerate() {
            let stride = members.len().div_ceil(RAYS_PER_PATCH);
            for &i in members.iter().step_by(stride) {
                self.cast_ray(frame, visibility, patch, p, i);
            }
        }
    }

    fn cast_ray(
        &mut self,
        frame: &Frame,
        visibility: &mut CellVisibility<'_>,
        patch: &[u32],
        p: usize,
        i: usize,
    ) {
        let facet = visibility.triangles[i];
        let Some(clip) = Clip::of(frame, &facet.corners).filter(|_| facet.active) else { return };
        let from = frame.point(&clip.middle());
        let inwards = -facet.normal / facet.normal.norm();
        if !facet.blocks {
            // a wall inside the solid, or one outside it: what is inside on either side belongs to it
            for side in [from - LIFT * inwards, from + LIFT * inwards] {
                if visibility.contains(&side) {
                    self.add_to_patch(side, p);
                }
            }
            return;
        }
        let end = from + way_out(frame, &from, &inwards) * inwards;
        let hit = visibility.first_hit(&(from + 2.0 * FAT * inwards), &end, i);
        let depth = hit.map_or(1.0, |h| h.1);
        let middle = from + 0.5 * depth * (end - from);
        if depth * (end - from).norm() > 4.0 * FAT && visibility.contains(&middle) {
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
    fn join_what_intersects(&mut self, frame: &Frame, visibility: &CellVisibility<'_>, patch: &[u32]) {
        for i in 0..patch.len() {
            for j in (0..patch.len()).filter(|&j| patch[j] != patch[i]) {
                let (p, q) = (patch[i] as usize, patch[j] as usize);
                let crossing = || visibility.triangles[i].edge_crossing(&visibility.triangles[j]);
                if !self.sets.joined(p, q) && crossing().is_some_and(|x| segment_meets(frame, &x, &x)) {
                    self.sets.join(p, q);
                }
            }
        }
    }

    fn add_face_samples(&mut self, frame: &Frame, visibility: &mut CellVisibility<'_>) {
        for i in 0..4 {
            for (k, p) in face_points(frame, i).into_iter().enumerate() {
                if visibility.contains(&p) {
                    self.face_samples.push((i, k));
                    self.add(p);
                }
            }
        }
    }

    fn join_what_sees_each_other(&mut self, visibility: &CellVisibility<'_>) {
        let mut near: Vec<(f64, usize)> = Vec::with_capacity(self.points.len());
        for i in 0..self.points.len() {
            let p = self.points[i];
            near.clear();
            near.extend(self.points.iter().enumerate().map(|(j, q)| ((q - p).norm_squared(), j)));
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for &(_, j) in near.iter().skip(1).take(NEAREST) {
                self.join_if_seen(visibility, i, j);
            }
        }
        // the points at patches are the ones that decide: each looks at all others
        for i in 0..self.first_sample - self.patch_count {
            for j in 0..i {
                self.join_if_seen(visibility, i, j);
            }
        }
    }

    fn join_if_seen(&mut self, visibility: &CellVisibility<'_>, i: usize, j: usize) {
        let (a, b) = (self.patch_count + i, self.patch_count + j);
        if !self.sets.joined(a, b) && !visibility.blocked(&self.points[i], &self.points[j]) {
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

    pub(crate) fn into_pieces(
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
fn find_inner_walls(frame: &Frame, visibility: &mut CellVisibility<'_>) {
    for i in 0..visibility.triangles.len() {
        let facet = visibility.triangles[i];
        if let Some(clip) = Clip::of(frame, &facet.corners).filter(|_| facet.active) {
            let outer = frame.point(&clip.middle()) + LIFT * facet.normal / facet.normal.norm();
            let w = visibility.winding_number(&outer);
            // behind the triangle it is one more
            visibility.triangles[i].blocks = w <= 0.5 && w + 1.0 > 0.5;
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

#[cfg(test)]
mod tests {
    use super::super::sizing::{CageSize, cells_of};
    use super::*;
    use crate::shapes;

    /// Two bars along x and along y, the second `height` (m) above the first.
    fn bars(height: f64) -> Solid {
        let mut both = shapes::cuboid([1.0, 0.02, 0.02]);
        let upper = shapes::cuboid([0.02, 1.0, 0.02]);
        both.vertices.extend(upper.vertices.iter().map(|v| v + Vec3::new(0.013, 0.007, height)));
        both.triangles.extend(upper.triangles.iter().map(|t| t.map(|v| v + 8)));
        Solid::build(&both).unwrap()
    }

    /// For each tet with both bars in it, how many pieces it has.
    fn pieces_where_they_cross(solid: &Solid) -> Vec<usize> {
        let cells = cells_of(solid, CageSize::Edge(0.2)).unwrap();
        let holds = |c: usize, shell: u32| {
            cells.cuts(c).iter().any(|cut| solid.triangle_shell[cut.triangle as usize] == shell)
        };
        let both: Vec<usize> = (0..cells.count()).filter(|&c| holds(c, 0) && holds(c, 1)).collect();
        assert!(!both.is_empty());
        both.into_iter()
            .map(|c| {
                let pieces = Pieces::find(solid, &cells, c);
                let filled: f64 = pieces.pieces.iter().map(|p| p.fill).sum();
                assert!(filled > 0.0 && filled < 1.0 && pieces.cut_piece.len() == cells.cuts(c).len());
                pieces.pieces.len()
            })
            .collect()
    }

    #[test]
    fn bars_that_pass_in_one_tet_are_two_pieces() {
        assert!(pieces_where_they_cross(&bars(0.025)).iter().all(|&n| n == 2));
    }

    #[test]
    fn bars_that_cross_through_each_other_are_one_piece_where_they_do() {
        assert!(pieces_where_they_cross(&bars(0.009)).contains(&1));
    }
}
