//! SIMD kernels of the elastic energy and gradient in double precision.

use super::{StepStart, Task};
use crate::elements::Block;
use crate::gather::wide_edges;
use crate::law::{
    LaneLame, Symmetric, by_stretch, determinant, from_principal_stress, squared_stretch,
    st_venant_kirchhoff, stable_neo_hookean, times_symmetric,
};
use crate::material::{Law, StretchLimits};
use crate::patches::{add_scaled, area_vectors};
use sinew_math::columns::{Columns, combine};
use sinew_math::lanes::{BLOCK, Kernel, Lanes, Real, WideLanes};
use sinew_math::svd::svd;

/// A task, generic over the width of lanes.
pub(super) struct EnergyKernel<'a> {
    pub(super) task: Task<'a>,
    pub(super) x: &'a [[f64; 4]],
}

impl Kernel for EnergyKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let EnergyKernel { mut task, x } = self;
        match task.law {
            Law::StVenantKirchhoff(limits) => {
                task.all::<L::Wide, _>(x, &Plain(limits));
                task.strong::<L::Wide>(x);
            }
            Law::Corotational => {
                task.sum.strong.clear();
                task.sum.strong.extend(0..task.count as u32);
                task.sum.energy = 0.0;
                task.sum.inverted = 0;
                task.strong::<L::Wide>(x);
            }
            Law::StableNeoHookean => task.all::<L::Wide, _>(x, &StableNeoHookean),
        }
    }
}

/// Computes the start of a step of sixteen elements.
pub(super) struct StartKernel<'a> {
    pub(super) block: &'a Block,
    pub(super) x: &'a [[f64; 4]],
    pub(super) h: f64,
}

impl Kernel for StartKernel<'_> {
    type Output = StepStart;

    #[inline(always)]
    fn run<L: Lanes>(self) -> StepStart {
        let mut start = StepStart::ZERO;
        for part in 0..BLOCK / L::Wide::WIDTH {
            let first = part * L::Wide::WIDTH;
            let lanes = Gathered::<L::Wide>::of(self.block, first, self.x);
            let c = squared_stretch(&lanes.f);
            for k in 0..6 {
                c[k].store(&mut start.c[k][first..]);
            }
            // reduces the viscosity of strongly stretched elements, as in explicit steps
            let three = L::Wide::splat(3.0);
            let size = (c[0] + c[1] + c[2]).max(three);
            let viscosity = L::Wide::load_single(&self.block.viscosity[first..]);
            let rate = viscosity * (three / size) / L::Wide::splat(self.h);
            rate.store(&mut start.rate[first..]);
        }
        start
    }
}

/// Elements in registers.
struct Gathered<W> {
    edges: Columns<W>,
    f: Columns<W>,
    inverse_rest: Columns<W>,
    lame: LaneLame<W>,
}

impl<W: WideLanes> Gathered<W> {
    #[inline(always)]
    fn of(block: &Block, first: usize, x: &[[f64; 4]]) -> Self {
        let nodes = &block.nodes[first..first + W::WIDTH];
        let edges = wide_edges(nodes, x);
        let mut b = [[W::splat(0.0); 3]; 3];
        for k in 0..3 {
            for j in 0..3 {
                b[k][j] = W::load_single(&block.inverse_rest[k][j][first..]);
            }
        }
        let f = [
            combine(&edges, b[0][0], b[1][0], b[2][0]),
            combine(&edges, b[0][1], b[1][1], b[2][1]),
            combine(&edges, b[0][2], b[1][2], b[2][2]),
        ];
        let lame = LaneLame {
            mu: W::load_single(&block.mu[first..]),
            lambda: W::load_single(&block.lambda[first..]),
        };
        Gathered { edges, f, inverse_rest: b, lame }
    }

    #[inline(always)]
    fn write(&self, p: &Columns<W>, pull: Option<W>, corners: &mut [[f64; 4]]) {
        let b = &self.inverse_rest;
        let mut pulls = [[W::splat(0.0); 3]; 3];
        for k in 0..3 {
            pulls[k] = combine(p, b[k][0], b[k][1], b[k][2]);
        }
        if let Some(pull) = pull {
            add_scaled(&mut pulls, &area_vectors(&self.edges), pull);
        }
        for k in 0..3 {
            W::to_rows(pulls[k], &mut corners[k..], 3);
        }
    }
}

impl Task<'_> {
    /// Evaluates one law for every lane; lanes beyond its limits are listed and left out of the sum.
    #[inline(always)]
    fn all<W: WideLanes, S: WideLaw>(&mut self, x: &[[f64; 4]], law: &S) {
        self.sum.strong.clear();
        self.sum.inverted = 0;
        let mut energies = [0.0; BLOCK];
        for (i, corners) in self.corners.chunks_exact_mut(3 * W::WIDTH).enumerate() {
            let first = i * W::WIDTH;
            let (block, lane) = (&self.blocks[first / BLOCK], first % BLOCK);
            let lanes = Gathered::<W>::of(block, lane, x);
            let viscous = self.starts.get(first / BLOCK).map(|start| viscosity(start, lane, &lanes));
            let (energy, p) = law.evaluate(&lanes.f, lanes.lame, viscous);
            lanes.write(&p, self.pulls.wide(first), corners);

            let (mut margins, mut determinants, mut found) = ([1.0; BLOCK], [1.0; BLOCK], [0.0; BLOCK]);
            law.margin(&lanes.f).store(&mut margins);
            determinant(&lanes.f).store(&mut determinants);
            energy.store(&mut found);
            let real = self.count.saturating_sub(first).min(W::WIDTH);
            for k in 0..real {
                let holds = margins[k] > 0.0;
                if holds {
                    energies[lane + k] += found[k];
                    self.sum.inverted += usize::from(determinants[k] <= 0.0);
                } else {
                    self.sum.strong.push((first + k) as u32);
                }
            }
        }
        self.sum.energy = energies.iter().sum();
    }

    /// Evaluates laws in principal stretches for the listed lanes, packed; all laws share one instance of the decomposition.
    #[inline(always)]
    fn strong<W: WideLanes>(&mut self, x: &[[f64; 4]]) {
        let strong = core::mem::take(&mut self.sum.strong);
        let law = ByStretch(self.law);
        for places in strong.chunks(W::WIDTH) {
            // pack the listed lanes
            let mut picked = Block::default();
            let mut start = StepStart::ZERO;
            for lane in 0..W::WIDTH {
                let place = places[lane.min(places.len() - 1)] as usize;
                picked.copy_lane(lane, &self.blocks[place / BLOCK], place % BLOCK);
                if let Some(own) = self.starts.get(place / BLOCK) {
                    start.copy_lane(lane, own, place % BLOCK);
                }
            }

            // evaluate them
            let lanes = Gathered::<W>::of(&picked, 0, x);
            let viscous = if self.starts.is_empty() { None } else { Some(viscosity(&start, 0, &lanes)) };
            let (energy, p) = law.evaluate(&lanes.f, lanes.lame, viscous);

            // write the results back to their slots
            let (mut packed, mut energies) = ([[0.0; 4]; 3 * BLOCK], [0.0; BLOCK]);
            let mut determinants = [1.0; BLOCK];
            let mut pulls = [0.0; BLOCK];
            for (pull, place) in pulls.iter_mut().zip(places) {
                *pull = self.pulls.at(*place as usize);
            }
            lanes.write(&p, Some(W::load(&pulls)), &mut packed);
            energy.store(&mut energies);
            determinant(&lanes.f).store(&mut determinants);
            for (lane, &place) in places.iter().enumerate() {
                self.sum.energy += energies[lane];
                self.sum.inverted += usize::from(determinants[lane] <= 0.0);
                let place = 3 * place as usize;
                self.corners[place..place + 3].copy_from_slice(&packed[3 * lane..3 * lane + 3]);
            }
        }
        self.sum.strong = strong;
    }
}

/// The viscous potential D and its S, from ΔC = C − Cₙ = 2 (E − Eₙ).
#[inline(always)]
fn viscosity<W: WideLanes>(start: &StepStart, lane: usize, lanes: &Gathered<W>) -> (W, Symmetric<W>) {
    let rate = W::load(&start.rate[lane..]);
    let mut d = squared_stretch(&lanes.f);
    for k in 0..6 {
        d[k] = W::splat(0.5) * (d[k] - W::load(&start.c[k][lane..]));
    }
    let (mu, lambda) = (rate * lanes.lame.mu, rate * lanes.lame.lambda);
    let trace = d[0] + d[1] + d[2];
    let two = W::splat(2.0);
    let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + two * (d[3] * d[3] + d[4] * d[4] + d[5] * d[5]);
    let mut s = d;
    for k in 0..6 {
        s[k] = two * mu * d[k];
    }
    for k in 0..3 {
        s[k] = s[k] + lambda * trace;
    }
    (W::splat(0.5) * lambda * trace * trace + mu * square, s)
}

/// Adds the viscous potential and stress to those of a law.
#[inline(always)]
fn with_viscosity<T: Real>(
    f: &Columns<T>,
    (energy, mut p): (T, Columns<T>),
    viscous: Option<(T, Symmetric<T>)>,
) -> (T, Columns<T>) {
    let Some((more, s)) = viscous else { return (energy, p) };
    let extra = times_symmetric(f, &s);
    for j in 0..3 {
        for i in 0..3 {
            p[j][i] = p[j][i] + extra[j][i];
        }
    }
    (energy + more, p)
}

/// A law as a type; see the force kernel for the reason.
trait WideLaw {
    /// Ψ and P, including the viscous D and S.
    fn evaluate<T: Real>(
        &self,
        f: &Columns<T>,
        lame: LaneLame<T>,
        viscous: Option<(T, Symmetric<T>)>,
    ) -> (T, Columns<T>);

    /// Positive where the law needs no extrapolation.
    #[inline(always)]
    fn margin<T: Real>(&self, _f: &Columns<T>) -> T {
        T::splat(1.0)
    }
}

struct Plain(StretchLimits);
struct ByStretch(Law);
struct StableNeoHookean;

impl WideLaw for Plain {
    #[inline(always)]
    fn evaluate<T: Real>(
        &self,
        f: &Columns<T>,
        lame: LaneLame<T>,
        viscous: Option<(T, Symmetric<T>)>,
    ) -> (T, Columns<T>) {
        let c = squared_stretch(f);
        let mut energy = st_venant_kirchhoff::plain_energy(&c, lame);
        let mut s = st_venant_kirchhoff::second_stress(&c, lame);
        if let Some((more, viscous)) = viscous {
            energy = energy + more;
            for k in 0..6 {
                s[k] = s[k] + viscous[k];
            }
        }
        (energy, times_symmetric(f, &s))
    }

    #[inline(always)]
    fn margin<T: Real>(&self, f: &Columns<T>) -> T {
        st_venant_kirchhoff::margin(&squared_stretch(f), determinant(f), self.0)
    }
}

impl WideLaw for ByStretch {
    #[inline(always)]
    fn evaluate<T: Real>(
        &self,
        f: &Columns<T>,
        lame: LaneLame<T>,
        viscous: Option<(T, Symmetric<T>)>,
    ) -> (T, Columns<T>) {
        let decomposed = svd(*f);
        let law = by_stretch(self.0, &decomposed.sigma, lame);
        with_viscosity(f, (law.energy, from_principal_stress(&decomposed, law.stress)), viscous)
    }
}

impl WideLaw for StableNeoHookean {
    #[inline(always)]
    fn evaluate<T: Real>(
        &self,
        f: &Columns<T>,
        lame: LaneLame<T>,
        viscous: Option<(T, Symmetric<T>)>,
    ) -> (T, Columns<T>) {
        let elastic = (stable_neo_hookean::lane_energy(f, lame), stable_neo_hookean::stress(f, lame));
        with_viscosity(f, elastic, viscous)
    }
}
