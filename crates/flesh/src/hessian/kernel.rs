//! Elements in lanes: their tangents, products with them, and the blocks of their corners.

use super::Update;
use super::stiffness::{NeoHookeanBlock, Stiffness};
use crate::elements::Block;
use crate::gather::{edge_rates, edges};
use crate::law::tangent::{TANGENT, Tangent, add_strain_law, of_principal};
use crate::law::{
    LaneLame, corotational, determinant, squared_stretch, st_venant_kirchhoff, stable_neo_hookean,
};
use crate::material::{Law, StretchLimits};
use crate::potential::StepStart;
use sinew_math::columns::{Columns, combine};
use sinew_math::lanes::{BLOCK, Kernel, Lanes, Real};
use sinew_math::svd::svd;

/// Takes the stiffness of one task's neo-Hookean elements.
pub(super) struct NeoHookeanKernel<'a> {
    pub(super) blocks: &'a [Block],
    pub(super) tangents: &'a mut [NeoHookeanBlock],
    pub(super) x: &'a [[f64; 4]],
}

impl Kernel for NeoHookeanKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (block, to) in self.blocks.iter().zip(self.tangents) {
            for first in (0..BLOCK).step_by(L::WIDTH) {
                let f = gradient::<L>(block, first, self.x);
                to.set(first, &f, stable_neo_hookean::stiffness(&f, load_lame::<L>(block, first)));
            }
        }
    }
}

/// Takes the stiffness of one task's elements.
pub(super) struct UpdateKernel<'a> {
    pub(super) task: Update<'a>,
    pub(super) x: &'a [[f64; 4]],
}

impl Kernel for UpdateKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let UpdateKernel { mut task, x } = self;
        match task.law {
            Law::StVenantKirchhoff(limits) => {
                task.all::<L, _>(x, &Plain(limits));
                task.strong::<L>(x);
            }
            Law::Corotational => {
                task.strong.clear();
                task.strong.extend(0..(BLOCK * task.blocks.len()) as u32);
                task.strong::<L>(x);
            }
            Law::StableNeoHookean => task.all::<L, _>(x, &StableNeoHookean),
        }
    }
}

impl Update<'_> {
    #[inline(always)]
    fn all<L: Lanes, S: LaneTangent>(&mut self, x: &[[f64; 4]], law: &S) {
        self.strong.clear();
        for (i, (block, to)) in self.blocks.iter().zip(self.tangents.iter_mut()).enumerate() {
            for part in 0..BLOCK / L::WIDTH {
                let first = part * L::WIDTH;
                let f = gradient::<L>(block, first, x);
                let lame = load_lame::<L>(block, first);
                let mut tangent = law.tangent(&f, lame);
                if let Some(start) = self.starts.get(i) {
                    add_viscosity(start, first, &f, lame, &mut tangent);
                }
                for k in 0..TANGENT {
                    tangent[k].store(&mut to.0[k][first..]);
                }
                if S::HAS_MARGIN {
                    let mut margins = [1.0; BLOCK];
                    law.margin(&f).store(&mut margins);
                    for (lane, &margin) in margins[..L::WIDTH].iter().enumerate() {
                        let holds = margin > 0.0;
                        if !holds {
                            self.strong.push((i * BLOCK + first + lane) as u32);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn strong<L: Lanes>(&mut self, x: &[[f64; 4]]) {
        let law = ByStretch(self.law);
        for places in self.strong.chunks(L::WIDTH) {
            let mut picked = Block::default();
            let mut start = StepStart { c: [[0.0; BLOCK]; 6], rate: [0.0; BLOCK] };
            for lane in 0..L::WIDTH {
                let place = places[lane.min(places.len() - 1)] as usize;
                picked.copy_lane(lane, &self.blocks[place / BLOCK], place % BLOCK);
                if let Some(own) = self.starts.get(place / BLOCK) {
                    (0..6).for_each(|k| start.c[k][lane] = own.c[k][place % BLOCK]);
                    start.rate[lane] = own.rate[place % BLOCK];
                }
            }
            let f = gradient::<L>(&picked, 0, x);
            let lame = load_lame::<L>(&picked, 0);
            let mut tangent = law.tangent(&f, lame);
            if !self.starts.is_empty() {
                add_viscosity(&start, 0, &f, lame, &mut tangent);
            }
            let mut lanes = [0.0; BLOCK];
            for k in 0..TANGENT {
                tangent[k].store(&mut lanes);
                for (lane, &place) in places.iter().enumerate() {
                    self.tangents[place as usize / BLOCK].0[k][place as usize % BLOCK] = lanes[lane];
                }
            }
        }
    }
}

/// β/h times the law of Green's strain, about what the strain has changed by since the step began.
#[inline(always)]
fn add_viscosity<L: Lanes>(
    start: &StepStart,
    first: usize,
    f: &Columns<L>,
    lame: LaneLame<L>,
    tangent: &mut Tangent<L>,
) {
    let rate = load_double::<L>(&start.rate, first);
    let lame = LaneLame { mu: rate * lame.mu, lambda: rate * lame.lambda };
    let mut s = squared_stretch(f);
    for k in 0..6 {
        s[k] = s[k] - load_double::<L>(&start.c[k], first);
    }
    let pressure = L::splat(0.5) * lame.lambda * (s[0] + s[1] + s[2]);
    for k in 0..6 {
        s[k] = lame.mu * s[k];
    }
    for k in 0..3 {
        s[k] = s[k] + pressure;
    }
    add_strain_law(tangent, f, &s, lame);
}

#[inline(always)]
fn load_double<L: Lanes>(from: &[f64; BLOCK], first: usize) -> L {
    let mut numbers = [0.0f32; BLOCK];
    for lane in 0..L::WIDTH {
        numbers[lane] = from[first + lane] as f32;
    }
    L::load(&numbers)
}

/// Multiplies one task's elements with motions of nodes.
pub(super) struct MultiplyKernel<'a, S> {
    pub(super) blocks: &'a [Block],
    pub(super) tangents: &'a [S],
    pub(super) u: &'a [[f32; 4]],
    pub(super) corners: &'a mut [[f32; 4]],
}

impl<S: Stiffness> Kernel for MultiplyKernel<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let corners = self.corners.chunks_exact_mut(3 * BLOCK);
        for ((block, tangent), corners) in self.blocks.iter().zip(self.tangents).zip(corners) {
            for part in 0..BLOCK / L::WIDTH {
                let first = part * L::WIDTH;
                let nodes = &block.nodes[first..first + L::WIDTH];
                let b = load_rest::<L>(block, first);
                let df = times_rest(&edge_rates(nodes, self.u), &b);
                let dp = tangent.product::<L>(first, &df);
                let corners = &mut corners[3 * first..];
                for k in 0..3 {
                    L::to_rows(combine(&dp, b[k][0], b[k][1], b[k][2]), &mut corners[k..], 3);
                }
            }
        }
    }
}

/// The blocks of the four corners of sixteen elements, each as its lower triangle.
pub(super) struct DiagonalKernel<'a, S> {
    pub(super) block: &'a Block,
    pub(super) tangent: &'a S,
}

impl<S: Stiffness> Kernel for DiagonalKernel<'_, S> {
    type Output = [[[f32; BLOCK]; 6]; 4];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [[[f32; BLOCK]; 6]; 4] {
        let mut out = [[[0.0; BLOCK]; 6]; 4];
        for part in 0..BLOCK / L::WIDTH {
            let first = part * L::WIDTH;
            let b = load_rest::<L>(self.block, first);
            for corner in 0..4 {
                let mut g = [L::splat(0.0); 3];
                for j in 0..3 {
                    g[j] = if corner > 0 { b[corner - 1][j] } else { -(b[0][j] + b[1][j] + b[2][j]) };
                }
                for i in 0..3 {
                    // a unit motion along axis i of the corner
                    let mut df = [[L::splat(0.0); 3]; 3];
                    for j in 0..3 {
                        df[j][i] = g[j];
                    }
                    let dp = self.tangent.product::<L>(first, &df);
                    let pull = combine(&dp, g[0], g[1], g[2]);
                    for k in 0..=i {
                        pull[k].store(&mut out[corner][i * (i + 1) / 2 + k][first..]);
                    }
                }
            }
        }
        out
    }
}

#[inline(always)]
fn load_rest<L: Lanes>(block: &Block, first: usize) -> Columns<L> {
    let mut b = [[L::splat(0.0); 3]; 3];
    for k in 0..3 {
        for j in 0..3 {
            b[k][j] = L::load(&block.inverse_rest[k][j][first..]);
        }
    }
    b
}

#[inline(always)]
fn load_lame<L: Lanes>(block: &Block, first: usize) -> LaneLame<L> {
    LaneLame { mu: L::load(&block.mu[first..]), lambda: L::load(&block.lambda[first..]) }
}

#[inline(always)]
fn times_rest<L: Lanes>(edges: &Columns<L>, b: &Columns<L>) -> Columns<L> {
    [
        combine(edges, b[0][0], b[1][0], b[2][0]),
        combine(edges, b[0][1], b[1][1], b[2][1]),
        combine(edges, b[0][2], b[1][2], b[2][2]),
    ]
}

/// F, from differences in double precision.
#[inline(always)]
fn gradient<L: Lanes>(block: &Block, first: usize, x: &[[f64; 4]]) -> Columns<L> {
    let edges = edges(&block.nodes[first..first + L::WIDTH], x);
    times_rest(&edges, &load_rest(block, first))
}

/// A law as a type; see the forces' kernel for why.
trait LaneTangent {
    /// Whether it holds only for some lanes.
    const HAS_MARGIN: bool = false;

    fn tangent<T: Real>(&self, f: &Columns<T>, lame: LaneLame<T>) -> Tangent<T>;

    /// Positive where the law holds.
    #[inline(always)]
    fn margin<T: Real>(&self, _f: &Columns<T>) -> T {
        T::splat(1.0)
    }
}

struct Plain(StretchLimits);
struct ByStretch(Law);
struct StableNeoHookean;

impl LaneTangent for Plain {
    const HAS_MARGIN: bool = true;

    #[inline(always)]
    fn tangent<T: Real>(&self, f: &Columns<T>, lame: LaneLame<T>) -> Tangent<T> {
        st_venant_kirchhoff::plain_tangent(f, &squared_stretch(f), lame)
    }

    #[inline(always)]
    fn margin<T: Real>(&self, f: &Columns<T>) -> T {
        st_venant_kirchhoff::margin(&squared_stretch(f), determinant(f), self.0)
    }
}

impl LaneTangent for ByStretch {
    #[inline(always)]
    fn tangent<T: Real>(&self, f: &Columns<T>, lame: LaneLame<T>) -> Tangent<T> {
        let decomposed = svd(*f);
        let law = match self.0 {
            Law::StVenantKirchhoff(limits) => st_venant_kirchhoff::extended(&decomposed.sigma, lame, limits),
            _ => corotational::lane_principal(&decomposed.sigma, lame),
        };
        of_principal(&decomposed, &law)
    }
}

impl LaneTangent for StableNeoHookean {
    #[inline(always)]
    fn tangent<T: Real>(&self, f: &Columns<T>, lame: LaneLame<T>) -> Tangent<T> {
        stable_neo_hookean::tangent(f, lame)
    }
}
