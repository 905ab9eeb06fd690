//! Isotropic hyperelastic laws: energy density, first Piola-Kirchhoff stress and its derivative.
//!
//! Every law is a function Ψ̂ of the three principal stretches, and its file holds Ψ̂ with its gradient and Hessian. The stress
//! is generic over [`Real`]: the derivative tests check in `f64` the same source that the elements run in SIMD lanes.

#![expect(non_snake_case, reason = "F and P as in docs/NOTATION.md")]

pub(crate) mod corotational;
mod principal;
pub(crate) mod st_venant_kirchhoff;
pub(crate) mod stable_neo_hookean;
pub(crate) mod tangent;

use crate::material::{Lame, Law, Material};
use sinew_math::columns::{Columns, combine, cross, dot, product_transposed, scale};
use sinew_math::lanes::Real;
use sinew_math::svd::{LaneSvd, Svd, svd};
use sinew_math::{Mat3, Mat9, nalgebra};
use tangent::LanePrincipal;

/// λ and μ of each lane. Both may include a common factor, such as the volume of an element, since stress is linear in them.
#[derive(Clone, Copy)]
pub(crate) struct LaneLame<T> {
    pub(crate) mu: T,
    pub(crate) lambda: T,
}

/// A symmetric matrix, as (S₀₀, S₁₁, S₂₂, S₀₁, S₀₂, S₁₂).
pub(crate) type Symmetric<T> = [T; 6];

/// C = FᵀF
#[inline(always)]
pub(crate) fn squared_stretch<T: Real>(f: &Columns<T>) -> Symmetric<T> {
    [dot(f[0], f[0]), dot(f[1], f[1]), dot(f[2], f[2]), dot(f[0], f[1]), dot(f[0], f[2]), dot(f[1], f[2])]
}

/// Ċ = FᵀḞ + ḞᵀF
#[inline(always)]
pub(crate) fn squared_stretch_rate<T: Real>(f: &Columns<T>, rate: &Columns<T>) -> Symmetric<T> {
    let two = T::splat(2.0);
    [
        two * dot(f[0], rate[0]),
        two * dot(f[1], rate[1]),
        two * dot(f[2], rate[2]),
        dot(f[0], rate[1]) + dot(rate[0], f[1]),
        dot(f[0], rate[2]) + dot(rate[0], f[2]),
        dot(f[1], rate[2]) + dot(rate[1], f[2]),
    ]
}

/// F S
#[inline(always)]
pub(crate) fn times_symmetric<T: Real>(f: &Columns<T>, s: &Symmetric<T>) -> Columns<T> {
    [combine(f, s[0], s[3], s[4]), combine(f, s[3], s[1], s[5]), combine(f, s[4], s[5], s[2])]
}

/// det F
#[inline(always)]
pub(crate) fn determinant<T: Real>(f: &Columns<T>) -> T {
    dot(f[0], cross(f[1], f[2]))
}

/// The viscous stress of a Kelvin-Voigt solid with viscosity β (s): Hooke's law for β times the rate of the Green strain, Ė = Ċ/2.
///
/// ```text
/// P = F S,   S = β (λ tr(Ė) I + 2μ Ė)
/// ```
///
/// S is symmetric, so angular momentum is conserved; Ė vanishes for rigid motion, so rigid motion is not damped. Ė grows with the
/// existing stretch; β is scaled by min(1, 3 / tr C), so that a strongly stretched element is not too stiff for the explicit step.
#[inline(always)]
pub(crate) fn viscous_stress<T: Real>(
    f: &Columns<T>,
    rate: &Columns<T>,
    lame: LaneLame<T>,
    viscosity: T,
) -> Columns<T> {
    let size = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let three = T::splat(3.0);
    let viscosity = viscosity * (three / size.max(three));
    let mut s = squared_stretch_rate(f, rate);
    let pressure = T::splat(0.5) * lame.lambda * viscosity * (s[0] + s[1] + s[2]);
    let shear = lame.mu * viscosity;
    for i in 0..6 {
        s[i] = shear * s[i];
    }
    for i in 0..3 {
        s[i] = s[i] + pressure;
    }
    times_symmetric(f, &s)
}

impl Material {
    /// Energy per rest volume Ψ(F) (J/m³).
    pub fn energy_density(&self, F: &Mat3) -> f64 {
        principal::energy(self.law, self.lame(), &Svd::of(F).sigma)
    }

    /// First Piola-Kirchhoff stress P = ∂Ψ/∂F (Pa).
    pub fn stress(&self, F: &Mat3) -> Mat3 {
        let Lame { mu, lambda } = self.lame();
        let lame = LaneLame { mu, lambda };
        let P = match self.law {
            Law::StVenantKirchhoff(limits) => {
                let C = squared_stretch::<f64>(&F.data.0);
                if st_venant_kirchhoff::margin(&C, determinant(&F.data.0), limits) > 0.0 {
                    st_venant_kirchhoff::plain_stress(&F.data.0, &C, lame)
                } else {
                    stress_by_stretch(self.law, &F.data.0, lame)
                }
            }
            Law::Corotational => stress_by_stretch(self.law, &F.data.0, lame),
            Law::StableNeoHookean => stable_neo_hookean::stress(&F.data.0, lame),
        };
        Mat3::from_array_storage(nalgebra::ArrayStorage(P))
    }

    /// ∂P/∂F (Pa), both matrices stacked column by column.
    pub fn stress_derivative(&self, F: &Mat3) -> Mat9 {
        let svd = Svd::of(F);
        principal::principal(self.law, self.lame(), &svd.sigma).stress_derivative(&svd)
    }
}

/// Energy of an element whose λ and μ include its volume (J).
pub(crate) fn energy_of(law: Law, lame: Lame, F: &Mat3) -> f64 {
    principal::energy(law, lame, &Svd::of(F).sigma)
}

/// A law in the frames of the decomposition, where it is one over principal stretches.
#[inline(always)]
pub(crate) fn by_stretch<T: Real>(law: Law, sigma: &[T; 3], lame: LaneLame<T>) -> LanePrincipal<T> {
    match law {
        Law::StVenantKirchhoff(limits) => st_venant_kirchhoff::extended(sigma, lame, limits),
        _ => corotational::lane_principal(sigma, lame),
    }
}

/// The stress of such a law.
#[inline(always)]
pub(crate) fn stress_by_stretch<T: Real>(law: Law, f: &Columns<T>, lame: LaneLame<T>) -> Columns<T> {
    let decomposed = svd(*f);
    from_principal_stress(&decomposed, by_stretch(law, &decomposed.sigma, lame).stress)
}

/// P = U diag(P̂) Vᵀ                                             [KimPollard2011, eq. 5]
#[inline(always)]
pub(crate) fn from_principal_stress<T: Real>(svd: &LaneSvd<T>, stress: [T; 3]) -> Columns<T> {
    let scaled = [scale(svd.u[0], stress[0]), scale(svd.u[1], stress[1]), scale(svd.u[2], stress[2])];
    product_transposed(&scaled, &svd.v)
}

#[cfg(test)]
mod tests;
