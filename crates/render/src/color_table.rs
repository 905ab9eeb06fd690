//! The few colours that stand for all of a clip.
//!
//! Colours are counted in cells of a grid and cut into boxes by weight, widest first; the mean of each box is one colour. Counts enter by their square roots, so
//! that a large plain background does not take all colours from what is before it.

use crate::canvas::Image;

/// Cells along each axis while colours are counted.
const CELLS: usize = 32;
/// Cells along each axis where the nearest colour is looked up.
const LOOKUP: usize = 64;

/// Counts colours of pictures.
pub(crate) struct ColorCount {
    /// For each cell the sum of its colours and their number.
    cells: Vec<([u64; 3], u64)>,
}

/// A few colours and which of them is nearest to any other.
pub(crate) struct Colors {
    pub(crate) colors: Vec<[u8; 3]>,
    nearest: Vec<u16>,
}

struct Box {
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    color: [f64; 3],
    weight: f64,
}

impl ColorCount {
    pub(crate) fn new() -> ColorCount {
        ColorCount { cells: vec![([0; 3], 0); CELLS * CELLS * CELLS] }
    }

    pub(crate) fn add(&mut self, image: &Image) {
        for color in image.bytes.chunks_exact(3) {
            let [r, g, b] = [0, 1, 2].map(|i| usize::from(color[i]) * CELLS / 256);
            let (sum, count) = &mut self.cells[(r * CELLS + g) * CELLS + b];
            (0..3).for_each(|i| sum[i] += u64::from(color[i]));
            *count += 1;
        }
    }

    /// At most so many colours.
    pub(crate) fn choose(&self, most: usize) -> Colors {
        let cells: Vec<Cell> = self
            .cells
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(sum, count)| Cell {
                color: sum.map(|s| s as f64 / *count as f64),
                weight: (*count as f64).sqrt(),
            })
            .collect();
        let mut boxes = vec![Box { cells }];
        while boxes.len() < most {
            let costs = boxes.iter().map(Box::cost);
            let (index, cost) =
                costs.enumerate().fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
            if cost == 0.0 {
                break;
            }
            let other = boxes[index].split();
            boxes.push(other);
        }
        let mut colors: Vec<[u8; 3]> = boxes.iter().map(Box::mean).collect();
        colors.sort_unstable();
        colors.dedup();
        Colors { colors, nearest: vec![u16::MAX; LOOKUP * LOOKUP * LOOKUP] }
    }
}

impl Box {
    /// Σ w (c − c̄)², along the axis where it is largest.
    fn spread(&self) -> (usize, f64) {
        let weight: f64 = self.cells.iter().map(|cell| cell.weight).sum();
        let along = |i: usize| {
            let mean = self.cells.iter().map(|cell| cell.weight * cell.color[i]).sum::<f64>() / weight;
            self.cells
                .iter()
                .map(|cell| cell.weight * (cell.color[i] - mean) * (cell.color[i] - mean))
                .sum::<f64>()
        };
        let found = [along(0), along(1), along(2)];
        (0..3).fold((0, found[0]), |best, i| if found[i] > best.1 { (i, found[i]) } else { best })
    }

    fn cost(&self) -> f64 {
        if self.cells.len() < 2 { 0.0 } else { self.spread().1 }
    }

    /// Keeps the lower half by weight and returns the upper.
    fn split(&mut self) -> Box {
        let axis = self.spread().0;
        // ties keep their order, so the same counts give the same boxes
        self.cells.sort_by(|a, b| a.color[axis].total_cmp(&b.color[axis]));
        let half = self.cells.iter().map(|cell| cell.weight).sum::<f64>() / 2.0;
        let mut below = 0.0;
        let cut = self.cells.iter().position(|cell| {
            below += cell.weight;
            below >= half
        });
        let cut = (cut.unwrap_or(0) + 1).clamp(1, self.cells.len() - 1);
        Box { cells: self.cells.split_off(cut) }
    }

    fn mean(&self) -> [u8; 3] {
        let weight: f64 = self.cells.iter().map(|cell| cell.weight).sum();
        [0, 1, 2].map(|i| {
            let sum: f64 = self.cells.iter().map(|cell| cell.weight * cell.color[i]).sum();
            if weight > 0.0 { (sum / weight + 0.5) as u8 } else { 0 }
        })
    }
}

impl Colors {
    /// Which colour is nearest.
    pub(crate) fn nearest(&mut self, color: [u8; 3]) -> u8 {
        let cell = color.map(|c| usize::from(c) * LOOKUP / 256);
        let index = (cell[0] * LOOKUP + cell[1]) * LOOKUP + cell[2];
        if self.nearest[index] == u16::MAX {
            let middle = cell.map(|c| ((2 * c + 1) * 256 / (2 * LOOKUP)) as i32);
            let distance = |other: &[u8; 3]| {
                let [r, g, b] = [0, 1, 2].map(|i| middle[i] - i32::from(other[i]));
                // eyes see green best and blue worst
                3 * r * r + 5 * g * g + 2 * b * b
            };
            let found = self.colors.iter().enumerate().min_by_key(|(_, other)| distance(other));
            self.nearest[index] = found.map_or(0, |(i, _)| i as u16);
        }
        self.nearest[index] as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are_and_many_are_cut() {
        let mut count = ColorCount::new();
        let three = [[255, 0, 0], [0, 255, 0], [10, 20, 30]];
        count.add(&Image { width: 3, height: 1, bytes: three.concat() });
        let mut colors = count.choose(8);
        assert_eq!(colors.colors, [[0, 255, 0], [10, 20, 30], [255, 0, 0]]);
        assert_eq!(colors.nearest([250, 9, 9]), 2);

        let ramp: Vec<u8> = (0..=255u8).flat_map(|c| [c, c, c]).collect();
        count.add(&Image { width: 256, height: 1, bytes: ramp });
        let colors = count.choose(16);
        assert_eq!(colors.colors.len(), 16);
        assert!(colors.colors.iter().any(|c| c[0] > 200 && c[1] < 50));
    }

    #[test]
    fn nothing_counted_is_no_trouble() {
        let mut colors = ColorCount::new().choose(4);
        assert_eq!(colors.nearest([1, 2, 3]), 0);
    }
}
