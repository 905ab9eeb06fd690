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
    /// Of positions at rest, grown by the proximity range (m).
    pub(super) rest: LaneBox,
}

impl NodeBoxes {
    fn around_rest(rest: &Bounds) -> NodeBoxes {
        NodeBoxes { moving: MovingBox::EMPTY, normals: LaneBox::EMPTY, rest: LaneBox::of(rest) }
    }

    #[inline]
    fn set_union(&mut self, a: &NodeBoxes, b: &NodeBoxes) {
        self.moving = a.moving.and(&b.moving);
        self.normals = a.normals.and(&b.normals);
    }
}

/// One surface in the broad phase.
#[derive(Clone, Debug, Default)]
pub(super) struct SurfaceTree {
    pub(super) first_triangle: usize,
    /// The hierarchy, with boxes at rest.
    pub(super) tree: BoxTree,
    /// The boxes of each node.
    pub(super) boxes: Vec<NodeBoxes>,
    /// The box of each node at rest, grown: subtrees whose boxes intersect are neighbours at rest.
    pub(super) rest: Vec<Bounds>,
    /// Pairs of nodes that never collide.
    pub(super) excluded: ExcludedPairs,
    /// The vertices, those of a leaf contiguous; every vertex belongs to one leaf.
    pub(super) vertices: Vec<u32>,
    pub(super) vertices_of_node: Vec<(u32, u32)>,
    /// Their positions and velocities, in that order.
    pub(super) moving: Vec<MovingPoint>,
    /// Corners of the triangles as indices into `vertices`, in the order of the hierarchy.
    pub(super) corners: Vec<[u32; 3]>,
    /// Centroid, normal and radius of triangles at rest.
    pub(super) rest_shape: Vec<(Vec3, Vec3, f64)>,
    pub(super) collides_with_itself: bool,
    pub(super) collides_with_others: bool,
}

impl SurfaceTree {
    pub(super) fn build(
        surface: &PairSurface,
        first_vertex: u32,
        first_triangle: usize,
        triangles: &[[u32; 3]],
        rest: &[Vec3],
        near: f64,
    ) -> SurfaceTree {
        // hierarchy over the triangles at rest
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

        // vertices in the order of the leaves
        let mut position = vec![u32::MAX; surface.rest.len()];
        let (mut vertices, mut vertices_of_node) = (Vec::new(), Vec::new());
        for node in &tree.nodes {
            let first = vertices.len() as u32;
            for &t in &tree.order[node.start as usize..][..node.count as usize] {
                for v in own[t as usize] {
                    let position = &mut position[(v - first_vertex) as usize];
                    if *position == u32::MAX {
                        *position = vertices.len() as u32;
                        vertices.push(v);
                    }
                }
            }
            vertices_of_node.push((first, vertices.len() as u32));
        }
        let local = |t: &u32| own[*t as usize].map(|v| position[(v - first_vertex) as usize]);

        // boxes at rest, grown by the proximity range
        let rest_boxes: Vec<Bounds> = tree.bounds.iter().map(|bounds| bounds.grown(near)).collect();
        SurfaceTree {
            first_triangle,
            boxes: rest_boxes.iter().map(NodeBoxes::around_rest).collect(),
            rest: rest_boxes,
            excluded: ExcludedPairs::default(),
            rest_shape: own.iter().map(shape).collect(),
            moving: vertices.iter().map(|v| MovingPoint::new(&rest[*v as usize], &Vec3::zeros())).collect(),
            corners: tree.order.iter().map(local).collect(),
            vertices,
            vertices_of_node,
            tree,
            collides_with_itself: surface.collides_with_itself,
            collides_with_others: surface.collides_with_others,
        }
    }

    /// Refits the boxes to positions, normals and velocities.
    pub(super) fn refit(&mut self, triangles: &[[u32; 3]], x: &[Vec3], v: &[Vec3]) {
        let SurfaceTree { tree, boxes, first_triangle, vertices, moving, corners, .. } = self;
        let follow = |(vertex, moving): (&u32, &mut MovingPoint)| {
            *moving = MovingPoint::new(&x[*vertex as usize], &v[*vertex as usize]);
        };
        vertices.par_iter().zip(moving.par_iter_mut()).with_min_len(MIN_PARALLEL_NODES).for_each(follow);
        let triangles = &triangles[*first_triangle..];
        Refit { tree, triangles, corners, moving, x }.subtree(0, boxes);
    }
}

/// Subtrees of more nodes are refitted in parallel.
const MIN_PARALLEL_NODES: usize = 2048;

/// A refit in progress.
#[derive(Clone, Copy)]
struct Refit<'a> {
    tree: &'a BoxTree,
    triangles: &'a [[u32; 3]],
    corners: &'a [[u32; 3]],
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
        for (corners, t) in self.corners[range.clone()].iter().zip(&self.tree.order[range]) {
            corners.iter().for_each(|corner| moving = moving.with(&self.moving[*corner as usize]));
            // edges in double precision, because coordinates may be far from the origin
            let [a, b, c] = self.triangles[*t as usize].map(|corner| self.x[corner as usize]);
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
