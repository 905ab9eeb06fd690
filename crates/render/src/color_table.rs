//! Median-cut colour quantisation: a table of few colours for all pictures of a clip.
//!
//! A histogram of the colours is cut into boxes, the one with the largest variance first, at the median of its weight; the mean of each box is one
//! entry of the table. Counts enter by their square roots, so that a large plain background does not take all entries from what stands before it.

use crate::image::Image;

/// Cells of the histogram along each axis.
const CELLS: usize = 32;
/// Cells of the nearest-colour lookup along each axis.
const LOOKUP: usize = 64;

/// A histogram of the colours of pictures.
pub(crate) struct ColorHistogram {
    /// For each cell the sum of its colours and their number.
    cells: Vec<([u64; 3], u64)>,
}

/// A few colours, with a cached search for the nearest one.
pub(crate) struct ColorTable {
    pub(crate) colors: Vec<[u8; 3]>,
    /// For each cell of the lookup the index of the nearest colour; `u16::MAX` until it is asked for.
    nearest: Vec<u16>,
}

struct ColorBox {
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    color: [f64; 3],
    weight: f64,
}

impl ColorHistogram {
    pub(crate) fn new() -> ColorHistogram {
        ColorHistogram { cells: vec![([0; 3], 0); CELLS * CELLS * CELLS] }
    }

    pub(crate) fn add(&mut self, image: &Image) {
        for color in image.bytes.chunks_exact(3) {
            let [r, g, b] = [0, 1, 2].map(|i| usize::from(color[i]) * CELLS / 256);
            let (sum, count) = &mut self.cells[(r * CELLS + g) * CELLS + b];
            (0..3).for_each(|i| sum[i] += u64::from(color[i]));
            *count += 1;
        }
    }

    /// The table of at most `max_count` colours.
    pub(crate) fn quantise(&self, max_count: usize) -> ColorTable {
        let cells: Vec<Cell> = self
            .cells
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(sum, count)| Cell {
                color: sum.map(|s| s as f64 / *count as f64),
                weight: (*count as f64).sqrt(),
            })
            .collect();

        // split the box with the largest variance until there are enough
        let mut boxes = vec![ColorBox { cells }];
        while boxes.len() < max_count {
            let variances = boxes.iter().map(ColorBox::splittable_variance);
            let (index, variance) =
                variances.enumerate().fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
            if variance == 0.0 {
                break;
            }
            let upper = boxes[index].split();
            boxes.push(upper);
        }

        let mut colors: Vec<[u8; 3]> = boxes.iter().map(ColorBox::mean).collect();
        colors.sort_unstable();
        colors.dedup();
        ColorTable { colors, nearest: vec![u16::MAX; LOOKUP * LOOKUP * LOOKUP] }
    }
}

impl ColorBox {
    /// The axis with the largest weighted variance Σ w (c − c̄)², and that variance.
    fn widest_axis(&self) -> (usize, f64) {
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

    /// The variance along the widest axis; 0 for a box of one cell, which cannot be split.
    fn splittable_variance(&self) -> f64 {
        if self.cells.len() < 2 { 0.0 } else { self.widest_axis().1 }
    }

    /// Keeps the cells below the weighted median of the widest axis and returns those above.
    fn split(&mut self) -> ColorBox {
        let axis = self.widest_axis().0;
        // a stable sort, so that the same histogram gives the same boxes
        self.cells.sort_by(|a, b| a.color[axis].total_cmp(&b.color[axis]));
        let half = self.cells.iter().map(|cell| cell.weight).sum::<f64>() / 2.0;
        let mut below = 0.0;
        let cut = self.cells.iter().position(|cell| {
            below += cell.weight;
            below >= half
        });
        let cut = (cut.unwrap_or(0) + 1).clamp(1, self.cells.len() - 1);
        ColorBox { cells: self.cells.split_off(cut) }
    }

    fn mean(&self) -> [u8; 3] {
        let weight: f64 = self.cells.iter().map(|cell| cell.weight).sum();
        [0, 1, 2].map(|i| {
            let sum: f64 = self.cells.iter().map(|cell| cell.weight * cell.color[i]).sum();
            if weight > 0.0 { (sum / weight + 0.5) as u8 } else { 0 }
        })
    }
}

impl ColorTable {
    /// The index of the nearest colour.
    pub(crate) fn nearest(&mut self, color: [u8; 3]) -> u8 {
        let cell = color.map(|c| usize::from(c) * LOOKUP / 256);
        let index = (cell[0] * LOOKUP + cell[1]) * LOOKUP + cell[2];
        if self.nearest[index] == u16::MAX {
            let middle = cell.map(|c| ((2 * c + 1) * 256 / (2 * LOOKUP)) as i32);
            let distance = |other: &[u8; 3]| {
                let [r, g, b] = [0, 1, 2].map(|i| middle[i] - i32::from(other[i]));
                // the eye is most sensitive to green and least to blue
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
    fn few_colours_are_exact_and_many_are_reduced() {
        let mut histogram = ColorHistogram::new();
        let three = [[255, 0, 0], [0, 255, 0], [10, 20, 30]];
        histogram.add(&Image { width: 3, height: 1, bytes: three.concat() });
        let mut colors = histogram.quantise(8);
        assert_eq!(colors.colors, [[0, 255, 0], [10, 20, 30], [255, 0, 0]]);
        assert_eq!(colors.nearest([250, 9, 9]), 2);

        let ramp: Vec<u8> = (0..=255u8).flat_map(|c| [c, c, c]).collect();
        histogram.add(&Image { width: 256, height: 1, bytes: ramp });
        let colors = histogram.quantise(16);
        assert_eq!(colors.colors.len(), 16);
        assert!(colors.colors.iter().any(|c| c[0] > 200 && c[1] < 50));
    }

    #[test]
    fn an_empty_histogram_gives_a_table() {
        let mut colors = ColorHistogram::new().quantise(4);
        assert_eq!(colors.nearest([1, 2, 3]), 0);
    }
}
