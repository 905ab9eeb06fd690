//! The builder of every glTF document that is written: its JSON, and all its buffers as one.
//!
//! It starts empty, or as the document of a character's file, to which it adds without changing the rest.

mod packed_views;
mod stored_vectors;
mod vertex_encoder;

pub(crate) use stored_vectors::Storage;

use crate::character_file::CharacterFile;
use crate::glb_container;
use serde_json::{Value, json};
use sinew_files::signature::PROGRAM;
use sinew_take::SinkError;
use std::collections::BTreeMap;
use std::io::Write;

// numbers that glTF gives its kinds
const UNSIGNED_BYTE: u32 = 5121;
const SHORT: u32 = 5122;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;
const VERTEX_BUFFER: u32 = 34962;
const INDEX_BUFFER: u32 = 34963;

/// A document and its one buffer.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) json: Value,
    buffer: Vec<u8>,
    /// Accessors of zeros, by their count.
    zeros: BTreeMap<usize, usize>,
    /// What stands for the bytes of packed views, if there are any.
    fallback: Option<Value>,
}

impl Document {
    /// A document of nothing.
    pub(crate) fn new() -> Document {
        Document::with(json!({ "asset": { "version": "2.0", "generator": PROGRAM }, "scene": 0 }))
    }

    fn with(json: Value) -> Document {
        Document { json, buffer: Vec::new(), zeros: BTreeMap::new(), fallback: None }
    }

    /// The document of a file. Its buffers follow each other in one; views keep their bytes.
    pub(crate) fn of(character: &CharacterFile) -> Result<Document, SinkError> {
        let json: Value = serde_json::from_slice(character.source.json())
            .map_err(|error| SinkError(format!("the JSON of the character cannot be read: {error}")))?;
        let mut document = Document::with(json);
        let count = document.count("buffers");
        let mut starts = Vec::with_capacity(count);
        for index in 0..count {
            document.align();
            starts.push(document.buffer.len());
            document.buffer.extend(character.buffer(index).unwrap_or_default());
        }
        for view in document.list("bufferViews") {
            shift(view, &starts);
            if let Some(extensions) = view.get_mut("extensions").and_then(Value::as_object_mut) {
                extensions.values_mut().for_each(|extension| shift(extension, &starts));
            }
        }
        Ok(document)
    }

    /// The length of the buffer (bytes).
    pub(crate) fn buffer_length(&self) -> usize {
        self.buffer.len()
    }

    /// The bytes of the file, but for a few of its container.
    pub(crate) fn byte_count(&self) -> u64 {
        (self.buffer.len() + self.json.to_string().len()) as u64
    }

    /// How many entries a list of the document has.
    pub(crate) fn count(&self, list: &str) -> usize {
        self.json.get(list).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// The entries of a list of the document.
    pub(crate) fn list(&mut self, list: &str) -> impl Iterator<Item = &mut Value> {
        self.json.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
    }

    /// Adds to a list of the document and returns the place.
    pub(crate) fn push(&mut self, list: &str, value: Value) -> usize {
        let entries = &mut self.json[list];
        if !entries.is_array() {
            *entries = json!([]);
        }
        push(entries, value)
    }

    /// Adds the one scene, which shows these nodes.
    pub(crate) fn add_scene(&mut self, roots: &[usize]) {
        // glTF has no empty lists
        let scene = if roots.is_empty() { json!({}) } else { json!({ "nodes": roots }) };
        self.push("scenes", scene);
    }

    /// Adds the material of a body in one colour (linear RGB) and returns its index.
    pub(crate) fn add_material(&mut self, name: &str, [r, g, b]: [f32; 3]) -> usize {
        self.push(
            "materials",
            json!({
                "name": name,
                "doubleSided": true,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.4
                }
            }),
        )
    }

    /// Adds positions and normals, of a mesh or of a morph target, and returns them as attributes.
    pub(crate) fn add_shape(&mut self, positions: &[[f32; 3]], normals: &[[f32; 3]]) -> Value {
        let position = self.add_deltas(positions);
        json!({ "POSITION": position, "NORMAL": self.add_attribute(normals.as_flattened(), "VEC3") })
    }

    /// Adds the corners of triangles and returns their accessor.
    pub(crate) fn add_indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let bytes = triangles.as_flattened().iter().flat_map(|corner| corner.to_le_bytes());
        self.add_elements(bytes, (UNSIGNED_INT, "SCALAR"), 3 * triangles.len(), INDEX_BUFFER)
    }

    /// Adds the joints of vertices, four each, and returns their accessor.
    pub(crate) fn add_joints(&mut self, joints: &[[u16; 4]]) -> usize {
        let bytes = joints.as_flattened().iter().flat_map(|joint| joint.to_le_bytes());
        self.add_elements(bytes, (UNSIGNED_SHORT, "VEC4"), joints.len(), VERTEX_BUFFER)
    }

    /// The same for joints below 256, in bytes.
    pub(crate) fn add_byte_joints(&mut self, joints: &[[u16; 4]]) -> usize {
        let bytes = joints.as_flattened().iter().map(|joint| *joint as u8);
        self.add_elements(bytes, (UNSIGNED_BYTE, "VEC4"), joints.len(), VERTEX_BUFFER)
    }

    /// Adds the weights of joints, four of each vertex, as normalised 16-bit integers, and returns their accessor.
    pub(crate) fn add_weights(&mut self, weights: &[[u16; 4]]) -> usize {
        let accessor = self.add_joints(weights);
        self.json["accessors"][accessor]["normalized"] = json!(true);
        accessor
    }

    /// Adds rotations as quaternions of normalised 16-bit integers: x, y, z and w.
    pub(crate) fn add_rotations(&mut self, rotations: &[[i16; 4]]) -> usize {
        let view = self.add_view(rotations.as_flattened().iter().flat_map(|c| c.to_le_bytes()));
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": SHORT, "normalized": true, "count": rotations.len(), "type": "VEC4" }),
        )
    }

    /// Adds bytes, at a multiple of four, and returns their view.
    pub(crate) fn add_view(&mut self, bytes: impl Iterator<Item = u8>) -> usize {
        self.align();
        let start = self.buffer.len();
        self.buffer.extend(bytes);
        let length = self.buffer.len() - start;
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": start, "byteLength": length }))
    }

    /// Adds the deltas of a morph target or the positions of a mesh, and returns their accessor.
    pub(crate) fn add_deltas(&mut self, deltas: &[[f32; 3]]) -> usize {
        if deltas.iter().all(|delta| *delta == [0.0; 3]) {
            return self.add_zeros(deltas.len());
        }
        self.add_points(deltas)
    }

    /// Adds points with the bounds that glTF wants of positions, and returns their accessor.
    pub(crate) fn add_points(&mut self, points: &[[f32; 3]]) -> usize {
        let accessor = self.add_attribute(points.as_flattened(), "VEC3");
        let fold = |start: f32, pick: fn(f32, f32) -> f32| {
            points.iter().fold([start; 3], |all, point| [0, 1, 2].map(|i| pick(all[i], point[i])))
        };
        self.json["accessors"][accessor]["min"] = json!(fold(f32::INFINITY, f32::min));
        self.json["accessors"][accessor]["max"] = json!(fold(f32::NEG_INFINITY, f32::max));
        accessor
    }

    /// An accessor of vectors that are all zero, for which there are no bytes.
    pub(crate) fn add_zeros(&mut self, count: usize) -> usize {
        if let Some(accessor) = self.zeros.get(&count) {
            return *accessor;
        }
        let nothing = [0.0; 3];
        let accessor =
            json!({ "componentType": FLOAT, "count": count, "type": "VEC3", "min": nothing, "max": nothing });
        let accessor = self.push("accessors", accessor);
        self.zeros.insert(count, accessor);
        accessor
    }

    /// Adds the times of keys (s), at least one.
    pub(crate) fn add_times(&mut self, times: &[f64]) -> usize {
        let times: Vec<f32> = times.iter().map(|time| *time as f32).collect();
        let accessor = self.add_floats(&times, "SCALAR");
        self.json["accessors"][accessor]["min"] = json!([times.first()]);
        self.json["accessors"][accessor]["max"] = json!([times.last()]);
        accessor
    }

    /// Adds numbers as elements of a kind.
    pub(crate) fn add_floats(&mut self, values: &[f32], kind: &str) -> usize {
        let view = self.add_view(values.iter().flat_map(|value| value.to_le_bytes()));
        let count = values.len() / width(kind);
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": FLOAT, "count": count, "type": kind }),
        )
    }

    /// Adds lists of numbers as elements of a kind, all in one view, and returns an accessor for each.
    pub(crate) fn add_lists(&mut self, lists: &[&[f32]], kind: &str) -> Vec<usize> {
        // glTF has no empty views
        if lists.iter().all(|list| list.is_empty()) {
            return Vec::new();
        }
        let view = self.add_view(lists.iter().flat_map(|list| list.iter()).flat_map(|x| x.to_le_bytes()));
        let mut offset = 0;
        let mut add = |list: &&[f32]| {
            let count = list.len() / width(kind);
            let accessor = json!({ "bufferView": view, "byteOffset": offset, "componentType": FLOAT, "count": count, "type": kind });
            offset += size_of_val(*list);
            self.push("accessors", accessor)
        };
        lists.iter().map(&mut add).collect()
    }

    /// Adds numbers of vertices, as elements of a kind.
    pub(crate) fn add_attribute(&mut self, values: &[f32], kind: &str) -> usize {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.add_elements(bytes, (FLOAT, kind), values.len() / width(kind), VERTEX_BUFFER)
    }

    /// Adds so many elements, of numbers of a type in an order of a kind, for the use that `target` is glTF's number of.
    fn add_elements(
        &mut self,
        bytes: impl Iterator<Item = u8>,
        (number, kind): (u32, &str),
        count: usize,
        target: u32,
    ) -> usize {
        let view = self.add_view(bytes);
        self.json["bufferViews"][view]["target"] = json!(target);
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": number, "count": count, "type": kind }),
        )
    }

    /// Says that Sinew has written the file, beside whose it was first. Extras that are no object stay as they are, and the file is not known as one of Sinew.
    pub(crate) fn sign(&mut self) {
        glb_container::sign(&mut self.json);
    }

    /// Writes the container and returns its length (bytes).
    pub(crate) fn write(mut self, file: impl Write) -> Result<u64, SinkError> {
        if !self.buffer.is_empty() {
            let mut buffer = self.json["buffers"].get(0).cloned().unwrap_or_else(|| json!({}));
            if let Some(members) = buffer.as_object_mut() {
                members.remove("uri");
            }
            buffer["byteLength"] = json!(self.buffer.len());
            self.json["buffers"] = [buffer].into_iter().chain(self.fallback).collect();
        }
        glb_container::write(file, &self.json, self.buffer)
    }

    fn align(&mut self) {
        self.buffer.resize(self.buffer.len().next_multiple_of(4), 0);
    }
}

/// How many numbers an element of a kind has.
fn width(kind: &str) -> usize {
    match kind {
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => 1,
    }
}

/// Adds to a list and returns the place.
pub(crate) fn push(list: &mut Value, value: Value) -> usize {
    match list.as_array_mut() {
        Some(entries) => {
            entries.push(value);
            entries.len() - 1
        }
        None => {
            *list = json!([value]);
            0
        }
    }
}

/// Moves what names a place in one of the buffers to the same place in the first.
fn shift(view: &mut Value, starts: &[usize]) {
    let Some(buffer) = view.get("buffer").and_then(Value::as_u64) else { return };
    let start = starts.get(buffer as usize).copied().unwrap_or_default();
    if buffer > 0 {
        view["buffer"] = json!(0);
    }
    if start > 0 {
        let offset = view.get("byteOffset").and_then(Value::as_u64).unwrap_or_default();
        view["byteOffset"] = json!(offset + start as u64);
    }
}
