//! The GLB container: a JSON text and one binary chunk behind a header.

use gltf::binary::{Glb, Header};
use serde_json::{Value, json};
use sinew_files::signature::PROGRAM;
use sinew_take::SinkError;
use std::io::Write;

/// Writes a container and returns its length (bytes); without bytes there is no binary chunk.
pub(crate) fn write(mut file: impl Write, json: &Value, buffer: Vec<u8>) -> Result<u64, SinkError> {
    let json = json.to_string().into_bytes();
    let padded = |length: usize| length.next_multiple_of(4) as u64;
    let bin = Some(buffer).filter(|buffer| !buffer.is_empty());
    let length = 20 + padded(json.len()) + bin.as_ref().map_or(0, |bin| 8 + padded(bin.len()));
    let Ok(header_length) = u32::try_from(length) else {
        let message = format!(
            "{length} bytes do not fit a GLB (4 GiB): write fewer frames, allow a larger error, or write an OBJ sequence"
        );
        return Err(SinkError(message));
    };
    let header = Header { magic: *b"glTF", version: 2, length: header_length };
    let glb = Glb { header, json: json.into(), bin: bin.map(Into::into) };
    glb.to_writer(&mut file).map_err(|error| SinkError(error.to_string()))?;
    Ok(length)
}

/// Says in the JSON of a file that Sinew has written it.
pub(crate) fn sign(json: &mut Value) {
    let asset = &mut json["asset"];
    if asset["generator"] == PROGRAM {
        return;
    }
    if asset["extras"].is_null() {
        asset["extras"] = json!({});
    }
    if let Some(extras) = asset["extras"].as_object_mut() {
        extras.insert("sinew".into(), json!(env!("CARGO_PKG_VERSION")));
    }
}
