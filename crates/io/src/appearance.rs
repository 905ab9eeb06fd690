//! The appearance of surfaces: materials, texture coordinates, normals and images, in the terms of glTF's metallic-roughness model.
//!
//! [`Appearance`] is plain data that every writer of textured formats takes. `of_file.rs` reads it from a character's file, `merge.rs` makes
//! that of objects from that of their surfaces.

mod accessor;
mod merge;
mod of_file;

pub(crate) use of_file::FileAppearance;

use std::sync::Arc;

/// The appearance of all surfaces of a take. Lists that are too short leave the rest plain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appearance {
    /// That of each surface.
    pub surfaces: Vec<SurfaceAppearance>,
    /// All materials.
    pub materials: Vec<SurfaceMaterial>,
    /// All images.
    pub images: Vec<TextureImage>,
}

/// The appearance of one surface. Lists of vertices are empty or as long as the surface has vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceAppearance {
    /// The materials of its triangles, in their order; triangles beyond the last group have none.
    pub groups: Vec<MaterialGroup>,
    /// Texture coordinates from the upper left corner of the image, by their set; the sets are those of [`TextureSlot::uv_set`].
    pub uv_sets: Vec<Vec<[f32; 2]>>,
    /// Unit normals of the file, which tell creases.
    pub normals: Vec<[f32; 3]>,
    /// Colours of vertices (linear RGB), which multiply the base colour.
    pub colors: Vec<[f32; 3]>,
}

/// Consecutive triangles of one material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialGroup {
    /// The material, by its index.
    pub material: Option<usize>,
    /// The number of triangles.
    pub triangle_count: usize,
}

/// A material of glTF's metallic-roughness model. A texture multiplies its factor.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceMaterial {
    /// Its name.
    pub name: String,
    /// The base colour and the opacity (linear).
    pub base_color: [f32; 4],
    /// The image of the base colour and the opacity (sRGB).
    pub base_color_texture: Option<TextureSlot>,
    /// From 0, dielectric, to 1, metal.
    pub metallic: f32,
    /// From 0, a mirror, to 1, matt.
    pub roughness: f32,
    /// Roughness in green, metallic in blue (linear).
    pub metallic_roughness_texture: Option<TextureSlot>,
    /// Normals in tangent space.
    pub normal_texture: Option<TextureSlot>,
    /// The scale of x and y of those normals.
    pub normal_scale: f32,
    /// Ambient occlusion in red (linear).
    pub occlusion_texture: Option<TextureSlot>,
    /// The emitted colour (linear RGB).
    pub emissive: [f32; 3],
    /// The image of the emitted colour (sRGB).
    pub emissive_texture: Option<TextureSlot>,
    /// What opacity means.
    pub alpha: Alpha,
}

/// What the opacity of a material means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Alpha {
    /// Nothing: all is opaque.
    #[default]
    Opaque,
    /// Opaque from this opacity on, else invisible.
    Mask(f32),
    /// Blended with what is behind.
    Blend,
}

/// An image on a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureSlot {
    /// The image, by its index.
    pub image: usize,
    /// The set of texture coordinates.
    pub uv_set: usize,
    /// What is beyond the image along u and v.
    pub wrap: [TextureWrap; 2],
}

/// What is beyond the sides of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureWrap {
    /// The image again.
    #[default]
    Repeat,
    /// The image mirrored.
    Mirror,
    /// Its last pixels.
    Clamp,
}

/// An image as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureImage {
    /// A file name with the extension of its kind, which no other image has.
    pub name: String,
    /// The bytes of the file.
    pub bytes: Arc<[u8]>,
}

impl SurfaceMaterial {
    /// The textures that it has.
    pub fn textures(&self) -> impl Iterator<Item = &TextureSlot> {
        let slots = [
            &self.base_color_texture,
            &self.metallic_roughness_texture,
            &self.normal_texture,
            &self.occlusion_texture,
            &self.emissive_texture,
        ];
        slots.into_iter().flatten()
    }

    pub(crate) fn textures_mut(&mut self) -> impl Iterator<Item = &mut TextureSlot> {
        let slots = [
            &mut self.base_color_texture,
            &mut self.metallic_roughness_texture,
            &mut self.normal_texture,
            &mut self.occlusion_texture,
            &mut self.emissive_texture,
        ];
        slots.into_iter().flatten()
    }
}

impl Appearance {
    /// The appearance of a surface; plain if there is none.
    pub(crate) fn surface(&self, index: usize) -> &SurfaceAppearance {
        static PLAIN: SurfaceAppearance = SurfaceAppearance {
            groups: Vec::new(),
            uv_sets: Vec::new(),
            normals: Vec::new(),
            colors: Vec::new(),
        };
        self.surfaces.get(index).unwrap_or(&PLAIN)
    }
}
