//! Harmonic weights of bones at the nodes of a body.

use super::Model;
use crate::bone_weights::harmonic;
use sinew_mesh::NodeNeighbours;

/// The weights of bones at the nodes of a body, by which a surface without painted weights can be skinned.
#[derive(Clone, Debug, PartialEq)]
pub struct HarmonicWeights {
    /// The rig that the body is attached to, by its index.
    pub rig: usize,
    /// For each bone of the rig its weight at each node of the body; those of a node sum to 1, up to the tolerance of the solution.
    pub of_bones: Vec<Vec<f64>>,
    /// The bone of the first fixed node.
    pub first_bone: usize,
}

impl Model {
    /// The harmonic weights of a body's nodes; `None` for a body without bones.
    pub fn harmonic_weights(&self, body: usize) -> Option<HarmonicWeights> {
        // which nodes are fixed to which bone
        let body = &self.bodies[body];
        let bones: Vec<Option<(usize, usize)>> = body
            .nodes
            .clone()
            .map(|node| self.bone_of_node(node).map(|(rig, bone)| (rig, bone.index())))
            .collect();
        let (rig, first_bone) = *bones.iter().flatten().next()?;
        let fixed: Vec<Option<usize>> = bones.iter().map(|bone| bone.map(|(_, bone)| bone)).collect();

        // every bone's weights at all nodes
        let first = body.nodes.start as u32;
        let tets: Vec<[u32; 4]> =
            self.tets[body.tets.clone()].iter().map(|tet| tet.map(|node| node - first)).collect();
        let neighbours = NodeNeighbours::build(fixed.len(), &tets);
        let rest = &self.node_rest[body.nodes.clone()];
        let of_bones = harmonic(&neighbours, rest, &fixed, self.rigs[rig].skeleton.bones().len());
        Some(HarmonicWeights { rig, of_bones, first_bone })
    }
}
