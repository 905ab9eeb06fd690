//! What a character does: an animation of its file, or a motion from elsewhere.

use super::bones::Bones;
use crate::bare_motion::first_frame;
use crate::bvh::{BvhBody, BvhOptions, CMU_METRES, read_bvh};
use crate::scene_file::{DEFAULT_SMOOTHING, find_bone};
use sinew_character::RiggedCharacter;
use sinew_control::{
    Beyond, BoneMap, Figure, HumanBone, Interpolation, MotionError, Retarget, RetargetOptions, SkeletonMotion,
};
use sinew_files::ReadError;
use sinew_files::read_bytes;
use sinew_math::spatial::Frame;
use sinew_math::{Rotation, Vec3};
use sinew_skeleton::{BoneId, JointKind, Kinematics, Skeleton, SkeletonState};
use std::path::PathBuf;

/// Animations are sampled this often (Hz).
const RATE: f64 = 60.0;
/// A joint that shifts by more than this fraction of the character's size against its parent is free to.
const SHIFTS: f64 = 1e-3;
/// A motion whose first and last pose differ by less than this (m per m of size, half rad) is a cycle.
const CYCLE: f64 = 0.05;
/// A captured motion for a character.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// The file (.bvh).
    pub file: PathBuf,
    /// Metres per unit of it.
    pub metres_per_unit: f64,
    /// What it keeps (Hz); 0 for all.
    pub smoothing: f64,
    /// The first frame that is played; without a word about it a pose for calibration is left out.
    pub first: Option<usize>,
    /// The last frame that is played.
    pub last: Option<usize>,
    /// Whether it starts again after the last frame.
    pub is_cycle: bool,
}

impl Capture {
    /// All of a file, as it is usually captured.
    pub fn of(file: impl Into<PathBuf>) -> Capture {
        Capture {
            file: file.into(),
            metres_per_unit: CMU_METRES,
            smoothing: DEFAULT_SMOOTHING,
            first: None,
            last: None,
            is_cycle: false,
        }
    }
}

/// The most bone poses an animation may amount to: hours of any character.
const MAX_POSES: f64 = 2e7;

/// Refuses an animation that no machine could hold.
pub(super) fn check_length(file: &RiggedCharacter, bones: &Bones, animation: usize) -> Result<(), ReadError> {
    let seconds = file.animations[animation].duration;
    if seconds * RATE * bones.node.len() as f64 <= MAX_POSES {
        return Ok(());
    }
    Err(ReadError::whole(format!(
        "its animation lasts {seconds:.3e} s, too long for {} bones: look for a stray key at its end",
        bones.node.len()
    )))
}

/// Frees the joints that an animation shifts against their parents: balls cannot follow it.
pub(super) fn free_shifting_joints(file: &RiggedCharacter, bones: &mut Bones, animation: usize, size: f64) {
    let duration = file.animations[animation].duration;
    let frames = (duration * RATE).ceil() as usize;
    for frame in 0..=frames {
        let Some(pose) = file.pose_at(animation, (frame as f64 / RATE).min(duration)) else { return };
        let poses = bones.poses(&pose.world_from_node);
        for i in 0..bones.desc.bones.len() {
            let bone = &mut bones.desc.bones[i];
            if let sinew_skeleton::Parent::Index(parent) = bone.parent {
                let now = (poses[parent].inverse() * poses[i]).translation.vector;
                if (now - bone.parent_from_joint.translation.vector).norm() > SHIFTS * size {
                    bone.joint.kind = JointKind::Free;
                }
            }
        }
    }
}

/// An animation of the file as a motion of its bones.
pub(super) fn of_animation(
    file: &RiggedCharacter,
    bones: &Bones,
    skeleton: &Skeleton,
    animation: usize,
) -> Result<SkeletonMotion, MotionError> {
    let duration = file.animations[animation].duration;
    let frames = if duration > 0.0 { ((duration * RATE).round() as usize).max(1) } else { 0 };
    let step = if frames > 0 { duration / frames as f64 } else { 0.0 };
    let mut poses = Vec::with_capacity(frames + 1);
    for frame in 0..=frames {
        let pose = file.pose_at(animation, step * frame as f64).unwrap_or_else(|| file.rest_pose());
        let of_desc = bones.poses(&pose.world_from_node);
        let place = |i: usize| skeleton.desc_of_bone(BoneId(i as u32));
        poses.push((0..of_desc.len()).map(|i| of_desc[place(i)]).collect());
    }
    let motion =
        SkeletonMotion::from_bone_poses(skeleton, if step > 0.0 { step } else { 1.0 / RATE }, &poses)?;
    let beyond = if is_cycle(skeleton, &motion) { Beyond::Loop } else { Beyond::Hold };
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
        let turned = sinew_math::turn::log(&(a.quaternion().inverse() * b.quaternion())).norm();
        (a.origin - b.origin).norm() <= CYCLE * size && turned <= 2.0 * CYCLE
    };
    last > 1 && points.into_iter().all(|(a, b)| near(a, b))
}

/// A captured motion, carried over to the character's bones.
pub(super) fn of_capture(
    capture: &Capture,
    map: &BoneMap,
    skeleton: &Skeleton,
) -> Result<(SkeletonMotion, Vec<String>), ReadError> {
    let path = capture.file.as_path();
    let at = |what: String| ReadError::whole(what).within(path);
    let options = BvhOptions { metres_per_unit: capture.metres_per_unit, ..BvhOptions::default() };
    let read = read_bvh(&read_bytes(path)?, &options).map_err(|error| error.within(path))?;
    let (bvh, mut notes) = (read.value, read.notes);
    let source =
        Skeleton::build(&bvh.to_skeleton(&BvhBody::default())).map_err(|error| at(error.to_string()))?;
    let motion = bvh.to_motion(&source).map_err(|error| at(error.to_string()))?;
    let calibration = first_frame(&bvh);
    if calibration > 0 && capture.first.is_none() {
        notes.push("frame 0 of the motion is a pose for calibration: it begins with frame 1".to_owned());
    }
    let count = motion.frame_count();
    let (first, last) = (capture.first.unwrap_or(calibration), capture.last.unwrap_or(count - 1));
    if first > last || last >= count {
        return Err(at(format!("frames {first} to {last} were asked for, it has 0 to {}", count - 1)));
    }
    let motion = motion.cut(first..last + 1).map_err(|error| at(error.to_string()))?;
    let motion = if capture.smoothing > 0.0 { motion.smoothed(capture.smoothing) } else { motion };
    let beyond = if capture.is_cycle { Beyond::Loop } else { Beyond::Hold };
    let motion = motion.with(Interpolation::BSpline, beyond);

    let source_map = BoneMap::find_in(&source);
    let missing: Vec<&str> =
        [HumanBone::Hips, HumanBone::LeftUpperLeg, HumanBone::RightUpperLeg, HumanBone::Head]
            .into_iter()
            .filter(|bone| map.get(*bone).is_none())
            .map(HumanBone::name)
            .collect();
    if !missing.is_empty() {
        notes.push(format!(
            "no bone of the character was recognised as {}: it keeps still there",
            missing.join(", ")
        ));
    }
    let source_rest = SkeletonState::at_rest(&source);
    let rest = aligned_rest((&source, &source_map), (skeleton, map));
    let from = Figure { skeleton: &source, rest: &source_rest, bones: &source_map };
    let to = Figure { skeleton, rest: &rest, bones: map };
    let retarget =
        Retarget::build(&from, &to, &RetargetOptions::default()).map_err(|error| at(error.to_string()))?;
    let carried = retarget.motion(&source, skeleton, &motion).map_err(|error| at(error.to_string()))?;
    notes.push(format!(
        "the motion is carried over by {} bones and {:.3} times as long a way",
        map.iter().count(),
        retarget.scale()
    ));
    Ok((carried, notes))
}

/// Which bones are which of a human figure: as was said, by the file's own map, by names, or by how the skeleton is built.
pub(super) fn human_bones(
    file: &RiggedCharacter,
    bones: &Bones,
    skeleton: &Skeleton,
    said: &[(HumanBone, String)],
) -> Result<BoneMap, ReadError> {
    let mut map = guessed_bones(file, bones, skeleton);
    for (human, name) in said {
        let bone = find_bone(skeleton, name).map_err(ReadError::whole)?;
        map.set(*human, Some(bone.index()));
    }
    Ok(map)
}

fn guessed_bones(file: &RiggedCharacter, bones: &Bones, skeleton: &Skeleton) -> BoneMap {
    let mut map = BoneMap::find_in(skeleton);
    if let Some(own) = &file.human_bones {
        for (name, node) in &own.nodes {
            let bone = bones.of_node.get(*node).copied().flatten();
            let index = bone.and_then(|bone| skeleton.bone_of_desc(bone as usize)).map(|id| id.index());
            if let (Some(human), Some(index)) = (HumanBone::of_name(name), index) {
                map.set(human, Some(index));
            }
        }
    }
    let known = [
        HumanBone::LeftUpperLeg,
        HumanBone::RightUpperLeg,
        HumanBone::LeftUpperArm,
        HumanBone::RightUpperArm,
    ];
    if known.iter().any(|bone| map.get(*bone).is_none()) {
        let mut kinematics = Kinematics::default();
        kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
        let origins: Vec<Vec3> = kinematics.world_frames().iter().map(|frame| frame.origin).collect();
        let parents: Vec<Option<usize>> =
            skeleton.bones().iter().map(|bone| bone.parent.map(BoneId::index)).collect();
        let by_shape = BoneMap::find_by_shape(&origins, &parents);
        if by_shape.iter().count() > map.iter().count() {
            return by_shape;
        }
    }
    map
}

/// The pose of a character in which its limbs and its neck point where those of the source do at rest: characters are drawn with their arms lowered in any degree, and with
/// their heads before their shoulders or above. The head looks where it did.
fn aligned_rest(
    (source, source_map): (&Skeleton, &BoneMap),
    (target, map): (&Skeleton, &BoneMap),
) -> SkeletonState {
    let mut rest = SkeletonState::at_rest(target);
    let mut source_at_rest = Kinematics::default();
    source_at_rest.update(source, &SkeletonState::at_rest(source));
    use HumanBone::*;
    let limbs = [
        (LeftUpperArm, LeftLowerArm),
        (LeftLowerArm, LeftHand),
        (RightUpperArm, RightLowerArm),
        (RightLowerArm, RightHand),
        (LeftUpperLeg, LeftLowerLeg),
        (LeftLowerLeg, LeftFoot),
        (RightUpperLeg, RightLowerLeg),
        (RightLowerLeg, RightFoot),
        (Neck, Head),
    ];
    for (upper, lower) in limbs {
        let ends = |map: &BoneMap, kinematics: &Kinematics| {
            let at = |bone: HumanBone| Some(kinematics.world_frames()[map.get(bone)?].origin);
            (at(lower)? - at(upper)?).try_normalize(1e-9)
        };
        let mut now = Kinematics::default();
        now.update(target, &rest);
        let (Some(wanted), Some(found)) = (ends(source_map, &source_at_rest), ends(map, &now)) else {
            continue;
        };
        let Some(turn) = Rotation::rotation_between(&found, &wanted) else { continue };
        turn_bone(target, map.get(upper), &turn, &mut rest);
        if lower == Head {
            turn_bone(target, map.get(lower), &turn.inverse(), &mut rest);
        }
    }
    rest
}

/// Turns a bone, and all that hangs from it, by a rotation of the world: R' = turn R, so that q' = q Rᵀ turn R. Joints that cannot turn so are left alone.
fn turn_bone(skeleton: &Skeleton, bone: Option<usize>, turn: &Rotation, pose: &mut SkeletonState) {
    let Some(id) = bone.map(|bone| BoneId(bone as u32)) else { return };
    let v = skeleton.bone(id).joint.v();
    if v.len() < 3 {
        return;
    }
    let mut now = Kinematics::default();
    now.update(skeleton, pose);
    let frame = now.world_from_bone(id).rotation;
    let theta = sinew_math::turn::log(&(frame.inverse() * turn * frame));
    let mut moving = SkeletonState { q: pose.q.clone(), v: vec![0.0; pose.v.len()] };
    moving.v[v.end - 3..v.end].copy_from_slice(theta.as_slice());
    moving.move_along_velocity(skeleton, 1.0);
    pose.q = moving.q;
}
