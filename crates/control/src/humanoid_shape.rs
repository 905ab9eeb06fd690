//! Mapping of a rig's bones to the standard humanoid skeleton by rest pose, for rigs without usable names.
//!
//! A character that stands upright and faces +z has its feet lowest, its hands farthest to the sides and its head highest. The lowest
//! common ancestor of the feet is the hips, that of the hands is the chest; the bones between are limbs and spine in order.

use crate::{BoneMap, HumanBone};
use HumanBone::*;
use sinew_math::Vec3;

/// Hips are at least this fraction of the way from the feet to the top: a person's are at half.
const MIN_HIP_HEIGHT: f64 = 0.2;

impl BoneMap {
    /// Finds the bones of a rig from the rest positions of its joints (m, y up, the character's left along +x). The map is empty if the
    /// rig does not look like a human body.
    pub fn find_by_shape(origins: &[Vec3], parents: &[Option<usize>]) -> BoneMap {
        // feet and hips
        let mut map = BoneMap::default();
        let tree = Tree { origins, parents };
        let leaves = tree.leaves();
        let Some([left_foot, right_foot]) = tree.pair(&leaves, |p| -p.y) else { return map };
        let Some(hips) = tree.common_ancestor(left_foot, right_foot) else { return map };
        let height = origins[hips].y;

        // hands and chest: hands are a quarter of the leg length above the feet at least, even when the arms hang down
        let lowest = origins[left_foot].y.max(origins[right_foot].y);
        // a root on the ground that feet hang from is no pelvis
        let highest = origins.iter().map(|origin| origin.y).fold(f64::NEG_INFINITY, f64::max);
        if height < lowest + MIN_HIP_HEIGHT * (highest - lowest) {
            return map;
        }
        let high: Vec<usize> = leaves
            .iter()
            .copied()
            .filter(|&leaf| origins[leaf].y > lowest + 0.25 * (height - lowest))
            .collect();
        let middle = origins[hips].x;
        let Some([left_hand, right_hand]) = tree.pair(&high, |p| (p.x - middle).abs()) else { return map };
        let Some(chest) = tree.common_ancestor(left_hand, right_hand) else { return map };

        // the bones of the legs and arms, counted from their ends
        map.set(Hips, Some(hips));
        for (foot, names) in [
            (left_foot, [LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToes]),
            (right_foot, [RightUpperLeg, RightLowerLeg, RightFoot, RightToes]),
        ] {
            let path = tree.path(hips, foot);
            let from = path.len().saturating_sub(4);
            names.into_iter().zip(&path[from..]).for_each(|(name, bone)| map.set(name, Some(*bone)));
        }
        for (hand, names) in [
            (left_hand, [LeftShoulder, LeftUpperArm, LeftLowerArm, LeftHand]),
            (right_hand, [RightShoulder, RightUpperArm, RightLowerArm, RightHand]),
        ] {
            let path = tree.path(chest, hand);
            let skip = usize::from(path.len() < 4);
            names.into_iter().skip(skip).zip(&path).for_each(|(name, bone)| map.set(name, Some(*bone)));
        }

        // the spine, and the neck and head above it
        let spine = tree.path(hips, chest);
        [Spine, Chest, UpperChest]
            .into_iter()
            .zip(&spine)
            .for_each(|(name, bone)| map.set(name, Some(*bone)));
        let top = high.iter().copied().max_by(|&a, &b| origins[a].y.total_cmp(&origins[b].y));
        if let Some([first, .., last]) = top.map(|top| tree.path(chest, top)).as_deref() {
            map.set(Neck, Some(*first));
            map.set(Head, Some(*last));
        }
        map
    }
}

struct Tree<'a> {
    origins: &'a [Vec3],
    parents: &'a [Option<usize>],
}

impl Tree<'_> {
    fn leaves(&self) -> Vec<usize> {
        let mut has_child = vec![false; self.parents.len()];
        self.parents.iter().flatten().for_each(|&parent| has_child[parent] = true);
        (0..self.parents.len()).filter(|&i| !has_child[i]).collect()
    }

    /// The bones from one to a descendant, without the first; empty if the other is no descendant.
    fn path(&self, from: usize, to: usize) -> Vec<usize> {
        let mut path = vec![to];
        while let Some(parent) = self.parents[path[path.len() - 1]] {
            if parent == from {
                path.reverse();
                return path;
            }
            if path.len() > self.parents.len() {
                break;
            }
            path.push(parent);
        }
        Vec::new()
    }

    /// A bone and all its ancestors.
    fn ancestors(&self, bone: usize) -> Vec<usize> {
        let mut ancestors = vec![bone];
        while let Some(parent) =
            self.parents[ancestors[ancestors.len() - 1]].filter(|_| ancestors.len() <= self.parents.len())
        {
            ancestors.push(parent);
        }
        ancestors
    }

    /// The lowest common ancestor, if it is neither of the two.
    fn common_ancestor(&self, a: usize, b: usize) -> Option<usize> {
        let ancestors = self.ancestors(a);
        self.ancestors(b)
            .into_iter()
            .find(|bone| ancestors.contains(bone))
            .filter(|bone| *bone != a && *bone != b)
    }

    /// The leaf on the left and the one on the right with the largest measure.
    fn pair(&self, leaves: &[usize], measure: impl Fn(&Vec3) -> f64) -> Option<[usize; 2]> {
        let middle =
            leaves.iter().map(|&leaf| self.origins[leaf].x).sum::<f64>() / leaves.len().max(1) as f64;
        let largest = |left: bool| {
            let side = leaves.iter().copied().filter(|&leaf| (self.origins[leaf].x > middle) == left);
            side.max_by(|&a, &b| measure(&self.origins[a]).total_cmp(&measure(&self.origins[b])))
        };
        Some([largest(true)?, largest(false)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A humanoid of 21 joints with arms half lowered, and with separate hip and shoulder joints.
    fn figure() -> (Vec<Vec3>, Vec<Option<usize>>) {
        let mut joints: Vec<(Option<usize>, [f64; 3])> = vec![
            (None, [0.0, 1.0, 0.0]),
            (Some(0), [0.0, 1.15, 0.0]),
            (Some(1), [0.0, 1.3, 0.0]),
            (Some(2), [0.0, 1.5, 0.0]),
            (Some(3), [0.0, 1.6, 0.0]),
        ];
        for side in [1.0, -1.0] {
            let first = joints.len();
            let leg = [[0.1, 0.95, 0.0], [0.1, 0.5, 0.0], [0.1, 0.08, 0.0], [0.1, 0.02, 0.12]];
            let arm = [[0.05, 1.45, 0.0], [0.2, 1.45, 0.0], [0.4, 1.25, 0.0], [0.6, 1.05, 0.0]];
            for (limb, root) in [(leg, 0), (arm, 2)] {
                for (k, [x, y, z]) in limb.into_iter().enumerate() {
                    let above = if k == 0 { root } else { joints.len() - 1 };
                    joints.push((Some(above), [side * x, y, z]));
                }
            }
            assert_eq!(joints.len(), first + 8);
        }
        (
            joints.iter().map(|(_, p)| Vec3::from(*p)).collect(),
            joints.iter().map(|(parent, _)| *parent).collect(),
        )
    }

    #[test]
    fn humanoid_is_found_without_names() {
        let (origins, parents) = figure();
        let map = BoneMap::find_by_shape(&origins, &parents);
        let wanted = [
            (Hips, 0),
            (Spine, 1),
            (Chest, 2),
            (Neck, 3),
            (Head, 4),
            (LeftUpperLeg, 5),
            (LeftLowerLeg, 6),
            (LeftFoot, 7),
            (LeftToes, 8),
            (LeftShoulder, 9),
            (LeftUpperArm, 10),
            (LeftLowerArm, 11),
            (LeftHand, 12),
            (RightUpperLeg, 13),
            (RightToes, 16),
            (RightShoulder, 17),
            (RightHand, 20),
        ];
        for (bone, index) in wanted {
            assert_eq!(map.get(bone), Some(index), "{}", bone.name());
        }
    }

    #[test]
    fn rig_without_a_human_shape_gives_an_empty_map() {
        let chain: Vec<Vec3> = (0..6).map(|i| Vec3::x() * f64::from(i)).collect();
        let parents: Vec<Option<usize>> = (0..6usize).map(|i| i.checked_sub(1)).collect();
        assert_eq!(BoneMap::find_by_shape(&chain, &parents).iter().count(), 0);
        assert_eq!(BoneMap::find_by_shape(&[], &[]).iter().count(), 0);
    }
}
