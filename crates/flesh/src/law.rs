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

use principal::Principal;
use sinew_math::columns::{Columns, combine, cross, dot, product_transposed, scale};
use sinew_math::lanes::Real;
use sinew_math::svd::{LaneSvd, Svd, svd};
use sinew_math::{Mat3, Vec3};
use tangent::LanePrincipal;

/// How stress follows strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// St. Venant-Kirchhoff, continued linearly outside the stretch limits.
    StVenantKirchhoff(StretchLimits),
    /// Linear elasticity in the rotated frame of the element.
    Corotational,
    /// The neo-Hookean solid that stays defined through inversion.
    StableNeoHookean,
}

/// The principal stretches between which St. Venant-Kirchhoff holds unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StretchLimits {
    /// δL, above 1/√3: below that the law softens under pressure and would not recover.
    pub lower: f64,
    /// δU, above 1.
    pub upper: f64,
}

impl Default for StretchLimits {
    fn default() -> Self {
        StretchLimits { lower: 0.75, upper: 1.4 }
    }
}

/// The Lamé parameters of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// Shear modulus μ (Pa).
    pub mu: f64,
    /// First parameter λ (Pa).
    pub lambda: f64,
}

/// Registers the laws: evaluates an expression with the law of a [`Law`]. A new one is a file of this folder with a [`StretchLaw`], a variant of [`Law`], an arm here and a name in
/// [`Law::NAMED`]. Forces, energies and Hessians then decompose F for it; a law that can do without has arms of its own in the kernels besides, for speed.
macro_rules! with_law {
    ($law:expr, $own:ident => $value:expr) => {
        match $law {
            Law::StVenantKirchhoff(limits) => {
                let $own = st_venant_kirchhoff::StVenantKirchhoff(limits);
                $value
            }
            Law::Corotational => {
                let $own = corotational::Corotational;
                $value
            }
            Law::StableNeoHookean => {
                let $own = stable_neo_hookean::StableNeoHookean;
                $value
            }
        }
    };
}

/// An isotropic law: Ψ̂ over the principal stretches σ, with its gradient and its Hessian.
pub(crate) trait StretchLaw {
    /// Ψ̂ (J/m³), or of an element whose λ and μ carry its volume (J).
    fn energy(&self, lame: Lame, sigma: &Vec3) -> f64;

    /// P̂ = ∂Ψ̂/∂σ and Ĥ = ∂²Ψ̂/∂σ².
    fn principal(&self, lame: Lame, sigma: &Vec3) -> Principal;

    /// Ψ̂, P̂ and Ĥ in lanes.
    fn lanes<T: Real>(&self, sigma: &[T; 3], lame: LaneLame<T>) -> LanePrincipal<T>;

    /// See [`Law::stiffening`].
    fn stiffening(&self) -> f64 {
        2.0
    }
}

impl Law {
    /// All laws by name, as scene files have them.
    pub const NAMED: [(&'static str, Law); 3] = [
        ("stvk", Law::StVenantKirchhoff(StretchLimits { lower: 0.75, upper: 1.4 })),
        ("corotational", Law::Corotational),
        ("neo-hookean", Law::StableNeoHookean),
    ];

    /// The law of a name, with the usual limits.
    pub fn named(name: &str) -> Option<Law> {
        Law::NAMED.iter().find(|(known, _)| *known == name).map(|(_, law)| *law)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        let is_same = |known: &Law| core::mem::discriminant(known) == core::mem::discriminant(self);
        Law::NAMED.iter().find(|(_, known)| is_same(known)).map_or("", |(name, _)| name)
    }

    /// How many times its stiffness at rest it is taken to reach in explicit steps.
    ///
    /// What is allowed for, not a bound. St. Venant-Kirchhoff stretched along one axis to δU has the stiffness (λ/2 + μ)(3δU² − 1) and keeps it; at rest it
    /// is λ + 2μ. Stretched along all three it has up to 1.4 times that, the corotational law up to (2μ + 3λ)/(2μ + λ), and the neo-Hookean one
    /// stiffens with the square of an area's growth, as patches of elements do. Whole bodies in such states are rare: a step that meets one is taken again, smaller.
    pub fn stiffening(&self) -> f64 {
        with_law!(*self, own => own.stiffening())
    }
}

/// A law in the frames of the decomposition.
#[inline(always)]
pub(crate) fn by_stretch<T: Real>(law: Law, sigma: &[T; 3], lame: LaneLame<T>) -> LanePrincipal<T> {
    with_law!(law, own => own.lanes(sigma, lame))
}

/// Ψ̂ at σ.
pub(crate) fn energy(law: Law, lame: Lame, sigma: &Vec3) -> f64 {
    with_law!(law, own => own.energy(lame, sigma))
}

/// P̂ and Ĥ at σ.
pub(crate) fn principal(law: Law, lame: Lame, sigma: &Vec3) -> Principal {
    with_law!(law, own => own.principal(lame, sigma))
}

/// λ and μ of each lane. Both may carry a common factor, such as the volume of an element: stress is
/// linear in them.
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

/// First Piola-Kirchhoff stress at F.
pub(crate) fn stress(law: Law, f: &Columns<f64>, lame: LaneLame<f64>) -> Columns<f64> {
    match law {
        Law::StVenantKirchhoff(limits) => {
            let c = squared_stretch(f);
            if st_venant_kirchhoff::margin(&c, determinant(f), limits) > 0.0 {
                st_venant_kirchhoff::plain_stress(f, &c, lame)
            } else {
                stress_by_stretch(law, f, lame)
            }
        }
        Law::StableNeoHookean => stable_neo_hookean::stress(f, lame),
        _ => stress_by_stretch(law, f, lame),
    }
}

/// Energy of an element whose λ and μ include its volume (J).
pub(crate) fn energy_of(law: Law, lame: Lame, F: &Mat3) -> f64 {
    energy(law, lame, &Svd::of(F).sigma)
}

/// The stress of a law over principal stretches.
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
