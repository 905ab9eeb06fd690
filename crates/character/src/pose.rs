//! Pose evaluation and linear blend skinning: nodes, joints and vertices at rest, at bind, and at any time of an animation.
//!
//! ```text
//! world_from_node = world_from_parent · parent_from_node(t)
//! joint matrix    J_j = world_from_joint · B_j
//! vertex          x = Σ_j w_j J_j (v + Σ_m μ_m d_m)
//! ```
//!
//! with B the inverse bind matrices, w the weights of joints, μ and d the weights and deltas of morph targets. The node that shows a
//! skinned mesh does not move it; one without a skin moves it as it stands.

use crate::transform::{Mat4, NodeTransform, apply};
use crate::{ChannelPath, CharacterPrimitive, RiggedCharacter, SurfaceId};
use rayon::prelude::*;
use sinew_math::{Mat3, Rotation, Vec3, nalgebra::Quaternion};

/// Where all nodes stand.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterPose {
    /// Where each node stands in its parent.
    pub parent_from_node: Vec<NodeTransform>,
    /// Where each node stands in the world.
    pub world_from_node: Vec<Mat4>,
    /// Weights of morph targets by node, where they are not those of the mesh.
    pub morph_weights: Vec<Option<Vec<f64>>>,
}

impl RiggedCharacter {
    /// The pose without an animation.
    pub fn rest_pose(&self) -> CharacterPose {
        CharacterPose {
            parent_from_node: self.nodes.iter().map(|node| node.rest).collect(),
            world_from_node: self.nodes.iter().map(|node| node.world_from_node).collect(),
            morph_weights: self.nodes.iter().map(|node| node.morph_weights.clone()).collect(),
        }
    }

    /// The pose at a time (s) of an animation; `None` if there is no such animation.
    pub fn pose_at(&self, animation: usize, time: f64) -> Option<CharacterPose> {
        let animation = self.animations.get(animation)?;
        let mut pose = self.rest_pose();
        let mut value = Vec::new();
        for channel in &animation.channels {
            channel.sample(time, &mut value);
            let local = &mut pose.parent_from_node[channel.node];
            match channel.path {
                ChannelPath::Translation => local.translation = Vec3::new(value[0], value[1], value[2]),
                ChannelPath::Rotation => {
                    local.rotation =
                        Rotation::new_unchecked(Quaternion::new(value[3], value[0], value[1], value[2]));
                }
                ChannelPath::Scale => {
                    local.stretch = Mat3::from_diagonal(&Vec3::new(value[0], value[1], value[2]));
                }
                ChannelPath::Weights => pose.morph_weights[channel.node] = Some(value.clone()),
            }
        }
        self.place(&mut pose);
        Some(pose)
    }

    /// Computes where nodes stand in the world from where they stand in their parents.
    ///
    /// # Panics
    /// If the pose has another number of nodes.
    pub fn place(&self, pose: &mut CharacterPose) {
        for &node in &self.order {
            let local = pose.parent_from_node[node].matrix();
            let parent = self.nodes[node].parent;
            pose.world_from_node[node] = parent.map_or(local, |parent| pose.world_from_node[parent] * local);
        }
    }

    /// The matrices that carry bind space along with each joint of a skin; `None` if there is no such skin.
    pub fn joint_matrices(&self, skin: usize, pose: &CharacterPose) -> Option<Vec<Mat4>> {
        let skin = self.skins.get(skin)?;
        let pairs = skin.joints.iter().zip(&skin.inverse_bind);
        Some(pairs.map(|(joint, inverse_bind)| pose.world_from_node[*joint] * inverse_bind).collect())
    }

    /// The vertices of a surface in a pose, in the world (m); `None` if there is no such surface.
    pub fn world_vertices(&self, surface: SurfaceId, pose: &CharacterPose) -> Option<Vec<Vec3>> {
        let (node, primitive) = self.surface(surface)?;
        let mut vertices = self.morphed(node, primitive, pose);
        match (&primitive.weights, self.nodes[node].skin) {
            (Some(weights), Some(skin)) => {
                let joints = self.joint_matrices(skin, pose)?;
                vertices.par_iter_mut().enumerate().for_each(|(vertex, position)| {
                    let moved = |joint: u32, weight: f64| weight * apply(&joints[joint as usize], position);
                    *position = weights.of(vertex).iter().map(|entry| moved(entry.joint, entry.weight)).sum();
                });
            }
            _ => vertices
                .iter_mut()
                .for_each(|position| *position = apply(&pose.world_from_node[node], position)),
        }
        Some(vertices)
    }

    /// The vertices of a surface with its morph targets in a pose, before joints move them: in bind space (m); `None` if there is no such
    /// surface.
    pub fn morphed_vertices(&self, surface: SurfaceId, pose: &CharacterPose) -> Option<Vec<Vec3>> {
        let (node, primitive) = self.surface(surface)?;
        Some(self.morphed(node, primitive, pose))
    }

    /// The vertices of a surface in the bind pose of its joints (see [`crate::CharacterSkin`]), in the world (m); in the rest pose for
    /// a surface without skin. Morph targets have the weights of the rest pose. `None` if there is no such surface.
    pub fn bind_vertices(&self, surface: SurfaceId) -> Option<Vec<Vec3>> {
        let (node, primitive) = self.surface(surface)?;
        let mut vertices = self.morphed(node, primitive, &self.rest_pose());
        let world_from_bind = match (&primitive.weights, self.nodes[node].skin) {
            (Some(_), Some(skin)) => self.skins.get(skin)?.world_from_bind,
            _ => self.nodes[node].world_from_node,
        };
        vertices.iter_mut().for_each(|position| *position = apply(&world_from_bind, position));
        Some(vertices)
    }

    /// Positions with their morph targets added.
    fn morphed(&self, node: usize, primitive: &CharacterPrimitive, pose: &CharacterPose) -> Vec<Vec3> {
        let mut vertices = primitive.positions.to_vec();
        let of_mesh = self.nodes[node].mesh.map_or(&[][..], |mesh| &self.meshes[mesh].morph_weights);
        let weights = pose.morph_weights[node].as_deref().unwrap_or(of_mesh);
        for (target, weight) in primitive.targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
            for (vertex, delta) in target.vertices.iter().zip(&target.deltas) {
                vertices[*vertex as usize] += *weight * delta;
            }
        }
        vertices
    }
}
