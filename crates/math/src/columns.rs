//! 3-vectors and column-major 3×3 matrices over any [`Real`]: `m[j][i]` is row i of column j.

use crate::lanes::Real;

/// A 3-vector of scalars or of lanes.
pub type Vector<T> = [T; 3];
/// A column-major 3×3 matrix.
pub type Columns<T> = [[T; 3]; 3];

/// a · b
#[inline(always)]
pub fn dot<T: Real>(a: Vector<T>, b: Vector<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b
#[inline(always)]
pub fn cross<T: Real>(a: Vector<T>, b: Vector<T>) -> Vector<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// s a
#[inline(always)]
pub fn scale<T: Real>(a: Vector<T>, s: T) -> Vector<T> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// The matrix times (x, y, z): x a + y b + z c for the columns (a, b, c).
#[inline(always)]
pub fn combine<T: Real>(m: &Columns<T>, x: T, y: T, z: T) -> Vector<T> {
    [
        m[0][0] * x + m[1][0] * y + m[2][0] * z,
        m[0][1] * x + m[1][1] * y + m[2][1] * z,
        m[0][2] * x + m[1][2] * y + m[2][2] * z,
    ]
}

/// A Bᵀ
#[inline(always)]
pub fn product_transposed<T: Real>(a: &Columns<T>, b: &Columns<T>) -> Columns<T> {
    [
        combine(a, b[0][0], b[1][0], b[2][0]),
        combine(a, b[0][1], b[1][1], b[2][1]),
        combine(a, b[0][2], b[1][2], b[2][2]),
    ]
}
