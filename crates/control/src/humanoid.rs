//! Mapping of a rig's bones to the standard humanoid skeleton (VRM) by bone name.

use crate::bone_name::{BoneName, Side};
use sinew_skeleton::Skeleton;
use std::collections::BTreeMap;

/// A bone of the VRM humanoid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum HumanBone {
    Hips,
    Spine,
    Chest,
    UpperChest,
    Neck,
    Head,
    LeftShoulder,
    LeftUpperArm,
    LeftLowerArm,
    LeftHand,
    LeftUpperLeg,
    LeftLowerLeg,
    LeftFoot,
    LeftToes,
    RightShoulder,
    RightUpperArm,
    RightLowerArm,
    RightHand,
    RightUpperLeg,
    RightLowerLeg,
    RightFoot,
    RightToes,
}

use HumanBone::*;

const TRUNK: [HumanBone; 6] = [Hips, Spine, Chest, UpperChest, Neck, Head];

/// The names of the trunk's bones, from hips to head, by naming convention. A name may be the spine in one and the chest in
/// another, so the convention that matches the most names decides.
const TRUNK_NAMES: [[&[&str]; 6]; 8] = [
    // Mixamo
    [&["hips"], &["spine"], &["spine1"], &["spine2"], &["neck"], &["head"]],
    // Unreal
    [&["pelvis"], &["spine01"], &["spine02"], &["spine03"], &["neck01"], &["head"]],
    // Carnegie Mellon
    [&["hips"], &["lowerback", "spine"], &["spine1"], &[], &["neck", "neck1"], &["head"]],
    // Rigify
    [&["spine"], &["spine001"], &["spine002"], &["spine003"], &["spine004", "spine005"], &["spine006"]],
    // Character Creator; its neck is the only twist bone that counts as a bone
    [&["hip", "pelvis"], &["waist"], &["spine01"], &["spine02"], &["necktwist01"], &["head"]],
    // Daz
    [
        &["hip", "pelvis"],
        &["abdomenlower"],
        &["abdomenupper", "chestlower"],
        &["chestupper"],
        &["necklower"],
        &["head"],
    ],
    // VRM and VRoid
    [&["hips"], &["spine"], &["chest"], &["upperchest"], &["neck"], &["head"]],
    // Biped
    [&["pelvis"], &["spine1"], &["spine2"], &[], &["neck"], &["head"]],
];

/// The names of the limbs' bones, from the trunk outwards; these mean the same in all conventions.
const ARM_NAMES: [&[&str]; 4] = [
    &["shoulder", "clavicle", "collar"],
    &["upperarm", "arm", "shldrbend", "shldr", "uparm"],
    &["forearm", "lowerarm", "forearmbend", "lowarm"],
    &["hand", "wrist"],
];
const LEG_NAMES: [&[&str]; 4] = [
    &["upleg", "upperleg", "thigh", "thighbend"],
    &["leg", "lowerleg", "calf", "shin"],
    &["foot", "ankle"],
    &["toebase", "toes", "toe", "toe0", "ball"],
];

impl HumanBone {
    /// All bones, in the order of the enum.
    pub const ALL: [HumanBone; 22] = [
        Hips,
        Spine,
        Chest,
        UpperChest,
        Neck,
        Head,
        LeftShoulder,
        LeftUpperArm,
        LeftLowerArm,
        LeftHand,
        LeftUpperLeg,
        LeftLowerLeg,
        LeftFoot,
        LeftToes,
        RightShoulder,
        RightUpperArm,
        RightLowerArm,
        RightHand,
        RightUpperLeg,
        RightLowerLeg,
        RightFoot,
        RightToes,
    ];

    /// Its name in VRM files.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 22] = [
            "hips",
            "spine",
            "chest",
            "upperChest",
            "neck",
            "head",
            "leftShoulder",
            "leftUpperArm",
            "leftLowerArm",
            "leftHand",
            "leftUpperLeg",
            "leftLowerLeg",
            "leftFoot",
            "leftToes",
            "rightShoulder",
            "rightUpperArm",
            "rightLowerArm",
            "rightHand",
            "rightUpperLeg",
            "rightLowerLeg",
            "rightFoot",
            "rightToes",
        ];
        NAMES[self as usize]
    }

    /// The bone with a VRM name.
    pub fn of_name(name: &str) -> Option<HumanBone> {
        HumanBone::ALL.into_iter().find(|bone| bone.name() == name)
    }
}

/// The map from humanoid bones to the bones of a rig. Entries found by name can be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoneMap {
    bones: BTreeMap<HumanBone, usize>,
}

impl BoneMap {
    /// The rig's bone, by index.
    pub fn get(&self, bone: HumanBone) -> Option<usize> {
        self.bones.get(&bone).copied()
    }

    /// Sets or removes the rig's bone.
    pub fn set(&mut self, bone: HumanBone, index: Option<usize>) {
        match index {
            Some(index) => self.bones.insert(bone, index),
            None => self.bones.remove(&bone),
        };
    }

    /// All mapped bones, in the order of [`HumanBone`].
    pub fn iter(&self) -> impl Iterator<Item = (HumanBone, usize)> {
        self.bones.iter().map(|(bone, index)| (*bone, *index))
    }

    /// Finds the bones of a skeleton by their names.
    pub fn find_in(skeleton: &Skeleton) -> BoneMap {
        let names: Vec<&str> = skeleton.bones().iter().map(|bone| bone.name.as_str()).collect();
        let parents: Vec<_> = skeleton.bones().iter().map(|bone| bone.parent.map(|id| id.index())).collect();
        BoneMap::find(&names, &parents)
    }

    /// Finds the bones of a rig by name. A prefix common to all bones is ignored; sides are `left` and `right` or a separate `l`
    /// and `r`; of several matches the shortest name wins. The hierarchy must be that of a body: limb bones in order, all below
    /// the hips. Twist bones are never limbs. Bones without a parent in `parents` are roots.
    pub fn find(names: &[&str], parents: &[Option<usize>]) -> BoneMap {
        let rig = Rig { names: BoneName::of_all(names), parents };
        let mut map = BoneMap::default();
        rig.find_trunk(&mut map);
        let hips = map.get(Hips);
        for (side, first_arm, first_leg) in
            [(Side::Left, LeftShoulder, LeftUpperLeg), (Side::Right, RightShoulder, RightUpperLeg)]
        {
            rig.find_limb(side, (first_arm, &ARM_NAMES), hips, &mut map);
            rig.find_limb(side, (first_leg, &LEG_NAMES), hips, &mut map);
        }
        map
    }
}

struct Rig<'a> {
    names: Vec<BoneName>,
    parents: &'a [Option<usize>],
}

impl Rig<'_> {
    /// The bone that matches the first possible of these names, the shortest name first, below a bone if one is given.
    fn find(&self, side: Option<Side>, keys: &[&str], above: Option<usize>) -> Option<usize> {
        let fits = |i: &usize| above.is_none_or(|above| self.hangs_from(*i, above));
        let of_key = |key: &&str| {
            let own =
                (0..self.names.len()).filter(|&i| self.names[i].side == side && self.names[i].key == *key);
            own.filter(fits).min_by_key(|&i| (self.names[i].length, i))
        };
        keys.iter().find_map(of_key)
    }

    fn hangs_from(&self, bone: usize, above: usize) -> bool {
        let mut next = self.parents.get(bone).copied().flatten();
        // bounds the walk if the parents form a cycle
        for _ in 0..self.names.len() {
            match next {
                Some(bone) if bone == above => return true,
                Some(bone) => next = self.parents.get(bone).copied().flatten(),
                None => return false,
            }
        }
        false
    }

    fn find_trunk(&self, map: &mut BoneMap) {
        let knows = |key: &&str| self.find(None, &[*key], None).is_some();
        let score = |names: &[&[&str]; 6]| {
            let known: usize = names.iter().map(|keys| keys.iter().filter(|key| knows(key)).count()).sum();
            if names[0].iter().any(knows) { known } else { 0 }
        };
        let mut best = (0, &TRUNK_NAMES[0]);
        for names in &TRUNK_NAMES {
            let known = score(names);
            if known > best.0 {
                best = (known, names);
            }
        }
        let mut above = None;
        for (bone, keys) in TRUNK.into_iter().zip(best.1) {
            if let Some(index) = self.find(None, keys, above) {
                map.set(bone, Some(index));
                above = Some(index);
            }
        }
    }

    fn find_limb(
        &self,
        side: Side,
        (first, names): (HumanBone, &[&[&str]; 4]),
        hips: Option<usize>,
        map: &mut BoneMap,
    ) {
        let mut above = hips;
        for (place, keys) in names.iter().enumerate() {
            if let Some(index) = self.find(Some(side), keys, above) {
                map.set(HumanBone::ALL[first as usize + place], Some(index));
                above = Some(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names from hips to head, then from shoulder to hand and from thigh to toes on the left.
    type Convention = (&'static str, [&'static str; 6], [&'static str; 8]);

    const TABLE: [Convention; 9] = [
        (
            "Mixamo",
            [
                "mixamorig:Hips",
                "mixamorig:Spine",
                "mixamorig:Spine1",
                "mixamorig:Spine2",
                "mixamorig:Neck",
                "mixamorig:Head",
            ],
            [
                "mixamorig:LeftShoulder",
                "mixamorig:LeftArm",
                "mixamorig:LeftForeArm",
                "mixamorig:LeftHand",
                "mixamorig:LeftUpLeg",
                "mixamorig:LeftLeg",
                "mixamorig:LeftFoot",
                "mixamorig:LeftToeBase",
            ],
        ),
        (
            "Mixamo without prefix",
            ["Hips", "Spine", "Spine1", "Spine2", "Neck", "Head"],
            [
                "LeftShoulder",
                "LeftArm",
                "LeftForeArm",
                "LeftHand",
                "LeftUpLeg",
                "LeftLeg",
                "LeftFoot",
                "LeftToeBase",
            ],
        ),
        (
            "Unreal",
            ["pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head"],
            ["clavicle_l", "upperarm_l", "lowerarm_l", "hand_l", "thigh_l", "calf_l", "foot_l", "ball_l"],
        ),
        (
            "CMU",
            ["Hips", "LowerBack", "Spine1", "", "Neck", "Head"],
            [
                "LeftShoulder",
                "LeftArm",
                "LeftForeArm",
                "LeftHand",
                "LeftUpLeg",
                "LeftLeg",
                "LeftFoot",
                "LeftToeBase",
            ],
        ),
        (
            "Rigify",
            [
                "DEF-spine",
                "DEF-spine.001",
                "DEF-spine.002",
                "DEF-spine.003",
                "DEF-spine.004",
                "DEF-spine.006",
            ],
            [
                "DEF-shoulder.L",
                "DEF-upper_arm.L",
                "DEF-forearm.L",
                "DEF-hand.L",
                "DEF-thigh.L",
                "DEF-shin.L",
                "DEF-foot.L",
                "DEF-toe.L",
            ],
        ),
        (
            "Character Creator",
            [
                "CC_Base_Hip",
                "CC_Base_Waist",
                "CC_Base_Spine01",
                "CC_Base_Spine02",
                "CC_Base_NeckTwist01",
                "CC_Base_Head",
            ],
            [
                "CC_Base_L_Clavicle",
                "CC_Base_L_Upperarm",
                "CC_Base_L_Forearm",
                "CC_Base_L_Hand",
                "CC_Base_L_Thigh",
                "CC_Base_L_Calf",
                "CC_Base_L_Foot",
                "CC_Base_L_ToeBase",
            ],
        ),
        (
            "Daz",
            ["hip", "abdomenLower", "abdomenUpper", "chestUpper", "neckLower", "head"],
            ["lCollar", "lShldrBend", "lForearmBend", "lHand", "lThighBend", "lShin", "lFoot", "lToe"],
        ),
        (
            "VRoid",
            [
                "J_Bip_C_Hips",
                "J_Bip_C_Spine",
                "J_Bip_C_Chest",
                "J_Bip_C_UpperChest",
                "J_Bip_C_Neck",
                "J_Bip_C_Head",
            ],
            [
                "J_Bip_L_Shoulder",
                "J_Bip_L_UpperArm",
                "J_Bip_L_LowerArm",
                "J_Bip_L_Hand",
                "J_Bip_L_UpperLeg",
                "J_Bip_L_LowerLeg",
                "J_Bip_L_Foot",
                "J_Bip_L_ToeBase",
            ],
        ),
        (
            "Biped",
            ["Bip001 Pelvis", "Bip001 Spine1", "Bip001 Spine2", "", "Bip001 Neck", "Bip001 Head"],
            [
                "Bip001 L Clavicle",
                "Bip001 L UpperArm",
                "Bip001 L Forearm",
                "Bip001 L Hand",
                "Bip001 L Thigh",
                "Bip001 L Calf",
                "Bip001 L Foot",
                "Bip001 L Toe0",
            ],
        ),
    ];

    /// Other bones of such rigs, each with its parent's name.
    fn extras(convention: &str) -> &'static [(&'static str, &'static str)] {
        match convention {
            "Mixamo" => &[
                ("mixamorig:LeftHandIndex1", "mixamorig:LeftHand"),
                ("mixamorig:HeadTop_End", "mixamorig:Head"),
            ],
            "Unreal" => &[
                ("upperarm_twist_01_l", "upperarm_l"),
                ("thigh_twist_01_l", "thigh_l"),
                ("index_01_l", "hand_l"),
            ],
            "CMU" => {
                &[("LHipJoint", "Hips"), ("Spine", "LowerBack"), ("Neck1", "Neck"), ("LThumb", "LeftHand")]
            }
            "Rigify" => &[
                ("DEF-upper_arm.L.001", "DEF-upper_arm.L"),
                ("DEF-spine.005", "DEF-spine.004"),
                ("DEF-thigh.L.001", "DEF-thigh.L"),
            ],
            "Character Creator" => &[
                ("CC_Base_Pelvis", "CC_Base_Hip"),
                ("CC_Base_L_UpperarmTwist01", "CC_Base_L_Upperarm"),
                ("CC_Base_L_ToeBaseShareBone", "CC_Base_L_ToeBase"),
            ],
            "Daz" => &[
                ("pelvis", "hip"),
                ("chestLower", "abdomenUpper"),
                ("lShldrTwist", "lShldrBend"),
                ("lForearmTwist", "lForearmBend"),
            ],
            "VRoid" => &[("J_Sec_Hair1_01", "J_Bip_C_Head")],
            "Biped" => &[("Bip001 Spine", "Bip001 Pelvis"), ("Bip001 L Finger0", "Bip001 L Hand")],
            _ => &[],
        }
    }

    fn to_right(name: &str) -> String {
        let name =
            name.replace("Left", "Right").replace("_L_", "_R_").replace("_l", "_r").replace(" L ", " R ");
        let name = name.strip_suffix(".L").map_or(name.clone(), |stem| format!("{stem}.R"));
        match name.strip_prefix('l') {
            Some(rest) if rest.starts_with(char::is_uppercase) => format!("r{rest}"),
            _ => name,
        }
    }

    #[test]
    fn bones_of_every_naming_convention_are_found() {
        for (convention, trunk, left) in TABLE {
            // the trunk and both sides, with the bones they should map to
            let mut names: Vec<String> = vec!["root".into()];
            let mut parents: Vec<Option<usize>> = vec![None];
            let mut expected = BTreeMap::new();
            let mut add = |name: &str, parent: usize| {
                names.push(name.to_string());
                parents.push(Some(parent));
                names.len() - 1
            };
            let (mut last, mut hips) = (0, 0);
            for (bone, name) in TRUNK.into_iter().zip(trunk).filter(|(_, name)| !name.is_empty()) {
                last = add(name, last);
                hips = if bone == Hips { last } else { hips };
                expected.insert(bone, last);
            }
            for (side, first) in [("left", LeftShoulder), ("right", RightShoulder)] {
                for (place, name) in left.iter().enumerate() {
                    let name = if side == "left" { name.to_string() } else { to_right(name) };
                    last = add(&name, if place % 4 == 0 { hips } else { last });
                    expected.insert(HumanBone::ALL[first as usize + place], last);
                }
            }

            // bones that must not be taken for one of those
            for (name, parent) in extras(convention) {
                let parent = names.iter().position(|name| name == parent).unwrap();
                names.push(name.to_string());
                parents.push(Some(parent));
            }
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let map = BoneMap::find(&names, &parents);
            for bone in HumanBone::ALL {
                let name = |index: Option<usize>| index.map(|i| names[i]);
                assert_eq!(
                    name(map.get(bone)),
                    name(expected.get(&bone).copied()),
                    "{convention}: {}",
                    bone.name()
                );
            }
        }
    }

    #[test]
    fn limb_with_bones_out_of_order_is_rejected() {
        let names = ["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot"];
        let map = BoneMap::find(&names, &[None, Some(0), Some(0), Some(2)]);
        assert_eq!((map.get(LeftUpperLeg), map.get(LeftLowerLeg)), (Some(1), None));
        // a cycle of parents terminates
        BoneMap::find(&names, &[Some(3), Some(0), Some(1), Some(2)]);
        BoneMap::find(&names, &[]);
        assert_eq!(BoneMap::find(&[], &[]), BoneMap::default());
    }

    #[test]
    fn entries_of_a_map_can_be_changed() {
        let mut map = BoneMap::find(&["Hips"], &[None]);
        map.set(Head, Some(7));
        map.set(Hips, None);
        assert_eq!(map.iter().collect::<Vec<_>>(), [(Head, 7)]);
        assert!(HumanBone::ALL.iter().all(|bone| HumanBone::of_name(bone.name()) == Some(*bone)));
    }
}
