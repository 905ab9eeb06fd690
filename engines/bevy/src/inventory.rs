//! What the engine has loaded.

use crate::clip::Clip;
use bevy::gltf::{Gltf, GltfMesh, GltfSkin};
use bevy::prelude::*;
use std::fmt;

/// What the engine has loaded from a file.
pub(crate) struct Inventory {
    meshes: usize,
    vertices: usize,
    /// Joints of all skins, helpers among them.
    joints: usize,
    /// Morph targets of all meshes; primitives of a mesh share them.
    targets: usize,
    clips: Vec<String>,
}

impl Inventory {
    /// Counts what the assets of a file contain.
    pub(crate) fn of(world: &World, file: &Gltf, clips: &[Clip]) -> Inventory {
        let skins = world.resource::<Assets<GltfSkin>>();
        let (meshes, parts) = (world.resource::<Assets<GltfMesh>>(), world.resource::<Assets<Mesh>>());
        let mut inventory = Inventory {
            meshes: file.meshes.len(),
            vertices: 0,
            joints: file.skins.iter().filter_map(|skin| skins.get(skin)).map(|skin| skin.joints.len()).sum(),
            targets: 0,
            clips: clips.iter().map(|clip| format!("{} {:.2} s", clip.name, clip.seconds)).collect(),
        };
        for mesh in file.meshes.iter().filter_map(|mesh| meshes.get(mesh)) {
            let mut max_targets = 0;
            for part in mesh.primitives.iter().filter_map(|part| parts.get(&part.mesh)) {
                let (vertices, deltas) =
                    (part.count_vertices(), part.get_morph_targets().unwrap_or_default());
                inventory.vertices += vertices;
                max_targets = max_targets.max(deltas.len() / vertices.max(1));
            }
            inventory.targets += max_targets;
        }
        inventory
    }
}

impl fmt::Display for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Inventory { meshes, vertices, joints, targets, clips } = self;
        write!(f, "meshes {meshes}, vertices {vertices}, joints {joints}, morph targets {targets}, ")?;
        write!(f, "animations {} ({})", clips.len(), clips.join(", "))
    }
}
