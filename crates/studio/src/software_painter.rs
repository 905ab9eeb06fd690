//! Rasterises the interface without a graphics card.
//!
//! The picture is divided into tiles. A tile is painted again only if what covers it has changed, which a hash of its triangles tells: while a character plays, that is its viewport, the play head and
//! some numbers. Rectangles with one colour, which are glyphs, plain fills and pictures, are copied or blended row by row; all other triangles are filled scanline by scanline. Colours are blended in sRGB, as
//! by the other painters of `egui`.

mod texel;
mod triangle;

use egui::epaint::{ClippedPrimitive, ImageData, Primitive, Vertex};
use egui::{Color32, ColorImage, Mesh, TextureId, TexturesDelta};
use std::collections::HashMap;
use std::hash::Hasher as _;
use std::sync::Arc;
use texel::Texels;
use xxhash_rust::xxh3::Xxh3Default;

/// The sides of a tile (pixels): about twenty by thirty of them in a window.
const TILE: [usize; 2] = [64, 32];

/// A picture of the interface that follows it from pass to pass.
#[derive(Default)]
pub struct SoftwarePainter {
    textures: HashMap<TextureId, PaintedTexture>,
    size: [usize; 2],
    /// Pixels as 0x00RRGGBB, row by row from the top.
    pixels: Vec<u32>,
    tiles: Vec<Tile>,
    /// Counts changes of textures.
    version: u64,
}

struct PaintedTexture {
    image: Arc<ColorImage>,
    version: u64,
}

#[derive(Default)]
struct Tile {
    /// What covers it, and what covered it when it was painted.
    hash: u64,
    painted: Option<u64>,
    /// The shapes that overlap it, from below.
    shapes: Vec<u32>,
}

/// Pixels from the left and from the top, the last ones excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// The first column and row.
    pub min: [usize; 2],
    /// The column and row after the last.
    pub max: [usize; 2],
}

impl PixelRect {
    fn intersection(&self, other: &PixelRect) -> Option<PixelRect> {
        let both = PixelRect {
            min: [0, 1].map(|i| self.min[i].max(other.min[i])),
            max: [0, 1].map(|i| self.max[i].min(other.max[i])),
        };
        (0..2).all(|i| both.min[i] < both.max[i]).then_some(both)
    }
}

/// A part of the interface: two triangles that are a rectangle of one colour, or one triangle.
enum Shape<'a> {
    Rectangle { corners: [Vertex; 2], texture: &'a PaintedTexture, visible: PixelRect },
    Triangle { corners: [Vertex; 3], texture: &'a PaintedTexture, visible: PixelRect },
}

impl SoftwarePainter {
    /// Takes over new textures and parts of them.
    pub fn upload(&mut self, delta: &mut TexturesDelta) {
        let changes =
            delta.set.drain().flat_map(|(id, changes)| changes.into_iter().map(move |change| (id, change)));
        for (id, change) in changes {
            self.version += 1;
            let ImageData::Color(image) = change.image;
            match change.pos {
                None => {
                    self.textures.insert(id, PaintedTexture { image, version: self.version });
                }
                // glyphs are added where nothing was; what is painted already does not change
                Some([left, top]) => {
                    let Some(texture) = self.textures.get_mut(&id) else { continue };
                    let own = Arc::make_mut(&mut texture.image);
                    for (y, row) in image.pixels.chunks_exact(image.size[0].max(1)).enumerate() {
                        own.pixels[(top + y) * own.size[0] + left..][..row.len()].copy_from_slice(row);
                    }
                }
            }
        }
        for id in delta.free.drain() {
            self.textures.remove(&id);
        }
    }

    /// The picture: 0x00RRGGBB, row by row from the top.
    pub fn pixels(&self) -> &[u32] {
        &self.pixels
    }

    /// Its size (pixels).
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Paints primitives on a picture of this many pixels, and returns where it has changed.
    pub fn paint(
        &mut self,
        primitives: &[ClippedPrimitive],
        size: [usize; 2],
        pixels_per_point: f32,
        background: Color32,
    ) -> Vec<PixelRect> {
        let counts = [size[0].div_ceil(TILE[0]), size[1].div_ceil(TILE[1])];
        if self.size != size {
            self.size = size;
            self.pixels = vec![0; size[0] * size[1]];
            self.tiles = (0..counts[0] * counts[1]).map(|_| Tile::default()).collect();
        }

        // what covers each tile
        let ground = texel::packed(background);
        for tile in &mut self.tiles {
            tile.hash = u64::from(ground);
            tile.shapes.clear();
        }
        let whole = PixelRect { min: [0; 2], max: size };
        let mut shapes = Vec::new();
        for ClippedPrimitive { clip_rect, primitive } in primitives {
            let Primitive::Mesh(mesh) = primitive else { continue };
            let Some(texture) = self.textures.get(&mesh.texture_id) else { continue };
            let Some(clip) = pixel_rect(*clip_rect * pixels_per_point).intersection(&whole) else { continue };
            let scale = Scaled { mesh, pixels_per_point };
            for (shape, visible) in scale.shapes(texture, clip) {
                let hash = shape.hash(&visible);
                for row in visible.min[1] / TILE[1]..visible.max[1].div_ceil(TILE[1]) {
                    for column in visible.min[0] / TILE[0]..visible.max[0].div_ceil(TILE[0]) {
                        let tile = &mut self.tiles[row * counts[0] + column];
                        tile.hash = tile.hash.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash;
                        tile.shapes.push(shapes.len() as u32);
                    }
                }
                shapes.push(shape);
            }
        }

        // tiles that have changed
        let mut changed: Vec<PixelRect> = Vec::new();
        for (index, tile) in self.tiles.iter_mut().enumerate() {
            if tile.painted == Some(tile.hash) {
                continue;
            }
            tile.painted = Some(tile.hash);
            let min = [index % counts[0] * TILE[0], index / counts[0] * TILE[1]];
            let place = PixelRect { min, max: [0, 1].map(|i| (min[i] + TILE[i]).min(size[i])) };
            for y in place.min[1]..place.max[1] {
                self.pixels[y * size[0] + place.min[0]..y * size[0] + place.max[0]].fill(ground);
            }
            for shape in &tile.shapes {
                shapes[*shape as usize].paint(&mut self.pixels, size[0], &place);
            }
            join(&mut changed, place);
        }
        changed
    }
}

/// Adds a tile to the rectangles of changed tiles: to the one at its left, and whole rows of the same width to the one above.
fn join(rects: &mut Vec<PixelRect>, tile: PixelRect) {
    match rects.last_mut() {
        Some(last)
            if last.min[1] == tile.min[1] && last.max[1] == tile.max[1] && last.max[0] == tile.min[0] =>
        {
            last.max[0] = tile.max[0];
        }
        _ => rects.push(tile),
    }
    let count = rects.len();
    if count >= 2 {
        let [above, below] = [rects[count - 2], rects[count - 1]];
        let is_same = (above.min[0], above.max[0]) == (below.min[0], below.max[0]);
        if is_same && above.max[1] == below.min[1] {
            rects[count - 2].max[1] = below.max[1];
            rects.pop();
        }
    }
}

/// The pixels whose centres are in a rectangle.
fn pixel_rect(rect: egui::Rect) -> PixelRect {
    let centre = |v: f32| (v - 0.5).ceil().max(0.0) as usize;
    PixelRect { min: [centre(rect.min.x), centre(rect.min.y)], max: [centre(rect.max.x), centre(rect.max.y)] }
}

/// A mesh in pixels.
struct Scaled<'a> {
    mesh: &'a Mesh,
    pixels_per_point: f32,
}

impl Scaled<'_> {
    /// The visible shapes of the mesh, from below, and where each is at most.
    fn shapes<'t>(&self, texture: &'t PaintedTexture, clip: PixelRect) -> Vec<(Shape<'t>, PixelRect)> {
        let vertex = |index: u32| {
            let mut vertex = self.mesh.vertices[index as usize];
            vertex.pos = (vertex.pos.to_vec2() * self.pixels_per_point).to_pos2();
            vertex
        };
        let indices = &self.mesh.indices;
        let mut found = Vec::with_capacity(indices.len() / 3);
        let mut at = 0;
        while at + 3 <= indices.len() {
            let corners = [0, 1, 2].map(|i| vertex(indices[at + i]));
            at += 3;
            let second = indices.get(at..at + 3).map(|next| [0, 1, 2].map(|i| vertex(next[i])));
            if let Some(ends) = second.and_then(|second| rectangle(&corners, &second)) {
                at += 3;
                let rect = egui::Rect::from_min_max(ends[0].pos, ends[1].pos);
                if let Some(visible) = pixel_rect(rect).intersection(&clip) {
                    found.push((Shape::Rectangle { corners: ends, texture, visible }, visible));
                }
                continue;
            }
            let rect = egui::Rect::from_points(&corners.map(|corner| corner.pos));
            if let Some(visible) = pixel_rect(rect).intersection(&clip) {
                found.push((Shape::Triangle { corners, texture, visible }, visible));
            }
        }
        found
    }
}

/// The upper left and the lower right corner of two triangles that are a rectangle of one colour with its picture upright.
fn rectangle(first: &[Vertex; 3], second: &[Vertex; 3]) -> Option<[Vertex; 2]> {
    let color = first[0].color;
    let all = || first.iter().chain(second);
    if all().any(|vertex| vertex.color != color) {
        return None;
    }
    let low =
        all().fold(first[0], |low, v| if v.pos.x <= low.pos.x && v.pos.y <= low.pos.y { *v } else { low });
    let high = all()
        .fold(first[0], |high, v| if v.pos.x >= high.pos.x && v.pos.y >= high.pos.y { *v } else { high });
    // each corner is one of the four, and each triangle has three of them
    let corner = |vertex: &Vertex| {
        let right = vertex.pos.x == high.pos.x && vertex.uv.x == high.uv.x;
        let below = vertex.pos.y == high.pos.y && vertex.uv.y == high.uv.y;
        let left = vertex.pos.x == low.pos.x && vertex.uv.x == low.uv.x;
        let above = vertex.pos.y == low.pos.y && vertex.uv.y == low.uv.y;
        ((left || right) && (above || below)).then_some(1u8 << (u8::from(right) + 2 * u8::from(below)))
    };
    if low.pos.x >= high.pos.x || low.pos.y >= high.pos.y {
        return None;
    }
    let corners_of = |triangle: &[Vertex; 3]| {
        triangle.iter().try_fold(0u8, |seen, vertex| corner(vertex).map(|corner| seen | corner))
    };
    let (a, b) = (corners_of(first)?, corners_of(second)?);
    let are_halves = a.count_ones() == 3 && b.count_ones() == 3 && a | b == 0b1111;
    // the diagonal is what both have
    (are_halves && matches!(a & b, 0b0110 | 0b1001)).then_some([low, high])
}

impl Shape<'_> {
    fn hash(&self, visible: &PixelRect) -> u64 {
        let (corners, texture): (&[Vertex], _) = match self {
            Shape::Rectangle { corners, texture, .. } => (corners, texture),
            Shape::Triangle { corners, texture, .. } => (corners, texture),
        };
        let mut bytes = [0u8; 8 * 5 + 3 * 20];
        let mut end = 0;
        let mut write = |part: &[u8]| {
            bytes[end..end + part.len()].copy_from_slice(part);
            end += part.len();
        };
        write(&texture.version.to_ne_bytes());
        for side in [visible.min, visible.max].concat() {
            write(&(side as u64).to_ne_bytes());
        }
        for Vertex { pos, uv, color } in corners {
            [pos.x, pos.y, uv.x, uv.y].iter().for_each(|number| write(&number.to_ne_bytes()));
            write(&color.to_array());
        }
        let mut hasher = Xxh3Default::new();
        hasher.write(&bytes[..end]);
        hasher.finish()
    }

    /// Paints the part of it that is in a tile.
    fn paint(&self, pixels: &mut [u32], width: usize, tile: &PixelRect) {
        match self {
            Shape::Rectangle { corners, texture, visible } => {
                let Some(place) = visible.intersection(tile) else { return };
                Texels::of(&texture.image, corners).paint(pixels, width, &place);
            }
            Shape::Triangle { corners, texture, visible } => {
                let Some(place) = visible.intersection(tile) else { return };
                triangle::paint(pixels, width, &place, corners, &texture.image);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::epaint::ImageDelta;
    use egui::{Pos2, Rect, TextureOptions, pos2};

    const SIZE: [usize; 2] = [200, 100];

    /// A painter whose texture is one white texel.
    fn painter() -> SoftwarePainter {
        let mut painter = SoftwarePainter::default();
        let white = ColorImage::filled([1, 1], Color32::WHITE);
        let mut delta = TexturesDelta::default();
        delta
            .set
            .entry(TextureId::default())
            .or_default()
            .push(ImageDelta::full(white, TextureOptions::NEAREST));
        painter.upload(&mut delta);
        painter
    }

    fn paint(painter: &mut SoftwarePainter, meshes: &[Mesh]) -> Vec<PixelRect> {
        let primitive = |mesh: &Mesh| ClippedPrimitive {
            clip_rect: Rect::EVERYTHING,
            primitive: Primitive::Mesh(mesh.clone()),
        };
        painter.paint(&meshes.iter().map(primitive).collect::<Vec<_>>(), SIZE, 1.0, Color32::BLACK)
    }

    fn rectangle(min: Pos2, max: Pos2, color: Color32) -> Mesh {
        let mut mesh = Mesh::default();
        mesh.add_colored_rect(Rect::from_min_max(min, max), color);
        mesh
    }

    #[test]
    fn only_tiles_that_change_are_painted_again() {
        let mut painter = painter();
        let still = rectangle(pos2(0.0, 0.0), pos2(200.0, 100.0), Color32::from_gray(40));
        let at = |x: f32| rectangle(pos2(x, 10.0), pos2(x + 5.0, 20.0), Color32::RED);
        let whole = PixelRect { min: [0; 2], max: SIZE };
        assert_eq!(paint(&mut painter, &[still.clone(), at(3.0)]), [whole]);
        assert_eq!(paint(&mut painter, &[still.clone(), at(3.0)]), []);
        let tile = PixelRect { min: [0; 2], max: TILE };
        assert_eq!(paint(&mut painter, &[still.clone(), at(9.0)]), [tile]);
        assert_eq!(
            (painter.pixels()[15 * 200 + 4], painter.pixels()[15 * 200 + 10]),
            (0x28_28_28, 0xff_00_00)
        );
        // into the next tile: both change
        let both = PixelRect { min: [0; 2], max: [2 * TILE[0], TILE[1]] };
        assert_eq!(paint(&mut painter, &[still, at(70.0)]), [both]);
    }

    /// Translucent triangles with common edges through centres of pixels: each pixel is blended once.
    #[test]
    fn triangles_with_a_common_edge_leave_no_seam() {
        let mut painter = painter();
        let color = Color32::from_rgba_premultiplied(100, 0, 0, 100);
        let mut mesh = Mesh::default();
        let corners = [(10.5, 10.5), (60.5, 10.5), (60.5, 60.5), (10.5, 60.5), (35.5, 35.5)];
        corners.iter().for_each(|(x, y)| mesh.colored_vertex(pos2(*x, *y), color));
        (0..4).for_each(|i| mesh.add_triangle(i, (i + 1) % 4, 4));
        paint(&mut painter, &[mesh]);
        let inside = (12..60).flat_map(|y| (12..60).map(move |x| y * SIZE[0] + x));
        assert!(inside.into_iter().all(|i| painter.pixels()[i] == 100 << 16));
        let covered = painter.pixels().iter().filter(|pixel| **pixel != 0).count();
        assert_eq!(covered, 50 * 50);
    }

    /// A gradient is linear between its ends, within a rounding.
    #[test]
    fn colours_are_interpolated() {
        let mut painter = painter();
        let mut mesh = Mesh::default();
        let corners = [(0.0, 0.0, 0), (200.0, 0.0, 200), (200.0, 100.0, 200), (0.0, 100.0, 0)];
        corners.iter().for_each(|(x, y, gray)| mesh.colored_vertex(pos2(*x, *y), Color32::from_gray(*gray)));
        mesh.add_triangle(0, 1, 2);
        mesh.add_triangle(0, 2, 3);
        paint(&mut painter, &[mesh]);
        for x in [0, 57, 199] {
            let blue = painter.pixels()[50 * 200 + x] & 255;
            assert!((f64::from(blue) - (x as f64 + 0.5)).abs() <= 0.5 + 1e-3, "{blue} at {x}");
        }
    }
}
