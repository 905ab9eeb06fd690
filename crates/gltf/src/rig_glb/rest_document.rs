//! A model at rest as a rigged character: its glTF document and its plain data, built side by side.

use super::{BoneNode, ShownBody};
use crate::document::Document;
use serde_json::{Value, json};
use sinew_character::{
    CharacterMaterial, CharacterMesh, CharacterNode, CharacterPrimitive, CharacterSkin, JointWeight, Mat4,
    NodeTransform, RiggedCharacter, SkinWeights, SkinWeightsBuilder, VertexWeights, bone_weights,
};
use sinew_math::{Isometry, Rotation, Vec3};
use sinew_sim::{Model, Rig};
use sinew_skeleton::{BoneId, Kinematics, SkeletonState};
use sinew_take::{SinkError, Smoothing, SurfaceInfo};
use std::sync::Arc;

/// A document and its plain data under construction.
pub(super) struct RestDocument {
    document: Document,
    nodes: Vec<CharacterNode>,
    skins: Vec<CharacterSkin>,
    meshes: Vec<CharacterMesh>,
    materials: Vec<CharacterMaterial>,
    world_from_scene: Rotation,
    /// The nodes without a parent.
    roots: Vec<usize>,
    /// The rest pose of each rig.
    rigs: Vec<RestBones>,
}

/// The bones of a rig at rest.
struct RestBones {
    /// Its index in the model.
    rig: usize,
    name: String,
    /// The node above all of them.
    holder: usize,
    nodes: Vec<usize>,
    /// Where they stand in the world.
    world_from_bone: Vec<Isometry>,
    /// Made for the first body that is attached to them.
    skin: Option<usize>,
}

impl RestDocument {
    /// A document of nothing; `world_from_scene` makes y point up.
    pub(super) fn new(world_from_scene: Rotation) -> RestDocument {
        RestDocument {
            document: Document::new(),
            nodes: Vec::new(),
            skins: Vec::new(),
            meshes: Vec::new(),
            materials: Vec::new(),
            world_from_scene,
            roots: Vec::new(),
            rigs: Vec::new(),
        }
    }

    /// Adds a skeleton below a node of its own, the common root of its joints that skins need.
    pub(super) fn add_rig(&mut self, index: usize, rig: &Rig) -> Vec<BoneNode> {
        // where bones stand
        let mut kinematics = Kinematics::default();
        kinematics.update(&rig.skeleton, &SkeletonState::at_rest(&rig.skeleton));
        let frames = kinematics.world_frames().iter();
        let world_from_bone: Vec<Isometry> =
            frames.map(|frame| self.world_from_scene * frame.isometry()).collect();

        // a node for each, below the root
        let bones = rig.skeleton.bones();
        let parent_of = |bone: usize| bones[bone].parent.map(BoneId::index);
        let holder = self.nodes.len();
        let children = |parent: Option<usize>| {
            let below = (0..bones.len()).filter(move |bone| parent_of(*bone) == parent);
            below.map(|bone| holder + 1 + bone).collect::<Vec<usize>>()
        };
        self.roots.push(holder);
        self.add_node(CharacterNode::new(
            format!("{} skeleton", rig.name),
            NodeTransform::identity(),
            children(None),
        ));
        for (i, bone) in bones.iter().enumerate() {
            let local = parent_of(i)
                .map_or(world_from_bone[i], |p| world_from_bone[p].inverse() * world_from_bone[i]);
            self.add_node(CharacterNode::new(
                bone.name.clone(),
                NodeTransform::of_isometry(&local),
                children(Some(i)),
            ));
        }

        // what skins and poses need of them
        let nodes: Vec<usize> = (0..bones.len()).map(|bone| holder + 1 + bone).collect();
        let found = nodes.iter().enumerate().map(|(i, node)| BoneNode { node: *node, parent: parent_of(i) });
        let found = found.collect();
        let name = rig.name.clone();
        self.rigs.push(RestBones { rig: index, name, holder, nodes, world_from_bone, skin: None });
        found
    }

    /// Adds the surface of a body, if it has one.
    pub(super) fn add_body(
        &mut self,
        model: &Model,
        index: usize,
        surface: &SurfaceInfo,
        color: [f32; 3],
    ) -> Option<ShownBody> {
        if surface.triangles.is_empty() {
            return None;
        }

        // vertices, with their joints if it is attached to bones that are shown
        let in_world = |p: &[f32; 3]| {
            <[f64; 3]>::from(self.world_from_scene * Vec3::from(p.map(f64::from))).map(|c| c as f32)
        };
        let positions: Vec<[f32; 3]> = surface.rest.iter().map(in_world).collect();
        let normals = Smoothing::of(surface).normals(&positions);
        let mut attributes = self.document.add_shape(&positions, &normals);
        let weights = bone_weights(model, index)
            .and_then(|(rig, weights)| Some((self.rigs.iter().position(|own| own.rig == rig)?, weights)));
        if let Some((_, weights)) = &weights {
            self.add_weights(weights, &mut attributes);
        }
        let skin = weights.as_ref().map(|(rig, _)| self.skin(*rig));

        // the mesh, and the node that shows it
        let material = self.document.add_material(&surface.name, color);
        let indices = self.document.add_indices(&surface.triangles);
        let primitive = json!({ "attributes": attributes, "indices": indices, "material": material });
        let mesh = self.document.push("meshes", json!({ "name": surface.name, "primitives": [primitive] }));
        self.materials.push(CharacterMaterial {
            name: Some(surface.name.clone()),
            base_color: [color[0], color[1], color[2], 1.0].map(f64::from),
        });
        self.meshes.push(CharacterMesh {
            name: Some(surface.name.clone()),
            primitives: vec![CharacterPrimitive {
                positions: positions.iter().map(|p| Vec3::from(p.map(f64::from))).collect(),
                triangles: surface.triangles.clone(),
                weights: weights.map(|(_, weights)| Arc::new(skin_weights(&weights))),
                material: Some(material),
                ..CharacterPrimitive::default()
            }],
            ..CharacterMesh::default()
        });
        let node = CharacterNode {
            mesh: Some(mesh),
            skin,
            ..CharacterNode::new(surface.name.clone(), NodeTransform::identity(), Vec::new())
        };
        let node = self.add_node(node);
        self.roots.push(node);
        Some(ShownBody { node, is_skinned: skin.is_some() })
    }

    /// The document and the character that it describes.
    pub(super) fn finish(mut self) -> Result<(Document, RiggedCharacter), SinkError> {
        self.document.add_scene(&self.roots);
        let rigged = RiggedCharacter::assemble(self.nodes, self.skins, self.meshes)
            .map_err(|error| SinkError(format!("the skeletons cannot be written as glTF: {error}")))?;
        let rigged = RiggedCharacter { materials: self.materials, ..rigged };
        Ok((self.document, rigged))
    }

    /// Adds a node to the document and the plain data; values that are glTF's defaults are not written.
    fn add_node(&mut self, mut node: CharacterNode) -> usize {
        let mut json = json!({ "name": node.name });
        if node.rest.translation != Vec3::zeros() {
            json["translation"] = json!(node.rest.translation.as_slice());
        }
        if node.rest.rotation != Rotation::identity() {
            json["rotation"] = json!(node.rest.rotation.coords.as_slice());
        }
        if !node.children.is_empty() {
            json["children"] = json!(node.children);
        }
        for (key, value) in [("mesh", node.mesh), ("skin", node.skin)] {
            if let Some(value) = value {
                json[key] = json!(value);
            }
        }
        // as readers find it, who normalise
        node.rest.rotation = Rotation::new_normalize(node.rest.rotation.into_inner());
        self.nodes.push(node);
        self.document.push("nodes", json)
    }

    fn add_weights(&mut self, weights: &[VertexWeights], attributes: &mut Value) {
        let joints: Vec<[u16; 4]> = weights.iter().map(|(joints, _)| *joints).collect();
        attributes["JOINTS_0"] = json!(self.document.add_joints(&joints));
        let numbers: Vec<f32> = weights.iter().flat_map(|(_, weights)| *weights).collect();
        attributes["WEIGHTS_0"] = json!(self.document.add_attribute(&numbers, "VEC4"));
    }

    /// The skin of a rig. Surfaces are bound to its bones at rest.
    fn skin(&mut self, rig: usize) -> usize {
        let RestBones { name, holder, nodes, world_from_bone, skin, .. } = &mut self.rigs[rig];
        *skin.get_or_insert_with(|| {
            let bind: Vec<[f32; 16]> = world_from_bone
                .iter()
                .map(|bone| {
                    let back = bone.inverse().to_homogeneous();
                    std::array::from_fn(|i| back.as_slice()[i] as f32)
                })
                .collect();
            let accessor = self.document.add_floats(bind.as_flattened(), "MAT4");
            self.skins.push(CharacterSkin {
                name: Some(name.clone()),
                joints: nodes.clone(),
                inverse_bind: bind.iter().map(|m| Mat4::from_column_slice(&m.map(f64::from))).collect(),
                skeleton: Some(*holder),
                ..CharacterSkin::default()
            });
            let skin =
                json!({ "name": name, "joints": nodes, "skeleton": holder, "inverseBindMatrices": accessor });
            self.document.push("skins", skin)
        })
    }
}

/// The weights as a reader of the file finds them.
fn skin_weights(weights: &[VertexWeights]) -> SkinWeights {
    let mut builder = SkinWeightsBuilder::new(weights.len(), 0, 1.0);
    let mut found = Vec::new();
    for (joints, weights) in weights {
        found.clear();
        let entries = joints.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
        found.extend(
            entries
                .map(|(joint, weight)| JointWeight { joint: u32::from(*joint), weight: f64::from(*weight) }),
        );
        // weights that were computed are finite
        let _ = builder.add(&mut found);
    }
    builder.finish()
}
