//! Connectivity of the surface patches in one tet: which of them bound the same fragment of the solid.
//!
//! Two patches are connected if the solid between them is. A ray cast inwards from one patch that hits the other first shows it,
//! and so do chains of mutually visible inside points. Triangles inside overlapping parts do not block visibility. In doubt
//! patches are connected.

use super::cells::{Cells, Cut};
use super::clip::{Clip, TOLERANCE, segment_intersects};
use super::fragments::{CellFragments, FACE_SAMPLES, Fragment, face_points, surface_centroid};
use super::lattice::LatticeTet;
use super::visibility::CellVisibility;
use crate::Solid;
use crate::disjoint_sets::DisjointSets;
use sinew_math::Vec3;

/// Disjoint sets over the patches and inside points of a tet.
///
/// Elements are the patches first, then the points.
pub(crate) struct PatchConnectivity<'a> {
    solid: &'a Solid,
    sets: DisjointSets,
    patch_count: usize,
    points: Vec<Vec3>,
    /// The first element that is a volume sample, and the face and index of each face sample.
    first_sample: usize,
    face_samples: Vec<(usize, usize)>,
    pub(crate) fragment_count: usize,
}

/// Rays cast inwards per patch: a patch that faces another over a twelfth of its triangles is connected to it.
const RAYS_PER_PATCH: usize = 12;

/// The offset from a triangle (lattice units) at which its two sides are tested: well below the thinnest wall, well above
/// round-off.
const OFFSET: f64 = 1e-6;

/// Nearest neighbours tested per inside point: enough that evenly distributed points in a convex region form one chain.
const NEAREST: usize = 10;

impl<'a> PatchConnectivity<'a> {
    pub(crate) fn find(
        tet: &LatticeTet,
        mut visibility: CellVisibility<'a>,
        patch: &[u32],
        patch_count: usize,
        inside: &[[f64; 4]],
    ) -> Self {
        let solid = visibility.solid;
        let mut connectivity = Self {
            solid,
            sets: DisjointSets::new(patch_count),
            patch_count,
            points: Vec::new(),
            first_sample: 0,
            face_samples: Vec::new(),
            fragment_count: 0,
        };

        // patches that intersect, and rays from each patch
        if solid.overlaps() || !solid.closed {
            find_inner_walls(tet, &mut visibility);
            connectivity.join_intersecting_patches(tet, &visibility, patch);
        }
        connectivity.cast_rays(tet, &mut visibility, patch);

        // chains of inside points, where that is not enough
        if connectivity.count_patch_groups() > 1 {
            connectivity.first_sample = connectivity.element_count();
            inside.iter().for_each(|b| connectivity.add(tet.point(b)));
            connectivity.add_face_samples(tet, &mut visibility);
            connectivity.join_visible_points(&visibility);
            connectivity.join_isolated_points_to_the_nearest();
        }
        connectivity.fragment_count = connectivity.count_patch_groups();
        connectivity
    }

    fn element_count(&self) -> usize {
        self.patch_count + self.points.len()
    }

    fn add(&mut self, p: Vec3) {
        self.points.push(p);
        self.sets.grow();
    }

    fn add_to_patch(&mut self, p: Vec3, patch: usize) {
        self.add(p);
        self.sets.join(patch, self.element_count() - 1);
    }

    fn count_patch_groups(&mut self) -> usize {
        (0..self.patch_count).filter(|&p| self.sets.find(p) == p).count()
    }

    /// Casts rays inwards from some triangles of each patch: the solid extends from there to the first boundary hit, or to the
    /// end of the tet.
    fn cast_rays(&mut self, tet: &LatticeTet, visibility: &mut CellVisibility<'_>, patch: &[u32]) {
        let mut of_patch = vec![Vec::new(); self.patch_count];
        for (i, &p) in patch.iter().enumerate() {
            of_patch[p as usize].push(i);
        }
        for (p, triangles) in of_patch.iter().enumerate() {
            let stride = triangles.len().div_ceil(RAYS_PER_PATCH);
            for &i in triangles.iter().step_by(stride) {
                self.cast_ray(tet, visibility, patch, p, i);
            }
        }
    }

    fn cast_ray(
        &mut self,
        tet: &LatticeTet,
        visibility: &mut CellVisibility<'_>,
        patch: &[u32],
        p: usize,
        i: usize,
    ) {
        let facet = visibility.triangles[i];
        let Some(clip) = Clip::of(tet, &facet.corners).filter(|_| facet.active) else { return };
        let from = tet.point(&clip.centroid());
        let inwards = -facet.normal / facet.normal.norm();
        if !facet.blocks {
            // a triangle inside the solid or outside it: inside points on either side belong to its patch
            for side in [from - OFFSET * inwards, from + OFFSET * inwards] {
                if visibility.contains(&side) {
                    self.add_to_patch(side, p);
                }
            }
            return;
        }

        // the first boundary along the ray
        let end = from + exit_distance(tet, &from, &inwards) * inwards;
        let hit = visibility.first_hit(&(from + 2.0 * TOLERANCE * inwards), &end, i);
        let depth = hit.map_or(1.0, |h| h.1);

        // an inside point halfway there belongs to both patches
        let middle = from + 0.5 * depth * (end - from);
        if depth * (end - from).norm() > 4.0 * TOLERANCE && visibility.contains(&middle) {
            self.add_to_patch(middle, p);
            if depth * (end - from).norm() > 4.0 * OFFSET {
                self.add_to_patch(from + OFFSET * inwards, p);
            }
            if let Some((other, _)) = hit {
                self.sets.join(p, patch[other] as usize);
            }
        }
    }

    /// Connects patches that intersect each other in the tet.
    fn join_intersecting_patches(
        &mut self,
        tet: &LatticeTet,
        visibility: &CellVisibility<'_>,
        patch: &[u32],
    ) {
        for i in 0..patch.len() {
            for j in (0..patch.len()).filter(|&j| patch[j] != patch[i]) {
                let (p, q) = (patch[i] as usize, patch[j] as usize);
                let crossing = || visibility.triangles[i].edge_crossing(&visibility.triangles[j]);
                if !self.sets.joined(p, q) && crossing().is_some_and(|x| segment_intersects(tet, &x, &x)) {
                    self.sets.join(p, q);
                }
            }
        }
    }

    fn add_face_samples(&mut self, tet: &LatticeTet, visibility: &mut CellVisibility<'_>) {
        for i in 0..4 {
            for (k, p) in face_points(tet, i).into_iter().enumerate() {
                if visibility.contains(&p) {
                    self.face_samples.push((i, k));
                    self.add(p);
                }
            }
        }
    }

    fn join_visible_points(&mut self, visibility: &CellVisibility<'_>) {
        let mut near: Vec<(f64, usize)> = Vec::with_capacity(self.points.len());
        for i in 0..self.points.len() {
            let p = self.points[i];
            near.clear();
            near.extend(self.points.iter().enumerate().map(|(j, q)| ((q - p).norm_squared(), j)));
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for &(_, j) in near.iter().skip(1).take(NEAREST) {
                self.join_if_visible(visibility, i, j);
            }
        }
        // points on patches decide the connectivity: each is tested against all others
        for i in 0..self.first_sample - self.patch_count {
            for j in 0..i {
                self.join_if_visible(visibility, i, j);
            }
        }
    }

    fn join_if_visible(&mut self, visibility: &CellVisibility<'_>, i: usize, j: usize) {
        let (a, b) = (self.patch_count + i, self.patch_count + j);
        if !self.sets.joined(a, b) && !visibility.blocked(&self.points[i], &self.points[j]) {
            self.sets.join(a, b);
        }
    }

    /// Points connected to no patch join the nearest connected point.
    fn join_isolated_points_to_the_nearest(&mut self) {
        let is_linked: Vec<bool> =
            (0..self.element_count()).map(|m| self.sets.find(m) < self.patch_count).collect();
        for i in (0..self.points.len()).filter(|i| !is_linked[self.patch_count + i]) {
            let distance = |j: &usize| (self.points[*j] - self.points[i]).norm_squared();
            let nearest = (0..self.points.len())
                .filter(|j| is_linked[self.patch_count + j])
                .min_by(|a, b| distance(a).total_cmp(&distance(b)));
            let home = nearest.map_or(0, |j| self.patch_count + j);
            self.sets.join(home, self.patch_count + i);
        }
    }

    pub(crate) fn into_fragments(
        mut self,
        cells: &Cells,
        tet: &LatticeTet,
        cuts: &[Cut],
        patch: &[u32],
        inside: &[[f64; 4]],
    ) -> CellFragments {
        // fragments are the sets that contain a patch
        let solid = self.solid;
        let roots: Vec<usize> = (0..self.patch_count).filter(|&p| self.sets.find(p) == p).collect();
        let mut fragment_of = |member: usize| {
            let root = self.sets.find(member);
            roots.binary_search(&root).unwrap_or(0) as u32
        };
        let cut_fragment: Vec<u32> = patch.iter().map(|&p| fragment_of(p as usize)).collect();

        // volume and face samples of each fragment
        let mut own: Vec<Vec<[f64; 4]>> = vec![Vec::new(); roots.len()];
        for (k, b) in inside.iter().enumerate() {
            own[fragment_of(self.first_sample + k) as usize].push(*b);
        }
        let mut face_fragment = vec![[None; FACE_SAMPLES]; 4];
        for (n, &(face, k)) in self.face_samples.iter().enumerate() {
            face_fragment[face][k] = Some(fragment_of(self.first_sample + inside.len() + n));
        }

        // fill of each fragment, about its surface where it has no samples
        let middle = |fragment: usize| {
            let own: Vec<Cut> = core::iter::zip(cuts, &cut_fragment)
                .filter(|(_, p)| **p as usize == fragment)
                .map(|(c, _)| *c)
                .collect();
            surface_centroid(cells, solid, tet, &own)
        };
        let fragments = own.iter().enumerate().map(|(p, own)| Fragment::of(own, || middle(p))).collect();
        CellFragments { fragments, cut_fragment, face_fragment }
    }
}

/// Finds the triangles that do not bound the solid, because both of their sides are inside or both are outside.
fn find_inner_walls(tet: &LatticeTet, visibility: &mut CellVisibility<'_>) {
    for i in 0..visibility.triangles.len() {
        let facet = visibility.triangles[i];
        if let Some(clip) = Clip::of(tet, &facet.corners).filter(|_| facet.active) {
            let outer = tet.point(&clip.centroid()) + OFFSET * facet.normal / facet.normal.norm();
            let w = visibility.winding_number(&outer);
            // behind the triangle the winding number is one higher
            visibility.triangles[i].blocks = w <= 0.5 && w + 1.0 > 0.5;
        }
    }
}

/// The distance (lattice units) at which a ray from inside a tet leaves it.
fn exit_distance(tet: &LatticeTet, from: &Vec3, direction: &Vec3) -> f64 {
    let (start, ahead) = (tet.barycentric(from), tet.barycentric(&(from + direction)));
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

    /// The number of fragments of each tet that contains both bars.
    fn fragments_where_they_cross(solid: &Solid) -> Vec<usize> {
        let cells = cells_of(solid, CageSize::Edge(0.2)).unwrap();
        let holds = |c: usize, shell: u32| {
            cells.cuts(c).iter().any(|cut| solid.triangle_shell[cut.triangle as usize] == shell)
        };
        let both: Vec<usize> = (0..cells.count()).filter(|&c| holds(c, 0) && holds(c, 1)).collect();
        assert!(!both.is_empty());
        both.into_iter()
            .map(|c| {
                let fragments = CellFragments::find(solid, &cells, c);
                let filled: f64 = fragments.fragments.iter().map(|p| p.fill).sum();
                assert!(filled > 0.0 && filled < 1.0 && fragments.cut_fragment.len() == cells.cuts(c).len());
                fragments.fragments.len()
            })
            .collect()
    }

    #[test]
    fn separate_bars_in_one_tet_are_two_fragments() {
        assert!(fragments_where_they_cross(&bars(0.025)).iter().all(|&n| n == 2));
    }

    #[test]
    fn intersecting_bars_are_one_fragment() {
        assert!(fragments_where_they_cross(&bars(0.009)).contains(&1));
    }
}
