//! Skins of an FBX file: which nodes are joints, and where they stood when the surface was bound to them.

use super::{matrix, named, quoted};
use sinew_character::{CharacterNode, CharacterSkin};
use std::collections::BTreeMap;

/// The skins, and which surfaces they deform.
pub(super) struct Skins {
    pub(super) skins: Vec<CharacterSkin>,
    /// For each mesh of the file its skin.
    pub(super) of_mesh: Vec<Option<usize>>,
    /// For each skin, for each of its clusters in the file the joint.
    pub(super) joint_of_cluster: Vec<Vec<Option<u32>>>,
}

/// Reads the skin of every mesh that has one.
pub(super) fn read(
    scene: &ufbx::Scene,
    nodes: &[CharacterNode],
    places: &[Option<usize>],
    notes: &mut Vec<String>,
) -> Skins {
    let mut found = Skins { skins: Vec::new(), of_mesh: Vec::new(), joint_of_cluster: Vec::new() };
    for mesh in &scene.meshes {
        let deformers = &mesh.skin_deformers;
        if deformers.len() > 1 {
            let (name, count) = (quoted(&mesh.element.name), deformers.len());
            notes.push(format!("mesh {name} has {count} skins upon each other: the first was taken"));
        }
        let skin = deformers.iter().next().and_then(|deformer| read_skin(deformer, places));
        found.of_mesh.push(skin.map(|(mut skin, joint_of_cluster)| {
            skin.bind(nodes);
            found.skins.push(skin);
            found.joint_of_cluster.push(joint_of_cluster);
            found.skins.len() - 1
        }));
    }
    found
}

/// One skin, and the joint of each of its clusters; none if no cluster has a bone.
fn read_skin(
    deformer: &ufbx::SkinDeformer,
    places: &[Option<usize>],
) -> Option<(CharacterSkin, Vec<Option<u32>>)> {
    let mut skin = CharacterSkin { name: named(&deformer.element.name), ..CharacterSkin::default() };
    let mut joints = BTreeMap::new();
    let mut joint_of_cluster = Vec::with_capacity(deformer.clusters.len());
    for cluster in &deformer.clusters {
        let node = cluster.bone_node.as_ref().and_then(|bone| places[bone.element.typed_id as usize]);
        joint_of_cluster.push(node.map(|node| {
            // two clusters of one bone are one joint
            *joints.entry(node).or_insert_with(|| {
                skin.joints.push(node);
                skin.inverse_bind.push(matrix(&cluster.geometry_to_bone));
                skin.joints.len() as u32 - 1
            })
        }));
    }
    (!skin.joints.is_empty()).then_some((skin, joint_of_cluster))
}
