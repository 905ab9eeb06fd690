//! One surface in a walk: a tree over its triangles, with how they are turned and how they move.

use super::PairSurface;
use super::beside::Beside;
use super::lane_box::{Lane, LaneBox, MovingBox, MovingPoint, dot, lane};
use crate::box_tree::{Bounds, BoxTree, TreeNode};
use rayon::prelude::*;
use sinew_math::Vec3;
use std::ops::Range;

/// Boxes around what is below a node: two lines of memory, the first of which decides most comparisons.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct NodeBoxes {
    /// Around its place and its velocities.
    pub(super) moving: MovingBox,
    /// Around its normals.
    pub(super) normals: LaneBox,
    /// Around its place at rest, somewhat grown (m).
    pub(super) rest: LaneBox,
}

impl NodeBoxes {
    fn around_rest(rest: &Bounds) -> NodeBoxes {
        NodeBoxes { moving: MovingBox::EMPTY, normals: LaneBox::EMPTY, rest: LaneBox::of(rest) }
    }

    #[inline]
    fn become_both(&mut self, a: &NodeBoxes, b: &NodeBoxes) {
        self.moving = a.moving.and(&b.moving);
        self.normals = a.normals.and(&b.normals);
    }
}

/// One surface in the walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    pub(super) first_triangle: usize,
    /// The tree, with boxes at rest.
    pub(super) tree: BoxTree,
    /// What is below each node.
    pub(super) boxes: Vec<NodeBoxes>,
    /// Around each node at rest, somewhat grown: patches whose boxes meet then are beside each other.
    pub(super) rest: Vec<Bounds>,
    /// Nodes that hang together.
    pub(super) beside: Beside,
    /// The vertices of each leaf, those of a leaf together: every vertex is in one.
    pub(super) vertices: Vec<u32>,
    pub(super) vertices_of_node: Vec<(u32, u32)>,
    /// How they move, in that order.
    pub(super) moving: Vec<MovingPoint>,
    /// Corners of triangles among them, in the order of the tree.
    pub(super) corners: Vec<[u32; 3]>,
    /// Middle, normal and radius of triangles at rest.
    pub(super) rest_shape: Vec<(Vec3, Vec3, f64)>,
    pub(super) collides_with_itself: bool,
    pub(super) collides_with_others: bool,
}

impl Patch {
    pub(super) fn build(
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
        let mut place = vec![u32::MAX; surface.rest.len()];
        let (mut vertices, mut vertices_of_node) = (Vec::new(), Vec::new());
        for node in &tree.nodes {
            let first = vertices.len() as u32;
            for &t in &tree.order[node.start as usize..][..node.count as usize] {
                for v in own[t as usize] {
                    let place = &mut place[(v - first_vertex) as usize];
                    if *place == u32::MAX {
                        *place = vertices.len() as u32;
                        vertices.push(v);
                    }
                }
            }
            vertices_of_node.push((first, vertices.len() as u32));
        }
        let local = |t: &u32| own[*t as usize].map(|v| place[(v - first_vertex) as usize]);
        let rest_boxes: Vec<Bounds> = tree.bounds.iter().map(|bounds| bounds.grown(near)).collect();
        Patch {
            first_triangle,
            boxes: rest_boxes.iter().map(NodeBoxes::around_rest).collect(),
            rest: rest_boxes,
            beside: Beside::default(),
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

    /// Fits boxes to where the surface is, how it is turned and how it moves.
    pub(super) fn refit(&mut self, triangles: &[[u32; 3]], x: &[Vec3], v: &[Vec3]) {
        let Patch { tree, boxes, first_triangle, vertices, moving, corners, .. } = self;
        let follow = |(vertex, moving): (&u32, &mut MovingPoint)| {
            *moving = MovingPoint::new(&x[*vertex as usize], &v[*vertex as usize]);
        };
        vertices.par_iter().zip(moving.par_iter_mut()).with_min_len(SHARED).for_each(follow);
        let triangles = &triangles[*first_triangle..];
        Fit { tree, triangles, corners, moving, x }.below(0, boxes);
    }
}

/// Subtrees of more nodes are shared among threads.
const SHARED: usize = 2048;

/// Boxes being fitted to a surface.
#[derive(Clone, Copy)]
struct Fit<'a> {
    tree: &'a BoxTree,
    triangles: &'a [[u32; 3]],
    corners: &'a [[u32; 3]],
    moving: &'a [MovingPoint],
    x: &'a [Vec3],
}

impl Fit<'_> {
    /// Fits the boxes of a node and all below it, which stand behind it.
    fn below(self, node: usize, boxes: &mut [NodeBoxes]) {
        if boxes.len() <= SHARED {
            return self.one_by_one(node, boxes);
        }
        let right = self.tree.nodes[node].start as usize;
        let Some((own, both)) = boxes.split_first_mut() else { return };
        let (first, second) = both.split_at_mut(right - node - 1);
        rayon::join(|| self.below(node + 1, first), || self.below(right, second));
        own.become_both(&first[0], &second[0]);
    }

    /// The same on one thread: from the last node to the first, so that children are fitted before their parents.
    fn one_by_one(self, node: usize, boxes: &mut [NodeBoxes]) {
        for i in (0..boxes.len()).rev() {
            let TreeNode { start, count } = self.tree.nodes[node + i];
            if count > 0 {
                self.leaf(start as usize..(start + count) as usize, &mut boxes[i]);
                continue;
            }
            let (above, below) = boxes.split_at_mut(i + 1);
            above[i].become_both(&below[0], &below[start as usize - node - i - 1]);
        }
    }

    fn leaf(self, range: Range<usize>, boxes: &mut NodeBoxes) {
        let (mut moving, mut normals) = (MovingBox::EMPTY, LaneBox::EMPTY);
        for (corners, t) in self.corners[range.clone()].iter().zip(&self.tree.order[range]) {
            corners.iter().for_each(|corner| moving = moving.with(&self.moving[*corner as usize]));
            // edges are differences of what is far from the origin
            let [a, b, c] = self.triangles[*t as usize].map(|corner| self.x[corner as usize]);
            normals = normals.with(&normal_of(&lane(&(b - a)), &lane(&(c - a))));
        }
        (boxes.moving, boxes.normals) = (moving, normals);
    }
}

/// The normal of length 1 of a triangle with these edges; a triangle without area has no side.
#[inline]
fn normal_of([ax, ay, az, _]: &Lane, [bx, by, bz, _]: &Lane) -> Lane {
    let normal = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx, 0.0];
    let length = dot(&normal, &normal).sqrt();
    if length > 0.0 { normal.map(|x| x / length) } else { [0.0; 4] }
}
