//! A matrix that is applied often: blocks in single precision, and Gauss-Seidel sweeps with them.

use super::block_sum::rounded;
use super::{Block, BlockSum, Row};
use crate::Mat3;
use crate::lanes::{Kernel, Lanes, Quad, dispatch};

/// A symmetric matrix A = L + D + Lᵀ of 3×3 blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix {
    row_ends: Vec<u32>,
    /// For each row the place of its diagonal.
    diagonals: Vec<u32>,
    columns: Vec<u32>,
    blocks: Vec<Block>,
    /// D⁻¹
    inverse_diagonal: Vec<Block>,
}

impl BlockMatrix {
    /// Rounds a matrix to single precision. Diagonal blocks that have no inverse get none, and their rows are left out of sweeps.
    pub fn of(sum: &BlockSum) -> BlockMatrix {
        let mut matrix = BlockMatrix { row_ends: vec![0], ..BlockMatrix::default() };
        for row in 0..sum.row_count() {
            for (column, block) in sum.columns_of(row).iter().zip(sum.blocks_of(row)) {
                if *column as usize == row {
                    matrix.diagonals.push(matrix.columns.len() as u32);
                }
                matrix.columns.push(*column);
                matrix.blocks.push(rounded(block));
            }
            matrix.row_ends.push(matrix.columns.len() as u32);
            let inverse = sum.diagonal(row).try_inverse().unwrap_or_else(Mat3::zeros);
            matrix.inverse_diagonal.push(rounded(&inverse));
        }
        matrix
    }

    /// How many rows of blocks it has.
    pub fn row_count(&self) -> usize {
        self.diagonals.len()
    }

    /// out = A u
    pub fn apply(&self, u: &[Row], out: &mut [Row]) {
        dispatch(Apply { matrix: self, u, out });
    }

    /// z = (L + D)⁻¹ r, and `left` = r − A z = −Lᵀ z.
    pub fn sweep_forward(&self, r: &[Row], z: &mut [Row], left: &mut [Row]) {
        dispatch(Forward { matrix: self, r, z, left });
    }

    /// z becomes (D + Lᵀ)⁻¹ (r − L z): one sweep from the last row to the first.
    pub fn sweep_backward(&self, r: &[Row], z: &mut [Row]) {
        dispatch(Backward { matrix: self, r, z });
    }

    /// Σ A u over some places of a row.
    #[inline(always)]
    fn partial_row<Q: Quad>(&self, places: core::ops::Range<usize>, u: &[Row]) -> Q {
        let (mut x, mut y, mut z) = (Q::splat(0.0), Q::splat(0.0), Q::splat(0.0));
        for (a, &column) in self.blocks[places.clone()].iter().zip(&self.columns[places]) {
            let u = &u[column as usize];
            x = x + Q::from_row(&a[0]) * Q::repeat(u[0]);
            y = y + Q::from_row(&a[1]) * Q::repeat(u[1]);
            z = z + Q::from_row(&a[2]) * Q::repeat(u[2]);
        }
        x + y + z
    }

    /// D⁻¹ u of a row.
    #[inline(always)]
    fn divided<Q: Quad>(&self, row: usize, u: Q) -> Row {
        let (d, u) = (&self.inverse_diagonal[row], u.to_row());
        let sum = Q::from_row(&d[0]) * Q::repeat(u[0])
            + Q::from_row(&d[1]) * Q::repeat(u[1])
            + Q::from_row(&d[2]) * Q::repeat(u[2]);
        sum.to_row()
    }

    #[inline(always)]
    fn below(&self, row: usize) -> core::ops::Range<usize> {
        self.row_ends[row] as usize..self.diagonals[row] as usize
    }

    #[inline(always)]
    fn above(&self, row: usize) -> core::ops::Range<usize> {
        self.diagonals[row] as usize + 1..self.row_ends[row + 1] as usize
    }
}

struct Apply<'a> {
    matrix: &'a BlockMatrix,
    u: &'a [Row],
    out: &'a mut [Row],
}

impl Kernel for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (row, out) in self.out.iter_mut().enumerate() {
            let places = self.matrix.row_ends[row] as usize..self.matrix.row_ends[row + 1] as usize;
            *out = self.matrix.partial_row::<L::Quad>(places, self.u).to_row();
        }
    }
}

struct Forward<'a> {
    matrix: &'a BlockMatrix,
    r: &'a [Row],
    z: &'a mut [Row],
    left: &'a mut [Row],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Forward { matrix, r, z, left } = self;
        for row in 0..matrix.row_count() {
            let known = matrix.partial_row::<L::Quad>(matrix.below(row), z);
            z[row] = matrix.divided(row, L::Quad::from_row(&r[row]) - known);
        }
        for row in 0..matrix.row_count() {
            left[row] = (-matrix.partial_row::<L::Quad>(matrix.above(row), z)).to_row();
        }
    }
}

struct Backward<'a> {
    matrix: &'a BlockMatrix,
    r: &'a [Row],
    z: &'a mut [Row],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Backward { matrix, r, z } = self;
        for row in (0..matrix.row_count()).rev() {
            let below = matrix.partial_row::<L::Quad>(matrix.below(row), z);
            let above = matrix.partial_row::<L::Quad>(matrix.above(row), z);
            z[row] = matrix.divided(row, L::Quad::from_row(&r[row]) - below - above);
        }
    }
}
