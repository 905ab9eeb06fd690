//! One surface in a walk: a tree over its triangles, with how they are turned and how they move.

use super::PairSurface;
use super::beside::Beside;
use crate::box_tree::{Bounds, BoxTree, TreeNode};
use rayon::prelude::*;
use sinew_math::Vec3;

/// One surface in the walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    pub(super) first_triangle: usize,
    pub(super) tree: BoxTree,
    /// Around the normals below each node.
    pub(super) normals: Vec<Bounds>,
    /// Around the velocities below each node (m/s).
    pub(super) velocities: Vec<Bounds>,
    /// Around each node at rest, somewhat grown: patches whose boxes meet then are beside each other.
    pub(super) rest: Vec<Bounds>,
    /// Nodes that hang together.
    pub(super) beside: Beside,
    /// The vertices of each leaf: every vertex is in one.
    pub(super) vertices: Vec<u32>,
    pub(super) vertices_of_node: Vec<(u32, u32)>,
    /// Middle, normal and radius of triangles at rest.
    pub(super) rest_shape: Vec<(Vec3, Vec3, f64)>,
    pub(super) touches_itself: bool,
    pub(super) touches_others: bool,
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
            velocities: vec![Bounds::EMPTY; tree.nodes.len()],
            rest: tree.bounds.iter().map(|bounds| bounds.grown(near)).collect(),
            beside: Beside::default(),
            rest_shape: own.iter().map(shape).collect(),
            vertices,
            vertices_of_node,
            tree,
            touches_itself: surface.touches_itself,
            touches_others: surface.touches_others,
        }
    }

    /// Fits boxes to where the surface is, how it is turned and how it moves: leaves at once, the rest from below.
    pub(super) fn refit(&mut self, triangles: &[[u32; 3]], x: &[Vec3], v: &[Vec3]) {
        let Patch { tree, normals, velocities, first_triangle, .. } = self;
        let BoxTree { nodes, bounds, order } = tree;
        let fit = |(((node, bounds), normals), velocities): (
            ((&TreeNode, &mut Bounds), &mut Bounds),
            &mut Bounds,
        )| {
            if node.count == 0 {
                return;
            }
            (*bounds, *normals, *velocities) = (Bounds::EMPTY, Bounds::EMPTY, Bounds::EMPTY);
            for &t in &order[node.start as usize..][..node.count as usize] {
                let corners = triangles[*first_triangle + t as usize].map(|corner| corner as usize);
                let [a, b, c] = corners.map(|corner| x[corner]);
                *bounds = bounds.with(&a).with(&b).with(&c);
                let normal = (b - a).cross(&(c - a));
                let length = normal.norm();
                // a triangle without area has no side
                let normal = if length > 0.0 { normal / length } else { Vec3::zeros() };
                *normals = normals.with(&normal);
                corners.iter().for_each(|corner| *velocities = velocities.with(&v[*corner]));
            }
        };
        nodes
            .par_iter()
            .zip(bounds.par_iter_mut())
            .zip(normals.par_iter_mut())
            .zip(velocities.par_iter_mut())
            .with_min_len(512)
            .for_each(fit);
        for i in (0..nodes.len()).rev() {
            if nodes[i].count == 0 {
                let other = nodes[i].start as usize;
                bounds[i] = bounds[i + 1].and(&bounds[other]);
                normals[i] = normals[i + 1].and(&normals[other]);
                velocities[i] = velocities[i + 1].and(&velocities[other]);
            }
        }
    }
}
