//! Rectangles of one colour with an upright picture: texels that are copied or blended row by row.

use super::PixelRect;
use egui::epaint::Vertex;
use egui::{Color32, ColorImage};

/// The texels of a rectangle.
pub(super) struct Texels<'a> {
    image: &'a ColorImage,
    tint: Color32,
    /// Its corner (pixels), the place of that corner in the image and the step from pixel to pixel (texels).
    corner: [f32; 2],
    start: [f32; 2],
    step: [f32; 2],
}

impl<'a> Texels<'a> {
    pub(super) fn of(image: &'a ColorImage, [low, high]: &[Vertex; 2]) -> Texels<'a> {
        let size = image.size.map(|side| side as f32);
        let (extent, span) = (high.pos - low.pos, high.uv - low.uv);
        Texels {
            image,
            tint: low.color,
            corner: low.pos.into(),
            start: [low.uv.x * size[0], low.uv.y * size[1]],
            step: [span.x * size[0] / extent.x, span.y * size[1] / extent.y],
        }
    }

    /// The place of the centre of a pixel in the image (texels).
    fn place(&self, axis: usize, pixel: usize) -> f32 {
        self.start[axis] + (pixel as f32 + 0.5 - self.corner[axis]) * self.step[axis]
    }

    pub(super) fn paint(&self, pixels: &mut [u32], width: usize, place: &PixelRect) {
        let rows =
            (place.min[1]..place.max[1]).map(|y| (y, y * width + place.min[0]..y * width + place.max[0]));
        if self.step == [0.0; 2] {
            // a plain fill
            let color = tinted(self.texel(self.start[0] as i64, self.start[1] as i64), self.tint);
            for (_, row) in rows {
                match color.a() {
                    255 => pixels[row].fill(packed(color)),
                    _ => pixels[row].iter_mut().for_each(|pixel| *pixel = over(color, *pixel)),
                }
            }
            return;
        }
        let first = [0, 1].map(|i| self.place(i, place.min[i]));
        // one texel for each pixel, centre on centre: within a hundredth nothing is to be seen of the others
        let is_aligned = (0..2)
            .all(|i| (self.step[i] - 1.0).abs() < 1e-4 && (first[i] - first[i].floor() - 0.5).abs() < 1e-2);
        let (left, top) = (first[0].floor() as i64, first[1].floor() as i64);
        let [columns, lines] = self.image.size.map(|side| side as i64);
        let count = (place.max[0] - place.min[0]) as i64;
        for (y, row) in rows {
            let line = top + (y - place.min[1]) as i64;
            if is_aligned && left >= 0 && left + count <= columns && (0..lines).contains(&line) {
                let from = (line * columns + left) as usize;
                let texels = &self.image.pixels[from..from + count as usize];
                pixels[row].iter_mut().zip(texels).for_each(|(pixel, texel)| blend(pixel, *texel, self.tint));
            } else {
                let v = self.place(1, y);
                for (x, pixel) in row.clone().enumerate() {
                    let texel = sample(self.image, self.place(0, place.min[0] + x), v);
                    blend(&mut pixels[pixel], texel, self.tint);
                }
            }
        }
    }

    fn texel(&self, x: i64, y: i64) -> Color32 {
        texel_at(self.image, x, y)
    }
}

/// The texel at a column and a row, or the nearest to it.
fn texel_at(image: &ColorImage, x: i64, y: i64) -> Color32 {
    let [width, height] = image.size;
    let (x, y) = (x.clamp(0, width as i64 - 1) as usize, y.clamp(0, height as i64 - 1) as usize);
    image.pixels[y * width + x]
}

/// Bilinear interpolation at a place (texels), with weights of 1/256.
pub(super) fn sample(image: &ColorImage, u: f32, v: f32) -> Color32 {
    let (u, v) = (u - 0.5, v - 0.5);
    let (left, top) = (u.floor(), v.floor());
    let (x, y) = (((u - left) * 256.0) as u32, ((v - top) * 256.0) as u32);
    let (left, top) = (left as i64, top as i64);
    let [width, height] = image.size.map(|side| side as i64);
    let corners = if left >= 0 && top >= 0 && left + 1 < width && top + 1 < height {
        let at = (top * width + left) as usize;
        let below = at + width as usize;
        [image.pixels[at], image.pixels[at + 1], image.pixels[below], image.pixels[below + 1]]
    } else {
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| texel_at(image, left + i, top + j))
    };
    // two channels at a time, 16 bits apart
    let halves = corners.map(|corner| {
        let [r, g, b, a] = corner.to_array().map(u32::from);
        [r | b << 16, g | a << 16]
    });
    let mixed = [0, 1].map(|i| {
        let mix = |a: u32, b: u32, weight: u32| (a * (256 - weight) + b * weight) >> 8 & 0x00ff_00ff;
        let wide = |a: u32, b: u32| mix(a, b, x);
        mix(wide(halves[0][i], halves[1][i]), wide(halves[2][i], halves[3][i]), y)
    });
    let [rb, ga] = mixed;
    Color32::from_rgba_premultiplied(rb as u8, ga as u8, (rb >> 16) as u8, (ga >> 16) as u8)
}

/// 0x00RRGGBB.
pub(super) fn packed(color: Color32) -> u32 {
    let [r, g, b, _] = color.to_array().map(u32::from);
    r << 16 | g << 8 | b
}

/// The product of two colours.
pub(super) fn tinted(color: Color32, tint: Color32) -> Color32 {
    if tint == Color32::WHITE {
        return color;
    }
    if color == Color32::WHITE {
        return tint;
    }
    let (color, tint) = (color.to_array(), tint.to_array());
    let [r, g, b, a] = [0, 1, 2, 3].map(|i| divided(u32::from(color[i]) * u32::from(tint[i])) as u8);
    Color32::from_rgba_premultiplied(r, g, b, a)
}

/// A number up to 255² divided by 255, rounded.
fn divided(number: u32) -> u32 {
    let shifted = number + 128;
    (shifted + (shifted >> 8)) >> 8
}

/// A premultiplied colour over a pixel.
pub(super) fn over(color: Color32, below: u32) -> u32 {
    let [r, g, b, a] = color.to_array().map(u32::from);
    let rest = 255 - a;
    let channel = |own: u32, shift: u32| (own + divided((below >> shift & 255) * rest)).min(255) << shift;
    channel(r, 16) | channel(g, 8) | channel(b, 0)
}

fn blend(pixel: &mut u32, texel: Color32, tint: Color32) {
    if texel == Color32::TRANSPARENT {
        return;
    }
    let color = tinted(texel, tint);
    *pixel = if color.a() == 255 { packed(color) } else { over(color, *pixel) };
}
