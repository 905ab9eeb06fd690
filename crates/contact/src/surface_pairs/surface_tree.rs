//! Bounding volume hierarchy of one surface, with boxes of positions, velocities and normals.

use super::PairSurface;
use super::excluded_pairs::ExcludedPairs;
use super::lane_box::{Lane, LaneBox, MovingBox, MovingPoint, dot, lane};
use crate::box_tree::{Bounds, BoxTree, TreeNode};
use rayon::prelude::*;
use sinew_math::Vec3;
use std::ops::Range;

/// The boxes of a subtree: two cache lines, the first of which decides most tests.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct NodeBoxes {
    /// Of positions and velocities.
    pub(super) moving: MovingBox,
    /// Of normals.
    pub(super) normals: LaneBox,
    /// Of positions at rest, grown by the extent of carriers (m).
    pub(super) rest: LaneBox,
}

impl NodeBoxes {
    #[inline]
    fn set_union(&mut self, a: &NodeBoxes, b: &NodeBoxes) {
        self.moving = a.moving.and(&b.moving);
        self.normals = a.normals.and(&b.normals);
    }
}

/// A range of the primitives of a leaf; empty for inner nodes.
pub(super) type LeafRange = (u32, u32);

/// One surface in the broad phase.
#[derive(Clone, Debug, Default)]
pub(super) struct SurfaceTree {
    pub(super) first_triangle: usize,
    /// The hierarchy, with boxes at rest.
    pub(super) tree: BoxTree,
    /// The boxes of each node.
    pub(super) boxes: Vec<NodeBoxes>,
    /// The largest distance at which contact of its primitives is detected (m).
    pub(super) reach: Vec<f32>,
    /// The box of each node at rest, grown: subtrees whose boxes intersect are neighbours at rest.
    pub(super) rest: Vec<Bounds>,
    /// Pairs of nodes that never collide.
    pub(super) excluded: ExcludedPairs,
    /// The vertices in the order of the leaves.
    pub(super) vertices: Vec<u32>,
    /// Their positions and velocities, in that order.
    pub(super) moving: Vec<MovingPoint>,
    /// Corners of the triangles as indices into `vertices`, in the order of the hierarchy.
    pub(super) corners: Vec<[u32; 3]>,
    /// The vertices that are tested against triangles, as indices into `vertices`; each belongs to one leaf.
    pub(super) samples: Vec<u32>,
    pub(super) samples_of_node: Vec<LeafRange>,
    /// The edges that are tested against edges, as numbers in the surface and as indices into `vertices`; each belongs to one leaf.
    pub(super) edges: Vec<LeafEdge>,
    pub(super) edges_of_node: Vec<LeafRange>,
    /// What is tested below each node.
    pub(super) tested: Vec<Tested>,
    pub(super) nominal_range: f64,
    pub(super) collides_with_itself: bool,
    pub(super) collides_with_others: bool,
}

/// Whether a subtree has samples, and edges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tested {
    has_samples: bool,
    has_edges: bool,
}

/// An edge of a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafEdge {
    /// Its number among all edges.
    pub(super) edge: u32,
    /// Its ends as indices into the vertices of the tree.
    pub(super) ends: [u32; 2],
}

/// The first numbers of a surface among all vertices, triangles and edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstOf {
    pub(super) vertex: u32,
    pub(super) triangle: u32,
    pub(super) edge: u32,
}

impl SurfaceTree {
    pub(super) fn build(surface: &PairSurface, first: FirstOf, extent: f64) -> SurfaceTree {
        // hierarchy over the triangles at rest
        let own = surface.triangles;
        let corners = |t: &[u32; 3]| t.map(|v| surface.rest[v as usize]);
        let boxes: Vec<Bounds> = own.iter().map(|t| Bounds::around(&corners(t))).collect();
        let tree = BoxTree::build(&boxes);

        // vertices in the order of the leaves
        let mut position = vec![u32::MAX; surface.rest.len()];
        let mut vertices = Vec::new();
        for v in tree.order.iter().flat_map(|t| own[*t as usize]) {
            let position = &mut position[v as usize];
            if *position == u32::MAX {
                *position = vertices.len() as u32;
                vertices.push(first.vertex + v);
            }
        }
        let moving = |v: &u32| MovingPoint::new(&surface.rest[(v - first.vertex) as usize], &Vec3::zeros());

        // boxes at rest, grown by the extent of carriers
        let rest: Vec<Bounds> = tree.bounds.iter().map(|bounds| bounds.grown(extent)).collect();
        let boxes =
            |rest| NodeBoxes { moving: MovingBox::EMPTY, normals: LaneBox::EMPTY, rest: LaneBox::of(rest) };
        let mut built = SurfaceTree {
            first_triangle: first.triangle as usize,
            boxes: rest.iter().map(boxes).collect(),
            moving: vertices.iter().map(moving).collect(),
            corners: tree.order.iter().map(|t| own[*t as usize].map(|v| position[v as usize])).collect(),
            vertices,
            rest,
            tree,
            nominal_range: surface.nominal_range,
            collides_with_itself: surface.collides_with_itself,
            collides_with_others: surface.collides_with_others,
            ..SurfaceTree::default()
        };
        built.set_primitives(surface, first);
        built
    }

    /// Sets what is tested, and how far contact of each subtree reaches, from the last node to the first.
    pub(super) fn set_primitives(&mut self, surface: &PairSurface, first: FirstOf) {
        self.set_samples(surface, first);
        (self.edges, self.edges_of_node) = edges_of_leaves(surface, self, first);
        let count = self.tree.nodes.len();
        let (mut reach, mut tested) = (vec![0.0f64; count], vec![Tested::default(); count]);
        for (i, node) in self.tree.nodes.iter().enumerate().rev() {
            if node.count == 0 {
                let (left, right) = (i + 1, node.start as usize);
                reach[i] = reach[left].max(reach[right]);
                tested[i] = Tested {
                    has_samples: tested[left].has_samples || tested[right].has_samples,
                    has_edges: tested[left].has_edges || tested[right].has_edges,
                };
                continue;
            }
            let leaf = &self.tree.order[node.start as usize..][..node.count as usize];
            let ranges = leaf.iter().map(|t| surface.range[*t as usize]);
            let (from, to) = self.samples_of_node[i];
            let samples = self.samples[from as usize..to as usize].iter();
            let gaps = samples.map(|s| surface.gap[(self.vertices[*s as usize] - first.vertex) as usize]);
            reach[i] = ranges.chain(gaps).fold(0.0, f64::max);
            let (first_edge, last_edge) = self.edges_of_node[i];
            tested[i] = Tested { has_samples: from < to, has_edges: first_edge < last_edge };
        }
        self.reach = reach.into_iter().map(|reach| reach as f32).collect();
        self.tested = tested;
    }

    /// Samples by the first leaf that has a triangle with them.
    fn set_samples(&mut self, surface: &PairSurface, first: FirstOf) {
        self.samples.clear();
        self.samples_of_node.clear();
        let mut seen = 0;
        for node in &self.tree.nodes {
            let first_sample = self.samples.len() as u32;
            let leaf = &self.corners[node.start as usize..][..node.count as usize];
            for corner in leaf.iter().flatten() {
                // vertices are numbered in the order in which leaves have them
                if *corner == seen {
                    seen += 1;
                    if surface.is_sample[(self.vertices[*corner as usize] - first.vertex) as usize] {
                        self.samples.push(*corner);
                    }
                }
            }
            self.samples_of_node.push((first_sample, self.samples.len() as u32));
        }
    }

    /// Whether anything below two nodes is tested against each other.
    #[inline]
    pub(super) fn have_tests(&self, [a, b]: [u32; 2]) -> bool {
        let [a, b] = [self.tested[a as usize], self.tested[b as usize]];
        (a.has_samples | b.has_samples) || (a.has_edges & b.has_edges)
    }

    /// Refits the boxes to positions, velocities and normals.
    pub(super) fn refit(&mut self, x: &[Vec3], v: &[Vec3]) {
        let SurfaceTree { tree, boxes, vertices, moving, corners, .. } = self;
        let follow = |(vertex, moving): (&u32, &mut MovingPoint)| {
            *moving = MovingPoint::new(&x[*vertex as usize], &v[*vertex as usize]);
        };
        vertices.par_iter().zip(moving.par_iter_mut()).with_min_len(MIN_PARALLEL_NODES).for_each(follow);
        Refit { tree, corners, vertices, moving, x }.subtree(0, boxes);
    }
}

/// Subtrees of more nodes are refitted in parallel.
const MIN_PARALLEL_NODES: usize = 2048;

/// The edges of a surface by the first leaf that has a triangle with them.
fn edges_of_leaves(
    surface: &PairSurface,
    tree: &SurfaceTree,
    first: FirstOf,
) -> (Vec<LeafEdge>, Vec<LeafRange>) {
    // edges by their ends, for look-up
    let key = |[a, b]: [u32; 2]| (a.min(b), a.max(b));
    let mut by_ends: Vec<((u32, u32), u32)> =
        surface.edges.iter().enumerate().map(|(i, edge)| (key(edge.ends), i as u32)).collect();
    by_ends.sort_unstable();

    // in the order of the leaves, each once
    let mut is_taken = vec![false; surface.edges.len()];
    let (mut edges, mut ranges) = (Vec::new(), Vec::new());
    for node in &tree.tree.nodes {
        let first_of_leaf = edges.len() as u32;
        for corners in &tree.corners[node.start as usize..][..node.count as usize] {
            let [a, b, c] = *corners;
            for ends in [[a, b], [b, c], [c, a]] {
                let global = ends.map(|v| tree.vertices[v as usize] - first.vertex);
                let Ok(found) = by_ends.binary_search_by_key(&key(global), |entry| entry.0) else { continue };
                let i = by_ends[found].1;
                if !core::mem::replace(&mut is_taken[i as usize], true) {
                    let is_ahead = surface.edges[i as usize].ends == global;
                    let ends = if is_ahead { ends } else { [ends[1], ends[0]] };
                    edges.push(LeafEdge { edge: first.edge + i, ends });
                }
            }
        }
        ranges.push((first_of_leaf, edges.len() as u32));
    }
    (edges, ranges)
}

/// A refit in progress.
#[derive(Clone, Copy)]
struct Refit<'a> {
    tree: &'a BoxTree,
    corners: &'a [[u32; 3]],
    vertices: &'a [u32],
    moving: &'a [MovingPoint],
    x: &'a [Vec3],
}

impl Refit<'_> {
    /// Refits the boxes of a node and its subtree, which is contiguous after it.
    fn subtree(self, node: usize, boxes: &mut [NodeBoxes]) {
        if boxes.len() <= MIN_PARALLEL_NODES {
            return self.serial(node, boxes);
        }
        let right = self.tree.nodes[node].start as usize;
        let Some((own, both)) = boxes.split_first_mut() else { return };
        let (first, second) = both.split_at_mut(right - node - 1);
        rayon::join(|| self.subtree(node + 1, first), || self.subtree(right, second));
        own.set_union(&first[0], &second[0]);
    }

    /// The same on one thread: from the last node to the first, so that children come before their parents.
    fn serial(self, node: usize, boxes: &mut [NodeBoxes]) {
        for i in (0..boxes.len()).rev() {
            let TreeNode { start, count } = self.tree.nodes[node + i];
            if count > 0 {
                self.leaf(start as usize..(start + count) as usize, &mut boxes[i]);
                continue;
            }
            let (above, subtree) = boxes.split_at_mut(i + 1);
            above[i].set_union(&subtree[0], &subtree[start as usize - node - i - 1]);
        }
    }

    fn leaf(self, range: Range<usize>, boxes: &mut NodeBoxes) {
        let (mut moving, mut normals) = (MovingBox::EMPTY, LaneBox::EMPTY);
        for corners in &self.corners[range] {
            corners.iter().for_each(|corner| moving = moving.with(&self.moving[*corner as usize]));
            // edges in double precision, because coordinates may be far from the origin
            let [a, b, c] = corners.map(|corner| self.x[self.vertices[corner as usize] as usize]);
            normals = normals.with(&normal_of(&lane(&(b - a)), &lane(&(c - a))));
        }
        (boxes.moving, boxes.normals) = (moving, normals);
    }
}

/// The unit normal of a triangle with these edges; zero for a triangle without area.
#[inline]
fn normal_of([ax, ay, az, _]: &Lane, [bx, by, bz, _]: &Lane) -> Lane {
    let normal = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx, 0.0];
    let length = dot(&normal, &normal).sqrt();
    if length > 0.0 { normal.map(|x| x / length) } else { [0.0; 4] }
}
