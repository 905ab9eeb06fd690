//! Which parts of a body have a say where.
//!
//! The one idea: a part farther than its blend length above the nearest one adds exactly nothing, and distances change no faster
//! than the point moves. So one look at the middle of a box names all parts that matter in it, and leaving
//! out the others changes no bit.

use super::Primitive;
use sinew_math::Vec3;

/// For each box of a grid over a body, the parts that have a say in it, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Near {
    low: Vec3,
    /// Side of a box (m).
    side: f64,
    counts: [usize; 3],
    offsets: Vec<u32>,
    parts: Vec<u32>,
}

/// Boxes along the longest side of a body: at 24 a body of twenty bones has some four parts to a box, and the
/// grid costs as much as sixty thousand distances.
const ALONG: f64 = 24.0;

impl Near {
    /// Looks around in the box from `low` to `high` (m).
    pub(crate) fn find(primitives: &[Primitive], (low, high): (Vec3, Vec3)) -> Self {
        let side = (high - low).amax() / ALONG;
        let counts = [0, 1, 2].map(|k| ((high[k] - low[k]) / side).ceil().max(1.0) as usize);
        let mut near = Self { low, side, counts, offsets: vec![0], parts: Vec::new() };
        // half a diagonal, and a little for round-off
        let reach = 0.5 * 3f64.sqrt() * side * (1.0 + 1e-9);
        for cell in 0..counts.iter().product() {
            let at = [cell % counts[0], cell / counts[0] % counts[1], cell / counts[0] / counts[1]];
            let middle = low + side * Vec3::from_fn(|k, _| at[k] as f64 + 0.5);
            let distances: Vec<f64> = primitives.iter().map(|l| l.distance(&middle)).collect();
            let least = distances.iter().fold(f64::INFINITY, |m, d| m.min(*d));
            let has_say = |&i: &usize| distances[i] - reach - primitives[i].blend <= least + reach;
            near.parts.extend((0..primitives.len()).filter(has_say).map(|i| i as u32));
            near.offsets.push(near.parts.len() as u32);
        }
        near
    }

    /// The parts that have a say at `p` (m); `None` outside the grid, where all may.
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
