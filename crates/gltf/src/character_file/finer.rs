//! Finer surfaces: every triangle becomes four, by the middles of its edges.
//!
//! Vertices keep their numbers, and those in the middle of edges come after them. What they have is the mean of both ends: positions, normals, texture coordinates, colours and morph targets; weights of joints are those of both ends, the
//! largest of them in as many sets as before. The surface has the same shape, and skeleton, materials and animations stay as they are.

use super::accessor::Accessor;
use super::buffers::Buffers;
use super::document_reader::DocumentReader;
use super::{CharacterFile, parse, read};
use crate::glb_container;
use serde_json::{Map, Value, json};
use sinew_files::{Loaded, ReadError, ReadErrors};
use std::collections::{BTreeMap, HashMap};

/// The kinds of numbers that are written: floats, and joints and indices.
const FLOAT: u64 = 5126;
const U16: u64 = 5123;
const U32: u64 = 5125;

impl CharacterFile {
    /// The same character with four triangles in place of each.
    ///
    /// # Errors
    /// If the file grows beyond what a GLB can hold.
    pub fn finer(&self) -> Result<Loaded<CharacterFile>, ReadErrors> {
        let bytes = self.divided().map_err(ReadError::whole)?;
        read(bytes, self.folder.as_deref())
    }

    /// The file with divided triangles, as a GLB.
    fn divided(&self) -> Result<Vec<u8>, String> {
        let root = parse(&self.source).map_err(|error| error.to_string())?;
        let buffers = Buffers::of(&self.source, self.stored.clone());
        let document = DocumentReader::new(&root, &buffers, u64::MAX);
        let mut out = Finer::begin(&root, &buffers);
        for (m, mesh) in self.rigged.meshes.iter().enumerate() {
            for (p, primitive) in mesh.primitives.iter().enumerate() {
                if primitive.triangles.is_empty() {
                    continue;
                }
                let divided = Division::of(&primitive.triangles, primitive.positions.len());
                let value = &root["meshes"][m]["primitives"][p];
                out.root["meshes"][m]["primitives"][p] = out.primitive(&document, value, &divided)?;
            }
        }
        let mut file = Vec::new();
        glb_container::sign(&mut out.root);
        out.root["buffers"] = json!([{ "byteLength": out.bytes.len() }]);
        glb_container::write(&mut file, &out.root, out.bytes).map_err(|error| error.to_string())?;
        Ok(file)
    }
}

/// The triangles of a primitive, divided.
struct Division {
    count: usize,
    /// The ends of each edge with a vertex in its middle, in the order of these vertices.
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
}

impl Division {
    fn of(triangles: &[[u32; 3]], count: usize) -> Division {
        let mut middle: HashMap<[u32; 2], u32> = HashMap::new();
        let mut edges = Vec::new();
        let mut divided = Vec::with_capacity(4 * triangles.len());
        for &[a, b, c] in triangles {
            let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[a, b]| {
                let edge = [a.min(b), a.max(b)];
                *middle.entry(edge).or_insert_with(|| {
                    edges.push(edge);
                    (count + edges.len() - 1) as u32
                })
            });
            divided.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        Division { count, edges, triangles: divided }
    }

    /// The numbers of all vertices, from those of the first ones.
    fn filled(&self, mut numbers: Vec<f64>, width: usize, is_unit: bool) -> Vec<f64> {
        for [a, b] in &self.edges {
            let first = numbers.len();
            for k in 0..width {
                numbers.push(0.5 * (numbers[*a as usize * width + k] + numbers[*b as usize * width + k]));
            }
            if is_unit {
                let own = &mut numbers[first..first + 3];
                let length = own.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length > 0.0 {
                    own.iter_mut().for_each(|x| *x /= length);
                }
            }
        }
        numbers
    }
}

/// The file as it becomes.
struct Finer {
    root: Value,
    bytes: Vec<u8>,
}

impl Finer {
    /// All buffers in one.
    fn begin(root: &Value, buffers: &Buffers) -> Finer {
        let mut out = Finer { root: root.clone(), bytes: Vec::new() };
        let mut begins = Vec::new();
        for buffer in 0..buffers.stored.len() {
            out.bytes.resize(out.bytes.len().next_multiple_of(4), 0);
            begins.push(out.bytes.len() as u64);
            out.bytes.extend(buffers.bytes(buffer).unwrap_or_default());
        }
        let views = out.root.get_mut("bufferViews").and_then(Value::as_array_mut);
        for view in views.into_iter().flatten() {
            let buffer = view["buffer"].as_u64().unwrap_or(0) as usize;
            let offset = view["byteOffset"].as_u64().unwrap_or(0);
            view["buffer"] = json!(0);
            view["byteOffset"] = json!(begins.get(buffer).copied().unwrap_or(0) + offset);
        }
        out
    }

    fn primitive(
        &mut self,
        document: &DocumentReader,
        value: &Value,
        divided: &Division,
    ) -> Result<Value, String> {
        let mut primitive = value.clone();
        let indices = divided.triangles.iter().flatten().flat_map(|index| index.to_le_bytes()).collect();
        primitive["indices"] = json!(self.add(indices, U32, 3 * divided.triangles.len(), "SCALAR"));
        primitive["mode"] = json!(4);

        // attributes, with the sets of joints together
        let none = Map::new();
        let attributes = value["attributes"].as_object().unwrap_or(&none);
        let mut joint_sets = BTreeMap::new();
        for (name, index) in attributes {
            let Some(index) = index.as_u64() else { continue };
            if let Some(set) = name.strip_prefix("JOINTS_") {
                joint_sets.entry(set.to_owned()).or_insert([index; 2])[0] = index;
            } else if let Some(set) = name.strip_prefix("WEIGHTS_") {
                joint_sets.entry(set.to_owned()).or_insert([index; 2])[1] = index;
            } else {
                let is_unit = name == "NORMAL" || name == "TANGENT";
                let own = self.attribute(document, index, divided, is_unit)?;
                primitive["attributes"][name] = json!(own);
            }
        }
        self.add_joints(document, &joint_sets, divided, &mut primitive["attributes"])?;
        for (t, target) in value["targets"].as_array().into_iter().flatten().enumerate() {
            for (name, index) in target.as_object().unwrap_or(&none) {
                let Some(index) = index.as_u64() else { continue };
                primitive["targets"][t][name] = json!(self.attribute(document, index, divided, false)?);
            }
        }
        Ok(primitive)
    }

    /// Adds an attribute with what is in the middle of edges, in floats.
    fn attribute(
        &mut self,
        document: &DocumentReader,
        index: u64,
        divided: &Division,
        is_unit: bool,
    ) -> Result<usize, String> {
        let accessor = Accessor::find(document, index as usize)?;
        let width = accessor.width;
        let mut numbers = vec![0.0; divided.count * width];
        for (vertex, element) in numbers.chunks_mut(width).enumerate().take(accessor.count) {
            accessor.read(vertex, element);
        }
        let numbers = divided.filled(numbers, width, is_unit && width >= 3);
        let count = numbers.len() / width;
        let bytes = numbers.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect();
        let own = self.add(bytes, FLOAT, count, accessor.kind);
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let column = |k: usize| numbers.iter().skip(k).step_by(width).map(|x| *x as f32);
            (0..width).filter_map(|k| column(k).reduce(pick)).collect()
        };
        // required of positions, and right for all
        let entry = &mut self.root["accessors"][own];
        entry["min"] = json!(bound(f32::min));
        entry["max"] = json!(bound(f32::max));
        Ok(own)
    }

    /// Adds the joints of all vertices.
    fn add_joints(
        &mut self,
        document: &DocumentReader,
        sets: &BTreeMap<String, [u64; 2]>,
        divided: &Division,
        attributes: &mut Value,
    ) -> Result<(), String> {
        // joints and weights, vertex by vertex
        let mut of_vertex: Vec<Vec<(u16, f64)>> = vec![Vec::new(); divided.count];
        for [joints, weights] in sets.values() {
            let joints = Accessor::find(document, *joints as usize)?;
            let weights = Accessor::find(document, *weights as usize)?;
            let largest = weights.component.largest().unwrap_or(1.0);
            for (vertex, own) in of_vertex.iter_mut().enumerate().take(joints.count.min(weights.count)) {
                let (mut joint, mut weight) = ([0.0; 4], [0.0; 4]);
                joints.read_raw(vertex, &mut joint);
                weights.read_raw(vertex, &mut weight);
                own.extend(joint.iter().zip(weight).map(|(joint, weight)| (*joint as u16, weight / largest)));
            }
        }
        let places = 4 * sets.len();
        for [a, b] in &divided.edges {
            let mut merged: BTreeMap<u16, f64> = BTreeMap::new();
            for (joint, weight) in of_vertex[*a as usize].iter().chain(&of_vertex[*b as usize]) {
                *merged.entry(*joint).or_default() += 0.5 * weight;
            }
            let mut kept: Vec<(u16, f64)> = merged.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
            kept.sort_by(|a, b| b.1.total_cmp(&a.1));
            kept.truncate(places);
            let sum: f64 = kept.iter().map(|(_, weight)| weight).sum();
            if sum > 0.0 {
                kept.iter_mut().for_each(|(_, weight)| *weight /= sum);
            }
            kept.resize(places, (0, 0.0));
            of_vertex.push(kept);
        }

        // set by set
        for (i, set) in sets.keys().enumerate() {
            let own = || of_vertex.iter().flat_map(|all| all[4 * i..4 * i + 4].iter());
            let joints = own().flat_map(|(joint, _)| joint.to_le_bytes()).collect();
            let weights = own().flat_map(|(_, weight)| (*weight as f32).to_le_bytes()).collect();
            let count = of_vertex.len();
            attributes[format!("JOINTS_{set}")] = json!(self.add(joints, U16, count, "VEC4"));
            attributes[format!("WEIGHTS_{set}")] = json!(self.add(weights, FLOAT, count, "VEC4"));
        }
        Ok(())
    }

    /// Adds an accessor over bytes of its own.
    fn add(&mut self, bytes: Vec<u8>, component: u64, count: usize, kind: &str) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = self.push(
            "bufferViews",
            json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() }),
        );
        self.bytes.extend(bytes);
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": component, "count": count, "type": kind }),
        )
    }

    fn push(&mut self, list: &str, entry: Value) -> usize {
        if !self.root[list].is_array() {
            self.root[list] = json!([]);
        }
        let entries = self.root[list].as_array_mut();
        entries.map_or(0, |entries| {
            entries.push(entry);
            entries.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles with a common edge have five edges; each vertex of an edge is in the middle, and belongs to the triangles on both sides.
    #[test]
    fn triangles_are_divided_at_the_middles_of_their_edges() {
        let divided = Division::of(&[[0, 1, 2], [2, 1, 3]], 4);
        assert_eq!((divided.edges.len(), divided.triangles.len()), (5, 8));
        assert_eq!(divided.edges[1], [1, 2]);
        let shared = divided.triangles.iter().filter(|t| t.contains(&5)).count();
        assert_eq!(shared, 6);
        let x = divided.filled(vec![0.0, 2.0, 4.0, 8.0], 1, false);
        assert_eq!(x[4..], [1.0, 3.0, 2.0, 5.0, 6.0]);
        let n = divided.filled(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0], 3, true);
        assert!((n[12] - 0.5f64.sqrt()).abs() < 1e-15 && (n[13] - 0.5f64.sqrt()).abs() < 1e-15);
    }
}
