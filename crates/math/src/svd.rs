//! One-sided Jacobi SVD of 3×3 matrices with proper rotations, for scalars and SIMD lanes, and the polar decomposition from it.
//!
//! ```text
//! F = U diag(σ) Vᵀ,   det U = det V = 1,   σ₁ ≥ σ₂ ≥ |σ₃|        [Irving2004, §5]
//! ```
//!
//! This is the rotation-variant decomposition: both rotations are proper, and a reflection shows as σ₃ < 0. Jacobi rotations
//! make the columns of B = F V orthogonal pair by pair. The number of sweeps is fixed, so the result of a lane never depends
//! on its neighbours. Cross products complete U, which keeps it a rotation for singular and zero matrices.

use crate::columns::{Columns, Vector, cross, dot, scale};
use crate::lanes::Real;
use crate::{Mat3, Rotation, Vec3, nalgebra};

/// F = U diag(σ) Vᵀ over any [`Real`], column-major.
#[derive(Clone, Copy, Debug)]
pub struct LaneSvd<T> {
    /// Left rotation.
    pub u: Columns<T>,
    /// Signed singular values, σ₁ ≥ σ₂ ≥ |σ₃|.
    pub sigma: Vector<T>,
    /// Right rotation.
    pub v: Columns<T>,
}

/// Decomposes a column-major matrix; the module documentation states the properties of the factors.
#[inline(always)]
pub fn svd<T: Real>(f: Columns<T>) -> LaneSvd<T> {
    let (zero, one) = (T::splat(0.0), T::splat(1.0));

    // scale to order one, so that squares neither overflow nor underflow
    let mut size = zero;
    for column in f {
        for x in column {
            size = size.max(x.abs());
        }
    }
    let size = T::select(size.less(T::splat(T::TINY)), one, size);
    let shrink = one / size;
    let mut b = [scale(f[0], shrink), scale(f[1], shrink), scale(f[2], shrink)];
    let mut v = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];

    // four sweeps are unrolled: the compiler vectorises a loop over lanes only if its body has no loop
    sweep(&mut b, &mut v);
    sweep(&mut b, &mut v);
    sweep(&mut b, &mut v);
    sweep(&mut b, &mut v);
    for _ in 4..T::JACOBI_SWEEPS {
        sweep(&mut b, &mut v);
    }

    // sort the columns by length, longest first
    let mut length = [dot(b[0], b[0]), dot(b[1], b[1]), dot(b[2], b[2])];
    put_in_order(&mut length, &mut b, &mut v, 0, 1);
    put_in_order(&mut length, &mut b, &mut v, 0, 2);
    put_in_order(&mut length, &mut b, &mut v, 1, 2);

    // left rotation, and the singular values with their signs
    let u = complete_rotation(b);
    let sigma = [dot(u[0], b[0]) * size, dot(u[1], b[1]) * size, dot(u[2], b[2]) * size];
    LaneSvd { u, sigma, v }
}

#[inline(always)]
fn sweep<T: Real>(b: &mut Columns<T>, v: &mut Columns<T>) {
    orthogonalise(b, v, 0, 1);
    orthogonalise(b, v, 0, 2);
    orthogonalise(b, v, 1, 2);
}

/// Rotates columns p and q of B and V by the angle θ that makes b_p ⟂ b_q:
///
/// ```text
/// δ = b_p·b_p − b_q·b_q,   γ = 2 b_p·b_q,   h = |δ| + √(δ² + γ²)
/// tan θ = γ sgn δ / h,     cos θ = h / √(h² + γ²)
/// ```
#[inline(always)]
fn orthogonalise<T: Real>(b: &mut Columns<T>, v: &mut Columns<T>, p: usize, q: usize) {
    let (zero, one) = (T::splat(0.0), T::splat(1.0));
    let delta = dot(b[p], b[p]) - dot(b[q], b[q]);
    let half_gamma = dot(b[p], b[q]);
    let gamma = half_gamma + half_gamma;
    let h = (delta.abs() + (delta * delta + gamma * gamma).sqrt()).max(T::splat(T::SMALL));
    let shrink = one / (h * h + gamma * gamma).sqrt();
    let cosine = h * shrink;
    let sine = T::select(delta.less(zero), -gamma, gamma) * shrink;
    for columns in [b, v] {
        for i in 0..3 {
            let (x, y) = (columns[p][i], columns[q][i]);
            columns[p][i] = cosine * x + sine * y;
            columns[q][i] = cosine * y - sine * x;
        }
    }
}

/// Swaps columns p and q where the second is longer, and negates one of them so that V stays a rotation.
#[inline(always)]
fn put_in_order<T: Real>(length: &mut Vector<T>, b: &mut Columns<T>, v: &mut Columns<T>, p: usize, q: usize) {
    let swap = length[p].less(length[q]);
    (length[p], length[q]) = (length[p].max(length[q]), length[p].min(length[q]));
    for columns in [b, v] {
        for i in 0..3 {
            let (x, y) = (columns[p][i], columns[q][i]);
            columns[p][i] = T::select(swap, y, x);
            columns[q][i] = T::select(swap, -x, y);
        }
    }
}

/// Gram-Schmidt: the rotation whose first column is along b₁ and whose second lies in the plane of b₁ and b₂. Where these
/// vanish the rotation is arbitrary, and a fixed one is returned.
#[inline(always)]
fn complete_rotation<T: Real>(b: Columns<T>) -> Columns<T> {
    let (zero, one) = (T::splat(0.0), T::splat(1.0));
    let tiny = T::splat(T::EPSILON);

    // first column; b₁ is of order one unless the matrix is zero
    let length = dot(b[0], b[0]).sqrt();
    let vanishes = length.less(tiny);
    let first = scale(b[0], one / length.max(tiny));
    let u0 = [
        T::select(vanishes, one, first[0]),
        T::select(vanishes, zero, first[1]),
        T::select(vanishes, zero, first[2]),
    ];

    // second column; below round-off its direction is arbitrary: one orthogonal to u0, from the coordinate axis farthest from u0
    let along = dot(u0, b[1]);
    let rest = [b[1][0] - along * u0[0], b[1][1] - along * u0[1], b[1][2] - along * u0[2]];
    let rest_length = dot(rest, rest).sqrt();
    let x_is_far = u0[0].abs().less(T::splat(0.6));
    let axis = [T::select(x_is_far, one, zero), T::select(x_is_far, zero, one), zero];
    let square = cross(u0, axis);
    let square = scale(square, one / dot(square, square).sqrt());
    let flat = rest_length.less(tiny * T::splat(4.0));
    let second = scale(rest, one / rest_length.max(tiny));
    let u1 = [
        T::select(flat, square[0], second[0]),
        T::select(flat, square[1], second[1]),
        T::select(flat, square[2], second[2]),
    ];
    // reorthogonalise, for b₂ nearly parallel to b₁
    let slip = dot(u0, u1);
    let u1 = [u1[0] - slip * u0[0], u1[1] - slip * u0[1], u1[2] - slip * u0[2]];
    let u1 = scale(u1, one / dot(u1, u1).sqrt());
    [u0, u1, cross(u0, u1)]
}

/// F = U diag(σ) Vᵀ with proper rotations and signed, sorted singular values.
#[derive(Clone, Copy, Debug)]
pub struct Svd {
    /// Left rotation.
    pub u: Mat3,
    /// Signed singular values, σ₁ ≥ σ₂ ≥ |σ₃|.
    pub sigma: Vec3,
    /// Right rotation.
    pub v: Mat3,
}

impl Svd {
    /// Decomposes a finite matrix.
    pub fn of(f: &Mat3) -> Svd {
        let LaneSvd { u, sigma, v } = svd::<f64>(f.data.0);
        let matrix = |columns| Mat3::from_array_storage(nalgebra::ArrayStorage(columns));
        Svd { u: matrix(u), sigma: sigma.into(), v: matrix(v) }
    }

    /// U diag(d) Vᵀ for any diagonal.
    pub fn with_diagonal(&self, d: &Vec3) -> Mat3 {
        self.u * Mat3::from_diagonal(d) * self.v.transpose()
    }
}

/// Polar decomposition F = R S with a proper rotation R and a symmetric S, which has one negative eigenvalue if det F < 0.
#[derive(Clone, Copy, Debug)]
pub struct Polar {
    /// The rotation nearest to F.
    pub rotation: Mat3,
    /// The symmetric stretch.
    pub stretch: Mat3,
}

impl Polar {
    /// Decomposes a finite matrix: R = U Vᵀ, S = V diag(σ) Vᵀ.
    pub fn of(f: &Mat3) -> Polar {
        let Svd { u, sigma, v } = Svd::of(f);
        Polar { rotation: u * v.transpose(), stretch: v * Mat3::from_diagonal(&sigma) * v.transpose() }
    }

    /// The rotation as a unit quaternion.
    pub fn quaternion(&self) -> Rotation {
        Rotation::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(self.rotation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{BLOCK, InstructionSet, Kernel, Lanes, dispatch_to};

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// General, symmetric, repeated, singular, rank-one, zero, reflected, tiny and huge matrices.
    fn matrices() -> Vec<Mat3> {
        let mut seed = 7;
        let mut all = vec![
            Mat3::zeros(),
            Mat3::identity(),
            -Mat3::identity(),
            Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.0)),
            Mat3::from_diagonal(&Vec3::new(0.0, 2.0, 0.0)),
            Mat3::new(0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0),
        ];
        for _ in 0..300 {
            let m = Mat3::from_fn(|_, _| random(&mut seed));
            let (a, b) = (m.column(0).into_owned(), m.column(1).into_owned());
            let rotation = Rotation::from_scaled_axis(a * 3.0).to_rotation_matrix().into_inner();
            all.extend([
                m,
                m + m.transpose(),
                rotation,
                rotation * Mat3::from_diagonal(&Vec3::new(2.0, 2.0, 0.5)) * rotation,
                Mat3::from_columns(&[a, b, a + 2.0 * b]),
                a * b.transpose(),
                m * 1e-30,
                m * 1e30,
                rotation * Mat3::from_diagonal(&Vec3::new(1.0, 1e-6, -1e-12)),
                rotation + m * 1e-9,
            ]);
        }
        all
    }

    /// One rotation of columns of order one has a round-off of a few ε; 21 rotations and the completion stay below 50 ε.
    #[test]
    fn factors_are_rotations_and_reproduce_the_matrix() {
        for f in matrices() {
            let Svd { u, sigma, v } = Svd::of(&f);
            let bound = 50.0 * f64::EPSILON;
            for r in [u, v] {
                assert!((r.transpose() * r - Mat3::identity()).amax() < bound, "{f} {r}");
                assert!((r.determinant() - 1.0).abs() < bound);
            }
            let back = u * Mat3::from_diagonal(&sigma) * v.transpose();
            assert!((back - f).amax() <= bound * f.amax(), "{f} {back}");
            assert!(sigma.x >= sigma.y - bound * sigma.x && sigma.y >= sigma.z.abs() - bound * sigma.x);
            assert!(sigma.y >= -bound * sigma.x);
        }
    }

    #[test]
    fn extreme_magnitudes_do_not_overflow() {
        for size in [1e-290, 1e290] {
            let m = Mat3::new(1.0, 2.0, -0.5, 0.3, -1.0, 0.7, 0.2, 0.1, 2.0) * size;
            let Svd { u, sigma, v } = Svd::of(&m);
            let back = u * Mat3::from_diagonal(&(sigma / size)) * v.transpose();
            assert!((back - m / size).amax() < 1e-14);
        }
    }

    #[test]
    fn singular_values_agree_with_a_general_svd() {
        for f in matrices().iter().filter(|f| f.amax() > 1e-3 && f.amax() < 1e3) {
            let general = f.svd_unordered(false, false).singular_values;
            let mut general: Vec<f64> = general.iter().copied().collect();
            general.sort_by(|a, b| b.total_cmp(a));
            let ours = Svd::of(f).sigma;
            for i in 0..3 {
                assert!((ours[i].abs() - general[i]).abs() < 1e-13 * general[0], "{f} {ours} {general:?}");
            }
        }
    }

    #[test]
    fn polar_decomposition_is_a_rotation_times_a_symmetric_matrix() {
        for f in matrices().iter().filter(|f| f.amax() < 1e3) {
            let Polar { rotation, stretch } = Polar::of(f);
            assert!((rotation * stretch - f).amax() < 1e-13 * f.amax().max(1e-300));
            assert!((stretch - stretch.transpose()).amax() <= 1e-13 * f.amax());
            assert!((rotation.determinant() - 1.0).abs() < 1e-13);
        }
    }

    /// Decomposes the matrices in lanes; the 21 entries of U, σ and V of each.
    struct InLanes<'a>(&'a [Mat3]);

    impl Kernel for InLanes<'_> {
        type Output = Vec<[f32; 21]>;
        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<[f32; 21]> {
            decompose::<L>(self.0)
        }
    }

    #[inline(always)]
    fn decompose<L: Lanes>(matrices: &[Mat3]) -> Vec<[f32; 21]> {
        let mut out = Vec::new();
        for batch in matrices.chunks(L::WIDTH) {
            let mut f = [[L::splat(0.0); 3]; 3];
            for j in 0..3 {
                for i in 0..3 {
                    let mut lanes = [0.0; BLOCK];
                    for (lane, m) in batch.iter().enumerate() {
                        lanes[lane] = m[(i, j)] as f32;
                    }
                    f[j][i] = L::load(&lanes);
                }
            }
            let LaneSvd { u, sigma, v } = svd(f);
            let first = out.len();
            out.resize(first + batch.len(), [0.0; 21]);
            for k in 0..21 {
                let value = if k < 9 { u[k / 3][k % 3] } else { sigma[k % 3] };
                let value = if k < 12 { value } else { v[(k - 12) / 3][k % 3] };
                let mut lanes = [0.0; BLOCK];
                value.store(&mut lanes);
                for lane in 0..batch.len() {
                    out[first + lane][k] = lanes[lane];
                }
            }
        }
        out
    }

    #[test]
    fn lanes_of_every_width_give_the_same_bits() {
        let matrices = matrices();
        let reference = dispatch_to(InstructionSet::Baseline, InLanes(&matrices));
        for &set in InstructionSet::available() {
            let found = dispatch_to(set, InLanes(&matrices));
            for (i, (a, b)) in reference.iter().zip(&found).enumerate() {
                assert_eq!(a.map(f32::to_bits), b.map(f32::to_bits), "{set:?}, matrix {i}");
            }
        }
    }

    /// The double-precision bound with the ε of single precision; it also shows that four sweeps are enough.
    #[test]
    fn lanes_are_accurate_to_single_precision() {
        let matrices = matrices();
        let found = dispatch_to(InstructionSet::detect(), InLanes(&matrices));
        for (f, x) in matrices.iter().zip(found) {
            let x = x.map(f64::from);
            let (u, v) = (Mat3::from_column_slice(&x[..9]), Mat3::from_column_slice(&x[12..]));
            let back = u * Mat3::from_diagonal(&Vec3::new(x[9], x[10], x[11])) * v.transpose();
            let bound = 50.0 * f64::from(f32::EPSILON);
            assert!((back - f).amax() <= bound * f.amax(), "{f} {back}");
            for r in [u, v] {
                assert!((r.transpose() * r - Mat3::identity()).amax() < bound);
            }
        }
    }
}
