//! A model at rest as a glTF document: skeletons as nodes, surfaces bound to them.

use super::bone_weights::{VertexWeights, bone_weights};
use super::{BoneNode, ShownBody};
use crate::normals::Smoothing;
use crate::skinned_glb::Document;
use serde_json::{Value, json};
use sinew_files::signature::PROGRAM;
use sinew_math::{Isometry, Rotation, Vec3};
use sinew_sim::{Model, Rig};
use sinew_skeleton::{Kinematics, SkeletonState};
use sinew_take::{SinkError, SurfaceInfo};

// numbers that glTF gives its kinds
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const INDEX_BUFFER: u32 = 34963;
const VERTEX_BUFFER: u32 = 34962;

/// A document in the making.
pub(super) struct RestDocument {
    document: Document,
    world_from_scene: Rotation,
    /// The nodes that hang from nothing.
    roots: Vec<usize>,
    /// For each rig where its bones stand.
    rigs: Vec<RestBones>,
}

/// The bones of a rig at rest.
struct RestBones {
    name: String,
    /// The node above all of them.
    holder: usize,
    nodes: Vec<usize>,
    /// Where they stand in the world.
    world_from_bone: Vec<Isometry>,
    /// From the first body on that hangs on them.
    skin: Option<usize>,
}

impl RestDocument {
    /// A document of nothing.
    pub(super) fn new(world_from_scene: Rotation) -> RestDocument {
        let document =
            Document::empty(json!({ "asset": { "version": "2.0", "generator": PROGRAM }, "scene": 0 }));
        RestDocument { document, world_from_scene, roots: Vec::new(), rigs: Vec::new() }
    }

    /// Adds a skeleton below a node of its own, which all its bones have above them as skins demand.
    pub(super) fn add_rig(&mut self, rig: &Rig) -> Vec<BoneNode> {
        let mut kinematics = Kinematics::default();
        kinematics.update(&rig.skeleton, &SkeletonState::at_rest(&rig.skeleton));
        let frames = kinematics.world_frames().iter();
        let world_from_bone: Vec<Isometry> =
            frames.map(|frame| self.world_from_scene * frame.isometry()).collect();
        let holder = self.document.push("nodes", json!({ "name": format!("{} skeleton", rig.name) }));
        self.roots.push(holder);
        let bones: Vec<BoneNode> = rig
            .skeleton
            .bones()
            .iter()
            .enumerate()
            .map(|(i, bone)| BoneNode {
                node: holder + 1 + i,
                parent: bone.parent.map(sinew_skeleton::BoneId::index),
            })
            .collect();
        for (i, bone) in rig.skeleton.bones().iter().enumerate() {
            let local = bones[i]
                .parent
                .map_or(world_from_bone[i], |p| world_from_bone[p].inverse() * world_from_bone[i]);
            let mut node = json!({ "name": bone.name });
            if local.translation.vector != Vec3::zeros() {
                node["translation"] = json!(local.translation.vector.as_slice());
            }
            if local.rotation != Rotation::identity() {
                node["rotation"] = json!(local.rotation.coords.as_slice());
            }
            self.document.push("nodes", node);
        }
        self.add_children(holder, bones.iter().filter(|bone| bone.parent.is_none()));
        for i in 0..bones.len() {
            self.add_children(bones[i].node, bones.iter().filter(|bone| bone.parent == Some(i)));
        }
        let nodes = bones.iter().map(|bone| bone.node).collect();
        self.rigs.push(RestBones { name: rig.name.clone(), holder, nodes, world_from_bone, skin: None });
        bones
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
        let positions: Vec<[f32; 3]> = surface
            .rest
            .iter()
            .map(|p| <[f64; 3]>::from(self.world_from_scene * Vec3::from(p.map(f64::from))).map(|c| c as f32))
            .collect();
        let normals = Smoothing::of(surface).normals(&positions);
        let mut attributes = json!({
            "POSITION": self.document.add_deltas(&positions),
            "NORMAL": self.document.add_attribute(normals.as_flattened(), "VEC3"),
        });
        let mut node = json!({ "name": surface.name });
        let weights = bone_weights(model, index);
        if let Some((rig, weights)) = &weights {
            self.add_weights(weights, &mut attributes);
            node["skin"] = json!(self.skin(*rig));
        }
        let [r, g, b] = color;
        let material = self.document.push(
            "materials",
            json!({
                "name": surface.name,
                "doubleSided": true,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.4
                }
            }),
        );
        let corners = surface.triangles.as_flattened().iter().flat_map(|corner| corner.to_le_bytes());
        let indices = self.document.add_elements(
            corners,
            (UNSIGNED_INT, "SCALAR"),
            3 * surface.triangles.len(),
            INDEX_BUFFER,
        );
        let primitive = json!({ "attributes": attributes, "indices": indices, "material": material });
        let mesh = json!({ "name": surface.name, "primitives": [primitive] });
        node["mesh"] = json!(self.document.push("meshes", mesh));
        let node = self.document.push("nodes", node);
        self.roots.push(node);
        Some(ShownBody { node, is_skinned: weights.is_some() })
    }

    /// The document in a container.
    pub(super) fn into_glb(mut self) -> Result<Vec<u8>, SinkError> {
        let scene = if self.roots.is_empty() { json!({}) } else { json!({ "nodes": self.roots }) };
        self.document.push("scenes", scene);
        let mut glb = Vec::new();
        self.document.write(&mut glb)?;
        Ok(glb)
    }

    fn add_children<'b>(&mut self, node: usize, bones: impl Iterator<Item = &'b BoneNode>) {
        let children: Vec<usize> = bones.map(|bone| bone.node).collect();
        // glTF has no empty lists
        if !children.is_empty() {
            self.document.json["nodes"][node]["children"] = json!(children);
        }
    }

    fn add_weights(&mut self, weights: &[VertexWeights], attributes: &mut Value) {
        let joints = weights.iter().flat_map(|(joints, _)| joints).flat_map(|joint| joint.to_le_bytes());
        let kind = (UNSIGNED_SHORT, "VEC4");
        attributes["JOINTS_0"] =
            json!(self.document.add_elements(joints, kind, weights.len(), VERTEX_BUFFER));
        let numbers: Vec<f32> = weights.iter().flat_map(|(_, weights)| *weights).collect();
        attributes["WEIGHTS_0"] = json!(self.document.add_attribute(&numbers, "VEC4"));
    }

    /// The skin of a rig: its bones as they stand at rest, which is where surfaces are bound to them.
    fn skin(&mut self, rig: usize) -> usize {
        let RestBones { name, holder, nodes, world_from_bone, skin } = &mut self.rigs[rig];
        *skin.get_or_insert_with(|| {
            let bind = world_from_bone.iter().flat_map(|bone| {
                let back = bone.inverse().to_homogeneous();
                back.as_slice().iter().map(|c| *c as f32).collect::<Vec<_>>()
            });
            let bind = self.document.add_floats(&bind.collect::<Vec<f32>>(), "MAT4");
            let skin =
                json!({ "name": name, "joints": nodes, "skeleton": holder, "inverseBindMatrices": bind });
            self.document.push("skins", skin)
        })
    }
}
