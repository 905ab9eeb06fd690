//! Large symmetric matrices of 3×3 blocks, one row per node, and what solves with them.
//!
//! The road: a [`BlockCsr`] collects the blocks in double precision, a [`Solver`] is prepared from it once (a factor where that is small, a
//! cycle over coarser grids where it is not) and applied often, in single precision. Everything runs on one thread in a fixed order with exactly
//! rounded operations, so the bits are the same everywhere. None of it knows what the blocks mean.

mod block_csr;
mod block_matrix;
mod cholesky;
mod dissection;
mod hierarchy;
mod transfer;

pub use block_csr::BlockCsr;
pub use cholesky::Cholesky;
pub use hierarchy::{Solver, SolverChoice};

/// Three numbers of a node and one that is not used, so that one load brings all.
pub type Row = [f32; 4];

/// A 3×3 matrix by columns, each padded to four numbers.
pub type Block = [Row; 3];

/// A u for a block and three numbers.
#[inline(always)]
pub fn times(a: &Block, u: &Row) -> Row {
    let mut sum = [0.0; 4];
    for i in 0..4 {
        sum[i] = a[0][i] * u[0] + a[1][i] * u[1] + a[2][i] * u[2];
    }
    sum
}

/// Aᵀ u for a block and three numbers.
#[inline(always)]
pub fn times_transposed(a: &Block, u: &Row) -> Row {
    let along = |c: &Row| c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
    [along(&a[0]), along(&a[1]), along(&a[2]), 0.0]
}
