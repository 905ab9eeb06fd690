//! What a character's file contains: animations with their lengths, meshes, materials and joints.

use sinew_character::{CharacterBinding, CharacterMesh, RiggedCharacter};

/// Names on one line, then the rest are counted.
const MAX_NAMES: usize = 200;

/// Prints what the file of a character contains.
pub(crate) fn print(binding: &CharacterBinding) {
    let rigged = &*binding.rigged;
    say!("file of character '{}':", binding.name);

    // what it can play
    for (index, animation) in rigged.animations.iter().enumerate() {
        let name = animation.name.as_deref().unwrap_or("without a name");
        let played = if binding.animation == Some(index) { ", played" } else { "" };
        say!("  animation {index} '{name}': {:.2} s{played}", animation.duration);
    }
    if rigged.animations.is_empty() {
        say!("  no animations");
    }

    // what it looks like
    for mesh in &rigged.meshes {
        say!("  mesh {}", described(mesh));
    }
    let materials: Vec<&str> =
        rigged.materials.iter().map(|material| material.name.as_deref().unwrap_or("(no name)")).collect();
    say!("  {} materials: {}", materials.len(), listed(&materials));

    // what moves it
    let joints = joint_names(rigged);
    say!("  {} joints: {}", joints.len(), listed(&joints));
}

fn described(mesh: &CharacterMesh) -> String {
    let count = |of: fn(&sinew_character::CharacterPrimitive) -> usize| -> usize {
        mesh.primitives.iter().map(of).sum()
    };
    let name = mesh.name.as_deref().unwrap_or("without a name");
    let (vertices, triangles) = (count(|p| p.positions.len()), count(|p| p.triangles.len()));
    let morphs = match mesh.target_count() {
        0 => String::new(),
        targets => format!(", {targets} morph targets"),
    };
    format!("'{name}': {vertices} vertices, {triangles} triangles{morphs}")
}

fn joint_names(rigged: &RiggedCharacter) -> Vec<&str> {
    rigged.find_joints().iter().map(|joint| rigged.nodes[joint.node].label.as_str()).collect()
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}
