//! Skinning once more, straight from the words of the standard: trusting, slow, by recursion over the JSON, sharing no code with the
//! reader.

use serde_json::Value;
use sinew_math::nalgebra::{Matrix4, Quaternion, Translation3, UnitQuaternion, Vector3, Vector4};

/// A document and its buffer.
pub(crate) struct Naive {
    pub(crate) json: Value,
    pub(crate) buffer: Vec<u8>,
}

/// What is played: an animation and its time (s).
pub(crate) type Played = Option<(usize, f64)>;

impl Naive {
    /// Of a GLB with two chunks.
    pub(crate) fn of_glb(bytes: &[u8]) -> Naive {
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
        Naive { json, buffer: bytes[28 + length..].to_vec() }
    }

    fn stored(
        &self,
        view: u64,
        offset: u64,
        stride: usize,
        count: usize,
        component: u64,
        width: usize,
    ) -> Vec<Vec<f64>> {
        let view = &self.json["bufferViews"][view as usize];
        let start = (view["byteOffset"].as_u64().unwrap_or(0) + offset) as usize;
        let size = match component {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        let stride = view["byteStride"]
            .as_u64()
            .map_or(if stride == 0 { size * width } else { stride }, |s| s as usize);
        let number = |at: usize| match component {
            5120 => f64::from(self.buffer[at] as i8),
            5121 => f64::from(self.buffer[at]),
            5122 => f64::from(i16::from_le_bytes(self.buffer[at..at + 2].try_into().unwrap())),
            5123 => f64::from(u16::from_le_bytes(self.buffer[at..at + 2].try_into().unwrap())),
            5125 => f64::from(u32::from_le_bytes(self.buffer[at..at + 4].try_into().unwrap())),
            _ => f64::from(f32::from_le_bytes(self.buffer[at..at + 4].try_into().unwrap())),
        };
        (0..count).map(|i| (0..width).map(|j| number(start + i * stride + j * size)).collect()).collect()
    }

    /// All elements of an accessor.
    pub(crate) fn elements(&self, accessor: &Value) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let component = accessor["componentType"].as_u64().unwrap();
        let count = accessor["count"].as_u64().unwrap() as usize;
        let offset = accessor["byteOffset"].as_u64().unwrap_or(0);
        let mut elements = match accessor["bufferView"].as_u64() {
            Some(view) => self.stored(view, offset, 0, count, component, width),
            None => vec![vec![0.0; width]; count],
        };
        if let Some(sparse) = accessor.get("sparse") {
            let replaced = sparse["count"].as_u64().unwrap() as usize;
            let part = |key: &str, component: u64, width: usize| {
                let offset = sparse[key]["byteOffset"].as_u64().unwrap_or(0);
                self.stored(
                    sparse[key]["bufferView"].as_u64().unwrap(),
                    offset,
                    0,
                    replaced,
                    component,
                    width,
                )
            };
            let indices = part("indices", sparse["indices"]["componentType"].as_u64().unwrap(), 1);
            for (index, value) in indices.iter().zip(part("values", component, width)) {
                elements[index[0] as usize] = value;
            }
        }
        if accessor["normalized"].as_bool() == Some(true) {
            let largest = [127.0, 255.0, 32767.0, 65535.0][component as usize - 5120];
            elements.iter_mut().flatten().for_each(|x| *x = (*x / largest).max(-1.0));
        }
        elements
    }

    /// What a channel says now, if there is one.
    fn played(&self, node: usize, path: &str, played: Played) -> Option<Vec<f64>> {
        let (animation, time) = played?;
        let animation = &self.json["animations"][animation];
        let channel = animation["channels"].as_array().unwrap().iter().find(|channel| {
            channel["target"]["node"].as_u64() == Some(node as u64) && channel["target"]["path"] == path
        })?;
        let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
        let times: Vec<f64> = self.elements(&sampler["input"]).concat();
        let interpolation = sampler["interpolation"].as_str().unwrap_or("LINEAR");
        let flat = self.elements(&sampler["output"]).concat();
        let values: Vec<&[f64]> = flat
            .chunks(flat.len() / times.len() / if interpolation == "CUBICSPLINE" { 3 } else { 1 })
            .collect();
        let value =
            |key: usize| if interpolation == "CUBICSPLINE" { values[3 * key + 1] } else { values[key] };
        if time <= times[0] {
            return Some(value(0).to_vec());
        }
        let Some(key) = (1..times.len()).find(|key| time < times[*key]) else {
            return Some(value(times.len() - 1).to_vec());
        };
        let (from, to) = (value(key - 1), value(key));
        let span = times[key] - times[key - 1];
        let s = (time - times[key - 1]) / span;
        Some(match interpolation {
            "STEP" => from.to_vec(),
            "LINEAR" if path == "rotation" => {
                let turn = |v: &[f64]| UnitQuaternion::new_normalize(Quaternion::new(v[3], v[0], v[1], v[2]));
                turn(from).slerp(&turn(to), s).coords.as_slice().to_vec()
            }
            "LINEAR" => from.iter().zip(to).map(|(a, b)| a + (b - a) * s).collect(),
            _ => {
                let (out, into) = (values[3 * (key - 1) + 2], values[3 * key]);
                let powers = Vector4::new(1.0, s, s * s, s * s * s);
                // rows: what the value, the tangent out, the next value and the tangent into it are multiplied by
                let basis = Matrix4::new(
                    1.0,
                    0.0,
                    -3.0,
                    2.0,
                    0.0,
                    span,
                    -2.0 * span,
                    span,
                    0.0,
                    0.0,
                    3.0,
                    -2.0,
                    0.0,
                    0.0,
                    -span,
                    span,
                );
                let fraction = basis * powers;
                (0..from.len())
                    .map(|i| fraction.dot(&Vector4::new(from[i], out[i], to[i], into[i])))
                    .collect()
            }
        })
    }

    /// Where a node stands in the world.
    pub(crate) fn world(&self, node: usize, played: Played) -> Matrix4<f64> {
        let nodes = self.json["nodes"].as_array().unwrap();
        let numbers = |key: &str| -> Option<Vec<f64>> {
            Some(nodes[node].get(key)?.as_array()?.iter().map(|x| x.as_f64().unwrap()).collect())
        };
        let given = |key: &str, other: &[f64]| {
            self.played(node, key, played).or_else(|| numbers(key)).unwrap_or_else(|| other.to_vec())
        };
        let local = match numbers("matrix") {
            Some(matrix) => Matrix4::from_column_slice(&matrix),
            None => {
                let (t, r, s) = (
                    given("translation", &[0.0; 3]),
                    given("rotation", &[0.0, 0.0, 0.0, 1.0]),
                    given("scale", &[1.0; 3]),
                );
                let rotation = UnitQuaternion::new_normalize(Quaternion::new(r[3], r[0], r[1], r[2]));
                Translation3::new(t[0], t[1], t[2]).to_homogeneous()
                    * rotation.to_homogeneous()
                    * Matrix4::new_nonuniform_scaling(&Vector3::from_column_slice(&s))
            }
        };
        let is_parent = |other: &Value| {
            other["children"].as_array().is_some_and(|children| children.contains(&Value::from(node)))
        };
        match nodes.iter().position(is_parent) {
            Some(parent) => self.world(parent, played) * local,
            None => local,
        }
    }

    /// Where the vertices of a primitive of the mesh of a node are in the world.
    pub(crate) fn vertices(&self, node: usize, primitive: usize, played: Played) -> Vec<[f64; 3]> {
        let shown = &self.json["nodes"][node];
        let mesh = &self.json["meshes"][shown["mesh"].as_u64().unwrap() as usize];
        let primitive = &mesh["primitives"][primitive];
        let attributes = &primitive["attributes"];
        let mut positions = self.elements(&attributes["POSITION"]);
        let listed =
            |value: &Value| value.as_array().map(|list| list.iter().map(|x| x.as_f64().unwrap()).collect());
        let weights = self
            .played(node, "weights", played)
            .or_else(|| listed(&shown["weights"]))
            .or_else(|| listed(&mesh["weights"]));
        for (target, weight) in
            primitive["targets"].as_array().into_iter().flatten().zip(weights.unwrap_or_default())
        {
            for (position, delta) in positions.iter_mut().zip(self.elements(&target["POSITION"])) {
                position.iter_mut().zip(delta).for_each(|(x, d)| *x += weight * d);
            }
        }
        let mut matrices = vec![Matrix4::zeros(); positions.len()];
        if let Some(skin) = shown["skin"].as_u64() {
            let skin = &self.json["skins"][skin as usize];
            let inverse_bind = self.elements(&skin["inverseBindMatrices"]);
            let joint = |j: usize| {
                let node = skin["joints"][j].as_u64().unwrap() as usize;
                self.world(node, played) * Matrix4::from_column_slice(&inverse_bind[j])
            };
            let joints: Vec<Matrix4<f64>> =
                (0..skin["joints"].as_array().unwrap().len()).map(joint).collect();
            let mut sums = vec![0.0; positions.len()];
            for set in (0..).take_while(|set| attributes.get(format!("JOINTS_{set}")).is_some()) {
                let of = self.elements(&attributes[format!("JOINTS_{set}")]);
                let by = self.elements(&attributes[format!("WEIGHTS_{set}")]);
                for v in 0..positions.len() {
                    for k in 0..4 {
                        matrices[v] += joints[of[v][k] as usize] * by[v][k];
                        sums[v] += by[v][k];
                    }
                }
            }
            matrices.iter_mut().zip(sums).for_each(|(matrix, sum)| *matrix /= sum);
        } else {
            matrices.fill(self.world(node, played));
        }
        let moved = |(matrix, p): (&Matrix4<f64>, &Vec<f64>)| {
            let x = matrix * Vector4::new(p[0], p[1], p[2], 1.0);
            [x.x, x.y, x.z]
        };
        matrices.iter().zip(&positions).map(moved).collect()
    }
}
