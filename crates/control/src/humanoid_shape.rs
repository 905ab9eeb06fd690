//! Mapping of a rig's bones to the standard humanoid skeleton by rest pose, for rigs without usable names.
//!
//! A character that stands upright and faces +z has its feet lowest, its hands farthest to the sides and its head highest. The lowest
//! common ancestor of the feet is the hips, that of the hands is the chest; the bones between are limbs and spine in order.

use crate::{BoneMap, HumanBone};
use HumanBone::*;
use sinew_math::Vec3;

/// Hips are at least this fraction of the way from the feet to the top: a person's are at half.
const MIN_HIP_HEIGHT: f64 = 0.2;
/// The joints of a person who lies are within this fraction of their length from back to front; animals are taller.
const FLAT: f64 = 0.3;

impl BoneMap {
    /// Finds the bones of a rig from the rest positions of its joints (m, y up, the character's left along +x). A rig that lies on its back, as files with z up do that were not turned,
    /// is found too. The map is empty if the rig does not look like a human body; where feet hang from a root on the ground, it has no legs.
    pub fn find_by_shape(origins: &[Vec3], parents: &[Option<usize>]) -> BoneMap {
        let standing = Tree { origins, parents }.find_body();
        if standing.iter().count() > 0 || !lies(origins) {
            return standing;
        }
        let raised: Vec<Vec3> = origins.iter().map(|p| Vec3::new(p.x, p.z, -p.y)).collect();
        Tree { origins: &raised, parents }.find_body()
    }
}

/// Whether joints are spread over the ground, as those of a person who lies and not as those of an animal that stands.
fn lies(origins: &[Vec3]) -> bool {
    let ends = |axis: usize| {
        let along = origins.iter().map(|origin| origin[axis]);
        along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let [height, length] = [ends(1), ends(2)].map(|(low, high)| high - low);
    height < FLAT * length
}

struct Tree<'a> {
    origins: &'a [Vec3],
    parents: &'a [Option<usize>],
}

impl Tree<'_> {
    /// The bones of a figure that stands upright; none if there is no such figure.
    fn find_body(&self) -> BoneMap {
        // feet, and what they hang from
        let mut map = BoneMap::default();
        let leaves = self.leaves();
        let Some(feet) = self.pair(&leaves, |p| -p.y) else { return map };
        let Some(above_feet) = self.common_ancestor(feet[0], feet[1]) else { return map };
        let lowest = self.origins[feet[0]].y.max(self.origins[feet[1]].y);
        let highest = self.origins.iter().map(|origin| origin.y).fold(f64::NEG_INFINITY, f64::max);
        let min_hips = lowest + MIN_HIP_HEIGHT * (highest - lowest);

        // a root on the ground that feet hang from is no pelvis: that is what the other legs' bones hang from
        let is_loose = self.origins[above_feet].y < min_hips;
        let loose_feet = feet.map(|foot| self.path(above_feet, foot)[0]);
        let is_trunk =
            |leaf: &usize| !is_loose || self.ancestors(*leaf).iter().all(|bone| !loose_feet.contains(bone));
        let leaves: Vec<usize> = leaves.into_iter().filter(is_trunk).collect();
        let hips = if is_loose {
            let legs = self.pair(&leaves, |p| -p.y);
            legs.and_then(|[left, right]| self.common_ancestor(left, right))
        } else {
            Some(above_feet)
        };
        let Some(hips) = hips.filter(|hips| self.origins[*hips].y >= min_hips) else { return map };

        // hands and chest: hands are a quarter of the leg length above the feet at least, even when the arms hang down
        let (middle, height) = (self.origins[hips].x, self.origins[hips].y);
        let high: Vec<usize> = leaves
            .iter()
            .copied()
            .filter(|&leaf| self.origins[leaf].y > lowest + 0.25 * (height - lowest))
            .collect();
        let Some(hands) = self.pair(&high, |p| (p.x - middle).abs()) else { return map };
        let Some(chest) = self.common_ancestor(hands[0], hands[1]) else { return map };

        // a trunk that goes up: that of an animal on four legs does not, nor does that of a figure that lies
        let top = high.iter().copied().max_by(|&a, &b| self.origins[a].y.total_cmp(&self.origins[b].y));
        let neck = top.map(|top| self.path(chest, top)).unwrap_or_default();
        let trunk = top.map_or(Vec3::zeros(), |top| self.origins[top] - self.origins[hips]);
        if trunk.y <= trunk.x.hypot(trunk.z) {
            return map;
        }

        // names from the trunk outwards
        if is_loose {
            map.set(LeftFoot, Some(loose_feet[0]));
            map.set(RightFoot, Some(loose_feet[1]));
        } else {
            map.set(Hips, Some(hips));
            self.name_legs(hips, feet, &mut map);
        }
        self.name_arms(chest, hands, &mut map);
        let spine = self.path(hips, chest);
        [Spine, Chest, UpperChest]
            .into_iter()
            .zip(&spine)
            .for_each(|(name, bone)| map.set(name, Some(*bone)));
        if let [first, .., last] = neck[..] {
            map.set(Neck, Some(first));
            map.set(Head, Some(last));
        }
        map
    }

    /// The bones of the legs, counted from their ends.
    fn name_legs(&self, hips: usize, feet: [usize; 2], map: &mut BoneMap) {
        let names = [
            [LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToes],
            [RightUpperLeg, RightLowerLeg, RightFoot, RightToes],
        ];
        for (foot, names) in feet.into_iter().zip(names) {
            let path = self.path(hips, foot);
            let from = path.len().saturating_sub(4);
            names.into_iter().zip(&path[from..]).for_each(|(name, bone)| map.set(name, Some(*bone)));
        }
    }

    /// The bones of the arms, from the chest.
    fn name_arms(&self, chest: usize, hands: [usize; 2], map: &mut BoneMap) {
        let names = [
            [LeftShoulder, LeftUpperArm, LeftLowerArm, LeftHand],
            [RightShoulder, RightUpperArm, RightLowerArm, RightHand],
        ];
        for (hand, names) in hands.into_iter().zip(names) {
            let path = self.path(chest, hand);
            let skip = usize::from(path.len() < 4);
            names.into_iter().skip(skip).zip(&path).for_each(|(name, bone)| map.set(name, Some(*bone)));
        }
    }

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
    fn a_figure_that_lies_is_the_same_figure() {
        let (origins, parents) = figure();
        let lying: Vec<Vec3> = origins.iter().map(|p| Vec3::new(p.x, -p.z, p.y)).collect();
        assert_eq!(BoneMap::find_by_shape(&lying, &parents), BoneMap::find_by_shape(&origins, &parents));
    }

    /// Feet on the ground that hang from a root there, beside a trunk whose legs end in their lower bones.
    #[test]
    fn feet_that_hang_from_a_root_on_the_ground_are_ends_and_no_legs() {
        let (mut origins, mut parents) = figure();
        let root = origins.len();
        origins.push(Vec3::zeros());
        parents.push(None);
        parents[0] = Some(root);
        for foot in [7, 15] {
            parents[foot] = Some(root);
        }
        let map = BoneMap::find_by_shape(&origins, &parents);
        for (bone, index) in [(LeftFoot, 7), (RightFoot, 15), (Head, 4), (LeftHand, 12), (RightHand, 20)] {
            assert_eq!(map.get(bone), Some(index), "{}", bone.name());
        }
        assert_eq!((map.get(Hips), map.get(LeftUpperLeg)), (None, None));
    }

    /// A trunk along z, a head before it, and four legs.
    #[test]
    fn an_animal_on_four_legs_is_no_figure() {
        let mut origins = vec![Vec3::new(0.0, 1.0, -0.7), Vec3::new(0.0, 1.0, 0.7), Vec3::new(0.0, 1.3, 1.2)];
        let mut parents = vec![None, Some(0), Some(1)];
        for (x, z, above) in [(0.2, -0.7, 0), (-0.2, -0.7, 0), (0.2, 0.7, 1), (-0.2, 0.7, 1)] {
            for (k, y) in [0.9, 0.5, 0.05].into_iter().enumerate() {
                parents.push(Some(if k == 0 { above } else { origins.len() - 1 }));
                origins.push(Vec3::new(x, y, z));
            }
        }
        assert_eq!(BoneMap::find_by_shape(&origins, &parents).iter().count(), 0);
    }

    #[test]
    fn rig_without_a_human_shape_gives_an_empty_map() {
        let chain: Vec<Vec3> = (0..6).map(|i| Vec3::x() * f64::from(i)).collect();
        let parents: Vec<Option<usize>> = (0..6usize).map(|i| i.checked_sub(1)).collect();
        assert_eq!(BoneMap::find_by_shape(&chain, &parents).iter().count(), 0);
        assert_eq!(BoneMap::find_by_shape(&[], &[]).iter().count(), 0);
    }
}
