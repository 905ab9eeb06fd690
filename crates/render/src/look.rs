//! The material of a surface: one colour, or an image multiplied by it.

use crate::srgb::linear_of_bytes;
use crate::texture::Texture;
use sinew_take::body_color;
use std::sync::Arc;

/// The look of one surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The base colour (linear RGB), which multiplies the texture if there is one.
    pub color: [f32; 3],
    /// The opacity seen head-on: 1 is opaque, less is glass.
    pub opacity: f32,
    /// The image on the surface.
    pub texture: Option<Arc<Texture>>,
    /// Texture coordinates of the vertices, from 0 to 1, left to right and top to bottom. The texture is shown only if every vertex has one.
    pub uvs: Arc<[[f32; 2]]>,
}

impl Look {
    /// One colour (linear RGB).
    pub fn plain(color: [f32; 3]) -> Look {
        Look { color, opacity: 1.0, texture: None, uvs: Arc::from([]) }
    }

    /// One colour given as sRGB components from 0 to 1.
    pub fn srgb(color: [f32; 3]) -> Look {
        Look::plain(color.map(|c| linear_of_bytes()[(c.clamp(0.0, 1.0) * 255.0).round() as usize]))
    }

    /// The default colours of `count` bodies.
    pub fn palette(count: usize) -> Vec<Look> {
        (0..count).map(|body| Look::plain(body_color(body))).collect()
    }

    /// The texture, if each of `vertex_count` vertices has a texture coordinate.
    pub(crate) fn texture_for(&self, vertex_count: usize) -> Option<&Texture> {
        self.texture.as_deref().filter(|_| self.uvs.len() == vertex_count)
    }
}
