//! Vertices near triangles, of one surface or several, that may touch within a time: a walk down two trees of boxes at once.
//!
//! What moves along with its neighbours comes no nearer to them: boxes of velocities tell how near two patches can come, so that a limb that swings is looked at
//! beside what it swings towards, and not beside itself.
//!
//! Patches whose normals all point to one side cannot fold onto themselves, and are passed over whole.   `[VolinoMagnenat1994]`
//! Of one surface, what was beside or behind a triangle near it at rest never touches it: it hangs together with it.

mod beside;
mod lane_box;
mod patch;
mod walk;

use crate::nearest_on_triangle;
use beside::Beside;
use patch::Patch;
use rayon::prelude::*;
use sinew_math::Vec3;
use walk::Walk;

/// A surface that takes part.
#[derive(Clone, Copy, Debug)]
pub struct PairSurface<'a> {
    /// Three vertices per triangle, counted from the surface's first.
    pub triangles: &'a [[u32; 3]],
    /// Vertices at rest (m).
    pub rest: &'a [Vec3],
    /// Whether it may touch itself.
    pub collides_with_itself: bool,
    /// Whether it may touch other surfaces.
    pub collides_with_others: bool,
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
    /// No faster did they come nearer then (m/s).
    pub closing: f64,
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
/// Room in each list, at least and in parts of all vertices, so that memory is seldom asked for again: where soft bodies are pressed flat on each other, each of some hundred
/// vertices of a task is near a score of triangles. What is not used is never touched.
const ROOM: usize = 8192;
const FRACTION_OF_VERTICES: usize = 32;

/// A vertex in front of a triangle at rest is at least this fraction of its distance above it.
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
        for i in 0..pairs.surfaces.len() {
            let patch = &pairs.surfaces[i];
            if patch.collides_with_itself {
                let never = |vertex: u32, t: u32| {
                    let corners = pairs.triangles[patch.first_triangle + t as usize];
                    corners.contains(&vertex) || pairs.gap_at_rest(patch, vertex, t).is_none()
                };
                pairs.surfaces[i].beside = Beside::find(patch, &never);
            }
        }
        pairs
    }

    /// From which distance on a vertex and a triangle of one surface push each other apart: at most half of what is between them at rest. `None` if they never do.
    fn gap_at_rest(&self, patch: &Patch, vertex: u32, t: u32) -> Option<f64> {
        let (middle, normal, radius) = patch.rest_shape[t as usize];
        let off = self.rest[vertex as usize] - middle;
        let near = 2.0 * (self.gap + self.range) + radius;
        if off.norm_squared() > near * near {
            return Some(self.gap);
        }
        if off.dot(&normal) < IN_FRONT * off.norm() {
            return None;
        }
        let corners = self.triangle(patch.first_triangle as u32 + t).map(|v| self.rest[v as usize]);
        let p = self.rest[vertex as usize];
        let distance = (nearest_on_triangle(&p, &corners).point - p).norm();
        Some(self.gap.min(0.5 * distance))
    }

    /// Corners of a triangle among all vertices.
    pub fn triangle(&self, i: u32) -> [u32; 3] {
        self.triangles[i as usize]
    }

    /// The distance at which touching begins (m).
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// How many triangles all surfaces have.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// The depth down to which touching is seen (m).
    pub fn range(&self) -> f64 {
        self.range
    }

    /// Whether no surface can touch any other, nor itself.
    pub fn is_idle(&self) -> bool {
        let others = self.surfaces.iter().filter(|patch| patch.collides_with_others).count() > 1;
        !others && !self.surfaces.iter().any(|patch| patch.collides_with_itself)
    }

    /// Fits the trees to where vertices are (m) and how they move (m/s).
    pub fn refit(&mut self, x: &[Vec3], v: &[Vec3]) {
        let SurfacePairs { triangles, surfaces, .. } = self;
        surfaces.iter_mut().for_each(|patch| patch.refit(triangles, x, v));
    }

    /// The most that patches which may touch within `time` (s) come nearer to each other in a second (m/s), for vertices that stray from where their velocities lead
    /// by no more than `stray` (m). The trees must fit.
    pub fn closing_speed(&self, time: f64, stray: f64) -> f64 {
        let walk = Walk::over_boxes(self, self.reach(stray), time);
        let mut most = 0.0;
        self.for_each_root(|task| walk.closing(task.surfaces, task.nodes, &mut most));
        most
    }

    /// Finds all pairs that are within the gap and range of each other or may be within `time` (s), for vertices that stray from where their velocities `v` (m/s)
    /// lead from `x` (m) by no more than `stray` (m). The trees must fit. Sorted by vertex, then triangle.
    pub fn find(&mut self, x: &[Vec3], v: &[Vec3], time: f64, stray: f64) -> &[NearPair] {
        let reach = self.reach(stray);
        self.lay_out_tasks(reach, time);
        let room = ROOM.max(self.rest.len() / FRACTION_OF_VERTICES);
        let mut lists = core::mem::take(&mut self.lists);
        lists.resize_with(LISTS, || Vec::with_capacity(room));
        lists.iter_mut().for_each(Vec::clear);
        let walk = Walk::new(self, (x, v), reach, time);
        let each = self.tasks.len().div_ceil(LISTS).max(1);
        lists.par_iter_mut().zip(self.tasks.par_chunks(each)).for_each(|(list, tasks)| {
            tasks.iter().for_each(|task| walk.compare(task.surfaces, task.nodes, list));
        });
        self.lists = lists;
        self.sort_pairs();
        &self.pairs
    }

    fn reach(&self, stray: f64) -> f64 {
        self.gap.max(self.range) + 2.0 * stray
    }

    fn for_each_root(&self, mut visit: impl FnMut(Task)) {
        for (a, patch) in self.surfaces.iter().enumerate() {
            if patch.tree.nodes.is_empty() {
                continue;
            }
            if patch.collides_with_itself {
                visit(Task { surfaces: [a as u32; 2], nodes: [0; 2] });
            }
            for (b, other) in self.surfaces.iter().enumerate().skip(a + 1) {
                if patch.collides_with_others && other.collides_with_others && !other.tree.nodes.is_empty() {
                    visit(Task { surfaces: [a as u32, b as u32], nodes: [0; 2] });
                }
            }
        }
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
        pairs.reserve(LISTS * ROOM.max(rest.len() / FRACTION_OF_VERTICES));
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

    /// The pairs found last.
    pub fn pairs(&self) -> &[NearPair] {
        &self.pairs
    }

    /// Splits the comparison of all with all into tasks, by going down the trees level by level.
    fn lay_out_tasks(&mut self, reach: f64, time: f64) {
        let mut tasks = core::mem::take(&mut self.tasks);
        let mut next = core::mem::take(&mut self.next_tasks);
        tasks.clear();
        // one level adds twice as many at most
        tasks.reserve(3 * TASKS);
        next.clear();
        next.reserve(3 * TASKS);
        self.for_each_root(|task| tasks.push(task));
        let walk = Walk::over_boxes(self, reach, time);
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

    /// What is found with vertices at places at rest, when nothing comes nearer than by twice `stray`.
    fn still(pairs: &mut SurfacePairs, x: &[Vec3], stray: f64) -> Vec<NearPair> {
        let v = vec![Vec3::zeros(); x.len()];
        pairs.refit(x, &v);
        pairs.find(x, &v, 1.0, stray).to_vec()
    }

    /// Two balls moved together: every vertex that is in reach of a triangle is found with it, as comparing all with all does.
    #[test]
    fn no_near_pair_of_two_bodies_is_missed() {
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
    fn a_body_at_rest_or_moved_as_a_whole_touches_nothing_within_its_gap() {
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

    /// A torus whose opposite sides are pressed together, so that its hole closes.
    #[test]
    fn what_folds_onto_itself_is_found_and_the_same_on_any_number_of_threads() {
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
    fn degenerate_triangles_and_coincident_vertices_are_survived() {
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

    /// A ball flies towards another, which drifts as a whole with a third one behind it: whatever comes within reach on the way is found beforehand, what drifts along
    /// is not, and the speed is that of the two that meet.
    #[test]
    fn what_will_meet_is_found_and_what_drifts_along_is_not() {
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
