//! Passive elements of a character's joints: ranges, stops and damping, which hold it together when it goes limp.
//!
//! The range of a joint is that of the file's own animations with a margin. Bones of a human figure have at least the range that people have, in axes of
//! their own (`joint_axes`): knees and elbows bend one way.
//!
//! Stops and damping scale with what hangs from a joint (`take::JointStrength`).

use crate::bones::Bones;
use crate::flesh::Flesh;
use crate::joint_axes::human_range;
use crate::limb_masses::limb_masses;
use crate::{JointOptions, RiggedCharacter};
use sinew_control::BoneMap;
use sinew_math::{Vec3, so3};
use sinew_skeleton::{BoneId, JointKind, Parent, Skeleton};
use sinew_take::{JointRange, JointStrength};

/// The margin of translations, as a fraction of the character's size.
const SHIFT_MARGIN: f64 = 2e-3;
/// θ of human bones (rad), whose ranges are those of people: at the usual 0.1 a fall from half the height bends a shoulder by half a radian beyond its range, and its skin folds into itself. Ranges of animations are no such ends;
/// stops as hard there shake the legs of quadrupeds.
const HUMAN_GIVE: f64 = 0.02;

/// The range of a joint against its rest pose.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// Rotation vector in the joint's frame (rad).
    angle: [Vec3; 2],
    /// Translation in the joint's frame (m).
    shift: [Vec3; 2],
}

/// Gives the joints of a character ranges, stops and damping.
pub(crate) fn limit_joints(
    bones: &mut Bones,
    (rigged, flesh): (&RiggedCharacter, &Flesh),
    (human, skeleton): (&BoneMap, &Skeleton),
    options: &JointOptions,
) {
    let ranges = animated_ranges(rigged, bones);
    let masses = limb_masses(rigged, flesh, bones, skeleton);
    for (i, bone) in skeleton.bones().iter().enumerate() {
        let place = skeleton.desc_of_bone(BoneId(i as u32));
        if bone.parent.is_none() {
            continue;
        }
        let range = with_margin(&ranges[place], flesh.size);
        let own = human.iter().find(|(_, index)| *index == i).and_then(|(bone, _)| human_range(bone));
        let range = match &own {
            Some(own) => Range { angle: union(own, &ranges[place].angle), ..range },
            None => range,
        };
        let joint = &mut bones.desc.bones[place].joint;
        let is_free = joint.kind == JointKind::Free;
        let strength = JointStrength::of(&masses, i, flesh.size, options);
        let strength = if own.is_some() { strength.giving_way_by(HUMAN_GIVE) } else { strength };
        let shifts =
            (0..3).filter(|_| is_free).map(|k| strength.shift([range.shift[0][k], range.shift[1][k]]));
        joint.dofs =
            shifts.chain((0..3).map(|k| strength.angle([range.angle[0][k], range.angle[1][k]]))).collect();
    }
}

/// The ranges of all joints over all animations, in the order of the description; the pose at rest is part of them.
fn animated_ranges(rigged: &RiggedCharacter, bones: &Bones) -> Vec<Range> {
    let mut ranges =
        vec![Range { angle: [Vec3::zeros(); 2], shift: [Vec3::zeros(); 2] }; bones.desc.bones.len()];
    for (index, animation) in rigged.animations.iter().enumerate() {
        let poses = ((animation.duration * JointRange::RATE).ceil() as usize).clamp(1, JointRange::MAX_POSES);
        for i in 0..=poses {
            let time = animation.duration * i as f64 / poses as f64;
            let Some(pose) = rigged.pose_at(index, time) else { continue };
            let world = bones.poses(&pose.world_from_node);
            for (place, (bone, range)) in bones.desc.bones.iter().zip(&mut ranges).enumerate() {
                let Parent::Index(parent) = bone.parent else { continue };
                let moved = bone.parent_from_joint.inverse() * world[parent].inverse() * world[place];
                range.angle = union(&range.angle, &[so3::log(&moved.rotation); 2]);
                range.shift = union(&range.shift, &[moved.translation.vector; 2]);
            }
        }
    }
    ranges
}

fn union(a: &[Vec3; 2], b: &[Vec3; 2]) -> [Vec3; 2] {
    [a[0].inf(&b[0]), a[1].sup(&b[1])]
}

/// The range with its margin; a joint that no animation moves may turn by a default.
fn with_margin(range: &Range, size: f64) -> Range {
    let [low, high] = range.angle;
    let is_still = (high - low).amax() < JointRange::UNMOVED;
    let margin = Vec3::from_fn(|k, _| JointRange::margin(high[k] - low[k], is_still));
    let is_wide = low.amax().max(high.amax()) > JointRange::MAX_ANGLE;
    let open = Vec3::repeat(f64::INFINITY);
    let shift = Vec3::repeat(SHIFT_MARGIN * size);
    Range {
        angle: if is_wide { [-open, open] } else { [low - margin, high + margin] },
        shift: [range.shift[0] - shift, range.shift[1] + shift],
    }
}
