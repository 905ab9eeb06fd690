//! Mip-mapped textures with bilinear filtering, in linear light.

use crate::image::Image;
use crate::srgb::linear_of_bytes;

/// An image with its mip levels. It repeats in both directions.
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
    /// The texture of an image; `None` if it is empty or its size and bytes disagree.
    pub fn from_image(image: &Image) -> Option<Texture> {
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

    /// Its mip levels, the full image first: sizes, and sRGB bytes with opacity.
    pub fn levels(&self) -> impl Iterator<Item = ([usize; 2], Vec<u8>)> + '_ {
        let bytes = |c: &[f32; 3]| [byte(c[0]), byte(c[1]), byte(c[2]), 255];
        self.levels.iter().map(move |level| {
            ([level.width, level.height], level.color.iter().flat_map(bytes).collect::<Vec<u8>>())
        })
    }

    /// The colour (linear RGB) at a texture coordinate, where a pixel covers this many texels of the full image.
    pub(crate) fn sample(&self, uv: [f64; 2], texels_per_pixel: f64) -> [f64; 3] {
        let (mut level, mut texels) = (0, texels_per_pixel);
        // each level has a quarter of the texels of the one before
        while texels > 2.0 && level + 1 < self.levels.len() {
            (level, texels) = (level + 1, texels / 4.0);
        }
        self.levels[level].bilinear(uv)
    }

    /// The number of texels of the full image.
    pub(crate) fn texel_count(&self) -> f64 {
        (self.levels[0].width * self.levels[0].height) as f64
    }
}

/// The sRGB byte whose linear value is nearest.
fn byte(linear: f32) -> u8 {
    let table = linear_of_bytes();
    let above = table.partition_point(|value| *value < linear).min(255);
    let below = above.saturating_sub(1);
    if linear - table[below] < table[above] - linear { below as u8 } else { above as u8 }
}

impl Level {
    /// The next level, by averaging blocks of 2 × 2 texels.
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

    fn bilinear(&self, uv: [f64; 2]) -> [f64; 3] {
        let wrapped = |fraction: f64, count: usize| {
            let texel = (fraction - fraction.floor()) * count as f64 - 0.5;
            let low = texel.floor();
            // the cast saturates, and maps NaN to 0
            let first = (low + count as f64) as usize % count;
            (first, (first + 1) % count, texel - low)
        };
        let (x, right, u) = wrapped(uv[0], self.width);
        let (y, below, v) = wrapped(uv[1], self.height);
        let texel = |x: usize, y: usize| self.color[y * self.width + x].map(f64::from);
        let (a, b, c, d) = (texel(x, y), texel(right, y), texel(x, below), texel(right, below));
        [0, 1, 2].map(|i| (1.0 - v) * ((1.0 - u) * a[i] + u * b[i]) + v * ((1.0 - u) * c[i] + u * d[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_repeats_and_is_averaged_from_afar() {
        let bytes = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [0, 0, 0]].concat();
        let texture = Texture::from_image(&Image { width: 2, height: 2, bytes }).unwrap();
        assert_eq!(texture.sample([0.25, 0.25], 1.0), [1.0, 0.0, 0.0]);
        assert_eq!(texture.sample([1.75, -0.75], 1.0), [0.0, 1.0, 0.0]);
        assert_eq!(texture.sample([0.5, 0.5], 1.0), [0.25; 3]);
        // from afar only the mean is visible
        assert_eq!(texture.sample([0.25, 0.25], 100.0), [0.25; 3]);
        let levels: Vec<_> = texture.levels().collect();
        assert_eq!(levels[0].1[..8], [255, 0, 0, 255, 0, 255, 0, 255]);
        assert_eq!((levels.len(), levels[1].0), (2, [1, 1]));
        texture.sample([f64::NAN, f64::INFINITY], f64::NAN);
        assert!(Texture::from_image(&Image { width: 2, height: 2, bytes: vec![0; 11] }).is_none());
        assert!(Texture::from_image(&Image { width: 0, height: 2, bytes: vec![] }).is_none());
    }
}
