//! Helpers in a document: nodes, joints behind those of the skin, weights of vertices, and keys.
//!
//! Joints of the file keep their places in the list of their skin, so that other meshes of the skin stay as they are.

use super::nodes::{HelperKey, HelperNodes};
use super::{HelperBones, WHOLE_WEIGHT};
use crate::document::{Document, push};
use serde_json::{Value, json};
use sinew_character::RiggedCharacter;
use std::ops::Range;

/// The helpers of the flesh that a node shows.
#[derive(Debug)]
pub(crate) struct HelperBody {
    /// The node, which has a skin and a mesh that no other node shows.
    pub(crate) node: usize,
    /// Primitives of its mesh, and where their vertices are among those of the body.
    pub(crate) parts: Vec<(usize, Range<usize>)>,
    pub(crate) bones: HelperBones,
    pub(crate) nodes: HelperNodes,
}

/// The frames of one animation of a document.
#[derive(Clone, Debug)]
pub(crate) struct HelperClip {
    /// The animation, by its index in the document.
    pub(crate) animation: usize,
    /// The times of its frames (s).
    pub(crate) times: Vec<f64>,
    /// Which of all frames these are.
    pub(crate) frames: Range<usize>,
}

/// Adds helpers to a document: their nodes and joints, weights of vertices over them, and keys in some animations.
pub(crate) fn add_helpers(
    document: &mut Document,
    character: &RiggedCharacter,
    bodies: &[HelperBody],
    clips: &[HelperClip],
) {
    let mut number = 0;
    let mut nodes = Vec::new();
    for skin in 0..character.skins.len() {
        // all bodies of a skin, one after the other
        let of_skin: Vec<&HelperBody> =
            bodies.iter().filter(|body| character.nodes[body.node].skin == Some(skin)).collect();
        let joint_count = character.skins[skin].joints.len();
        let total = joint_count + of_skin.iter().map(|body| body.nodes.nodes.len()).sum::<usize>();
        if total == joint_count {
            continue;
        }
        let mut first = joint_count;
        let mut inverse_binds: Vec<f32> =
            character.skins[skin].inverse_bind.iter().flat_map(|b| b.iter().map(|x| *x as f32)).collect();
        for body in of_skin {
            let added = add_nodes(document, &body.nodes, &mut number);
            for (node, helper) in added.iter().zip(&body.nodes.nodes) {
                push(&mut document.json["skins"][skin]["joints"], json!(node));
                inverse_binds.extend(helper.inverse_bind);
            }
            set_weights(document, body, joint_count, first, total);
            first += added.len();
            nodes.extend(added.into_iter().zip(&body.nodes.nodes));
        }
        let accessor = document.add_floats(&inverse_binds, "MAT4");
        document.json["skins"][skin]["inverseBindMatrices"] = json!(accessor);
    }

    // keys
    for clip in clips {
        let times = document.add_times(&clip.times);
        for (node, helper) in &nodes {
            add_keys(document, clip.animation, *node, times, &helper.keys[clip.frames.clone()]);
        }
    }
}

/// Adds the nodes of helpers under their parents, numbered from `number` on, and returns them.
fn add_nodes(document: &mut Document, helpers: &HelperNodes, number: &mut usize) -> Vec<usize> {
    let mut added = Vec::new();
    for helper in &helpers.nodes {
        *number += 1;
        let node = json!({
            "name": format!("flesh helper {number}"),
            "translation": helper.rest.translation,
            "rotation": helper.rest.rotation().coords.map(|c| c as f32).as_slice(),
        });
        let place = document.push("nodes", node);
        push(&mut document.json["nodes"][helper.parent]["children"], json!(place));
        added.push(place);
    }
    added
}

/// Replaces the joints and weights of the primitives of a body, whose helpers begin at a place among the joints of the skin.
fn set_weights(document: &mut Document, body: &HelperBody, joint_count: usize, first: usize, total: usize) {
    let Some(mesh) = document.json["nodes"][body.node]["mesh"].as_u64() else { return };
    for (primitive, vertices) in &body.parts {
        if vertices.is_empty() {
            continue;
        }
        let of_part = &body.bones.weights[vertices.clone()];
        let sets = of_part.iter().map(Vec::len).max().unwrap_or(1).div_ceil(4).max(1);
        let mut attributes = Vec::new();
        for set in 0..sets {
            let (mut joints, mut weights) = (Vec::new(), Vec::new());
            for influences in of_part {
                let (mut of_vertex, mut values) = ([0u16; 4], [0u16; 4]);
                for (slot, influence) in influences.iter().skip(4 * set).take(4).enumerate() {
                    let helper = influence.bone >= joint_count;
                    let joint = if helper { influence.bone - joint_count + first } else { influence.bone };
                    let weight = (influence.weight * WHOLE_WEIGHT).round();
                    (of_vertex[slot], values[slot]) = (joint as u16, weight as u16);
                }
                joints.push(of_vertex);
                weights.push(values);
            }
            // bytes where they hold all joints of the skin
            let joints =
                if total <= 256 { document.add_byte_joints(&joints) } else { document.add_joints(&joints) };
            attributes.push((format!("JOINTS_{set}"), joints));
            attributes.push((format!("WEIGHTS_{set}"), document.add_weights(&weights)));
        }
        let entry = &mut document.json["meshes"][mesh as usize]["primitives"][*primitive];
        drop_compressed_copy(entry);
        let Some(members) = entry["attributes"].as_object_mut() else { continue };
        members.retain(|name, _| !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_"));
        members.extend(attributes.into_iter().map(|(name, accessor)| (name, json!(accessor))));
    }
}

/// A compressed copy would have the weights of before.
fn drop_compressed_copy(primitive: &mut Value) {
    if let Some(extensions) = primitive.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.remove("KHR_draco_mesh_compression");
        if extensions.is_empty() {
            primitive.as_object_mut().and_then(|members| members.remove("extensions"));
        }
    }
}

/// Adds keys of a helper's translation and rotation; neighbouring rotations are on the same side.
fn add_keys(document: &mut Document, animation: usize, node: usize, times: usize, keys: &[HelperKey]) {
    let translations: Vec<f32> = keys.iter().flat_map(|key| key.translation).collect();
    let mut rotations: Vec<[i16; 4]> = Vec::with_capacity(keys.len());
    for key in keys {
        let is_opposite = rotations.last().is_some_and(|last| {
            last.iter().zip(&key.rotation).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum::<i64>() < 0
        });
        rotations.push(key.rotation.map(|x| if is_opposite { -x } else { x }));
    }
    let translation = document.add_floats(&translations, "VEC3");
    let rotation = document.add_rotations(&rotations);
    let animation = &mut document.json["animations"][animation];
    for (path, output) in [("translation", translation), ("rotation", rotation)] {
        let sampler = json!({ "input": times, "output": output, "interpolation": "LINEAR" });
        let sampler = push(&mut animation["samplers"], sampler);
        let target = json!({ "node": node, "path": path });
        push(&mut animation["channels"], json!({ "sampler": sampler, "target": target }));
    }
}
