//! Axes and ranges of the joints of people.
//!
//! A joint turns about x, which takes its bone forward, about y, the bone itself, and about z, forward for a bone that points sideways or down:
//!
//! ```text
//! x = along × forward,   y = along,   z = x × y
//! ```
//!
//! with feet and toes, which point forward, about x = right. Ranges are rotation vectors (rad) from a pose that stands with arms held out (T or A).

use crate::bones::Bones;
use sinew_control::{BoneMap, HumanBone};
use sinew_math::spatial::Frame;
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{BoneId, Kinematics, Skeleton, SkeletonState};

/// Left and right, up and forward of a figure (unit vectors, world at rest).
struct Figure {
    left: Vec3,
    forward: Vec3,
}

impl Figure {
    /// By its legs, its hips and its head or chest.
    fn find(human: &BoneMap, origins: &[Vec3]) -> Option<Figure> {
        use HumanBone::{Chest, Head, Hips, LeftUpperLeg, Neck, RightUpperLeg, Spine};
        let at = |bone: HumanBone| human.get(bone).map(|index| origins[index]);
        let left = (at(LeftUpperLeg)? - at(RightUpperLeg)?).try_normalize(1e-9)?;
        let top = [Head, Neck, Chest, Spine].into_iter().find_map(at)?;
        let middle = at(Hips).unwrap_or(0.5 * (at(LeftUpperLeg)? + at(RightUpperLeg)?));
        let up = top - middle;
        let up = (up - left * left.dot(&up)).try_normalize(1e-9)?;
        Some(Figure { left, forward: left.cross(&up) })
    }

    /// The axes of a bone that points along a direction, as columns.
    fn axes(&self, bone: HumanBone, along: &Vec3) -> Option<Mat3> {
        use HumanBone::{LeftFoot, LeftToes, RightFoot, RightToes};
        let is_foot = matches!(bone, LeftFoot | RightFoot | LeftToes | RightToes);
        let x = if is_foot { -self.left } else { along.cross(&self.forward) };
        let x = (x - along * along.dot(&x)).try_normalize(0.1)?;
        Some(Mat3::from_columns(&[x, *along, x.cross(along)]))
    }
}

/// The bone whose joint is at the end of another.
fn end_of(bone: HumanBone) -> Option<HumanBone> {
    use HumanBone as B;
    Some(match bone {
        B::LeftUpperArm => B::LeftLowerArm,
        B::RightUpperArm => B::RightLowerArm,
        B::LeftLowerArm => B::LeftHand,
        B::RightLowerArm => B::RightHand,
        B::LeftUpperLeg => B::LeftLowerLeg,
        B::RightUpperLeg => B::RightLowerLeg,
        B::LeftLowerLeg => B::LeftFoot,
        B::RightLowerLeg => B::RightFoot,
        B::LeftFoot => B::LeftToes,
        B::RightFoot => B::RightToes,
        B::LeftShoulder => B::LeftUpperArm,
        B::RightShoulder => B::RightUpperArm,
        B::Spine | B::Chest | B::UpperChest | B::Neck => B::Head,
        _ => return None,
    })
}

/// Turns the frames of human bones to the axes of their joints.
pub(crate) fn align_joints(bones: &mut Bones, human: &BoneMap, skeleton: &Skeleton) {
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
    let frames = kinematics.world_frames();
    let origins: Vec<Vec3> = frames.iter().map(|frame| frame.origin).collect();
    let Some(figure) = Figure::find(human, &origins) else { return };
    for (bone, index) in human.iter() {
        if human_range(bone).is_none() {
            continue;
        }
        // towards the next joint, or on from the last
        let own = origins[index];
        let end = end_of(bone).and_then(|end| human.get(end)).map(|end| origins[end] - own);
        let parent = skeleton.bones()[index].parent.map(|parent| own - origins[parent.index()]);
        let Some(along) = end.or(parent).and_then(|along| along.try_normalize(1e-9)) else { continue };
        let Some(axes) = figure.axes(bone, &along) else { continue };
        let turn = frames[index].rotation.transpose() * axes;
        let turn = Frame { rotation: turn, origin: Vec3::zeros() }.quaternion();
        bones.turn_frame(skeleton.desc_of_bone(BoneId(index as u32)), &turn);
    }
}

/// How far the joint of a bone of people turns about its axes (rad), from the pose at rest; `None` for hips, which hang from nothing. They are
/// those of relaxed adults, rounded, without what a limp limb does not reach by itself.
pub(crate) fn human_range(bone: HumanBone) -> Option<[Vec3; 2]> {
    use HumanBone as B;
    let range =
        |x: [f64; 2], y: f64, z: [f64; 2]| Some([Vec3::new(x[0], -y, z[0]), Vec3::new(x[1], y, z[1])]);
    match bone {
        B::Hips => None,
        B::Spine | B::Chest | B::UpperChest => range([-0.25, 0.5], 0.3, [-0.3, 0.3]),
        B::Neck | B::Head => range([-0.5, 0.5], 0.6, [-0.4, 0.4]),
        B::LeftShoulder | B::RightShoulder => range([-0.2, 0.3], 0.2, [-0.2, 0.2]),
        B::LeftUpperArm => range([-0.7, 1.9], 1.0, [-1.5, 1.2]),
        B::RightUpperArm => range([-0.7, 1.9], 1.0, [-1.2, 1.5]),
        B::LeftLowerArm | B::RightLowerArm => range([-0.05, 2.4], 0.9, [-0.1, 0.1]),
        B::LeftHand | B::RightHand => range([-0.4, 0.4], 0.2, [-0.9, 0.9]),
        B::LeftUpperLeg => range([-0.4, 1.9], 0.5, [-0.4, 0.7]),
        B::RightUpperLeg => range([-0.4, 1.9], 0.5, [-0.7, 0.4]),
        B::LeftLowerLeg | B::RightLowerLeg => range([-2.3, 0.05], 0.1, [-0.1, 0.1]),
        B::LeftFoot | B::RightFoot => range([-0.7, 0.4], 0.2, [-0.3, 0.3]),
        B::LeftToes | B::RightToes => range([-0.3, 0.8], 0.1, [-0.1, 0.1]),
    }
}
