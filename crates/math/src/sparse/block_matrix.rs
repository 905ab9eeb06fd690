//! Multicolour block Gauss-Seidel in SIMD lanes, over a diagonally scaled matrix stored in 16-bit fixed point.
//!
//! Rows are coloured so that no two rows of one colour are coupled. The rows of a colour are relaxed together, one per lane, colour by colour, so the result does
//! not depend on the number of lanes.
//!
//! The matrix is stored as S A S with s = 1/√(largest diagonal entry of the block row): no entry exceeds 1, so sixteen bits resolve each to 2⁻¹⁶. All vectors
//! here are those of the scaled matrix, in colour order.

use super::{BlockCsr, Row};
use crate::Mat3;
use crate::lanes::{BLOCK, Kernel, Lanes, dispatch};

/// A symmetric matrix A = L + D + Lᵀ of 3×3 blocks, rows in colour order.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockMatrix {
    /// The position of each row in colour order.
    places: Vec<u32>,
    /// Scale s of each row.
    scales: Vec<f32>,
    slices: Vec<Slice>,
    /// Blocks of L (columns of earlier colours), slice by slice.
    below: Vec<BlockLanes>,
    /// Blocks of Lᵀ (columns of later colours), slice by slice.
    above: Vec<BlockLanes>,
}

/// Sixteen rows of one colour; the last slice of a colour may have empty rows.
#[derive(Clone, Debug)]
struct Slice {
    below: core::ops::Range<usize>,
    above: core::ops::Range<usize>,
    /// D⁻¹, column-major.
    inverse_diagonal: [[[f32; BLOCK]; 3]; 3],
}

/// One block of each row of a slice.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
struct BlockLanes {
    /// Fixed-point entries in units of 1/[`ONE`], column-major.
    numbers: [[[i16; BLOCK]; 3]; 3],
    columns: [u32; BLOCK],
}

/// The most registers that sixteen lanes take.
const PARTS: usize = 4;

/// 3-vectors of the sixteen rows of a slice.
type Sums<L> = [[L; 3]; PARTS];

/// The fixed-point representation of 1.
const ONE: f32 = 32767.0;

impl BlockMatrix {
    /// Colours, scales and rounds a matrix; `None` if a diagonal block is singular.
    pub(super) fn of(sum: &BlockCsr) -> Option<BlockMatrix> {
        // diagonal scaling
        let largest = |row: usize| sum.diagonal(row).diagonal().max();
        let scales: Vec<f64> = (0..sum.row_count()).map(|row| 1.0 / largest(row).sqrt()).collect();
        if !scales.iter().all(|s| s.is_finite()) {
            return None;
        }

        // colours, slices, and the position of each row
        let colours = colours(sum);
        let slices = slices(sum, &colours);
        let mut matrix = BlockMatrix {
            places: vec![0; sum.row_count()],
            scales: scales.iter().map(|s| *s as f32).collect(),
            ..BlockMatrix::default()
        };
        for (i, rows) in slices.iter().enumerate() {
            rows.iter()
                .enumerate()
                .for_each(|(lane, row)| matrix.places[*row as usize] = (i * BLOCK + lane) as u32);
        }

        // blocks of each slice, and the inverse of its diagonal
        for (i, rows) in slices.iter().enumerate() {
            let part = Part { sum, scales: &scales, places: &matrix.places, slice: i, rows };
            let below = part.push(&mut matrix.below, |row, column| colours[column] < colours[row]);
            let above = part.push(&mut matrix.above, |row, column| colours[column] > colours[row]);
            let mut slice = Slice { below, above, inverse_diagonal: Default::default() };
            for (lane, row) in rows.iter().enumerate() {
                let s = scales[*row as usize];
                let inverse = (sum.diagonal(*row as usize) * (s * s)).try_inverse()?;
                write(&inverse, |j, k, x| slice.inverse_diagonal[j][k][lane] = x as f32);
            }
            matrix.slices.push(slice);
        }
        Some(matrix)
    }

    /// The length of vectors in colour order, empty rows included.
    pub(super) fn place_count(&self) -> usize {
        self.slices.len() * BLOCK
    }

    /// The position of a row in colour order, and its scale.
    pub(super) fn place(&self, row: usize) -> (usize, f32) {
        (self.places[row] as usize, self.scales[row])
    }

    /// S r, in colour order; empty rows are left as they are.
    pub(super) fn scale_in(&self, r: &[Row], to: &mut [Row]) {
        for ((place, s), r) in self.places.iter().zip(&self.scales).zip(r) {
            to[*place as usize] = r.map(|r| s * r);
        }
    }

    /// S z, in row order.
    pub(super) fn scale_out(&self, z: &[Row], to: &mut [Row]) {
        for ((place, s), to) in self.places.iter().zip(&self.scales).zip(to) {
            *to = z[*place as usize].map(|z| s * z);
        }
    }

    /// Forward sweep from zero: z = (L + D)⁻¹ r, and the residual `left` = r − A z = −Lᵀ z.
    pub(super) fn sweep_forward(&self, r: &[Row], z: &mut [Row], left: &mut [Row]) {
        dispatch(Forward { matrix: self, r, z, left });
    }

    /// Backward sweep: z ← (D + Lᵀ)⁻¹ (r − L z).
    pub(super) fn sweep_backward(&self, r: &[Row], z: &mut [Row]) {
        dispatch(Backward { matrix: self, r, z });
    }
}

/// sums + Σ A u over blocks of one slice.
#[inline(always)]
fn add<L: Lanes>(mut sums: Sums<L>, blocks: &[BlockLanes], u: &[Row]) -> Sums<L> {
    for block in blocks {
        for part in 0..BLOCK / L::WIDTH {
            let first = part * L::WIDTH;
            let u = L::pick_rows(u, &block.columns[first..]);
            for i in 0..3 {
                let x = L::load_whole(&block.numbers[0][i][first..]) * u[0];
                let y = L::load_whole(&block.numbers[1][i][first..]) * u[1];
                let z = L::load_whole(&block.numbers[2][i][first..]) * u[2];
                sums[part][i] = sums[part][i] + (x + y + z);
            }
        }
    }
    sums
}

#[inline(always)]
fn zero<L: Lanes>() -> Sums<L> {
    [[L::splat(0.0); 3]; PARTS]
}

impl Slice {
    /// z = D⁻¹ (r − sums) for the rows of the slice.
    #[inline(always)]
    fn solve<L: Lanes>(&self, r: &[Row], sums: Sums<L>, z: &mut [Row]) {
        let part_of_one = L::splat(1.0 / f64::from(ONE));
        for part in 0..BLOCK / L::WIDTH {
            let first = part * L::WIDTH;
            let mut rest = L::from_rows(&r[first..]);
            for i in 0..3 {
                rest[i] = rest[i] - part_of_one * sums[part][i];
            }
            let (d, mut found) = (&self.inverse_diagonal, rest);
            for i in 0..3 {
                found[i] = L::load(&d[0][i][first..]) * rest[0]
                    + L::load(&d[1][i][first..]) * rest[1]
                    + L::load(&d[2][i][first..]) * rest[2];
            }
            L::to_rows(found, &mut z[first..], 1);
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
        for (i, slice) in matrix.slices.iter().enumerate() {
            let sums = add::<L>(zero(), &matrix.below[slice.below.clone()], z);
            slice.solve(&r[i * BLOCK..][..BLOCK], sums, &mut z[i * BLOCK..][..BLOCK]);
        }
        let part_of_one = L::splat(-1.0 / f64::from(ONE));
        for (slice, left) in matrix.slices.iter().zip(left.chunks_exact_mut(BLOCK)) {
            let sums = add::<L>(zero(), &matrix.above[slice.above.clone()], z);
            for part in 0..BLOCK / L::WIDTH {
                let [x, y, z] = sums[part];
                let scaled = [part_of_one * x, part_of_one * y, part_of_one * z];
                L::to_rows(scaled, &mut left[part * L::WIDTH..], 1);
            }
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
        for (i, slice) in matrix.slices.iter().enumerate().rev() {
            let sums = add::<L>(zero(), &matrix.below[slice.below.clone()], z);
            let sums = add::<L>(sums, &matrix.above[slice.above.clone()], z);
            slice.solve(&r[i * BLOCK..][..BLOCK], sums, &mut z[i * BLOCK..][..BLOCK]);
        }
    }
}

/// The rows of a matrix that form one slice.
struct Part<'a> {
    sum: &'a BlockCsr,
    scales: &'a [f64],
    places: &'a [u32],
    slice: usize,
    rows: &'a [u32],
}

impl Part<'_> {
    /// Appends the blocks for which `counts` holds, padded to the longest row; returns their range.
    fn push(
        &self,
        to: &mut Vec<BlockLanes>,
        counts: impl Fn(usize, usize) -> bool,
    ) -> core::ops::Range<usize> {
        let first = to.len();
        for (lane, &row) in self.rows.iter().enumerate() {
            let row = row as usize;
            let blocks = self.sum.columns_of(row).iter().zip(self.sum.blocks_of(row));
            let blocks = blocks.filter(|(column, _)| counts(row, **column as usize));
            for (k, (column, block)) in blocks.enumerate() {
                if first + k == to.len() {
                    // lanes without a block multiply their own row by zero
                    let columns = core::array::from_fn(|lane| (self.slice * BLOCK + lane) as u32);
                    to.push(BlockLanes { numbers: Default::default(), columns });
                }
                let to = &mut to[first + k];
                to.columns[lane] = self.places[*column as usize];
                let scale = self.scales[row] * self.scales[*column as usize] * f64::from(ONE);
                write(block, |j, i, x| to.numbers[j][i][lane] = (x * scale).round() as i16);
            }
        }
        first..to.len()
    }
}

/// Calls `each` with column, row and value of every entry of a block.
fn write(block: &Mat3, mut each: impl FnMut(usize, usize, f64)) {
    for j in 0..3 {
        for i in 0..3 {
            each(j, i, block[(i, j)]);
        }
    }
}

/// Greedy colouring: each row gets the first colour that no earlier neighbour has.
fn colours(sum: &BlockCsr) -> Vec<u32> {
    let mut colours: Vec<u32> = Vec::with_capacity(sum.row_count());
    let mut taken: Vec<usize> = Vec::new();
    for row in 0..sum.row_count() {
        for column in sum.columns_of(row).iter().filter(|column| (**column as usize) < row) {
            let colour = colours[*column as usize] as usize;
            taken.resize(taken.len().max(colour + 1), usize::MAX);
            taken[colour] = row;
        }
        let free = taken.iter().position(|last| *last != row).unwrap_or(taken.len());
        colours.push(free as u32);
    }
    colours
}

/// The rows of each colour in slices, sorted by length so that padding is short.
fn slices(sum: &BlockCsr, colours: &[u32]) -> Vec<Vec<u32>> {
    let below = |row: u32| {
        let columns = sum.columns_of(row as usize).iter();
        columns.filter(|column| colours[**column as usize] < colours[row as usize]).count()
    };
    let mut rows: Vec<u32> = (0..sum.row_count() as u32).collect();
    rows.sort_by_cached_key(|&row| {
        (colours[row as usize], sum.columns_of(row as usize).len(), below(row), row)
    });
    let same_colour = |a: &u32, b: &u32| colours[*a as usize] == colours[*b as usize];
    rows.chunk_by(same_colour).flat_map(|rows| rows.chunks(BLOCK).map(<[u32]>::to_vec)).collect()
}
