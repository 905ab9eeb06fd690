//! Material tangent ∂P/∂F in SIMD lanes: the 45 entries of the lower triangle of a symmetric 9×9 matrix over F stacked column by column.
//!
//! Laws assemble it from a few terms; products with it then need no law.

use super::{LaneLame, Symmetric};
use sinew_math::columns::{Columns, dot, scale};
use sinew_math::lanes::Real;
use sinew_math::svd::LaneSvd;

/// The lower triangle, row by row: entry (r, c) with c ≤ r is at index r (r + 1)/2 + c.
pub(crate) type Tangent<T> = [T; TANGENT];

/// Number of entries of a tangent.
pub(crate) const TANGENT: usize = 45;

/// A law in principal axes: Ψ̂, P̂, and the diagonal and off-diagonal (01, 02, 12) entries of Ĥ.
pub(crate) struct LanePrincipal<T> {
    pub(crate) energy: T,
    pub(crate) stress: [T; 3],
    pub(crate) diagonal: [T; 3],
    pub(crate) beside: [T; 3],
}

/// No stiffness.
#[inline(always)]
fn zero<T: Real>() -> Tangent<T> {
    [T::splat(0.0); TANGENT]
}

/// Unrolls a loop over the nine rows with the row as a constant, so that the compiler knows every index into a tangent; it does not unroll the
/// loop itself and would compute the indices at run time.
macro_rules! for_each_row {
    ($function:ident::<$T:ident>($($argument:expr),*)) => {
        $function::<$T, 0>($($argument),*);
        $function::<$T, 1>($($argument),*);
        $function::<$T, 2>($($argument),*);
        $function::<$T, 3>($($argument),*);
        $function::<$T, 4>($($argument),*);
        $function::<$T, 5>($($argument),*);
        $function::<$T, 6>($($argument),*);
        $function::<$T, 7>($($argument),*);
        $function::<$T, 8>($($argument),*);
    };
}

/// Adds s A⊗A.
#[inline(always)]
fn add_square<T: Real>(tangent: &mut Tangent<T>, a: &Columns<T>, s: T) {
    for_each_row!(add_square_row::<T>(tangent, a, s));
}

#[inline(always)]
fn add_square_row<T: Real, const R: usize>(tangent: &mut Tangent<T>, a: &Columns<T>, s: T) {
    let scaled = s * a[R / 3][R % 3];
    for c in 0..=R {
        let place = R * (R + 1) / 2 + c;
        tangent[place] = tangent[place] + scaled * a[c / 3][c % 3];
    }
}

/// Adds (A⊗B + B⊗A)/2.
#[inline(always)]
fn add_product<T: Real>(tangent: &mut Tangent<T>, a: &Columns<T>, b: &Columns<T>) {
    let half = T::splat(0.5);
    for r in 0..9 {
        let (own_a, own_b) = (half * a[r / 3][r % 3], half * b[r / 3][r % 3]);
        for c in 0..=r {
            let place = r * (r + 1) / 2 + c;
            tangent[place] = tangent[place] + own_a * b[c / 3][c % 3] + own_b * a[c / 3][c % 3];
        }
    }
}

/// Adds the derivative of P = F S with S linear in the Green strain, dS = λ tr(dE) I + 2μ dE:
///
/// ```text
/// ∂Pᵢⱼ/∂Fₖₗ = δᵢₖ Sₗⱼ + λ Fᵢⱼ Fₖₗ + μ (Fᵢₗ Fₖⱼ + (F Fᵀ)ᵢₖ δⱼₗ)
/// ```
#[inline(always)]
pub(crate) fn add_strain_law<T: Real>(
    tangent: &mut Tangent<T>,
    f: &Columns<T>,
    s: &Symmetric<T>,
    lame: LaneLame<T>,
) {
    let LaneLame { mu, lambda } = lame;
    add_square(tangent, f, lambda);
    // S as a full matrix
    let stress = [[s[0], s[3], s[4]], [s[3], s[1], s[5]], [s[4], s[5], s[2]]];
    let mut outer = stress;
    for i in 0..3 {
        for k in 0..3 {
            outer[i][k] = mu * dot(row(f, i), row(f, k));
        }
    }
    for_each_row!(add_strain_row::<T>(tangent, f, mu, &stress, &outer));
}

/// Adds a row of δᵢₖ Sₗⱼ + μ Fᵢₗ Fₖⱼ + μ (F Fᵀ)ᵢₖ δⱼₗ.
#[inline(always)]
fn add_strain_row<T: Real, const R: usize>(
    tangent: &mut Tangent<T>,
    f: &Columns<T>,
    mu: T,
    stress: &[[T; 3]; 3],
    outer: &[[T; 3]; 3],
) {
    let (i, j) = (R % 3, R / 3);
    for c in 0..=R {
        let (k, l) = (c % 3, c / 3);
        let place = R * (R + 1) / 2 + c;
        let mut sum = tangent[place] + mu * f[l][i] * f[j][k];
        if i == k {
            sum = sum + stress[l][j];
        }
        if j == l {
            sum = sum + outer[i][k];
        }
        tangent[place] = sum;
    }
}

/// The tangent of a law given in principal axes, as in `principal`, with dᵢⱼ = uᵢ vⱼᵀ:
///
/// ```text
/// Σ Ĥᵢⱼ dᵢᵢ⊗dⱼⱼ + Σ_(i<j) a/2 (dᵢⱼ + dⱼᵢ)⊗(dᵢⱼ + dⱼᵢ) + b/2 (dᵢⱼ − dⱼᵢ)⊗(dᵢⱼ − dⱼᵢ)
/// ```
#[inline(always)]
pub(crate) fn of_principal<T: Real>(svd: &LaneSvd<T>, law: &LanePrincipal<T>) -> Tangent<T> {
    // the diagonal of Ĥ
    let mut tangent = zero();
    let along = [direction(svd, 0, 0), direction(svd, 1, 1), direction(svd, 2, 2)];
    for i in 0..3 {
        add_square(&mut tangent, &along[i], law.diagonal[i]);
    }

    // below this, sums and differences of stretches count as zero
    let mut largest = svd.sigma[0].abs();
    largest = largest.max(svd.sigma[2].abs()).max(T::splat(T::SMALL));
    let tolerance = largest * T::splat(T::EPSILON.sqrt());
    let (zero, half, two) = (T::splat(0.0), T::splat(0.5), T::splat(2.0));
    for (pair, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
        // the off-diagonal entries of Ĥ
        let factor = two * law.beside[pair];
        let scaled = [scale(along[j][0], factor), scale(along[j][1], factor), scale(along[j][2], factor)];
        add_product(&mut tangent, &along[i], &scaled);

        // a, with its limit for equal stretches
        let difference = svd.sigma[i] - svd.sigma[j];
        let is_equal = difference.abs().less(tolerance);
        let limit = half * (law.diagonal[i] + law.diagonal[j]) - law.beside[pair];
        let safe = T::select(is_equal, largest, difference);
        let turning = T::select(is_equal, limit, (law.stress[i] - law.stress[j]) / safe);

        // b, with a bounded denominator
        let sum = svd.sigma[i] + svd.sigma[j];
        let signed = T::select(sum.less(zero), -tolerance, tolerance);
        let sum = T::select(sum.abs().less(tolerance), signed, sum);
        let spinning = (law.stress[i] + law.stress[j]) / sum;

        // the symmetric and antisymmetric directions
        let (ij, ji) = (direction(svd, i, j), direction(svd, j, i));
        let (mut plus, mut minus) = (ij, ij);
        for c in 0..3 {
            for r in 0..3 {
                plus[c][r] = ij[c][r] + ji[c][r];
                minus[c][r] = ij[c][r] - ji[c][r];
            }
        }
        add_square(&mut tangent, &plus, half * turning);
        add_square(&mut tangent, &minus, half * spinning);
    }
    tangent
}

/// Row i of a matrix stored by columns.
#[inline(always)]
fn row<T: Real>(f: &Columns<T>, i: usize) -> [T; 3] {
    [f[0][i], f[1][i], f[2][i]]
}

/// uᵢ vⱼᵀ
#[inline(always)]
fn direction<T: Real>(svd: &LaneSvd<T>, i: usize, j: usize) -> Columns<T> {
    let (u, v) = (svd.u[i], svd.v[j]);
    [scale(u, v[0]), scale(u, v[1]), scale(u, v[2])]
}
