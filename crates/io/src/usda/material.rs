//! Materials of USD stages: `UsdPreviewSurface` with textures.
//!
//! A texture multiplies its factor by `inputs:scale`. Texture coordinates come from the primvars `st`, `st1`, … of the mesh, one for each set.

use super::text::{asset, quoted};
use crate::appearance::{Alpha, Appearance, SurfaceMaterial, TextureSlot, TextureWrap};
use crate::distinct_names::identifiers;
use std::fmt::Write;

/// The materials of a stage, and where they are in it.
pub(super) struct StageMaterials<'a> {
    appearance: &'a Appearance,
    /// The path of the scope that holds them.
    scope: String,
    /// The identifier of each.
    names: Vec<String>,
    /// The folder of the images, relative to the stage.
    folder: String,
}

/// How the shader of an image reads it.
struct Texture<'a> {
    name: &'a str,
    slot: &'a TextureSlot,
    color_space: &'a str,
    scale: [f32; 4],
    bias: [f32; 4],
    outputs: &'a [&'a str],
}

impl<'a> StageMaterials<'a> {
    /// The materials below a scope.
    pub(super) fn new(appearance: &'a Appearance, scope: String, folder: String) -> StageMaterials<'a> {
        let names = identifiers(appearance.materials.iter().map(|material| material.name.as_str()));
        StageMaterials { appearance, scope, names, folder }
    }

    /// The identifier of a material.
    pub(super) fn name(&self, material: usize) -> Option<&str> {
        self.names.get(material).map(String::as_str)
    }

    /// The path of a material.
    pub(super) fn path(&self, material: usize) -> Option<String> {
        Some(format!("{}/{}", self.scope, self.name(material)?))
    }

    /// The scope with all materials; nothing if there are none.
    pub(super) fn text(&self) -> String {
        if self.names.is_empty() {
            return String::new();
        }
        let scope = self.scope.rsplit('/').next().unwrap_or_default();
        let mut text = format!("    def Scope \"{scope}\"\n    {{\n");
        for (index, material) in self.appearance.materials.iter().enumerate() {
            self.write_material(index, material, &mut text);
        }
        text + "    }\n"
    }

    // writing to a string never fails

    fn write_material(&self, index: usize, material: &SurfaceMaterial, text: &mut String) {
        let (name, path) = (&self.names[index], self.path(index).unwrap_or_default());
        let own_name = quoted(&material.name);
        let _ = write!(
            text,
            r#"        def Material "{name}" (
            customData = {{
                string name = {own_name}
            }}
        )
        {{
            token outputs:surface.connect = <{path}/Surface.outputs:surface>

            def Shader "Surface"
            {{
                uniform token info:id = "UsdPreviewSurface"
{}                token outputs:surface
            }}
"#,
            inputs(material, &path)
        );
        for texture in textures(material) {
            self.write_texture(&texture, &path, text);
        }
        let mut sets: Vec<usize> = material.textures().map(|slot| slot.uv_set).collect();
        sets.sort_unstable();
        sets.dedup();
        sets.into_iter().for_each(|set| write_uv_reader(set, text));
        text.push_str("        }\n");
    }

    fn write_texture(&self, texture: &Texture, path: &str, text: &mut String) {
        // the image
        let Texture { name, slot, color_space, scale, bias, outputs } = texture;
        let file = asset(&format!("{}/{}", self.folder, self.appearance.images[slot.image].name));
        let [wrap_s, wrap_t] = slot.wrap.map(wrap);
        let _ = write!(
            text,
            r#"
            def Shader "{name}"
            {{
                uniform token info:id = "UsdUVTexture"
                asset inputs:file = {file}
                token inputs:sourceColorSpace = "{color_space}"
                float2 inputs:st.connect = <{path}/{}Reader.outputs:result>
                token inputs:wrapS = "{wrap_s}"
                token inputs:wrapT = "{wrap_t}"
"#,
            uv_primvar(slot.uv_set)
        );

        // its numbers
        for (input, value, default) in [("scale", scale, [1.0; 4]), ("bias", bias, [0.0; 4])] {
            if *value != default {
                let [r, g, b, a] = value;
                let _ = writeln!(text, "                float4 inputs:{input} = ({r}, {g}, {b}, {a})");
            }
        }
        for output in *outputs {
            let _ = writeln!(text, "                {output}");
        }
        text.push_str("            }\n");
    }
}

/// The primvar of a set of texture coordinates.
pub(super) fn uv_primvar(set: usize) -> String {
    if set == 0 { "st".into() } else { format!("st{set}") }
}

/// The inputs of the surface shader.
fn inputs(material: &SurfaceMaterial, path: &str) -> String {
    // constants
    let ([r, g, b, opacity], [x, y, z]) = (material.base_color, material.emissive);
    let (metallic, roughness) = (material.metallic, material.roughness);
    let mut lines = vec![
        format!("color3f inputs:diffuseColor = ({r}, {g}, {b})"),
        format!("float inputs:metallic = {metallic}"),
        format!("float inputs:roughness = {roughness}"),
    ];
    if material.emissive != [0.0; 3] {
        lines.push(format!("color3f inputs:emissiveColor = ({x}, {y}, {z})"));
    }
    if material.alpha != Alpha::Opaque {
        lines.push(format!("float inputs:opacity = {opacity}"));
    }
    if let Alpha::Mask(threshold) = material.alpha {
        lines.push(format!("float inputs:opacityThreshold = {threshold}"));
    }

    // textures
    let mut connect = |slot: &Option<TextureSlot>, input: &str, output: &str| {
        if slot.is_some() {
            lines.push(format!("{input}.connect = <{path}/{output}>"));
        }
    };
    connect(&material.base_color_texture, "color3f inputs:diffuseColor", "BaseColor.outputs:rgb");
    if material.alpha != Alpha::Opaque {
        connect(&material.base_color_texture, "float inputs:opacity", "BaseColor.outputs:a");
    }
    connect(&material.metallic_roughness_texture, "float inputs:metallic", "MetallicRoughness.outputs:b");
    connect(&material.metallic_roughness_texture, "float inputs:roughness", "MetallicRoughness.outputs:g");
    connect(&material.normal_texture, "normal3f inputs:normal", "Normal.outputs:rgb");
    connect(&material.occlusion_texture, "float inputs:occlusion", "Occlusion.outputs:r");
    connect(&material.emissive_texture, "color3f inputs:emissiveColor", "Emissive.outputs:rgb");
    lines.iter().fold(String::new(), |text, line| text + "                " + line + "\n")
}

/// The images of a material.
fn textures(material: &SurfaceMaterial) -> Vec<Texture<'_>> {
    let [x, y, z] = material.emissive;
    let (metallic, roughness, tilt) = (material.metallic, material.roughness, material.normal_scale);
    let (none, rgb) = ([0.0; 4], &["float3 outputs:rgb"][..]);

    // image, shader, colour space, scale, bias, outputs
    let slots = [
        (
            &material.base_color_texture,
            "BaseColor",
            "sRGB",
            material.base_color,
            none,
            &["float3 outputs:rgb", "float outputs:a"][..],
        ),
        (
            &material.metallic_roughness_texture,
            "MetallicRoughness",
            "raw",
            [1.0, roughness, metallic, 1.0],
            none,
            &["float outputs:g", "float outputs:b"],
        ),
        // from 0…1 to −1…1
        (
            &material.normal_texture,
            "Normal",
            "raw",
            [2.0 * tilt, 2.0 * tilt, 2.0, 1.0],
            [-tilt, -tilt, -1.0, 0.0],
            rgb,
        ),
        (&material.occlusion_texture, "Occlusion", "raw", [1.0; 4], none, &["float outputs:r"]),
        (&material.emissive_texture, "Emissive", "sRGB", [x, y, z, 1.0], none, rgb),
    ];

    // those that the material has
    slots
        .into_iter()
        .filter_map(|(slot, name, color_space, scale, bias, outputs)| {
            Some(Texture { name, slot: slot.as_ref()?, color_space, scale, bias, outputs })
        })
        .collect()
}

/// The shader that reads a set of texture coordinates.
fn write_uv_reader(set: usize, text: &mut String) {
    let primvar = uv_primvar(set);
    let _ = write!(
        text,
        r#"
            def Shader "{primvar}Reader"
            {{
                uniform token info:id = "UsdPrimvarReader_float2"
                string inputs:varname = "{primvar}"
                float2 outputs:result
            }}
"#
    );
}

fn wrap(wrap: TextureWrap) -> &'static str {
    match wrap {
        TextureWrap::Repeat => "repeat",
        TextureWrap::Mirror => "mirror",
        TextureWrap::Clamp => "clamp",
    }
}
