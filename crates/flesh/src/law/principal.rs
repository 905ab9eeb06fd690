//! Stress derivative of an isotropic law from its derivatives in the principal stretches.
//!
//! For Ψ(F) = Ψ̂(σ), a change dF in the frames of the singular value decomposition, dF̂ = Uᵀ dF V, gives
//!
//! ```text
//! dP̂ᵢᵢ = Σⱼ Ĥᵢⱼ dF̂ⱼⱼ
//! ⎡dP̂ᵢⱼ⎤       ⎡a + b   a − b⎤ ⎡dF̂ᵢⱼ⎤       a = (P̂ᵢ − P̂ⱼ) / (σᵢ − σⱼ)     [Stomakhin2012, §3]
//! ⎣dP̂ⱼᵢ⎦ = 1/2 ⎣a − b   a + b⎦ ⎣dF̂ⱼᵢ⎦       b = (P̂ᵢ + P̂ⱼ) / (σᵢ + σⱼ)
//! ```
//!
//! a is the stiffness against shear between the axes i and j, b the stiffness against relative rotation of the two frames.

use crate::law::{corotational, st_venant_kirchhoff, stable_neo_hookean};
use crate::material::{Lame, Law};
use sinew_math::svd::Svd;
use sinew_math::{Mat3, Mat9, Vec3};

/// Gradient and Hessian of Ψ̂ at one σ.
pub(super) struct Principal {
    /// P̂ᵢ = ∂Ψ̂/∂σᵢ (Pa)
    pub(super) stress: Vec3,
    /// Ĥᵢⱼ = ∂²Ψ̂/∂σᵢ∂σⱼ (Pa)
    pub(super) hessian: Mat3,
}

pub(super) fn energy(law: Law, lame: Lame, sigma: &Vec3) -> f64 {
    match law {
        Law::StVenantKirchhoff(limits) => st_venant_kirchhoff::energy(lame, limits, sigma),
        Law::Corotational => corotational::energy(lame, sigma),
        Law::StableNeoHookean => stable_neo_hookean::energy(lame, sigma),
    }
}

pub(super) fn principal(law: Law, lame: Lame, sigma: &Vec3) -> Principal {
    match law {
        Law::StVenantKirchhoff(limits) => st_venant_kirchhoff::principal(lame, limits, sigma),
        Law::Corotational => corotational::principal(lame, sigma),
        Law::StableNeoHookean => stable_neo_hookean::principal(lame, sigma),
    }
}

impl Principal {
    /// ∂P/∂F, both stacked column by column, in the basis of the directions U eᵢ eⱼᵀ Vᵀ.
    pub(super) fn stress_derivative(&self, svd: &Svd) -> Mat9 {
        // direction[3 j + i] is U eᵢ eⱼᵀ Vᵀ as a column
        let mut directions = Mat9::zeros();
        for j in 0..3 {
            for i in 0..3 {
                let direction = svd.u.column(i) * svd.v.column(j).transpose();
                directions.set_column(3 * j + i, &sinew_math::stacked(&direction));
            }
        }
        directions * self.diagonal_frame_derivative(&svd.sigma) * directions.transpose()
    }

    fn diagonal_frame_derivative(&self, sigma: &Vec3) -> Mat9 {
        let mut d = Mat9::zeros();
        for i in 0..3 {
            for j in 0..3 {
                d[(4 * i, 4 * j)] = self.hessian[(i, j)];
            }
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let (ij, ji) = (3 * j + i, 3 * i + j);
            let (a, b) = (self.turning(sigma, i, j), self.spinning(sigma, i, j));
            d[(ij, ij)] = 0.5 * (a + b);
            d[(ji, ji)] = 0.5 * (a + b);
            d[(ij, ji)] = 0.5 * (a - b);
            d[(ji, ij)] = 0.5 * (a - b);
        }
        d
    }

    /// a = (P̂ᵢ − P̂ⱼ) / (σᵢ − σⱼ), with the limit Ĥᵢᵢ − Ĥᵢⱼ for equal stretches.
    fn turning(&self, sigma: &Vec3, i: usize, j: usize) -> f64 {
        let difference = sigma[i] - sigma[j];
        if difference.abs() > 1e-6 * sigma.amax() {
            (self.stress[i] - self.stress[j]) / difference
        } else {
            0.5 * (self.hessian[(i, i)] + self.hessian[(j, j)]) - self.hessian[(i, j)]
        }
    }

    /// b = (P̂ᵢ + P̂ⱼ) / (σᵢ + σⱼ). It has no limit where σᵢ + σⱼ vanishes: there the nearest rotation
    /// jumps, and the denominator is bounded away from 0.
    fn spinning(&self, sigma: &Vec3, i: usize, j: usize) -> f64 {
        let sum = sigma[i] + sigma[j];
        let smallest = f64::EPSILON.sqrt() * sigma.amax().max(f64::EPSILON);
        (self.stress[i] + self.stress[j]) / if sum.abs() < smallest { smallest } else { sum }
    }
}
