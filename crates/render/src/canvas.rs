//! A framebuffer in linear light, with anti-aliased strokes.

use crate::image::Image;
use crate::srgb::to_srgb;
use rayon::prelude::*;

/// A framebuffer.
pub(crate) struct Canvas {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Linear RGB of every pixel.
    pub(crate) color: Vec<[f32; 3]>,
}

impl Canvas {
    /// A framebuffer whose pixels are `fill(x, y)`, with x from −1 left to 1 right and y from −1 bottom to 1 top.
    pub(crate) fn filled(width: usize, height: usize, fill: impl Fn(f64, f64) -> [f64; 3] + Sync) -> Canvas {
        let coordinate = |i: usize, count: usize| (i as f64 + 0.5) / count as f64 * 2.0 - 1.0;
        let mut color = vec![[0.0; 3]; width * height];
        color.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
            for (x, color) in row.iter_mut().enumerate() {
                *color = fill(coordinate(x, width), -coordinate(y, height)).map(|c| c as f32);
            }
        });
        Canvas { width, height, color }
    }

    /// The same where `fill` is smooth: it is evaluated at every `step`-th pixel, and interpolated bilinearly. The memory of `color` is used again.
    pub(crate) fn smoothly_filled(
        [width, height]: [usize; 2],
        step: usize,
        mut color: Vec<[f32; 3]>,
        fill: impl Fn(f64, f64) -> [f64; 3] + Sync,
    ) -> Canvas {
        let [columns, lines] = [width, height].map(|count| count.div_ceil(step) + 1);
        let coordinate = |i: usize, count: usize| (i * step) as f64 / count as f64 * 2.0 - 1.0;
        let at = |i: usize| {
            let (x, y) = (coordinate(i % columns, width), coordinate(i / columns, height));
            fill(x, -y).map(|c| c as f32)
        };
        let knots: Vec<[f32; 3]> = (0..columns * lines).into_par_iter().with_min_len(256).map(at).collect();
        let mix = |a: [f32; 3], b: [f32; 3], part: f32| [0, 1, 2].map(|i| a[i] + part * (b[i] - a[i]));
        let part = |i: usize| ((i % step) as f32 + 0.5) / step as f32;
        color.resize(width * height, [0.0; 3]);
        color.par_chunks_mut(width.max(1)).enumerate().for_each(|(y, row)| {
            let above = &knots[y / step * columns..][..columns];
            let below = &knots[(y / step + 1) * columns..][..columns];
            for (x, pixels) in row.chunks_mut(step).enumerate() {
                let left = mix(above[x], below[x], part(y));
                let right = mix(above[x + 1], below[x + 1], part(y));
                pixels.iter_mut().enumerate().for_each(|(i, pixel)| *pixel = mix(left, right, part(i)));
            }
        });
        Canvas { width, height, color }
    }

    /// Blends a colour into a pixel with an opacity from 0 to 1.
    pub(crate) fn blend(&mut self, x: usize, y: usize, color: [f32; 3], opacity: f32) {
        let pixel = &mut self.color[y * self.width + x];
        (0..3).for_each(|i| pixel[i] += opacity * (color[i] - pixel[i]));
    }

    /// Draws a round-capped segment whose radius changes linearly between its ends. Positions and radii are in pixels from the top left corner.
    pub(crate) fn stroke(&mut self, ends: [[f64; 2]; 2], radii: [f64; 2], color: [f32; 3], opacity: f64) {
        let [[ax, ay], [bx, by]] = ends;
        if ![ax, ay, bx, by].iter().all(|c| c.is_finite()) {
            return;
        }
        let reach = radii[0].max(radii[1]) + 1.0;
        let range = |a: f64, b: f64, count: usize| {
            // casts saturate, which clips the segment to the framebuffer
            ((a.min(b) - reach).floor() as usize).min(count)..((a.max(b) + reach).ceil() as usize).min(count)
        };
        let (dx, dy) = (bx - ax, by - ay);
        let squared = dx * dx + dy * dy;
        for y in range(ay, by, self.height) {
            for x in range(ax, bx, self.width) {
                // the nearest point of the segment
                let (px, py) = (x as f64 + 0.5 - ax, y as f64 + 0.5 - ay);
                let along = if squared > 0.0 { ((px * dx + py * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
                let (ex, ey) = (px - along * dx, py - along * dy);

                // coverage of a pixel falls from 1 to 0 within one pixel across the edge
                let radius = radii[0] + along * (radii[1] - radii[0]);
                let coverage = (radius + 0.5 - (ex * ex + ey * ey).sqrt()).clamp(0.0, 1.0);
                if coverage > 0.0 {
                    self.blend(x, y, color, (coverage * opacity) as f32);
                }
            }
        }
    }

    /// Encodes the pixels as sRGB.
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

    /// Bilinear interpolation is exact for a function that is linear in x and in y, up to round-off.
    #[test]
    fn a_smooth_fill_is_that_of_all_pixels() {
        let fill = |x: f64, y: f64| [x, y, 0.3 - 0.5 * x * y];
        let (each, few) =
            (Canvas::filled(37, 21, fill), Canvas::smoothly_filled([37, 21], 8, Vec::new(), fill));
        for (a, b) in each.color.iter().flatten().zip(few.color.iter().flatten()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
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
