//! Small characters made by code: a bar of square section along y, bound to two joints and animated.

use serde_json::{Value, json};

pub(crate) const I8: u32 = 5120;
pub(crate) const U8: u32 = 5121;
pub(crate) const I16: u32 = 5122;
pub(crate) const U16: u32 = 5123;
pub(crate) const U32: u32 = 5125;
pub(crate) const F32: u32 = 5126;

/// A glTF document and its one buffer.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) json: Value,
    pub(crate) buffer: Vec<u8>,
}

pub(crate) fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect()
}

pub(crate) fn shorts(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

impl Document {
    pub(crate) fn new() -> Document {
        let lists = ["accessors", "bufferViews", "nodes", "meshes", "materials", "skins", "animations"];
        let mut json = json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [] }] });
        lists.iter().for_each(|list| json[list] = json!([]));
        Document { json, buffer: Vec::new() }
    }

    /// Appends to one of the lists and returns the index.
    pub(crate) fn push(&mut self, list: &str, value: Value) -> usize {
        let list = self.json[list].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        self.buffer.resize(self.buffer.len().next_multiple_of(4), 0);
        let offset = self.buffer.len();
        self.buffer.extend(bytes);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }))
    }

    pub(crate) fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        let accessor =
            json!({ "bufferView": view, "componentType": component, "type": kind, "count": count });
        self.push("accessors", accessor)
    }

    pub(crate) fn json_with_buffer(&self, uri: Option<&str>) -> Value {
        let mut json = self.json.clone();
        // packed bars have another, which is never read
        if !json["buffers"].is_array() {
            json["buffers"] = json!([{}]);
        }
        json["buffers"][0] = json!({ "byteLength": self.buffer.len() });
        if let Some(uri) = uri {
            json["buffers"][0]["uri"] = json!(uri);
        }
        json
    }

    pub(crate) fn to_glb(&self) -> Vec<u8> {
        glb(&self.json_with_buffer(None).to_string(), &self.buffer)
    }

    /// A text with the buffer within, or in a file of a name.
    pub(crate) fn to_text(&self, uri: Option<&str>) -> Vec<u8> {
        let within = format!("data:application/octet-stream;base64,{}", base64(&self.buffer));
        self.json_with_buffer(Some(uri.unwrap_or(&within))).to_string().into_bytes()
    }
}

/// A container around a JSON text and a buffer.
pub(crate) fn glb(json: &str, buffer: &[u8]) -> Vec<u8> {
    let mut text = json.as_bytes().to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut buffer = buffer.to_vec();
    buffer.resize(buffer.len().next_multiple_of(4), 0);
    let length = 12 + 8 + text.len() + 8 + buffer.len();
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend((length as u32).to_le_bytes());
    for (kind, content) in [(b"JSON", text), (b"BIN\0", buffer)] {
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(content);
    }
    bytes
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three
            .iter()
            .chain([0; 2].iter())
            .take(3)
            .fold(0usize, |word, byte| word << 8 | usize::from(*byte));
        for i in 0..4 {
            text.push(if i <= three.len() { DIGITS[word >> (18 - 6 * i) & 63].into() } else { '=' });
        }
    }
    text
}

/// How the triangles of a bar are strung together.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stringing {
    List,
    Unindexed,
    Strip,
}

/// What a bar is like.
#[derive(Clone, Copy)]
pub(crate) struct Bar {
    pub(crate) stringing: Stringing,
    /// Positions, weights and rotations as short whole numbers.
    pub(crate) quantized: bool,
    /// A few positions and a morph target by sparse accessors.
    pub(crate) sparse: bool,
    /// Weights in two sets.
    pub(crate) two_sets: bool,
}

pub(crate) const PLAIN: Bar =
    Bar { stringing: Stringing::List, quantized: false, sparse: false, two_sets: false };

/// Indices of what a bar's document holds.
pub(crate) const ARMATURE: usize = 0;
pub(crate) const ROOT: usize = 1;
pub(crate) const BEND: usize = 2;
pub(crate) const SHOWN: usize = 3;
pub(crate) const PROP: usize = 4;
pub(crate) const RINGS: usize = 5;

/// The corners of ring after ring, at heights 0 to 2.
pub(crate) fn positions() -> Vec<[f64; 3]> {
    let ring = |i: usize| {
        [[0.25, -0.25], [0.25, 0.25], [-0.25, 0.25], [-0.25, -0.25]].map(|[x, z]| [x, 0.5 * i as f64, z])
    };
    (0..RINGS).flat_map(ring).collect()
}

/// How much of a corner follows the upper joint.
fn upper_weight(vertex: usize) -> f64 {
    [0.0, 0.25, 0.5, 0.75, 1.0][vertex / 4]
}

/// Triangles of the four sides, facing out.
pub(crate) fn triangles() -> Vec<[u16; 3]> {
    let mut triangles = Vec::new();
    for ring in 0..RINGS as u16 - 1 {
        for side in 0..4 {
            let (a, b) = (4 * ring + side, 4 * ring + (side + 1) % 4);
            triangles.extend([[a, a + 4, b], [b, a + 4, b + 4]]);
        }
    }
    triangles
}

impl Bar {
    pub(crate) fn document(self) -> Document {
        let mut document = Document::new();
        let primitive = self.primitive(&mut document);
        document.push(
            "materials",
            json!({ "name": "clay", "pbrMetallicRoughness": { "baseColorFactor": [0.8, 0.4, 0.2, 1.0] } }),
        );
        document.push("meshes", json!({ "name": "bar", "primitives": [primitive], "weights": [0.5] }));
        add_prop(&mut document);
        add_nodes(&mut document);
        // a joint at the origin and one a unit above it
        let mut inverse_bind = [[0.0; 16]; 2];
        inverse_bind.iter_mut().for_each(|matrix| (0..4).for_each(|i| matrix[5 * i] = 1.0));
        inverse_bind[1][13] = -1.0;
        let matrices = document.accessor(&floats(&inverse_bind.concat()), F32, "MAT4", 2);
        document.push("skins", json!({ "name": "rig", "joints": [ROOT, BEND], "skeleton": ROOT, "inverseBindMatrices": matrices }));
        self.add_animation(&mut document);
        document
    }

    fn primitive(self, document: &mut Document) -> Value {
        let position = self.add_positions(document);
        let mut attributes = json!({ "POSITION": position });
        self.add_weights(document, &mut attributes);
        let target = self.add_target(document);
        let mut primitive =
            json!({ "attributes": attributes, "material": 0, "targets": [{ "POSITION": target }] });
        match self.stringing {
            Stringing::List => {
                let corners = triangles().concat();
                primitive["indices"] =
                    json!(document.accessor(&shorts(&corners), U16, "SCALAR", corners.len()));
            }
            Stringing::Unindexed => {}
            Stringing::Strip => {
                // around each ring and, by triangles without area, on to the next
                let ring = |ring: u8| {
                    let pairs = (0..5).flat_map(move |side| [4 * ring + 4 + side % 4, 4 * ring + side % 4]);
                    [4 * ring + 4].into_iter().chain(pairs).chain([4 * ring])
                };
                let corners: Vec<u8> = (0..RINGS as u8 - 1).flat_map(ring).collect();
                primitive["indices"] = json!(document.accessor(&corners, U8, "SCALAR", corners.len()));
                primitive["mode"] = json!(5);
            }
        }
        primitive
    }

    /// The vertices in the order they are stored: without indices, corner after corner.
    pub(crate) fn order(self) -> Vec<usize> {
        match self.stringing {
            Stringing::Unindexed => triangles().concat().iter().map(|corner| usize::from(*corner)).collect(),
            _ => (0..4 * RINGS).collect(),
        }
    }

    fn add_positions(self, document: &mut Document) -> usize {
        let all = positions();
        let numbers: Vec<f64> = self.order().iter().flat_map(|vertex| all[*vertex]).collect();
        let count = numbers.len() / 3;
        if self.quantized {
            // halves of halves of a unit, which scales of nodes would undo elsewhere; four numbers apart
            let bytes: Vec<u8> = numbers
                .chunks(3)
                .flat_map(|point| [point[0], point[1], point[2], 0.0].map(|x| (4.0 * x) as i16))
                .flat_map(i16::to_le_bytes)
                .collect();
            let accessor = document.accessor(&bytes, I16, "VEC3", count);
            let views = document.json["bufferViews"].as_array_mut().unwrap();
            views.last_mut().unwrap()["byteStride"] = json!(8);
            document.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
            document.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
            accessor
        } else if self.sparse {
            // every third vertex comes from the sparse part
            let mut base = numbers.clone();
            let replaced: Vec<usize> = (0..count).step_by(3).collect();
            replaced.iter().for_each(|vertex| base[3 * vertex..3 * vertex + 3].fill(9.0));
            let values: Vec<f64> =
                replaced.iter().flat_map(|vertex| numbers[3 * vertex..3 * vertex + 3].to_vec()).collect();
            let accessor = document.accessor(&floats(&base), F32, "VEC3", count);
            add_sparse(document, accessor, &replaced, &values);
            accessor
        } else {
            document.accessor(&floats(&numbers), F32, "VEC3", count)
        }
    }

    fn add_weights(self, document: &mut Document, attributes: &mut Value) {
        let order = self.order();
        // the two joints stand in one set, or in one each
        let sets = if self.two_sets { vec![[0, 9], [9, 1]] } else { vec![[0, 1]] };
        for (set, slots) in sets.iter().enumerate() {
            let used = |slot: usize| slots.get(slot).is_some_and(|joint| *joint < 2);
            let joints: Vec<u16> = order
                .iter()
                .flat_map(|_| [0, 1, 2, 3].map(|slot| if used(slot) { slot as u16 } else { 0 }))
                .collect();
            let weight = |vertex: usize, slot: usize| match (used(slot), slot) {
                (true, 0) => 1.0 - upper_weight(vertex),
                (true, 1) => upper_weight(vertex),
                _ => 0.0,
            };
            let weights: Vec<f64> =
                order.iter().flat_map(|vertex| [0, 1, 2, 3].map(|slot| weight(*vertex, slot))).collect();
            let joints = document.accessor(&shorts(&joints), U16, "VEC4", order.len());
            let weights = if self.quantized {
                let bytes: Vec<u8> = weights.iter().map(|weight| (255.0 * weight).round() as u8).collect();
                let accessor = document.accessor(&bytes, U8, "VEC4", order.len());
                document.json["accessors"][accessor]["normalized"] = json!(true);
                accessor
            } else {
                document.accessor(&floats(&weights), F32, "VEC4", order.len())
            };
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(weights);
        }
    }

    /// A target that moves the top ring up.
    fn add_target(self, document: &mut Document) -> usize {
        let order = self.order();
        let is_top = |vertex: &usize| *vertex >= 4 * (RINGS - 1);
        if self.sparse {
            let moved: Vec<usize> = (0..order.len()).filter(|place| is_top(&order[*place])).collect();
            let accessor = json!({ "componentType": F32, "type": "VEC3", "count": order.len() });
            let accessor = document.push("accessors", accessor);
            add_sparse(document, accessor, &moved, &[0.0, 0.25, 0.0].repeat(moved.len()));
            accessor
        } else if self.quantized {
            // fractions of 127, the one beyond which still is −1, four bytes apart
            let delta = |vertex: &usize| if is_top(vertex) { [-128i8, 32, 0, 0] } else { [0; 4] };
            let bytes: Vec<u8> = order.iter().flat_map(delta).map(|x| x as u8).collect();
            let accessor = document.accessor(&bytes, I8, "VEC3", order.len());
            document.json["accessors"][accessor]["normalized"] = json!(true);
            document.json["bufferViews"].as_array_mut().unwrap().last_mut().unwrap()["byteStride"] = json!(4);
            accessor
        } else {
            let deltas: Vec<f64> =
                order.iter().flat_map(|vertex| [0.0, if is_top(vertex) { 0.25 } else { 0.0 }, 0.0]).collect();
            document.accessor(&floats(&deltas), F32, "VEC3", order.len())
        }
    }

    /// The bend turns along straight arcs, the root moves along a cubic, the prop jumps, the target swells.
    fn add_animation(self, document: &mut Document) {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        // the last key is the same quarter turn by its other quaternion
        let rotations = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half, 0.6, 0.0, 0.0, -0.8];
        let three = document.accessor(&floats(&[0.0, 0.5, 1.25]), F32, "SCALAR", 3);
        let two = document.accessor(&floats(&[0.25, 1.0]), F32, "SCALAR", 2);
        let rotation = if self.quantized {
            let bytes: Vec<u8> =
                rotations.iter().flat_map(|x| ((32767.0 * x).round() as i16).to_le_bytes()).collect();
            let accessor = document.accessor(&bytes, I16, "VEC4", 3);
            document.json["accessors"][accessor]["normalized"] = json!(true);
            accessor
        } else {
            document.accessor(&floats(&rotations), F32, "VEC4", 3)
        };
        let cubic =
            [[0.0; 3], [0.0; 3], [1.0, 2.0, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 0.5], [0.0; 3]].concat();
        let cubic = document.accessor(&floats(&cubic), F32, "VEC3", 6);
        let steps = document.accessor(&floats(&[1.0, 0.0, 0.0, 2.0, 0.0, 0.0]), F32, "VEC3", 2);
        let weights = document.accessor(&floats(&[0.0, 1.0, 0.25]), F32, "SCALAR", 3);
        document.push(
            "animations",
            json!({
                "name": "bow",
                "samplers": [
                    { "input": three, "output": rotation },
                    { "input": two, "output": cubic, "interpolation": "CUBICSPLINE" },
                    { "input": two, "output": steps, "interpolation": "STEP" },
                    { "input": three, "output": weights, "interpolation": "LINEAR" }
                ],
                "channels": [
                    { "sampler": 0, "target": { "node": BEND, "path": "rotation" } },
                    { "sampler": 1, "target": { "node": ROOT, "path": "translation" } },
                    { "sampler": 2, "target": { "node": PROP, "path": "translation" } },
                    { "sampler": 3, "target": { "node": SHOWN, "path": "weights" } }
                ]
            }),
        );
    }
}

/// The armature stands turned a quarter about x, half as large and off the origin; the node that shows the bar stands elsewhere,
/// which must not matter.
fn add_nodes(document: &mut Document) {
    let matrix = [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, -0.5, 0.0, 0.0, 3.0, 1.0, 0.0, 1.0];
    document.push("nodes", json!({ "name": "Armature", "children": [ROOT], "matrix": matrix }));
    document.push("nodes", json!({ "name": "root", "children": [BEND, PROP] }));
    document.push("nodes", json!({ "name": "bend", "translation": [0, 1, 0] }));
    document.push("nodes", json!({ "name": "bar", "mesh": 0, "skin": 0, "translation": [7, 7, 7] }));
    document.push("nodes", json!({ "name": "prop", "mesh": 1, "scale": [1, 2, 1] }));
    document.json["scenes"][0]["nodes"] = json!([ARMATURE, SHOWN]);
}

/// A fan of two triangles without weights.
fn add_prop(document: &mut Document) {
    let corners = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
    let position = document.accessor(&floats(&corners), F32, "VEC3", 4);
    document.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": position }, "mode": 6 }] }));
}

pub(crate) fn add_sparse(document: &mut Document, accessor: usize, replaced: &[usize], values: &[f64]) {
    let indices: Vec<u8> = replaced.iter().flat_map(|index| (*index as u32).to_le_bytes()).collect();
    let indices = document.view(&indices);
    let values = document.view(&floats(values));
    document.json["accessors"][accessor]["sparse"] = json!({
        "count": replaced.len(),
        "indices": { "bufferView": indices, "componentType": U32 },
        "values": { "bufferView": values }
    });
}

/// All kinds of bars, with names.
pub(crate) fn bars() -> Vec<(&'static str, Document)> {
    vec![
        ("plain", PLAIN.document()),
        ("quantized", Bar { quantized: true, ..PLAIN }.document()),
        ("sparse", Bar { sparse: true, ..PLAIN }.document()),
        ("strip", Bar { stringing: Stringing::Strip, ..PLAIN }.document()),
        ("unindexed", Bar { stringing: Stringing::Unindexed, sparse: true, ..PLAIN }.document()),
        ("two_sets", Bar { two_sets: true, ..PLAIN }.document()),
    ]
}
