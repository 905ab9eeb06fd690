//! A glTF document and its one buffer, put together body by body and written as a GLB container.

use super::normals::Normals;
use crate::Up;
use crate::components::Components;
use crate::glb_container;
use crate::palette::body_color;
use serde_json::{Value, json};
use sinew_files::signature::PROGRAM;
use sinew_take::{SinkError, SurfaceInfo};
use std::io::Write;

// numbers that glTF gives its kinds
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const VERTEX_BUFFER: u32 = 34962;
const INDEX_BUFFER: u32 = 34963;

/// One body and what it does.
pub(super) struct Body<'a> {
    /// Its place in the scene.
    pub(super) index: usize,
    pub(super) surface: &'a SurfaceInfo,
    pub(super) components: &'a Components,
    pub(super) normals: &'a Normals,
}

/// A glTF document in the making.
pub(super) struct Document {
    buffer: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    times: Vec<f32>,
    times_accessor: Option<usize>,
    up: Up,
}

impl Document {
    /// A document without bodies; keys stand at the given times (s).
    pub(super) fn new(up: Up, times: &[f64]) -> Document {
        Document {
            buffer: Vec::new(),
            views: Vec::new(),
            accessors: Vec::new(),
            materials: Vec::new(),
            meshes: Vec::new(),
            nodes: Vec::new(),
            samplers: Vec::new(),
            channels: Vec::new(),
            times: times.iter().map(|t| *t as f32).collect(),
            times_accessor: None,
            up,
        }
    }

    /// Adds a body: its mesh, its look and the keys of its weights.
    pub(super) fn add_body(&mut self, body: Body) {
        let Body { index, surface, components, normals } = body;
        let [r, g, b] = body_color(index);
        self.materials.push(json!({
            "name": surface.name,
            "doubleSided": true,
            "pbrMetallicRoughness": {
                "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.4
            }
        }));
        let mut primitive = json!({
            "attributes": self.add_shape(&components.base, &normals.base),
            "indices": self.add_indices(&surface.triangles),
            "material": self.materials.len() - 1,
        });
        let mut mesh = json!({ "name": surface.name });
        let count = components.deltas.len();
        if count > 0 {
            let shapes = components.deltas.iter().zip(&normals.deltas);
            let targets: Vec<Value> =
                shapes.map(|(deltas, normals)| self.add_shape(deltas, normals)).collect();
            primitive["targets"] = json!(targets);
            // viewers that play nothing show the first frame
            mesh["weights"] = json!(components.weights[0]);
            let names: Vec<String> = (1..=count).map(|k| format!("component_{k:02}")).collect();
            mesh["extras"] = json!({ "targetNames": names });
            self.add_keys(&components.weights);
        }
        mesh["primitives"] = json!([primitive]);
        self.meshes.push(mesh);
        self.nodes.push(json!({ "name": surface.name, "mesh": self.meshes.len() - 1 }));
    }

    /// Writes the container and returns its length (bytes).
    pub(super) fn write(self, file: impl Write) -> Result<u64, SinkError> {
        glb_container::write(file, &self.json(), self.buffer)
    }

    fn json(&self) -> Value {
        let mut nodes = self.nodes.clone();
        let mut roots: Vec<usize> = (0..nodes.len()).collect();
        if self.up == Up::Z && !nodes.is_empty() {
            // a quarter turn about x brings z up to y
            let half = std::f64::consts::FRAC_1_SQRT_2;
            nodes.push(json!({ "name": "z up", "children": roots, "rotation": [-half, 0.0, 0.0, half] }));
            roots = vec![nodes.len() - 1];
        }
        let mut document = json!({ "asset": { "version": "2.0", "generator": PROGRAM }, "scene": 0 });
        document["scenes"] = if roots.is_empty() { json!([{}]) } else { json!([{ "nodes": roots }]) };
        let animations = match self.channels.is_empty() {
            true => Vec::new(),
            false => vec![json!({ "name": "take", "samplers": self.samplers, "channels": self.channels })],
        };
        let buffers = match self.buffer.is_empty() {
            true => Vec::new(),
            false => vec![json!({ "byteLength": self.buffer.len() })],
        };
        let lists = [
            ("nodes", &nodes),
            ("meshes", &self.meshes),
            ("materials", &self.materials),
            ("accessors", &self.accessors),
            ("bufferViews", &self.views),
            ("buffers", &buffers),
            ("animations", &animations),
        ];
        // glTF has no empty lists
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            document[name] = json!(list);
        }
        document
    }

    /// Positions and normals, of a mesh or of a morph target.
    fn add_shape(&mut self, positions: &[[f32; 3]], normals: &[[f32; 3]]) -> Value {
        let fold = |start: f32, pick: fn(f32, f32) -> f32| {
            positions.iter().fold([start; 3], |all, p| [0, 1, 2].map(|i| pick(all[i], p[i])))
        };
        let (min, max) = (fold(f32::INFINITY, f32::min), fold(f32::NEG_INFINITY, f32::max));
        let position = self.add_floats(positions.as_flattened(), "VEC3", Some(VERTEX_BUFFER));
        self.accessors[position]["min"] = json!(min);
        self.accessors[position]["max"] = json!(max);
        let normal = self.add_floats(normals.as_flattened(), "VEC3", Some(VERTEX_BUFFER));
        json!({ "POSITION": position, "NORMAL": normal })
    }

    fn add_indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let bytes = triangles.as_flattened().iter().flat_map(|i| i.to_le_bytes());
        let view = self.add_view(bytes, Some(INDEX_BUFFER));
        let count = 3 * triangles.len();
        self.accessors.push(
            json!({ "bufferView": view, "componentType": UNSIGNED_INT, "count": count, "type": "SCALAR" }),
        );
        self.accessors.len() - 1
    }

    fn add_keys(&mut self, weights: &[Vec<f32>]) {
        let times = self.times.clone();
        let input = *self.times_accessor.get_or_insert(self.accessors.len());
        if input == self.accessors.len() {
            self.add_floats(&times, "SCALAR", None);
            self.accessors[input]["min"] = json!([times.first()]);
            self.accessors[input]["max"] = json!([times.last()]);
        }
        let output = self.add_floats(&weights.concat(), "SCALAR", None);
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
        let target = json!({ "node": self.nodes.len(), "path": "weights" });
        self.channels.push(json!({ "sampler": self.samplers.len() - 1, "target": target }));
    }

    fn add_floats(&mut self, values: &[f32], kind: &str, target: Option<u32>) -> usize {
        let count = if kind == "VEC3" { values.len() / 3 } else { values.len() };
        let view = self.add_view(values.iter().flat_map(|v| v.to_le_bytes()), target);
        self.accessors
            .push(json!({ "bufferView": view, "componentType": FLOAT, "count": count, "type": kind }));
        self.accessors.len() - 1
    }

    /// A part of the buffer. All that is stored has four bytes, so every part begins at a multiple of four.
    fn add_view(&mut self, bytes: impl Iterator<Item = u8>, target: Option<u32>) -> usize {
        let start = self.buffer.len();
        self.buffer.extend(bytes);
        let length = self.buffer.len() - start;
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": length });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }
}
