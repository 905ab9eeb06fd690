//! Bounding volume hierarchy of one surface, with boxes of positions and velocities, and the directions that normals face.

use super::PairSurface;
use super::carriers::CarrierRows;
use super::excluded_pairs::ExcludedPairs;
use super::lane_box::{LaneBox, MovingBox, MovingPoint, lane};
use super::sides::Sides;
use crate::box_tree::{Bounds, BoxTree, TreeNode};
use rayon::prelude::*;
use sinew_math::Vec3;
use sinew_math::lanes::{Kernel, Lanes, dispatch};
use std::ops::Range;

/// A node as the traversal sees it: two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct SurfaceNode {
    /// Boxes of positions and velocities.
    pub(super) moving: MovingBox,
    /// Box of positions at rest, grown by the extent of carriers (m).
    pub(super) rest: LaneBox,
    /// The directions that all normals face.
    pub(super) sides: Sides,
    /// The largest distance at which contact of its primitives is detected (m).
    pub(super) reach: f32,
    /// As in the hierarchy: the first triangle of a leaf, or the second child; the number of triangles, 0 for an inner node.
    pub(super) start: u32,
    pub(super) count: u32,
    pub(super) tested: Tested,
}

impl SurfaceNode {
    #[inline(always)]
    fn set_union(&mut self, a: &SurfaceNode, b: &SurfaceNode) {
        self.moving = a.moving.and(&b.moving);
        self.sides = a.sides.and(b.sides);
    }
}

/// A range of the primitives of a subtree.
pub(super) type SubtreeRange = (u32, u32);

/// One surface in the broad phase.
#[derive(Clone, Debug, Default)]
pub(super) struct SurfaceTree {
    pub(super) first_triangle: usize,
    /// The hierarchy, with boxes at rest.
    pub(super) tree: BoxTree,
    /// The number of the patch that its first node is; the others follow.
    pub(super) first_patch: u32,
    /// Its nodes in motion.
    pub(super) nodes: Vec<SurfaceNode>,
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
    pub(super) samples_of_node: Vec<SubtreeRange>,
    /// The edges that are tested against edges, as numbers in the surface and as indices into `vertices`; each belongs to one leaf.
    pub(super) edges: Vec<LeafEdge>,
    pub(super) edges_of_node: Vec<SubtreeRange>,
    pub(super) nominal_range: f64,
    /// Whether it has no inside.
    pub(super) is_two_sided: bool,
    pub(super) collides_with_itself: bool,
    pub(super) collides_with_others: bool,
}

/// Whether a subtree has samples, and edges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tested {
    has_samples: bool,
    has_edges: bool,
}

impl Tested {
    /// Whether anything of two subtrees is tested against each other.
    #[inline]
    pub(super) fn meets(self, other: Tested) -> bool {
        (self.has_samples | other.has_samples) || (self.has_edges & other.has_edges)
    }
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
        let tree = BoxTree::build_grouped(&boxes, &carrier_groups(surface));

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
        let node = |(rest, &TreeNode { start, count }): (&Bounds, &TreeNode)| SurfaceNode {
            moving: MovingBox::EMPTY,
            rest: LaneBox::of(rest),
            sides: Sides::NONE,
            reach: 0.0,
            start,
            count,
            tested: Tested::default(),
        };
        let mut built = SurfaceTree {
            first_triangle: first.triangle as usize,
            nodes: rest.iter().zip(&tree.nodes).map(node).collect(),
            moving: vertices.iter().map(moving).collect(),
            corners: tree.order.iter().map(|t| own[*t as usize].map(|v| position[v as usize])).collect(),
            vertices,
            rest,
            tree,
            nominal_range: surface.nominal_range,
            is_two_sided: surface.is_two_sided,
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
        for i in (0..self.nodes.len()).rev() {
            let SurfaceNode { start, count, .. } = self.nodes[i];
            let (reach, tested) = if count == 0 {
                let [left, right] = [&self.nodes[i + 1], &self.nodes[start as usize]];
                let tested = Tested {
                    has_samples: left.tested.has_samples || right.tested.has_samples,
                    has_edges: left.tested.has_edges || right.tested.has_edges,
                };
                (left.reach.max(right.reach), tested)
            } else {
                let leaf = &self.tree.order[start as usize..][..count as usize];
                let ranges = leaf.iter().map(|t| surface.range[*t as usize]);
                let (from, to) = self.samples_of_node[i];
                let samples = self.samples[from as usize..to as usize].iter();
                let gaps = samples.map(|s| surface.gap[(self.vertices[*s as usize] - first.vertex) as usize]);
                let (first_edge, last_edge) = self.edges_of_node[i];
                let tested = Tested { has_samples: from < to, has_edges: first_edge < last_edge };
                (ranges.chain(gaps).fold(0.0, f64::max) as f32, tested)
            };
            (self.nodes[i].reach, self.nodes[i].tested) = (reach, tested);
        }
    }

    /// Extends the ranges of leaves to the subtrees of inner nodes.
    fn of_subtrees(&self, mut of_leaves: Vec<SubtreeRange>) -> Vec<SubtreeRange> {
        for (i, node) in self.tree.nodes.iter().enumerate().rev().filter(|(_, node)| node.count == 0) {
            of_leaves[i] = (of_leaves[i + 1].0, of_leaves[node.start as usize].1);
        }
        of_leaves
    }

    /// Samples by the first leaf that has a triangle with them.
    fn set_samples(&mut self, surface: &PairSurface, first: FirstOf) {
        let (mut samples, mut ranges) = (Vec::new(), Vec::with_capacity(self.tree.nodes.len()));
        let mut seen = 0;
        for node in &self.tree.nodes {
            let first_sample = samples.len() as u32;
            for corner in self.leaf_corners(node).iter().flatten() {
                // vertices are numbered in the order in which leaves have them
                if *corner == seen {
                    seen += 1;
                    if surface.is_sample[(self.vertices[*corner as usize] - first.vertex) as usize] {
                        samples.push(*corner);
                    }
                }
            }
            ranges.push((first_sample, samples.len() as u32));
        }
        (self.samples, self.samples_of_node) = (samples, self.of_subtrees(ranges));
    }

    /// The corners of the triangles of a leaf; none for an inner node.
    pub(super) fn leaf_corners(&self, node: &TreeNode) -> &[[u32; 3]] {
        let first = if node.count > 0 { node.start as usize } else { 0 };
        &self.corners[first..first + node.count as usize]
    }

    /// Refits the boxes to positions, velocities and normals.
    pub(super) fn refit(&mut self, x: &[Vec3], v: &[Vec3]) {
        let SurfaceTree { nodes, vertices, moving, corners, .. } = self;
        let follow = |(vertex, moving): (&u32, &mut MovingPoint)| {
            *moving = MovingPoint::new(&x[*vertex as usize], &v[*vertex as usize]);
        };
        vertices.par_iter().zip(moving.par_iter_mut()).with_min_len(MIN_PARALLEL_NODES).for_each(follow);
        Refit { corners, vertices, moving, x }.subtree(0, nodes);
    }
}

/// Subtrees of more nodes are refitted in parallel.
const MIN_PARALLEL_NODES: usize = 2048;

/// Numbers for the triangles of a surface that are carried by the same: the carriers of a corner, of the first corner unless the other two agree. Their subtrees are excluded from each other as a whole.
fn carrier_groups(surface: &PairSurface) -> Vec<u32> {
    // numbers of equal rows
    let CarrierRows { offsets, carriers } = surface.carriers;
    let row = |v: u32| &carriers[offsets[v as usize] as usize..offsets[v as usize + 1] as usize];
    let mut order: Vec<u32> = (0..surface.rest.len() as u32).collect();
    order.sort_unstable_by(|a, b| row(*a).cmp(row(*b)).then(a.cmp(b)));
    let mut number = vec![0; surface.rest.len()];
    for (i, own) in order.chunk_by(|a, b| row(*a) == row(*b)).enumerate() {
        own.iter().for_each(|v| number[*v as usize] = i as u32);
    }
    let of_triangle = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|v| number[v as usize]);
        if b == c { b } else { a }
    };
    surface.triangles.iter().map(of_triangle).collect()
}

/// The edges of a surface by the first leaf that has a triangle with them.
fn edges_of_leaves(
    surface: &PairSurface,
    tree: &SurfaceTree,
    first: FirstOf,
) -> (Vec<LeafEdge>, Vec<SubtreeRange>) {
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
        for &[a, b, c] in tree.leaf_corners(node) {
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
    (edges, tree.of_subtrees(ranges))
}

/// A refit in progress.
#[derive(Clone, Copy)]
struct Refit<'a> {
    corners: &'a [[u32; 3]],
    vertices: &'a [u32],
    moving: &'a [MovingPoint],
    x: &'a [Vec3],
}

/// A subtree that is refitted on one thread, compiled for the instruction set of the processor.
struct RefitKernel<'a> {
    refit: Refit<'a>,
    node: usize,
    nodes: &'a mut [SurfaceNode],
}

impl Kernel for RefitKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.refit.serial(self.node, self.nodes);
    }
}

impl Refit<'_> {
    /// Refits a node, the first of those given, and its subtree, which is contiguous after it.
    fn subtree(self, node: usize, nodes: &mut [SurfaceNode]) {
        if nodes.len() <= MIN_PARALLEL_NODES {
            return dispatch(RefitKernel { refit: self, node, nodes });
        }
        let Some((own, both)) = nodes.split_first_mut() else { return };
        let right = own.start as usize;
        let (first, second) = both.split_at_mut(right - node - 1);
        rayon::join(|| self.subtree(node + 1, first), || self.subtree(right, second));
        own.set_union(&first[0], &second[0]);
    }

    /// The same on one thread: from the last node to the first, so that children come before their parents.
    #[inline(always)]
    fn serial(self, node: usize, nodes: &mut [SurfaceNode]) {
        for i in (0..nodes.len()).rev() {
            let SurfaceNode { start, count, .. } = nodes[i];
            if count > 0 {
                self.leaf(start as usize..(start + count) as usize, &mut nodes[i]);
                continue;
            }
            let (above, subtree) = nodes.split_at_mut(i + 1);
            above[i].set_union(&subtree[0], &subtree[start as usize - node - i - 1]);
        }
    }

    #[inline(always)]
    fn leaf(self, range: Range<usize>, node: &mut SurfaceNode) {
        let (mut moving, mut sides) = (MovingBox::EMPTY, Sides::ALL);
        for corners in &self.corners[range] {
            corners.iter().for_each(|corner| moving = moving.with(&self.moving[*corner as usize]));
            // edges in double precision, because coordinates may be far from the origin
            let [a, b, c] = corners.map(|corner| self.x[self.vertices[corner as usize] as usize]);
            sides = sides.and(Sides::of_triangle(&lane(&(b - a)), &lane(&(c - a))));
        }
        (node.moving, node.sides) = (moving, sides);
    }
}
