//! Uniform grid over a body with the primitives that contribute in each box.
//!
//! A primitive farther than its blend length above the nearest one contributes exactly zero, and distances are 1-Lipschitz. So
//! the distances at the centre of a box determine all primitives that contribute in it, and omitting the others changes no bit.

use super::Primitive;
use sinew_math::Vec3;

/// For each box of the grid, the primitives that contribute in it, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PrimitiveGrid {
    low: Vec3,
    /// Side of a box (m).
    side: f64,
    counts: [usize; 3],
    offsets: Vec<u32>,
    parts: Vec<u32>,
}

/// Boxes along the longest side of a body: with 24 a body of twenty bones has about four primitives per box, and the grid costs
/// as much as sixty thousand distances.
const BOXES_ALONG_LONGEST_SIDE: f64 = 24.0;

impl PrimitiveGrid {
    /// Builds the grid over the box from `low` to `high` (m).
    pub(crate) fn find(primitives: &[Primitive], (low, high): (Vec3, Vec3)) -> Self {
        let side = (high - low).amax() / BOXES_ALONG_LONGEST_SIDE;
        let counts = [0, 1, 2].map(|k| ((high[k] - low[k]) / side).ceil().max(1.0) as usize);
        let mut grid = Self { low, side, counts, offsets: vec![0], parts: Vec::new() };
        // half a diagonal, with a margin for round-off
        let reach = 0.5 * 3f64.sqrt() * side * (1.0 + 1e-9);
        for cell in 0..counts.iter().product() {
            let at = [cell % counts[0], cell / counts[0] % counts[1], cell / counts[0] / counts[1]];
            let middle = low + side * Vec3::from_fn(|k, _| at[k] as f64 + 0.5);
            let distances: Vec<f64> = primitives.iter().map(|l| l.distance(&middle)).collect();
            let smallest = distances.iter().fold(f64::INFINITY, |m, d| m.min(*d));
            let contributes = |&i: &usize| distances[i] - reach - primitives[i].blend <= smallest + reach;
            grid.parts.extend((0..primitives.len()).filter(contributes).map(|i| i as u32));
            grid.offsets.push(grid.parts.len() as u32);
        }
        grid
    }

    /// The primitives that contribute at `p` (m); `None` outside the grid, where all may.
    pub(crate) fn at(&self, p: &Vec3) -> Option<&[u32]> {
        let at = (p - self.low) / self.side;
        if !(0..3).all(|k| at[k] >= 0.0 && at[k] < self.counts[k] as f64) {
            return None;
        }
        let [x, y, z] = [0, 1, 2].map(|k| at[k] as usize);
        let cell = x + self.counts[0] * (y + self.counts[1] * z);
        Some(&self.parts[self.offsets[cell] as usize..self.offsets[cell + 1] as usize])
    }
}
