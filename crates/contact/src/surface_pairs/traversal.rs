//! Simultaneous traversal of two bounding volume hierarchies.

use super::lane_box::{MovingBox, ROUND_OFF};
use super::surface_tree::{LeafEdge, SurfaceNode, SurfaceTree};
use super::{NearPair, PairLists, SurfacePairs};
use crate::{nearest_on_segments, nearest_on_triangle};
use sinew_math::Vec3;

/// What vertices are paired with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Triangles, by their own distances.
    Triangles,
    /// Patches, by the distances of their boxes.
    Patches,
}

/// A traversal of hierarchies that are up to date.
pub(super) struct Traversal<'a> {
    pairs: &'a SurfacePairs,
    grain: Grain,
    /// Positions (m) and velocities (m/s) of the vertices.
    x: &'a [Vec3],
    v: &'a [Vec3],
    /// How far vertices of each surface may deviate from their linear motion (m).
    drift: &'a [f64],
    /// Pairs that come near within this time (s) are found.
    time: f64,
    /// Allowance for rounding of boxes (m), and of differences of velocities (m/s).
    slack: f32,
    speed_slack: f32,
}

impl<'a> Traversal<'a> {
    /// A traversal that compares boxes only.
    pub(super) fn over_boxes(
        pairs: &'a SurfacePairs,
        grain: Grain,
        time: f64,
        drift: &'a [f64],
    ) -> Traversal<'a> {
        Traversal::new(pairs, grain, (&[], &[]), time, drift)
    }

    pub(super) fn new(
        pairs: &'a SurfacePairs,
        grain: Grain,
        (x, v): (&'a [Vec3], &'a [Vec3]),
        time: f64,
        drift: &'a [f64],
    ) -> Traversal<'a> {
        let roots = || pairs.surfaces.iter().filter_map(|tree| tree.nodes.first());
        let max_magnitude = roots().map(|root| root.moving.position.max_magnitude()).fold(0.0, f64::max);
        let fastest = roots().map(|root| root.moving.velocities.max_magnitude()).fold(0.0, f64::max);
        let max_reach = f64::from(roots().map(|root| root.reach).fold(0.0, f32::max));
        let slack = ROUND_OFF * (max_magnitude + 2.0 * time * fastest + max_reach);
        let speed_slack = (ROUND_OFF * fastest) as f32;
        Traversal { pairs, grain, x, v, drift, time, slack: slack as f32, speed_slack }
    }
}

impl Traversal<'_> {
    /// Visits the child pairs of a pair of nodes, if they may collide; a pair of leaves as it is.
    pub(super) fn children(&self, surfaces: [u32; 2], [a, b]: [u32; 2], visit: impl FnMut([u32; 2])) {
        if self.may_collide(surfaces, [a, b]) {
            self.open(surfaces, [a, b], self.ends(surfaces, [a, b]), visit);
        }
    }

    /// Whether the traversal ends at each of two nodes: at leaves, or at small patches of different surfaces.
    #[inline]
    fn ends(&self, surfaces: [u32; 2], nodes: [u32; 2]) -> [bool; 2] {
        let is_by_patches = self.grain == Grain::Patches && surfaces[0] != surfaces[1];
        let trees = self.trees(surfaces);
        [0, 1].map(|i| {
            let is_leaf = trees[i].nodes[nodes[i] as usize].count > 0;
            is_leaf || (is_by_patches && self.pairs.patch(trees[i].first_patch + nodes[i]).is_small())
        })
    }

    fn trees(&self, surfaces: [u32; 2]) -> [&SurfaceTree; 2] {
        surfaces.map(|s| &self.pairs.surfaces[s as usize])
    }

    /// Visits the child pairs of a pair of nodes, at which the traversal may end; a pair of ends as it is.
    #[inline]
    fn open(&self, surfaces: [u32; 2], [a, b]: [u32; 2], ends: [bool; 2], mut visit: impl FnMut([u32; 2])) {
        let trees = self.trees(surfaces);
        let [na, nb] = [&trees[0].nodes[a as usize], &trees[1].nodes[b as usize]];
        if surfaces[0] == surfaces[1] && a == b {
            if na.count > 0 {
                return visit([a, b]);
            }
            let (left, right) = (a + 1, na.start);
            visit([left, left]);
            visit([right, right]);
            return visit([left, right]);
        }
        match (ends[0], ends[1]) {
            (true, true) => visit([a, b]),
            // descend into the larger of the two
            (false, true) => [a + 1, na.start].into_iter().for_each(|child| visit([child, b])),
            (true, false) => [b + 1, nb.start].into_iter().for_each(|child| visit([a, child])),
            (false, false) => {
                if na.moving.position.size() >= nb.moving.position.size() {
                    [a + 1, na.start].into_iter().for_each(|child| visit([child, b]));
                } else {
                    [b + 1, nb.start].into_iter().for_each(|child| visit([a, child]));
                }
            }
        }
    }

    #[inline]
    fn may_collide(&self, surfaces: [u32; 2], [a, b]: [u32; 2]) -> bool {
        let trees = self.trees(surfaces);
        let [ours, theirs] = [&trees[0].nodes[a as usize], &trees[1].nodes[b as usize]];
        if !ours.tested.meets(theirs.tested) {
            return false;
        }
        let is_same = surfaces[0] == surfaces[1];
        if is_same && a == b {
            return ours.sides.is_empty() && !trees[0].excluded.contains(a, a);
        }
        let reach = self.reach([ours, theirs], surfaces);
        if !ours.moving.may_meet(&theirs.moving, reach, self.time as f32) {
            return false;
        }
        // neighbours whose normals lie in one half-space, or that move together
        !(is_same
            && ours.rest.intersects(&theirs.rest)
            && (!ours.sides.and(theirs.sides).is_empty() || trees[0].excluded.contains(a, b)))
    }

    /// The distance within which primitives of two nodes are compared (m).
    #[inline]
    fn reach(&self, [ours, theirs]: [&SurfaceNode; 2], surfaces: [u32; 2]) -> f32 {
        ours.reach.max(theirs.reach) + self.drifts(surfaces) as f32 + self.slack
    }

    #[inline]
    fn drifts(&self, [a, b]: [u32; 2]) -> f64 {
        self.drift[a as usize] + self.drift[b as usize]
    }

    /// Raises `max_rate` to the approach speed of the leaves below a pair of nodes that may collide, relative to the nominal range of their surfaces (1/s).
    pub(super) fn approach_rate(&self, surfaces: [u32; 2], nodes: [u32; 2], max_rate: &mut f64) {
        let trees = self.trees(surfaces);
        let [ours, theirs] = [&trees[0].nodes[nodes[0] as usize], &trees[1].nodes[nodes[1] as usize]];
        let closing = f64::from(ours.moving.velocities.difference(&theirs.moving.velocities));
        let is_leaf = ours.count > 0 && theirs.count > 0;
        let rate = closing / crossed_range(trees);
        // NaN, as in a failed step, does not compare and counts
        if rate <= *max_rate || !self.may_collide(surfaces, nodes) {
            return;
        }
        if is_leaf {
            *max_rate = rate;
            return;
        }
        let ends = [ours.count > 0, theirs.count > 0];
        self.open(surfaces, nodes, ends, |below| self.approach_rate(surfaces, below, max_rate));
    }

    /// Raises `max_rate` to the rate at which primitives below a pair of nodes may pass through each other, relative to a range of contact (1/s). Needs positions and velocities.
    pub(super) fn crossing_rate(&self, surfaces: [u32; 2], nodes: [u32; 2], max_rate: &mut f64) {
        let trees = self.trees(surfaces);
        let [ours, theirs] = [0, 1].map(|i| &trees[i].nodes[nodes[i] as usize]);
        let closing = f64::from(ours.moving.velocities.difference(&theirs.moving.velocities));
        let range = crossed_range(trees);
        if closing / range <= *max_rate || !self.may_collide(surfaces, nodes) {
            return;
        }
        let ends = [ours.count > 0, theirs.count > 0];
        if ends != [true; 2] {
            let mut visit = |below| self.crossing_rate(surfaces, below, max_rate);
            return self.open(surfaces, nodes, ends, &mut visit);
        }
        let mut max_speed = range * *max_rate;
        self.vertices_crossing(surfaces, nodes, &mut max_speed);
        if surfaces[0] != surfaces[1] || nodes[0] != nodes[1] {
            let [[a, b], [sa, sb]] = [nodes, surfaces];
            self.vertices_crossing([sb, sa], [b, a], &mut max_speed);
        }
        self.edges_crossing(surfaces, nodes, &mut max_speed);
        *max_rate = max_rate.max(max_speed / range);
    }

    /// Raises `max_speed` (m/s) to the speed ṡ at which vertices of the first leaf may pass through triangles of the second that they may come near to:
    ///
    /// ```text
    /// ṡ = maxᵢ max(−(v − vᵢ)·n, |v − vᵢ|/2)
    /// ```
    ///
    /// over the corners i of a triangle with normal n, |·| of the product if it has no inside. What slides along the triangle does not pass through it; half of the speed allows for a turn by 30° in the meantime.
    fn vertices_crossing(&self, surfaces: [u32; 2], [a, b]: [u32; 2], max_speed: &mut f64) {
        let [ours, theirs] = self.trees(surfaces);
        let (first, last) = ours.samples_of_node[a as usize];
        let leaf = &theirs.nodes[b as usize];
        for &sample in &ours.samples[first as usize..last as usize] {
            let vertex = ours.vertices[sample as usize];
            let v = self.v[vertex as usize];
            for position in leaf.start as usize..(leaf.start + leaf.count) as usize {
                let triangle = theirs.first_triangle as u32 + theirs.tree.order[position];
                let corners = self.pairs.triangles[triangle as usize];
                let relative = corners.map(|corner| v - self.v[corner as usize]);
                let [x, y, z] = corners.map(|corner| self.x[corner as usize]);
                let normal = (y - x).cross(&(z - x)).try_normalize(f64::MIN_POSITIVE).unwrap_or_default();
                let side = if theirs.is_two_sided { Side::Both } else { Side::Front };
                let speed = crossing_speed(&relative, &normal, side);
                if speed <= *max_speed || self.near_vertex(surfaces, vertex, triangle).is_none() {
                    continue;
                }
                *max_speed = speed;
            }
        }
    }

    /// The same for edges, whose normal is e₁ × e₂, or any if they are parallel.
    fn edges_crossing(&self, surfaces: [u32; 2], [a, b]: [u32; 2], max_speed: &mut f64) {
        let trees = self.trees(surfaces);
        let edges = |i: usize, node: u32| {
            let (first, last) = trees[i].edges_of_node[node as usize];
            &trees[i].edges[first as usize..last as usize]
        };
        let is_same = surfaces[0] == surfaces[1] && a == b;
        for (i, first) in edges(0, a).iter().enumerate() {
            // of one leaf each pair once
            for second in &edges(1, b)[if is_same { i + 1 } else { 0 }..] {
                let ends = [first, second].map(|edge| self.pairs.edges[edge.edge as usize].ends);
                let [va, vb] = ends.map(|ends| ends.map(|v| self.v[v as usize]));
                let relative = [va[0] - vb[0], va[0] - vb[1], va[1] - vb[0], va[1] - vb[1]];
                let [ea, eb] = ends.map(|[from, to]| self.x[to as usize] - self.x[from as usize]);
                let speed = match ea.cross(&eb).try_normalize(1e-2 * ea.norm() * eb.norm()) {
                    Some(normal) => crossing_speed(&relative, &normal, Side::Both),
                    None => relative.iter().map(|v| v.norm_squared()).fold(0.0, f64::max).sqrt(),
                };
                if speed <= *max_speed || self.near_edges(surfaces, first, second).is_none() {
                    continue;
                }
                *max_speed = speed;
            }
        }
    }

    /// Finds the candidate pairs below a pair of nodes.
    pub(super) fn compare(&self, surfaces: [u32; 2], nodes: [u32; 2], out: &mut PairLists) {
        if !self.may_collide(surfaces, nodes) {
            return;
        }
        let ends = self.ends(surfaces, nodes);
        if ends != [true; 2] {
            return self.open(surfaces, nodes, ends, |below| self.compare(surfaces, below, out));
        }
        let [sa, sb] = surfaces;
        let compare = match self.grain {
            Grain::Triangles => Self::compare_vertices,
            Grain::Patches => Self::compare_with_patch,
        };
        compare(self, [sa, sb], nodes, &mut out.vertices);
        if sa != sb || nodes[0] != nodes[1] {
            compare(self, [sb, sa], [nodes[1], nodes[0]], &mut out.vertices);
        }
        self.compare_edges(surfaces, nodes, &mut out.edges);
    }

    /// Vertices of the first leaf against triangles of the second.
    fn compare_vertices(&self, surfaces: [u32; 2], [a, b]: [u32; 2], out: &mut Vec<NearPair>) {
        let [ours, theirs] = self.trees(surfaces);
        let (first, last) = ours.samples_of_node[a as usize];
        if first == last {
            return;
        }
        let leaf = &theirs.nodes[b as usize];
        let (reach, time) = (self.reach([&ours.nodes[a as usize], leaf], surfaces), self.time as f32);
        let around_leaf = &leaf.moving;
        for &sample in &ours.samples[first as usize..last as usize] {
            let own = ours.moving[sample as usize].as_box();
            if !own.may_meet(around_leaf, reach, time) {
                continue;
            }
            for position in leaf.start as usize..(leaf.start + leaf.count) as usize {
                if own.may_meet(&box_of(theirs, &theirs.corners[position]), reach, time) {
                    let triangle = theirs.first_triangle as u32 + theirs.tree.order[position];
                    out.extend(self.near_vertex(surfaces, ours.vertices[sample as usize], triangle));
                }
            }
        }
    }

    /// Vertices of the first patch against the second as a whole.
    fn compare_with_patch(&self, surfaces: [u32; 2], [a, b]: [u32; 2], out: &mut Vec<NearPair>) {
        let [ours, theirs] = self.trees(surfaces);
        let (first, last) = ours.samples_of_node[a as usize];
        if first == last {
            return;
        }
        let pairs = self.pairs;
        let (leaf, number) = (&theirs.nodes[b as usize].moving, theirs.first_patch + b);
        let (patch, drifts) = (pairs.patch(number), self.drifts(surfaces));
        for &sample in &ours.samples[first as usize..last as usize] {
            let vertex = ours.vertices[sample as usize];
            let reach = pairs.gap[vertex as usize].max(patch.range) + drifts;
            let own = ours.moving[sample as usize].as_box();
            if !own.may_meet(leaf, reach as f32 + self.slack, self.time as f32) {
                continue;
            }
            let distance = f64::from((own.position.distance(&leaf.position) - self.slack).max(0.0));
            let closing = f64::from(own.velocities.difference(&leaf.velocities) + self.speed_slack);
            let moves_together = || {
                let mut triangles = pairs.patch_triangles(patch).iter();
                surfaces[0] == surfaces[1] && triangles.all(|t| pairs.moves_with(vertex, *t))
            };
            // differences in single precision, which may have been rounded up
            let (distance, closing) = (distance * (1.0 - ROUND_OFF), closing * (1.0 + ROUND_OFF));
            let near = NearPair::within(vertex, number, distance, closing, reach, self.time);
            out.extend(near.filter(|_| !moves_together()));
        }
    }

    /// The candidate pair of a vertex and a triangle, if they are near.
    fn near_vertex(&self, surfaces: [u32; 2], vertex: u32, triangle: u32) -> Option<NearPair> {
        let pairs = self.pairs;
        if surfaces[0] == surfaces[1] && pairs.moves_with(vertex, triangle) {
            return None;
        }
        let corners = pairs.triangles[triangle as usize];
        let v = self.v[vertex as usize];
        let faster = |max: f64, corner: &u32| max.max((v - self.v[*corner as usize]).norm_squared());
        let closing = corners.iter().fold(0.0, faster).sqrt();
        let p = self.x[vertex as usize];
        let positions = corners.map(|corner| self.x[corner as usize]);
        let distance = (nearest_on_triangle(&p, &positions).point - p).norm();
        let reach = pairs.gap[vertex as usize].max(pairs.range[triangle as usize]) + self.drifts(surfaces);
        NearPair::within(vertex, triangle, distance, closing, reach, self.time)
    }

    /// Edges of the first leaf or patch against edges of the second.
    fn compare_edges(&self, surfaces: [u32; 2], [a, b]: [u32; 2], out: &mut Vec<NearPair>) {
        let [ours, theirs] = self.trees(surfaces);
        let edges = |tree: &'_ SurfaceTree, node: u32| {
            let (first, last) = tree.edges_of_node[node as usize];
            first as usize..last as usize
        };
        let (own, other) = (edges(ours, a), edges(theirs, b));
        let leaf = &theirs.nodes[b as usize];
        let (reach, time) = (self.reach([&ours.nodes[a as usize], leaf], surfaces), self.time as f32);
        let around_leaf = &leaf.moving;
        let is_same = surfaces[0] == surfaces[1] && a == b;
        for (i, first) in ours.edges[own].iter().enumerate() {
            let around = box_of(ours, &first.ends);
            if !around.may_meet(around_leaf, reach, time) {
                continue;
            }
            // of one leaf each pair once
            let start = if is_same { other.start + i + 1 } else { other.start };
            for second in &theirs.edges[start..other.end] {
                if around.may_meet(&box_of(theirs, &second.ends), reach, time) {
                    out.extend(self.near_edges(surfaces, first, second));
                }
            }
        }
    }

    /// The candidate pair of two edges, if they are near.
    fn near_edges(&self, surfaces: [u32; 2], first: &LeafEdge, second: &LeafEdge) -> Option<NearPair> {
        let pairs = self.pairs;
        let [a, b] = [first.edge.min(second.edge), first.edge.max(second.edge)];
        let ends = [a, b].map(|edge| pairs.edges[edge as usize].ends);
        if surfaces[0] == surfaces[1] && pairs.carriers.edges_meet(ends[0], ends[1]) {
            return None;
        }
        let [va, vb] = ends.map(|ends| ends.map(|v| self.v[v as usize]));
        let apart = |i: usize, j: usize| (va[i] - vb[j]).norm_squared();
        let closing = apart(0, 0).max(apart(0, 1)).max(apart(1, 0)).max(apart(1, 1)).sqrt();
        let [xa, xb] = ends.map(|ends| ends.map(|v| self.x[v as usize]));
        let distance = nearest_on_segments(&xa, &xb).gap().norm();
        let reach = pairs.edge_reach(a).max(pairs.edge_reach(b)) + self.drifts(surfaces);
        NearPair::within(a, b, distance, closing, reach, self.time)
    }
}

/// The range that primitives of two surfaces must not pass within a step (m): the larger nominal one. A sheet must not be passed, however thick the other one is.
fn crossed_range(trees: [&SurfaceTree; 2]) -> f64 {
    let [a, b] = trees.map(|tree| tree.nominal_range);
    if trees.iter().any(|tree| tree.is_two_sided) { a.min(b) } else { a.max(b) }
}

/// The sides from which a surface is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Front,
    Both,
}

/// The largest speed of some relative velocities against a normal, and at least half of any.
fn crossing_speed(relative: &[Vec3], normal: &Vec3, side: Side) -> f64 {
    let of_one = |v: &Vec3| {
        let along = -v.dot(normal);
        let along = if side == Side::Both { along.abs() } else { along };
        along.max(0.5 * v.norm())
    };
    relative.iter().map(of_one).fold(0.0, f64::max)
}

/// The box of some vertices of a tree.
#[inline]
fn box_of(tree: &SurfaceTree, vertices: &[u32]) -> MovingBox {
    vertices.iter().fold(MovingBox::EMPTY, |all, v| all.with(&tree.moving[*v as usize]))
}
