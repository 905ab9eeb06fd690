//! The nodes of a world that are fixed to bones, and the bones that the others are damped against.

use core::ops::Range;
use sinew_math::Vec3;
use sinew_skeleton::BoneId;

/// All ties between nodes and bones of a world. Bones of all rigs are counted together from 1; 0 is the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct FixedNodes {
    /// The fixed nodes, those of a bone together.
    pub(crate) ties: Vec<Tie>,
    /// For each bone, the world first, its fraction of [`FixedNodes::ties`].
    ties_of_bone: Vec<Range<usize>>,
    /// For each node the bone it is fixed to, or 0.
    pub(crate) node_bone: Vec<u32>,
    /// For each node the bone it is damped against, or 0.
    pub(crate) node_reference: Vec<u32>,
    /// Free nodes that are damped against a bone, those of a bone together.
    dragged: Vec<u32>,
    /// For each bone its fraction of the dragged nodes.
    dragged_of_bone: Vec<Range<usize>>,
}

/// A node that is fixed to a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tie {
    pub(crate) node: u32,
    /// Where on the bone (m, bone's frame).
    pub(crate) place: Vec3,
}

impl FixedNodes {
    /// Sorts ties by bone. `bone_count` counts the world; `ties` hold node, bone and place on it.
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

    /// The ties of a bone, counted among those of all rigs.
    pub(crate) fn ties_of_bone(&self, bone: usize) -> &[Tie] {
        &self.ties[self.ties_of_bone[bone].clone()]
    }

    /// The ties of a bone of a rig whose bones begin at `first`.
    pub(crate) fn ties_of(&self, first: usize, bone: BoneId) -> &[Tie] {
        &self.ties[self.ties_of_bone[first + bone.index()].clone()]
    }

    /// The free nodes that are damped against a bone of a rig whose bones begin at `first`.
    pub(crate) fn dragged_by(&self, first: usize, bone: BoneId) -> &[u32] {
        &self.dragged[self.dragged_of_bone[first + bone.index()].clone()]
    }
}

/// Where each bone's run begins and ends in a sorted list.
fn ranges(bone_count: usize, sorted: impl Iterator<Item = u32>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = vec![0..0; bone_count];
    for (i, bone) in sorted.enumerate() {
        let range = &mut ranges[bone as usize];
        let start = if range.end == 0 { i } else { range.start };
        *range = start..i + 1;
    }
    ranges
}
