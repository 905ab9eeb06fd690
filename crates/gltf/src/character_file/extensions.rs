//! Extensions that a file cannot be read without: those that are understood or do not touch bones and surfaces pass, the rest is
//! refused by name.

use super::document_reader::DocumentReader;
use super::findings::Findings;
use serde_json::Value;
use sinew_files::quote;

/// Extensions that change how vertices are packed, and what to do about each.
const COMPRESSED: [(&str, &str); 3] = [
    ("KHR_draco_mesh_compression", "Draco compression"),
    ("EXT_meshopt_compression", "meshopt compression"),
    ("KHR_meshopt_compression", "meshopt compression"),
];

/// Extensions that are read, or that only matter to looks and sounds.
const PASSED: [&str; 10] = [
    "KHR_mesh_quantization",
    "KHR_texture_transform",
    "KHR_texture_basisu",
    "KHR_lights_punctual",
    "KHR_animation_pointer",
    "EXT_texture_webp",
    "EXT_texture_avif",
    "EXT_lights_image_based",
    "MSFT_texture_dds",
    "VRM",
];
const PASSED_FAMILIES: [&str; 5] = ["KHR_materials_", "EXT_materials_", "KHR_xmp", "VRMC_", "KHR_audio"];

/// Refuses what cannot be read.
pub(super) fn check(document: &DocumentReader, findings: &mut Findings) {
    let Some(required) = findings.accept(document.root().list("extensionsRequired")) else { return };
    for name in required.iter().filter_map(Value::as_str) {
        let passed = PASSED.contains(&name) || PASSED_FAMILIES.iter().any(|family| name.starts_with(family));
        if let Some((_, what)) = COMPRESSED.iter().find(|(compressed, _)| *compressed == name) {
            findings.error(format!(
                "needs {name} ({what}), which is not read: export it without mesh compression, or open it in Blender and export it \
                 with Compression off"
            ));
        } else if !passed {
            findings.error(format!(
                "needs the extension {}, which is not known here: export the file without it",
                quote(name.as_bytes())
            ));
        }
    }
}
