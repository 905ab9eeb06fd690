//! Where a character stands in a scene: a uniform scale, a rotation and a translation of its file's world.

use crate::transform::{Mat4, NodeTransform};
use crate::{CharacterNode, CharacterPose, RiggedCharacter};
use sinew_math::{Mat3, Rotation, Vec3};
use std::sync::Arc;

/// x_scene = t + s R x_file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// t (m).
    pub translation: Vec3,
    /// R.
    pub rotation: Rotation,
    /// s, above 0.
    pub scale: f64,
}

impl Default for Placement {
    /// As the file has it.
    fn default() -> Placement {
        Placement { translation: Vec3::zeros(), rotation: Rotation::identity(), scale: 1.0 }
    }
}

impl Placement {
    /// Whether the character stays as its file has it.
    pub fn is_identity(&self) -> bool {
        *self == Placement::default()
    }

    /// The map as parts of a node's transform.
    fn transform(&self) -> NodeTransform {
        NodeTransform {
            translation: self.translation,
            rotation: self.rotation,
            stretch: Mat3::identity() * self.scale,
        }
    }

    /// The point of the scene in the file.
    pub fn file_from_scene(&self, point: &Vec3) -> Vec3 {
        self.rotation.inverse() * (point - self.translation) / self.scale
    }

    /// The character as it stands in the scene: below one more node, the last, which is this placement. All indices stay, so that
    /// channels, joints and surfaces are those of the file.
    pub fn place(&self, character: &Arc<RiggedCharacter>) -> Arc<RiggedCharacter> {
        if self.is_identity() {
            return Arc::clone(character);
        }
        let mut placed = RiggedCharacter::clone(character);
        let scene_from_file: Mat4 = self.transform().matrix();
        let top = placed.nodes.len();

        // one node above all roots
        let roots: Vec<usize> = (0..top).filter(|&node| placed.nodes[node].parent.is_none()).collect();
        for node in &mut placed.nodes {
            node.depth += 1;
            node.world_from_node = scene_from_file * node.world_from_node;
        }
        roots.iter().for_each(|root| placed.nodes[*root].parent = Some(top));
        placed.nodes.push(CharacterNode {
            label: "placement in the scene".into(),
            below: top,
            world_from_node: scene_from_file,
            ..CharacterNode::new("placement in the scene", self.transform(), roots)
        });
        placed.order.insert(0, top);

        // surfaces are bound where they now stand
        for skin in &mut placed.skins {
            skin.world_from_bind = scene_from_file * skin.world_from_bind;
            skin.bind_pose.iter_mut().for_each(|pose| *pose = scene_from_file * *pose);
        }
        Arc::new(placed)
    }

    /// A pose of the placed character as one of the character in its file.
    pub fn file_pose(&self, in_file: &RiggedCharacter, pose: &CharacterPose) -> CharacterPose {
        let mut pose = pose.clone();
        if self.is_identity() {
            return pose;
        }
        let count = in_file.nodes.len();
        pose.parent_from_node.truncate(count);
        pose.world_from_node.truncate(count);
        pose.morph_weights.truncate(count);
        in_file.place(&mut pose);
        pose
    }
}
