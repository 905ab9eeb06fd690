//! From node positions to elastic forces: the hot loop.
//!
//! Two passes without locks or atomics. First every element writes what it does to its corners 1 to 3 into a place of
//! its own ([`CornerForces::update`]); then every node sums its places in a fixed order ([`CornerForces::on_node`]). What
//! corner 0 feels is the negative sum of the other three, taken in double precision, so that an element adds no
//! momentum. The bits do not depend on the number of threads.
//!
//! Strongly deformed St. Venant-Kirchhoff elements need a singular value decomposition. The first sweep over a chunk
//! computes the plain law for all and lists the lanes that fail the test; the listed ones are then packed into full
//! lanes and done again.

use crate::elements::{Block, Elements, Group};
use crate::law::{
    LaneLame, corotational, determinant, squared_stretch, squared_stretch_rate, st_venant_kirchhoff,
    stable_neo_hookean, viscous_stress,
};
use crate::material::{Law, StretchLimits};
use rayon::prelude::*;
use sinew_math::Vec3;
use sinew_math::columns::{Columns, combine};
use sinew_math::lanes::{BLOCK, Kernel, Lanes, dispatch};

/// Blocks that one task works through: about 10 µs, far above what handing out a task costs.
const CHUNK: usize = 32;

/// Nodes that one task sums.
const NODE_CHUNK: usize = 512;

/// Nodes whose padding is worth a task: some 10 µs.
const PAD_CHUNK: usize = 8192;

/// Strength κ of the dampers in inverted elements.
const INVERSION_DAMPING: f64 = 0.25;

/// Where the nodes are and how they move.
#[derive(Clone, Copy, Debug)]
pub struct NodeMotion<'a> {
    /// Positions (m).
    pub x: &'a [Vec3],
    /// Velocities (m/s).
    pub v: &'a [Vec3],
}

/// Which elements are diagonalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagonalise {
    /// Only those beyond their stretch limits.
    Selectively,
    /// All: the same forces, for comparison.
    Always,
}

/// What happened in an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForceReport {
    /// Elements that went through a singular value decomposition.
    pub diagonalised: usize,
    /// Elements turned inside out.
    pub inverted: usize,
}

/// What every element does to its corners: scratch that holds nothing from one evaluation to the next.
#[derive(Clone, Debug, Default)]
pub struct CornerForces {
    /// Minus the force on corners 1, 2, 3 of each slot (N); the fourth number is not used.
    corners: Vec<[f32; 4]>,
    chunks: Vec<Chunk>,
    padded: PaddedMotion,
}

/// Positions (m) and velocities (m/s) with a fourth number beside each, so that one load brings all of them.
#[derive(Clone, Debug, Default)]
struct PaddedMotion {
    x: Vec<[f64; 4]>,
    /// Only as many as viscous elements need: none, or one per node.
    v: Vec<[f32; 4]>,
}

/// The part of the scratch that one task owns.
#[derive(Clone, Debug, Default)]
struct Chunk {
    /// Lanes that need the decomposition.
    strong: Vec<u32>,
    /// Lanes that are turned inside out.
    inverted: Vec<u32>,
    diagonalised: usize,
}

/// One task's share of the elements.
struct Task<'a> {
    law: Law,
    is_viscous: bool,
    blocks: &'a [Block],
    /// Lanes that are elements, not padding.
    count: usize,
    corners: &'a mut [[f32; 4]],
    chunk: &'a mut Chunk,
}

impl CornerForces {
    /// What an element writes.
    pub(crate) const BYTES_PER_SLOT: usize = 3 * size_of::<[f32; 4]>();

    /// Evaluates all elements.
    pub fn update(
        &mut self,
        elements: &Elements,
        motion: NodeMotion<'_>,
        diagonalise: Diagonalise,
    ) -> ForceReport {
        self.fit(elements);
        let mut padded = std::mem::take(&mut self.padded);
        padded.update(motion, elements.groups.iter().any(|group| group.is_viscous));
        if elements.slot_count() <= CHUNK * BLOCK || rayon::current_num_threads() == 1 {
            let motion = &padded;
            self.tasks(elements).for_each(|task| dispatch(ForceKernel { task, motion, diagonalise }));
        } else {
            // scoped parallel iteration over disjoint pieces of the buffers
            let mut corners = self.corners.as_mut_slice();
            let mut chunks = self.chunks.as_mut_slice();
            for group in &elements.groups {
                let (group_corners, rest) = corners.split_at_mut(3 * BLOCK * group.blocks.len());
                let (group_chunks, rest_chunks) = chunks.split_at_mut(group.blocks.len().div_ceil(CHUNK));
                group.tasks_in_parallel(group_corners, group_chunks, &padded, diagonalise);
                (corners, chunks) = (rest, rest_chunks);
            }
        }
        self.padded = padded;
        self.chunks.iter().fold(ForceReport::default(), |sum, chunk| ForceReport {
            diagonalised: sum.diagonalised + chunk.diagonalised,
            inverted: sum.inverted + chunk.inverted.len(),
        })
    }

    /// Damps the elements that the last evaluation found turned inside out, over a step of `h` (s).
    ///
    /// Where an element passes through inversion its nearest rotation jumps, and the stiffness against spin grows without bound; no explicit step is
    /// short enough for that, and tangled elements would heat up and rattle for ever. Dampers along their six edges take that
    /// energy out again and conserve both momenta. Elements that are upright feel nothing.
    ///
    /// ```text
    /// f = −κ m/h ((vᵢ − vⱼ)·e) e        on corner i, the opposite on j, with m the least mass of a corner
    /// ```
    ///
    /// Three edges meet in a corner, so the fastest relative motion shrinks by at most 6 κ of itself per step: κ = 1/4 is below the
    /// limit of 2.
    pub fn damp_inverted(&mut self, elements: &Elements, motion: NodeMotion<'_>, h: f64) {
        if self.chunks.iter().all(|chunk| chunk.inverted.is_empty()) {
            return;
        }
        self.tasks(elements).for_each(|task| task.damp_inverted(motion, INVERSION_DAMPING / h));
    }

    /// The elastic force on a node (N), summed in double precision in the order of the elements.
    #[inline(always)]
    pub fn on_node(&self, elements: &Elements, node: usize) -> Vec3 {
        let (corners, origins) = elements.adjacency.of_node(node);
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
        let sum = |(chunk, node_force): (usize, &mut [Vec3])| {
            dispatch(SumKernel { forces: self, elements, first: chunk * NODE_CHUNK, node_force });
        };
        if node_force.len() <= NODE_CHUNK || rayon::current_num_threads() == 1 {
            node_force.chunks_mut(NODE_CHUNK).enumerate().for_each(sum);
        } else {
            node_force.par_chunks_mut(NODE_CHUNK).enumerate().for_each(sum);
        }
    }

    fn fit(&mut self, elements: &Elements) {
        let slots = elements.slot_count();
        if self.corners.len() != 3 * slots {
            self.corners = vec![[0.0; 4]; 3 * slots];
            let chunk_count = elements.groups.iter().map(|g| g.blocks.len().div_ceil(CHUNK)).sum();
            let list = || Vec::with_capacity(CHUNK * BLOCK);
            self.chunks = (0..chunk_count)
                .map(|_| Chunk { strong: list(), inverted: list(), diagonalised: 0 })
                .collect();
        }
    }

    fn tasks<'a>(&'a mut self, elements: &'a Elements) -> impl Iterator<Item = Task<'a>> {
        let mut corners = self.corners.as_mut_slice();
        let mut chunks = self.chunks.as_mut_slice();
        elements.groups.iter().flat_map(move |group| {
            let (group_corners, rest) =
                std::mem::take(&mut corners).split_at_mut(3 * BLOCK * group.blocks.len());
            let (group_chunks, rest_chunks) =
                std::mem::take(&mut chunks).split_at_mut(group.blocks.len().div_ceil(CHUNK));
            (corners, chunks) = (rest, rest_chunks);
            (group.blocks.chunks(CHUNK))
                .zip(group_corners.chunks_mut(3 * BLOCK * CHUNK))
                .zip(group_chunks)
                .enumerate()
                .map(|(i, ((blocks, corners), chunk))| group.task(i, blocks, corners, chunk))
        })
    }
}

impl PaddedMotion {
    fn update(&mut self, motion: NodeMotion<'_>, with_velocities: bool) {
        self.x.resize(motion.x.len(), [0.0; 4]);
        self.v.resize(if with_velocities { motion.v.len() } else { 0 }, [0.0; 4]);
        let pad_x = |(padded, x): (&mut [f64; 4], &Vec3)| *padded = [x.x, x.y, x.z, 0.0];
        let pad_v = |(padded, v): (&mut [f32; 4], &Vec3)| *padded = [v.x as f32, v.y as f32, v.z as f32, 0.0];
        if motion.x.len() <= PAD_CHUNK || rayon::current_num_threads() == 1 {
            self.x.iter_mut().zip(motion.x).for_each(pad_x);
            self.v.iter_mut().zip(motion.v).for_each(pad_v);
        } else {
            self.x.par_iter_mut().zip(motion.x).with_min_len(PAD_CHUNK).for_each(pad_x);
            self.v.par_iter_mut().zip(motion.v).with_min_len(PAD_CHUNK).for_each(pad_v);
        }
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
    fn task<'a>(
        &self,
        index: usize,
        blocks: &'a [Block],
        corners: &'a mut [[f32; 4]],
        chunk: &'a mut Chunk,
    ) -> Task<'a> {
        let first = index * CHUNK * BLOCK;
        let count = (self.count - first).min(blocks.len() * BLOCK);
        Task { law: self.law, is_viscous: self.is_viscous, blocks, count, corners, chunk }
    }

    fn tasks_in_parallel(
        &self,
        corners: &mut [[f32; 4]],
        chunks: &mut [Chunk],
        motion: &PaddedMotion,
        diagonalise: Diagonalise,
    ) {
        (self.blocks.par_chunks(CHUNK))
            .zip(corners.par_chunks_mut(3 * BLOCK * CHUNK))
            .zip(chunks)
            .enumerate()
            .for_each(|(i, ((blocks, corners), chunk))| {
                let task = self.task(i, blocks, corners, chunk);
                dispatch(ForceKernel { task, motion, diagonalise });
            });
    }
}

/// A task with all that it needs, to be run over lanes of any width.
struct ForceKernel<'a> {
    task: Task<'a>,
    motion: &'a PaddedMotion,
    diagonalise: Diagonalise,
}

impl Kernel for ForceKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let ForceKernel { mut task, motion, diagonalise } = self;
        task.chunk.diagonalised = 0;
        task.chunk.strong.clear();
        task.chunk.inverted.clear();
        if task.is_viscous {
            task.evaluate::<L, true>(motion, diagonalise);
        } else {
            task.evaluate::<L, false>(motion, diagonalise);
        }
    }
}

impl Task<'_> {
    #[inline(always)]
    fn evaluate<L: Lanes, const VISCOUS: bool>(&mut self, motion: &PaddedMotion, diagonalise: Diagonalise) {
        match (self.law, diagonalise) {
            (Law::StVenantKirchhoff(limits), Diagonalise::Selectively) => {
                self.st_venant_kirchhoff::<L, VISCOUS>(motion, limits);
                self.strong::<L, VISCOUS>(motion, limits);
            }
            (Law::StVenantKirchhoff(limits), Diagonalise::Always) => {
                self.chunk.diagonalised = self.count;
                self.all::<L, VISCOUS, _>(motion, Extended(limits));
            }
            (Law::Corotational, _) => {
                self.chunk.diagonalised = self.count;
                self.all::<L, VISCOUS, _>(motion, Corotational);
            }
            (Law::StableNeoHookean, _) => self.all::<L, VISCOUS, _>(motion, StableNeoHookean),
        }
    }

    /// The plain law for every lane; the lanes it does not hold for are listed.
    #[inline(always)]
    fn st_venant_kirchhoff<L: Lanes, const VISCOUS: bool>(
        &mut self,
        motion: &PaddedMotion,
        limits: StretchLimits,
    ) {
        for (i, corners) in self.corners.chunks_exact_mut(3 * L::WIDTH).enumerate() {
            let first = i * L::WIDTH;
            let lanes =
                Gathered::<L>::from_block::<VISCOUS>(&self.blocks[first / BLOCK], first % BLOCK, motion);
            let f = lanes.gradient(&lanes.edges);
            let mut c = squared_stretch(&f);
            let margin = st_venant_kirchhoff::margin(&c, determinant(&f), limits);
            if VISCOUS {
                let rate = squared_stretch_rate(&f, &lanes.gradient(&lanes.edge_rates));
                for j in 0..6 {
                    c[j] = c[j] + lanes.viscosity * rate[j];
                }
            }
            let p = st_venant_kirchhoff::plain_stress(&f, &c, lanes.lame);
            lanes.write(&p, corners);
            let mut margins = [0.0; BLOCK];
            margin.store(&mut margins);
            for (lane, &margin) in margins[..L::WIDTH].iter().enumerate() {
                let holds = margin > 0.0;
                if !holds && first + lane < self.count {
                    self.chunk.strong.push((first + lane) as u32);
                }
            }
        }
    }

    /// The continued law for the listed lanes, packed.
    #[inline(always)]
    fn strong<L: Lanes, const VISCOUS: bool>(&mut self, motion: &PaddedMotion, limits: StretchLimits) {
        self.chunk.diagonalised = self.chunk.strong.len();
        for places in self.chunk.strong.chunks(L::WIDTH) {
            let lanes = Gathered::<L>::from_places::<VISCOUS>(self.blocks, places, motion);
            let f = lanes.gradient(&lanes.edges);
            let p = lanes.stress::<VISCOUS, _>(&f, &Extended(limits));
            for lane in inverted(&f, places.len()) {
                self.chunk.inverted.push(places[lane]);
            }
            let mut packed = [[0.0; 4]; 3 * BLOCK];
            lanes.write(&p, &mut packed);
            for (lane, &place) in places.iter().enumerate() {
                let place = 3 * place as usize;
                self.corners[place..place + 3].copy_from_slice(&packed[3 * lane..3 * lane + 3]);
            }
        }
    }

    /// One law for every lane.
    #[inline(always)]
    fn all<L: Lanes, const VISCOUS: bool, S: LaneStress>(&mut self, motion: &PaddedMotion, law: S) {
        for (i, corners) in self.corners.chunks_exact_mut(3 * L::WIDTH).enumerate() {
            let first = i * L::WIDTH;
            let lanes =
                Gathered::<L>::from_block::<VISCOUS>(&self.blocks[first / BLOCK], first % BLOCK, motion);
            let f = lanes.gradient(&lanes.edges);
            let p = lanes.stress::<VISCOUS, _>(&f, &law);
            for lane in inverted(&f, self.count.saturating_sub(first).min(L::WIDTH)) {
                self.chunk.inverted.push((first + lane) as u32);
            }
            lanes.write(&p, corners);
        }
    }

    /// Adds the edge dampers of inverted elements to their corner forces; `rate` is κ/h (1/s).
    fn damp_inverted(self, motion: NodeMotion<'_>, rate: f64) {
        for &place in &self.chunk.inverted {
            let (block, lane) = (&self.blocks[place as usize / BLOCK], place as usize % BLOCK);
            let x = block.nodes[lane].map(|n| motion.x[n as usize]);
            let v = block.nodes[lane].map(|n| motion.v[n as usize]);
            let coefficient = rate * f64::from(block.corner_mass[lane]);
            for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                let edge = x[i] - x[j];
                let square = edge.norm_squared().max(f64::MIN_POSITIVE);
                let force = edge * (-coefficient * (v[i] - v[j]).dot(&edge) / square);
                for (corner, force) in [(i, force), (j, -force)] {
                    if corner > 0 {
                        // corner forces are kept with their sign turned; corner 0 is the sum of the others
                        let pull = &mut self.corners[3 * place as usize + corner - 1];
                        (0..3).for_each(|c| pull[c] -= force[c] as f32);
                    }
                }
            }
        }
    }
}

/// A law as a type, since a function passed by value would not be compiled for the lanes' instruction set.
trait LaneStress {
    fn stress<L: Lanes>(&self, f: &Columns<L>, lame: LaneLame<L>) -> Columns<L>;
}

struct Extended(StretchLimits);
struct Corotational;
struct StableNeoHookean;

impl LaneStress for Extended {
    #[inline(always)]
    fn stress<L: Lanes>(&self, f: &Columns<L>, lame: LaneLame<L>) -> Columns<L> {
        st_venant_kirchhoff::extended_stress(f, lame, self.0)
    }
}

impl LaneStress for Corotational {
    #[inline(always)]
    fn stress<L: Lanes>(&self, f: &Columns<L>, lame: LaneLame<L>) -> Columns<L> {
        corotational::stress(f, lame)
    }
}

impl LaneStress for StableNeoHookean {
    #[inline(always)]
    fn stress<L: Lanes>(&self, f: &Columns<L>, lame: LaneLame<L>) -> Columns<L> {
        stable_neo_hookean::stress(f, lame)
    }
}

/// Which of the first `count` lanes have det F ≤ 0.
#[inline(always)]
fn inverted<L: Lanes>(f: &Columns<L>, count: usize) -> impl Iterator<Item = usize> {
    let mut det = [1.0; BLOCK];
    determinant(f).store(&mut det);
    (0..count).filter(move |&lane| det[lane] <= 0.0)
}

/// Elements in registers.
struct Gathered<L> {
    edges: Columns<L>,
    /// Zero unless the elements are viscous.
    edge_rates: Columns<L>,
    inverse_rest: Columns<L>,
    lame: LaneLame<L>,
    viscosity: L,
}

impl<L: Lanes> Gathered<L> {
    /// Lanes of a block, from lane `first` on.
    #[inline(always)]
    fn from_block<const VISCOUS: bool>(block: &Block, first: usize, motion: &PaddedMotion) -> Self {
        let nodes = &block.nodes[first..first + L::WIDTH];
        Gathered {
            edges: gather_edges(nodes, &motion.x),
            edge_rates: if VISCOUS { gather_edge_rates(nodes, &motion.v) } else { [[L::splat(0.0); 3]; 3] },
            inverse_rest: load_columns(&block.inverse_rest, first),
            lame: LaneLame { mu: L::load(&block.mu[first..]), lambda: L::load(&block.lambda[first..]) },
            viscosity: L::load(&block.viscosity[first..]),
        }
    }

    /// Lanes picked from anywhere in the blocks; lanes beyond the end of `places` repeat the last one.
    #[inline(always)]
    fn from_places<const VISCOUS: bool>(blocks: &[Block], places: &[u32], motion: &PaddedMotion) -> Self {
        let mut picked = Block::default();
        for lane in 0..L::WIDTH {
            let place = places[lane.min(places.len() - 1)] as usize;
            picked.copy_lane(lane, &blocks[place / BLOCK], place % BLOCK);
        }
        Self::from_block::<VISCOUS>(&picked, 0, motion)
    }

    /// F = Ds Dm⁻¹, or Ḟ from the rates of the edges.
    #[inline(always)]
    fn gradient(&self, edges: &Columns<L>) -> Columns<L> {
        let b = &self.inverse_rest;
        [
            combine(edges, b[0][0], b[1][0], b[2][0]),
            combine(edges, b[0][1], b[1][1], b[2][1]),
            combine(edges, b[0][2], b[1][2], b[2][2]),
        ]
    }

    /// The stress of a law, with what viscosity adds.
    #[inline(always)]
    fn stress<const VISCOUS: bool, S: LaneStress>(&self, f: &Columns<L>, law: &S) -> Columns<L> {
        let mut p = law.stress(f, self.lame);
        if VISCOUS {
            let extra = viscous_stress(f, &self.gradient(&self.edge_rates), self.lame, self.viscosity);
            for j in 0..3 {
                for i in 0..3 {
                    p[j][i] = p[j][i] + extra[j][i];
                }
            }
        }
        p
    }

    /// V w P Dm⁻ᵀ, column k for corner k + 1.                               [KimPollard2011, eq. 3, 11]
    #[inline(always)]
    fn write(&self, p: &Columns<L>, corners: &mut [[f32; 4]]) {
        let b = &self.inverse_rest;
        for k in 0..3 {
            L::to_rows(combine(p, b[k][0], b[k][1], b[k][2]), &mut corners[k..], 3);
        }
    }
}

#[inline(always)]
fn load_columns<L: Lanes>(from: &[[[f32; BLOCK]; 3]; 3], first: usize) -> Columns<L> {
    let mut columns = [[L::splat(0.0); 3]; 3];
    for k in 0..3 {
        for j in 0..3 {
            columns[k][j] = L::load(&from[k][j][first..]);
        }
    }
    columns
}

/// The edges from corner 0 to the others. They are differences in double precision, so that a body far from the origin loses nothing.
#[inline(always)]
fn gather_edges<L: Lanes>(nodes: &[[u32; 4]], node_x: &[[f64; 4]]) -> Columns<L> {
    let mut rows = [[[0.0; 4]; BLOCK]; 3];
    for (lane, nodes) in nodes.iter().enumerate() {
        let origin = node_x[nodes[0] as usize];
        for k in 0..3 {
            let corner = node_x[nodes[k + 1] as usize];
            for i in 0..4 {
                rows[k][lane][i] = (corner[i] - origin[i]) as f32;
            }
        }
    }
    [L::from_rows(&rows[0]), L::from_rows(&rows[1]), L::from_rows(&rows[2])]
}

/// How fast those edges change: viscosity needs no more than single precision.
#[inline(always)]
fn gather_edge_rates<L: Lanes>(nodes: &[[u32; 4]], node_v: &[[f32; 4]]) -> Columns<L> {
    let origin = L::gather_rows(node_v, nodes, 0);
    let mut rates = [origin; 3];
    for k in 0..3 {
        let corner = L::gather_rows(node_v, nodes, k + 1);
        for i in 0..3 {
            rates[k][i] = corner[i] - origin[i];
        }
    }
    rates
}

#[cfg(test)]
mod tests;
