//! A fish on land: it bends, snaps, leaps, and finally goes limp.                            [KimPollard2011, fig. 3, above]

use super::free_root_motion::FreeRootMotion;
use crate::character_desc::at;
use crate::cycle::{PoseBuilder, ramp};
use crate::fish;
use core::f64::consts::FRAC_PI_2;
use sinew_control::{BoneSelection, Cue, CueDrive};
use sinew_math::{Vec3, so3};
use sinew_take::Scene;

/// When it snaps (s).
const LEAPS: [f64; 3] = [0.9, 2.3, 3.7];
/// Durations of bending before that, of the snap and of straightening (s).
const BEND: f64 = 0.45;
const SNAP: f64 = 0.07;
const STRAIGHTEN: f64 = 0.28;
/// How far beyond straight it snaps, as a fraction of the previous bend.
const BEYOND: f64 = 1.3;
/// When its joints go limp (s).
const LIMP: f64 = 4.5;

/// A fish lands on its side and leaps three times by the joints of its spine: head and tail rise, then strike the ground, the tail slightly later.
pub fn fish_jump() -> Scene {
    let give_up = Cue { time: LIMP, bones: BoneSelection::All, drive: CueDrive::Limp };
    FreeRootMotion {
        name: "fish-jump",
        seconds: 5.5,
        friction: 0.6,
        young: 25e3,
        hold: 0.01,
        pose: &leap,
        cues: vec![give_up],
    }
    .apply_to(fish(800))
}

fn leap(time: f64, pose: &mut PoseBuilder) {
    let beats = [("trunk", 28.0, 0.0), ("loin", 32.0, 0.0), ("stem", 36.0, 0.02), ("tail", 30.0, 0.04)];
    for (bone, degrees, late) in beats {
        let fraction = |leap: f64| {
            let bent = ramp(time, leap - BEND, leap);
            let snapped = ramp(time, leap + late, leap + late + SNAP);
            let straight = ramp(time, leap + late + SNAP, leap + SNAP + STRAIGHTEN);
            (1.0 + BEYOND) * snapped - bent - BEYOND * straight
        };
        pose.turn(bone, &[degrees * LEAPS.map(fraction).iter().sum::<f64>()]);
    }
    // on its side
    pose.place("head", at(0.0, 0.09, 0.0), &so3::exp(&(Vec3::x() * FRAC_PI_2)));
}
