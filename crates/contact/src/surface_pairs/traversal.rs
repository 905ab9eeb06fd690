//! The walk down two trees of boxes at once.

use super::lane_box::{LaneBox, MovingBox, ROUND_OFF, dot, minus, plus};
use super::patch::Patch;
use super::{NearPair, SurfacePairs};
use crate::nearest_on_triangle;
use sinew_math::Vec3;

/// A walk down trees that stand as their surfaces do.
pub(super) struct Walk<'a> {
    pairs: &'a SurfacePairs,
    /// Where vertices are (m) and how they move (m/s).
    x: &'a [Vec3],
    v: &'a [Vec3],
    /// How near is near (m), now or within a time (s).
    reach: f64,
    time: f64,
    /// The same for boxes, which are off by their roundings.
    box_reach: f32,
}

/// Whether all normals in a box point to one side: that of its middle.
#[inline]
fn one_sided(normals: &LaneBox) -> bool {
    let middle = plus(&normals.min, &normals.max);
    let half = minus(&normals.max, &normals.min);
    dot(&middle, &middle) > dot(&middle.map(f32::abs), &half) + NORMAL_SLACK
}

/// What the comparison of [`one_sided`] may be off by: sums of a few numbers up to 4, each rounded.
const NORMAL_SLACK: f32 = 1e-5;

impl<'a> Walk<'a> {
    /// A walk that compares boxes only.
    pub(super) fn over_boxes(pairs: &'a SurfacePairs, reach: f64, time: f64) -> Walk<'a> {
        Walk::new(pairs, (&[], &[]), reach, time)
    }

    pub(super) fn new(
        pairs: &'a SurfacePairs,
        (x, v): (&'a [Vec3], &'a [Vec3]),
        reach: f64,
        time: f64,
    ) -> Walk<'a> {
        let roots = || pairs.surfaces.iter().filter_map(|patch| patch.boxes.first());
        let farthest = roots().map(|root| root.moving.place.farthest()).fold(0.0, f64::max);
        let fastest = roots().map(|root| root.moving.velocities.farthest()).fold(0.0, f64::max);
        let slack = ROUND_OFF * (farthest + 2.0 * time * fastest + reach);
        Walk { pairs, x, v, reach, time, box_reach: (reach + slack) as f32 }
    }
}

impl Walk<'_> {
    /// Hands on the pairs of nodes below a pair that are worth comparing; leaves as they are.
    pub(super) fn children(&self, surfaces: [u32; 2], [a, b]: [u32; 2], hand_on: impl FnMut([u32; 2])) {
        let patches = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        if self.worth(patches, surfaces, [a, b]) {
            self.open(surfaces, [a, b], hand_on);
        }
    }

    /// Hands on the pairs of nodes below a pair; leaves as they are.
    #[inline]
    fn open(&self, surfaces: [u32; 2], [a, b]: [u32; 2], mut hand_on: impl FnMut([u32; 2])) {
        let patches = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
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
                let [ours, theirs] =
                    [&patches[0].boxes[a as usize].moving.place, &patches[1].boxes[b as usize].moving.place];
                if ours.size() >= theirs.size() {
                    [a + 1, na.start].into_iter().for_each(|child| hand_on([child, b]));
                } else {
                    [b + 1, nb.start].into_iter().for_each(|child| hand_on([a, child]));
                }
            }
        }
    }

    #[inline]
    fn worth(&self, patches: [&Patch; 2], surfaces: [u32; 2], [a, b]: [u32; 2]) -> bool {
        let [a, b] = [a as usize, b as usize];
        let [ours, theirs] = [&patches[0].boxes[a], &patches[1].boxes[b]];
        let is_same = surfaces[0] == surfaces[1];
        if is_same && a == b {
            return !one_sided(&ours.normals) && !patches[0].beside.contains(a, a);
        }
        if !self.may_meet(&ours.moving, &theirs.moving) {
            return false;
        }
        // neighbours that face one way
        !(is_same
            && ours.rest.intersects(&theirs.rest)
            && (one_sided(&ours.normals.and(&theirs.normals)) || patches[0].beside.contains(a, b)))
    }

    #[inline]
    fn may_meet(&self, ours: &MovingBox, theirs: &MovingBox) -> bool {
        ours.may_meet(theirs, self.box_reach, self.time as f32)
    }

    /// Raises `most` to the most that leaves below a pair of nodes which may meet come nearer to each other in a second (m/s).
    pub(super) fn closing(&self, surfaces: [u32; 2], nodes: [u32; 2], most: &mut f64) {
        let patches = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        let [a, b] = nodes.map(|node| node as usize);
        let [ours, theirs] = [&patches[0].boxes[a].moving, &patches[1].boxes[b].moving];
        let fastest = f64::from(ours.velocities.difference(&theirs.velocities));
        // not a number, as in a step that has failed, counts
        if fastest <= *most || !self.worth(patches, surfaces, nodes) {
            return;
        }
        if patches[0].tree.nodes[a].count > 0 && patches[1].tree.nodes[b].count > 0 {
            *most = fastest;
            return;
        }
        self.open(surfaces, nodes, |below| self.closing(surfaces, below, most));
    }

    /// Finds the pairs below a pair of nodes.
    pub(super) fn compare(&self, surfaces: [u32; 2], nodes: [u32; 2], out: &mut Vec<NearPair>) {
        let patches = surfaces.map(|s| &self.pairs.surfaces[s as usize]);
        if !self.worth(patches, surfaces, nodes) {
            return;
        }
        let is_leaf = |i: usize| patches[i].tree.nodes[nodes[i] as usize].count > 0;
        if !(is_leaf(0) && is_leaf(1)) {
            return self.open(surfaces, nodes, |below| self.compare(surfaces, below, out));
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
        let is_same = core::ptr::eq(ours, theirs);
        for place in leaf.start as usize..(leaf.start + leaf.count) as usize {
            let corners = theirs.corners[place];
            let [p, q, r] = corners.map(|corner| &theirs.moving[corner as usize]);
            let around = p.alone().with(q).with(r);
            for vertex in first..last {
                if self.may_meet(&ours.moving[vertex as usize].alone(), &around)
                    && !(is_same && corners.contains(&vertex))
                {
                    out.extend(self.near_pair(theirs, is_same, ours.vertices[vertex as usize], place));
                }
            }
        }
    }

    /// A vertex and a triangle, by its place in the order of a tree, whose boxes may meet.
    fn near_pair(&self, theirs: &Patch, is_same: bool, vertex: u32, place: usize) -> Option<NearPair> {
        let t = theirs.tree.order[place];
        let triangle = theirs.first_triangle as u32 + t;
        let gap = if is_same { self.pairs.gap_at_rest(theirs, vertex, t)? } else { self.pairs.gap };
        let corners = self.pairs.triangles[triangle as usize];
        let (p, v) = (self.x[vertex as usize], self.v[vertex as usize]);
        let faster = |most: f64, corner: &u32| most.max((v - self.v[*corner as usize]).norm_squared());
        let closing = corners.iter().fold(0.0, faster).sqrt();
        let places = corners.map(|corner| self.x[corner as usize]);
        let distance = (nearest_on_triangle(&p, &places).point - p).norm();
        let is_near = distance <= self.reach + self.time * closing;
        is_near.then_some(NearPair { vertex, triangle, gap, distance, closing })
    }
}
