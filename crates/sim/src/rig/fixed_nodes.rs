//! The nodes that are fixed to bones, and the reference bones of damping for all others.

use crate::bone_weights::{BoneWeights, NodeWeights, Smoothing};
use core::ops::Range;
use sinew_math::Vec3;
use sinew_mesh::NodeNeighbours;
use sinew_skeleton::BoneId;

/// Weights blend over about four edges on each side of the boundary between two bones.
const SMOOTHING: Smoothing = Smoothing { rounds: 20, smallest: 1e-2 };

/// All nodes fixed to bones. Bones of all rigs are numbered together from 1; 0 is the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct FixedNodes {
    /// The fixed nodes, grouped by bone.
    pub(crate) ties: Vec<Tie>,
    /// For each bone, the world first, its range in [`FixedNodes::ties`].
    ties_of_bone: Vec<Range<usize>>,
    /// For each node the bone it is fixed to, or 0.
    pub(crate) node_bone: Vec<u32>,
    /// For each node the bone it is damped against, or 0.
    pub(crate) node_reference: Vec<u32>,
    /// Free nodes that are damped against a bone, grouped by bone.
    dragged: Vec<u32>,
    /// For each bone its range in `dragged`.
    dragged_of_bone: Vec<Range<usize>>,
}

/// A node that is fixed to a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tie {
    pub(crate) node: u32,
    /// Position in the bone's frame (m).
    pub(crate) place: Vec3,
}

impl FixedNodes {
    /// Sorts fixed nodes by bone. `bone_count` includes the world; `ties` are node, bone and position in the bone's frame.
    pub(crate) fn build(
        bone_count: usize,
        node_reference: Vec<u32>,
        mut ties: Vec<(u32, u32, Vec3)>,
        is_free: impl Fn(usize) -> bool,
    ) -> FixedNodes {
        ties.sort_by_key(|(node, bone, _)| (*bone, *node));
        let mut node_bone = vec![0; node_reference.len()];
        ties.iter().for_each(|(node, bone, _)| node_bone[*node as usize] = *bone);
        let free = |node: &u32| node_reference[*node as usize] > 0 && is_free(*node as usize);
        let mut dragged: Vec<u32> = (0..node_reference.len() as u32).filter(free).collect();
        dragged.sort_by_key(|node| (node_reference[*node as usize], *node));
        FixedNodes {
            ties_of_bone: ranges(bone_count, ties.iter().map(|(_, bone, _)| *bone)),
            dragged_of_bone: ranges(bone_count, dragged.iter().map(|node| node_reference[*node as usize])),
            ties: ties.iter().map(|(node, _, place)| Tie { node: *node, place: *place }).collect(),
            node_bone,
            node_reference,
            dragged,
        }
    }

    /// Whether a node is fixed to a bone.
    pub(crate) fn holds(&self, node: usize) -> bool {
        self.node_bone[node] > 0
    }

    /// Automatic skinning weights: each node starts with its reference bone alone, and all but fixed nodes are smoothed. None for nodes of bodies without bones.
    pub(crate) fn blended_weights(&self, tets: &[[u32; 4]]) -> Vec<BoneWeights> {
        let start = |node: usize| {
            let bone = if self.holds(node) { self.node_bone[node] } else { self.node_reference[node] };
            if bone > 0 { vec![(bone, 1.0)] } else { Vec::new() }
        };
        let node_count = self.node_bone.len();
        let mut weights = NodeWeights::new((0..node_count).map(start).collect());
        let is_free = |node: usize| self.node_reference[node] > 0 && !self.holds(node);
        weights.smooth(&NodeNeighbours::build(node_count, tets), is_free, SMOOTHING);
        weights.into_lists()
    }

    /// The fixed nodes of a bone, numbered among those of all rigs.
    pub(crate) fn ties_of_bone(&self, bone: usize) -> &[Tie] {
        &self.ties[self.ties_of_bone[bone].clone()]
    }

    /// The fixed nodes of a bone of a rig whose bones begin at `first`.
    pub(crate) fn ties_of(&self, first: usize, bone: BoneId) -> &[Tie] {
        &self.ties[self.ties_of_bone[first + bone.index()].clone()]
    }

    /// The free nodes that are damped against a bone of a rig whose bones begin at `first`.
    pub(crate) fn dragged_by(&self, first: usize, bone: BoneId) -> &[u32] {
        &self.dragged[self.dragged_of_bone[first + bone.index()].clone()]
    }
}

/// The range of each bone in a sorted list.
fn ranges(bone_count: usize, sorted: impl Iterator<Item = u32>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = vec![0..0; bone_count];
    for (i, bone) in sorted.enumerate() {
        let range = &mut ranges[bone as usize];
        let start = if range.end == 0 { i } else { range.start };
        *range = start..i + 1;
    }
    ranges
}
