//! A worm that rolls sideways.                                                               [KimPollard2011, fig. 3, below]

use super::free_root_motion::FreeRootMotion;
use crate::character_desc::at;
use crate::cycle::{PoseBuilder, ramp};
use crate::worm::{BONES, worm};
use core::f64::consts::{FRAC_PI_2, TAU};
use sinew_math::{Vec3, real, so3};
use sinew_take::Scene;

/// How far each joint bends (degrees).
const BEND: f64 = 15.0;
/// Revolutions of the bending direction per second.
const RATE: f64 = 0.8;
/// When the rotation starts and stops (s); it accelerates for half a second.
const BEGIN: f64 = 0.4;
const CEASE: f64 = 4.3;

/// A worm lies on the ground, bends into an arc and rolls away sideways, like a bent hose twirled between the fingers.
///
/// The direction of the bend rotates about the body's axis:
///
/// ```text
/// (up, aside) = B (sin 2π φ(t), cos 2π φ(t))
/// ```
///
/// Gravity keeps the arc flat on the ground, so the body rotates about its own axis by −φ, and friction turns this rotation into rolling: its centre travels
/// 2π r per revolution, r being the height of the axis.
pub fn worm_roll() -> Scene {
    FreeRootMotion {
        name: "worm-roll",
        seconds: 6.0,
        friction: 0.8,
        young: 6e3,
        hold: 0.01,
        pose: &roll,
        cues: Vec::new(),
    }
    .apply_to(worm(2_500))
}

fn roll(time: f64, pose: &mut PoseBuilder) {
    let bend = BEND * ramp(time, 0.1, 0.6) * (1.0 - ramp(time, CEASE + 0.5, CEASE + 1.1));
    // the integral of a rate that rises linearly for half a second
    let risen = |t: f64| if t < 0.5 { t.max(0.0) * t.max(0.0) } else { t - 0.25 };
    let round = TAU * RATE * (risen(time - BEGIN) - risen(time - CEASE));
    for i in (0..BONES).filter(|i| *i != 3) {
        // bones before the root have their joints at the other end
        let sign = if i > 3 { 1.0 } else { -1.0 };
        let angles = [sign * bend * real::sin(round), sign * bend * real::cos(round)];
        pose.turn(&format!("bone {}", i + 1), &angles);
    }
    // perpendicular to its direction of travel
    pose.place("bone 4", at(0.05, 0.062, 0.0), &so3::exp(&(Vec3::y() * -FRAC_PI_2)));
}
