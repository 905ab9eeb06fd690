//! Block compressed sparse row (BSR) matrix, assembled in double precision.

use super::Row;
use crate::{Mat3, Vec3};

/// A symmetric matrix of 3×3 blocks in compressed sparse rows. Both triangles are stored.
#[derive(Clone, Debug, Default)]
pub struct BlockCsr {
    row_ends: Vec<u32>,
    columns: Vec<u32>,
    blocks: Vec<Mat3>,
}

impl BlockCsr {
    /// The zero matrix with the sparsity pattern of the adjacency lists `neighbours`; the diagonal is always part of it.
    pub fn with_pattern(mut neighbours: Vec<Vec<u32>>) -> BlockCsr {
        let mut sum = BlockCsr { row_ends: vec![0], ..BlockCsr::default() };
        for (row, list) in neighbours.iter_mut().enumerate() {
            list.push(row as u32);
            list.sort_unstable();
            list.dedup();
            sum.columns.append(list);
            sum.row_ends.push(sum.columns.len() as u32);
        }
        sum.blocks = vec![Mat3::zeros(); sum.columns.len()];
        sum
    }

    /// The number of block rows.
    pub fn row_count(&self) -> usize {
        self.row_ends.len() - 1
    }

    /// The column indices of a row, ascending.
    pub fn columns_of(&self, row: usize) -> &[u32] {
        &self.columns[self.range(row)]
    }

    /// The blocks of a row, in the order of their columns.
    pub fn blocks_of(&self, row: usize) -> &[Mat3] {
        &self.blocks[self.range(row)]
    }

    /// The diagonal block of a row.
    pub fn diagonal(&self, row: usize) -> &Mat3 {
        &self.blocks[self.place(row, row)]
    }

    /// Adds to a block.
    ///
    /// # Panics
    /// If the sparsity pattern lacks the block.
    pub fn add(&mut self, row: usize, column: usize, block: &Mat3) {
        let place = self.place(row, column);
        self.blocks[place] += block;
    }

    /// Multiplies the diagonal of the whole matrix by a factor.
    pub fn scale_diagonal(&mut self, factor: f64) {
        for row in 0..self.row_count() {
            let place = self.place(row, row);
            (0..3).for_each(|i| self.blocks[place][(i, i)] *= factor);
        }
    }

    /// out = A u, in double precision.
    pub fn apply(&self, u: &[Row], out: &mut [Row]) {
        for (row, out) in out.iter_mut().enumerate() {
            let vector = |u: &Row| Vec3::new(f64::from(u[0]), f64::from(u[1]), f64::from(u[2]));
            let pairs = self.columns_of(row).iter().zip(self.blocks_of(row));
            let sum: Vec3 = pairs.map(|(column, block)| block * vector(&u[*column as usize])).sum();
            *out = [sum.x as f32, sum.y as f32, sum.z as f32, 0.0];
        }
    }

    fn range(&self, row: usize) -> core::ops::Range<usize> {
        self.row_ends[row] as usize..self.row_ends[row + 1] as usize
    }

    /// The index of a block in the arrays.
    fn place(&self, row: usize, column: usize) -> usize {
        let found = self.columns_of(row).binary_search(&(column as u32));
        self.row_ends[row] as usize + found.expect("the block is in the sparsity pattern")
    }
}
