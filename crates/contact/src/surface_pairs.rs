//! Broad phase for deformable surfaces: vertex-triangle pairs that may come into contact within a time interval, by simultaneous
//! traversal of two bounding volume hierarchies.
//!
//! Boxes of velocities bound the approach of two subtrees, so that a swinging limb is tested against what it moves towards, and
//! not against itself: points that move together do not approach.
//!
//! Subtrees whose normals all lie in one half-space cannot self-collide and are skipped. `[VolinoMagnenat1994]` Within one
//! surface, a vertex beside or behind a triangle close to it at rest never contacts that triangle, because they are connected.

mod excluded_pairs;
mod lane_box;
mod surface_tree;
mod traversal;

use crate::nearest_on_triangle;
use excluded_pairs::ExcludedPairs;
use rayon::prelude::*;
use sinew_math::Vec3;
use surface_tree::SurfaceTree;
use traversal::Traversal;

/// A surface in the broad phase.
#[derive(Clone, Copy, Debug)]
pub struct PairSurface<'a> {
    /// Three vertices per triangle, relative to the first vertex of the surface.
    pub triangles: &'a [[u32; 3]],
    /// Vertices at rest (m).
    pub rest: &'a [Vec3],
    /// Whether it may contact itself.
    pub collides_with_itself: bool,
    /// Whether it may contact other surfaces.
    pub collides_with_others: bool,
}

/// A candidate pair of a vertex and a triangle, with global indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// The vertex.
    pub vertex: u32,
    /// The triangle.
    pub triangle: u32,
    /// The distance at which repulsion starts (m).
    pub gap: f64,
    /// Their distance at detection (m).
    pub distance: f64,
    /// A bound on their approach speed at detection (m/s).
    pub closing: f64,
}

/// Bounding volume hierarchies over surfaces, and the candidate pairs of the last query.
#[derive(Clone, Debug, Default)]
pub struct SurfacePairs {
    /// Corners of all triangles, as global vertex indices.
    triangles: Vec<[u32; 3]>,
    rest: Vec<Vec3>,
    surfaces: Vec<SurfaceTree>,
    gap: f64,
    range: f64,
    tasks: Vec<Task>,
    next_tasks: Vec<Task>,
    /// Pairs found, one list per task group.
    lists: Vec<Vec<NearPair>>,
    /// Insertion position of each vertex, for the counting sort of pairs.
    place_of_vertex: Vec<u32>,
    pairs: Vec<NearPair>,
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
/// The capacity of each list, at least and as a fraction of all vertices, so that reallocation is rare: where soft bodies are
/// flattened against each other, each of some hundred vertices of a task is near about twenty triangles. Unused capacity is never
/// accessed.
const LIST_CAPACITY: usize = 8192;
const FRACTION_OF_VERTICES: usize = 32;

/// A vertex is in front of a triangle at rest if its height is at least this fraction of its distance.
const IN_FRONT: f64 = 0.5;

impl SurfacePairs {
    /// Builds the hierarchies. Contact begins at the distance `gap` and is detected down to the depth `range` (m).
    pub fn build(surfaces: &[PairSurface], gap: f64, range: f64) -> SurfacePairs {
        let mut pairs = SurfacePairs { gap, range, ..SurfacePairs::default() };
        for surface in surfaces {
            let first_vertex = pairs.rest.len() as u32;
            let first_triangle = pairs.triangles.len();
            pairs.rest.extend_from_slice(surface.rest);
            pairs.triangles.extend(surface.triangles.iter().map(|t| t.map(|v| v + first_vertex)));
            let surface_tree = SurfaceTree::build(
                surface,
                first_vertex,
                first_triangle,
                &pairs.triangles,
                &pairs.rest,
                gap + range,
            );
            pairs.surfaces.push(surface_tree);
        }
        for i in 0..pairs.surfaces.len() {
            let surface_tree = &pairs.surfaces[i];
            if surface_tree.collides_with_itself {
                let never_collide = |vertex: u32, t: u32| {
                    let corners = pairs.triangles[surface_tree.first_triangle + t as usize];
                    corners.contains(&vertex) || pairs.gap_at_rest(surface_tree, vertex, t).is_none()
                };
                pairs.surfaces[i].excluded = ExcludedPairs::find(surface_tree, &never_collide);
            }
        }
        pairs
    }

    /// The distance at which repulsion between a vertex and a triangle of one surface starts: at most half their distance at
    /// rest. `None` if they never collide.
    fn gap_at_rest(&self, surface_tree: &SurfaceTree, vertex: u32, t: u32) -> Option<f64> {
        let (middle, normal, radius) = surface_tree.rest_shape[t as usize];
        let off = self.rest[vertex as usize] - middle;
        let near = 2.0 * (self.gap + self.range) + radius;
        if off.norm_squared() > near * near {
            return Some(self.gap);
        }
        if off.dot(&normal) < IN_FRONT * off.norm() {
            return None;
        }
        let corners = self.triangle(surface_tree.first_triangle as u32 + t).map(|v| self.rest[v as usize]);
        let p = self.rest[vertex as usize];
        let distance = (nearest_on_triangle(&p, &corners).point - p).norm();
        Some(self.gap.min(0.5 * distance))
    }

    /// Corners of a triangle, as global vertex indices.
    pub fn triangle(&self, i: u32) -> [u32; 3] {
        self.triangles[i as usize]
    }

    /// The distance at which contact begins (m).
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// The number of triangles of all surfaces.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// The depth down to which contact is detected (m).
    pub fn range(&self) -> f64 {
        self.range
    }

    /// Whether no surface can contact any other, nor itself.
    pub fn is_idle(&self) -> bool {
        let others =
            self.surfaces.iter().filter(|surface_tree| surface_tree.collides_with_others).count() > 1;
        !others && !self.surfaces.iter().any(|surface_tree| surface_tree.collides_with_itself)
    }

    /// Refits the hierarchies to positions (m) and velocities (m/s) of the vertices.
    pub fn refit(&mut self, x: &[Vec3], v: &[Vec3]) {
        let SurfacePairs { triangles, surfaces, .. } = self;
        surfaces.iter_mut().for_each(|surface_tree| surface_tree.refit(triangles, x, v));
    }

    /// A bound on the approach speed (m/s) of subtrees that may come into contact within `time` (s), for vertices that deviate
    /// from their linear motion by at most `drift` (m). The hierarchies must be up to date.
    pub fn closing_speed(&self, time: f64, drift: f64) -> f64 {
        let traversal = Traversal::over_boxes(self, self.reach(drift), time);
        let mut most = 0.0;
        self.for_each_root(|task| traversal.closing(task.surfaces, task.nodes, &mut most));
        most
    }

    /// Finds all pairs that are within gap and range or may be within `time` (s), for vertices that deviate from the linear
    /// motion from `x` (m) with `v` (m/s) by at most `drift` (m). The hierarchies must be up to date. Sorted by vertex, then
    /// triangle.
    pub fn find(&mut self, x: &[Vec3], v: &[Vec3], time: f64, drift: f64) -> &[NearPair] {
        let reach = self.reach(drift);
        self.lay_out_tasks(reach, time);
        let capacity = LIST_CAPACITY.max(self.rest.len() / FRACTION_OF_VERTICES);
        let mut lists = core::mem::take(&mut self.lists);
        lists.resize_with(LISTS, || Vec::with_capacity(capacity));
        lists.iter_mut().for_each(Vec::clear);
        let traversal = Traversal::new(self, (x, v), reach, time);
        let each = self.tasks.len().div_ceil(LISTS).max(1);
        lists.par_iter_mut().zip(self.tasks.par_chunks(each)).for_each(|(list, tasks)| {
            tasks.iter().for_each(|task| traversal.compare(task.surfaces, task.nodes, list));
        });
        self.lists = lists;
        self.sort_pairs();
        &self.pairs
    }

    fn reach(&self, drift: f64) -> f64 {
        self.gap.max(self.range) + 2.0 * drift
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

    /// Merges the lists by a counting sort over vertices, then sorts the few pairs of each vertex.
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
        pairs.reserve(LISTS * LIST_CAPACITY.max(rest.len() / FRACTION_OF_VERTICES));
        pairs.resize(
            lists.iter().map(Vec::len).sum(),
            NearPair { vertex: 0, triangle: 0, gap: 0.0, distance: 0.0, closing: 0.0 },
        );
        for pair in lists.iter().flatten() {
            let place = &mut place_of_vertex[pair.vertex as usize];
            pairs[*place as usize] = *pair;
            *place += 1;
        }
        let of_vertices = pairs.chunk_by_mut(|a, b| a.vertex == b.vertex);
        of_vertices.for_each(|own| own.sort_unstable_by_key(|pair| pair.triangle));
    }

    /// The pairs of the last query.
    pub fn pairs(&self) -> &[NearPair] {
        &self.pairs
    }

    /// Splits the traversal into tasks, by descending the hierarchies level by level.
    fn lay_out_tasks(&mut self, reach: f64, time: f64) {
        let mut tasks = core::mem::take(&mut self.tasks);
        let mut next = core::mem::take(&mut self.next_tasks);
        tasks.clear();
        // one level at most triples the number of tasks
        tasks.reserve(3 * TASKS);
        next.clear();
        next.reserve(3 * TASKS);
        self.for_each_root(|task| tasks.push(task));
        let traversal = Traversal::over_boxes(self, reach, time);
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
                collides_with_itself: itself,
                collides_with_others: true,
            })
            .collect();
        SurfacePairs::build(&surfaces, gap, range)
    }

    /// The pairs of vertices at rest, with a tolerance of twice `drift`.
    fn still(pairs: &mut SurfacePairs, x: &[Vec3], drift: f64) -> Vec<NearPair> {
        let v = vec![Vec3::zeros(); x.len()];
        pairs.refit(x, &v);
        pairs.find(x, &v, 1.0, drift).to_vec()
    }

    /// Two spheres moved together: every vertex within reach of a triangle is found with it, as by brute force.
    #[test]
    fn no_close_pair_of_two_bodies_is_missed() {
        let ball = shapes::sphere(0.1, 3);
        let mut pairs = pairs_of(&[&ball, &ball], false, 0.005, 0.01);
        let mut x = ball.vertices.clone();
        x.extend(ball.vertices.iter().map(|v| v + Vec3::new(0.19, 0.02, 0.0)));
        let found = still(&mut pairs, &x, 0.0);
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
    fn a_rigidly_moved_body_has_no_self_contact() {
        for surface in
            [shapes::sphere(0.1, 4), shapes::torus(0.1, 0.03, 40, 16), shapes::cuboid([0.1, 0.2, 0.3])]
        {
            let mut pairs = pairs_of(&[&surface], true, 0.004, 0.008);
            let x: Vec<Vec3> =
                surface.vertices.iter().map(|v| Vec3::new(v.y, -v.x, v.z) + Vec3::x()).collect();
            for pair in still(&mut pairs, &x, 0.0) {
                let corners = pairs.triangle(pair.triangle).map(|c| x[c as usize]);
                let p = x[pair.vertex as usize];
                assert!((nearest_on_triangle(&p, &corners).point - p).norm() > pair.gap);
            }
        }
    }

    /// A torus flattened until opposite sides meet in its hole.
    #[test]
    fn self_contact_is_found_and_the_same_on_any_number_of_threads() {
        let torus = shapes::torus(0.1, 0.03, 60, 24);
        let x: Vec<Vec3> = torus.vertices.iter().map(|v| Vec3::new(v.x * 0.3, v.y, v.z)).collect();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| still(&mut pairs_of(&[&torus], true, 0.003, 0.006), &x, 0.001))
        };
        let found = run(1);
        assert!(found.len() > 20);
        assert_eq!(found, run(2));
        assert_eq!(found, run(5));
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
        assert!(still(&mut pairs, &x, 0.005).iter().all(|pair| pair.gap.is_finite()));
        let empty = TriMesh::default();
        assert!(still(&mut pairs_of(&[&empty], true, 0.01, 0.02), &[], 0.1).is_empty());
    }

    /// A sphere moves towards another, which drifts together with a third one behind it: all that comes within reach is found
    /// beforehand, what drifts together is not, and the approach speed is that of the first two.
    #[test]
    fn approaching_pairs_are_found_and_comoving_ones_are_not() {
        let ball = shapes::sphere(0.1, 3);
        let mut pairs = pairs_of(&[&ball, &ball, &ball], false, 0.005, 0.01);
        let n = ball.vertices.len();
        let places = [Vec3::zeros(), Vec3::new(0.4, 0.0, 0.0), Vec3::new(0.63, 0.0, 0.0)];
        let moves = [Vec3::new(9.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0)];
        let x: Vec<Vec3> = places.iter().flat_map(|at| ball.vertices.iter().map(move |v| v + at)).collect();
        let v: Vec<Vec3> = moves.iter().flat_map(|v| vec![*v; n]).collect();
        let time = 0.027;
        pairs.refit(&x, &v);
        assert!((pairs.closing_speed(time, 0.001) - 8.0).abs() < 1e-12);
        assert_eq!(pairs.closing_speed(0.01, 0.001), 0.0);
        let found = pairs.find(&x, &v, time, 0.001).to_vec();
        assert!(found.iter().all(|pair| pair.vertex < 2 * n as u32 && (pair.closing - 8.0).abs() < 1e-12));
        let then: Vec<Vec3> = x.iter().zip(&v).map(|(x, v)| x + time * v).collect();
        let now = still(&mut pairs, &then, 0.0);
        assert!(now.len() > 20);
        for pair in now {
            let same = |other: &NearPair| (other.vertex, other.triangle) == (pair.vertex, pair.triangle);
            assert!(found.iter().any(same), "{pair:?}");
        }
    }
}
