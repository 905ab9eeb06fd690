//! SIMD kernels that compute element tangents.

use super::kernel::{gradient, load_lame};
use super::stiffness::{BlockTangent, NeoHookeanBlock, StrainBlock, ViscousNeoHookeanBlock};
use super::strong::StrongLanes;
use crate::elements::Block;
use crate::law::tangent::{add_strain_law, of_principal};
use crate::law::{
    LaneLame, Symmetric, by_stretch, determinant, squared_stretch, st_venant_kirchhoff, stable_neo_hookean,
};
use crate::material::{Law, StretchLimits};
use crate::potential::StepStart;
use sinew_math::lanes::{BLOCK, Kernel, Lanes};
use sinew_math::svd::svd;

/// Computes the tangents of one task's elements.
pub(super) struct UpdateKernel<'a, T> {
    pub(super) blocks: &'a [Block],
    /// The start of the step; empty without viscosity.
    pub(super) starts: &'a [StepStart],
    pub(super) x: &'a [[f64; 4]],
    pub(super) to: T,
}

/// Output of the St. Venant-Kirchhoff kernel.
pub(super) struct StrainTangents<'a> {
    pub(super) limits: StretchLimits,
    pub(super) tangents: &'a mut [StrainBlock],
    pub(super) strong: &'a mut StrongLanes,
}

/// Output of the kernel for full tangents.
pub(super) struct WholeTangents<'a> {
    pub(super) law: Law,
    pub(super) tangents: &'a mut [BlockTangent],
}

impl Kernel for UpdateKernel<'_, &mut [NeoHookeanBlock]> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (block, to) in self.blocks.iter().zip(self.to) {
            for first in (0..BLOCK).step_by(L::WIDTH) {
                let f = gradient::<L>(block, first, self.x);
                to.set(first, &f, stable_neo_hookean::stiffness(&f, load_lame::<L>(block, first)));
            }
        }
    }
}

impl Kernel for UpdateKernel<'_, &mut [ViscousNeoHookeanBlock]> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for ((block, start), to) in self.blocks.iter().zip(self.starts).zip(self.to) {
            for first in (0..BLOCK).step_by(L::WIDTH) {
                let f = gradient::<L>(block, first, self.x);
                let lame = load_lame::<L>(block, first);
                let (stress, viscous) = viscosity(start, first, &squared_stretch(&f), lame);
                to.set(first, &f, stable_neo_hookean::stiffness(&f, lame), (&stress, viscous));
            }
        }
    }
}

impl Kernel for UpdateKernel<'_, StrainTangents<'_>> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let StrainTangents { limits, tangents, strong } = self.to;
        strong.clear();
        for (i, (block, to)) in self.blocks.iter().zip(tangents).enumerate() {
            let start = self.starts.get(i);
            for first in (0..BLOCK).step_by(L::WIDTH) {
                // F, S and the moduli, with viscosity
                let f = gradient::<L>(block, first, self.x);
                let mut lame = load_lame::<L>(block, first);
                let c = squared_stretch(&f);
                let mut stress = st_venant_kirchhoff::second_stress(&c, lame);
                if let Some(start) = start {
                    let (more, viscous) = viscosity(start, first, &c, lame);
                    for k in 0..6 {
                        stress[k] = stress[k] + more[k];
                    }
                    lame = LaneLame { mu: lame.mu + viscous.mu, lambda: lame.lambda + viscous.lambda };
                }
                to.set(first, &f, &stress, lame);

                // lanes beyond the limits are stored separately
                let mut margins = [1.0; BLOCK];
                st_venant_kirchhoff::margin(&c, determinant(&f), limits).store(&mut margins);
                for lane in 0..L::WIDTH {
                    let holds = margins[lane] > 0.0;
                    if !holds {
                        strong.push(i * BLOCK + first + lane, first + lane, block, start);
                    }
                }
            }
        }
        strong.take_tangents::<L>(Law::StVenantKirchhoff(limits), self.x);
    }
}

impl Kernel for UpdateKernel<'_, WholeTangents<'_>> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let WholeTangents { law, tangents } = self.to;
        for (i, (block, to)) in self.blocks.iter().zip(tangents).enumerate() {
            take_whole::<L>(law, block, self.starts.get(i), BLOCK, self.x, to);
        }
    }
}

/// Computes the tangents of the first `count` lanes of a block from principal stretches.
#[inline(always)]
pub(super) fn take_whole<L: Lanes>(
    law: Law,
    block: &Block,
    start: Option<&StepStart>,
    count: usize,
    x: &[[f64; 4]],
    to: &mut BlockTangent,
) {
    for first in (0..count).step_by(L::WIDTH) {
        let f = gradient::<L>(block, first, x);
        let lame = load_lame::<L>(block, first);
        let decomposed = svd(f);
        let principal = by_stretch(law, &decomposed.sigma, lame);
        let mut tangent = of_principal(&decomposed, &principal);
        if let Some(start) = start {
            let (stress, viscous) = viscosity(start, first, &squared_stretch(&f), lame);
            add_strain_law(&mut tangent, &f, &stress, viscous);
        }
        to.set(first, &tangent);
    }
}

/// The viscous S and the moduli of its derivative: β/h times Hooke's law for the change of the Green strain since the start of the step.
#[inline(always)]
fn viscosity<L: Lanes>(
    start: &StepStart,
    first: usize,
    c: &Symmetric<L>,
    lame: LaneLame<L>,
) -> (Symmetric<L>, LaneLame<L>) {
    let rate = load_double::<L>(&start.rate, first);
    let lame = LaneLame { mu: rate * lame.mu, lambda: rate * lame.lambda };
    let mut s = *c;
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
    (s, lame)
}

#[inline(always)]
fn load_double<L: Lanes>(from: &[f64; BLOCK], first: usize) -> L {
    let mut numbers = [0.0f32; BLOCK];
    for lane in 0..L::WIDTH {
        numbers[lane] = from[first + lane] as f32;
    }
    L::load(&numbers)
}
