//! Extensions that a file cannot be read without: those that are understood or do not touch bones and surfaces pass, the rest is
//! refused by name.

use super::document_reader::DocumentReader;
use super::findings::Findings;
use super::meshopt;
use serde_json::Value;
use sinew_files::quote;

/// The extension that packs vertices in a way that is not read.
const DRACO: &str = "KHR_draco_mesh_compression";

/// Extensions that are read, or that only matter to looks and sounds.
const PASSED: [&str; 12] = [
    "KHR_mesh_quantization",
    meshopt::NAMES[0],
    meshopt::NAMES[1],
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

/// Refuses what cannot be read. Says whether vertices can be: without them every part of the file would be told to be missing.
pub(super) fn check(document: &DocumentReader, findings: &mut Findings) -> bool {
    let Some(required) = findings.accept(document.root().list("extensionsRequired")) else { return true };
    let needs_draco = required.iter().any(|name| name == DRACO) || has_only_draco(document);
    if needs_draco {
        findings.error(format!(
            "needs {DRACO} (Draco compression), which is not read: export it without mesh compression, or open it in Blender and \
             export it with Compression off"
        ));
    }
    for name in required.iter().filter_map(Value::as_str).filter(|name| *name != DRACO) {
        let passed = PASSED.contains(&name) || PASSED_FAMILIES.iter().any(|family| name.starts_with(family));
        if !passed {
            findings.error(format!(
                "needs the extension {}, which is not known here: export the file without it",
                quote(name.as_bytes())
            ));
        }
    }
    !needs_draco
}

/// Whether some positions are there in packed form only, though the file does not say that it needs the extension.
fn has_only_draco(document: &DocumentReader) -> bool {
    let primitives =
        document.list("meshes").iter().filter_map(|mesh| mesh.get("primitives")?.as_array()).flatten();
    primitives.into_iter().any(|primitive| {
        let position =
            primitive["attributes"]["POSITION"].as_u64().and_then(|index| usize::try_from(index).ok());
        let accessor = position.and_then(|index| document.list("accessors").get(index));
        let is_empty = |accessor: &Value| accessor["bufferView"].is_null() && accessor["sparse"].is_null();
        primitive["extensions"][DRACO].is_object() && accessor.is_some_and(is_empty)
    })
}
