//! Vertices near triangles, of one surface or several, that may touch: a walk down two trees of boxes at once.
//!
//! Patches whose normals all point to one side cannot fold onto themselves, and are passed over whole.   `[VolinoMagnenat1994]`
//! Of one surface, what was beside or behind a triangle near it at rest never touches it: it hangs together with it.

use crate::box_tree::{Bounds, BoxTree, TreeNode};
use crate::nearest_on_triangle;
use rayon::prelude::*;
use sinew_math::Vec3;

/// A surface that takes part.
#[derive(Clone, Copy, Debug)]
pub struct PairSurface<'a> {
    /// Three vertices per triangle, counted from the surface's first.
    pub triangles: &'a [[u32; 3]],
    /// Vertices at rest (m).
    pub rest: &'a [Vec3],
    /// Whether it may touch itself.
    pub touches_itself: bool,
    /// Whether it may touch other surfaces.
    pub touches_others: bool,
}

/// A vertex and a triangle that may be near each other, counted over all surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// The vertex.
    pub vertex: u32,
    /// The triangle.
    pub triangle: u32,
    /// From this distance on they push each other apart (m).
    pub gap: f64,
    /// How far apart they were when they were found (m).
    pub distance: f64,
}

/// Trees over surfaces, refitted in each pass.
#[derive(Clone, Debug, Default)]
pub struct SurfacePairs {
    /// Corners of all triangles among all vertices.
    triangles: Vec<[u32; 3]>,
    rest: Vec<Vec3>,
    surfaces: Vec<Patch>,
    gap: f64,
    range: f64,
    tasks: Vec<Task>,
    next_tasks: Vec<Task>,
    /// What is found, each list by one thread.
    lists: Vec<Vec<NearPair>>,
    /// Where the next pair of each vertex goes while pairs are sorted.
    place_of_vertex: Vec<u32>,
    pairs: Vec<NearPair>,
}

/// One surface in the walk.
#[derive(Clone, Debug, Default)]
struct Patch {
    first_triangle: usize,
    tree: BoxTree,
    /// Around the normals below each node.
    normals: Vec<Bounds>,
    /// Around each node at rest, somewhat grown: patches whose boxes meet then are beside each other.
    rest: Vec<Bounds>,
    /// The vertices of each leaf: every vertex is in one.
    vertices: Vec<u32>,
    vertices_of_node: Vec<(u32, u32)>,
    /// Middle, normal and radius of triangles at rest.
    rest_shape: Vec<(Vec3, Vec3, f64)>,
    touches_itself: bool,
    touches_others: bool,
}

/// Two nodes to be compared: surface and node of each.
#[derive(Clone, Copy, Debug)]
struct Task {
    surfaces: [u32; 2],
    nodes: [u32; 2],
}

/// Tasks for all threads: enough that the longest does not matter, the same on any number of threads.
const TASKS: usize = 256;
/// Lists that pairs are found into: a few tasks each.
const LISTS: usize = 64;
/// Room in each list, at least and in parts of all vertices, so that memory is seldom asked for again.
const ROOM: usize = 256;
const SHARE_OF_VERTICES: usize = 32;
/// A vertex in front of a triangle at rest is at least this share of its distance above it.
const IN_FRONT: f64 = 0.5;

impl SurfacePairs {
    /// Sorts surfaces into trees. Touching begins at the distance `gap` and is seen down to the depth `range` (m).
    pub fn build(surfaces: &[PairSurface], gap: f64, range: f64) -> SurfacePairs {
        let mut pairs = SurfacePairs { gap, range, ..SurfacePairs::default() };
        for surface in surfaces {
            let first_vertex = pairs.rest.len() as u32;
            let first_triangle = pairs.triangles.len();
            pairs.rest.extend_from_slice(surface.rest);
            pairs.triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + first_vertex)));
            let patch = Patch::build(
                surface,
                first_vertex,
                first_triangle,
                &pairs.triangles,
                &pairs.rest,
                gap + range,
            );
            pairs.surfaces.push(patch);
        }
        pairs
    }

    /// Corners of a triangle among all vertices.
    pub fn triangle(&self, i: u32) -> [u32; 3] {
        self.triangles[i as usize]
    }

    /// The depth down to which touching is seen (m).
    pub fn range(&self) -> f64 {
        self.range
    }

    /// Whether no surface can touch any other, nor itself.
    pub fn is_idle(&self) -> bool {
        let others = self.surfaces.iter().filter(|patch| patch.touches_others).count() > 1;
        !others && !self.surfaces.iter().any(|patch| patch.touches_itself)
    }

    /// Finds all pairs that are, with vertices at `x` (m), within the gap and range of each other or will be when they have come nearer by `way` (m). Sorted by
    /// vertex, then triangle.
    pub fn update(&mut self, x: &[Vec3], way: f64) -> &[NearPair] {
        let SurfacePairs { triangles, surfaces, .. } = self;
        surfaces.iter_mut().for_each(|patch| patch.refit(triangles, x));
        let reach = self.gap.max(self.range) + way;
        self.lay_out_tasks(reach);
        let room = ROOM.max(self.rest.len() / SHARE_OF_VERTICES);
        let mut lists = core::mem::take(&mut self.lists);
        lists.resize_with(LISTS, || Vec::with_capacity(room));
        lists.iter_mut().for_each(Vec::clear);
        let walk = Walk { pairs: self, x, reach };
        let each = self.tasks.len().div_ceil(LISTS).max(1);
        lists.par_iter_mut().zip(self.tasks.par_chunks(each)).for_each(|(list, tasks)| {
            tasks.iter().for_each(|task| walk.compare(task.surfaces, task.nodes, list));
        });
        self.lists = lists;
        self.sort_pairs();
        &self.pairs
    }

    /// Brings the pairs of all lists into order: they are counted by vertex, put into place, and the few of each vertex sorted.
    fn sort_pairs(&mut self) {
        let SurfacePairs { lists, place_of_vertex, pairs, rest, .. } = self;
        place_of_vertex.clear();
        place_of_vertex.resize(rest.len() + 1, 0);
        for pair in lists.iter().flatten() {
            place_of_vertex[pair.vertex as usize + 1] += 1;
        }
        for vertex in 0..rest.len() {
            place_of_vertex[vertex + 1] += place_of_vertex[vertex];
        }
        pairs.clear();
        pairs.reserve(LISTS * ROOM.max(rest.len() / SHARE_OF_VERTICES));
        pairs.resize(
            lists.iter().map(Vec::len).sum(),
            NearPair { vertex: 0, triangle: 0, gap: 0.0, distance: 0.0 },
        );
        for pair in lists.iter().flatten() {
            let place = &mut place_of_vertex[pair.vertex as usize];
            pairs[*place as usize] = *pair;
            *place += 1;
        }
        let of_vertices = pairs.chunk_by_mut(|a, b| a.vertex == b.vertex);
        of_vertices.for_each(|own| own.sort_unstable_by_key(|pair| pair.triangle));
    }

    /// The pairs found last.
    pub fn pairs(&self) -> &[NearPair] {
        &self.pairs
    }

    /// Splits the comparison of all with all into tasks, by going down the trees level by level.
    fn lay_out_tasks(&mut self, reach: f64) {
        let mut tasks = core::mem::take(&mut self.tasks);
        let mut next = core::mem::take(&mut self.next_tasks);
        tasks.clear();
        // one level adds twice as many at most
        tasks.reserve(3 * TASKS);
        next.clear();
        next.reserve(3 * TASKS);
        for (a, patch) in self.surfaces.iter().enumerate() {
            if patch.tree.nodes.is_empty() {
                continue;
            }
            if patch.touches_itself {
                tasks.push(Task { surfaces: [a as u32; 2], nodes: [0; 2] });
            }
            for (b, other) in self.surfaces.iter().enumerate().skip(a + 1) {
                if patch.touches_others && other.touches_others && !other.tree.nodes.is_empty() {
                    tasks.push(Task { surfaces: [a as u32, b as u32], nodes: [0; 2] });
                }
            }
        }
        let walk = Walk { pairs: self, x: &[], reach };
        for _ in 0..24 {
            if tasks.is_empty() || tasks.len() >= TASKS {
                break;
            }
            next.clear();
            for task in &tasks {
                walk.children(task.surfaces, task.nodes, |nodes| next.push(Task { nodes, ..*task }));
            }
            core::mem::swap(&mut tasks, &mut next);
        }
        self.tasks = tasks;
        self.next_tasks = next;
    }
}

impl Patch {
    fn build(
        surface: &PairSurface,
        first_vertex: u32,
        first_triangle: usize,
        triangles: &[[u32; 3]],
        rest: &[Vec3],
        near: f64,
    ) -> Patch {
        let own = &triangles[first_triangle..];
        let corners = |t: &[u32; 3]| t.map(|v| rest[v as usize]);
        let boxes: Vec<Bounds> = own.iter().map(|t| Bounds::around(&corners(t))).collect();
        let tree = BoxTree::build(&boxes);
        let shape = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            let middle = (a + b + c) / 3.0;
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or(Vec3::zeros());
            (middle, normal, [a, b, c].iter().map(|p| (p - middle).norm()).fold(0.0, f64::max))
        };
        let mut taken = vec![false; surface.rest.len()];
        let (mut vertices, mut vertices_of_node) = (Vec::new(), Vec::new());
        for node in &tree.nodes {
            let first = vertices.len() as u32;
            for &t in &tree.order[node.start as usize..][..node.count as usize] {
                for v in own[t as usize] {
                    if !core::mem::replace(&mut taken[(v - first_vertex) as usize], true) {
                        vertices.push(v);
                    }
                }
            }
            vertices_of_node.push((first, vertices.len() as u32));
        }
        Patch {
            first_triangle,
            normals: vec![Bounds::EMPTY; tree.nodes.len()],
            rest: tree.bounds.iter().map(|bounds| bounds.grown(0.5 * near)).collect(),
            rest_shape: own.iter().map(shape).collect(),
            vertices,
            vertices_of_node,
            tree,
            touches_itself: surface.touches_itself,
            touches_others: surface.touches_others,
        }
    }

    /// Fits boxes and normals to where the surface is: leaves at once, the rest from below.
    fn refit(&mut self, triangles: &[[u32; 3]], x: &[Vec3]) {
        let Patch { tree, normals, first_triangle, .. } = self;
        let BoxTree { nodes, bounds, order } = tree;
        let fit = |((node, bounds), normals): ((&TreeNode, &mut Bounds), &mut Bounds)| {
            if node.count == 0 {
                return;
            }
            (*bounds, *normals) = (Bounds::EMPTY, Bounds::EMPTY);
            for &t in &order[node.start as usize..][..node.count as usize] {
                let [a, b, c] = triangles[*first_triangle + t as usize].map(|v| x[v as usize]);
                *bounds = bounds.with(&a).with(&b).with(&c);
                let normal = (b - a).cross(&(c - a));
                let length = normal.norm();
                // a triangle without area has no side
                let normal = if length > 0.0 { normal / length } else { Vec3::zeros() };
                *normals = normals.with(&normal);
            }
        };
        nodes
            .par_iter()
            .zip(bounds.par_iter_mut())
            .zip(normals.par_iter_mut())
            .with_min_len(512)
            .for_each(fit);
        for i in (0..nodes.len()).rev() {
            if nodes[i].count == 0 {
                let other = nodes[i].start as usize;
                bounds[i] = bounds[i + 1].and(&bounds[other]);
                normals[i] = normals[i + 1].and(&normals[other]);
            }
        }
    }
}

/// Whether all normals in a box point to one side: that of its middle.
fn one_sided(normals: &Bounds) -> bool {
    let middle = normals.center();
    let half = 0.5 * (normals.max - normals.min);
    middle.norm_squared() > middle.abs().dot(&half)
}

struct Walk<'a> {
    pairs: &'a SurfacePairs,
    x: &'a [Vec3],
    reach: f64,
}

impl Walk<'_> {
    /// Hands on the pairs of nodes below a pair that are worth comparing; leaves as they are.
    fn children(&self, surfaces: [u32; 2], [a, b]: [u32; 2], mut hand_on: impl FnMut([u32; 2])) {
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
        if surfaces[0] == surfaces[1] {
            let patch = patches[0];
            if a == b {
                return !one_sided(&patch.normals[a]);
            }
            if !patch.tree.bounds[a].grown(self.reach).meets(&patch.tree.bounds[b]) {
                return false;
            }
            // neighbours that face one way
            return !(patch.rest[a].meets(&patch.rest[b])
                && one_sided(&patch.normals[a].and(&patch.normals[b])));
        }
        patches[0].tree.bounds[a].grown(self.reach).meets(&patches[1].tree.bounds[b])
    }

    fn compare(&self, surfaces: [u32; 2], nodes: [u32; 2], out: &mut Vec<NearPair>) {
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
        let around = theirs.tree.bounds[b as usize].grown(self.reach);
        let is_same = core::ptr::eq(ours, theirs);
        for &vertex in &ours.vertices[first as usize..last as usize] {
            let p = self.x[vertex as usize];
            if !around.holds(&p) {
                continue;
            }
            for &t in &theirs.tree.order[leaf.start as usize..][..leaf.count as usize] {
                let triangle = (theirs.first_triangle + t as usize) as u32;
                let corners = self.pairs.triangles[triangle as usize];
                let places = corners.map(|v| self.x[v as usize]);
                if corners.contains(&vertex) || !Bounds::around(&places).grown(self.reach).holds(&p) {
                    continue;
                }
                let gap = if is_same { self.gap_at_rest(theirs, vertex, t) } else { Some(self.pairs.gap) };
                let Some(gap) = gap else { continue };
                let distance = (nearest_on_triangle(&p, &places).point - p).norm();
                if distance <= self.reach {
                    out.push(NearPair { vertex, triangle, gap, distance });
                }
            }
        }
    }

    /// From which distance on a vertex and a triangle of one surface push each other apart: at most half of what is between them at rest. `None` if they never do.
    fn gap_at_rest(&self, patch: &Patch, vertex: u32, t: u32) -> Option<f64> {
        let (middle, normal, radius) = patch.rest_shape[t as usize];
        let off = self.pairs.rest[vertex as usize] - middle;
        let near = 2.0 * (self.pairs.gap + self.pairs.range) + radius;
        if off.norm_squared() > near * near {
            return Some(self.pairs.gap);
        }
        if off.dot(&normal) < IN_FRONT * off.norm() {
            return None;
        }
        let corners =
            self.pairs.triangles[patch.first_triangle + t as usize].map(|v| self.pairs.rest[v as usize]);
        let p = self.pairs.rest[vertex as usize];
        let distance = (nearest_on_triangle(&p, &corners).point - p).norm();
        Some(self.pairs.gap.min(0.5 * distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::{TriMesh, shapes};

    fn pairs_of(surfaces: &[&TriMesh], itself: bool, gap: f64, range: f64) -> SurfacePairs {
        let surfaces: Vec<PairSurface> = surfaces
            .iter()
            .map(|s| PairSurface {
                triangles: &s.triangles,
                rest: &s.vertices,
                touches_itself: itself,
                touches_others: true,
            })
            .collect();
        SurfacePairs::build(&surfaces, gap, range)
    }

    /// Two balls moved together: every vertex that is in reach of a triangle is found with it, as comparing all with all does.
    #[test]
    fn no_near_pair_of_two_bodies_is_missed() {
        let ball = shapes::sphere(0.1, 3);
        let mut pairs = pairs_of(&[&ball, &ball], false, 0.005, 0.01);
        let mut x = ball.vertices.clone();
        x.extend(ball.vertices.iter().map(|v| v + Vec3::new(0.19, 0.02, 0.0)));
        let found = pairs.update(&x, 0.0).to_vec();
        assert!(found.windows(2).all(|w| (w[0].vertex, w[0].triangle) < (w[1].vertex, w[1].triangle)));
        let (n, m) = (ball.vertices.len(), ball.triangles.len());
        let mut near = 0;
        for v in 0..2 * n {
            for t in 0..2 * m {
                if (v < n) == (t < m) {
                    continue;
                }
                let corners = pairs.triangle(t as u32).map(|c| x[c as usize]);
                if (nearest_on_triangle(&x[v], &corners).point - x[v]).norm() < 0.01 {
                    near += 1;
                    assert!(found.iter().any(|p| (p.vertex as usize, p.triangle as usize) == (v, t)));
                }
            }
        }
        assert!(near > 50 && found.len() < 40 * near);
    }

    #[test]
    fn a_body_at_rest_or_moved_as_a_whole_touches_nothing_within_its_gap() {
        for surface in
            [shapes::sphere(0.1, 4), shapes::torus(0.1, 0.03, 40, 16), shapes::cuboid([0.1, 0.2, 0.3])]
        {
            let mut pairs = pairs_of(&[&surface], true, 0.004, 0.008);
            let x: Vec<Vec3> =
                surface.vertices.iter().map(|v| Vec3::new(v.y, -v.x, v.z) + Vec3::x()).collect();
            for pair in pairs.update(&x, 0.0).to_vec() {
                let corners = pairs.triangle(pair.triangle).map(|c| x[c as usize]);
                let p = x[pair.vertex as usize];
                assert!((nearest_on_triangle(&p, &corners).point - p).norm() > pair.gap);
            }
        }
    }

    /// A torus whose opposite sides are pressed together, so that its hole closes.
    #[test]
    fn what_folds_onto_itself_is_found_and_the_same_on_any_number_of_threads() {
        let torus = shapes::torus(0.1, 0.03, 60, 24);
        let x: Vec<Vec3> = torus.vertices.iter().map(|v| Vec3::new(v.x * 0.3, v.y, v.z)).collect();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| pairs_of(&[&torus], true, 0.003, 0.006).update(&x, 0.002).to_vec())
        };
        let found = run(1);
        assert!(found.len() > 20);
        assert_eq!(found, run(2));
        assert_eq!(found, run(5));
    }

    #[test]
    fn degenerate_triangles_and_coincident_vertices_are_survived() {
        let mut surface = shapes::sphere(0.1, 2);
        surface.triangles.push([0, 0, 1]);
        surface.triangles.push([2, 2, 2]);
        let first = surface.vertices[0];
        surface.vertices[5] = first;
        let x = surface.vertices.clone();
        let mut pairs = pairs_of(&[&surface], true, 0.01, 0.02);
        assert!(pairs.update(&x, 0.01).iter().all(|pair| pair.gap.is_finite()));
        let empty = TriMesh::default();
        assert!(pairs_of(&[&empty], true, 0.01, 0.02).update(&[], 0.1).is_empty());
    }
}
