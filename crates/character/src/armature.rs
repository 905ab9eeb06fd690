//! The spaces in which other programs keep the meshes of a character: armatures and nodes.
//!
//! glTF places a skinned mesh by its joints alone. Blender has no such meshes: it makes an armature object of a node above the joints, and the
//! vertices of the mesh are in the space of that object. A mesh without skin is in the space of its own node.

use crate::RiggedCharacter;

/// What programs with armatures make of each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Object,
    Armature,
    Bone,
}

impl RiggedCharacter {
    /// For each node the node in whose space Blender keeps the vertices of its mesh; `None` for the world.
    pub(crate) fn object_spaces(&self) -> Vec<Option<usize>> {
        let roles = self.armature_roles();
        let space = |(node, shown): (usize, &crate::CharacterNode)| match shown.skin {
            Some(skin) => {
                let joint = self.skins.get(skin).and_then(|skin| skin.joints.first()).copied();
                joint.and_then(|joint| self.path_up(joint).find(|above| roles[*above] == Role::Armature))
            }
            None => Some(node),
        };
        self.nodes.iter().enumerate().map(space).collect()
    }

    /// The deepest node above all joints of a skin is an armature, and all between it and the joints are bones. An armature among the bones
    /// of another skin is none.
    fn armature_roles(&self) -> Vec<Role> {
        let mut roles = vec![Role::Object; self.nodes.len()];
        for skin in &self.skins {
            let armature = self.node_above(skin.joints.iter().chain(&skin.skeleton).copied());
            let is_joint = armature.is_some_and(|node| skin.joints.contains(&node));
            let armature =
                if is_joint { armature.and_then(|node| self.nodes[node].parent) } else { armature };
            if let Some(node) = armature.filter(|node| roles[*node] != Role::Bone) {
                roles[node] = Role::Armature;
            }
            for &joint in &skin.joints {
                let between = self.path_up(joint).take_while(|node| Some(*node) != armature);
                between.for_each(|node| roles[node] = Role::Bone);
            }
        }
        roles
    }

    /// The deepest node at or above all of some nodes; `None` if they have different roots.
    fn node_above(&self, mut nodes: impl Iterator<Item = usize>) -> Option<usize> {
        let first = nodes.next()?;
        nodes.try_fold(first, |above, node| {
            let path: Vec<usize> = self.path_up(node).collect();
            self.path_up(above).find(|candidate| path.contains(candidate))
        })
    }

    /// A node and all above it.
    fn path_up(&self, node: usize) -> impl Iterator<Item = usize> {
        core::iter::successors(Some(node), |node| self.nodes[*node].parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CharacterNode, CharacterSkin, NodeTransform};

    /// `0 ─ 1 ─ 2 ─ {3, 4}`, `5`; the mesh of `6` has the skin.
    fn space_of_mesh(joints: Vec<usize>, skeleton: Option<usize>) -> Option<usize> {
        let node =
            |name: &str, children: Vec<usize>| CharacterNode::new(name, NodeTransform::identity(), children);
        let mut nodes = vec![node("a", vec![1]), node("b", vec![2]), node("c", vec![3, 4])];
        nodes.extend(["d", "e", "f", "mesh"].map(|name| node(name, Vec::new())));
        nodes[6].skin = Some(0);
        let inverse_bind = vec![crate::Mat4::identity(); joints.len()];
        let skin = CharacterSkin { joints, inverse_bind, skeleton, ..CharacterSkin::default() };
        let rigged = RiggedCharacter::assemble(nodes, vec![skin], Vec::new()).unwrap();
        assert_eq!(rigged.object_spaces()[..6], [0, 1, 2, 3, 4, 5].map(Some));
        rigged.object_spaces()[6]
    }

    #[test]
    fn the_armature_is_the_deepest_node_above_all_joints_that_is_none() {
        assert_eq!(space_of_mesh(vec![3, 4], None), Some(2));
        assert_eq!(space_of_mesh(vec![3, 4, 2], None), Some(1));
        assert_eq!(space_of_mesh(vec![3, 4], Some(1)), Some(1));
        assert_eq!(space_of_mesh(vec![0, 1], None), None);
        assert_eq!(space_of_mesh(vec![3, 5], None), None);
    }
}
