//! What a surface looks like: one colour, or an image laid over it.

use super::canvas::Image;
use super::tone::linear_of_bytes;
use sinew_take::body_color;
use std::sync::Arc;

/// The look of one surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Its colour (linear RGB); with a texture, what that is multiplied by.
    pub color: [f32; 3],
    /// How much of what is behind it it covers, seen straight on: 1 is all, less is glass.
    pub opacity: f32,
    /// An image laid over it.
    pub texture: Option<Arc<Texture>>,
    /// Where each vertex lies on the image, from 0 to 1, left to right and top to bottom. Without one place per vertex the image is not shown.
    pub places: Arc<[[f32; 2]]>,
}

impl Look {
    /// One colour (linear RGB).
    pub fn plain(color: [f32; 3]) -> Look {
        Look { color, opacity: 1.0, texture: None, places: Arc::from([]) }
    }

    /// One colour as on a screen (sRGB), each part from 0 to 1.
    pub fn of_screen(color: [f32; 3]) -> Look {
        Look::plain(color.map(|c| linear_of_bytes()[(c.clamp(0.0, 1.0) * 255.0).round() as usize]))
    }

    /// The colours that bodies get when they bring none, in turn.
    pub fn of_palette(count: usize) -> Vec<Look> {
        (0..count).map(|body| Look::plain(body_color(body))).collect()
    }

    /// The texture, if every one of so many vertices has a place on it.
    pub(super) fn texture_for(&self, vertex_count: usize) -> Option<&Texture> {
        self.texture.as_deref().filter(|_| self.places.len() == vertex_count)
    }
}

/// An image in linear light, with smaller and smaller copies for where it is seen from afar. It repeats in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    levels: Vec<Level>,
}

#[derive(Clone, Debug, PartialEq)]
struct Level {
    width: usize,
    height: usize,
    color: Vec<[f32; 3]>,
}

impl Texture {
    /// The texture of an image; `None` if it has no pixels or not as many as it says.
    pub fn of(image: &Image) -> Option<Texture> {
        let Image { width, height, bytes } = image;
        if bytes.is_empty() || width.checked_mul(*height)?.checked_mul(3)? != bytes.len() {
            return None;
        }
        let linear = linear_of_bytes();
        let color = bytes.chunks_exact(3).map(|c| [0, 1, 2].map(|i| linear[usize::from(c[i])])).collect();
        let mut levels = vec![Level { width: *width, height: *height, color }];
        while let Some(half) = levels.last().and_then(Level::half) {
            levels.push(half);
        }
        Some(Texture { levels })
    }

    /// The colour at a place, where so many texels of the image fall on a pixel.
    pub(super) fn at(&self, place: [f64; 2], texels_per_pixel: f64) -> [f64; 3] {
        let (mut level, mut texels) = (0, texels_per_pixel);
        // a level holds a quarter of the texels of the one before
        while texels > 2.0 && level + 1 < self.levels.len() {
            (level, texels) = (level + 1, texels / 4.0);
        }
        self.levels[level].at(place)
    }

    /// How many texels the image has.
    pub(super) fn texel_count(&self) -> f64 {
        (self.levels[0].width * self.levels[0].height) as f64
    }
}

impl Level {
    fn half(&self) -> Option<Level> {
        if self.width < 2 || self.height < 2 {
            return None;
        }
        let (width, height) = (self.width / 2, self.height / 2);
        let mean = |i: usize| {
            let (x, y) = (2 * (i % width), 2 * (i / width));
            let four =
                [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)].map(|(x, y)| self.color[y * self.width + x]);
            [0, 1, 2].map(|k| 0.25 * (four[0][k] + four[1][k] + four[2][k] + four[3][k]))
        };
        Some(Level { width, height, color: (0..width * height).map(mean).collect() })
    }

    /// The colour between the four texels around a place.
    fn at(&self, place: [f64; 2]) -> [f64; 3] {
        let wrapped = |fraction: f64, count: usize| {
            let texel = (fraction - fraction.floor()) * count as f64 - 0.5;
            let low = texel.floor();
            // casts saturate, and what is not a number is 0
            let first = (low + count as f64) as usize % count;
            (first, (first + 1) % count, texel - low)
        };
        let (x, right, u) = wrapped(place[0], self.width);
        let (y, below, v) = wrapped(place[1], self.height);
        let texel = |x: usize, y: usize| self.color[y * self.width + x].map(f64::from);
        let (a, b, c, d) = (texel(x, y), texel(right, y), texel(x, below), texel(right, below));
        [0, 1, 2].map(|i| (1.0 - v) * ((1.0 - u) * a[i] + u * b[i]) + v * ((1.0 - u) * c[i] + u * d[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_is_found_by_place_and_repeats() {
        let bytes = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [0, 0, 0]].concat();
        let texture = Texture::of(&Image { width: 2, height: 2, bytes }).unwrap();
        assert_eq!(texture.at([0.25, 0.25], 1.0), [1.0, 0.0, 0.0]);
        assert_eq!(texture.at([1.75, -0.75], 1.0), [0.0, 1.0, 0.0]);
        assert_eq!(texture.at([0.5, 0.5], 1.0), [0.25; 3]);
        // from afar only the mean is seen
        assert_eq!(texture.at([0.25, 0.25], 100.0), [0.25; 3]);
        texture.at([f64::NAN, f64::INFINITY], f64::NAN);
        assert!(Texture::of(&Image { width: 2, height: 2, bytes: vec![0; 11] }).is_none());
        assert!(Texture::of(&Image { width: 0, height: 2, bytes: vec![] }).is_none());
    }
}
