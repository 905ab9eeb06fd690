//! Multigrid transfer operators: trilinear prolongation from a coarse grid of cubes to the nodes, and its transpose.

use super::block_matrix::BlockMatrix;
use super::{BlockCsr, Row};
use crate::Vec3;

/// The prolongation P: sparse trilinear weights from grid corners to nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Transfer {
    ends: Vec<u32>,
    entries: Vec<(u32, f32)>,
    /// Positions of the grid corners in use (m).
    pub(super) positions: Vec<Vec3>,
}

/// S⁻¹ P for vectors of a scaled matrix, and its transpose, each in compressed rows.
#[derive(Clone, Debug, Default)]
pub(super) struct ScaledTransfer {
    by_place: Weights,
    by_corner: Weights,
}

/// Sparse weights in compressed rows.
#[derive(Clone, Debug, Default)]
struct Weights {
    ends: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

/// Weights below this are dropped: a corner with such weights only would make the coarse matrix nearly singular.
const MIN_WEIGHT: f64 = 1e-3;

impl Transfer {
    /// The prolongation from a grid of cubes of `width` (m), starting at the corner `low`, to nodes at `nodes` (m).
    pub(super) fn find(nodes: &[Vec3], low: Vec3, width: f64) -> Transfer {
        let high = nodes.iter().fold(low, |high, x| high.sup(x));
        let cells = (high - low).map(|s| ((s / width - 1e-9).ceil() as u64).max(1));
        let corner = |x: u64, y: u64, z: u64| (x * (cells.y + 1) + y) * (cells.z + 1) + z;

        // trilinear weights of each node, normalised after small ones are dropped
        let mut weights: Vec<Vec<(u64, f64)>> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let at = (node - low) / width;
            let cell: [u64; 3] = core::array::from_fn(|i| (at[i].max(0.0) as u64).min(cells[i] - 1));
            let fraction: [f64; 3] = core::array::from_fn(|i| (at[i] - cell[i] as f64).clamp(0.0, 1.0));
            let mut own = Vec::with_capacity(8);
            for k in 0..8usize {
                let bits = [k & 1, k >> 1 & 1, k >> 2 & 1];
                let weight: f64 =
                    (0..3).map(|i| if bits[i] == 1 { fraction[i] } else { 1.0 - fraction[i] }).product();
                if weight > MIN_WEIGHT {
                    let [x, y, z] = core::array::from_fn(|i| cell[i] + bits[i] as u64);
                    own.push((corner(x, y, z), weight));
                }
            }
            let total: f64 = own.iter().map(|(_, weight)| weight).sum();
            own.iter_mut().for_each(|(_, weight)| *weight /= total);
            weights.push(own);
        }

        // number the corners in use
        let mut used: Vec<u64> = weights.iter().flatten().map(|(corner, _)| *corner).collect();
        used.sort_unstable();
        used.dedup();
        let mut transfer = Transfer { ends: vec![0], ..Transfer::default() };
        for own in weights {
            for (corner, weight) in own {
                let place = used.binary_search(&corner).unwrap_or(0);
                transfer.entries.push((place as u32, weight as f32));
            }
            transfer.ends.push(transfer.entries.len() as u32);
        }

        // corner positions
        let position = |corner: &u64| {
            let (yz, z) = (corner / (cells.z + 1), corner % (cells.z + 1));
            let (x, y) = (yz / (cells.y + 1), yz % (cells.y + 1));
            low + width * Vec3::new(x as f64, y as f64, z as f64)
        };
        transfer.positions = used.iter().map(position).collect();
        transfer
    }

    fn of_node(&self, node: usize) -> &[(u32, f32)] {
        &self.entries[self.ends[node] as usize..self.ends[node + 1] as usize]
    }

    /// The same prolongation for vectors in the ordering and scaling of a [`BlockMatrix`].
    pub(super) fn scaled_for(&self, matrix: &BlockMatrix) -> ScaledTransfer {
        let mut by_place: Vec<Vec<(u32, f32)>> = vec![Vec::new(); matrix.place_count()];
        let mut by_corner: Vec<Vec<(u32, f32)>> = vec![Vec::new(); self.positions.len()];
        for node in 0..self.ends.len() - 1 {
            let (place, scale) = matrix.place(node);
            for (corner, weight) in self.of_node(node) {
                by_place[place].push((*corner, weight / scale));
                by_corner[*corner as usize].push((place as u32, weight / scale));
            }
        }
        by_corner.iter_mut().for_each(|list| list.sort_unstable_by_key(|(place, _)| *place));
        ScaledTransfer { by_place: Weights::of(by_place), by_corner: Weights::of(by_corner) }
    }

    /// The Galerkin coarse operator Pᵀ A P.
    pub(super) fn galerkin(&self, matrix: &BlockCsr) -> BlockCsr {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); self.positions.len()];
        for row in 0..matrix.row_count() {
            for column in matrix.columns_of(row) {
                for (corner, _) in self.of_node(row) {
                    let others = self.of_node(*column as usize).iter().map(|(other, _)| *other);
                    neighbours[*corner as usize].extend(others);
                }
            }
            // removing duplicates as they come keeps the lists short
            for (corner, _) in self.of_node(row) {
                let list = &mut neighbours[*corner as usize];
                list.sort_unstable();
                list.dedup();
            }
        }
        let mut coarse = BlockCsr::with_pattern(neighbours);
        for row in 0..matrix.row_count() {
            for (column, block) in matrix.columns_of(row).iter().zip(matrix.blocks_of(row)) {
                for (corner, weight) in self.of_node(row) {
                    let weighted = block * f64::from(*weight);
                    for (other, other_weight) in self.of_node(*column as usize) {
                        coarse.add(*corner as usize, *other as usize, &(weighted * f64::from(*other_weight)));
                    }
                }
            }
        }
        coarse
    }
}

impl ScaledTransfer {
    /// coarse = Pᵀ S⁻¹ fine
    pub(super) fn restrict(&self, fine: &[Row], coarse: &mut [Row]) {
        for (i, coarse) in coarse.iter_mut().enumerate() {
            *coarse = self.by_corner.sum(i, fine, [0.0; 4]);
        }
    }

    /// fine += S⁻¹ P coarse
    pub(super) fn add_prolonged(&self, coarse: &[Row], fine: &mut [Row]) {
        for (i, fine) in fine.iter_mut().enumerate() {
            *fine = self.by_place.sum(i, coarse, *fine);
        }
    }
}

impl Weights {
    fn of(lists: Vec<Vec<(u32, f32)>>) -> Weights {
        let mut weights = Weights { ends: vec![0], entries: Vec::new() };
        for mut list in lists {
            weights.entries.append(&mut list);
            weights.ends.push(weights.entries.len() as u32);
        }
        weights
    }

    /// start + Σ weight × row
    #[inline(always)]
    fn sum(&self, list: usize, rows: &[Row], start: Row) -> Row {
        let mut sum = start;
        for (place, weight) in &self.entries[self.ends[list] as usize..self.ends[list + 1] as usize] {
            let row = &rows[*place as usize];
            (0..4).for_each(|i| sum[i] += weight * row[i]);
        }
        sum
    }
}
