//! A starfish that leaps and turns in the air by its arms alone.                                     [KimPollard2011, fig. 10]

use super::free_root_motion::FreeRootMotion;
use crate::character_desc::at;
use crate::cycle::{PoseBuilder, ramp};
use crate::starfish;
use sinew_math::Rotation;
use sinew_take::Scene;

/// When the arms strike the ground, and the duration of the strike (s).
const STRIKE: f64 = 0.85;
const STRIKING: f64 = 0.12;
/// How much earlier they start to sweep sideways (s): the sweep needs contact with the ground.
const LEAD: f64 = 0.06;
/// How far each joint of an arm is raised before the strike, and how far beyond flat it strikes (degrees).
const RAISED: f64 = 16.0;
const STRUCK: f64 = 40.0;
/// How far the arms sweep to either side (degrees).
const SWEEP: f64 = 40.0;

/// A starfish raises its arms and swings them to one side, strikes and sweeps at once, turns in the air, lands flat and straightens its arms.
pub fn starfish_turn() -> Scene {
    FreeRootMotion {
        name: "starfish-turn",
        seconds: 3.0,
        friction: 1.0,
        young: 25e3,
        hold: 0.006,
        pose: &leap,
        cues: Vec::new(),
    }
    .apply_to(starfish(400))
}

fn leap(time: f64, pose: &mut PoseBuilder) {
    let step = |from: f64, to: f64| ramp(time, from, to);
    let struck = step(STRIKE, STRIKE + STRIKING);
    let flat = step(STRIKE + STRIKING + 0.05, STRIKE + STRIKING + 0.35);
    // arms are raised while they return, so that friction does not turn it back
    let raised = step(0.2, 0.45) - struck + step(1.7, 1.95) - step(2.3, 2.55);
    let down = STRUCK * (struck - flat) - RAISED * raised;
    let swept = step(STRIKE - LEAD, STRIKE - LEAD + STRIKING);
    let aside = SWEEP * (2.0 * swept - step(0.4, 0.75) - step(1.95, 2.3));
    for arm in 1..=5 {
        pose.turn(&format!("arm {arm}.1"), &[aside, -down]);
        pose.turn(&format!("arm {arm}.2"), &[-down]);
        pose.turn(&format!("arm {arm}.3"), &[-down]);
    }
    pose.place("middle", at(0.0, 0.042, 0.0), &Rotation::identity());
}
