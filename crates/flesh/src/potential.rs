//! Elastic energy and gradient in double precision, for implicit steps.
//!
//! A step ends where the gradient vanishes; single precision would leave a residual of 10⁻⁷ λ A, too large compared with the weight of a node. As for
//! explicit forces, elements write into their own slots and nodes sum theirs in a fixed order.
//!
//! Viscosity β is an incremental potential: over a step of h that starts with the strain Eₙ
//!
//! ```text
//! D = β/h Σ V w (λ/2 tr²(E − Eₙ) + μ ‖E − Eₙ‖²),        S = β/h (λ tr(E − Eₙ) I + 2μ (E − Eₙ))
//! ```

mod kernel;
#[cfg(test)]
mod tests;

use crate::block::CHUNK;
use crate::elements::{Block, Elements};
use crate::gather::pad;
use crate::law::energy_of;
use crate::material::{Lame, Law};
use crate::patch_volumes::{PatchStart, PatchVolumes, Pulls};
use kernel::{EnergyKernel, StartKernel};
use sinew_math::Vec3;
use sinew_math::lanes::{BLOCK, dispatch};
use sinew_math::parallel::{Parts, for_each_part};

/// Energy and gradient of all elements: scratch, but for the start of the step that viscosity remembers.
#[derive(Clone, Debug, Default)]
pub struct ElasticPotential {
    /// ∂Ψ/∂x at corners 1 to 3 of each slot (N).
    corners: Vec<[f64; 4]>,
    chunks: Vec<ChunkSum>,
    x: Vec<[f64; 4]>,
    /// The start of the step, one entry per block; empty without viscosity.
    pub(crate) starts: Vec<StepStart>,
    pub(crate) volumes: PatchVolumes,
    /// The start of the step of patches.
    pub(crate) patch_starts: Vec<PatchStart>,
}

/// The result of an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Elastic energy plus viscous potential (J).
    pub energy: f64,
    /// Number of inverted elements.
    pub inverted: usize,
}

/// The start of a step of sixteen elements.
#[derive(Clone, Debug)]
pub(crate) struct StepStart {
    /// C = FᵀF at the start.
    pub(crate) c: [[f64; BLOCK]; 6],
    /// β/h
    pub(crate) rate: [f64; BLOCK],
}

impl StepStart {
    /// No viscosity.
    pub(crate) const ZERO: StepStart = StepStart { c: [[0.0; BLOCK]; 6], rate: [0.0; BLOCK] };

    /// Copies one lane of another block.
    #[inline(always)]
    pub(crate) fn copy_lane(&mut self, lane: usize, other: &StepStart, from: usize) {
        for k in 0..6 {
            self.c[k][lane] = other.c[k][from];
        }
        self.rate[lane] = other.rate[from];
    }
}

#[derive(Clone, Debug, Default)]
struct ChunkSum {
    energy: f64,
    inverted: usize,
    strong: Vec<u32>,
}

/// The elements of one task.
struct Task<'a> {
    law: Law,
    blocks: &'a [Block],
    starts: &'a [StepStart],
    count: usize,
    corners: &'a mut [[f64; 4]],
    sum: &'a mut ChunkSum,
    pulls: Pulls<'a>,
}

impl ElasticPotential {
    /// Switches viscosity off, for static equilibrium.
    pub fn begin_static(&mut self) {
        self.starts.clear();
        self.patch_starts.clear();
    }

    /// Stores the start of a step of `h` (s) at nodes `x` (m), if any element is viscous.
    pub fn begin_step(&mut self, elements: &Elements, x: &[Vec3], h: f64) {
        self.begin_static();
        if !elements.groups.iter().any(|group| group.is_viscous) {
            return;
        }
        pad(x, &mut self.x);
        for group in &elements.groups {
            for block in &group.blocks {
                self.starts.push(dispatch(StartKernel { block, x: &self.x, h }));
            }
        }
        self.volumes.begin(elements, &self.x, h, &mut self.patch_starts);
    }

    /// Extrapolates the start of a step from the stored configuration and that of nodes at `x` (m): C = C₀ + s (C₁ − C₀). In C, configurations that differ by a
    /// rotation are equal.
    pub fn begin_beyond(&mut self, elements: &Elements, x: &[Vec3], s: f64) {
        if self.starts.is_empty() {
            return;
        }
        pad(x, &mut self.x);
        let blocks = elements.groups.iter().flat_map(|group| &group.blocks);
        for (start, block) in self.starts.iter_mut().zip(blocks) {
            let next = dispatch(StartKernel { block, x: &self.x, h: 1.0 });
            for (c, next) in start.c.iter_mut().flatten().zip(next.c.iter().flatten()) {
                *c += s * (next - *c);
            }
        }
        self.volumes.go_beyond(elements, &self.x, s, &mut self.patch_starts);
    }

    /// Evaluates all elements with nodes at `x` (m).
    pub fn evaluate(&mut self, elements: &Elements, x: &[Vec3]) -> Evaluation {
        self.fit(elements);
        pad(x, &mut self.x);
        let x = core::mem::take(&mut self.x);
        let mut volumes = core::mem::take(&mut self.volumes);
        let patches = Evaluation { energy: volumes.evaluate(elements, &x, &self.patch_starts), inverted: 0 };
        self.for_each_task(elements, volumes.pulls(elements), |task| {
            dispatch(EnergyKernel { task, x: &x });
        });
        (self.x, self.volumes) = (x, volumes);
        self.chunks.iter().fold(patches, |sum, chunk| Evaluation {
            energy: sum.energy + chunk.energy,
            inverted: sum.inverted + chunk.inverted,
        })
    }

    /// ∂Ψ/∂x of a node (N) at the last evaluation.
    #[inline(always)]
    pub fn gradient_of(&self, elements: &Elements, node: usize) -> Vec3 {
        let [x, y, z, _] = elements.adjacency.sum_at(&self.corners, node);
        Vec3::new(x, y, z)
    }

    fn fit(&mut self, elements: &Elements) {
        let slots = elements.slot_count();
        let chunk_count = elements.groups.iter().map(|g| g.blocks.len().div_ceil(CHUNK)).sum();
        if self.corners.len() != 3 * slots || self.chunks.len() != chunk_count {
            self.corners = vec![[0.0; 4]; 3 * slots];
            let sum = || ChunkSum { strong: Vec::with_capacity(CHUNK * BLOCK), ..ChunkSum::default() };
            self.chunks = (0..chunk_count).map(|_| sum()).collect();
        }
    }

    /// Works through the elements, group by group.
    fn for_each_task(&mut self, elements: &Elements, pulls: Pulls, work: impl Fn(Task) + Sync) {
        let ElasticPotential { corners, chunks, starts, .. } = self;
        let mut rest = BlockParts { blocks: &[], starts, corners, sums: chunks, pulls };
        for group in &elements.groups {
            let own;
            (own, rest) = BlockParts { blocks: &group.blocks, ..rest }.split(group.blocks.len());
            for_each_part(own, CHUNK, |first, part| {
                let BlockParts { blocks, starts, corners, sums, pulls } = part;
                let count = (group.count - first * BLOCK).min(blocks.len() * BLOCK);
                let sum = sums.first_mut().expect("a sum per chunk");
                work(Task { law: group.law, blocks, starts, count, corners, sum, pulls });
            });
        }
    }
}

/// Blocks of a group with what is computed for them.
struct BlockParts<'a> {
    blocks: &'a [Block],
    /// Empty without viscosity.
    starts: &'a [StepStart],
    corners: &'a mut [[f64; 4]],
    sums: &'a mut [ChunkSum],
    pulls: Pulls<'a>,
}

impl Parts for BlockParts<'_> {
    fn count(&self) -> usize {
        self.blocks.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (blocks, rest_blocks) = self.blocks.split_at(at);
        let (starts, rest_starts) = self.starts.split_at(if self.starts.is_empty() { 0 } else { at });
        let (corners, rest_corners) = self.corners.split_at_mut(3 * BLOCK * at);
        let (sums, rest_sums) = self.sums.split_at_mut(at.div_ceil(CHUNK));
        let (pulls, rest_pulls) = self.pulls.split_at(BLOCK * at);
        let rest = BlockParts {
            blocks: rest_blocks,
            starts: rest_starts,
            corners: rest_corners,
            sums: rest_sums,
            pulls: rest_pulls,
        };
        (BlockParts { blocks, starts, corners, sums, pulls }, rest)
    }
}

impl Elements {
    /// The elastic energy of all elements and their patches (J), summed in double precision.
    pub fn energy(&self, node_x: &[Vec3]) -> f64 {
        let elements: f64 = (0..self.count()).map(|tet| self.element_energy(node_x, tet)).sum();
        let mut x = Vec::new();
        pad(node_x, &mut x);
        elements + PatchVolumes::default().evaluate(self, &x, &[])
    }

    fn element_energy(&self, node_x: &[Vec3], tet: usize) -> f64 {
        let (law, block, lane) = self.find(tet);
        let lame = Lame { mu: f64::from(block.mu[lane]), lambda: f64::from(block.lambda[lane]) };
        energy_of(law, lame, &self.deformation_gradient(node_x, tet))
    }
}
