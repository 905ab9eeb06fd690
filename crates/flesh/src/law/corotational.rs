//! Corotational linear elasticity.
//!
//! ```text
//! Ψ = μ ‖F − R‖² + λ/2 tr²(RᵀF − I)        with R the rotation nearest to F    [MullerGross2004]
//! Ψ̂ = μ Σ (σᵢ − 1)² + λ/2 (Σ σᵢ − 3)²
//! ```
//!
//! R is proper even for inverted elements, so Ψ grows monotonically through inversion and the element recovers.

use super::LaneLame;
use super::principal::Principal;
use super::tangent::LanePrincipal;
use crate::material::Lame;
use sinew_math::lanes::Real;
use sinew_math::{Mat3, Vec3};

/// Ψ̂, P̂ and Ĥ, of which P = 2μ (F − R) + λ tr(RᵀF − I) R = U diag(2μ (σᵢ − 1) + λ (Σσ − 3)) Vᵀ.
#[inline(always)]
pub(crate) fn lane_principal<T: Real>(sigma: &[T; 3], lame: LaneLame<T>) -> LanePrincipal<T> {
    let LaneLame { mu, lambda } = lame;
    let (one, half, two) = (T::splat(1.0), T::splat(0.5), T::splat(2.0));
    let trace = sigma[0] + sigma[1] + sigma[2] - T::splat(3.0);
    let off = [sigma[0] - one, sigma[1] - one, sigma[2] - one];
    let square = off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
    let (pressure, twice) = (lambda * trace, two * mu);
    LanePrincipal {
        energy: mu * square + half * lambda * trace * trace,
        stress: [pressure + twice * off[0], pressure + twice * off[1], pressure + twice * off[2]],
        diagonal: [two * mu + lambda; 3],
        beside: [lambda; 3],
    }
}

pub(super) fn energy(lame: Lame, sigma: &Vec3) -> f64 {
    let trace = sigma.sum() - 3.0;
    lame.mu * sigma.add_scalar(-1.0).norm_squared() + 0.5 * lame.lambda * trace * trace
}

/// P̂ᵢ = 2μ (σᵢ − 1) + λ (Σσ − 3),   Ĥ = 2μ I + λ 1 1ᵀ
pub(super) fn principal(lame: Lame, sigma: &Vec3) -> Principal {
    let pressure = lame.lambda * (sigma.sum() - 3.0);
    Principal {
        stress: sigma.map(|s| pressure + 2.0 * lame.mu * (s - 1.0)),
        hessian: Mat3::from_diagonal_element(2.0 * lame.mu).add_scalar(lame.lambda),
    }
}
