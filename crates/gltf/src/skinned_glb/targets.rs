//! Morph targets of flesh, behind those that a mesh has.

use super::body::Body;
use super::compression::Flesh;
use super::shading::Shading;
use crate::document::Document;
use serde_json::{Map, Value, json};
use sinew_character::RiggedCharacter;
use std::collections::BTreeSet;

/// Gives each body a mesh that it may change. Where several nodes show one mesh, nodes without flesh keep it as it is; of nodes with
/// flesh each has its own, which share their vertices.
pub(super) fn own_meshes(document: &mut Document, character: &RiggedCharacter, nodes: &[usize]) {
    let mut taken = BTreeSet::new();
    for &node in nodes {
        let Some(mesh) = character.nodes[node].mesh else { continue };
        let shows = |other: usize| character.nodes[other].mesh == Some(mesh);
        let is_kept = (0..character.nodes.len()).any(|other| shows(other) && !nodes.contains(&other));
        if is_kept || !taken.insert(mesh) {
            let copy = document.json["meshes"][mesh].clone();
            document.json["nodes"][node]["mesh"] = json!(document.push("meshes", copy));
        }
    }
}

/// Adds the components of a body to the mesh of its node, all weights at zero.
pub(super) fn add(
    document: &mut Document,
    character: &RiggedCharacter,
    body: &Body,
    shading: &Shading,
    flesh: &Flesh,
) {
    // the mesh in the file and in the document
    let (Some(of_file), Some(mesh)) =
        (character.nodes[body.node].mesh, document.json["nodes"][body.node]["mesh"].as_u64())
    else {
        return;
    };
    let (of_file, mesh) = (&character.meshes[of_file], mesh as usize);
    let own = of_file.target_count();

    // targets of every primitive
    for (place, primitive) in of_file.primitives.iter().enumerate() {
        let count = primitive.positions.len();
        // one without vertices has nothing to move
        if count == 0 {
            continue;
        }
        let part = body.parts.iter().position(|part| part.surface.primitive == place);
        let added: Vec<Value> = match part {
            Some(part) => {
                (0..flesh.deltas.len()).map(|k| target(document, body, shading, flesh, (part, k))).collect()
            }
            None => vec![json!({ "POSITION": document.add_zeros(count) }); flesh.deltas.len()],
        };
        let mut targets = appended(&document.json["meshes"][mesh]["primitives"][place], own, added);
        for missing in
            targets.iter_mut().flat_map(|target| target.as_object_mut()).flat_map(|all| all.values_mut())
        {
            if missing.is_null() {
                *missing = json!(document.add_zeros(count));
            }
        }
        let entry = &mut document.json["meshes"][mesh]["primitives"][place];
        entry["targets"] = json!(targets);
        drop_compressed_copy(entry);
    }

    // names and weights of all targets
    let total = own + flesh.deltas.len();
    let entry = &mut document.json["meshes"][mesh];
    name(entry, own, flesh.deltas.len());
    widen(entry, total);
    widen(&mut document.json["nodes"][body.node], total);
}

/// A target of a part: what it adds to positions, and to the directions that the part has.
fn target(
    document: &mut Document,
    body: &Body,
    shading: &Shading,
    flesh: &Flesh,
    (part, k): (usize, usize),
) -> Value {
    let vertices = body.parts[part].vertices.clone();
    let mut members = Map::new();
    let positions = document.add_vectors(&flesh.deltas[k][vertices.clone()], flesh.storage);
    members.insert("POSITION".into(), json!(positions));
    for (field, deltas) in shading.fields.iter().zip(&flesh.directions).filter(|(field, _)| field.has[part]) {
        let accessor = document.add_vectors(&deltas[k][vertices.clone()], flesh.direction_storage);
        members.insert(field.attribute.into(), json!(accessor));
    }
    Value::Object(members)
}

/// The targets of a primitive, up to the `own` of its mesh, and added ones. Viewers take a missing attribute for that of the mesh when
/// another target has it, so all targets have the same of positions, normals and tangents: null where an accessor of zeros belongs.
fn appended(primitive: &Value, own: usize, added: Vec<Value>) -> Vec<Value> {
    let mut targets = primitive.get("targets").and_then(Value::as_array).cloned().unwrap_or_default();
    targets.resize(own, json!({}));
    targets.extend(added);
    for attribute in ["POSITION", "NORMAL", "TANGENT"] {
        if targets.iter().any(|target| target.get(attribute).is_some()) {
            for members in targets.iter_mut().filter_map(Value::as_object_mut) {
                members.entry(attribute).or_insert(Value::Null);
            }
        }
    }
    targets
}

/// Vertices of a compressed copy may have another order than those that were moved.
fn drop_compressed_copy(primitive: &mut Value) {
    if let Some(extensions) = primitive.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.remove("KHR_draco_mesh_compression");
        if extensions.is_empty() {
            primitive.as_object_mut().and_then(|members| members.remove("extensions"));
        }
    }
}

/// Names the added targets, and numbers those of the file that have no names.
fn name(mesh: &mut Value, own: usize, count: usize) {
    if mesh.get("extras").is_some_and(|extras| !extras.is_object()) {
        return;
    }
    let given = mesh.get("extras").and_then(|extras| extras.get("targetNames")?.as_array());
    let mut names: Vec<Value> = given.cloned().unwrap_or_default();
    names.truncate(own);
    (names.len()..own).for_each(|index| names.push(json!(format!("target {}", index + 1))));
    let fresh = (1..).map(|number| json!(format!("flesh {number}")));
    let fresh: Vec<Value> = fresh.filter(|name| !names.contains(name)).take(count).collect();
    names.extend(fresh);
    mesh["extras"]["targetNames"] = json!(names);
}

/// Weights of a mesh or a node, if it has any, up to a count.
fn widen(holder: &mut Value, count: usize) {
    if let Some(weights) = holder.get_mut("weights").and_then(Value::as_array_mut) {
        weights.resize(count, json!(0.0));
    }
}
