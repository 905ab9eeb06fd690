//! What a character does: one of its own animations, and which of its bones are which of a human figure.

use crate::bones::Bones;
use crate::names::find_bone;
use crate::{CharacterError, FaultyPart, RiggedCharacter};
use sinew_control::{BoneMap, Extrapolation, HumanBone, Interpolation, MotionError, SkeletonMotion};
use sinew_math::spatial::Frame;
use sinew_math::{Rotation, Vec3};
use sinew_skeleton::{BoneId, JointKind, Kinematics, Parent, Skeleton, SkeletonState};

/// Animations are sampled this often (Hz).
const RATE: f64 = 60.0;
/// A joint that shifts by more than this fraction of the character's size against its parent becomes free.
const SHIFTS: f64 = 1e-3;
/// A motion whose first and last pose differ by less than this (m per m of size, half rad) is a cycle.
const CYCLE: f64 = 0.05;

/// The largest number of bone poses that an animation may have: hours of any character.
const MAX_POSES: f64 = 2e7;

/// What names must tell of a figure, else its shape is looked at.
const LIMBS: [HumanBone; 4] =
    [HumanBone::LeftUpperLeg, HumanBone::RightUpperLeg, HumanBone::LeftUpperArm, HumanBone::RightUpperArm];
/// What has little flesh.
const ENDS: [HumanBone; 5] =
    [HumanBone::Head, HumanBone::LeftHand, HumanBone::RightHand, HumanBone::LeftFoot, HumanBone::RightFoot];

/// Rejects an animation that is too long for memory.
pub(crate) fn check_length(
    rigged: &RiggedCharacter,
    bones: &Bones,
    animation: usize,
) -> Result<(), CharacterError> {
    let seconds = rigged.animations[animation].duration;
    if seconds * RATE * bones.node.len() as f64 <= MAX_POSES {
        return Ok(());
    }
    let message = format!(
        "its animation lasts {seconds:.3e} s, too long for {} bones: look for a stray key at its end",
        bones.node.len()
    );
    Err(CharacterError::of(FaultyPart::Animation, message))
}

/// Makes free joints of those that an animation shifts against their parents, which ball joints cannot follow.
pub(crate) fn free_shifting_joints(rigged: &RiggedCharacter, bones: &mut Bones, animation: usize, size: f64) {
    let duration = rigged.animations[animation].duration;
    let frames = (duration * RATE).ceil() as usize;
    for frame in 0..=frames {
        let Some(pose) = rigged.pose_at(animation, (frame as f64 / RATE).min(duration)) else { return };
        let poses = bones.poses(&pose.world_from_node);
        for i in 0..bones.desc.bones.len() {
            let bone = &mut bones.desc.bones[i];
            if let Parent::Index(parent) = bone.parent {
                let now = (poses[parent].inverse() * poses[i]).translation.vector;
                if (now - bone.parent_from_joint.translation.vector).norm() > SHIFTS * size {
                    bone.joint.kind = JointKind::Free;
                }
            }
        }
    }
}

/// An animation as a motion of the bones.
pub(crate) fn of_animation(
    rigged: &RiggedCharacter,
    bones: &Bones,
    skeleton: &Skeleton,
    animation: usize,
) -> Result<SkeletonMotion, MotionError> {
    let duration = rigged.animations[animation].duration;
    let frames = if duration > 0.0 { ((duration * RATE).round() as usize).max(1) } else { 0 };
    let step = if frames > 0 { duration / frames as f64 } else { 0.0 };
    let mut poses = Vec::with_capacity(frames + 1);
    for frame in 0..=frames {
        let pose = rigged.pose_at(animation, step * frame as f64).unwrap_or_else(|| rigged.rest_pose());
        let of_desc = bones.poses(&pose.world_from_node);
        let place = |i: usize| skeleton.desc_of_bone(BoneId(i as u32));
        poses.push((0..of_desc.len()).map(|i| of_desc[place(i)]).collect());
    }
    let motion =
        SkeletonMotion::from_bone_poses(skeleton, if step > 0.0 { step } else { 1.0 / RATE }, &poses)?;
    let beyond = if is_cycle(skeleton, &motion) { Extrapolation::Loop } else { Extrapolation::Hold };
    Ok(motion.with(Interpolation::KochanekBartels, beyond))
}

/// Whether a motion ends in the pose it began with.
fn is_cycle(skeleton: &Skeleton, motion: &SkeletonMotion) -> bool {
    let last = motion.frame_count() - 1;
    let mut ends = [SkeletonState::at_rest(skeleton), SkeletonState::at_rest(skeleton)];
    ends[0].q.copy_from_slice(motion.frame(0));
    ends[1].q.copy_from_slice(motion.frame(last));
    let [first, last_pose] = ends.each_ref().map(|state| {
        let mut kinematics = Kinematics::default();
        kinematics.update(skeleton, state);
        kinematics
    });
    let points = first.world_frames().iter().zip(last_pose.world_frames());
    let extent = first.world_frames().iter().map(|f| (f.origin - first.world_frames()[0].origin).norm());
    let size = extent.fold(0.0, f64::max);
    let near = |a: &Frame, b: &Frame| {
        let turned = sinew_math::so3::log(&(a.quaternion().inverse() * b.quaternion())).norm();
        (a.origin - b.origin).norm() <= CYCLE * size && turned <= 2.0 * CYCLE
    };
    last > 1 && points.into_iter().all(|(a, b)| near(a, b))
}

/// Which bones are which of a human figure: as options say, by the file's own map, by names, or by the shape of the skeleton, which stands upright in the world of its file.
pub(crate) fn human_bones(
    rigged: &RiggedCharacter,
    bones: &Bones,
    skeleton: &Skeleton,
    (world_from_file, said): (&Rotation, &[(HumanBone, String)]),
) -> Result<BoneMap, CharacterError> {
    let mut map = guessed_bones(rigged, bones, (skeleton, world_from_file));
    for (human, name) in said {
        let faulty = |message| CharacterError::of(FaultyPart::Joint(name.clone()), message);
        let bone = find_bone(skeleton, name).map_err(faulty)?;
        map.set(*human, Some(bone.index()));
    }
    Ok(map)
}

fn guessed_bones(
    rigged: &RiggedCharacter,
    bones: &Bones,
    (skeleton, world_from_file): (&Skeleton, &Rotation),
) -> BoneMap {
    let mut map = BoneMap::find_in(skeleton);
    if let Some(own) = &rigged.human_bones {
        for (name, node) in &own.nodes {
            let bone = bones.of_node.get(*node).copied().flatten();
            let index = bone.and_then(|bone| skeleton.bone_of_desc(bone as usize)).map(|id| id.index());
            if let (Some(human), Some(index)) = (HumanBone::of_name(name), index) {
                map.set(human, Some(index));
            }
        }
    }
    or_by_shape(map, skeleton, world_from_file)
}

/// Which bones of a skeleton are which of a human figure: by names, or by its shape, given the rotation of the world in which it stands upright and faces +z.
pub(crate) fn find_human_bones(skeleton: &Skeleton, world_from_file: &Rotation) -> BoneMap {
    or_by_shape(BoneMap::find_in(skeleton), skeleton, world_from_file)
}

/// The map itself if it has arms and legs, else what the shape of the skeleton tells, if that is more. Skull, hands and feet that the map does not have are those of the shape, so that they are as
/// firm whatever bones are called.
fn or_by_shape(mut map: BoneMap, skeleton: &Skeleton, world_from_file: &Rotation) -> BoneMap {
    // what the shape tells
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
    let file_from_world = world_from_file.inverse();
    let origins: Vec<Vec3> =
        kinematics.world_frames().iter().map(|frame| file_from_world * frame.origin).collect();
    let parents: Vec<Option<usize>> =
        skeleton.bones().iter().map(|bone| bone.parent.map(BoneId::index)).collect();
    let by_shape = BoneMap::find_by_shape(&origins, &parents);

    // what is missing
    let has_all = |map: &BoneMap, bones: &[HumanBone]| bones.iter().all(|bone| map.get(*bone).is_some());
    if !has_all(&map, &LIMBS) && by_shape.iter().count() > map.iter().count() {
        return by_shape;
    }
    for end in ENDS.into_iter().filter(|end| by_shape.get(*end).is_some()) {
        if map.get(end).is_none() {
            map.set(end, by_shape.get(end));
        }
    }
    map
}
