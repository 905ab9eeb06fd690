//! Reads attributes of vertices from the buffers of a glTF file: floats, or whole numbers that stand for them.
//!
//! What cannot be read is `None`: the surface goes without. Sparse accessors are not read.

use serde_json::Value;
use sinew_gltf::CharacterFile;

/// The bytes of a buffer view, and its stride if given (bytes).
pub(super) fn view<'f>(
    file: &'f CharacterFile,
    root: &Value,
    index: usize,
) -> Option<(&'f [u8], Option<usize>)> {
    let view = &root["bufferViews"][index];
    let start = number(&view["byteOffset"]).unwrap_or(0);
    let length = number(&view["byteLength"])?;
    let bytes = file.buffer(number(&view["buffer"])?)?.get(start..start.checked_add(length)?)?;
    Some((bytes, number(&view["byteStride"])))
}

/// The first N components of each element.
pub(super) fn read<const N: usize>(
    file: &CharacterFile,
    root: &Value,
    accessor: usize,
) -> Option<Vec<[f32; N]>> {
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
    let width = match accessor["type"].as_str()? {
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        _ => return None,
    };

    // within the bytes?
    let stride = stride.unwrap_or(width * size);
    let end = count.checked_sub(1)?.checked_mul(stride)?.checked_add(width * size)?;
    if width < N || stride < width * size || end > bytes.len() {
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
    let element = |i: usize| std::array::from_fn(|c| component(i * stride + c * size));
    Some((0..count).map(element).collect())
}

pub(super) fn number(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
