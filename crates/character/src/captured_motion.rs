//! A captured motion of another skeleton, retargeted to a character.

use crate::motion::find_human_bones;
use crate::{CharacterError, FaultyPart, Placement};
use sinew_control::{
    BoneMap, Extrapolation, HumanBone, Humanoid, Interpolation, Retarget, RetargetOptions, SkeletonMotion,
};
use sinew_math::{Rotation, Vec3};
use sinew_skeleton::{BoneId, Kinematics, Parent, Skeleton, SkeletonDesc, SkeletonState};

/// A captured motion for a character, whatever file it came from.
#[derive(Clone, Debug)]
pub struct CapturedMotion {
    /// The skeleton that was captured, with y up; its rest pose should be a T.
    pub skeleton: SkeletonDesc,
    /// Its motion.
    pub motion: SkeletonMotion,
    /// How many of its first frames are poses for calibration, which are left out unless `first` says otherwise.
    pub calibration: usize,
    /// The cutoff frequency of its low-pass filter (Hz); 0 for none.
    pub smoothing: f64,
    /// The first frame that is played.
    pub first: Option<usize>,
    /// The last frame that is played.
    pub last: Option<usize>,
    /// Whether it starts again after the last frame.
    pub is_cycle: bool,
}

impl CapturedMotion {
    /// The part of the motion that is played, filtered.
    fn played(&self) -> Result<SkeletonMotion, CharacterError> {
        let count = self.motion.frame_count();
        let (first, last) = (self.first.unwrap_or(self.calibration), self.last.unwrap_or(count - 1));
        if first > last || last >= count {
            return Err(error(format!("frames {first} to {last} were asked for, it has 0 to {}", count - 1)));
        }
        let motion = self.motion.cut(first..last + 1).map_err(|fault| error(fault.to_string()))?;
        let motion = if self.smoothing > 0.0 { motion.smoothed(self.smoothing) } else { motion };
        let beyond = if self.is_cycle { Extrapolation::Loop } else { Extrapolation::Hold };
        Ok(motion.with(Interpolation::BSpline, beyond))
    }

    /// The skeleton, with its world turned as a placement turns that of the character.
    fn source(&self, placement: &Placement) -> Result<Skeleton, CharacterError> {
        let mut desc = self.skeleton.clone();
        if !placement.is_identity() {
            for bone in desc.bones.iter_mut().filter(|bone| bone.parent == Parent::World) {
                bone.parent_from_joint = placement.rotation * bone.parent_from_joint;
            }
        }
        Skeleton::build(&desc).map_err(|fault| error(fault.to_string()))
    }

    /// The motion on the bones of a character, and notes on how it was retargeted.
    pub(crate) fn retargeted(
        &self,
        map: &BoneMap,
        skeleton: &Skeleton,
        placement: &Placement,
    ) -> Result<(SkeletonMotion, Vec<String>), CharacterError> {
        // what is played
        let mut notes = Vec::new();
        if self.calibration > 0 && self.first.is_none() {
            notes.push("frame 0 of the motion is a pose for calibration: it begins with frame 1".to_owned());
        }
        let motion = self.played()?;

        // bones that are missing
        let needed = [HumanBone::Hips, HumanBone::LeftUpperLeg, HumanBone::RightUpperLeg, HumanBone::Head];
        let missing: Vec<&str> =
            needed.into_iter().filter(|bone| map.get(*bone).is_none()).map(HumanBone::name).collect();
        if !missing.is_empty() {
            notes.push(format!(
                "no bone of the character was recognised as {}: it keeps still there",
                missing.join(", ")
            ));
        }

        // the same on the other skeleton
        let source = self.source(placement)?;
        let source_map = find_human_bones(&source, &placement.rotation);
        let rest = aligned_rest((&source, &source_map), (skeleton, map));
        let target = Humanoid { skeleton, rest: &rest, bones: map };
        let (up, offset) = (placement.rotation * Vec3::y(), placement.translation);
        let options = RetargetOptions { up, offset, ..RetargetOptions::default() };
        let source_rest = SkeletonState::at_rest(&source);
        let from = Humanoid { skeleton: &source, rest: &source_rest, bones: &source_map };
        let (carried, scale) = retarget_motion(&from, &motion, &target, &options).map_err(error)?;
        notes.push(format!(
            "the motion is carried over by {} bones and {scale:.3} times as long a way",
            map.iter().count(),
        ));
        Ok((carried, notes))
    }
}

/// Retargets a motion of a figure to another one. Returns the motion and the ratio of the distances that both go.
pub fn retarget_motion(
    source: &Humanoid,
    motion: &SkeletonMotion,
    target: &Humanoid,
    options: &RetargetOptions,
) -> Result<(SkeletonMotion, f64), String> {
    let retarget = Retarget::build(source, target, options).map_err(|error| error.to_string())?;
    let carried =
        retarget.motion(source.skeleton, target.skeleton, motion).map_err(|error| error.to_string())?;
    Ok((carried, retarget.scale()))
}

fn error(message: String) -> CharacterError {
    CharacterError::of(FaultyPart::Motion, message)
}

/// The pose of a character in which its limbs and its neck point where those of the source do at rest: characters are drawn with their arms
/// lowered by any angle, and with their heads before their shoulders or above. The direction of the head stays.
fn aligned_rest(
    (source, source_map): (&Skeleton, &BoneMap),
    (target, map): (&Skeleton, &BoneMap),
) -> SkeletonState {
    // both at rest
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

    // each limb into the direction of the source's, from the body outwards
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

/// Turns a bone and its descendants by a rotation of the world: R' = turn R, so that q' = q Rᵀ turn R. Joints that cannot turn so stay.
fn turn_bone(skeleton: &Skeleton, bone: Option<usize>, turn: &Rotation, pose: &mut SkeletonState) {
    let Some(id) = bone.map(|bone| BoneId(bone as u32)) else { return };
    let v = skeleton.bone(id).joint.v();
    if v.len() < 3 {
        return;
    }
    let mut now = Kinematics::default();
    now.update(skeleton, pose);
    let frame = now.world_from_bone(id).rotation;
    let theta = sinew_math::so3::log(&(frame.inverse() * turn * frame));
    let mut moving = SkeletonState { q: pose.q.clone(), v: vec![0.0; pose.v.len()] };
    moving.v[v.end - 3..v.end].copy_from_slice(theta.as_slice());
    moving.move_along_velocity(skeleton, 1.0);
    pose.q = moving.q;
}
