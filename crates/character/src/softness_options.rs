//! Where the softness of a character may come from: a vertex colour, a texture, points in space, factors by name.

use sinew_mesh::PointField;
use std::sync::Arc;

/// Where the softness of a character comes from besides its own attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftnessOptions {
    /// A channel of a vertex colour of the file.
    pub color: Option<ColorChannel>,
    /// A grey texture by the first texture coordinates.
    pub texture: Option<SoftnessTexture>,
    /// Softness at points of the bind pose; empty for none.
    pub points: PointField,
    /// Factors of joints, or else of surfaces by the name of node, mesh or material, each at least 0.
    pub factors: Vec<(String, f64)>,
}

/// A channel of a vertex colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorChannel {
    /// n of `COLOR_n`.
    pub set: usize,
    /// 0 to 3: red, green, blue, opacity.
    pub channel: usize,
}

impl ColorChannel {
    /// Reads `COLOR_0.r`; a channel is r, g, b or a.
    ///
    /// # Errors
    /// If it is nothing of the kind.
    pub fn parse(text: &str) -> Result<ColorChannel, String> {
        let found =
            text.strip_prefix("COLOR_").and_then(|rest| rest.split_once('.')).and_then(|(set, channel)| {
                let channel = ["r", "g", "b", "a"].iter().position(|name| *name == channel)?;
                Some(ColorChannel { set: set.parse().ok()?, channel })
            });
        found.ok_or_else(|| format!("`{text}` is no channel of a vertex colour: write one as `COLOR_0.r`"))
    }
}

/// A grey picture: 0 is rigid, 1 as soft as chosen.
#[derive(Clone, PartialEq)]
pub struct SoftnessTexture {
    width: usize,
    height: usize,
    /// Row after row from the top.
    values: Arc<[f32]>,
}

impl core::fmt::Debug for SoftnessTexture {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "SoftnessTexture({} × {})", self.width, self.height)
    }
}

impl SoftnessTexture {
    /// A picture of values, row after row from the top; `None` if there are not `width` × `height` of them, or none.
    pub fn new(width: usize, height: usize, values: Vec<f32>) -> Option<SoftnessTexture> {
        let is_whole = width.checked_mul(height) == Some(values.len()) && !values.is_empty();
        is_whole.then(|| SoftnessTexture { width, height, values: values.into() })
    }

    /// The value at texture coordinates, bilinear between texels; beyond 0 to 1 the picture repeats.
    pub fn sample(&self, [u, v]: [f32; 2]) -> f32 {
        let place = |coordinate: f32, count: usize| {
            let at = f64::from(coordinate).rem_euclid(1.0) * count as f64 - 0.5;
            let low = at.floor();
            let index = |i: f64| (i as i64).rem_euclid(count as i64) as usize;
            (index(low), index(low + 1.0), (at - low) as f32)
        };
        let (x0, x1, fx) = place(u, self.width);
        let (y0, y1, fy) = place(v, self.height);
        let row = |y: usize| {
            let at = |x: usize| self.values[y * self.width + x];
            at(x0) * (1.0 - fx) + at(x1) * fx
        };
        row(y0) * (1.0 - fy) + row(y1) * fy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_is_bilinear_and_repeats() {
        let texture = SoftnessTexture::new(2, 2, vec![0.0, 1.0, 0.5, 0.5]).unwrap();
        // the centres of texels
        assert_eq!(texture.sample([0.25, 0.25]), 0.0);
        assert_eq!(texture.sample([0.75, 0.25]), 1.0);
        assert_eq!(texture.sample([0.5, 0.25]), 0.5);
        assert_eq!(texture.sample([1.75, -0.75]), 1.0);
        assert_eq!(texture.sample([0.0, 0.25]), 0.5, "between the last column and the first");
        assert!(
            SoftnessTexture::new(2, 2, vec![0.0; 3]).is_none()
                && SoftnessTexture::new(0, 2, vec![]).is_none()
        );
    }

    #[test]
    fn channels_are_written_as_in_the_file() {
        assert_eq!(ColorChannel::parse("COLOR_1.b"), Ok(ColorChannel { set: 1, channel: 2 }));
        for text in ["COLOR_0", "COLOR_x.r", "color_0.r", "COLOR_0.red", ""] {
            assert!(ColorChannel::parse(text).unwrap_err().contains("COLOR_0.r"), "{text}");
        }
    }
}
