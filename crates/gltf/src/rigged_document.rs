//! A rigged character of any format as a glTF document: the file that a take of it is written back into.
//!
//! Readers of other formats fill a [`RiggedCharacter`] and say what they know of its look. Here both become one GLB in memory, which is
//! read again like any other: whatever works with a glTF character works with theirs.

use crate::character_file::{CharacterFile, read_character};
use crate::document::Document;
use serde_json::{Map, Value, json};
use sinew_character::{
    AnimationChannel, ChannelInterpolation, ChannelPath, CharacterAnimation, CharacterMesh, CharacterNode,
    CharacterPrimitive, MorphTarget, RiggedCharacter, SkinWeights,
};
use sinew_files::{Loaded, ReadError, ReadErrors};
use sinew_math::{Mat3, Rotation, Vec3};
use sinew_take::SinkError;
use std::collections::BTreeMap;

/// What a reader knows of a character's look beside its plain data. Lists that are too short leave the rest without.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CharacterLook {
    /// For each mesh what each of its primitives has.
    pub surfaces: Vec<Vec<SurfaceLook>>,
    /// For each material the image of its base colour, by its index.
    pub textures: Vec<Option<usize>>,
    /// Images as their files have them (PNG or JPEG).
    pub images: Vec<Vec<u8>>,
}

/// What the vertices of a primitive have beside positions; each list is empty or as long as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceLook {
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates, from the upper left corner of the image.
    pub uvs: Vec<[f32; 2]>,
    /// Red, green, blue and opacity, 0 to 1, linear.
    pub colors: Vec<[f32; 4]>,
}

impl CharacterFile {
    /// The glTF file of a character that came from another format. Its indices stay those of the character; positions, weights and keys
    /// are rounded to single precision, as glTF stores them. Texture coordinates and colours are those of the look.
    ///
    /// # Errors
    /// If the character breaks a rule of glTF, such as a node that is its own ancestor.
    pub fn of_rigged(
        rigged: &RiggedCharacter,
        look: &CharacterLook,
    ) -> Result<Loaded<CharacterFile>, ReadErrors> {
        let written = write(rigged, look).map_err(|error| ReadError::whole(error.to_string()))?;
        read_character(written)
    }
}

fn write(rigged: &RiggedCharacter, look: &CharacterLook) -> Result<Vec<u8>, SinkError> {
    let mut writer = Writer { document: Document::new(), rigged, look, times: BTreeMap::new() };
    writer.add_nodes();
    writer.add_skins();
    writer.add_materials();
    writer.add_meshes();
    writer.add_animations();
    let mut bytes = Vec::new();
    writer.document.write(&mut bytes)?;
    Ok(bytes)
}

struct Writer<'a> {
    document: Document,
    rigged: &'a RiggedCharacter,
    look: &'a CharacterLook,
    /// Accessors of key times, by the address of the shared list.
    times: BTreeMap<usize, usize>,
}

impl Writer<'_> {
    fn add_nodes(&mut self) {
        let nodes = &self.rigged.nodes;
        for node in nodes {
            self.document.push("nodes", node_json(node));
        }
        let roots = (0..nodes.len()).filter(|node| nodes[*node].parent.is_none());
        self.document.add_scene(&roots.collect::<Vec<usize>>());
    }

    fn add_skins(&mut self) {
        for skin in &self.rigged.skins {
            let matrices: Vec<f32> =
                skin.inverse_bind.iter().flat_map(|m| m.as_slice()).map(|x| *x as f32).collect();
            let bind = self.document.add_floats(&matrices, "MAT4");
            let mut entry = json!({ "joints": skin.joints, "inverseBindMatrices": bind });
            set(&mut entry, "name", skin.name.as_deref());
            set(&mut entry, "skeleton", skin.skeleton);
            self.document.push("skins", entry);
        }
    }

    fn add_materials(&mut self) {
        for image in &self.look.images {
            let kind = if image.starts_with(b"\x89PNG") { "image/png" } else { "image/jpeg" };
            let view = self.document.add_view(image.iter().copied());
            let source = self.document.push("images", json!({ "bufferView": view, "mimeType": kind }));
            self.document.push("textures", json!({ "source": source }));
        }
        for (index, material) in self.rigged.materials.iter().enumerate() {
            let mut surface = json!({
                "baseColorFactor": material.base_color, "metallicFactor": 0.0, "roughnessFactor": 0.6
            });
            let image = self.look.textures.get(index).copied().flatten();
            if let Some(image) = image.filter(|image| *image < self.look.images.len()) {
                surface["baseColorTexture"] = json!({ "index": image });
            }
            let mut entry = json!({ "pbrMetallicRoughness": surface, "doubleSided": true });
            set(&mut entry, "name", material.name.as_deref());
            self.document.push("materials", entry);
        }
    }

    fn add_meshes(&mut self) {
        for (index, mesh) in self.rigged.meshes.iter().enumerate() {
            let looks = self.look.surfaces.get(index).map_or(&[][..], Vec::as_slice);
            let bare = SurfaceLook::default();
            let primitives: Vec<Value> = (0..mesh.primitives.len())
                .map(|place| self.add_primitive(mesh, place, looks.get(place).unwrap_or(&bare)))
                .collect();
            let mut entry = json!({ "primitives": primitives });
            set(&mut entry, "name", mesh.name.as_deref());
            if mesh.target_count() > 0 {
                let mut weights = mesh.morph_weights.clone();
                weights.resize(mesh.target_count(), 0.0);
                entry["weights"] = json!(weights);
            }
            if !mesh.target_names.is_empty() {
                entry["extras"] = json!({ "targetNames": mesh.target_names });
            }
            self.document.push("meshes", entry);
        }
    }

    fn add_primitive(&mut self, mesh: &CharacterMesh, place: usize, look: &SurfaceLook) -> Value {
        // vertices
        let primitive = &mesh.primitives[place];
        let count = primitive.positions.len();
        let positions: Vec<[f32; 3]> = primitive.positions.iter().map(single).collect();
        let document = &mut self.document;
        let mut attributes = Map::new();
        if count > 0 {
            attributes.insert("POSITION".into(), json!(document.add_points(&positions)));
        }
        let lists = [
            ("NORMAL", "VEC3", look.normals.as_flattened(), 3),
            ("TEXCOORD_0", "VEC2", look.uvs.as_flattened(), 2),
            ("COLOR_0", "VEC4", look.colors.as_flattened(), 4),
        ];
        for (name, kind, values, width) in lists {
            if count > 0 && values.len() == width * count {
                attributes.insert(name.into(), json!(document.add_attribute(values, kind)));
            }
        }
        if let Some(weights) = &primitive.weights {
            add_weights(document, weights, &mut attributes);
        }

        // what they make up
        let mut entry = json!({ "attributes": attributes });
        if primitive.triangles.is_empty() {
            // without indices every three vertices would be a triangle
            entry["mode"] = json!(0);
        } else {
            entry["indices"] = json!(document.add_indices(&primitive.triangles));
        }
        set(&mut entry, "material", primitive.material);
        if mesh.target_count() > 0 {
            entry["targets"] = (0..mesh.target_count())
                .map(|target| json!({ "POSITION": add_target(document, primitive, target) }))
                .collect();
        }
        entry
    }

    fn add_animations(&mut self) {
        for animation in &self.rigged.animations {
            // glTF has no empty lists
            if !animation.channels.is_empty() {
                self.add_animation(animation);
            }
        }
    }

    fn add_animation(&mut self, animation: &CharacterAnimation) {
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for channel in &animation.channels {
            let (path, kind) = match channel.path {
                ChannelPath::Translation => ("translation", "VEC3"),
                ChannelPath::Rotation => ("rotation", "VEC4"),
                ChannelPath::Scale => ("scale", "VEC3"),
                ChannelPath::Weights => ("weights", "SCALAR"),
            };
            let interpolation = match channel.interpolation {
                ChannelInterpolation::Step => "STEP",
                ChannelInterpolation::Linear => "LINEAR",
                ChannelInterpolation::CubicSpline => "CUBICSPLINE",
            };
            let values: Vec<f32> = channel.values.iter().map(|value| *value as f32).collect();
            let (input, output) = (self.times(channel), self.document.add_floats(&values, kind));
            channels
                .push(json!({ "sampler": samplers.len(), "target": { "node": channel.node, "path": path } }));
            samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        }
        let mut entry = json!({ "channels": channels, "samplers": samplers });
        set(&mut entry, "name", animation.name.as_deref());
        self.document.push("animations", entry);
    }

    /// The times of a channel; channels that share them in memory share them in the file.
    fn times(&mut self, channel: &AnimationChannel) -> usize {
        let document = &mut self.document;
        let address = channel.times.as_ptr() as usize;
        *self.times.entry(address).or_insert_with(|| document.add_times(&channel.times))
    }
}

/// Sets a member of an object where there is something to set.
fn set(entry: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        entry[key] = value.into();
    }
}

/// A node; values that are glTF's defaults are not written.
fn node_json(node: &CharacterNode) -> Value {
    let mut entry = json!({});
    set(&mut entry, "name", node.name.as_deref());
    let rest = &node.rest;
    let scale = rest.scale();
    if rest.stretch != Mat3::from_diagonal(&scale) {
        set(&mut entry, "matrix", Some(rest.matrix().as_slice()));
    } else {
        let unless = |is_default: bool, numbers: &[f64]| (!is_default).then(|| Value::from(numbers));
        let (translation, rotation) = (&rest.translation, &rest.rotation);
        set(&mut entry, "translation", unless(*translation == Vec3::zeros(), translation.as_slice()));
        set(&mut entry, "rotation", unless(*rotation == Rotation::identity(), rotation.coords.as_slice()));
        set(&mut entry, "scale", unless(scale == Vec3::repeat(1.0), scale.as_slice()));
    }
    set(&mut entry, "children", (!node.children.is_empty()).then(|| node.children.clone()));
    set(&mut entry, "mesh", node.mesh);
    set(&mut entry, "skin", node.skin);
    set(&mut entry, "weights", node.morph_weights.clone());
    entry
}

/// Joints and weights, in as many sets of four as the vertex with the most joints needs.
fn add_weights(document: &mut Document, weights: &SkinWeights, attributes: &mut Map<String, Value>) {
    let sets = weights.max_joints().div_ceil(4).max(1);
    for set in 0..sets {
        let (mut joints, mut numbers) = (Vec::new(), Vec::new());
        for vertex in 0..weights.vertex_count() {
            // joint 0 where the weight is 0
            let (mut joint, mut weight) = ([0u16; 4], [0f32; 4]);
            let entries = weights.of(vertex).iter().skip(4 * set).take(4);
            for (i, entry) in entries.enumerate() {
                (joint[i], weight[i]) = (entry.joint as u16, entry.weight as f32);
            }
            joints.push(joint);
            numbers.push(weight);
        }
        attributes.insert(format!("JOINTS_{set}"), json!(document.add_joints(&joints)));
        let numbers = document.add_attribute(numbers.as_flattened(), "VEC4");
        attributes.insert(format!("WEIGHTS_{set}"), json!(numbers));
    }
}

/// The displacements of all vertices by a morph target, most of them zero.
fn add_target(document: &mut Document, primitive: &CharacterPrimitive, target: usize) -> usize {
    let mut deltas = vec![[0.0; 3]; primitive.positions.len()];
    let none = MorphTarget::default();
    let target = primitive.targets.get(target).map_or(&none, |target| target.as_ref());
    for (vertex, delta) in target.vertices.iter().zip(&target.deltas) {
        deltas[*vertex as usize] = single(delta);
    }
    document.add_deltas(&deltas)
}

fn single(v: &Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}
