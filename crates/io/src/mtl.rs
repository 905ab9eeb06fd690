//! Writes materials as Wavefront MTL: colours, opacity and images of the base colour, emission and normals.
//!
//! Metallic and roughness are the factors of the material (`Pm`, `Pr`); MTL cannot take them from the channels of one image.

use crate::appearance::{Alpha, Appearance, SurfaceMaterial, TextureSlot};
use crate::distinct_names::file_names;
use sinew_files::signature::OBJ_COMMENT;
use std::io::{self, Write};

/// The names of all materials: letters, digits, `-` and `_`.
pub(crate) fn material_names(appearance: &Appearance) -> Vec<String> {
    file_names(appearance.materials.iter().map(|material| material.name.as_str()))
}

/// Writes all materials; the paths of images begin with `image_start`.
pub(crate) fn write_mtl(appearance: &Appearance, image_start: &str, mut file: impl Write) -> io::Result<()> {
    writeln!(file, "{OBJ_COMMENT}materials")?;
    for (material, name) in appearance.materials.iter().zip(material_names(appearance)) {
        writeln!(file, "\nnewmtl {name}")?;
        write_factors(material, &mut file)?;
        let mut map = |key: &str, slot: &Option<TextureSlot>| match slot {
            Some(slot) => writeln!(file, "{key} {image_start}{}", appearance.images[slot.image].name),
            None => Ok(()),
        };
        map("map_Kd", &material.base_color_texture)?;
        if material.alpha != Alpha::Opaque {
            map("map_d", &material.base_color_texture)?;
        }
        map("map_Ke", &material.emissive_texture)?;
        map("norm", &material.normal_texture)?;
    }
    file.flush()
}

fn write_factors(material: &SurfaceMaterial, file: &mut impl Write) -> io::Result<()> {
    let [r, g, b, opacity] = material.base_color;
    // with an image the colour is that of the image: readers ignore a factor
    let [r, g, b] = if material.base_color_texture.is_some() { [1.0; 3] } else { [r, g, b] };
    let opacity = if material.alpha == Alpha::Opaque { 1.0 } else { opacity };
    let SurfaceMaterial { metallic, roughness, emissive: [x, y, z], .. } = *material;
    // the exponent of Phong's highlight that Blender reads this roughness from
    let shininess = 1000.0 * (1.0 - roughness) * (1.0 - roughness);
    writeln!(file, "Kd {r} {g} {b}\nKs 0.5 0.5 0.5\nKe {x} {y} {z}\nNs {shininess}\nd {opacity}\nillum 2")?;
    writeln!(file, "Pm {metallic}\nPr {roughness}")
}
