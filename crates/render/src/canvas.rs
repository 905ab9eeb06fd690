//! A picture in the making, in linear light, and the finished one.

use crate::srgb::to_srgb;
use rayon::prelude::*;

/// A finished picture: three sRGB bytes per pixel, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue of every pixel.
    pub bytes: Vec<u8>,
}

impl Image {
    /// Puts pictures of one size into rows of `columns`, with a line of white this wide (pixels) between them.
    pub(crate) fn sheet(tiles: &[Image], columns: usize, gap: usize) -> Image {
        let Some(first) = tiles.first() else { return Image { width: 0, height: 0, bytes: Vec::new() } };
        let rows = tiles.len().div_ceil(columns);
        let width = columns * first.width + (columns - 1) * gap;
        let height = rows * first.height + (rows - 1) * gap;
        let mut bytes = vec![255; 3 * width * height];
        for (i, tile) in tiles.iter().enumerate() {
            let (left, top) = ((i % columns) * (first.width + gap), (i / columns) * (first.height + gap));
            for (y, row) in tile.bytes.chunks_exact(3 * tile.width).enumerate() {
                bytes[3 * ((top + y) * width + left)..][..row.len()].copy_from_slice(row);
            }
        }
        Image { width, height, bytes }
    }
}

/// A picture in the making.
pub(crate) struct Canvas {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Linear RGB of every pixel.
    pub(crate) color: Vec<[f32; 3]>,
}

impl Canvas {
    /// A picture filled by place, from −1 to 1, left to right and bottom to top.
    pub(crate) fn filled(width: usize, height: usize, fill: impl Fn(f64, f64) -> [f64; 3] + Sync) -> Canvas {
        let place = |i: usize, count: usize| (i as f64 + 0.5) / count as f64 * 2.0 - 1.0;
        let mut color = vec![[0.0; 3]; width * height];
        color.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
            for (x, color) in row.iter_mut().enumerate() {
                *color = fill(place(x, width), -place(y, height)).map(|c| c as f32);
            }
        });
        Canvas { width, height, color }
    }

    /// Mixes a fraction of a colour into a pixel.
    pub(crate) fn mix(&mut self, x: usize, y: usize, color: [f32; 3], fraction: f32) {
        let pixel = &mut self.color[y * self.width + x];
        (0..3).for_each(|i| pixel[i] += fraction * (color[i] - pixel[i]));
    }

    /// Draws a line that is as thick as two discs at its ends; places and radii are in pixels from the top left corner.
    pub(crate) fn stroke(&mut self, ends: [[f64; 2]; 2], radii: [f64; 2], color: [f32; 3], fraction: f64) {
        let [[ax, ay], [bx, by]] = ends;
        if ![ax, ay, bx, by].iter().all(|c| c.is_finite()) {
            return;
        }
        let most = radii[0].max(radii[1]) + 1.0;
        let range = |a: f64, b: f64, count: usize| {
            // casts saturate, so lines outside of the picture end at its border
            ((a.min(b) - most).floor() as usize).min(count)..((a.max(b) + most).ceil() as usize).min(count)
        };
        let (dx, dy) = (bx - ax, by - ay);
        let squared = dx * dx + dy * dy;
        for y in range(ay, by, self.height) {
            for x in range(ax, bx, self.width) {
                let (px, py) = (x as f64 + 0.5 - ax, y as f64 + 0.5 - ay);
                let along = if squared > 0.0 { ((px * dx + py * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
                let (ex, ey) = (px - along * dx, py - along * dy);
                let radius = radii[0] + along * (radii[1] - radii[0]);
                let covered = (radius + 0.5 - (ex * ex + ey * ey).sqrt()).clamp(0.0, 1.0);
                if covered > 0.0 {
                    self.mix(x, y, color, (covered * fraction) as f32);
                }
            }
        }
    }

    /// The finished picture.
    pub(crate) fn finish(&self) -> Image {
        let mut bytes = vec![0; 3 * self.color.len()];
        bytes.par_chunks_mut(3 * 4096).zip(self.color.par_chunks(4096)).for_each(|(bytes, colors)| {
            for (bytes, color) in bytes.chunks_exact_mut(3).zip(colors) {
                (0..3).for_each(|i| bytes[i] = to_srgb(color[i]));
            }
        });
        Image { width: self.width, height: self.height, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_its_tiles_in_rows() {
        let tile = |shade: u8| Image { width: 2, height: 1, bytes: vec![shade; 6] };
        let sheet = Image::sheet(&[tile(1), tile(2), tile(3)], 2, 1);
        assert_eq!((sheet.width, sheet.height), (5, 3));
        let reds: Vec<u8> = sheet.bytes.iter().step_by(3).copied().collect();
        assert_eq!(reds, [1, 1, 255, 2, 2, 255, 255, 255, 255, 255, 3, 3, 255, 255, 255]);
    }

    #[test]
    fn a_stroke_covers_its_width_and_stays_in_the_picture() {
        let mut canvas = Canvas::filled(20, 10, |_, _| [0.0; 3]);
        canvas.stroke([[-50.0, 5.0], [50.0, 5.0]], [1.0, 1.0], [1.0; 3], 1.0);
        let column: Vec<f32> = (0..10).map(|y| canvas.color[y * 20 + 7][0]).collect();
        assert_eq!(column, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        canvas.stroke([[f64::NAN, 5.0], [50.0, 5.0]], [1.0, 1.0], [1.0; 3], 1.0);
        canvas.stroke([[-1e300, -1e300], [-1e299, 5.0]], [1.0, 1.0], [1.0; 3], 1.0);
    }
}
