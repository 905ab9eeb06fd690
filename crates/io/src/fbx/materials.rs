//! Materials of an FBX file: base colours, and the images of them within the file or beside it.

use super::{named, quoted};
use sinew_character::CharacterMaterial;
use sinew_files::read_bytes;
use std::collections::BTreeMap;
use std::path::Path;

/// The materials of a file.
pub(super) struct Materials {
    pub(super) materials: Vec<CharacterMaterial>,
    /// For each material its image.
    pub(super) textures: Vec<Option<usize>>,
    pub(super) images: Vec<Vec<u8>>,
}

/// Reads all materials.
pub(super) fn read(scene: &ufbx::Scene, folder: Option<&Path>, notes: &mut Vec<String>) -> Materials {
    let mut found = Materials { materials: Vec::new(), textures: Vec::new(), images: Vec::new() };
    let mut known = BTreeMap::new();
    for material in &scene.materials {
        let texture = texture_of(material);
        let image = texture.and_then(|texture| {
            *known.entry(texture.element.typed_id).or_insert_with(|| {
                let image = read_image(texture, folder, notes)?;
                found.images.push(image);
                Some(found.images.len() - 1)
            })
        });
        // an image stands in for the colour
        let base_color = if image.is_some() { [1.0; 4] } else { base_color(material) };
        found.materials.push(CharacterMaterial { name: named(&material.element.name), base_color });
        found.textures.push(image);
    }
    found
}

/// The texture of the base colour; of layers the first.
fn texture_of(material: &ufbx::Material) -> Option<&ufbx::Texture> {
    let maps = [&material.pbr.base_color, &material.fbx.diffuse_color];
    let texture = maps.into_iter().find_map(|map| map.texture.as_ref())?;
    Some(texture.file_textures.iter().next().map_or(texture.as_ref(), AsRef::as_ref))
}

fn base_color(material: &ufbx::Material) -> [f64; 4] {
    let color = &material.pbr.base_color;
    if !color.has_value {
        return [1.0; 4];
    }
    let factor = &material.pbr.base_factor;
    let factor = if factor.has_value { factor.value_vec4.x } else { 1.0 };
    let [r, g, b] = [color.value_vec4.x, color.value_vec4.y, color.value_vec4.z].map(|c| {
        let c = c * factor;
        if c.is_finite() { c.clamp(0.0, 1.0) } else { 1.0 }
    });
    [r, g, b, 1.0]
}

/// The bytes of an image that glTF can hold; `None` with a note if there is none.
fn read_image(texture: &ufbx::Texture, folder: Option<&Path>, notes: &mut Vec<String>) -> Option<Vec<u8>> {
    let path: &str =
        if texture.relative_filename.is_empty() { &texture.filename } else { &texture.relative_filename };
    // paths of the machine where it was exported mean nothing here
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let content = match &texture.video {
        Some(video) if texture.content.is_empty() => &video.content,
        _ => &texture.content,
    };
    let bytes = if content.is_empty() { read_beside(name, folder) } else { Some(content.to_vec()) };
    let is_known =
        |bytes: &Vec<u8>| bytes.starts_with(b"\x89PNG\r\n\x1a\n") || bytes.starts_with(b"\xff\xd8\xff");
    match bytes {
        Some(bytes) if is_known(&bytes) => Some(bytes),
        Some(_) => {
            notes.push(format!("texture {} is neither PNG nor JPEG: left out", quoted(name)));
            None
        }
        None => {
            notes.push(format!("texture {} is not in the file or beside it: left out", quoted(name)));
            None
        }
    }
}

/// An image in the folder of the file.
fn read_beside(name: &str, folder: Option<&Path>) -> Option<Vec<u8>> {
    // a name that is one: nothing outside of the folder
    let is_plain = !matches!(name, "" | "." | "..") && !name.contains([':', '\0']);
    let folder = folder.filter(|_| is_plain)?;
    ["", "textures", "Textures"].iter().find_map(|below| read_bytes(&folder.join(below).join(name)).ok())
}
