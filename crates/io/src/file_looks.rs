//! Reads the looks of a glTF file's surfaces: base colours and base colour textures (PNG, JPEG).
//!
//! A texture that cannot be read is ignored, and the surface has one colour.

use serde_json::Value;
use sinew_character::SurfaceId;
use sinew_gltf::CharacterFile;
use sinew_math::real;
use sinew_render::{Image, Look, Texture};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The colour of surfaces without a material (linear RGB): clay.
const CLAY: [f32; 3] = [0.42, 0.36, 0.31];
/// The longest side of an image (pixels); larger ones are ignored.
const SIDE_LIMIT: usize = 16_384;

/// The looks of surfaces.
pub(crate) fn of_surfaces(file: &CharacterFile, ids: &[SurfaceId]) -> Vec<Look> {
    let root: Value = serde_json::from_slice(file.source.json()).unwrap_or(Value::Null);
    let mut textures = BTreeMap::new();
    ids.iter().map(|id| of_surface(file, &root, *id, &mut textures)).collect()
}

fn of_surface(
    file: &CharacterFile,
    root: &Value,
    id: SurfaceId,
    textures: &mut BTreeMap<usize, Option<Arc<Texture>>>,
) -> Look {
    // colour
    let material = file.rigged.primitive(id).and_then(|primitive| primitive.material);
    let Some(index) = material else { return Look::plain(CLAY) };
    let color = file.rigged.materials.get(index).map_or([1.0; 4], |material| material.base_color);
    let color = [color[0], color[1], color[2]].map(|c| c.clamp(0.0, 1.0) as f32);

    // texture; surfaces share images
    let slot = &root["materials"][index]["pbrMetallicRoughness"]["baseColorTexture"];
    let texture = number(&slot["index"]).and_then(|texture| {
        let image = number(&root["textures"][texture]["source"])?;
        textures.entry(image).or_insert_with(|| read_image(file, root, image).map(Arc::new)).clone()
    });
    let Some(texture) = texture else {
        // plain white is the default of glTF, not a choice
        return Look::plain(if color == [1.0; 3] { CLAY } else { color });
    };

    // texture coordinates
    let transform = &slot["extensions"]["KHR_texture_transform"];
    let set = number(&transform["texCoord"]).or_else(|| number(&slot["texCoord"])).unwrap_or(0);
    let mesh = file.rigged.nodes[id.node].mesh;
    let attribute = mesh.map(|mesh| &root["meshes"][mesh]["primitives"][id.primitive]["attributes"]);
    let uvs = attribute
        .and_then(|attributes| number(&attributes[format!("TEXCOORD_{set}").as_str()]))
        .and_then(|accessor| read_uvs(file, root, accessor))
        .unwrap_or_default();
    let uvs: Vec<[f32; 2]> = uvs.into_iter().map(|uv| transformed(transform, uv)).collect();
    Look { color, opacity: 1.0, texture: Some(texture), uvs: uvs.into() }
}

/// The bytes of a buffer view, and its stride if given (bytes).
fn view<'f>(file: &'f CharacterFile, root: &Value, index: usize) -> Option<(&'f [u8], Option<usize>)> {
    let view = &root["bufferViews"][index];
    let start = number(&view["byteOffset"]).unwrap_or(0);
    let length = number(&view["byteLength"])?;
    let bytes = file.buffer(number(&view["buffer"])?)?.get(start..start.checked_add(length)?)?;
    Some((bytes, number(&view["byteStride"])))
}

/// Where a texture is moved, turned and scaled to; quantised coordinates are brought back so.
///
/// ```text
/// u' = o + R(r) S u,   R(r) = (cos r, sin r; −sin r, cos r)      [KHR_texture_transform]
/// ```
fn transformed(transform: &Value, [u, v]: [f32; 2]) -> [f32; 2] {
    let pair = |key: &str, default: f64| [0, 1].map(|i| transform[key][i].as_f64().unwrap_or(default));
    let ([x, y], [u_scale, v_scale]) = (pair("offset", 0.0), pair("scale", 1.0));
    let angle = transform["rotation"].as_f64().unwrap_or(0.0);
    let (sine, cosine) = (real::sin(angle), real::cos(angle));
    let (u, v) = (u_scale * f64::from(u), v_scale * f64::from(v));
    [(x + cosine * u + sine * v) as f32, (y - sine * u + cosine * v) as f32]
}

/// Texture coordinates, stored as floats or as whole numbers.
fn read_uvs(file: &CharacterFile, root: &Value, accessor: usize) -> Option<Vec<[f32; 2]>> {
    // the layout
    let accessor = &root["accessors"][accessor];
    let (bytes, stride) = view(file, root, number(&accessor["bufferView"])?)?;
    let bytes = bytes.get(number(&accessor["byteOffset"]).unwrap_or(0)..)?;
    let count = number(&accessor["count"])?;
    let kind = number(&accessor["componentType"])?;
    let (size, largest) = match kind {
        5120 => (1, 127.0),
        5121 => (1, 255.0),
        5122 => (2, 32_767.0),
        5123 => (2, 65_535.0),
        5126 => (4, 1.0),
        _ => return None,
    };
    let largest = if accessor["normalized"] == true { largest } else { 1.0 };
    if accessor["type"] != "VEC2" {
        return None;
    }

    // within the bytes?
    let stride = stride.unwrap_or(2 * size);
    let end = count.checked_sub(1)?.checked_mul(stride)?.checked_add(2 * size)?;
    if stride < 2 * size || end > bytes.len() {
        return None;
    }

    // the numbers
    let component = |at: usize| match kind {
        5126 => f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]),
        5123 => f32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])) / largest,
        5122 => f32::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])) / largest,
        5121 => f32::from(bytes[at]) / largest,
        _ => f32::from(bytes[at] as i8) / largest,
    };
    Some((0..count).map(|i| [component(i * stride), component(i * stride + size)]).collect())
}

fn read_image(file: &CharacterFile, root: &Value, index: usize) -> Option<Texture> {
    let image = &root["images"][index];
    let bytes = match number(&image["bufferView"]) {
        Some(index) => view(file, root, index)?.0.to_vec(),
        None => file.read_uri(image["uri"].as_str()?).ok()?,
    };
    Texture::from_image(&if bytes.starts_with(b"\x89PNG") { read_png(&bytes)? } else { read_jpeg(&bytes)? })
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

fn number(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
