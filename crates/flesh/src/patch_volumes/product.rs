//! Matrix-free Hessian products of the patch energy.
//!
//! ```text
//! d(∂E/∂x) = (1 + β/h) dJ̄ Σ c ∂v/∂x + p Σ c d(∂v/∂x),     dJ̄ = Σ c dv / W,     p = J̄ − 1 + β/h (J̄ − J̄ₙ)
//! ```

use super::{PATCH_CHUNK, PatchStart, PatchVolumes, Pulls};
use crate::block::{Block, CHUNK};
use crate::elements::Elements;
use crate::gather::{edge_rates, edges};
use crate::patches::{Patches, area_vectors, is_apart};
use core::ops::Range;
use rayon::prelude::*;
use sinew_math::columns::{Columns, cross, dot};
use sinew_math::lanes::{BLOCK, Kernel, Lanes, Real, dispatch};
use sinew_math::{Mat3, Vec3};

/// Scratch: the Hessian of all patches at one configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct PatchProducts {
    volumes: PatchVolumes,
    blocks: Vec<EdgeBlock>,
    /// (1 + β/h) / W of each patch (1/J).
    stiffness: Vec<f64>,
    /// c dv of each slot (J).
    changes: Vec<f32>,
    /// (1 + β/h) dJ̄ of each patch.
    pulls: Vec<f64>,
}

/// The edges of sixteen elements, and c p.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct EdgeBlock {
    edges: [[[f32; BLOCK]; 3]; 3],
    pressure: [f32; BLOCK],
}

impl EdgeBlock {
    const ZERO: EdgeBlock = EdgeBlock { edges: [[[0.0; BLOCK]; 3]; 3], pressure: [0.0; BLOCK] };

    #[inline(always)]
    fn load<L: Lanes>(&self, first: usize) -> Columns<L> {
        let mut columns = [[L::splat(0.0); 3]; 3];
        for k in 0..3 {
            for i in 0..3 {
                columns[k][i] = L::load(&self.edges[k][i][first..]);
            }
        }
        columns
    }
}

impl PatchProducts {
    /// Linearises at nodes `x` (m), with viscosity if `starts` is not empty.
    pub(crate) fn update(&mut self, elements: &Elements, x: &[[f64; 4]], starts: &[PatchStart]) {
        let patches = &elements.patches;
        self.volumes.evaluate(elements, x, starts);
        let pulls = self.volumes.pulls(elements);
        self.blocks.resize(patches.weight.len() / BLOCK, EdgeBlock::ZERO);
        self.stiffness.clear();
        self.stiffness.extend(patches.rest.iter().enumerate().map(|(patch, rest)| {
            let rate = starts.get(patch).map_or(0.0, |start| start.rate);
            if *rest > 0.0 { (1.0 + rate) / rest } else { 0.0 }
        }));
        for (blocks, slots) in elements.patched_blocks() {
            let own = &mut self.blocks[slots.start / BLOCK..slots.end / BLOCK];
            let pulls = pulls.of_slots(slots);
            let tasks = blocks.par_chunks(CHUNK).zip(own.par_chunks_mut(CHUNK)).enumerate();
            tasks.for_each(|(i, (blocks, to))| {
                let first = i * CHUNK * BLOCK;
                let pulls = pulls.of_slots(first..first + blocks.len() * BLOCK);
                dispatch(EdgeKernel { blocks, pulls, x, to });
            });
        }
    }

    /// Computes the change of patch volumes under displacements `u` of nodes, for [`Self::product`].
    pub(crate) fn find_changes(&mut self, elements: &Elements, u: &[[f32; 4]]) {
        let patches = &elements.patches;
        let PatchProducts { blocks: shapes, stiffness, changes, pulls, .. } = self;
        changes.resize(patches.weight.len(), 0.0);
        pulls.resize(patches.ends.len(), 0.0);
        for (blocks, slots) in elements.patched_blocks() {
            let shapes = &shapes[slots.start / BLOCK..slots.end / BLOCK];
            let tasks = blocks.par_chunks(CHUNK).zip(shapes.par_chunks(CHUNK));
            let tasks = tasks.zip(patches.weight[slots.clone()].par_chunks(BLOCK * CHUNK));
            let tasks = tasks.zip(changes[slots].par_chunks_mut(BLOCK * CHUNK));
            tasks.for_each(|(((blocks, shapes), weight), changes)| {
                dispatch(ChangeKernel { blocks, shapes, weight, u, changes });
            });
        }
        let sums = pulls.par_iter_mut().zip(stiffness.par_iter()).enumerate().with_min_len(PATCH_CHUNK);
        sums.for_each(|(patch, (pull, stiffness))| {
            let members = patches.members(patch).iter();
            let change: f64 = members.map(|slot| f64::from(changes[*slot as usize])).sum();
            *pull = stiffness * change;
        });
    }

    /// The product with the displacements of the last [`Self::find_changes`], to be added to the products of elements.
    pub(crate) fn product<'a>(&'a self, elements: &'a Elements) -> PatchProduct<'a> {
        let Patches { weight, patch_of, .. } = &elements.patches;
        PatchProduct { shapes: &self.blocks, pulls: Pulls { weight, patch_of, of_patch: &self.pulls } }
    }

    /// Adds the diagonal 3×3 block of each node: volumes are linear in each node, so only the term of dJ̄ contributes.
    pub(crate) fn add_diagonal(&self, elements: &Elements, to: &mut [Mat3]) {
        let patches = &elements.patches;
        let blocks: Vec<&Block> = elements.groups.iter().flat_map(|group| &group.blocks).collect();
        let mut pulls: Vec<(u32, Vec3)> = Vec::new();
        for patch in 0..patches.ends.len() {
            pulls.clear();
            for &slot in patches.members(patch) {
                let (block, lane) = (slot as usize / BLOCK, slot as usize % BLOCK);
                let edge = |k: usize| self.blocks[block].edges[k].map(|numbers| f64::from(numbers[lane]));
                let area = area_vectors(&[edge(0), edge(1), edge(2)]);
                add_pulls(&blocks[block].nodes[lane], &area, patches.weight[slot as usize], &mut pulls);
            }
            for (node, pull) in &pulls {
                to[*node as usize] += self.stiffness[patch] * pull * pull.transpose();
            }
        }
    }
}

/// Adds c ∂v/∂x of an element to the sums of its nodes.
pub(super) fn add_pulls(nodes: &[u32; 4], area: &Columns<f64>, weight: f32, pulls: &mut Vec<(u32, Vec3)>) {
    let [b, c, d] = area.map(|area| f64::from(weight) * Vec3::from(area));
    for (node, pull) in nodes.iter().zip([-(b + c + d), b, c, d]) {
        match pulls.iter_mut().find(|(own, _)| own == node) {
            Some((_, own)) => *own += pull,
            None => pulls.push((*node, pull)),
        }
    }
}

impl Patches {
    /// Computes Σ c ∂v/∂x at the nodes of a patch at rest; returns 1/W.
    pub(crate) fn rest_pulls(&self, blocks: &[&Block], patch: usize, pulls: &mut Vec<(u32, Vec3)>) -> f64 {
        pulls.clear();
        for &slot in self.members(patch) {
            let (block, lane) = (blocks[slot as usize / BLOCK], slot as usize % BLOCK);
            // ∂v/∂x = V times the gradient of the corner's shape function, a row of Dm⁻¹
            let inverse = Mat3::from_fn(|k, j| f64::from(block.inverse_rest[k][j][lane]));
            let volume = 1.0 / (6.0 * inverse.determinant());
            if !volume.is_finite() {
                // too flat for single precision; its volume is negligible
                continue;
            }
            let area = [0, 1, 2].map(|k| [0, 1, 2].map(|j| volume * inverse[(k, j)]));
            add_pulls(&block.nodes[lane], &area, self.weight[slot as usize], pulls);
        }
        if self.rest[patch] > 0.0 { 1.0 / self.rest[patch] } else { 0.0 }
    }
}

/// Stores edges and c p.
struct EdgeKernel<'a> {
    blocks: &'a [Block],
    pulls: Pulls<'a>,
    x: &'a [[f64; 4]],
    to: &'a mut [EdgeBlock],
}

impl Kernel for EdgeKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (i, (block, to)) in self.blocks.iter().zip(self.to).enumerate() {
            for first in (0..BLOCK).step_by(L::WIDTH) {
                let pull = self.pulls.lanes(i * BLOCK + first).unwrap_or(L::splat(0.0));
                pull.store(&mut to.pressure[first..]);
                let edges = edges::<L>(&block.nodes[first..first + L::WIDTH], self.x);
                for k in 0..3 {
                    for j in 0..3 {
                        edges[k][j].store(&mut to.edges[k][j][first..]);
                    }
                }
            }
        }
    }
}

/// Computes c dv of displacements.
struct ChangeKernel<'a> {
    blocks: &'a [Block],
    shapes: &'a [EdgeBlock],
    weight: &'a [f32],
    u: &'a [[f32; 4]],
    changes: &'a mut [f32],
}

impl Kernel for ChangeKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let lanes = self.weight.chunks_exact(BLOCK).zip(self.changes.chunks_exact_mut(BLOCK));
        for ((block, shape), (weight, changes)) in self.blocks.iter().zip(self.shapes).zip(lanes) {
            if is_apart(weight) {
                continue;
            }
            for first in (0..BLOCK).step_by(L::WIDTH) {
                let moved = edge_rates::<L>(&block.nodes[first..first + L::WIDTH], self.u);
                let area = area_vectors(&shape.load::<L>(first));
                let change = dot(moved[0], area[0]) + dot(moved[1], area[1]) + dot(moved[2], area[2]);
                (L::load(&weight[first..]) * change).store(&mut changes[first..]);
            }
        }
    }
}

/// The patch terms in the products of a range of slots.
#[derive(Clone, Copy, Default)]
pub(crate) struct PatchProduct<'a> {
    shapes: &'a [EdgeBlock],
    pulls: Pulls<'a>,
}

impl<'a> PatchProduct<'a> {
    /// The terms of the first slots, whole blocks of them, and of the rest.
    pub(crate) fn split_at(&self, slot: usize) -> (PatchProduct<'a>, PatchProduct<'a>) {
        (self.of_slots(0..slot), self.of_slots(slot..BLOCK * self.shapes.len()))
    }

    /// The terms of a range of slots, whole blocks of them.
    pub(crate) fn of_slots(&self, slots: Range<usize>) -> PatchProduct<'a> {
        let shapes = self.shapes.get(slots.start / BLOCK..slots.end / BLOCK).unwrap_or_default();
        PatchProduct { shapes, pulls: self.pulls.of_slots(slots) }
    }

    /// The product at corners 1 to 3 of the lanes from `first` on, from displacements of their edges; `None` without patches.
    #[inline(always)]
    pub(crate) fn lanes<L: Lanes>(&self, first: usize, moved: &Columns<L>) -> Option<Columns<L>> {
        let pull = self.pulls.lanes::<L>(first)?;
        let shape = &self.shapes[first / BLOCK];
        let pressure = L::load(&shape.pressure[first % BLOCK..]);
        Some(product_of(&shape.load(first % BLOCK), moved, pull, pressure))
    }

    /// Adds the product at corners 1 to 3 of one slot.
    #[inline(always)]
    pub(crate) fn add_at(&self, slot: usize, nodes: &[u32; 4], u: &[[f32; 4]], corners: &mut [[f32; 4]]) {
        let Some(shape) = self.shapes.get(slot / BLOCK) else { return };
        let lane = slot % BLOCK;
        let (mut edges, mut moved) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
        for k in 0..3 {
            for i in 0..3 {
                edges[k][i] = f64::from(shape.edges[k][i][lane]);
                moved[k][i] = f64::from(u[nodes[k + 1] as usize][i]) - f64::from(u[nodes[0] as usize][i]);
            }
        }
        let product = product_of(&edges, &moved, self.pulls.at(slot), f64::from(shape.pressure[lane]));
        for k in 0..3 {
            for i in 0..3 {
                corners[k][i] += product[k][i] as f32;
            }
        }
    }
}

/// c (1 + β/h) dJ̄ ∂v/∂x + c p d(∂v/∂x) at corners 1 to 3.
#[inline(always)]
fn product_of<T: Real>(edges: &Columns<T>, moved: &Columns<T>, pull: T, pressure: T) -> Columns<T> {
    let mut product = area_vectors(edges);
    let pressure = pressure * T::splat(1.0 / 6.0);
    for k in 0..3 {
        let (a, b) = ((k + 1) % 3, (k + 2) % 3);
        let (one, other) = (cross(moved[a], edges[b]), cross(edges[a], moved[b]));
        for i in 0..3 {
            product[k][i] = product[k][i] * pull + (one[i] + other[i]) * pressure;
        }
    }
    product
}
