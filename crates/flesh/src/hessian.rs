//! Products with the Hessian of the elastic energy, without assembling it.
//!
//! [`ElasticHessian::update`] keeps ∂P/∂F of every element as 45 numbers (or 13, where a law needs no more), exact and not made positive; [`ElasticHessian::multiply`] then gives, corner by corner,
//!
//! ```text
//! dF = dDs Dm⁻¹,     dP = (∂P/∂F) dF,     V w dP Dm⁻ᵀ
//! ```
//!
//! in single precision, and nodes sum their places in a fixed order. Steps of Newton's method are corrected by the gradient in double precision, so this
//! only decides how fast they converge.

mod kernel;
mod stiffness;
mod turns;

use crate::elements::{Block, Elements, Group};
use crate::material::Law;
use crate::patches::PatchProducts;
use crate::potential::{CHUNK, ElasticPotential, StepStart, pad};
use kernel::{DiagonalKernel, MultiplyKernel, NeoHookeanKernel, UpdateKernel};
use rayon::prelude::*;
use sinew_math::lanes::{BLOCK, Kernel, dispatch};
use sinew_math::{Mat3, Vec3};
use stiffness::{BlockTangent, NeoHookeanBlock, Stiffness};
use turns::{NodeGradientKernel, TurnKernel};

/// The Hessian of the elastic energy at one place: scratch.
#[derive(Clone, Debug, Default)]
pub struct ElasticHessian {
    /// One list of blocks per group of elements.
    tangents: Vec<GroupTangents>,
    corners: Vec<[f32; 4]>,
    strong: Vec<Vec<u32>>,
    x: Vec<[f64; 4]>,
    patches: PatchProducts,
}

/// ∂P/∂F of the elements of a group.
#[derive(Clone, Debug)]
enum GroupTangents {
    /// Of any law.
    Whole(Vec<BlockTangent>),
    /// Of neo-Hookean elements without viscosity.
    NeoHookean(Vec<NeoHookeanBlock>),
}

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
        self.fit(elements, !potential.starts.is_empty());
        pad(x, &mut self.x);
        self.patches.update(elements, &self.x, &potential.patch_starts);
        let x = &self.x;
        let mut strong = self.strong.as_mut_slice();
        let mut starts = potential.starts.as_slice();
        for (group, tangents) in elements.groups.iter().zip(&mut self.tangents) {
            let blocks = group.blocks.chunks(CHUNK);
            let (own_strong, rest) = core::mem::take(&mut strong).split_at_mut(blocks.len());
            strong = rest;
            let (own_starts, rest) = starts.split_at(if starts.is_empty() { 0 } else { group.blocks.len() });
            starts = rest;
            match tangents {
                GroupTangents::NeoHookean(tangents) => {
                    let tasks = blocks.zip(tangents.chunks_mut(CHUNK));
                    run_all(
                        tasks.map(|(blocks, tangents)| NeoHookeanKernel { blocks, tangents, x }).collect(),
                    );
                }
                GroupTangents::Whole(tangents) => {
                    let tasks = blocks.zip(tangents.chunks_mut(CHUNK)).zip(own_strong).enumerate();
                    let tasks = tasks.map(|(i, ((blocks, tangents), strong))| {
                        let starts = own_starts.get(i * CHUNK..).unwrap_or_default();
                        UpdateKernel { task: Update { law: group.law, blocks, starts, tangents, strong }, x }
                    });
                    run_all(tasks.collect());
                }
            }
        }
    }

    /// Multiplies with motions `u` of all nodes; the answers are then found by [`ElasticHessian::on_node`].
    pub fn multiply(&mut self, elements: &Elements, u: &[[f32; 4]]) {
        let mut corners = self.corners.as_mut_slice();
        for (group, tangents) in elements.groups.iter().zip(&self.tangents) {
            let (own, rest) = core::mem::take(&mut corners).split_at_mut(3 * BLOCK * group.blocks.len());
            corners = rest;
            match tangents {
                GroupTangents::Whole(tangents) => multiply_group(&group.blocks, tangents, u, own),
                GroupTangents::NeoHookean(tangents) => multiply_group(&group.blocks, tangents, u, own),
            }
        }
        self.patches.multiply(elements, u, &mut self.corners);
    }

    /// What the last product is at a node.
    #[inline(always)]
    pub fn on_node(&self, elements: &Elements, node: usize) -> [f32; 4] {
        elements.adjacency.sum_at(&self.corners, node)
    }

    /// Adds each node's own 3×3 block of the Hessian.
    pub fn add_diagonal(&self, elements: &Elements, blocks: &mut [Mat3]) {
        for (group, tangents) in elements.groups.iter().zip(&self.tangents) {
            match tangents {
                GroupTangents::Whole(tangents) => add_group_diagonal(group, tangents, blocks),
                GroupTangents::NeoHookean(tangents) => add_group_diagonal(group, tangents, blocks),
            }
        }
        self.patches.add_diagonal(elements, blocks);
    }

    fn fit(&mut self, elements: &Elements, is_viscous: bool) {
        let slots = elements.slot_count();
        let chunk_count = elements.groups.iter().map(|g| g.blocks.len().div_ceil(CHUNK)).sum();
        if self.corners.len() != 3 * slots || self.strong.len() != chunk_count {
            self.corners = vec![[0.0; 4]; 3 * slots];
            self.strong = vec![Vec::new(); chunk_count];
            self.tangents.clear();
        }
        self.tangents.truncate(elements.groups.len());
        for (i, group) in elements.groups.iter().enumerate() {
            let is_compact = group.law == Law::StableNeoHookean && !is_viscous;
            if !self.tangents.get(i).is_some_and(|own| own.fits(group.blocks.len(), is_compact)) {
                self.tangents.truncate(i);
                self.tangents.push(GroupTangents::zero(group.blocks.len(), is_compact));
            }
        }
    }
}

impl GroupTangents {
    fn zero(count: usize, is_compact: bool) -> GroupTangents {
        if is_compact {
            GroupTangents::NeoHookean(vec![NeoHookeanBlock::ZERO; count])
        } else {
            GroupTangents::Whole(vec![BlockTangent::ZERO; count])
        }
    }

    fn fits(&self, count: usize, is_compact: bool) -> bool {
        match self {
            GroupTangents::Whole(own) => own.len() == count && !is_compact,
            GroupTangents::NeoHookean(own) => own.len() == count && is_compact,
        }
    }
}

/// Runs tasks, on all threads where there are many.
fn run_all<K: Kernel<Output = ()> + Send>(tasks: Vec<K>) {
    if tasks.len() == 1 || rayon::current_num_threads() == 1 {
        tasks.into_iter().for_each(dispatch);
    } else {
        tasks.into_par_iter().for_each(dispatch);
    }
}

fn multiply_group<S: Stiffness>(blocks: &[Block], tangents: &[S], u: &[[f32; 4]], corners: &mut [[f32; 4]]) {
    let tasks = blocks.chunks(CHUNK).zip(tangents.chunks(CHUNK)).zip(corners.chunks_mut(3 * BLOCK * CHUNK));
    let task = |((blocks, tangents), corners)| MultiplyKernel { blocks, tangents, u, corners };
    run_all(tasks.map(task).collect());
}

fn add_group_diagonal<S: Stiffness>(group: &Group, tangents: &[S], to: &mut [Mat3]) {
    for (i, (block, tangent)) in group.blocks.iter().zip(tangents).enumerate() {
        let diagonals = dispatch(DiagonalKernel { block, tangent });
        let count = group.count.saturating_sub(i * BLOCK).min(BLOCK);
        for (lane, nodes) in block.nodes[..count].iter().enumerate() {
            for (corner, node) in nodes.iter().enumerate() {
                let [a, b, c, d, e, f] = diagonals[corner].map(|row| f64::from(row[lane]));
                to[*node as usize] += Mat3::new(a, b, d, b, c, e, d, e, f);
            }
        }
    }
}

impl Elements {
    /// Calls `each` with the nodes of every element and every patch and the 3×3 blocks of its stiffness at rest (N/m), row by row; all laws have the same there:
    ///
    /// ```text
    /// Kₐᵦ = V w (λ gₐ gᵦᵀ + μ gᵦ gₐᵀ + μ gₐ·gᵦ 1)        with gₐ the gradient of corner a's weight
    /// Kₐᵦ = bₐ bᵦᵀ / W                                   of a patch, with bₐ = Σ c ∂v/∂xₐ
    /// ```
    pub fn for_each_rest_stiffness(&self, mut each: impl FnMut(&[u32], &[Mat3])) {
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
                each(&block.nodes[lane], stiffness.as_flattened());
            }
        }
        let blocks: Vec<&Block> = self.groups.iter().flat_map(|group| &group.blocks).collect();
        let (mut pulls, mut nodes, mut stiffness) = (Vec::new(), Vec::new(), Vec::new());
        for patch in 0..self.patches.count() {
            let inverse_rest = self.patches.rest_pulls(&blocks, patch, &mut pulls);
            nodes.clear();
            nodes.extend(pulls.iter().map(|(node, _)| *node));
            stiffness.clear();
            for (_, a) in &pulls {
                stiffness.extend(pulls.iter().map(|(_, b)| inverse_rest * a * b.transpose()));
            }
            each(&nodes, &stiffness);
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
