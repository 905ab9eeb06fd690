//! Skins: which nodes are joints, and where they stood when the surface was bound to them.
//!
//! A skin stores for every joint the matrix from bind space (that of the stored vertices) to the joint. That tells how joints stood
//! relative to each other, not where in the world. The topmost joint is taken to have stood where it stands at rest:
//!
//! ```text
//! W = G_top B_top,   world_from_joint at bind = W B_j⁻¹,   vertices at bind = W v
//! ```
//!
//! with G the rest pose in the world and B the inverse bind matrices. Where the rest pose is the bind pose, G_j B_j = W for all j.

use crate::CharacterNode;
use crate::transform::{Mat4, inverse, is_moderate};

/// Joints and how a surface is bound to them.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterSkin {
    /// Its name.
    pub name: Option<String>,
    /// The nodes that are joints; weights refer to them by their index in this list.
    pub joints: Vec<usize>,
    /// Maps bind space into each joint at bind: B.
    pub inverse_bind: Vec<Mat4>,
    /// The node that the file names as the root of the skeleton.
    pub skeleton: Option<usize>,
    /// The topmost joint, by its index in `joints`: the one with the most descendants.
    pub top: usize,
    /// Maps bind space into the world: W.
    pub world_from_bind: Mat4,
    /// Where each joint stood in the world when the surface was bound: W B⁻¹.
    pub bind_pose: Vec<Mat4>,
}

/// What is unusual about the bind pose of a skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindReport {
    /// How many inverse bind matrices are singular: the rest pose replaces the bind pose of these joints.
    pub singular: usize,
    /// Whether W is singular, so that the surface is flat at bind.
    pub is_flat: bool,
    /// Whether all numbers are finite and of moderate size.
    pub is_moderate: bool,
}

impl Default for CharacterSkin {
    fn default() -> CharacterSkin {
        CharacterSkin {
            name: None,
            joints: Vec::new(),
            inverse_bind: Vec::new(),
            skeleton: None,
            top: 0,
            world_from_bind: Mat4::identity(),
            bind_pose: Vec::new(),
        }
    }
}

impl CharacterSkin {
    /// Finds the topmost joint and the bind pose in the world, given nodes that stand at rest.
    pub fn bind(&mut self, nodes: &[CharacterNode]) -> BindReport {
        let undone: Vec<Option<Mat4>> = self.inverse_bind.iter().map(inverse).collect();
        // of the regular ones the one with the most descendants: never a control or an end beside the skeleton's root
        let place = |slot: &usize| (undone[*slot].is_none(), usize::MAX - nodes[self.joints[*slot]].below);
        self.top = (0..self.joints.len()).min_by_key(place).unwrap_or(0);
        let rest = |slot: usize| nodes[self.joints[slot]].world_from_node;
        self.world_from_bind = rest(self.top) * self.inverse_bind[self.top];
        self.bind_pose = (0..undone.len())
            .map(|slot| {
                undone[slot]
                    .map_or_else(|| rest(slot), |bind_from_joint| self.world_from_bind * bind_from_joint)
            })
            .collect();
        BindReport {
            singular: undone.iter().filter(|matrix| matrix.is_none()).count(),
            is_flat: inverse(&self.world_from_bind).is_none(),
            is_moderate: self.bind_pose.iter().all(is_moderate),
        }
    }
}
