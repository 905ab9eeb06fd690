//! Whether a character is shaped like a human, so that captured motions of people fit it.

use crate::{CharacterBinding, motion};
use sinew_control::{BoneMap, HumanBone};
use sinew_skeleton::Skeleton;

/// What a body needs for a motion of a person.
const NEEDED: [HumanBone; 6] = [
    HumanBone::Hips,
    HumanBone::Head,
    HumanBone::LeftUpperArm,
    HumanBone::RightUpperArm,
    HumanBone::LeftUpperLeg,
    HumanBone::RightUpperLeg,
];

impl CharacterBinding {
    /// Which of its bones are which of a human figure: by the file's own map, by names, or by shape.
    pub fn human_bones(&self) -> BoneMap {
        let Ok(skeleton) = Skeleton::build(&self.bones.desc.with_plain_masses()) else {
            return BoneMap::default();
        };
        let found =
            motion::human_bones(&self.rigged, &self.bones, &skeleton, (&self.placement.rotation, &[]));
        found.unwrap_or_default()
    }

    /// Whether hips, head, arms and legs are found among its bones, by the file's own map, by names, or by shape.
    pub fn is_humanoid(&self) -> bool {
        let map = self.human_bones();
        NEEDED.iter().all(|bone| map.get(*bone).is_some())
    }
}
