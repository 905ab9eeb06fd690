//! Products with the Hessian of the elastic energy, without assembling it.
//!
//! [`ElasticHessian::update`] keeps ∂P/∂F of every element as 45 numbers, exact and not made positive; [`ElasticHessian::multiply`] then gives, corner by corner,
//!
//! ```text
//! dF = dDs Dm⁻¹,     dP = (∂P/∂F) dF,     V w dP Dm⁻ᵀ
//! ```
//!
//! in single precision, and nodes sum their places in a fixed order. Steps of Newton's method are corrected by the gradient in double precision, so this
//! only decides how fast they converge.

mod kernel;
mod turns;

use crate::elements::{Block, Elements};
use crate::law::tangent::TANGENT;
use crate::material::Law;
use crate::potential::{CHUNK, ElasticPotential, StepStart, pad};
use kernel::{DiagonalKernel, MultiplyKernel, UpdateKernel};
use rayon::prelude::*;
use sinew_math::lanes::{BLOCK, dispatch};
use sinew_math::{Mat3, Vec3};
use turns::{NodeGradientKernel, TurnKernel};

/// The Hessian of the elastic energy at one place: scratch.
#[derive(Clone, Debug, Default)]
pub struct ElasticHessian {
    tangents: Vec<BlockTangent>,
    corners: Vec<[f32; 4]>,
    strong: Vec<Vec<u32>>,
    x: Vec<[f64; 4]>,
}

/// ∂P/∂F of sixteen elements, times V w (J).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct BlockTangent([[f32; BLOCK]; TANGENT]);

/// One task's share of the elements, to be updated.
struct Update<'a> {
    law: Law,
    blocks: &'a [Block],
    starts: &'a [StepStart],
    tangents: &'a mut [BlockTangent],
    strong: &'a mut Vec<u32>,
}

impl ElasticHessian {
    /// Takes the stiffness of all elements with nodes at `x` (m), with that of viscosity if `potential` remembers how the step began.
    pub fn update(&mut self, elements: &Elements, potential: &ElasticPotential, x: &[Vec3]) {
        self.fit(elements);
        pad(x, &mut self.x);
        let mut tangents = self.tangents.as_mut_slice();
        let mut strong = self.strong.iter_mut();
        let mut starts = potential.starts.as_slice();
        let mut tasks = Vec::new();
        for group in &elements.groups {
            for blocks in group.blocks.chunks(CHUNK) {
                let (own, rest) = core::mem::take(&mut tangents).split_at_mut(blocks.len());
                tangents = rest;
                let (own_starts, rest) = starts.split_at(if starts.is_empty() { 0 } else { blocks.len() });
                starts = rest;
                let strong = strong.next().expect("a list per chunk");
                tasks.push(Update { law: group.law, blocks, starts: own_starts, tangents: own, strong });
            }
        }
        let x = &self.x;
        let run = |task| dispatch(UpdateKernel { task, x });
        if tasks.len() == 1 || rayon::current_num_threads() == 1 {
            tasks.into_iter().for_each(run);
        } else {
            tasks.into_par_iter().for_each(run);
        }
    }

    /// Multiplies with motions `u` of all nodes; the answers are then found by [`ElasticHessian::on_node`].
    pub fn multiply(&mut self, elements: &Elements, u: &[[f32; 4]]) {
        let mut corners = self.corners.as_mut_slice();
        let mut tangents = self.tangents.as_slice();
        let mut tasks = Vec::new();
        for group in &elements.groups {
            for blocks in group.blocks.chunks(CHUNK) {
                let (own, rest) = core::mem::take(&mut corners).split_at_mut(3 * BLOCK * blocks.len());
                corners = rest;
                let (own_tangents, rest) = tangents.split_at(blocks.len());
                tangents = rest;
                tasks.push(MultiplyKernel { blocks, tangents: own_tangents, u, corners: own });
            }
        }
        if tasks.len() == 1 || rayon::current_num_threads() == 1 {
            tasks.into_iter().for_each(dispatch);
        } else {
            tasks.into_par_iter().for_each(dispatch);
        }
    }

    /// What the last product is at a node.
    #[inline(always)]
    pub fn on_node(&self, elements: &Elements, node: usize) -> [f32; 4] {
        elements.adjacency.sum_at(&self.corners, node)
    }

    /// Adds each node's own 3×3 block of the Hessian.
    pub fn add_diagonal(&self, elements: &Elements, blocks: &mut [Mat3]) {
        let mut tangents = self.tangents.iter();
        for group in &elements.groups {
            for (i, (block, tangent)) in group.blocks.iter().zip(&mut tangents).enumerate() {
                let diagonals = dispatch(DiagonalKernel { block, tangent });
                let count = group.count.saturating_sub(i * BLOCK).min(BLOCK);
                for (lane, nodes) in block.nodes[..count].iter().enumerate() {
                    for (corner, node) in nodes.iter().enumerate() {
                        let [a, b, c, d, e, f] = diagonals[corner].map(|row| f64::from(row[lane]));
                        blocks[*node as usize] += Mat3::new(a, b, d, b, c, e, d, e, f);
                    }
                }
            }
        }
    }

    fn fit(&mut self, elements: &Elements) {
        let slots = elements.slot_count();
        let chunk_count = elements.groups.iter().map(|g| g.blocks.len().div_ceil(CHUNK)).sum();
        if self.corners.len() != 3 * slots || self.strong.len() != chunk_count {
            self.corners = vec![[0.0; 4]; 3 * slots];
            self.tangents = vec![BlockTangent([[0.0; BLOCK]; TANGENT]); slots / BLOCK];
            self.strong = vec![Vec::new(); chunk_count];
        }
    }
}

impl Elements {
    /// Calls `each` with the nodes of every element and the 3×3 blocks of its stiffness at rest (N/m); all laws have the same there:
    ///
    /// ```text
    /// Kₐᵦ = V w (λ gₐ gᵦᵀ + μ gᵦ gₐᵀ + μ gₐ·gᵦ 1)        with gₐ the gradient of corner a's weight
    /// ```
    pub fn for_each_rest_stiffness(&self, mut each: impl FnMut(&[u32; 4], &[[Mat3; 4]; 4])) {
        for group in &self.groups {
            for slot in 0..group.count {
                let (block, lane) = (&group.blocks[slot / BLOCK], slot % BLOCK);
                let (mu, lambda) = (f64::from(block.mu[lane]), f64::from(block.lambda[lane]));
                let row = |k: usize| Vec3::from_fn(|j, _| f64::from(block.inverse_rest[k][j][lane]));
                let (g1, g2, g3) = (row(0), row(1), row(2));
                let gradients = [-(g1 + g2 + g3), g1, g2, g3];
                let stiffness = gradients.map(|ga| {
                    gradients.map(|gb| {
                        lambda * ga * gb.transpose()
                            + mu * gb * ga.transpose()
                            + Mat3::from_diagonal_element(mu * ga.dot(&gb))
                    })
                });
                each(&block.nodes[lane], &stiffness);
            }
        }
    }

    /// How nodes have turned: the rotation nearest to the mean of F over the elements of each node, weighted with volume and stiffness, by columns padded to four
    /// numbers. Nodes whose elements are crushed or inside out are taken as not turned.
    pub fn find_node_turns(&self, x: &[Vec3], turns: &mut Vec<[[f32; 4]; 3]>) {
        let mut padded = Vec::new();
        pad(x, &mut padded);
        // room for whole lanes
        turns.clear();
        turns.resize(x.len().next_multiple_of(BLOCK), [[0.0; 4]; 3]);
        for group in &self.groups {
            dispatch(NodeGradientKernel { group, x: &padded, sums: turns });
        }
        dispatch(TurnKernel { turns });
        turns.truncate(x.len());
    }
}
