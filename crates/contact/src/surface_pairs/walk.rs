//! The walk down two trees of boxes at once.

use super::patch::Patch;
use super::{NearPair, SurfacePairs};
use crate::box_tree::Bounds;
use crate::nearest_on_triangle;
use sinew_math::Vec3;

/// Whether all normals in a box point to one side: that of its middle.
fn one_sided(normals: &Bounds) -> bool {
    let middle = normals.center();
    let half = 0.5 * (normals.max - normals.min);
    middle.norm_squared() > middle.abs().dot(&half)
}

/// A walk down trees that stand as their surfaces do.
pub(super) struct Walk<'a> {
    pub(super) pairs: &'a SurfacePairs,
    /// Where vertices are (m) and how they move (m/s).
    pub(super) x: &'a [Vec3],
    pub(super) v: &'a [Vec3],
    /// How near is near (m), now or within a time (s).
    pub(super) reach: f64,
    pub(super) time: f64,
}

/// The most that velocities in two boxes differ by (m/s).
fn difference(a: &Bounds, b: &Bounds) -> f64 {
    (a.max - b.min).abs().sup(&(b.max - a.min).abs()).norm()
}

impl Walk<'_> {
    /// Hands on the pairs of nodes below a pair that are worth comparing; leaves as they are.
    pub(super) fn children(&self, surfaces: [u32; 2], [a, b]: [u32; 2], mut hand_on: impl FnMut([u32; 2])) {
        let patches = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        if !self.worth(patches, surfaces, [a, b]) {
            return;
        }
        let [na, nb] = [patches[0].tree.nodes[a as usize], patches[1].tree.nodes[b as usize]];
        if surfaces[0] == surfaces[1] && a == b {
            if na.count > 0 {
                return hand_on([a, b]);
            }
            let (left, right) = (a + 1, na.start);
            hand_on([left, left]);
            hand_on([right, right]);
            return hand_on([left, right]);
        }
        match (na.count > 0, nb.count > 0) {
            (true, true) => hand_on([a, b]),
            // the larger of two is opened
            (false, true) => [a + 1, na.start].into_iter().for_each(|child| hand_on([child, b])),
            (true, false) => [b + 1, nb.start].into_iter().for_each(|child| hand_on([a, child])),
            (false, false) => {
                let [ra, rb] = [patches[0].tree.bounds[a as usize], patches[1].tree.bounds[b as usize]];
                if (ra.max - ra.min).norm_squared() >= (rb.max - rb.min).norm_squared() {
                    [a + 1, na.start].into_iter().for_each(|child| hand_on([child, b]));
                } else {
                    [b + 1, nb.start].into_iter().for_each(|child| hand_on([a, child]));
                }
            }
        }
    }

    fn worth(&self, patches: [&Patch; 2], surfaces: [u32; 2], [a, b]: [u32; 2]) -> bool {
        let [a, b] = [a as usize, b as usize];
        if surfaces[0] == surfaces[1] && a == b {
            return !one_sided(&patches[0].normals[a]) && !patches[0].beside.holds(a, a);
        }
        if !self.may_meet(patches, [a, b]) {
            return false;
        }
        // neighbours that face one way
        let is_fold = |patch: &Patch| {
            !(patch.rest[a].meets(&patch.rest[b])
                && (one_sided(&patch.normals[a].and(&patch.normals[b])) || patch.beside.holds(a, b)))
        };
        surfaces[0] != surfaces[1] || is_fold(patches[0])
    }

    /// Whether two nodes are near each other, or will be in time if all goes on as it moves: the first box, stretched by where it can go as the second sees it.
    fn may_meet(&self, [ours, theirs]: [&Patch; 2], [a, b]: [usize; 2]) -> bool {
        let (bounds, moves, others) = (&ours.tree.bounds[a], &ours.velocities[a], &theirs.velocities[b]);
        let (back, ahead) = (self.time * (moves.min - others.max), self.time * (moves.max - others.min));
        let zero = Vec3::zeros();
        let swept = Bounds { min: bounds.min + back.inf(&zero), max: bounds.max + ahead.sup(&zero) };
        swept.grown(self.reach).meets(&theirs.tree.bounds[b])
    }

    /// Raises `most` to the most that leaves below a pair of nodes which may meet come nearer to each other in a second (m/s).
    pub(super) fn closing(&self, surfaces: [u32; 2], nodes: [u32; 2], most: &mut f64) {
        let patches = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        let [a, b] = nodes.map(|node| node as usize);
        let fastest = difference(&patches[0].velocities[a], &patches[1].velocities[b]);
        // not a number, as in a step that has failed, counts
        if fastest <= *most || !self.worth(patches, surfaces, nodes) {
            return;
        }
        if patches[0].tree.nodes[a].count > 0 && patches[1].tree.nodes[b].count > 0 {
            *most = fastest;
            return;
        }
        self.children(surfaces, nodes, |below| self.closing(surfaces, below, most));
    }

    /// Finds the pairs below a pair of nodes.
    pub(super) fn compare(&self, surfaces: [u32; 2], nodes: [u32; 2], out: &mut Vec<NearPair>) {
        let patches = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        let is_leaf = |i: usize| patches[i].tree.nodes[nodes[i] as usize].count > 0;
        if !(is_leaf(0) && is_leaf(1)) {
            return self.children(surfaces, nodes, |below| self.compare(surfaces, below, out));
        }
        if !self.worth(patches, surfaces, nodes) {
            return;
        }
        self.compare_leaves(patches, nodes, out);
        if surfaces[0] != surfaces[1] || nodes[0] != nodes[1] {
            self.compare_leaves([patches[1], patches[0]], [nodes[1], nodes[0]], out);
        }
    }

    /// Vertices of the first leaf against triangles of the second.
    fn compare_leaves(&self, [ours, theirs]: [&Patch; 2], [a, b]: [u32; 2], out: &mut Vec<NearPair>) {
        let (first, last) = ours.vertices_of_node[a as usize];
        let leaf = theirs.tree.nodes[b as usize];
        let fastest = difference(&ours.velocities[a as usize], &theirs.velocities[b as usize]);
        let farthest = self.reach + self.time * fastest;
        let around = theirs.tree.bounds[b as usize].grown(farthest);
        let is_same = core::ptr::eq(ours, theirs);
        for &vertex in &ours.vertices[first as usize..last as usize] {
            let (p, v) = (self.x[vertex as usize], self.v[vertex as usize]);
            if !around.holds(&p) {
                continue;
            }
            for &t in &theirs.tree.order[leaf.start as usize..][..leaf.count as usize] {
                let triangle = (theirs.first_triangle + t as usize) as u32;
                let corners = self.pairs.triangles[triangle as usize];
                if corners.contains(&vertex) {
                    continue;
                }
                let places = corners.map(|corner| self.x[corner as usize]);
                // where the vertex goes as the corners see it: each point of the triangle moves like a mean of them
                let closing = corners.map(|corner| v - self.v[corner as usize]);
                let ends = closing.map(|closing| p + self.time * closing);
                let path = Bounds::around(ends.iter().chain([&p])).grown(self.reach);
                if !path.meets(&Bounds::around(&places)) {
                    continue;
                }
                let gap =
                    if is_same { self.pairs.gap_at_rest(theirs, vertex, t) } else { Some(self.pairs.gap) };
                let Some(gap) = gap else { continue };
                let distance = (nearest_on_triangle(&p, &places).point - p).norm();
                let closing = closing.iter().map(Vec3::norm_squared).fold(0.0, f64::max).sqrt();
                if distance <= self.reach + self.time * closing {
                    out.push(NearPair { vertex, triangle, gap, distance, closing });
                }
            }
        }
    }
}
