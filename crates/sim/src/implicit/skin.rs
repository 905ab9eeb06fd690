//! How flesh follows bones, roughly: weights of bones at nodes, and how stiff flesh is against bones that move apart.
//!
//! Not part of any answer: it tells the solver where to begin and how a motion of joints goes on into the flesh.

use crate::Model;
use crate::rig::bone_weights;
use sinew_math::nalgebra::{Matrix3x6, Matrix6};
use sinew_math::spatial::cross_matrix;
use sinew_math::{Mat3, Vec3};
use std::collections::BTreeMap;

/// Weights and stiffnesses of a model at rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Skin {
    ends: Vec<u32>,
    weights: Vec<(u32, f32)>,
    /// Stiffness K against bones b and c moving against a base, over twists in the world at rest.
    pub(super) pairs: Vec<Pair>,
}

/// Energy ½ (t_b − t₀)ᵀ K (t_c − t₀) of motions of two bones against a base bone.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) base: u32,
    pub(super) bones: [u32; 2],
    pub(super) stiffness: Matrix6<f64>,
}

impl Skin {
    /// Of a model at rest.
    pub(super) fn build(model: &Model) -> Skin {
        let lists = bone_weights(model.fixed_nodes(), model.tets());
        let pairs = pairs(model, &lists);
        let mut skin = Skin { ends: vec![0], pairs, ..Skin::default() };
        for list in lists {
            skin.weights.extend(list);
            skin.ends.push(skin.weights.len() as u32);
        }
        skin
    }

    /// Bones of a node with their weights, whose sum is 1; none for nodes of bodies without bones.
    #[inline(always)]
    pub(super) fn of_node(&self, node: usize) -> &[(u32, f32)] {
        &self.weights[self.ends[node] as usize..self.ends[node + 1] as usize]
    }
}

/// Sums over elements whose corners follow different bones: u = t₀(x) + Σ w_b (t_b − t₀)(x), and t₀ alone costs nothing.
fn pairs(model: &Model, weights: &[Vec<(u32, f32)>]) -> Vec<Pair> {
    let mut sums: BTreeMap<(u32, u32, u32), Matrix6<f64>> = BTreeMap::new();
    model.elements().for_each_rest_stiffness(|nodes, blocks| {
        let mut bones: Vec<(u32, f32)> = Vec::new();
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
        let weight = |node: u32, bone: u32| {
            let own = weights[node as usize].iter().find(|(own, _)| *own == bone);
            own.map_or(0.0, |(_, weight)| f64::from(*weight))
        };
        let count = nodes.len();
        let motions: Vec<_> =
            nodes.iter().map(|node| motion_at(&model.node_unstressed()[*node as usize])).collect();
        for (c, _) in &bones[1..] {
            // how the corners are pulled by motions of bone c
            let mut applied = vec![Matrix3x6::zeros(); count];
            for (j, other) in nodes.iter().enumerate() {
                let right = weight(*other, *c);
                if right != 0.0 {
                    let motion = motions[j] * right;
                    (0..count).for_each(|i| applied[i] += blocks[i * count + j] * motion);
                }
            }
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

/// From a twist (angular, linear) about the origin to the velocity at a point.
fn motion_at(x: &Vec3) -> Matrix3x6<f64> {
    let mut motion = Matrix3x6::zeros();
    motion.fixed_view_mut::<3, 3>(0, 0).copy_from(&-cross_matrix(x));
    motion.fixed_view_mut::<3, 3>(0, 3).copy_from(&Mat3::identity());
    motion
}
