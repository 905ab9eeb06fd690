//! Elastic forces for explicit steps: scatter-free evaluation in two passes, without locks or atomics.
//!
//! First every element writes its forces on corners 1 to 3 into its own slot ([`CornerForces::update`]); then every node sums
//! its slots in a fixed order ([`CornerForces::on_node`]). The force on corner 0 is minus the sum of the other three, taken in
//! double precision, so that an element conserves momentum. The bits do not depend on the number of threads.

mod gathered;
mod kernel;

use crate::elements::{Block, Elements, Group, NodePlaces};
use crate::material::Law;
use crate::patch_volumes::{PatchVolumes, Pulls};
use kernel::ForceKernel;
use sinew_math::lanes::{BLOCK, Kernel, Lanes, dispatch};
use sinew_math::parallel::{Parts, for_each_part, for_each_part_of_many};
use sinew_math::{Mat3, Vec3};

/// Blocks per task: about 10 µs of work, far above the cost of scheduling it.
const CHUNK: usize = 32;

/// Groups of no more blocks are one thread's work, some 25 µs.
const FEW_BLOCKS: usize = 64;

/// Nodes per task of summation.
const NODE_CHUNK: usize = 512;

/// Nodes per task of padding: some 10 µs of work.
const PAD_CHUNK: usize = 8192;

/// Coefficient κ of the dampers in inverted elements.
const INVERSION_DAMPING: f64 = 0.25;

/// Elements below this volume ratio may pass the limit of compression within a step, and are listed.
const COMPRESSED: f32 = 0.4;

/// Positions and velocities of nodes.
#[derive(Clone, Copy, Debug)]
pub struct NodeMotion<'a> {
    /// Positions (m).
    pub x: &'a [Vec3],
    /// Velocities (m/s).
    pub v: &'a [Vec3],
}

/// Which elements are evaluated by singular value decomposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagonalise {
    /// Only those whose law needs it at the current deformation.
    Selectively,
    /// All of them; the forces are the same. For comparison.
    Always,
}

/// Counts of a force evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForceReport {
    /// Elements evaluated by singular value decomposition.
    pub diagonalised: usize,
    /// Inverted elements.
    pub inverted: usize,
}

/// Scratch: the forces of every element on its corners.
#[derive(Clone, Debug, Default)]
pub struct CornerForces {
    /// Minus the force on corners 1, 2, 3 of each slot (N); the fourth component is padding.
    corners: Vec<[f32; 4]>,
    chunks: Vec<Chunk>,
    padded: PaddedMotion,
    volumes: PatchVolumes,
}

/// Positions (m) and velocities (m/s) padded to four components, so that one load fetches a vector.
#[derive(Clone, Debug, Default)]
struct PaddedMotion {
    x: Vec<[f64; 4]>,
    /// One per node, or empty without viscous elements.
    v: Vec<[f32; 4]>,
}

/// The part of the scratch that one task owns.
#[derive(Clone, Debug, Default)]
struct Chunk {
    /// Lanes that need a singular value decomposition.
    strong: Vec<u32>,
    small: SmallVolumes,
    diagonalised: usize,
}

/// Elements that have lost much of their volume.
#[derive(Clone, Debug, Default)]
struct SmallVolumes {
    /// Lanes of inverted elements.
    inverted: Vec<u32>,
    /// Lanes of elements near the limit of compression, inverted ones among them.
    compressed: Vec<u32>,
}

/// Some blocks, with what belongs to them of the scratch.
struct BlockParts<'a> {
    blocks: &'a [Block],
    corners: &'a mut [[f32; 4]],
    /// One for every [`CHUNK`] blocks.
    chunks: &'a mut [Chunk],
    pulls: Pulls<'a>,
}

/// The elements of one task.
struct Task<'a> {
    law: Law,
    is_viscous: bool,
    blocks: &'a [Block],
    /// Number of lanes without padding.
    count: usize,
    corners: &'a mut [[f32; 4]],
    chunk: &'a mut Chunk,
    pulls: Pulls<'a>,
}

impl CornerForces {
    /// Size of an element's corner forces.
    pub(crate) const BYTES_PER_SLOT: usize = 3 * size_of::<[f32; 4]>();

    /// Evaluates all elements.
    pub fn update(
        &mut self,
        elements: &Elements,
        motion: NodeMotion<'_>,
        diagonalise: Diagonalise,
    ) -> ForceReport {
        // padded positions and velocities, volumes of patches
        self.fit(elements);
        let mut padded = std::mem::take(&mut self.padded);
        padded.update(motion, elements.groups.iter().any(|group| group.is_viscous));
        let mut volumes = std::mem::take(&mut self.volumes);
        volumes.update_moving(elements, &padded.x, &padded.v);
        let motion = &padded;
        self.for_each_task(elements, volumes.pulls(elements), |task| {
            dispatch(ForceKernel { task, motion, diagonalise });
        });
        (self.padded, self.volumes) = (padded, volumes);
        self.chunks.iter().fold(ForceReport::default(), |sum, chunk| ForceReport {
            diagonalised: sum.diagonalised + chunk.diagonalised,
            inverted: sum.inverted + chunk.small.inverted.len(),
        })
    }

    /// Damps the elements that the last evaluation found inverted, over a step of `h` (s).
    ///
    /// Where an element passes through inversion its nearest rotation jumps, and the stiffness against relative rotation is unbounded; no explicit
    /// step is short enough for that, and tangled elements would gain energy and vibrate for ever. Dampers along their six edges dissipate
    /// that energy and conserve linear and angular momentum. Other elements are not damped.
    ///
    /// ```text
    /// f = −κ m/h ((vᵢ − vⱼ)·e) e        on corner i, the opposite on j, with m a lower bound on the mass of a corner
    /// ```
    ///
    /// Three edges meet in a corner, so a step reduces the fastest relative motion by at most 6 κ of itself: κ = 1/4 is below the
    /// stability limit of 2.
    pub fn damp_inverted(&mut self, elements: &Elements, motion: NodeMotion<'_>, h: f64) {
        if self.chunks.iter().all(|chunk| chunk.small.inverted.is_empty()) {
            return;
        }
        self.for_each_task(elements, Pulls::default(), |task| {
            task.damp_inverted(motion, INVERSION_DAMPING / h)
        });
    }

    /// Nodes and Dm⁻¹ of the elements that the last evaluation found near the limit of compression, in a fixed order.
    pub(crate) fn compressed<'a>(
        &'a self,
        elements: &'a Elements,
    ) -> impl Iterator<Item = ([u32; 4], Mat3)> + 'a {
        let blocks = elements.groups.iter().flat_map(|group| group.blocks.chunks(CHUNK));
        blocks.zip(&self.chunks).flat_map(|(blocks, chunk)| {
            chunk.small.compressed.iter().map(|&place| {
                let (block, lane) = (&blocks[place as usize / BLOCK], place as usize % BLOCK);
                let inverse = Mat3::from_fn(|k, j| f64::from(block.inverse_rest[k][j][lane]));
                (block.nodes[lane], inverse)
            })
        })
    }

    /// The elastic force on a node (N), summed in double precision in the order of the elements.
    #[inline(always)]
    pub fn on_node(&self, elements: &Elements, node: usize) -> Vec3 {
        let NodePlaces { corners, origins } = elements.adjacency.of_node(node);
        let mut sum = [0.0; 4];
        for &place in origins {
            let [a, b, c] = self.corners[place as usize..][..3] else {
                unreachable!("three corners to a slot")
            };
            for i in 0..4 {
                sum[i] += f64::from(a[i]) + f64::from(b[i]) + f64::from(c[i]);
            }
        }
        for &place in corners {
            let force = self.corners[place as usize];
            for i in 0..4 {
                sum[i] -= f64::from(force[i]);
            }
        }
        Vec3::new(sum[0], sum[1], sum[2])
    }

    /// The elastic forces on all nodes (N).
    pub fn on_nodes(&self, elements: &Elements, node_force: &mut [Vec3]) {
        for_each_part(node_force, NODE_CHUNK, |first, node_force| {
            dispatch(SumKernel { forces: self, elements, first, node_force });
        });
    }

    fn fit(&mut self, elements: &Elements) {
        let slots = elements.slot_count();
        let chunk_count = elements.groups.iter().map(|g| g.blocks.len().div_ceil(CHUNK)).sum();
        if self.corners.len() != 3 * slots || self.chunks.len() != chunk_count {
            self.corners = vec![[0.0; 4]; 3 * slots];
            let list = || Vec::with_capacity(CHUNK * BLOCK);
            self.chunks = (0..chunk_count)
                .map(|_| Chunk {
                    strong: list(),
                    small: SmallVolumes { inverted: list(), compressed: list() },
                    diagonalised: 0,
                })
                .collect();
        }
    }

    /// Works through the elements, group by group.
    fn for_each_task(&mut self, elements: &Elements, pulls: Pulls, work: impl Fn(Task) + Sync) {
        let (corners, chunks) = (self.corners.as_mut_slice(), self.chunks.as_mut_slice());
        let mut rest = BlockParts { blocks: &[], corners, chunks, pulls };
        for group in &elements.groups {
            let own;
            (own, rest) = BlockParts { blocks: &group.blocks, ..rest }.split(group.blocks.len());
            for_each_part_of_many(own, (CHUNK, FEW_BLOCKS), |first, part| work(group.task(first, part)));
        }
    }
}

impl PaddedMotion {
    fn update(&mut self, motion: NodeMotion<'_>, with_velocities: bool) {
        self.x.resize(motion.x.len(), [0.0; 4]);
        self.v.resize(if with_velocities { motion.v.len() } else { 0 }, [0.0; 4]);
        for_each_part((self.x.as_mut_slice(), motion.x), PAD_CHUNK, |_, (padded, x)| {
            padded.iter_mut().zip(x).for_each(|(padded, x)| *padded = [x.x, x.y, x.z, 0.0]);
        });
        for_each_part((self.v.as_mut_slice(), motion.v), PAD_CHUNK, |_, (padded, v)| {
            let single = |v: &Vec3| [v.x as f32, v.y as f32, v.z as f32, 0.0];
            padded.iter_mut().zip(v).for_each(|(padded, v)| *padded = single(v));
        });
    }
}

/// Sums the forces on the nodes from `first` on.
struct SumKernel<'a> {
    forces: &'a CornerForces,
    elements: &'a Elements,
    first: usize,
    node_force: &'a mut [Vec3],
}

impl Kernel for SumKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (i, force) in self.node_force.iter_mut().enumerate() {
            *force = self.forces.on_node(self.elements, self.first + i);
        }
    }
}

impl Group {
    /// The work on the blocks from `first` on.
    fn task<'a>(&self, first: usize, part: BlockParts<'a>) -> Task<'a> {
        let BlockParts { blocks, corners, chunks, pulls } = part;
        let count = (self.count - first * BLOCK).min(blocks.len() * BLOCK);
        let chunk = chunks.first_mut().expect("a chunk for each task");
        Task { law: self.law, is_viscous: self.is_viscous, blocks, count, corners, chunk, pulls }
    }
}

impl Parts for BlockParts<'_> {
    fn count(&self) -> usize {
        self.blocks.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (blocks, rest_blocks) = self.blocks.split_at(at);
        let (corners, rest_corners) = self.corners.split_at_mut(3 * BLOCK * at);
        let (chunks, rest_chunks) = self.chunks.split_at_mut(at.div_ceil(CHUNK));
        let (pulls, rest_pulls) = self.pulls.split_at(BLOCK * at);
        let rest =
            BlockParts { blocks: rest_blocks, corners: rest_corners, chunks: rest_chunks, pulls: rest_pulls };
        (BlockParts { blocks, corners, chunks, pulls }, rest)
    }
}

impl Elements {
    /// Memory that a force evaluation touches for each element (bytes): its lanes, its corner forces and its
    /// places in the sums.
    pub fn bytes_per_element(&self) -> f64 {
        let blocks: usize = self.groups.iter().map(|g| g.blocks.len() * size_of::<Block>()).sum();
        let corner_forces = self.slot_count() * CornerForces::BYTES_PER_SLOT;
        let adjacency = 4 * self.adjacency.place_count();
        (blocks + corner_forces + adjacency) as f64 / self.count().max(1) as f64
    }
}

#[cfg(test)]
mod tests;
