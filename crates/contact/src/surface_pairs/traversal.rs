//! Simultaneous traversal of two bounding volume hierarchies.

use super::lane_box::{LaneBox, MovingBox, ROUND_OFF, dot, minus, plus};
use super::surface_tree::SurfaceTree;
use super::{NearPair, SurfacePairs};
use crate::nearest_on_triangle;
use sinew_math::Vec3;

/// A traversal of hierarchies that are up to date.
pub(super) struct Traversal<'a> {
    pairs: &'a SurfacePairs,
    /// Positions (m) and velocities (m/s) of the vertices.
    x: &'a [Vec3],
    v: &'a [Vec3],
    /// The proximity distance (m), now or within a time (s).
    reach: f64,
    time: f64,
    /// The proximity distance for boxes, with an allowance for rounding.
    box_reach: f32,
}

/// Whether all normals in a box lie in the half-space of its centre.
#[inline]
fn one_sided(normals: &LaneBox) -> bool {
    let middle = plus(&normals.min, &normals.max);
    let half = minus(&normals.max, &normals.min);
    dot(&middle, &middle) > dot(&middle.map(f32::abs), &half) + NORMAL_SLACK
}

/// The tolerance of [`one_sided`]: sums of a few numbers up to 4, each rounded.
const NORMAL_SLACK: f32 = 1e-5;

impl<'a> Traversal<'a> {
    /// A traversal that compares boxes only.
    pub(super) fn over_boxes(pairs: &'a SurfacePairs, reach: f64, time: f64) -> Traversal<'a> {
        Traversal::new(pairs, (&[], &[]), reach, time)
    }

    pub(super) fn new(
        pairs: &'a SurfacePairs,
        (x, v): (&'a [Vec3], &'a [Vec3]),
        reach: f64,
        time: f64,
    ) -> Traversal<'a> {
        let roots = || pairs.surfaces.iter().filter_map(|tree| tree.boxes.first());
        let max_magnitude = roots().map(|root| root.moving.position.max_magnitude()).fold(0.0, f64::max);
        let fastest = roots().map(|root| root.moving.velocities.max_magnitude()).fold(0.0, f64::max);
        let slack = ROUND_OFF * (max_magnitude + 2.0 * time * fastest + reach);
        Traversal { pairs, x, v, reach, time, box_reach: (reach + slack) as f32 }
    }
}

impl Traversal<'_> {
    /// Visits the child pairs of a pair of nodes, if they may collide; a pair of leaves as it is.
    pub(super) fn children(&self, surfaces: [u32; 2], [a, b]: [u32; 2], visit: impl FnMut([u32; 2])) {
        let trees = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        if self.may_collide(trees, surfaces, [a, b]) {
            self.open(surfaces, [a, b], visit);
        }
    }

    /// Visits the child pairs of a pair of nodes; a pair of leaves as it is.
    #[inline]
    fn open(&self, surfaces: [u32; 2], [a, b]: [u32; 2], mut visit: impl FnMut([u32; 2])) {
        let trees = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        let [na, nb] = [trees[0].tree.nodes[a as usize], trees[1].tree.nodes[b as usize]];
        if surfaces[0] == surfaces[1] && a == b {
            if na.count > 0 {
                return visit([a, b]);
            }
            let (left, right) = (a + 1, na.start);
            visit([left, left]);
            visit([right, right]);
            return visit([left, right]);
        }
        match (na.count > 0, nb.count > 0) {
            (true, true) => visit([a, b]),
            // descend into the larger of the two
            (false, true) => [a + 1, na.start].into_iter().for_each(|child| visit([child, b])),
            (true, false) => [b + 1, nb.start].into_iter().for_each(|child| visit([a, child])),
            (false, false) => {
                let [ours, theirs] = [
                    &trees[0].boxes[a as usize].moving.position,
                    &trees[1].boxes[b as usize].moving.position,
                ];
                if ours.size() >= theirs.size() {
                    [a + 1, na.start].into_iter().for_each(|child| visit([child, b]));
                } else {
                    [b + 1, nb.start].into_iter().for_each(|child| visit([a, child]));
                }
            }
        }
    }

    #[inline]
    fn may_collide(&self, trees: [&SurfaceTree; 2], surfaces: [u32; 2], [a, b]: [u32; 2]) -> bool {
        let [a, b] = [a as usize, b as usize];
        let [ours, theirs] = [&trees[0].boxes[a], &trees[1].boxes[b]];
        let is_same = surfaces[0] == surfaces[1];
        if is_same && a == b {
            return !one_sided(&ours.normals) && !trees[0].excluded.contains(a, a);
        }
        if !self.may_meet(&ours.moving, &theirs.moving) {
            return false;
        }
        // neighbours whose normals lie in one half-space
        !(is_same
            && ours.rest.intersects(&theirs.rest)
            && (one_sided(&ours.normals.and(&theirs.normals)) || trees[0].excluded.contains(a, b)))
    }

    #[inline]
    fn may_meet(&self, ours: &MovingBox, theirs: &MovingBox) -> bool {
        ours.may_meet(theirs, self.box_reach, self.time as f32)
    }

    /// Raises `max_speed` to the approach speed (m/s) of the leaves below a pair of nodes that may collide.
    pub(super) fn closing(&self, surfaces: [u32; 2], nodes: [u32; 2], max_speed: &mut f64) {
        let trees = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        let [a, b] = nodes.map(|node| node as usize);
        let [ours, theirs] = [&trees[0].boxes[a].moving, &trees[1].boxes[b].moving];
        let fastest = f64::from(ours.velocities.difference(&theirs.velocities));
        // NaN, as in a failed step, does not compare and counts
        if fastest <= *max_speed || !self.may_collide(trees, surfaces, nodes) {
            return;
        }
        if trees[0].tree.nodes[a].count > 0 && trees[1].tree.nodes[b].count > 0 {
            *max_speed = fastest;
            return;
        }
        self.open(surfaces, nodes, |below| self.closing(surfaces, below, max_speed));
    }

    /// Finds the candidate pairs below a pair of nodes.
    pub(super) fn compare(&self, surfaces: [u32; 2], nodes: [u32; 2], out: &mut Vec<NearPair>) {
        let trees = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        if !self.may_collide(trees, surfaces, nodes) {
            return;
        }
        let is_leaf = |i: usize| trees[i].tree.nodes[nodes[i] as usize].count > 0;
        if !(is_leaf(0) && is_leaf(1)) {
            return self.open(surfaces, nodes, |below| self.compare(surfaces, below, out));
        }
        self.compare_leaves(trees, nodes, out);
        if surfaces[0] != surfaces[1] || nodes[0] != nodes[1] {
            self.compare_leaves([trees[1], trees[0]], [nodes[1], nodes[0]], out);
        }
    }

    /// Vertices of the first leaf against triangles of the second.
    fn compare_leaves(&self, [ours, theirs]: [&SurfaceTree; 2], [a, b]: [u32; 2], out: &mut Vec<NearPair>) {
        let (first, last) = ours.vertices_of_node[a as usize];
        let leaf = theirs.tree.nodes[b as usize];
        let is_same = core::ptr::eq(ours, theirs);
        for position in leaf.start as usize..(leaf.start + leaf.count) as usize {
            let corners = theirs.corners[position];
            let [p, q, r] = corners.map(|corner| &theirs.moving[corner as usize]);
            let around = p.as_box().with(q).with(r);
            for vertex in first..last {
                if self.may_meet(&ours.moving[vertex as usize].as_box(), &around)
                    && !(is_same && corners.contains(&vertex))
                {
                    out.extend(self.near_pair(theirs, is_same, ours.vertices[vertex as usize], position));
                }
            }
        }
    }

    /// The candidate pair of a vertex and a triangle, given by its position in the order of the hierarchy, if they are near.
    fn near_pair(
        &self,
        theirs: &SurfaceTree,
        is_same: bool,
        vertex: u32,
        position: usize,
    ) -> Option<NearPair> {
        let t = theirs.tree.order[position];
        let triangle = theirs.first_triangle as u32 + t;
        let gap = if is_same { self.pairs.gap_at_rest(theirs, vertex, t)? } else { self.pairs.gap };
        let corners = self.pairs.triangles[triangle as usize];
        let (p, v) = (self.x[vertex as usize], self.v[vertex as usize]);
        let faster =
            |max_speed: f64, corner: &u32| max_speed.max((v - self.v[*corner as usize]).norm_squared());
        let closing = corners.iter().fold(0.0, faster).sqrt();
        let positions = corners.map(|corner| self.x[corner as usize]);
        let distance = (nearest_on_triangle(&p, &positions).point - p).norm();
        let is_near = distance <= self.reach + self.time * closing;
        is_near.then_some(NearPair { vertex, triangle, gap, distance, closing })
    }
}
