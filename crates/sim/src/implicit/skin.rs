//! Linear blend skinning for the solver: bone weights of nodes, and the stiffness of flesh against relative motion of bones.
//!
//! It affects only convergence, never the result: it provides initial guesses and the coarse space of the preconditioner.

use crate::Model;
use crate::bone_weights::BoneWeights;
use sinew_flesh::Elements;
use sinew_math::nalgebra::{Matrix3x6, Matrix6};
use sinew_math::spatial::cross_matrix;
use sinew_math::{Mat3, Vec3};
use std::collections::BTreeMap;

/// Skinning weights and stiffnesses of a model at rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Skin {
    ends: Vec<u32>,
    weights: Vec<(u32, f32)>,
    /// Stiffness K against motion of bones b and c relative to a base bone, over twists in world axes at rest.
    pub(super) pairs: Vec<Pair>,
}

/// Energy ½ (t_b − t₀)ᵀ K (t_c − t₀) of the motion of two bones relative to a base bone.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) base: u32,
    pub(super) bones: [u32; 2],
    pub(super) stiffness: Matrix6<f64>,
}

impl Skin {
    /// Computes weights and stiffnesses of a model at rest, with the stiffness of elements.
    pub(super) fn build(model: &Model, elements: &Elements) -> Skin {
        let lists = model.fixed_nodes().blended_weights(model.tets());
        let pairs = pairs(model, elements, &lists);
        let mut skin = Skin { ends: vec![0], pairs, ..Skin::default() };
        for list in lists {
            skin.weights.extend(list.into_iter().map(|(bone, weight)| (bone, weight as f32)));
            skin.ends.push(skin.weights.len() as u32);
        }
        skin
    }

    /// Bones of a node with their weights, which sum to 1; empty for nodes of bodies without bones.
    #[inline(always)]
    pub(super) fn of_node(&self, node: usize) -> &[(u32, f32)] {
        &self.weights[self.ends[node] as usize..self.ends[node + 1] as usize]
    }
}

/// Sums over elements whose corners follow different bones: u = t₀(x) + Σ w_b (t_b − t₀)(x), where t₀ alone is a rigid motion without energy.
fn pairs(model: &Model, elements: &Elements, weights: &[BoneWeights]) -> Vec<Pair> {
    let mut sums: BTreeMap<(u32, u32, u32), Matrix6<f64>> = BTreeMap::new();
    elements.for_each_rest_stiffness(|nodes, blocks| {
        // bones of the element, the one with the largest weight as base
        let mut bones = BoneWeights::new();
        for (bone, weight) in nodes.iter().flat_map(|node| &weights[*node as usize]) {
            match bones.iter_mut().find(|(own, _)| own == bone) {
                Some((_, own)) => *own += weight,
                None => bones.push((*bone, *weight)),
            }
        }
        if bones.len() < 2 {
            return;
        }
        bones.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let base = bones[0].0;

        // weights and rigid-motion matrices of the corners
        let weight = |node: u32, bone: u32| {
            let own = weights[node as usize].iter().find(|(own, _)| *own == bone);
            own.map_or(0.0, |(_, weight)| *weight)
        };
        let count = nodes.len();
        let motions: Vec<_> =
            nodes.iter().map(|node| motion_at(&model.node_unstressed()[*node as usize])).collect();
        for (c, _) in &bones[1..] {
            // corner forces due to a twist of bone c
            let mut applied = vec![Matrix3x6::zeros(); count];
            for (j, other) in nodes.iter().enumerate() {
                let right = weight(*other, *c);
                if right != 0.0 {
                    let motion = motions[j] * right;
                    (0..count).for_each(|i| applied[i] += blocks[i * count + j] * motion);
                }
            }

            // virtual work on a twist of bone b
            for (b, _) in &bones[1..] {
                let sum = sums.entry((base, *b, *c)).or_insert_with(Matrix6::zeros);
                for (i, node) in nodes.iter().enumerate() {
                    let left = weight(*node, *b);
                    if left != 0.0 {
                        *sum += motions[i].tr_mul(&(applied[i] * left));
                    }
                }
            }
        }
    });
    let pair = |((base, b, c), stiffness)| Pair { base, bones: [b, c], stiffness };
    sums.into_iter().map(pair).collect()
}

/// Maps a twist (angular, linear) about the origin to the velocity at a point.
fn motion_at(x: &Vec3) -> Matrix3x6<f64> {
    let mut motion = Matrix3x6::zeros();
    motion.fixed_view_mut::<3, 3>(0, 0).copy_from(&-cross_matrix(x));
    motion.fixed_view_mut::<3, 3>(0, 3).copy_from(&Mat3::identity());
    motion
}
