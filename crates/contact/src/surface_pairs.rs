//! Broad phase for deformable surfaces: vertex-triangle and edge-edge pairs that may come into contact within a time interval, by
//! simultaneous traversal of two bounding volume hierarchies.
//!
//! Boxes of velocities bound the approach of two subtrees, so that a swinging limb is tested against what it moves towards, and
//! not against itself: points that move together do not approach. Within one surface, primitives with a carrier in common
//! ([`CarrierRows`]) never collide, unless they face each other across a crease. All distances are those of the primitives themselves: no body changes the pairs of others.

mod carrier_sets;
mod carriers;
mod creases;
mod excluded_pairs;
mod lane_box;
mod patches;
mod shells;
mod sides;
mod surface_tree;
mod traversal;

use carrier_sets::CarrierSets;
pub use carriers::CarrierRows;
use carriers::Carriers;
use creases::{CreaseBounds, Creases};
use excluded_pairs::ExcludedPairs;
pub use patches::Patch;
use patches::Patches;
use rayon::prelude::*;
use shells::find_shells;
use sinew_math::Vec3;
use surface_tree::{FirstOf, SurfaceTree};
use traversal::{Grain, Traversal};

/// A surface in the broad phase.
#[derive(Clone, Copy, Debug)]
pub struct PairSurface<'a> {
    /// Three vertices per triangle, relative to the first vertex of the surface.
    pub triangles: &'a [[u32; 3]],
    /// Vertices at rest (m).
    pub rest: &'a [Vec3],
    /// What moves the vertices.
    pub carriers: CarrierRows<'a>,
    /// The vertices that are tested against triangles.
    pub is_sample: &'a [bool],
    /// The signed distance from a triangle at which repulsion of each vertex starts (m): negative for a vertex that is inside other flesh at rest.
    pub gap: &'a [f64],
    /// The depth behind each triangle down to which contact is detected (m).
    pub range: &'a [f64],
    /// The edges that are tested against edges.
    pub edges: &'a [SurfaceEdge],
    /// The range where the surface is thick (m), by which approach is measured.
    pub nominal_range: f64,
    /// Whether it has no inside, so that what comes near a triangle is repelled to the side where it is, within half of the range beside its own gap.
    pub is_two_sided: bool,
    /// Whether it may contact itself.
    pub collides_with_itself: bool,
    /// Whether it may contact other surfaces.
    pub collides_with_others: bool,
}

/// An edge of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfaceEdge {
    /// Its ends.
    pub ends: [u32; 2],
    /// The third corners of the triangles on its two sides: of the one that has it from the first end to the second, and of the other one. At a border both are the same.
    pub wings: [u32; 2],
}

/// A candidate pair of a vertex and a triangle or patch, or of two edges, with global indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// The vertex, or the edge with the smaller index.
    pub first: u32,
    /// The triangle or patch, or the edge with the larger index.
    pub second: u32,
    /// At most their distance at detection (m).
    pub distance: f32,
    /// At least their approach speed at detection (m/s).
    pub closing: f32,
}

impl NearPair {
    /// The pair, if it is or may be within reach (m) in a time (s).
    #[inline]
    fn within(
        first: u32,
        second: u32,
        distance: f64,
        closing: f64,
        reach: f64,
        time: f64,
    ) -> Option<NearPair> {
        // rounded to the safe side
        let (shorter, faster) = ((distance * ROUNDED_DOWN) as f32, (closing * ROUNDED_UP) as f32);
        let is_near = distance <= reach + time * closing;
        is_near.then_some(NearPair { first, second, distance: shorter, closing: faster })
    }

    #[cfg(test)]
    fn key(&self) -> (u32, u32) {
        (self.first, self.second)
    }
}

/// More than the rounding of single precision, 2⁻²⁴.
const ROUNDED_DOWN: f64 = 1.0 - 1e-7;
const ROUNDED_UP: f64 = 1.0 + 1e-7;

/// Bounding volume hierarchies over surfaces, and the candidate pairs of the last query.
#[derive(Clone, Debug, Default)]
pub struct SurfacePairs {
    /// Corners of all triangles, as global vertex indices.
    triangles: Vec<[u32; 3]>,
    /// The shell of each triangle.
    shells: Vec<u32>,
    edges: Vec<SurfaceEdge>,
    carriers: Carriers,
    creases: Creases,
    /// Of each vertex, triangle and edge (m).
    gap: Vec<f64>,
    range: Vec<f64>,
    edge_gap: Vec<f64>,
    edge_range: Vec<f64>,
    /// Whether the surface of each triangle and edge has no inside.
    is_two_sided: Vec<bool>,
    is_edge_two_sided: Vec<bool>,
    surfaces: Vec<SurfaceTree>,
    /// The surface of each vertex.
    surface_of_vertex: Vec<u32>,
    patches: Patches,
    tasks: Vec<Task>,
    next_tasks: Vec<Task>,
    /// Pairs found, one list per task group.
    lists: Vec<PairLists>,
    /// Insertion position of each vertex or edge, for the counting sort of pairs.
    places: Vec<u32>,
    vertex_pairs: Vec<NearPair>,
    edge_pairs: Vec<NearPair>,
}

/// Pairs of vertices and triangles, and of edges.
#[derive(Clone, Debug, Default)]
struct PairLists {
    vertices: Vec<NearPair>,
    edges: Vec<NearPair>,
}

/// A pair of nodes to be traversed: surface and node of each.
#[derive(Clone, Copy, Debug)]
struct Task {
    surfaces: [u32; 2],
    nodes: [u32; 2],
}

/// The number of tasks for all threads: enough to balance the load, the same for any number of threads.
const TASKS: usize = 256;
/// The number of lists of pairs: a few tasks each.
const LISTS: usize = 64;
/// The initial capacity of each list, so that reallocation is rare; unused capacity is never accessed.
const LIST_CAPACITY: usize = 32_768;
/// Lists with this many times the room that is expected or used are given back.
const MANY_TIMES: usize = 4;

impl SurfacePairs {
    /// Builds the hierarchies.
    pub fn build(surfaces: &[PairSurface]) -> SurfacePairs {
        let mut pairs = SurfacePairs::default();
        for surface in surfaces {
            pairs.add(surface);
        }
        for i in 0..pairs.surfaces.len() {
            if pairs.surfaces[i].collides_with_itself {
                let tree = &pairs.surfaces[i];
                let sets = CarrierSets::build(tree, |vertex| pairs.carriers.of_vertex(vertex));
                let together = |a, b| pairs.move_together(tree, [a, b]);
                let bounds = CreaseBounds::build(tree, &pairs.creases);
                let excluded = ExcludedPairs::find(tree, (&sets, &bounds), &together);
                pairs.surfaces[i].excluded = excluded;
            }
        }
        pairs.lay_out_patches();
        pairs
    }

    fn add(&mut self, surface: &PairSurface) {
        let first = FirstOf {
            vertex: self.gap.len() as u32,
            triangle: self.triangles.len() as u32,
            edge: self.edges.len() as u32,
        };
        let triangles: Vec<[u32; 3]> =
            surface.triangles.iter().map(|t| t.map(|v| v + first.vertex)).collect();
        self.carriers.add(surface.carriers, &triangles);
        self.creases.add(surface);
        self.shells.extend(find_shells(&triangles, first.vertex, surface.rest));
        self.triangles.extend(triangles);
        self.add_primitives(surface, first);
        self.surface_of_vertex.resize(self.gap.len(), self.surfaces.len() as u32);
        self.surfaces.push(SurfaceTree::build(surface, first, carrier_extent(surface)));
    }

    /// Replaces samples, edges, gaps and ranges of the same surfaces, none of which may be new: what was found to move together still does. The pairs of the last query are dropped.
    pub fn set_primitives(&mut self, surfaces: &[PairSurface]) {
        (self.lists, self.vertex_pairs, self.edge_pairs) = Default::default();
        for list in [&mut self.gap, &mut self.range, &mut self.edge_gap, &mut self.edge_range] {
            list.clear();
        }
        self.edges.clear();
        self.is_two_sided.clear();
        self.is_edge_two_sided.clear();
        let mut first_triangle = 0;
        for (i, surface) in surfaces.iter().enumerate() {
            let first = FirstOf {
                vertex: self.gap.len() as u32,
                triangle: first_triangle,
                edge: self.edges.len() as u32,
            };
            first_triangle += surface.triangles.len() as u32;
            self.add_primitives(surface, first);
            self.surfaces[i].set_primitives(surface, first);
        }
        self.lay_out_patches();
    }

    fn lay_out_patches(&mut self) {
        self.patches = Patches::of_nodes(&mut self.surfaces, &self.shells, &self.range);
    }

    /// Adds distances and edges. Edges have the smaller gap of their ends and the smaller range of their triangles.
    fn add_primitives(&mut self, surface: &PairSurface, first: FirstOf) {
        self.gap.extend_from_slice(surface.gap);
        self.range.extend_from_slice(surface.range);
        let mut range_at = vec![f64::INFINITY; surface.rest.len()];
        for (corners, range) in surface.triangles.iter().zip(surface.range) {
            corners.iter().for_each(|v| range_at[*v as usize] = range_at[*v as usize].min(*range));
        }
        for SurfaceEdge { ends, wings } in surface.edges {
            let [a, b] = ends.map(|v| v as usize);
            self.edge_gap.push(surface.gap[a].min(surface.gap[b]));
            self.edge_range.push(range_at[a].min(range_at[b]));
            let global = |v: u32| v + first.vertex;
            self.edges.push(SurfaceEdge { ends: ends.map(global), wings: wings.map(global) });
        }
        self.is_two_sided.resize(self.range.len(), surface.is_two_sided);
        self.is_edge_two_sided.resize(self.edges.len(), surface.is_two_sided);
    }

    /// Whether all primitives of two leaves of a surface move together.
    fn move_together(&self, tree: &SurfaceTree, [a, b]: [u32; 2]) -> bool {
        let samples = |node: u32| {
            let (first, last) = tree.samples_of_node[node as usize];
            tree.samples[first as usize..last as usize].iter().map(|s| tree.vertices[*s as usize])
        };
        let triangles = |node: u32| {
            let leaf = tree.tree.nodes[node as usize];
            let order = &tree.tree.order[leaf.start as usize..][..leaf.count as usize];
            order.iter().map(|t| tree.first_triangle as u32 + t)
        };
        let edges = |node: u32| {
            let (first, last) = tree.edges_of_node[node as usize];
            tree.edges[first as usize..last as usize].iter().map(|e| self.edges[e.edge as usize].ends)
        };
        let vertices_with = |a: u32, b: u32| samples(a).all(|v| triangles(b).all(|t| self.moves_with(v, t)));
        vertices_with(a, b)
            && vertices_with(b, a)
            && edges(a).all(|ours| edges(b).all(|theirs| self.carriers.edges_meet(ours, theirs)))
    }

    /// Corners of a triangle, as global vertex indices.
    #[inline]
    pub fn triangle(&self, i: u32) -> [u32; 3] {
        self.triangles[i as usize]
    }

    /// The connected component of surface that a triangle is part of.
    #[inline]
    pub fn shell(&self, triangle: u32) -> u32 {
        self.shells[triangle as usize]
    }

    /// A patch.
    #[inline]
    pub fn patch(&self, i: u32) -> &Patch {
        self.patches.patch(i)
    }

    /// The triangles of a patch.
    #[inline]
    pub fn patch_triangles(&self, patch: &Patch) -> &[u32] {
        self.patches.triangles(patch)
    }

    /// The number of patches of all surfaces.
    pub fn patch_count(&self) -> usize {
        self.patches.count()
    }

    /// The surface that a vertex is part of.
    #[inline]
    pub fn surface_of(&self, vertex: u32) -> u32 {
        self.surface_of_vertex[vertex as usize]
    }

    /// Whether a vertex and a triangle of the same surface have a carrier in common and do not face each other across a crease: they never collide.
    #[inline]
    pub fn moves_with(&self, vertex: u32, triangle: u32) -> bool {
        self.carriers.vertex_meets_triangle(vertex, triangle)
            && !self.creases.face(vertex, self.triangles[triangle as usize])
    }

    /// An edge, with global vertex indices.
    #[inline]
    pub fn edge(&self, i: u32) -> SurfaceEdge {
        self.edges[i as usize]
    }

    /// The signed distance at which repulsion of a vertex starts (m).
    #[inline]
    pub fn gap(&self, vertex: u32) -> f64 {
        self.gap[vertex as usize]
    }

    /// The depth behind a triangle down to which contact is detected (m).
    #[inline]
    pub fn range(&self, triangle: u32) -> f64 {
        self.range[triangle as usize]
    }

    /// Number of vertices of all surfaces.
    pub fn vertex_count(&self) -> usize {
        self.gap.len()
    }

    /// Changes the distance at which repulsion of a vertex starts (m), to at most the range of any triangle: pairs are found within ranges.
    pub fn set_gap(&mut self, vertex: u32, gap: f64) {
        self.gap[vertex as usize] = gap;
    }

    /// Changes the distance at which repulsion of an edge starts (m), likewise.
    pub fn set_edge_gap(&mut self, edge: u32, gap: f64) {
        self.edge_gap[edge as usize] = gap;
    }

    /// The signed distance at which repulsion of an edge starts (m).
    #[inline]
    pub fn edge_gap(&self, edge: u32) -> f64 {
        self.edge_gap[edge as usize]
    }

    /// The depth behind an edge down to which contact is detected (m).
    #[inline]
    pub fn edge_range(&self, edge: u32) -> f64 {
        self.edge_range[edge as usize]
    }

    /// Whether the surface of a triangle has no inside.
    #[inline]
    pub fn is_two_sided(&self, triangle: u32) -> bool {
        self.is_two_sided[triangle as usize]
    }

    /// Whether the surface of an edge has no inside.
    #[inline]
    pub fn is_edge_two_sided(&self, edge: u32) -> bool {
        self.is_edge_two_sided[edge as usize]
    }

    fn edge_reach(&self, edge: u32) -> f64 {
        self.edge_gap(edge).max(self.edge_range(edge))
    }

    /// The number of triangles of all surfaces.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// The number of edges of all surfaces.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Whether no surface can contact any other, nor itself.
    pub fn is_idle(&self) -> bool {
        let others =
            self.surfaces.iter().filter(|surface_tree| surface_tree.collides_with_others).count() > 1;
        !others && !self.surfaces.iter().any(|surface_tree| surface_tree.collides_with_itself)
    }

    /// Refits the hierarchies to positions (m) and velocities (m/s) of the vertices.
    pub fn refit(&mut self, x: &[Vec3], v: &[Vec3]) {
        self.surfaces.iter_mut().for_each(|surface_tree| surface_tree.refit(x, v));
    }

    /// A bound on the approach speed of primitives that may come into contact within `time` (s), relative to the larger of the nominal ranges of their surfaces (1/s), the smaller one if one has no inside. Vertices of each surface
    /// deviate from their linear motion by at most its `drift` (m). The hierarchies must be up to date.
    pub fn approach_rate(&self, time: f64, drift: &[f64]) -> f64 {
        let traversal = Traversal::over_boxes(self, Grain::Triangles, time, drift);
        let mut most = 0.0;
        self.for_each_root(|task| traversal.approach_rate(task.surfaces, task.nodes, &mut most));
        most
    }

    /// The largest speed above `min_rate` (1/s) at which primitives that may come into contact within `time` (s) may pass through each other, relative to the same ranges (1/s), or `min_rate`: a closer bound than
    /// [`SurfacePairs::approach_rate`], which counts whatever moves relative to each other. The others are as in [`SurfacePairs::find`].
    pub fn crossing_rate(&self, (x, v): (&[Vec3], &[Vec3]), time: f64, drift: &[f64], min_rate: f64) -> f64 {
        let traversal = Traversal::new(self, Grain::Triangles, (x, v), time, drift);
        let mut max_rate = min_rate;
        self.for_each_root(|task| traversal.crossing_rate(task.surfaces, task.nodes, &mut max_rate));
        max_rate
    }

    /// Finds all pairs that are within gap and range or may be within `time` (s), for vertices of each surface that deviate from the linear
    /// motion from `x` (m) with `v` (m/s) by at most its `drift` (m). The hierarchies must be up to date.
    pub fn find(&mut self, x: &[Vec3], v: &[Vec3], time: f64, drift: &[f64]) {
        self.find_by(Grain::Triangles, (x, v), time, drift);
    }

    /// Finds the same pairs of edges, and vertices with the patches that have such triangles and maybe others: a few times fewer, in a fraction of the time.
    pub fn find_patches(&mut self, x: &[Vec3], v: &[Vec3], time: f64, drift: &[f64]) {
        self.find_by(Grain::Patches, (x, v), time, drift);
    }

    fn find_by(&mut self, grain: Grain, (x, v): (&[Vec3], &[Vec3]), time: f64, drift: &[f64]) {
        self.lay_out_tasks(grain, time, drift);
        let mut lists = core::mem::take(&mut self.lists);
        lists.resize_with(LISTS, PairLists::default);
        for list in &mut lists {
            clear(&mut list.vertices, LIST_CAPACITY);
            clear(&mut list.edges, LIST_CAPACITY);
        }
        let traversal = Traversal::new(self, grain, (x, v), time, drift);
        let each = self.tasks.len().div_ceil(LISTS).max(1);
        lists.par_iter_mut().zip(self.tasks.par_chunks(each)).for_each(|(list, tasks)| {
            tasks.iter().for_each(|task| traversal.compare(task.surfaces, task.nodes, list));
        });
        self.lists = lists;
        self.sort_pairs();
    }

    fn for_each_root(&self, mut visit: impl FnMut(Task)) {
        for (a, surface_tree) in self.surfaces.iter().enumerate() {
            if surface_tree.tree.nodes.is_empty() {
                continue;
            }
            if surface_tree.collides_with_itself {
                visit(Task { surfaces: [a as u32; 2], nodes: [0; 2] });
            }
            for (b, other) in self.surfaces.iter().enumerate().skip(a + 1) {
                if surface_tree.collides_with_others
                    && other.collides_with_others
                    && !other.tree.nodes.is_empty()
                {
                    visit(Task { surfaces: [a as u32, b as u32], nodes: [0; 2] });
                }
            }
        }
    }

    /// Merges the lists of vertices and those of edges.
    fn sort_pairs(&mut self) {
        let SurfacePairs { lists, places, vertex_pairs, edge_pairs, gap, edges, .. } = self;
        merge_sorted(lists.iter().map(|list| &list.vertices), gap.len(), places, vertex_pairs);
        merge_sorted(lists.iter().map(|list| &list.edges), edges.len(), places, edge_pairs);
    }

    /// The pairs of vertices and triangles, or patches, of the last query, sorted by vertex, then triangle or patch.
    pub fn vertex_pairs(&self) -> &[NearPair] {
        &self.vertex_pairs
    }

    /// The pairs of edges of the last query, sorted.
    pub fn edge_pairs(&self) -> &[NearPair] {
        &self.edge_pairs
    }

    /// Splits the traversal into tasks, by descending the hierarchies level by level.
    fn lay_out_tasks(&mut self, grain: Grain, time: f64, drift: &[f64]) {
        let mut tasks = core::mem::take(&mut self.tasks);
        let mut next = core::mem::take(&mut self.next_tasks);
        tasks.clear();
        // one level at most triples the number of tasks
        tasks.reserve(3 * TASKS);
        next.clear();
        next.reserve(3 * TASKS);
        self.for_each_root(|task| tasks.push(task));
        let traversal = Traversal::over_boxes(self, grain, time, drift);
        for _ in 0..24 {
            if tasks.is_empty() || tasks.len() >= TASKS {
                break;
            }
            next.clear();
            for task in &tasks {
                traversal.children(task.surfaces, task.nodes, |nodes| next.push(Task { nodes, ..*task }));
            }
            core::mem::swap(&mut tasks, &mut next);
        }
        self.tasks = tasks;
        self.next_tasks = next;
    }
}

/// Merges lists by a counting sort over the first of each pair, one of `count`, then sorts the few pairs of each.
fn merge_sorted<'a>(
    lists: impl Iterator<Item = &'a Vec<NearPair>> + Clone,
    count: usize,
    places: &mut Vec<u32>,
    out: &mut Vec<NearPair>,
) {
    // the first place of each
    places.clear();
    places.resize(count + 1, 0);
    for pair in lists.clone().flatten() {
        places[pair.first as usize + 1] += 1;
    }
    for i in 0..count {
        places[i + 1] += places[i];
    }

    // pairs at their places
    clear(out, LISTS * LIST_CAPACITY);
    let pair_count = lists.clone().map(Vec::len).sum();
    out.resize(pair_count, NearPair { first: 0, second: 0, distance: 0.0, closing: 0.0 });
    for pair in lists.flatten() {
        let place = &mut places[pair.first as usize];
        out[*place as usize] = *pair;
        *place += 1;
    }
    let of_each = out.chunk_by_mut(|a, b| a.first == b.first);
    of_each.for_each(|own| own.sort_unstable_by_key(|pair| pair.second));
}

/// Clears a list with room for a number of pairs; memory of a crowd that has dispersed is given back.
fn clear(list: &mut Vec<NearPair>, capacity: usize) {
    if list.capacity() > MANY_TIMES * capacity.max(list.len()) {
        list.shrink_to(capacity.max(2 * list.len()));
    }
    list.clear();
    list.reserve(capacity);
}

/// How far boxes at rest are grown to find what moves together (m). A search that misses some of it costs time, nothing else.
fn carrier_extent(surface: &PairSurface) -> f64 {
    EXTENT_IN_RANGES * surface.range.iter().sum::<f64>() / surface.range.len().max(1) as f64
}

/// Carriers extend over about twice the range within which contact is detected, and both of a pair count.
const EXTENT_IN_RANGES: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nearest_on_triangle;
    use sinew_mesh::{TriMesh, shapes};

    /// A surface whose vertices are carried by the cells of a grid: those of a vertex are the eight corners of its cell.
    struct Gridded {
        surface: TriMesh,
        offsets: Vec<u32>,
        carriers: Vec<u32>,
        is_sample: Vec<bool>,
        gap: Vec<f64>,
        range: Vec<f64>,
        edges: Vec<SurfaceEdge>,
    }

    impl Gridded {
        fn new(surface: &TriMesh, cell: f64, gap: f64, range: f64) -> Gridded {
            let mut carriers = Vec::new();
            for v in &surface.vertices {
                let at = |k: usize| (v[k] / cell).floor() as i64 + 500;
                for corner in 0..8 {
                    let [i, j, k] = [0, 1, 2].map(|axis| at(axis) + (corner >> axis & 1));
                    carriers.push((i + 1000 * (j + 1000 * k)) as u32);
                }
            }
            let count = surface.vertices.len();
            Gridded {
                surface: surface.clone(),
                offsets: (0..=count as u32).map(|i| 8 * i).collect(),
                carriers,
                is_sample: vec![true; count],
                gap: vec![gap; count],
                range: vec![range; surface.triangles.len()],
                edges: edges_of(surface),
            }
        }

        fn as_pair_surface(&self, itself: bool) -> PairSurface<'_> {
            PairSurface {
                triangles: &self.surface.triangles,
                rest: &self.surface.vertices,
                carriers: CarrierRows { offsets: &self.offsets, carriers: &self.carriers },
                is_sample: &self.is_sample,
                gap: &self.gap,
                range: &self.range,
                edges: &self.edges,
                is_two_sided: false,
                nominal_range: self.range.first().copied().unwrap_or(1.0),
                collides_with_itself: itself,
                collides_with_others: true,
            }
        }
    }

    fn edges_of(surface: &TriMesh) -> Vec<SurfaceEdge> {
        let mut edges = Vec::new();
        for [a, b, c] in &surface.triangles {
            for (a, b, c) in [(a, b, c), (b, c, a), (c, a, b)] {
                if a < b {
                    edges.push(SurfaceEdge { ends: [*a, *b], wings: [*c, *c] });
                }
            }
        }
        edges
    }

    fn pairs_of(surfaces: &[&TriMesh], itself: bool, gap: f64, range: f64) -> SurfacePairs {
        let all: Vec<Gridded> = surfaces.iter().map(|s| Gridded::new(s, 2.0 * range, gap, range)).collect();
        SurfacePairs::build(&all.iter().map(|own| own.as_pair_surface(itself)).collect::<Vec<_>>())
    }

    /// The pairs of vertices at rest, with a tolerance of twice `drift`.
    fn still(pairs: &mut SurfacePairs, x: &[Vec3], drift: f64) -> Vec<NearPair> {
        let v = vec![Vec3::zeros(); x.len()];
        pairs.refit(x, &v);
        pairs.find(x, &v, 1.0, &[drift; 3]);
        pairs.vertex_pairs().to_vec()
    }

    /// Two spheres moved together: every vertex within reach of a triangle is found with it, and every edge with every edge, as by brute force.
    #[test]
    fn no_close_pair_of_two_bodies_is_missed() {
        let ball = shapes::sphere(0.1, 3);
        let mut pairs = pairs_of(&[&ball, &ball], false, 0.005, 0.01);
        let mut x = ball.vertices.clone();
        x.extend(ball.vertices.iter().map(|v| v + Vec3::new(0.19, 0.02, 0.0)));
        let found = still(&mut pairs, &x, 0.0);
        assert!(found.windows(2).all(|w| w[0].key() < w[1].key()));
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
                    assert!(found.binary_search_by_key(&(v as u32, t as u32), NearPair::key).is_ok());
                }
            }
        }
        assert!(near > 50 && found.len() < 40 * near);
        let edges = pairs.edge_pairs();
        let (count, mut near) = (pairs.edge_count() as u32, 0);
        for a in 0..count / 2 {
            for b in count / 2..count {
                let [xa, xb] = [a, b].map(|edge| pairs.edge(edge).ends.map(|v| x[v as usize]));
                if crate::nearest_on_segments(&xa, &xb).gap().norm() < 0.01 {
                    near += 1;
                    assert!(edges.binary_search_by_key(&(a, b), NearPair::key).is_ok());
                }
            }
        }
        assert!(near > 50 && edges.iter().all(|pair| pair.first < count / 2 && pair.second >= count / 2));
    }

    /// What is within reach on one smooth surface has carriers in common.
    #[test]
    fn a_rigidly_moved_body_has_no_self_contact() {
        for surface in
            [shapes::sphere(0.1, 4), shapes::torus(0.1, 0.03, 40, 16), shapes::cuboid([0.1, 0.2, 0.3])]
        {
            let mut pairs = pairs_of(&[&surface], true, 0.004, 0.008);
            let x: Vec<Vec3> =
                surface.vertices.iter().map(|v| Vec3::new(v.y, -v.x, v.z) + Vec3::x()).collect();
            assert_eq!(still(&mut pairs, &x, 0.0), []);
            assert_eq!(pairs.edge_pairs(), []);
        }
    }

    /// A torus whose inner walls are pushed together until they meet in its hole.
    #[test]
    fn self_contact_is_found_and_the_same_on_any_number_of_threads() {
        let torus = shapes::torus(0.1, 0.03, 60, 24);
        let pinch = |v: &Vec3| {
            let near = (v.z / 0.04).powi(4);
            Vec3::new(v.x - 0.069 * v.x / (v.x * v.x + 1e-4).sqrt() / (1.0 + near), v.y, v.z)
        };
        let x: Vec<Vec3> = torus.vertices.iter().map(pinch).collect();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| still(&mut pairs_of(&[&torus], true, 0.003, 0.006), &x, 0.001))
        };
        let found = run(1);
        assert!(found.len() > 20);
        assert_eq!(found, run(2));
        assert_eq!(found, run(5));
    }

    /// Only samples are tested as vertices, and what is far from a coarse body costs nothing.
    #[test]
    fn pairs_are_those_of_samples_whatever_else_there_is() {
        let ball = shapes::sphere(0.1, 4);
        let mut x = ball.vertices.clone();
        x.extend(ball.vertices.iter().map(|v| v + Vec3::new(0.19, 0.0, 0.0)));
        let mut fine = [(); 2].map(|()| Gridded::new(&ball, 0.02, 0.002, 0.005));
        fine.iter_mut().for_each(|own| own.is_sample.iter_mut().step_by(2).for_each(|is| *is = false));
        let coarse = shapes::cuboid([5.0, 5.0, 5.0]);
        let mut together = [fine[0].as_pair_surface(false), fine[1].as_pair_surface(false)].to_vec();
        let mut pairs = SurfacePairs::build(&together);
        let alone = still(&mut pairs, &x, 0.0);
        assert!(!alone.is_empty() && alone.iter().all(|pair| pair.first % 2 == 1));
        let other = Gridded::new(&coarse, 2.0, 0.2, 0.5);
        together.push(other.as_pair_surface(true));
        x.extend(coarse.vertices.iter().map(|v| v + Vec3::new(50.0, 0.0, 0.0)));
        assert_eq!(alone, still(&mut SurfacePairs::build(&together), &x, 0.0));
    }

    /// Two balls that approach and a pinched torus: each pair of a vertex and a triangle is also one of that vertex and a patch with the triangle, no farther and closing no slower, and pairs of edges are the same.
    #[test]
    fn patches_contain_the_triangles_of_all_pairs() {
        let (ball, torus) = (shapes::sphere(0.1, 3), shapes::torus(0.1, 0.03, 60, 24));
        let mut pairs = pairs_of(&[&ball, &ball, &torus], true, 0.003, 0.006);
        let mut x = ball.vertices.clone();
        x.extend(ball.vertices.iter().map(|v| v + Vec3::new(0.2, 0.0, 0.0)));
        x.extend(torus.vertices.iter().map(|v| {
            let near = (v.z / 0.04).powi(4);
            Vec3::new(v.x - 0.069 * v.x / (v.x * v.x + 1e-4).sqrt() / (1.0 + near), v.y + 1.0, v.z)
        }));
        let v: Vec<Vec3> = x.iter().map(|x| Vec3::new(-0.1 * x.x, 0.02 * x.z, 0.03)).collect();
        let (time, drift) = (0.5, [0.001; 3]);
        pairs.refit(&x, &v);
        pairs.find(&x, &v, time, &drift);
        let (triangles, edges) = (pairs.vertex_pairs().to_vec(), pairs.edge_pairs().to_vec());
        pairs.find_patches(&x, &v, time, &drift);
        assert_eq!(pairs.edge_pairs(), edges);
        let of_torus = triangles.iter().filter(|pair| pairs.surface_of(pair.first) == 2).count();
        assert!(of_torus > 20 && triangles.len() > of_torus + 20, "{of_torus} of {}", triangles.len());
        assert!(pairs.vertex_pairs().len() < triangles.len());
        for pair in triangles {
            let own = pairs.vertex_pairs().iter().filter(|near| near.first == pair.first);
            let has =
                |near: &&NearPair| pairs.patch_triangles(pairs.patch(near.second)).contains(&pair.second);
            let found = own.clone().find(has).expect("its patch is near");
            assert!(found.distance <= pair.distance && found.closing >= pair.closing, "{found:?} {pair:?}");
        }
    }

    /// Two sides of a crease in a cage as coarse as the crease is wide, so that all of both has carriers in common: folded together, vertices of each are found near triangles of the other, but for those near the fold.
    #[test]
    fn sides_of_a_crease_meet() {
        const CELLS: usize = 10;
        let (size, range) = (0.1, 0.02);
        // strips along y: the floor goes from its end to the fold, the wall from the fold up
        let at = |i: usize, j: usize| {
            let (along, y) = (size * (i as f64 / CELLS as f64 - 1.0), size * (j as f64 / CELLS as f64));
            Vec3::new((-along).max(0.0), y, along.max(0.0))
        };
        let vertices: Vec<Vec3> = (0..=2 * CELLS).flat_map(|i| (0..=CELLS).map(move |j| at(i, j))).collect();
        let index = |i: usize, j: usize| (i * (CELLS + 1) + j) as u32;
        let cells = (0..2 * CELLS).flat_map(|i| (0..CELLS).map(move |j| (i, j)));
        let triangles = cells.flat_map(|(i, j)| {
            let [a, b, c, d] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
            [[a, d, c], [a, c, b]]
        });
        let surface = TriMesh { vertices, triangles: triangles.collect() };
        let [a, b, c] = surface.corners(0);
        assert!((b - a).cross(&(c - a)).z > 0.0, "normals face into the crease");
        let own = Gridded::new(&surface, 2.0 * size, 0.002, range);
        let mut pairs = SurfacePairs::build(&[own.as_pair_surface(true)]);
        assert_eq!(still(&mut pairs, &surface.vertices, 0.0), []);

        // the wall comes down to 5 mm above the floor
        let fold = |v: &Vec3| if v.z > 0.0 { Vec3::new(v.z, v.y, 0.05 * v.z) } else { *v };
        let folded: Vec<Vec3> = surface.vertices.iter().map(fold).collect();
        let found = still(&mut pairs, &folded, 0.0);
        let from_fold = |v: u32| surface.vertices[v as usize].x + surface.vertices[v as usize].z;
        for v in 0..surface.vertices.len() as u32 {
            let is_found = found.iter().any(|pair| pair.first == v);
            // beyond the distance 2 r at rest, which is √2 times that from the fold
            assert!(is_found || from_fold(v) < 0.035, "{} m from the fold", from_fold(v));
            assert!(!is_found || from_fold(v) > 0.015, "{} m from the fold", from_fold(v));
        }
        pairs.refit(&folded, &vec![Vec3::zeros(); folded.len()]);
        pairs.find_patches(&folded, &vec![Vec3::zeros(); folded.len()], 1.0, &[0.0]);
        assert!(pairs.vertex_pairs().iter().any(|pair| from_fold(pair.first) > 0.09));
    }

    /// A box 8 mm above a wide plate: sliding along it counts as crossing at half of the speed, by which it may turn down in the meantime, and coming down as crossing at all of it.
    #[test]
    fn what_slides_along_a_surface_does_not_cross_it() {
        let (plate, small) = (shapes::cuboid([0.8, 0.02, 0.8]), shapes::cuboid([0.05, 0.05, 0.05]));
        let mut both = [&plate, &small].map(|surface| Gridded::new(surface, 0.02, 0.005, 0.01));
        both.iter_mut().for_each(|own| own.edges.clear());
        let mut pairs = SurfacePairs::build(&both.each_ref().map(|own| own.as_pair_surface(false)));
        let up = |surface: &TriMesh| surface.vertices.iter().map(|v| v.y).fold(0.0, f64::max);
        let by = Vec3::new(0.02, up(&plate) + up(&small) + 0.008, 0.01);
        let mut x = plate.vertices.clone();
        x.extend(small.vertices.iter().map(|v| v + by));
        let n = plate.vertices.len();
        let mut rate = |velocity: Vec3| {
            let v: Vec<Vec3> = (0..x.len()).map(|i| if i < n { Vec3::zeros() } else { velocity }).collect();
            pairs.refit(&x, &v);
            pairs.crossing_rate((&x, &v), 0.001, &[0.0; 2], 0.0)
        };
        assert!((rate(Vec3::new(3.0, 0.0, 4.0)) - 0.5 * 5.0 / 0.01).abs() < 1e-9);
        assert!((rate(Vec3::new(0.0, -1.0, 0.0)) - 1.0 / 0.01).abs() < 1e-9);
        assert!((rate(Vec3::new(0.0, 1.0, 0.0)) - 0.5 / 0.01).abs() < 1e-9);
    }

    #[test]
    fn degenerate_triangles_and_coincident_vertices_are_handled() {
        let mut surface = shapes::sphere(0.1, 2);
        surface.triangles.push([0, 0, 1]);
        surface.triangles.push([2, 2, 2]);
        let first = surface.vertices[0];
        surface.vertices[5] = first;
        let x = surface.vertices.clone();
        let mut pairs = pairs_of(&[&surface], true, 0.01, 0.02);
        assert!(still(&mut pairs, &x, 0.005).iter().all(|pair| pair.distance.is_finite()));
        let empty = TriMesh::default();
        assert!(still(&mut pairs_of(&[&empty], true, 0.01, 0.02), &[], 0.1).is_empty());
    }

    /// A sphere moves towards another, which drifts together with a third one behind it: all that comes within reach is found
    /// beforehand, what drifts together is not, and the approach rate is that of the first two, over the range.
    #[test]
    fn approaching_pairs_are_found_and_comoving_ones_are_not() {
        let ball = shapes::sphere(0.1, 3);
        let mut pairs = pairs_of(&[&ball, &ball, &ball], false, 0.005, 0.01);
        let n = ball.vertices.len();
        let places = [Vec3::zeros(), Vec3::new(0.4, 0.0, 0.0), Vec3::new(0.63, 0.0, 0.0)];
        let moves = [Vec3::new(9.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0)];
        let x: Vec<Vec3> = places.iter().flat_map(|at| ball.vertices.iter().map(move |v| v + at)).collect();
        let v: Vec<Vec3> = moves.iter().flat_map(|v| vec![*v; n]).collect();
        let (time, drift) = (0.027, [0.001; 3]);
        pairs.refit(&x, &v);
        // the range is rounded to single precision in boxes
        assert!((pairs.approach_rate(time, &drift) - 8.0 / 0.01).abs() < 1e-4);
        assert_eq!(pairs.approach_rate(0.01, &drift), 0.0);
        // head on they cross as fast as they approach, up to the angle between normals and motion; slower ones than asked for are not searched
        let rate = pairs.crossing_rate((&x, &v), time, &drift, 0.0);
        assert!(rate > 0.98 * 8.0 / 0.01 && rate <= 8.0 / 0.01, "{rate}");
        assert_eq!(pairs.crossing_rate((&x, &v), time, &drift, 900.0), 900.0);
        pairs.find(&x, &v, time, &drift);
        let found = pairs.vertex_pairs().to_vec();
        assert!(found.iter().all(|pair| pair.first < 2 * n as u32 && (pair.closing - 8.0).abs() < 1e-5));
        let then: Vec<Vec3> = x.iter().zip(&v).map(|(x, v)| x + time * v).collect();
        let now = still(&mut pairs, &then, 0.0);
        assert!(now.len() > 20);
        for pair in now {
            assert!(found.binary_search_by_key(&pair.key(), NearPair::key).is_ok(), "{pair:?}");
        }
    }
}
