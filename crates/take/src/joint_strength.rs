//! Passive elements of joints: ranges, stops and damping, which hold a character together when it goes limp.
//!
//! The range of a joint is that of its motions with a margin. Stops and damping scale with what hangs from a joint. With M the mass of the character, and m, I and l the mass, the moment of inertia and the lever of the subtree about the joint,
//!
//! ```text
//! k_s = M g l/θ         the weight of the whole character at the lever gives way by θ
//! d_s = 2 √(k_s I)      stops are critically damped
//! d = 2 ζ √(m g l I)    a limb that hangs swings with the damping ratio ζ
//! ```

use crate::LimbMasses;
use sinew_skeleton::DofDesc;

/// θ: what stops give way by under the weight of the whole character (rad), and the same of translations as a fraction of its size.
const GIVE: f64 = 0.1;
const SHIFT_GIVE: f64 = 2e-3;
/// ζ of a limb that swings under its weight: relaxed people's lower legs swing some three times when let go, at 0.2 to 0.3.
const DAMPING_RATIO: f64 = 0.25;
/// What weight is taken for stops and damping (m/s²).
const GRAVITY: f64 = 9.81;
/// The shortest lever, as a fraction of the character's size: a bone whose flesh surrounds its joint still has some.
const SHORTEST_LEVER: f64 = 5e-3;
/// The margin beyond angles of a motion, as a fraction of their range, and at least (rad): motions seldom go to the end of what a joint can do.
const MARGIN: f64 = 0.15;
const MIN_MARGIN: f64 = 0.15;
/// The range of a joint that no motion moves (rad), to either side.
const STILL: f64 = 0.5;

/// What joints do by themselves where nothing drives them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointOptions {
    /// Whether joints stop at the ends of their range: that of their motions, and of people for human bones.
    pub limits: bool,
    /// How much the swing of limp limbs is damped: 1 as that of relaxed people, 0 not at all.
    pub damping: f64,
}

impl Default for JointOptions {
    fn default() -> JointOptions {
        JointOptions { limits: true, damping: 1.0 }
    }
}

/// How ranges of joints follow from their motions.
#[derive(Clone, Copy, Debug)]
pub struct JointRange;

impl JointRange {
    /// Poses of motions that are looked at, per second.
    pub const RATE: f64 = 15.0;
    /// Poses that are looked at, at most per motion.
    pub const MAX_POSES: usize = 200;
    /// Joints that turn by less are not moved (rad).
    pub const UNMOVED: f64 = 1e-3;
    /// Beyond this angle rotation vectors are close to where they jump from π to −π, and have no range (rad).
    pub const MAX_ANGLE: f64 = 2.6;

    /// The margin of a range (rad); `is_still` if no motion moves the joint.
    pub fn margin(range: f64, is_still: bool) -> f64 {
        if is_still { STILL } else { (MARGIN * range).max(MIN_MARGIN) }
    }
}

/// Stops and damping of one joint.
pub struct JointStrength<'a> {
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

impl<'a> JointStrength<'a> {
    /// Those of the joint of a bone, for a character of a size (m).
    pub fn of(masses: &LimbMasses, bone: usize, size: f64, options: &'a JointOptions) -> JointStrength<'a> {
        let limb = &masses.limbs[bone];
        let lever = limb.lever.max(SHORTEST_LEVER * size);
        let inertia = limb.inertia.max(limb.mass * lever * lever);
        JointStrength {
            weight: GRAVITY * masses.total,
            mass: limb.mass,
            inertia,
            lever,
            size,
            give: GIVE,
            options,
        }
    }

    /// The same with stops for turns that give way by another angle θ (rad).
    pub fn giving_way_by(self, give: f64) -> JointStrength<'a> {
        JointStrength { give, ..self }
    }

    /// A degree of freedom that turns, with its range (rad).
    pub fn angle(&self, [lower, upper]: [f64; 2]) -> DofDesc {
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

    /// A degree of freedom that shifts, with its range (m). Joints never come apart, whatever options say.
    pub fn shift(&self, [lower, upper]: [f64; 2]) -> DofDesc {
        let stop = self.weight / (SHIFT_GIVE * self.size);
        let damping = 2.0 * (stop * self.mass).sqrt();
        DofDesc { damping, lower, upper, limit_stiffness: stop, limit_damping: damping, ..DofDesc::default() }
    }
}
