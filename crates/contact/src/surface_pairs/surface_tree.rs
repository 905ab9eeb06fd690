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
    pub(super) nominal_range: f64,
    /// Whether it has no inside.
    pub(super) is_two_sided: bool,
    pub(super) collides_with_itself: bool,
    pub(super) collides_with_others: bool,
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

        // vertices and samples in the order of the leaves
        let mut position = vec![u32::MAX; surface.rest.len()];
        let (mut vertices, mut samples, mut samples_of_node) = (Vec::new(), Vec::new(), Vec::new());
        for node in &tree.nodes {
            let first_sample = samples.len() as u32;
            let leaf = &tree.order[node.start as usize..][..node.count as usize];
            for v in leaf.iter().flat_map(|t| own[*t as usize]) {
                let position = &mut position[v as usize];
                if *position == u32::MAX {
                    *position = vertices.len() as u32;
                    vertices.push(first.vertex + v);
                    if surface.is_sample[v as usize] {
                        samples.push(*position);
                    }
                }
            }
            samples_of_node.push((first_sample, samples.len() as u32));
        }
        let (edges, edges_of_node) = edges_of_leaves(surface, &tree, &position, first.edge);
        let moving = |v: &u32| MovingPoint::new(&surface.rest[(v - first.vertex) as usize], &Vec3::zeros());

        // boxes at rest, grown by the extent of carriers
        let rest: Vec<Bounds> = tree.bounds.iter().map(|bounds| bounds.grown(extent)).collect();
        let mut built = SurfaceTree {
            first_triangle: first.triangle as usize,
            boxes: Vec::new(),
            reach: Vec::new(),
            excluded: ExcludedPairs::default(),
            moving: vertices.iter().map(moving).collect(),
            corners: tree.order.iter().map(|t| own[*t as usize].map(|v| position[v as usize])).collect(),
            vertices,
            samples,
            samples_of_node,
            edges,
            edges_of_node,
            rest,
            tree,
            nominal_range: surface.nominal_range,
            is_two_sided: surface.is_two_sided,
            collides_with_itself: surface.collides_with_itself,
            collides_with_others: surface.collides_with_others,
        };
        built.lay_out_boxes(surface, first);
        built
    }

    /// Boxes with the reach of each subtree, from the last node to the first.
    fn lay_out_boxes(&mut self, surface: &PairSurface, first: FirstOf) {
        let mut reach = vec![0.0f64; self.tree.nodes.len()];
        for (i, node) in self.tree.nodes.iter().enumerate().rev() {
            if node.count == 0 {
                reach[i] = reach[i + 1].max(reach[node.start as usize]);
                continue;
            }
            let leaf = &self.tree.order[node.start as usize..][..node.count as usize];
            let ranges = leaf.iter().map(|t| surface.range[*t as usize]);
            let (from, to) = self.samples_of_node[i];
            let samples = self.samples[from as usize..to as usize].iter();
            let gaps = samples.map(|s| surface.gap[(self.vertices[*s as usize] - first.vertex) as usize]);
            reach[i] = ranges.chain(gaps).fold(0.0, f64::max);
        }
        self.reach = reach.into_iter().map(|reach| reach as f32).collect();
        let boxes =
            |rest| NodeBoxes { moving: MovingBox::EMPTY, normals: LaneBox::EMPTY, rest: LaneBox::of(rest) };
        self.boxes = self.rest.iter().map(boxes).collect();
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
    tree: &BoxTree,
    position: &[u32],
    first_edge: u32,
) -> (Vec<LeafEdge>, Vec<LeafRange>) {
    // edges by their ends, for look-up
    let key = |[a, b]: [u32; 2]| (a.min(b), a.max(b));
    let mut by_ends: Vec<((u32, u32), u32)> =
        surface.edges.iter().enumerate().map(|(i, edge)| (key(edge.ends), i as u32)).collect();
    by_ends.sort_unstable();

    // in the order of the leaves, each once
    let mut is_taken = vec![false; surface.edges.len()];
    let (mut edges, mut ranges) = (Vec::new(), Vec::new());
    for node in &tree.nodes {
        let first = edges.len() as u32;
        for &t in &tree.order[node.start as usize..][..node.count as usize] {
            let [a, b, c] = surface.triangles[t as usize];
            for ends in [[a, b], [b, c], [c, a]] {
                let Ok(found) = by_ends.binary_search_by_key(&key(ends), |entry| entry.0) else { continue };
                let i = by_ends[found].1;
                if !core::mem::replace(&mut is_taken[i as usize], true) {
                    let ends = surface.edges[i as usize].ends.map(|v| position[v as usize]);
                    edges.push(LeafEdge { edge: first_edge + i, ends });
                }
            }
        }
        ranges.push((first, edges.len() as u32));
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
