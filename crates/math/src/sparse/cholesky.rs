//! Multifrontal sparse Cholesky factorisation A = L Lᵀ, with inverted pivot blocks so that a solve is a sequence of dense products.
//!
//! A front owns the columns of one leaf or separator of the nested dissection; these columns of L have the same rows below the pivot block. With the
//! triangular pivot block L₁₁ and the rows L₂₁ below it, the front stores
//!
//! ```text
//! G = ⎡  L₁₁⁻¹     ⎤        forward:   (x₁, x₂) ← (0, x₂) + G x₁
//!     ⎣ −L₂₁ L₁₁⁻¹ ⎦        backward:   x₁ ← Gᵀ (x₁, x₂)
//! ```
//!
//! The factorisation is in double precision; each front passes its update matrix to its parent. The solve is in single precision, with G in 16-bit fixed point relative to
//! the largest entry of each column. It applies Gᵀ G with the same G on both sides, so it stays symmetric positive definite whatever the rounding.

use super::dissection::Dissection;
use super::{BlockCsr, Row};
use crate::Vec3;
use crate::lanes::{BLOCK, Kernel, Lanes, dispatch};

/// The factor of a symmetric positive definite matrix.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    order: Vec<u32>,
    fronts: Vec<Front>,
    /// G of all fronts in fixed point, column-major, each column padded to a multiple of [`BLOCK`].
    panels: Vec<i16>,
    /// The fixed-point unit of each column, three columns per node, in elimination order.
    scales: Vec<[f32; 3]>,
    /// The right-hand side in elimination order.
    x: Vec<Row>,
    /// Work vectors of one front.
    local: Vec<f32>,
    answer: Vec<f32>,
}

/// The columns that one front owns.
#[derive(Clone, Debug, Default)]
struct Front {
    /// Its first node, in elimination order.
    first: usize,
    /// The number of nodes it owns.
    count: usize,
    /// The nodes of the rows below, in elimination order.
    rows: Vec<u32>,
    /// The parent in the assembly tree: the front that owns the first of those rows.
    parent: Option<usize>,
    /// The start of its panel.
    start: usize,
    /// The distance between columns of the panel, in entries.
    stride: usize,
}

impl Front {
    /// The number of scalar columns and of scalar rows.
    fn size(&self) -> (usize, usize) {
        (3 * self.count, 3 * (self.count + self.rows.len()))
    }
}

/// Symbolic factorisation: the layout of a factor before its entries are known.
pub(super) struct Plan {
    order: Vec<u32>,
    fronts: Vec<Front>,
    /// The number of stored entries.
    pub(super) entries: usize,
}

impl Plan {
    /// The symbolic factorisation of a matrix whose nodes are at `places` (m).
    pub(super) fn find(matrix: &BlockCsr, places: &[Vec3]) -> Plan {
        let Dissection { order, fronts: counts } = Dissection::find(matrix, places);
        let mut place_of = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(place, node)| place_of[*node as usize] = place as u32);
        let mut owner = Vec::with_capacity(order.len());
        counts.iter().enumerate().for_each(|(front, count)| owner.resize(owner.len() + count, front));

        let mut fronts: Vec<Front> = Vec::with_capacity(counts.len());
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); counts.len()];
        let (mut first, mut start) = (0, 0);
        for (index, count) in counts.into_iter().enumerate() {
            let end = (first + count) as u32;
            let mut rows = core::mem::take(&mut below[index]);
            for &node in &order[first..first + count] {
                rows.extend(matrix.columns_of(node as usize).iter().map(|other| place_of[*other as usize]));
            }
            rows.sort_unstable();
            rows.dedup();
            rows.retain(|row| *row >= end);
            let parent = rows.first().map(|row| owner[*row as usize]);
            if let Some(parent) = parent {
                below[parent].extend(&rows);
            }
            let stride = (3 * (count + rows.len())).next_multiple_of(BLOCK);
            fronts.push(Front { first, count, rows, parent, start, stride });
            start += stride * 3 * count;
            first += count;
        }
        Plan { order, fronts, entries: start }
    }
}

impl Cholesky {
    /// Factors a matrix whose nodes are at `places` (m); `None` if it is not positive definite.
    pub fn build(matrix: &BlockCsr, places: &[Vec3]) -> Option<Cholesky> {
        Cholesky::build_planned(matrix, Plan::find(matrix, places))
    }

    /// Numeric factorisation with a given symbolic one.
    pub(super) fn build_planned(matrix: &BlockCsr, plan: Plan) -> Option<Cholesky> {
        let Plan { order, fronts, entries } = plan;
        let mut place_of = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(place, node)| place_of[*node as usize] = place as u32);
        let mut panels = vec![0i16; entries];
        let mut scales = Vec::with_capacity(order.len());
        let mut updates: Vec<Vec<(usize, Dense)>> = (0..fronts.len()).map(|_| Vec::new()).collect();
        let mut local = vec![0u32; order.len()];
        for (index, front) in fronts.iter().enumerate() {
            // local numbering of the front's nodes
            let (own, size) = front.size();
            for i in 0..front.count {
                local[front.first + i] = i as u32;
            }
            for (i, row) in front.rows.iter().enumerate() {
                local[*row as usize] = (front.count + i) as u32;
            }

            // assemble the front: entries of the matrix and updates of the children
            let mut dense = Dense::zeros(size);
            for i in 0..front.count {
                let node = order[front.first + i] as usize;
                for (column, block) in matrix.columns_of(node).iter().zip(matrix.blocks_of(node)) {
                    let place = place_of[*column as usize] as usize;
                    if place >= front.first + i {
                        let row = 3 * local[place] as usize;
                        // the transpose of the block in row `node` and this column lies below the diagonal
                        for a in 0..3 {
                            for b in 0..3 {
                                dense.entries[(3 * i + a) * size + row + b] += block[(a, b)];
                            }
                        }
                    }
                }
            }
            for (child, update) in core::mem::take(&mut updates[index]) {
                let rows: &[u32] = &fronts[child].rows;
                dense.add_update(&update, rows, &local);
            }

            // eliminate its columns, store the panel, pass the Schur complement on
            if !dispatch(Eliminate { dense: &mut dense, own }) {
                return None;
            }
            let found = dense.write_panel(own, front.stride, &mut panels[front.start..]);
            scales.extend(found.chunks_exact(3).map(|s| [s[0], s[1], s[2]]));
            if let Some(parent) = front.parent {
                updates[parent].push((index, dense.trailing(own)));
            }
        }
        let widest = fronts.iter().map(|front| front.stride).max().unwrap_or(0);
        let x = vec![[0.0; 4]; order.len()];
        Some(Cholesky {
            order,
            fronts,
            panels,
            scales,
            x,
            local: vec![0.0; widest],
            answer: vec![0.0; widest],
        })
    }

    /// The number of stored entries.
    pub fn entry_count(&self) -> usize {
        self.panels.len()
    }

    /// z = A⁻¹ r
    pub fn solve(&mut self, r: &[Row], z: &mut [Row]) {
        dispatch(Solve { cholesky: self, r, z });
    }
}

/// A dense front: a lower triangle, column-major.
struct Dense {
    size: usize,
    entries: Vec<f64>,
}

impl Dense {
    fn zeros(size: usize) -> Dense {
        Dense { size, entries: vec![0.0; size * size] }
    }

    /// Extend-add: adds the update matrix of a child, whose rows are the nodes `rows` with local indices `local`.
    fn add_update(&mut self, update: &Dense, rows: &[u32], local: &[u32]) {
        for (j, column) in rows.iter().enumerate() {
            let to = 3 * local[*column as usize] as usize;
            for b in 0..3 {
                let from = &update.entries[(3 * j + b) * update.size..];
                let to = &mut self.entries[(to + b) * self.size..];
                for (i, row) in rows.iter().enumerate().skip(j) {
                    let place = 3 * local[*row as usize] as usize;
                    (0..3).for_each(|a| to[place + a] += from[3 * i + a]);
                }
            }
        }
    }

    /// The update matrix: the Schur complement after elimination of the first `own` columns.
    fn trailing(&self, own: usize) -> Dense {
        let size = self.size - own;
        let mut left = Dense::zeros(size);
        for j in 0..size {
            let from = (own + j) * self.size + own;
            left.entries[j * size..(j + 1) * size].copy_from_slice(&self.entries[from..from + size]);
        }
        left
    }

    /// Writes (L₁₁⁻¹; −L₂₁ L₁₁⁻¹): column j of the inverse solves L₁₁ y = eⱼ, and forward elimination of (eⱼ, 0) leaves −L₂₁ y below.
    /// Returns the fixed-point units of the columns.
    fn write_panel(&self, own: usize, stride: usize, panel: &mut [i16]) -> Vec<f32> {
        let mut column = vec![0.0; self.size];
        let mut scales = Vec::with_capacity(own);
        for j in 0..own {
            column.fill(0.0);
            column[j] = 1.0;
            for k in j..own {
                let l = &self.entries[k * self.size..(k + 1) * self.size];
                let pivot = column[k] / l[k];
                column[k] = pivot;
                for (x, l) in column[k + 1..].iter_mut().zip(&l[k + 1..]) {
                    *x -= pivot * l;
                }
            }
            let largest = column.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            let scale = largest / f64::from(i16::MAX);
            for (to, from) in panel[j * stride..].iter_mut().zip(&column) {
                *to = (from / scale).round() as i16;
            }
            scales.push(scale as f32);
        }
        scales
    }
}

/// Right-looking dense Cholesky of the first columns of a front, four at a time; false if a pivot is not positive.
struct Eliminate<'a> {
    dense: &'a mut Dense,
    own: usize,
}

impl Kernel for Eliminate<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self) -> bool {
        let size = self.dense.size;
        let entries = &mut self.dense.entries;
        let mut first = 0;
        while first < self.own {
            let end = (first + 4).min(self.own);
            for k in first..end {
                // update by the earlier columns of this group
                for p in first..k {
                    let (done, rest) = entries.split_at_mut(k * size);
                    let factor = done[p * size + k];
                    for (x, l) in rest[k..size].iter_mut().zip(&done[p * size + k..(p + 1) * size]) {
                        *x -= factor * l;
                    }
                }
                let pivot = entries[k * size + k];
                let is_positive = pivot > 0.0 && pivot.is_finite();
                if !is_positive {
                    return false;
                }
                let shrink = 1.0 / pivot.sqrt();
                entries[k * size + k..(k + 1) * size].iter_mut().for_each(|x| *x *= shrink);
            }
            // update of the trailing columns by the whole group
            let (done, rest) = entries.split_at_mut(end * size);
            for j in end..size {
                let column = &mut rest[(j - end) * size + j..(j - end + 1) * size];
                for p in first..end {
                    let l = &done[p * size + j..(p + 1) * size];
                    let factor = l[0];
                    for (x, l) in column.iter_mut().zip(l) {
                        *x -= factor * l;
                    }
                }
            }
            first = end;
        }
        true
    }
}

struct Solve<'a> {
    cholesky: &'a mut Cholesky,
    r: &'a [Row],
    z: &'a mut [Row],
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Cholesky { order, fronts, panels, scales, x, local, answer } = self.cholesky;
        // permute into elimination order
        for (x, node) in x.iter_mut().zip(order.iter()) {
            *x = self.r[*node as usize];
        }

        // forward substitution
        for front in fronts.iter() {
            let (own, size) = front.size();
            let padded = size.next_multiple_of(BLOCK);
            let panel = &panels[front.start..front.start + front.stride * own];
            let own_x = &x[front.first..front.first + front.count];
            for ((numbers, x), scale) in local.chunks_exact_mut(3).zip(own_x).zip(&scales[front.first..]) {
                (0..3).for_each(|i| numbers[i] = scale[i] * x[i]);
            }
            accumulate::<L>(panel, front.stride, &local[..own], &mut answer[..padded]);
            for (x, numbers) in x[front.first..][..front.count].iter_mut().zip(answer.chunks_exact(3)) {
                x[..3].copy_from_slice(numbers);
            }
            for (row, numbers) in front.rows.iter().zip(answer[own..].chunks_exact(3)) {
                let x = &mut x[*row as usize];
                (0..3).for_each(|i| x[i] += numbers[i]);
            }
        }

        // backward substitution
        for front in fronts.iter().rev() {
            let (own, size) = front.size();
            let padded = size.next_multiple_of(BLOCK);
            let panel = &panels[front.start..front.start + front.stride * own];
            for (numbers, x) in local.chunks_exact_mut(3).zip(&x[front.first..][..front.count]) {
                numbers.copy_from_slice(&x[..3]);
            }
            for (numbers, row) in local[own..].chunks_exact_mut(3).zip(&front.rows) {
                numbers.copy_from_slice(&x[*row as usize][..3]);
            }
            local[size..padded].fill(0.0);
            for (i, x) in x[front.first..][..front.count].iter_mut().enumerate() {
                for c in 0..3 {
                    let column = &panel[(3 * i + c) * front.stride..][..padded];
                    // the inverse of a lower triangle is zero above the diagonal
                    let skip = (3 * i + c) / BLOCK * BLOCK;
                    x[c] = scales[front.first + i][c] * dot::<L>(&column[skip..], &local[skip..padded]);
                }
            }
        }

        // permute back
        for (x, node) in x.iter().zip(order.iter()) {
            self.z[*node as usize] = *x;
        }
    }
}

/// answer = G x, in strips of rows whose sums stay in registers.
#[inline(always)]
fn accumulate<L: Lanes>(panel: &[i16], stride: usize, x: &[f32], answer: &mut [f32]) {
    const STRIP: usize = 2 * BLOCK;
    let mut row = 0;
    while row + STRIP <= answer.len() {
        strip::<L, STRIP>(panel, stride, x, row, answer);
        row += STRIP;
    }
    if row < answer.len() {
        strip::<L, BLOCK>(panel, stride, x, row, answer);
    }
}

/// `ROWS` rows of G x, starting at `row`.
#[inline(always)]
fn strip<L: Lanes, const ROWS: usize>(
    panel: &[i16],
    stride: usize,
    x: &[f32],
    row: usize,
    answer: &mut [f32],
) {
    let mut sums = [L::splat(0.0); 8];
    for (column, &x) in panel.chunks_exact(stride).zip(x) {
        let rows = &column[row..row + ROWS];
        let x = L::splat(f64::from(x));
        for part in 0..ROWS / L::WIDTH {
            sums[part] = sums[part] + L::load_whole(&rows[part * L::WIDTH..]) * x;
        }
    }
    for part in 0..ROWS / L::WIDTH {
        sums[part].store(&mut answer[row + part * L::WIDTH..]);
    }
}

/// a · b over a multiple of [`BLOCK`] entries; lanes are summed separately, then pairwise, in an order that is the same for every width.
#[inline(always)]
fn dot<L: Lanes>(a: &[i16], b: &[f32]) -> f32 {
    let mut lanes = [L::splat(0.0); 4];
    for (a, b) in a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)) {
        for part in 0..BLOCK / L::WIDTH {
            let first = part * L::WIDTH;
            lanes[part] = lanes[part] + L::load_whole(&a[first..]) * L::load(&b[first..]);
        }
    }
    let mut sums = [0.0f32; BLOCK];
    for part in 0..BLOCK / L::WIDTH {
        lanes[part].store(&mut sums[part * L::WIDTH..]);
    }
    let mut width = BLOCK / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}
