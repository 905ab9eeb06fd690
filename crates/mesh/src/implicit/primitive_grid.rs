//! Two-level grid over a body with the primitives that contribute in each box.
//!
//! A primitive farther than its blend length above the nearest one contributes exactly zero, and distances are 1-Lipschitz. So
//! the distances at the centre of a box determine all primitives that contribute in it, and omitting the others changes no bit.
//! Boxes that may contain part of the surface, where nearly all points are asked for, are divided once more.

use super::Primitive;
use rayon::prelude::*;
use sinew_math::Vec3;

/// For each box of the grid, the primitives that contribute in it, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PrimitiveGrid {
    low: Vec3,
    /// Side of a box (m).
    side: f64,
    counts: [usize; 3],
    /// The first list of each box, then the number of all lists: a box has one, or one for each of its parts.
    first: Vec<u32>,
    offsets: Vec<u32>,
    parts: Vec<u32>,
}

/// Boxes along the longest side of a body: the grid costs as much as sixty thousand distances.
const BOXES_ALONG_LONGEST_SIDE: f64 = 24.0;
/// Parts along each side of a box that is divided: a body of a hundred primitives has about four of them in each.
const PARTS: usize = 4;
/// Boxes with fewer primitives are not divided.
const MIN_DIVIDED: usize = 3;

impl PrimitiveGrid {
    /// Builds the grid over the box from `low` to `high` (m).
    pub(crate) fn find(primitives: &[Primitive], (low, high): (Vec3, Vec3)) -> Self {
        let side = (high - low).amax() / BOXES_ALONG_LONGEST_SIDE;
        let counts = [0, 1, 2].map(|k| ((high[k] - low[k]) / side).ceil().max(1.0) as usize);
        let all: Vec<u32> = (0..primitives.len() as u32).collect();
        let lists_of = |cell: usize| {
            let at = [cell % counts[0], cell / counts[0] % counts[1], cell / counts[0] / counts[1]];
            let corner = low + side * Vec3::from_fn(|k, _| at[k] as f64);
            let own = Candidates::find(primitives, &all, &(corner + Vec3::repeat(0.5 * side)), side);
            if !own.may_hold_surface || own.indices.len() < MIN_DIVIDED {
                return vec![own.indices];
            }
            let step = side / PARTS as f64;
            let part = |i: usize| {
                let at = [i % PARTS, i / PARTS % PARTS, i / PARTS / PARTS];
                let middle = corner + step * Vec3::from_fn(|k, _| at[k] as f64 + 0.5);
                Candidates::find(primitives, &own.indices, &middle, step).indices
            };
            (0..PARTS * PARTS * PARTS).map(part).collect()
        };
        let cells: Vec<Vec<Vec<u32>>> = (0..counts.iter().product()).into_par_iter().map(lists_of).collect();

        let mut grid = Self { low, side, counts, first: vec![0], offsets: vec![0], parts: Vec::new() };
        for lists in cells {
            for list in lists {
                grid.parts.extend(list);
                grid.offsets.push(grid.parts.len() as u32);
            }
            grid.first.push(grid.offsets.len() as u32 - 1);
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
        let mut list = self.first[cell] as usize;
        if self.first[cell + 1] as usize > list + 1 {
            let [i, j, k] = [at.x - x as f64, at.y - y as f64, at.z - z as f64]
                .map(|along| (PARTS as f64 * along) as usize);
            list += i + PARTS * (j + PARTS * k);
        }
        Some(&self.parts[self.offsets[list] as usize..self.offsets[list + 1] as usize])
    }
}

/// The primitives that contribute in a box, of some.
struct Candidates {
    indices: Vec<u32>,
    may_hold_surface: bool,
}

impl Candidates {
    fn find(primitives: &[Primitive], of: &[u32], middle: &Vec3, side: f64) -> Candidates {
        // half a diagonal, with a margin for round-off
        let reach = 0.5 * 3f64.sqrt() * side * (1.0 + 1e-9);
        let distances: Vec<f64> = of.iter().map(|&i| primitives[i as usize].distance(middle)).collect();
        let smallest = distances.iter().fold(f64::INFINITY, |m, d| m.min(*d));
        let widest = of.iter().map(|&i| primitives[i as usize].blend).fold(0.0, f64::max);
        let contributes = |(i, distance): (&u32, &f64)| {
            (distance - reach - primitives[*i as usize].blend <= smallest + reach).then_some(*i)
        };
        Candidates {
            indices: of.iter().zip(&distances).filter_map(contributes).collect(),
            // the field is at most the smallest distance, and at most a blend length below it
            may_hold_surface: smallest >= -reach && smallest - widest <= reach,
        }
    }
}
