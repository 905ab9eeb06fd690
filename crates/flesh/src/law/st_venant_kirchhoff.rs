//! St. Venant-Kirchhoff material, extrapolated beyond the stretch limits [δL, δU].
//!
//! Inside the limits, with the Green strain Eᵢ = (σᵢ² − 1)/2 along each principal axis:
//!
//! ```text
//! Ψ̂ = λ/2 (Σ Eᵢ)² + μ Σ Eᵢ²                                [KimPollard2011, eq. 1-2]
//! ```
//!
//! Outside, each strain is extrapolated linearly in its stretch from the limit σ̄ᵢ = clamp(σᵢ, δL, δU), dᵢ = σᵢ − σ̄ᵢ, and a term
//! in dᵢ² matches the stiffness along the axis:
//!
//! ```text
//! Eᵢ = (σ̄ᵢ² − 1)/2 + σ̄ᵢ dᵢ,     Ψ̂ = λ/2 (Σ Eᵢ)² + μ Σ Eᵢ² + Σ cᵢ dᵢ²/2
//! cᵢ = max((λ/2 + μ)(σ̄ᵢ² − 1), −μ σ̄ᵢ²)
//! ```
//!
//! (λ/2 + μ)(σ̄² − 1) is the excess of the law's stiffness (λ/2 + μ)(3σ̄² − 1) over the stiffness (λ + 2μ) σ̄² of the extrapolated
//! strain. At δU it is positive and the stiffness is matched exactly [KimPollard2011, fig. 5]. At δL it is negative: without the bound
//! a nearly incompressible solid (ν from 0.45 on for δL = 0.75) has less energy in a swollen, inverted state than at rest.
//! With the bound −μ σ̄² the rest shape is the only equilibrium: P̂ᵢ = 0 below δL requires Σ E > 0, P̂ⱼ = 0 elsewhere then requires
//! Eⱼ < 0, so Σ E < 0, a contradiction.

use super::principal::Principal;
use super::tangent::LanePrincipal;
use super::{LaneLame, Symmetric, squared_stretch_rate, times_symmetric};
use crate::material::{Lame, StretchLimits};
use sinew_math::columns::Columns;
use sinew_math::lanes::Real;
use sinew_math::{Mat3, Vec3};

/// Positive where all principal stretches lie within the limits and the element is not inverted.
///
/// The squared stretches are the roots of f(λ) = det(λI − FᵀF) = λ³ − I₁ λ² + I₂ λ − I₃        [KimPollard2011, eq. 6]
///
/// All roots are real, so they lie between L = δL² and U = δU² if and only if
///
/// ```text
/// f(L) < 0 < f(U),   f′(L) > 0,   f′(U) > 0,   L < I₁/3 < U,     [KimPollard2011, eq. 7]
/// ```
///
/// where the conditions on f′ and its axis I₁/3 state that both roots of f′ are within. The result is the minimum of the
/// seven quantities that must be positive, det F among them.
#[inline(always)]
pub(crate) fn margin<T: Real>(c: &Symmetric<T>, det_f: T, limits: StretchLimits) -> T {
    let (lower, upper) = (limits.lower * limits.lower, limits.upper * limits.upper);
    let [c00, c11, c22, c01, c02, c12] = *c;
    let i1 = c00 + c11 + c22;
    let i2 = c00 * c11 + c11 * c22 + c22 * c00 - c01 * c01 - c02 * c02 - c12 * c12;
    let i3 = det_f * det_f;

    let roots_within = (-cubic(lower, i1, i2, i3)).min(cubic(upper, i1, i2, i3));
    let slopes_within = cubic_derivative(lower, i1, i2).min(cubic_derivative(upper, i1, i2));
    let axis_within = (i1 - T::splat(3.0 * lower)).min(T::splat(3.0 * upper) - i1);
    det_f.min(roots_within).min(slopes_within.min(axis_within))
}

/// f(x) = x³ − I₁ x² + I₂ x − I₃
#[inline(always)]
fn cubic<T: Real>(x: f64, i1: T, i2: T, i3: T) -> T {
    T::splat(x * x * x) - T::splat(x * x) * i1 + T::splat(x) * i2 - i3
}

/// f′(x) = 3x² − 2 I₁ x + I₂
#[inline(always)]
fn cubic_derivative<T: Real>(x: f64, i1: T, i2: T) -> T {
    T::splat(3.0 * x * x) - T::splat(2.0 * x) * i1 + i2
}

/// P = F S                                                       [KimPollard2011, eq. 1-3]
///
/// `c` is FᵀF, or for a viscous solid C + β Ċ, to first order C at a time β later.
#[inline(always)]
pub(crate) fn plain_stress<T: Real>(f: &Columns<T>, c: &Symmetric<T>, lame: LaneLame<T>) -> Columns<T> {
    times_symmetric(f, &second_stress(c, lame))
}

/// S = λ tr(E) I + 2μ E,   2E = C − I
#[inline(always)]
pub(crate) fn second_stress<T: Real>(c: &Symmetric<T>, lame: LaneLame<T>) -> Symmetric<T> {
    let LaneLame { mu, lambda } = lame;
    let one = T::splat(1.0);
    let pressure = T::splat(0.5) * lambda * (c[0] + c[1] + c[2] - T::splat(3.0));
    [
        pressure + mu * (c[0] - one),
        pressure + mu * (c[1] - one),
        pressure + mu * (c[2] - one),
        mu * c[3],
        mu * c[4],
        mu * c[5],
    ]
}

/// (∂P/∂F) dF of P = F S with S linear in the Green strain, dS = λ tr(dE) I + 2μ dE:
///
/// ```text
/// dP = dF S + F (λ tr(dE) I + 2μ dE),     2 dE = Fᵀ dF + dFᵀ F
/// ```
#[inline(always)]
pub(crate) fn product<T: Real>(
    f: &Columns<T>,
    s: &Symmetric<T>,
    lame: LaneLame<T>,
    df: &Columns<T>,
) -> Columns<T> {
    let mut ds = squared_stretch_rate(f, df);
    let pressure = T::splat(0.5) * lame.lambda * (ds[0] + ds[1] + ds[2]);
    for k in 0..6 {
        ds[k] = lame.mu * ds[k];
    }
    for k in 0..3 {
        ds[k] = ds[k] + pressure;
    }
    let (mut dp, more) = (times_symmetric(df, s), times_symmetric(f, &ds));
    for j in 0..3 {
        for i in 0..3 {
            dp[j][i] = dp[j][i] + more[j][i];
        }
    }
    dp
}

/// Ψ = λ/2 tr²E + μ E:E for 2E = C − I
#[inline(always)]
pub(crate) fn plain_energy<T: Real>(c: &Symmetric<T>, lame: LaneLame<T>) -> T {
    let (one, half) = (T::splat(1.0), T::splat(0.5));
    let e = [half * (c[0] - one), half * (c[1] - one), half * (c[2] - one)];
    let trace = e[0] + e[1] + e[2];
    let shear = half * (c[3] * c[3] + c[4] * c[4] + c[5] * c[5]);
    half * lame.lambda * trace * trace + lame.mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + shear)
}

/// The extrapolated law in principal axes: Ψ̂, P̂ᵢ = σ̄ᵢ (λ Σ E + 2μ Eᵢ) + cᵢ dᵢ and Ĥ.
#[inline(always)]
pub(crate) fn extended<T: Real>(
    sigma: &[T; 3],
    lame: LaneLame<T>,
    limits: StretchLimits,
) -> LanePrincipal<T> {
    let LaneLame { mu, lambda } = lame;
    let (half, one, two) = (T::splat(0.5), T::splat(1.0), T::splat(2.0));

    // σ̄, d, E and c of each axis
    let (mut clamped, mut beyond, mut strain, mut matching) = (*sigma, *sigma, *sigma, *sigma);
    for i in 0..3 {
        clamped[i] = sigma[i].max(T::splat(limits.lower)).min(T::splat(limits.upper));
        beyond[i] = sigma[i] - clamped[i];
        let square = clamped[i] * clamped[i];
        strain[i] = half * (square - one) + clamped[i] * beyond[i];
        matching[i] = ((half * lambda + mu) * (square - one)).max(-(mu * square));
    }

    // Ψ̂, P̂ and the diagonal of Ĥ
    let trace = strain[0] + strain[1] + strain[2];
    let mut energy = half * lambda * trace * trace;
    let (mut stress, mut diagonal) = (strain, strain);
    for i in 0..3 {
        energy = energy + mu * strain[i] * strain[i] + half * matching[i] * beyond[i] * beyond[i];
        let along = lambda * trace + two * mu * strain[i];
        stress[i] = clamped[i] * along + matching[i] * beyond[i];
        // the strain has a second derivative inside the limits only
        let is_inside = beyond[i].abs().less(T::splat(T::TINY));
        let more = T::select(is_inside, along, matching[i]);
        diagonal[i] = (lambda + two * mu) * clamped[i] * clamped[i] + more;
    }
    let beside = [
        lambda * clamped[0] * clamped[1],
        lambda * clamped[0] * clamped[2],
        lambda * clamped[1] * clamped[2],
    ];
    LanePrincipal { energy, stress, diagonal, beside }
}

/// One principal axis: the clamped stretch σ̄, the excess d, the strain E, and c.
struct Axis {
    clamped: f64,
    beyond: f64,
    strain: f64,
    matching: f64,
}

fn axis(lame: Lame, limits: StretchLimits, sigma: f64) -> Axis {
    let clamped = sigma.clamp(limits.lower, limits.upper);
    let beyond = sigma - clamped;
    let square = clamped * clamped;
    Axis {
        clamped,
        beyond,
        strain: 0.5 * (square - 1.0) + clamped * beyond,
        matching: ((0.5 * lame.lambda + lame.mu) * (square - 1.0)).max(-lame.mu * square),
    }
}

pub(super) fn energy(lame: Lame, limits: StretchLimits, sigma: &Vec3) -> f64 {
    let axes = [sigma.x, sigma.y, sigma.z].map(|s| axis(lame, limits, s));
    let trace: f64 = axes.iter().map(|a| a.strain).sum();
    let along_axes: f64 =
        axes.iter().map(|a| lame.mu * a.strain * a.strain + 0.5 * a.matching * a.beyond * a.beyond).sum();
    0.5 * lame.lambda * trace * trace + along_axes
}

/// P̂ᵢ = σ̄ᵢ (λ Σ E + 2μ Eᵢ) + cᵢ dᵢ,   Ĥᵢⱼ = λ σ̄ᵢ σ̄ⱼ + δᵢⱼ (2μ σ̄ᵢ² + …)
///
/// where … is λ Σ E + 2μ Eᵢ inside the limits, from the second derivative of the strain, and cᵢ outside.
pub(super) fn principal(lame: Lame, limits: StretchLimits, sigma: &Vec3) -> Principal {
    let axes = [sigma.x, sigma.y, sigma.z].map(|s| axis(lame, limits, s));
    let pressure = lame.lambda * axes.iter().map(|a| a.strain).sum::<f64>();
    let clamped = Vec3::from(axes.each_ref().map(|a| a.clamped));
    let mut stress = Vec3::zeros();
    let mut hessian = lame.lambda * clamped * clamped.transpose();
    for (i, a) in axes.iter().enumerate() {
        let along = pressure + 2.0 * lame.mu * a.strain;
        stress[i] = a.clamped * along + a.matching * a.beyond;
        hessian[(i, i)] += 2.0 * lame.mu * a.clamped * a.clamped;
        hessian[(i, i)] += if a.beyond == 0.0 { along } else { a.matching };
    }
    Principal { stress, hessian: Mat3::from(hessian) }
}
