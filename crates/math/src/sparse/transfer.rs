//! From a coarse grid to nodes and back: trilinear weights over cubes laid across the nodes.

use super::{BlockSum, Row};
use crate::Vec3;

/// Sparse weights P from the corners of cubes to nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Transfer {
    ends: Vec<u32>,
    entries: Vec<(u32, f32)>,
    /// Where the corners stand that carry something (m).
    pub(super) places: Vec<Vec3>,
}

/// Weights below this are left out: the corner barely touches the node, and would make the coarse matrix nearly singular.
const SMALLEST: f64 = 1e-3;

impl Transfer {
    /// Lays cubes of about `width` (m) over nodes that stand at `nodes`.
    pub(super) fn find(nodes: &[Vec3], width: f64) -> Transfer {
        let first = nodes.first().copied().unwrap_or_default();
        let (low, high) = nodes.iter().fold((first, first), |(low, high), x| (low.inf(x), high.sup(x)));
        let size = high - low;
        // a whole number of cubes along the longest side
        let width = size.max() / (size.max() / width).round().max(1.0);
        let width = if width > 0.0 { width } else { 1.0 };
        let cells = size.map(|s| ((s / width - 1e-9).ceil() as u64).max(1));
        let corner = |x: u64, y: u64, z: u64| (x * (cells.y + 1) + y) * (cells.z + 1) + z;

        let mut weights: Vec<Vec<(u64, f64)>> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let at = (node - low) / width;
            let cell: [u64; 3] = core::array::from_fn(|i| (at[i].max(0.0) as u64).min(cells[i] - 1));
            let share: [f64; 3] = core::array::from_fn(|i| (at[i] - cell[i] as f64).clamp(0.0, 1.0));
            let mut own = Vec::with_capacity(8);
            for k in 0..8usize {
                let bits = [k & 1, k >> 1 & 1, k >> 2 & 1];
                let weight: f64 =
                    (0..3).map(|i| if bits[i] == 1 { share[i] } else { 1.0 - share[i] }).product();
                if weight > SMALLEST {
                    let [x, y, z] = core::array::from_fn(|i| cell[i] + bits[i] as u64);
                    own.push((corner(x, y, z), weight));
                }
            }
            let whole: f64 = own.iter().map(|(_, weight)| weight).sum();
            own.iter_mut().for_each(|(_, weight)| *weight /= whole);
            weights.push(own);
        }

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
        let place = |corner: &u64| {
            let (yz, z) = (corner / (cells.z + 1), corner % (cells.z + 1));
            let (x, y) = (yz / (cells.y + 1), yz % (cells.y + 1));
            low + width * Vec3::new(x as f64, y as f64, z as f64)
        };
        transfer.places = used.iter().map(place).collect();
        transfer
    }

    fn of_node(&self, node: usize) -> &[(u32, f32)] {
        &self.entries[self.ends[node] as usize..self.ends[node + 1] as usize]
    }

    /// coarse = Pᵀ fine
    pub(super) fn restrict(&self, fine: &[Row], coarse: &mut [Row]) {
        coarse.fill([0.0; 4]);
        for (node, fine) in fine.iter().enumerate() {
            for (corner, weight) in self.of_node(node) {
                let coarse = &mut coarse[*corner as usize];
                (0..4).for_each(|i| coarse[i] += weight * fine[i]);
            }
        }
    }

    /// fine += P coarse
    pub(super) fn add_prolonged(&self, coarse: &[Row], fine: &mut [Row]) {
        for (node, fine) in fine.iter_mut().enumerate() {
            for (corner, weight) in self.of_node(node) {
                let coarse = &coarse[*corner as usize];
                (0..4).for_each(|i| fine[i] += weight * coarse[i]);
            }
        }
    }

    /// Pᵀ A P
    pub(super) fn galerkin(&self, matrix: &BlockSum) -> BlockSum {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); self.places.len()];
        for row in 0..matrix.row_count() {
            for column in matrix.columns_of(row) {
                for (corner, _) in self.of_node(row) {
                    let others = self.of_node(*column as usize).iter().map(|(other, _)| *other);
                    neighbours[*corner as usize].extend(others);
                }
            }
            // keeps the lists short while they grow
            for (corner, _) in self.of_node(row) {
                let list = &mut neighbours[*corner as usize];
                list.sort_unstable();
                list.dedup();
            }
        }
        let mut coarse = BlockSum::with_pattern(neighbours);
        for row in 0..matrix.row_count() {
            for (column, block) in matrix.columns_of(row).iter().zip(matrix.blocks_of(row)) {
                for (corner, weight) in self.of_node(row) {
                    let part = block * f64::from(*weight);
                    for (other, share) in self.of_node(*column as usize) {
                        coarse.add(*corner as usize, *other as usize, &(part * f64::from(*share)));
                    }
                }
            }
        }
        coarse
    }
}
