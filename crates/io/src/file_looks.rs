//! Reads the looks of a glTF file's surfaces: base colours and base colour textures (PNG, JPEG).
//!
//! A texture that cannot be read is ignored, and the surface has one colour.

use crate::appearance::{Appearance, FileAppearance, SurfaceAppearance, TextureImage};
use sinew_character::SurfaceId;
use sinew_gltf::CharacterFile;
use sinew_render::{Image, Look, Texture};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The colour of surfaces without a material (linear RGB): clay.
const CLAY: [f32; 3] = [0.42, 0.36, 0.31];
/// The longest side of an image (pixels); larger ones are ignored.
const SIDE_LIMIT: usize = 16_384;

/// The looks of surfaces.
pub(crate) fn of_surfaces(file: &CharacterFile, ids: &[SurfaceId]) -> Vec<Look> {
    let appearance = FileAppearance::read(file, ids);
    let mut textures = BTreeMap::new();
    appearance.surfaces.iter().map(|surface| of_surface(&appearance, surface, &mut textures)).collect()
}

fn of_surface(
    appearance: &Appearance,
    surface: &SurfaceAppearance,
    textures: &mut BTreeMap<usize, Option<Arc<Texture>>>,
) -> Look {
    // colour
    let material = surface.groups.first().and_then(|group| appearance.materials.get(group.material?));
    let Some(material) = material else { return Look::plain(CLAY) };
    let [r, g, b, _] = material.base_color;
    let color = [r, g, b];

    // texture; surfaces share images
    let slot = material.base_color_texture;
    let texture = slot.and_then(|slot| {
        let read = || read_image(&appearance.images[slot.image]).map(Arc::new);
        textures.entry(slot.image).or_insert_with(read).clone()
    });
    let (Some(slot), Some(texture)) = (slot, texture) else {
        // plain white is the default of glTF, not a choice
        return Look::plain(if color == [1.0; 3] { CLAY } else { color });
    };
    let uvs = surface.uv_sets.get(slot.uv_set).cloned().unwrap_or_default();
    Look { color, opacity: 1.0, texture: Some(texture), uvs: uvs.into() }
}

fn read_image(image: &TextureImage) -> Option<Texture> {
    let bytes = &image.bytes;
    Texture::from_image(&if bytes.starts_with(b"\x89PNG") { read_png(bytes)? } else { read_jpeg(bytes)? })
}

fn read_png(bytes: &[u8]) -> Option<Image> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width.max(height) > SIDE_LIMIT {
        return None;
    }
    let mut pixels = vec![0; reader.output_buffer_size()?];
    let color = reader.next_frame(&mut pixels).ok()?.color_type;
    let channels = color.samples();
    let rgb = |pixel: &[u8]| if channels < 3 { [pixel[0]; 3] } else { [pixel[0], pixel[1], pixel[2]] };
    let bytes = pixels[..width * height * channels].chunks_exact(channels).flat_map(rgb).collect();
    Some(Image { width, height, bytes })
}

fn read_jpeg(bytes: &[u8]) -> Option<Image> {
    use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .set_max_width(SIDE_LIMIT)
        .set_max_height(SIDE_LIMIT);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let bytes = decoder.decode().ok()?;
    let (width, height) = decoder.dimensions()?;
    Some(Image { width, height, bytes })
}
