//! Matrix-free Hessian products of the elastic energy.
//!
//! [`ElasticHessian::update`] stores ∂P/∂F of every element as 45 numbers (or 13 to 21, where a law needs no more), exact and without projection to positive
//! definiteness; [`ElasticHessian::multiply`] then computes for each corner
//!
//! ```text
//! dF = dDs Dm⁻¹,     dP = (∂P/∂F) dF,     V w dP Dm⁻ᵀ
//! ```
//!
//! in single precision, and nodes sum their slots in a fixed order. Newton's method converges to the zero of a gradient in double precision, so this
//! precision affects only the rate of convergence.

mod kernel;
mod stiffness;
mod strong;
#[cfg(test)]
mod tests;
mod turns;
mod update;

use crate::block::CHUNK;
use crate::elements::{Block, Elements, Group};
use crate::gather::pad;
use crate::material::Law;
use crate::patch_volumes::{PatchProduct, PatchProducts};
use crate::potential::{ElasticPotential, StepStart};
use kernel::{DiagonalKernel, MultiplyKernel};
use sinew_math::lanes::{BLOCK, Kernel, dispatch};
use sinew_math::parallel::for_each_task;
use sinew_math::{Mat3, Vec3};
use stiffness::{BlockTangent, NeoHookeanBlock, Stiffness, StrainBlock, ViscousNeoHookeanBlock};
use strong::StrongLanes;
use turns::{NodeGradientKernel, TurnKernel};
use update::{StrainTangents, UpdateKernel, WholeTangents};

/// Scratch: the Hessian of the elastic energy at one configuration.
#[derive(Clone, Debug, Default)]
pub struct ElasticHessian {
    /// One list of blocks per group of elements.
    tangents: Vec<GroupTangents>,
    corners: Vec<[f32; 4]>,
    x: Vec<[f64; 4]>,
    patches: PatchProducts,
}

/// ∂P/∂F of the elements of a group.
#[derive(Clone, Debug)]
enum GroupTangents {
    /// Any law.
    Whole(Vec<BlockTangent>),
    /// St. Venant-Kirchhoff elements, with a separate list per task of those beyond their limits.
    Strain(Vec<StrainBlock>, Vec<StrongLanes>),
    /// Neo-Hookean elements without viscosity.
    NeoHookean(Vec<NeoHookeanBlock>),
    /// Viscous neo-Hookean elements.
    ViscousNeoHookean(Vec<ViscousNeoHookeanBlock>),
}

impl ElasticHessian {
    /// Linearises all elements at nodes `x` (m), with viscosity if `potential` has the start of a step.
    pub fn update(&mut self, elements: &Elements, potential: &ElasticPotential, x: &[Vec3]) {
        self.fit(elements, !potential.starts.is_empty());
        pad(x, &mut self.x);
        self.patches.update(elements, &self.x, &potential.patch_starts);
        let x = &self.x;
        let mut starts = potential.starts.as_slice();
        for (group, tangents) in elements.groups.iter().zip(&mut self.tangents) {
            let (own, rest) = starts.split_at(if starts.is_empty() { 0 } else { group.blocks.len() });
            starts = rest;
            tangents.update(group, own, x);
        }
    }

    /// Multiplies by displacements `u` of all nodes; [`ElasticHessian::on_node`] then returns the product.
    pub fn multiply(&mut self, elements: &Elements, u: &[[f32; 4]]) {
        self.patches.find_changes(elements, u);
        let mut patches = self.patches.product(elements);
        let mut corners = self.corners.as_mut_slice();
        for (group, tangents) in elements.groups.iter().zip(&self.tangents) {
            let slots = BLOCK * group.blocks.len();
            let (own, rest) = core::mem::take(&mut corners).split_at_mut(3 * slots);
            let (own_patches, rest_patches) = patches.split_at(slots);
            (corners, patches) = (rest, rest_patches);
            let product = Product { blocks: &group.blocks, patches: own_patches, u, corners: own };
            match tangents {
                GroupTangents::Whole(tangents) => product.take(tangents, &[]),
                GroupTangents::Strain(tangents, strong) => product.take(tangents, strong),
                GroupTangents::NeoHookean(tangents) => product.take(tangents, &[]),
                GroupTangents::ViscousNeoHookean(tangents) => product.take(tangents, &[]),
            }
        }
    }

    /// The last product at a node.
    #[inline(always)]
    pub fn on_node(&self, elements: &Elements, node: usize) -> [f32; 4] {
        elements.adjacency.sum_at(&self.corners, node)
    }

    /// Adds the diagonal 3×3 blocks of the Hessian.
    pub fn add_diagonal(&self, elements: &Elements, blocks: &mut [Mat3]) {
        for (group, tangents) in elements.groups.iter().zip(&self.tangents) {
            match tangents {
                GroupTangents::Whole(tangents) => add_group_diagonal(group, tangents, &[], blocks),
                GroupTangents::Strain(tangents, strong) => {
                    add_group_diagonal(group, tangents, strong, blocks);
                }
                GroupTangents::NeoHookean(tangents) => add_group_diagonal(group, tangents, &[], blocks),
                GroupTangents::ViscousNeoHookean(tangents) => {
                    add_group_diagonal(group, tangents, &[], blocks);
                }
            }
        }
        self.patches.add_diagonal(elements, blocks);
    }

    fn fit(&mut self, elements: &Elements, is_viscous: bool) {
        self.corners.resize(3 * elements.slot_count(), [0.0; 4]);
        self.tangents.truncate(elements.groups.len());
        for (i, group) in elements.groups.iter().enumerate() {
            if !self.tangents.get(i).is_some_and(|own| own.fits(group, is_viscous)) {
                self.tangents.truncate(i);
                self.tangents.push(GroupTangents::zero(group, is_viscous));
            }
        }
    }
}

impl GroupTangents {
    fn zero(group: &Group, is_viscous: bool) -> GroupTangents {
        let count = group.blocks.len();
        match group.law {
            Law::StVenantKirchhoff(_) => {
                let strong = vec![StrongLanes::default(); count.div_ceil(CHUNK)];
                GroupTangents::Strain(vec![StrainBlock::ZERO; count], strong)
            }
            Law::Corotational => GroupTangents::Whole(vec![BlockTangent::ZERO; count]),
            Law::StableNeoHookean if is_viscous => {
                GroupTangents::ViscousNeoHookean(vec![ViscousNeoHookeanBlock::ZERO; count])
            }
            Law::StableNeoHookean => GroupTangents::NeoHookean(vec![NeoHookeanBlock::ZERO; count]),
        }
    }

    fn fits(&self, group: &Group, is_viscous: bool) -> bool {
        let count = group.blocks.len();
        match (self, group.law) {
            (GroupTangents::Whole(own), Law::Corotational) => own.len() == count,
            (GroupTangents::Strain(own, _), Law::StVenantKirchhoff(_)) => own.len() == count,
            (GroupTangents::NeoHookean(own), Law::StableNeoHookean) => own.len() == count && !is_viscous,
            (GroupTangents::ViscousNeoHookean(own), Law::StableNeoHookean) => {
                own.len() == count && is_viscous
            }
            _ => false,
        }
    }

    fn update(&mut self, group: &Group, starts: &[StepStart], x: &[[f64; 4]]) {
        match (self, group.law) {
            (GroupTangents::Strain(tangents, strong), Law::StVenantKirchhoff(limits)) => {
                let to = tangents.chunks_mut(CHUNK).zip(strong);
                let to = to.map(|(tangents, strong)| StrainTangents { limits, tangents, strong });
                update_group(group, starts, x, to);
            }
            (GroupTangents::NeoHookean(tangents), _) => {
                update_group(group, starts, x, tangents.chunks_mut(CHUNK));
            }
            (GroupTangents::ViscousNeoHookean(tangents), _) => {
                update_group(group, starts, x, tangents.chunks_mut(CHUNK));
            }
            (GroupTangents::Whole(tangents), law) => {
                let to = tangents.chunks_mut(CHUNK).map(|tangents| WholeTangents { law, tangents });
                update_group(group, starts, x, to);
            }
            (GroupTangents::Strain(..), _) => unreachable!("tangents are made to fit the law"),
        }
    }
}

fn update_group<'a, T: Send>(
    group: &'a Group,
    starts: &'a [StepStart],
    x: &'a [[f64; 4]],
    to: impl Iterator<Item = T>,
) where
    UpdateKernel<'a, T>: Kernel<Output = ()>,
{
    let tasks = group.blocks.chunks(CHUNK).zip(to).enumerate().map(|(i, (blocks, to))| {
        let starts = starts.get(i * CHUNK..).unwrap_or_default();
        UpdateKernel { blocks, starts, x, to }
    });
    for_each_task(tasks.collect(), dispatch);
}

/// The product of one group with displacements of nodes.
struct Product<'a> {
    blocks: &'a [Block],
    patches: PatchProduct<'a>,
    u: &'a [[f32; 4]],
    corners: &'a mut [[f32; 4]],
}

impl Product<'_> {
    fn take<S: Stiffness>(self, tangents: &[S], strong: &[StrongLanes]) {
        let Product { blocks, patches, u, corners } = self;
        let tasks = blocks.chunks(CHUNK).zip(tangents.chunks(CHUNK));
        let tasks = tasks.zip(corners.chunks_mut(3 * BLOCK * CHUNK)).enumerate();
        let tasks = tasks.map(|(i, ((blocks, tangents), corners))| {
            let first = i * CHUNK * BLOCK;
            let patches = patches.of_slots(first..first + blocks.len() * BLOCK);
            MultiplyKernel { blocks, tangents, strong: strong.get(i), patches, u, corners }
        });
        for_each_task(tasks.collect(), dispatch);
    }
}

fn add_group_diagonal<S: Stiffness>(group: &Group, tangents: &[S], strong: &[StrongLanes], to: &mut [Mat3]) {
    for (i, (block, tangent)) in group.blocks.iter().zip(tangents).enumerate() {
        let diagonals = dispatch(DiagonalKernel { block, tangent });
        let count = group.count.saturating_sub(i * BLOCK).min(BLOCK);
        let apart = strong.get(i / CHUNK);
        let is_apart = |lane: usize| apart.is_some_and(|own| own.holds(i % CHUNK * BLOCK + lane));
        (0..count).filter(|lane| !is_apart(*lane)).for_each(|lane| add_lane(block, lane, &diagonals, to));
    }
    for (block, tangent, places) in strong.iter().flat_map(StrongLanes::blocks) {
        let diagonals = dispatch(DiagonalKernel { block, tangent });
        // padding has no stiffness, and adds nothing
        (0..places.len()).for_each(|lane| add_lane(block, lane, &diagonals, to));
    }
}

/// Adds the diagonal blocks of one element's corners.
fn add_lane(block: &Block, lane: usize, diagonals: &[[[f32; BLOCK]; 6]; 4], to: &mut [Mat3]) {
    for (corner, node) in block.nodes[lane].iter().enumerate() {
        let [a, b, c, d, e, f] = diagonals[corner].map(|row| f64::from(row[lane]));
        to[*node as usize] += Mat3::new(a, b, d, b, c, e, d, e, f);
    }
}

impl Elements {
    /// Calls `each` with the nodes of every element and every patch and the 3×3 blocks of its stiffness matrix at rest (N/m), row by row. It is the same
    /// for all laws:
    ///
    /// ```text
    /// Kₐᵦ = V w (λ gₐ gᵦᵀ + μ gᵦ gₐᵀ + μ gₐ·gᵦ 1)        with gₐ the gradient of corner a's shape function
    /// Kₐᵦ = bₐ bᵦᵀ / W                                   of a patch, with bₐ = Σ c ∂v/∂xₐ
    /// ```
    pub fn for_each_rest_stiffness(&self, mut each: impl FnMut(&[u32], &[Mat3])) {
        // elements
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

        // patches
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

    /// Computes node rotations: the rotation nearest to the mean of F over the elements of each node, weighted by volume and stiffness, by columns padded to four
    /// components. Nodes whose elements are crushed or inverted get the identity.
    pub fn find_node_turns(&self, x: &[Vec3], turns: &mut Vec<[[f32; 4]; 3]>) {
        let mut padded = Vec::new();
        pad(x, &mut padded);
        // rounded up to whole lanes
        turns.clear();
        turns.resize(x.len().next_multiple_of(BLOCK), [[0.0; 4]; 3]);
        for group in &self.groups {
            dispatch(NodeGradientKernel { group, x: &padded, sums: turns });
        }
        dispatch(TurnKernel { turns });
        turns.truncate(x.len());
    }
}
