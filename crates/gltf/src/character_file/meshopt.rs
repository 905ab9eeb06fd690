//! Decompression of `EXT_meshopt_compression` and `KHR_meshopt_compression`: the file becomes one without it before it is read.
//!
//! All views of buffers, packed or not, are copied into one buffer; what refers to them stays as it is. So takes are written into a file
//! that every program reads. Our own decoders read within bounds by construction and need no C++; encoders of the reference library are
//! what they are tested against.

mod byte_reader;
mod filters;
mod indices;
mod vertices;

use super::buffers::Buffers;
use super::container::CharacterSource;
use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use crate::glb_container;
use filters::Filter;
use serde_json::{Value, json};

/// The names of the extension; the second knows one version and one filter more.
pub(super) const NAMES: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Whether some view of a document is packed.
pub(super) fn is_used(root: &Value) -> bool {
    views(root).iter().any(|view| NAMES.iter().any(|name| view["extensions"][*name].is_object()))
}

/// Whether a buffer is never read: it stands for what packed views would be without the extension.
pub(super) fn is_fallback(buffer: &Part) -> bool {
    let says_so = |name: &&str| buffer.value["extensions"][*name]["fallback"].as_bool() == Some(true);
    buffer.get("uri").is_none() && NAMES.iter().any(says_so)
}

fn views(root: &Value) -> &[Value] {
    root.get("bufferViews").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The same document without packed views, as a file of its own; nothing after an error.
pub(super) fn unpack(
    root: &Value,
    buffers: &Buffers,
    size: u64,
    findings: &mut Findings,
) -> Option<CharacterSource> {
    // the bytes of every view
    let document = DocumentReader::new(root, buffers, size);
    let mut bytes = Vec::new();
    let mut unpacked = root.clone();
    for (index, value) in views(root).iter().enumerate() {
        let view = Part { value, path: format!("bufferViews[{index}]") };
        let own = findings.accept(view_bytes(&document, &view))?;
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let entry = &mut unpacked["bufferViews"][index];
        entry["buffer"] = json!(0);
        entry["byteOffset"] = json!(bytes.len());
        entry["byteLength"] = json!(own.len());
        remove_extension(entry);
        bytes.extend(own);
    }

    // one buffer for all of them
    unpacked["buffers"] = json!([{ "byteLength": bytes.len() }]);
    for list in ["extensionsUsed", "extensionsRequired"] {
        let Some(names) = unpacked.get_mut(list).and_then(Value::as_array_mut) else { continue };
        names.retain(|name| !NAMES.iter().any(|packed| name == packed));
        if names.is_empty()
            && let Some(members) = unpacked.as_object_mut()
        {
            members.remove(list);
        }
    }
    let mut file = Vec::new();
    let written = glb_container::write(&mut file, &unpacked, bytes).map_err(|error| error.to_string());
    findings.accept(written)?;
    let split = CharacterSource::split(file).map_err(|error| error.to_string());
    findings.accept(split).map(|(source, _)| source)
}

fn remove_extension(view: &mut Value) {
    let Some(extensions) = view.get_mut("extensions").and_then(Value::as_object_mut) else { return };
    NAMES.iter().for_each(|name| drop(extensions.remove(*name)));
    if extensions.is_empty()
        && let Some(members) = view.as_object_mut()
    {
        members.remove("extensions");
    }
}

/// The bytes of a view as they would be without the extension.
fn view_bytes(document: &DocumentReader, view: &Part) -> Result<Vec<u8>, String> {
    let extension = view.get("extensions").and_then(|all| NAMES.iter().find_map(|name| all.get(name)));
    match extension {
        Some(packed) => decode(document, &packed),
        None => {
            let bytes = document.view_bytes(view)?;
            document.charge(bytes.len(), 1, &view.path)?;
            Ok(bytes.to_vec())
        }
    }
}

/// What a packed view holds.
fn decode(document: &DocumentReader, packed: &Part) -> Result<Vec<u8>, String> {
    // what is promised
    let path = &packed.path;
    let wanted = |key: &str| {
        packed.index(key)?.ok_or_else(|| format!("{path} does not say its {key}: export the file again"))
    };
    let (count, stride) = (wanted("count")?, wanted("byteStride")?);
    let data = document.view_bytes(packed)?;
    let filter = Filter::of(packed.text("filter"));
    let filter =
        filter.ok_or_else(|| format!("{path}.filter is none that is known: export the file again"))?;

    // whether it can be so
    let mode = packed.text("mode").unwrap_or_default();
    let fits = match mode {
        "ATTRIBUTES" => stride % 4 == 0 && (4..=256).contains(&stride) && filter.fits(stride),
        "TRIANGLES" => matches!(stride, 2 | 4) && count % 3 == 0 && filter == Filter::None,
        "INDICES" => matches!(stride, 2 | 4) && filter == Filter::None,
        _ => false,
    };
    if !fits {
        return Err(format!(
            "{path} packs {count} elements of {stride} bytes in a mode or with a filter that does not allow it: export the file again"
        ));
    }
    // indices are decoded in four bytes each
    document.charge(count, stride + if mode == "ATTRIBUTES" { 0 } else { 4 }, path)?;

    let decoded = match mode {
        "ATTRIBUTES" => vertices::decode(data, count, stride).map(|mut bytes| {
            filter.apply(&mut bytes, stride);
            bytes
        }),
        "TRIANGLES" => indices::decode_triangles(data, count).map(|indices| narrowed(&indices, stride)),
        _ => indices::decode_sequence(data, count).map(|indices| narrowed(&indices, stride)),
    };
    decoded.ok_or_else(|| format!("{path} is damaged: copy or export the file again"))
}

/// Indices of two or four bytes each.
fn narrowed(indices: &[u32], stride: usize) -> Vec<u8> {
    indices.iter().flat_map(|index| index.to_le_bytes().into_iter().take(stride)).collect()
}

#[cfg(test)]
mod tests;
