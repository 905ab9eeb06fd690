//! The joints of all skins as one tree, from which bones are made.

use crate::{Mat4, RiggedCharacter};

/// A node that some skin uses as a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterJoint {
    /// The node.
    pub node: usize,
    /// Its nearest ancestor that is a joint, by its index in the list of joints.
    pub parent: Option<usize>,
    /// Where it stands in the world at rest.
    pub rest: Mat4,
    /// Where it stood in the world at bind, in the first skin that uses it.
    pub bind: Mat4,
    /// The sum of its weights over the vertices of all shown surfaces: 0 for a control bone or a bare end.
    pub vertex_fraction: f64,
}

impl RiggedCharacter {
    /// Finds the joints of all skins, parents before children.
    pub fn find_joints(&self) -> Vec<CharacterJoint> {
        let mut bind: Vec<Option<&Mat4>> = vec![None; self.nodes.len()];
        for (joint, pose) in self.skins.iter().flat_map(|skin| skin.joints.iter().zip(&skin.bind_pose)) {
            bind[*joint].get_or_insert(pose);
        }
        let fraction = self.vertex_fractions();
        // the index of each joint in the list; of other nodes, that of the nearest joint above
        let mut place: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut joints = Vec::new();
        for &node in &self.order {
            let parent = self.nodes[node].parent.and_then(|parent| place[parent]);
            place[node] = parent;
            if let Some(bind) = bind[node] {
                place[node] = Some(joints.len());
                let rest = self.nodes[node].world_from_node;
                joints.push(CharacterJoint {
                    node,
                    parent,
                    rest,
                    bind: *bind,
                    vertex_fraction: fraction[node],
                });
            }
        }
        joints
    }

    /// The sum of the weights of each node.
    fn vertex_fractions(&self) -> Vec<f64> {
        let mut fractions = vec![0.0; self.nodes.len()];
        for node in &self.nodes {
            let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else { continue };
            let joints = &self.skins[skin].joints;
            for weights in
                self.meshes[mesh].primitives.iter().filter_map(|primitive| primitive.weights.as_ref())
            {
                for entry in (0..weights.vertex_count()).flat_map(|vertex| weights.of(vertex)) {
                    fractions[joints[entry.joint as usize]] += entry.weight;
                }
            }
        }
        fractions
    }
}
