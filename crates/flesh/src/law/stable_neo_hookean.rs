//! Stable neo-Hookean material: defined for every F, with restoring forces through inversion.
//!
//! ```text
//! Ψ = μ̃/2 (I − 3) + λ̃/2 (J − α)² − μ̃/2 ln(I + 1),   I = ‖F‖²,  J = det F       [Smith2018, eq. 14]
//! α = 1 + 3μ̃ / (4λ̃),   μ̃ = 4/3 μ,   λ̃ = λ + 5/6 μ
//! ```
//!
//! The last two make the law agree with Hooke's law for λ and μ at small strains. At F = 0 all forces vanish: a body collapsed to
//! a point is an unstable equilibrium of this law.

use super::LaneLame;
use super::principal::Principal;
use crate::material::Lame;
use sinew_math::columns::{Columns, cross, dot, scale};
use sinew_math::lanes::Real;
use sinew_math::logarithm::ln;
use sinew_math::{Mat3, Vec3, real};

/// P = μ̃ (1 − 1/(I + 1)) F + λ̃ (J − α) ∂J/∂F = μ̃ I/(I + 1) F + (λ̃ (J − 1) − 3/4 μ̃) ∂J/∂F
///
/// The columns of ∂J/∂F are f₁×f₂, f₂×f₀ and f₀×f₁.
#[inline(always)]
pub(crate) fn stress<T: Real>(f: &Columns<T>, lame: LaneLame<T>) -> Columns<T> {
    let mu = T::splat(4.0 / 3.0) * lame.mu;
    let lambda = lame.lambda + T::splat(5.0 / 6.0) * lame.mu;
    let one = T::splat(1.0);
    let size = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let cofactor = [cross(f[1], f[2]), cross(f[2], f[0]), cross(f[0], f[1])];
    let volume = dot(f[0], cofactor[0]);
    let shear = mu * (size / (size + one));
    let pressure = lambda * (volume - one) - T::splat(0.75) * mu;
    let mut p = [scale(f[0], shear), scale(f[1], shear), scale(f[2], shear)];
    for j in 0..3 {
        for i in 0..3 {
            p[j][i] = p[j][i] + pressure * cofactor[j][i];
        }
    }
    p
}

/// Ψ as above, relative to its value at rest.
#[inline(always)]
pub(crate) fn lane_energy<T: Real>(f: &Columns<T>, lame: LaneLame<T>) -> T {
    let mu = T::splat(4.0 / 3.0) * lame.mu;
    let lambda = lame.lambda + T::splat(5.0 / 6.0) * lame.mu;
    let (one, half) = (T::splat(1.0), T::splat(0.5));
    let size = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let change = dot(f[0], cross(f[1], f[2])) - one;
    // λ̃/2 ((J − α)² − (1 − α)²) = λ̃/2 (J − 1)² − 3/4 μ̃ (J − 1)
    let volumetric = change * (half * lambda * change - T::splat(0.75) * mu);
    let logarithm = ln((size + one) * T::splat(0.25));
    half * mu * (size - T::splat(3.0) - logarithm) + volumetric
}

/// The coefficients of ∂P/∂F = μ̃ I/(I+1) 1 + 2μ̃/(I+1)² F⊗F + λ̃ C⊗C + p ∂C/∂F,   C = ∂J/∂F:   μ̃ I/(I+1), 2μ̃/(I+1)², λ̃ and p = λ̃ (J − 1) − 3/4 μ̃.
#[inline(always)]
pub(crate) fn stiffness<T: Real>(f: &Columns<T>, lame: LaneLame<T>) -> [T; 4] {
    let mu = T::splat(4.0 / 3.0) * lame.mu;
    let lambda = lame.lambda + T::splat(5.0 / 6.0) * lame.mu;
    let one = T::splat(1.0);
    let size = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let pressure = lambda * (dot(f[0], cross(f[1], f[2])) - one) - T::splat(0.75) * mu;
    let inverse = one / (size + one);
    [mu * size * inverse, T::splat(2.0) * mu * inverse * inverse, lambda, pressure]
}

/// (∂P/∂F) dF = μ̃ I/(I+1) dF + 2μ̃/(I+1)² (F·dF) F + λ̃ (C·dF) C + p dC,   dC = (df₁×f₂ + f₁×df₂, …)
///
/// Needs F and four coefficients instead of the 45 entries of a full tangent: fewer loads, about as many operations.
#[inline(always)]
pub(crate) fn product<T: Real>(f: &Columns<T>, stiffness: [T; 4], df: &Columns<T>) -> Columns<T> {
    let [shear, along, lambda, pressure] = stiffness;
    let cofactor = [cross(f[1], f[2]), cross(f[2], f[0]), cross(f[0], f[1])];
    let own = along * (dot(f[0], df[0]) + dot(f[1], df[1]) + dot(f[2], df[2]));
    let volume = lambda * (dot(cofactor[0], df[0]) + dot(cofactor[1], df[1]) + dot(cofactor[2], df[2]));
    let mut dp = *df;
    for (j, k, l) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let (left, right) = (cross(df[k], f[l]), cross(f[k], df[l]));
        for i in 0..3 {
            dp[j][i] =
                shear * df[j][i] + own * f[j][i] + volume * cofactor[j][i] + pressure * (left[i] + right[i]);
        }
    }
    dp
}

/// μ̃ and λ̃
fn adjusted(lame: Lame) -> Lame {
    Lame { mu: 4.0 / 3.0 * lame.mu, lambda: lame.lambda + 5.0 / 6.0 * lame.mu }
}

/// Ψ̂ relative to its value at rest.
pub(super) fn energy(lame: Lame, sigma: &Vec3) -> f64 {
    let Lame { mu, lambda } = adjusted(lame);
    let shift = 0.75 * mu / lambda;
    let size = sigma.norm_squared();
    let volume = sigma.product() - 1.0 - shift;
    0.5 * mu * (size - 3.0) + 0.5 * lambda * (volume * volume - shift * shift)
        - 0.5 * mu * real::ln((size + 1.0) / 4.0)
}

/// P̂ᵢ = μ̃ I/(I+1) σᵢ + p Jᵢ,   Jᵢ = ∂J/∂σᵢ,   p = λ̃ (J − 1) − 3/4 μ̃
///
/// Ĥᵢⱼ = λ̃ Jᵢ Jⱼ + 2μ̃ σᵢ σⱼ/(I+1)² + δᵢⱼ μ̃ I/(I+1) + (1 − δᵢⱼ) p σₖ
pub(super) fn principal(lame: Lame, sigma: &Vec3) -> Principal {
    let Lame { mu, lambda } = adjusted(lame);
    let size = sigma.norm_squared();
    let pressure = lambda * (sigma.product() - 1.0) - 0.75 * mu;
    let derivative = Vec3::new(sigma.y * sigma.z, sigma.z * sigma.x, sigma.x * sigma.y);
    let shear = mu * size / (size + 1.0);
    let mut hessian = lambda * derivative * derivative.transpose()
        + 2.0 * mu / ((size + 1.0) * (size + 1.0)) * sigma * sigma.transpose()
        + Mat3::from_diagonal_element(shear);
    for (i, j, k) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)] {
        hessian[(i, j)] += pressure * sigma[k];
        hessian[(j, i)] += pressure * sigma[k];
    }
    Principal { stress: shear * sigma + pressure * derivative, hessian }
}
