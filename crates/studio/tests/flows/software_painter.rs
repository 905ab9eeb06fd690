//! Paints the interface without a GPU, so that tests and people can look at it.

use egui::epaint::{ClippedPrimitive, ImageData, Primitive, Vertex};
use egui::{Color32, ColorImage, TextureId, TexturesDelta};
use std::collections::HashMap;

/// Textures, as far as they were uploaded.
#[derive(Default)]
pub(crate) struct SoftwarePainter {
    textures: HashMap<TextureId, ColorImage>,
}

impl SoftwarePainter {
    /// Takes over new textures and parts of them.
    pub(crate) fn upload(&mut self, delta: &mut TexturesDelta) {
        for (id, change) in
            delta.set.drain().flat_map(|(id, changes)| changes.into_iter().map(move |change| (id, change)))
        {
            let ImageData::Color(image) = change.image;
            match change.pos {
                None => {
                    self.textures.insert(id, (*image).clone());
                }
                Some([left, top]) => {
                    let Some(texture) = self.textures.get_mut(&id) else { continue };
                    for y in 0..image.size[1] {
                        let row = &image.pixels[y * image.size[0]..][..image.size[0]];
                        texture.pixels[(top + y) * texture.size[0] + left..][..image.size[0]]
                            .copy_from_slice(row);
                    }
                }
            }
        }
        for id in delta.free.drain() {
            self.textures.remove(&id);
        }
    }

    /// Paints primitives on a picture of this many pixels.
    pub(crate) fn paint(
        &self,
        primitives: &[ClippedPrimitive],
        [width, height]: [usize; 2],
        pixels_per_point: f32,
        background: Color32,
    ) -> ColorImage {
        let mut image = ColorImage::filled([width, height], background);
        for ClippedPrimitive { clip_rect, primitive } in primitives {
            let Primitive::Mesh(mesh) = primitive else { continue };
            let Some(texture) = self.textures.get(&mesh.texture_id) else { continue };
            let clip = [clip_rect.min.x, clip_rect.min.y, clip_rect.max.x, clip_rect.max.y]
                .map(|v| v * pixels_per_point);
            for triangle in mesh.indices.chunks_exact(3) {
                let corners = [0, 1, 2].map(|i| mesh.vertices[triangle[i] as usize]);
                paint_triangle(&mut image, texture, corners, clip, pixels_per_point);
            }
        }
        image
    }
}

fn paint_triangle(
    image: &mut ColorImage,
    texture: &ColorImage,
    corners: [Vertex; 3],
    clip: [f32; 4],
    scale: f32,
) {
    let [a, b, c] = corners.map(|corner| corner.pos * scale);
    let area = (b - a).rot90().dot(c - a);
    if area.abs() < 1e-9 {
        return;
    }
    let low_x = a.x.min(b.x).min(c.x).max(clip[0]).max(0.0).floor() as usize;
    let low_y = a.y.min(b.y).min(c.y).max(clip[1]).max(0.0).floor() as usize;
    let high_x = a.x.max(b.x).max(c.x).min(clip[2]).min(image.size[0] as f32).ceil().max(0.0) as usize;
    let high_y = a.y.max(b.y).max(c.y).min(clip[3]).min(image.size[1] as f32).ceil().max(0.0) as usize;
    for y in low_y..high_y.min(image.size[1]) {
        for x in low_x..high_x.min(image.size[0]) {
            let p = egui::pos2(x as f32 + 0.5, y as f32 + 0.5);
            let is_clipped = p.x < clip[0] || p.x >= clip[2] || p.y < clip[1] || p.y >= clip[3];
            let weights = [
                (c - b).rot90().dot(p - b) / area,
                (a - c).rot90().dot(p - c) / area,
                (b - a).rot90().dot(p - a) / area,
            ];
            if is_clipped || weights.iter().any(|weight| *weight < 0.0) {
                continue;
            }
            let mix = |pick: fn(&Vertex) -> f32| (0..3).map(|i| weights[i] * pick(&corners[i])).sum::<f32>();
            let texel = sample(texture, mix(|v| v.uv.x), mix(|v| v.uv.y));
            let tint = [
                mix(|v| f32::from(v.color.r())),
                mix(|v| f32::from(v.color.g())),
                mix(|v| f32::from(v.color.b())),
                mix(|v| f32::from(v.color.a())),
            ];
            let source = [0, 1, 2, 3].map(|i| texel[i] * tint[i] / 255.0);
            let below = &mut image.pixels[y * image.size[0] + x];
            let over = |i: usize| {
                (source[i] + f32::from(below.to_array()[i]) * (1.0 - source[3] / 255.0))
                    .round()
                    .clamp(0.0, 255.0) as u8
            };
            *below = Color32::from_rgb(over(0), over(1), over(2));
        }
    }
}

/// The colour at a place of a texture, between its pixels.
fn sample(texture: &ColorImage, u: f32, v: f32) -> [f32; 4] {
    let [width, height] = texture.size;
    let (x, y) = (u * width as f32 - 0.5, v * height as f32 - 0.5);
    let (left, top) = (x.floor(), y.floor());
    let mut sum = [0.0; 4];
    for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
        let weight = (1.0 - (x - left - dx).abs()) * (1.0 - (y - top - dy).abs());
        let column = (left + dx).clamp(0.0, width as f32 - 1.0) as usize;
        let row = (top + dy).clamp(0.0, height as f32 - 1.0) as usize;
        let pixel = texture.pixels[row * width + column].to_array();
        (0..4).for_each(|i| sum[i] += weight * f32::from(pixel[i]));
    }
    sum
}
