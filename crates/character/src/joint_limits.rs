//! Passive elements of a character's joints: ranges, stops and damping, which hold it together when it goes limp.
//!
//! The range of a joint is that of the file's own animations with a margin. Bones of a human figure have at least the range that people have, in axes of
//! their own (`joint_axes`): knees and elbows bend one way.
//!
//! Stops and damping scale with what hangs from a joint. With M the mass of the character, and m, I and l the mass, the moment of inertia and the lever of the subtree about the joint,
//!
//! ```text
//! k_s = M g l/θ         the weight of the whole character at the lever gives way by θ
//! d_s = 2 √(k_s I)      stops are critically damped
//! d = 2 ζ √(m g l I)    a limb that hangs swings with the damping ratio ζ
//! ```

use crate::bones::Bones;
use crate::flesh::Flesh;
use crate::joint_axes::human_range;
use crate::limb_masses::LimbMasses;
use crate::{JointOptions, RiggedCharacter};
use sinew_control::BoneMap;
use sinew_math::{Vec3, so3};
use sinew_skeleton::{BoneId, DofDesc, JointKind, Parent, Skeleton};

/// Poses of animations that are looked at, per second, and at most per animation.
pub(crate) const RATE: f64 = 15.0;
pub(crate) const MAX_POSES: usize = 200;
/// The margin beyond animated angles, as a fraction of their range, and at least (rad): animations seldom go to the end of what a joint can do.
const MARGIN: f64 = 0.15;
const MIN_MARGIN: f64 = 0.15;
/// The range of a joint that no animation moves (rad), to either side.
const STILL: f64 = 0.5;
/// Joints that turn by less are not moved (rad).
pub(crate) const UNMOVED: f64 = 1e-3;
/// Beyond this angle rotation vectors are close to where they jump from π to −π, and have no range (rad).
pub(crate) const MAX_ANGLE: f64 = 2.6;
/// The margin of translations, as a fraction of the character's size.
const SHIFT_MARGIN: f64 = 2e-3;
/// θ: what stops give way by under the weight of the whole character (rad), and the same of translations as a fraction of its size.
const GIVE: f64 = 0.1;
/// θ of human bones, whose ranges are those of people: at 0.1 a fall from half the height bends a shoulder by half a radian beyond its range, and its skin folds into itself. Ranges of animations are no such ends; stops as hard there shake
/// the legs of quadrupeds.
const HUMAN_GIVE: f64 = 0.02;
const SHIFT_GIVE: f64 = 2e-3;
/// ζ of a limb that swings under its weight: relaxed people's lower legs swing some three times when let go, at 0.2 to 0.3.
const DAMPING_RATIO: f64 = 0.25;
/// What weight is taken for stops and damping (m/s²).
const GRAVITY: f64 = 9.81;
/// The shortest lever, as a fraction of the character's size: a bone whose flesh surrounds its joint still has some.
const SHORTEST_LEVER: f64 = 5e-3;

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
    let masses = LimbMasses::find(rigged, flesh, bones, skeleton);
    for (i, bone) in skeleton.bones().iter().enumerate() {
        let place = skeleton.desc_of_bone(BoneId(i as u32));
        if bone.parent.is_none() {
            continue;
        }
        let range = with_margin(&ranges[place], flesh.size);
        let own = human.iter().find(|(_, index)| *index == i).and_then(|(bone, _)| human_range(bone));
        let (range, give) = match own {
            Some(own) => (Range { angle: union(&own, &ranges[place].angle), ..range }, HUMAN_GIVE),
            None => (range, GIVE),
        };
        let joint = &mut bones.desc.bones[place].joint;
        let is_free = joint.kind == JointKind::Free;
        let strength = Strength { give, ..Strength::of(&masses, i, flesh.size, options) };
        let shifts =
            (0..3).filter(|_| is_free).map(|k| strength.shift([range.shift[0][k], range.shift[1][k]]));
        joint.dofs =
            shifts.chain((0..3).map(|k| strength.angle([range.angle[0][k], range.angle[1][k]]))).collect();
    }
}

/// Stops and damping of one joint.
pub(crate) struct Strength<'a> {
    /// M g (N).
    weight: f64,
    /// m, I (kg, kg m²), and l (m).
    mass: f64,
    inertia: f64,
    lever: f64,
    size: f64,
    /// θ of turns (rad).
    give: f64,
    options: &'a JointOptions,
}

impl<'a> Strength<'a> {
    pub(crate) fn of(masses: &LimbMasses, bone: usize, size: f64, options: &'a JointOptions) -> Strength<'a> {
        let limb = &masses.limbs[bone];
        let lever = limb.lever.max(SHORTEST_LEVER * size);
        let inertia = limb.inertia.max(limb.mass * lever * lever);
        Strength {
            weight: GRAVITY * masses.total,
            mass: limb.mass,
            inertia,
            lever,
            size,
            give: GIVE,
            options,
        }
    }

    pub(crate) fn angle(&self, [lower, upper]: [f64; 2]) -> DofDesc {
        let stop = if self.options.limits { self.weight * self.lever / self.give } else { 0.0 };
        let has_range = self.options.limits && lower.abs().max(upper.abs()) <= core::f64::consts::PI;
        DofDesc {
            damping: self.options.damping
                * 2.0
                * DAMPING_RATIO
                * (self.mass * GRAVITY * self.lever * self.inertia).sqrt(),
            lower: if has_range { lower } else { f64::NEG_INFINITY },
            upper: if has_range { upper } else { f64::INFINITY },
            limit_stiffness: stop,
            limit_damping: 2.0 * (stop * self.inertia).sqrt(),
            ..DofDesc::default()
        }
    }

    /// Joints never come apart, whatever options say.
    fn shift(&self, [lower, upper]: [f64; 2]) -> DofDesc {
        let stop = self.weight / (SHIFT_GIVE * self.size);
        let damping = 2.0 * (stop * self.mass).sqrt();
        DofDesc { damping, lower, upper, limit_stiffness: stop, limit_damping: damping, ..DofDesc::default() }
    }
}

/// The ranges of all joints over all animations, in the order of the description; the pose at rest is part of them.
fn animated_ranges(rigged: &RiggedCharacter, bones: &Bones) -> Vec<Range> {
    let mut ranges =
        vec![Range { angle: [Vec3::zeros(); 2], shift: [Vec3::zeros(); 2] }; bones.desc.bones.len()];
    for (index, animation) in rigged.animations.iter().enumerate() {
        let poses = ((animation.duration * RATE).ceil() as usize).clamp(1, MAX_POSES);
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

/// The margin of an animated range (rad); `is_still` if no animation moves the joint.
pub(crate) fn margin(range: f64, is_still: bool) -> f64 {
    if is_still { STILL } else { (MARGIN * range).max(MIN_MARGIN) }
}

/// The range with its margin; a joint that no animation moves may turn by a default.
fn with_margin(range: &Range, size: f64) -> Range {
    let [low, high] = range.angle;
    let is_still = (high - low).amax() < UNMOVED;
    let margin = Vec3::from_fn(|k, _| margin(high[k] - low[k], is_still));
    let is_wide = low.amax().max(high.amax()) > MAX_ANGLE;
    let open = Vec3::repeat(f64::INFINITY);
    let shift = Vec3::repeat(SHIFT_MARGIN * size);
    Range {
        angle: if is_wide { [-open, open] } else { [low - margin, high + margin] },
        shift: [range.shift[0] - shift, range.shift[1] + shift],
    }
}
