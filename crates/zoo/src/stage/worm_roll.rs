//! A worm that rolls along.                                                                  [KimPollard2011, fig. 3, below]

use super::act::Act;
use crate::cycle::{Posture, ramp};
use crate::figure::at;
use crate::worm::{BONES, worm};
use core::f64::consts::{FRAC_PI_2, TAU};
use sinew_math::{Vec3, real, so3};
use sinew_take::Scene;

/// How far each joint bends (degrees).
const BEND: f64 = 15.0;
/// How often the bend goes round the body in a second.
const RATE: f64 = 0.8;
/// When it begins and ceases to go round (s); it takes half a second to come to its rate.
const BEGIN: f64 = 0.4;
const CEASE: f64 = 4.3;

/// A worm lies on the ground, bends into an arc and rolls away sideways, as a bent hose does that is twirled between the fingers.
///
/// The direction of the bend goes round the body:
///
/// ```text
/// (up, aside) = B (sin 2π φ(t), cos 2π φ(t))
/// ```
///
/// Weight keeps the arc flat on the ground, so the body has to turn about itself against that, −φ, and friction makes turning into rolling: its middle travels
/// 2π r for each time round, r being the height of the axis.
pub fn worm_roll() -> Scene {
    Act {
        name: "worm-roll",
        seconds: 6.0,
        friction: 0.8,
        young: 6e3,
        hold: 0.01,
        pose: &roll,
        cues: Vec::new(),
    }
    .played_by(worm(2_500))
}

fn roll(time: f64, posture: &mut Posture) {
    let bend = BEND * ramp(time, 0.1, 0.6) * (1.0 - ramp(time, CEASE + 0.5, CEASE + 1.1));
    // the integral of a rate that rises evenly for half a second
    let risen = |t: f64| if t < 0.5 { t.max(0.0) * t.max(0.0) } else { t - 0.25 };
    let round = TAU * RATE * (risen(time - BEGIN) - risen(time - CEASE));
    for i in (0..BONES).filter(|i| *i != 3) {
        // bones behind the root hang the other way round
        let sign = if i > 3 { 1.0 } else { -1.0 };
        let angles = [sign * bend * real::sin(round), sign * bend * real::cos(round)];
        posture.turn(&format!("bone {}", i + 1), &angles);
    }
    // across the way it takes
    posture.place("bone 4", at(0.05, 0.062, 0.0), &so3::exp(&(Vec3::y() * -FRAC_PI_2)));
}
