//! The elastic laws: energy density, stress and stress derivative of each.
//!
//! Every law is isotropic, so it is a function Ψ̂ of the three principal stretches, and its file holds Ψ̂ with its
//! gradient and Hessian. Stress is written once over [`Real`]: the `f64` that the derivative
//! tests check is the same source as the lanes that the elements run.

#![expect(non_snake_case, reason = "F and P as in docs/NOTATION.md")]

pub(crate) mod corotational;
mod principal;
pub(crate) mod st_venant_kirchhoff;
pub(crate) mod stable_neo_hookean;

use crate::material::{Lame, Law, Material};
use sinew_math::columns::{Columns, product_transposed, scale};
use sinew_math::lanes::Real;
use sinew_math::svd::{LaneSvd, Svd};
use sinew_math::{Mat3, Mat9, nalgebra};

/// λ and μ of each lane. Both may carry a common factor, such as the volume of an element: stress is
/// linear in them.
#[derive(Clone, Copy)]
pub(crate) struct LaneLame<T> {
    pub(crate) mu: T,
    pub(crate) lambda: T,
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
                if st_venant_kirchhoff::margin::<f64>(&F.data.0, limits) > 0.0 {
                    st_venant_kirchhoff::plain_stress(&F.data.0, lame)
                } else {
                    st_venant_kirchhoff::extended_stress(&F.data.0, lame, limits)
                }
            }
            Law::Corotational => corotational::stress(&F.data.0, lame),
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

/// Energy of an element whose λ and μ carry its volume (J).
pub(crate) fn energy_of(law: Law, lame: Lame, F: &Mat3) -> f64 {
    principal::energy(law, lame, &Svd::of(F).sigma)
}

/// P = U diag(P̂) Vᵀ                                             [KimPollard2011, eq. 5]
#[inline(always)]
pub(crate) fn from_principal_stress<T: Real>(svd: &LaneSvd<T>, stress: [T; 3]) -> Columns<T> {
    let scaled = [scale(svd.u[0], stress[0]), scale(svd.u[1], stress[1]), scale(svd.u[2], stress[2])];
    product_transposed(&scaled, &svd.v)
}

#[cfg(test)]
mod tests;
