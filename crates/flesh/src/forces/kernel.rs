//! SIMD kernel of the elastic forces, with selective singular value decomposition.
//!
//! St. Venant-Kirchhoff elements beyond their stretch limits need a singular value decomposition. The first sweep over a task's
//! blocks evaluates the plain law for all lanes and lists those beyond the limits; the listed ones are then packed into full
//! lanes and evaluated again.

use super::gathered::Gathered;
use super::{COMPRESSED, Diagonalise, NodeMotion, PaddedMotion, SmallVolumes, Task};
use crate::law::{
    LaneLame, determinant, squared_stretch, squared_stretch_rate, st_venant_kirchhoff, stable_neo_hookean,
    stress_by_stretch,
};
use crate::material::{Law, StretchLimits};
use sinew_math::columns::Columns;
use sinew_math::lanes::{BLOCK, Kernel, Lanes};

/// A task, generic over the width of lanes.
pub(super) struct ForceKernel<'a> {
    pub(super) task: Task<'a>,
    pub(super) motion: &'a PaddedMotion,
    pub(super) diagonalise: Diagonalise,
}

impl Kernel for ForceKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let ForceKernel { mut task, motion, diagonalise } = self;
        task.chunk.diagonalised = 0;
        task.chunk.strong.clear();
        task.chunk.small.inverted.clear();
        task.chunk.small.compressed.clear();
        match (task.law, diagonalise, task.is_viscous) {
            (Law::StVenantKirchhoff(limits), Diagonalise::Selectively, is_viscous) => {
                if is_viscous {
                    task.st_venant_kirchhoff::<L, true>(motion, limits);
                } else {
                    task.st_venant_kirchhoff::<L, false>(motion, limits);
                }
                task.strong::<L>(motion);
            }
            // spelt out, so that each is compiled without a branch
            (Law::StableNeoHookean, _, true) => task.all::<L, _>(motion, StableNeoHookean, true),
            (Law::StableNeoHookean, _, false) => task.all::<L, _>(motion, StableNeoHookean, false),
            (_, _, is_viscous) => {
                task.chunk.diagonalised = task.count;
                task.all::<L, _>(motion, ByStretch(task.law), is_viscous);
            }
        }
    }
}

impl Task<'_> {
    /// Evaluates the plain law for every lane, and lists the lanes beyond its limits.
    #[inline(always)]
    fn st_venant_kirchhoff<L: Lanes, const VISCOUS: bool>(
        &mut self,
        motion: &PaddedMotion,
        limits: StretchLimits,
    ) {
        for (i, corners) in self.corners.chunks_exact_mut(3 * L::WIDTH).enumerate() {
            let first = i * L::WIDTH;
            let block = &self.blocks[first / BLOCK];
            let lanes = Gathered::<L>::from_block(block, first % BLOCK, motion, VISCOUS);
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
            lanes.write(&p, self.pulls.lanes(first), corners);
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

    /// Evaluates the extrapolated law for the listed lanes, packed.
    #[inline(always)]
    fn strong<L: Lanes>(&mut self, motion: &PaddedMotion) {
        self.chunk.diagonalised = self.chunk.strong.len();
        for places in self.chunk.strong.chunks(L::WIDTH) {
            let lanes = Gathered::<L>::from_places(self.blocks, places, motion, self.is_viscous);
            let f = lanes.gradient(&lanes.edges);
            let p = lanes.stress(&f, &ByStretch(self.law), self.is_viscous);
            self.chunk.small.list(&f, places.len(), |lane| places[lane]);
            let (mut packed, mut pulls) = ([[0.0; 4]; 3 * BLOCK], [0.0; BLOCK]);
            for (pull, place) in pulls.iter_mut().zip(places) {
                *pull = self.pulls.at(*place as usize) as f32;
            }
            lanes.write(&p, Some(L::load(&pulls)), &mut packed);
            for (lane, &place) in places.iter().enumerate() {
                let place = 3 * place as usize;
                self.corners[place..place + 3].copy_from_slice(&packed[3 * lane..3 * lane + 3]);
            }
        }
    }

    /// Evaluates one law for every lane.
    #[inline(always)]
    fn all<L: Lanes, S: LaneStress>(&mut self, motion: &PaddedMotion, law: S, is_viscous: bool) {
        for (i, corners) in self.corners.chunks_exact_mut(3 * L::WIDTH).enumerate() {
            let first = i * L::WIDTH;
            let block = &self.blocks[first / BLOCK];
            let lanes = Gathered::<L>::from_block(block, first % BLOCK, motion, is_viscous);
            let f = lanes.gradient(&lanes.edges);
            let p = lanes.stress(&f, &law, is_viscous);
            let count = self.count.saturating_sub(first).min(L::WIDTH);
            self.chunk.small.list(&f, count, |lane| (first + lane) as u32);
            lanes.write(&p, self.pulls.lanes(first), corners);
        }
    }

    /// Adds the edge dampers of inverted elements to their corner forces; `rate` is κ/h (1/s).
    pub(super) fn damp_inverted(self, motion: NodeMotion<'_>, rate: f64) {
        for &place in &self.chunk.small.inverted {
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
                        // corner forces are stored with opposite sign; corner 0 follows from the others
                        let pull = &mut self.corners[3 * place as usize + corner - 1];
                        (0..3).for_each(|c| pull[c] -= force[c] as f32);
                    }
                }
            }
        }
    }
}

/// A law as a type, since a function passed by value is not compiled for the instruction set of the lanes.
pub(super) trait LaneStress {
    fn stress<L: Lanes>(&self, f: &Columns<L>, lame: LaneLame<L>) -> Columns<L>;
}

/// A law over principal stretches: one decomposition in the program for all of them.
struct ByStretch(Law);
struct StableNeoHookean;

impl LaneStress for ByStretch {
    #[inline(always)]
    fn stress<L: Lanes>(&self, f: &Columns<L>, lame: LaneLame<L>) -> Columns<L> {
        stress_by_stretch(self.0, f, lame)
    }
}

impl LaneStress for StableNeoHookean {
    #[inline(always)]
    fn stress<L: Lanes>(&self, f: &Columns<L>, lame: LaneLame<L>) -> Columns<L> {
        stable_neo_hookean::stress(f, lame)
    }
}

impl SmallVolumes {
    /// Lists the elements near the limit of compression, and the inverted ones, among the first `count` lanes.
    #[inline(always)]
    fn list<L: Lanes>(&mut self, f: &Columns<L>, count: usize, place: impl Fn(usize) -> u32) {
        let mut det = [1.0; BLOCK];
        determinant(f).store(&mut det);
        for lane in (0..count).filter(|&lane| det[lane] < COMPRESSED) {
            self.compressed.push(place(lane));
            if det[lane] <= 0.0 {
                self.inverted.push(place(lane));
            }
        }
    }
}
