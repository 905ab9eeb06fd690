//! Scanline rasterisation of a triangle whose colours are interpolated.

use super::PixelRect;
use super::texel::{over, packed, sample, tinted};
use egui::epaint::Vertex;
use egui::{Color32, ColorImage, Pos2};

/// Paints the part of a triangle in a rectangle: pixels whose centres are inside, those on a common edge of two triangles once.
pub(super) fn paint(
    pixels: &mut [u32],
    width: usize,
    place: &PixelRect,
    corners: &[Vertex; 3],
    image: &ColorImage,
) {
    let [a, b, c] = corners.map(|corner| corner.pos);
    let (ab, ac) = (b - a, c - a);
    let area = ab.x * ac.y - ab.y * ac.x;
    if !area.is_finite() || area.abs() < 1e-6 {
        return;
    }
    let fill = Fill::of(corners, area, image);
    for y in place.min[1]..place.max[1] {
        let Some([left, right]) = span(&[a, b, c], y as f32 + 0.5) else { continue };
        let centre = |x: f32| (x - 0.5).ceil().max(0.0) as usize;
        let columns = centre(left).max(place.min[0])..centre(right).min(place.max[0]);
        for x in columns {
            let pixel = &mut pixels[y * width + x];
            let color = fill.at(x as f32 + 0.5, y as f32 + 0.5);
            *pixel = if color.a() == 255 { packed(color) } else { over(color, *pixel) };
        }
    }
}

/// Where a row of pixel centres enters a triangle and leaves it. An edge is crossed at the same place seen from either of its triangles.
fn span(corners: &[Pos2; 3], y: f32) -> Option<[f32; 2]> {
    let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        let (p, q) = (corners[from], corners[to]);
        let is_down = (p.y, p.x) < (q.y, q.x);
        let (upper, lower) = if is_down { (p, q) } else { (q, p) };
        if !(upper.y <= y && y < lower.y) {
            continue;
        }
        let x = upper.x + (lower.x - upper.x) * ((y - upper.y) / (lower.y - upper.y));
        (left, right) = (left.min(x), right.max(x));
    }
    (left < right).then_some([left, right])
}

/// What fills a triangle.
struct Fill<'a> {
    origin: Pos2,
    /// Premultiplied colour at the origin, and its change to the right and downwards.
    color: [[f32; 4]; 3],
    is_plain: bool,
    image: Option<(&'a ColorImage, [[f32; 2]; 3])>,
    texel: Color32,
}

impl<'a> Fill<'a> {
    fn of(corners: &[Vertex; 3], area: f32, image: &'a ColorImage) -> Fill<'a> {
        let [a, b, c] = corners;
        let (ab, ac) = (b.pos - a.pos, c.pos - a.pos);
        // the value at a, and its gradient
        let plane = |value: [f32; 3]| {
            let (first, second) = (value[1] - value[0], value[2] - value[0]);
            let right = (first * ac.y - second * ab.y) / area;
            let down = (second * ab.x - first * ac.x) / area;
            [value[0], right, down]
        };
        let colors = [a, b, c].map(|corner| corner.color.to_array().map(f32::from));
        let planes = [0, 1, 2, 3].map(|i| plane([colors[0][i], colors[1][i], colors[2][i]]));
        let size = image.size.map(|side| side as f32);
        let places = [a, b, c].map(|corner| [corner.uv.x * size[0], corner.uv.y * size[1]]);
        let is_textured = places[0] != places[1] || places[0] != places[2];
        let texture = is_textured.then(|| {
            let planes = [0, 1].map(|i| plane([places[0][i], places[1][i], places[2][i]]));
            (image, [0, 1, 2].map(|k| [planes[0][k], planes[1][k]]))
        });
        Fill {
            origin: a.pos,
            color: [0, 1, 2].map(|k| planes.map(|plane| plane[k])),
            is_plain: a.color == b.color && a.color == c.color,
            image: texture,
            texel: sample(image, places[0][0], places[0][1]),
        }
    }

    fn at(&self, x: f32, y: f32) -> Color32 {
        let (dx, dy) = (x - self.origin.x, y - self.origin.y);
        let channel = |i: usize| self.color[0][i] + dx * self.color[1][i] + dy * self.color[2][i];
        // casts saturate
        let [r, g, b, a] = if self.is_plain {
            self.color[0].map(|c| c as u8)
        } else {
            [0, 1, 2, 3].map(|i| (channel(i) + 0.5) as u8)
        };
        let color = Color32::from_rgba_premultiplied(r, g, b, a);
        match self.image {
            Some((image, [start, right, down])) => {
                let [u, v] = [0, 1].map(|i| start[i] + dx * right[i] + dy * down[i]);
                tinted(sample(image, u, v), color)
            }
            None => tinted(self.texel, color),
        }
    }
}
