//! Sparse symmetric matrices of 3×3 blocks, one row per node, with sparse Cholesky and geometric multigrid solvers.
//!
//! A [`BlockCsr`] is assembled in double precision. A [`Solver`] is built from it once (a Cholesky factor where that is small, a multigrid V-cycle
//! where it is not) and applied many times, in single precision. Everything runs on one thread in a fixed order with exactly rounded operations, so
//! the bits are the same everywhere.

mod block_csr;
mod block_matrix;
mod cholesky;
mod dissection;
mod hierarchy;
mod transfer;

pub use block_csr::BlockCsr;
pub use cholesky::Cholesky;
pub use hierarchy::{Solver, SolverChoice};

/// The 3-vector of a node, padded to four components so that one load reads it.
pub type Row = [f32; 4];

/// A column-major 3×3 matrix, each column padded to four components.
pub type Block = [Row; 3];

/// A u for a block and a 3-vector.
#[inline(always)]
pub fn times(a: &Block, u: &Row) -> Row {
    let mut sum = [0.0; 4];
    for i in 0..4 {
        sum[i] = a[0][i] * u[0] + a[1][i] * u[1] + a[2][i] * u[2];
    }
    sum
}

/// Aᵀ u for a block and a 3-vector.
#[inline(always)]
pub fn times_transposed(a: &Block, u: &Row) -> Row {
    let dot = |c: &Row| c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
    [dot(&a[0]), dot(&a[1]), dot(&a[2]), 0.0]
}
