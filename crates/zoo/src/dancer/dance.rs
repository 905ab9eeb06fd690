//! The motion of the dance: eight beats in four seconds. Four beats sway with bent knees, the fifth is a hop with raised arms, the last three are a turn in small steps.

use super::leg::solve_leg;
use crate::character_desc::at;
use crate::cycle::{PoseBuilder, bump, ramp};
use sinew_control::{Extrapolation, Interpolation, Key, Keyframes};
use sinew_math::{Isometry, Vec3, so3};

/// Number of beats of the cycle.
const BEATS: f64 = 8.0;

/// Height of the hips above their rest position (m), by beats.
const RISE: [(f64, f64); 19] = [
    (0.0, -0.10),
    (0.5, -0.025),
    (1.0, -0.10),
    (1.5, -0.025),
    (2.0, -0.10),
    (2.5, -0.025),
    (3.0, -0.10),
    (3.5, -0.03),
    (4.05, -0.13),
    (4.4, 0.0),
    (4.68, 0.09),
    (4.96, 0.0),
    (5.32, -0.12),
    (5.75, -0.045),
    (6.1, -0.075),
    (6.6, -0.03),
    (7.1, -0.08),
    (7.55, -0.03),
    (8.0, -0.10),
];

/// Displacement of the hips to the left (m), by beats.
const SWAY: [(f64, f64); 9] = [
    (0.0, 0.085),
    (1.0, -0.085),
    (2.0, 0.085),
    (3.0, -0.085),
    (4.0, 0.0),
    (5.0, 0.0),
    (6.0, 0.03),
    (7.0, -0.04),
    (8.0, 0.085),
];

/// Lift of both arms from their rest pose (degrees), by beats.
const LIFT: [(f64, f64); 9] = [
    (0.0, 2.0),
    (2.0, 2.0),
    (3.4, 0.0),
    (4.1, -22.0),
    (4.65, 96.0),
    (5.15, 60.0),
    (5.8, 40.0),
    (7.2, 42.0),
    (8.0, 2.0),
];

/// Flexion of the elbows (degrees), by beats.
const BEND: [(f64, f64); 9] = [
    (0.0, 75.0),
    (2.0, 75.0),
    (3.4, 70.0),
    (4.1, 35.0),
    (4.65, 15.0),
    (5.2, 30.0),
    (5.8, 18.0),
    (7.2, 20.0),
    (8.0, 75.0),
];

/// The beats at which the turn starts and ends, and its number of steps of each foot.
const TURN: [f64; 2] = [5.3, 7.8];
const STEPS: usize = 5;

/// Writes the pose at a fraction of the cycle.
pub(super) fn pose(fraction: f64, pose: &mut PoseBuilder) {
    // the curves at this beat
    let beat = BEATS * fraction;
    let [rise, sway, lift, bend] =
        [curve(&RISE, beat), curve(&SWAY, beat), curve(&LIFT, beat), curve(&BEND, beat)];
    let side = sway / 0.085;
    let swinging = 1.0 - ramp(beat, 3.4, 4.0) + ramp(beat, 7.4, 8.0);
    let yaw = 360.0 * turned(beat);

    // hips: sideways, up and down, tilted and twisted towards the supporting leg
    let crouch = (-rise - 0.05).max(0.0);
    let facing = so3::exp(&(Vec3::y() * yaw.to_radians()));
    let tilt = turn_of(at(60.0 * crouch, 14.0 * side * swinging, 9.0 * side));
    let world_from_hips =
        about_origin(facing * tilt, at(0.0, 0.88, 0.0), facing * at(sway, rise, 0.15 * -crouch));
    let hips_at = world_from_hips.transform_point(&super::SPINE[0].into()).coords - super::SPINE[0];
    pose.place("hips", hips_at, &world_from_hips.rotation);

    // the trunk counters the hips, so that the head stays level
    for (bone, fraction) in [("spine", 0.4), ("chest", 0.45), ("upper chest", 0.35)] {
        let back = at(30.0 * crouch - 4.0 * lift / 100.0, -20.0 * side * swinging, -9.0 * side) * fraction;
        pose.turn(bone, back.as_slice());
    }
    pose.turn("neck", at(-25.0 * crouch, 4.0 * side, -3.0 * side).as_slice());
    pose.turn("head", at(4.0 - 90.0 * crouch - 0.08 * lift, 6.0 * side * swinging, -7.0 * side).as_slice());

    // arms, and legs by inverse kinematics
    arms(pose, [lift, bend], side * swinging);
    for (name, sign) in [("left", 1.0), ("right", -1.0)] {
        let turns = solve_leg(sign, &world_from_hips, &foot(sign, beat, rise));
        pose.rotate(&format!("{name} thigh"), &turns.thigh);
        pose.rotate(&format!("{name} shin"), &turns.shin);
        pose.rotate(&format!("{name} foot"), &turns.foot);
    }
}

/// Poses both arms, which swing to the same side, opposite to the hips.
fn arms(pose: &mut PoseBuilder, [lift, bend]: [f64; 2], side: f64) {
    for (name, sign) in [("left", 1.0), ("right", -1.0)] {
        let toward = sign * side;
        let upper = at(-18.0 + 30.0 * toward, 12.0 * toward, 0.8 * lift + 20.0 * toward);
        // the axis across the forearm about which the hand moves to the front
        let lower = at(-0.70, -0.72, 0.0) * (bend - 18.0 * toward);
        let hand = at(-8.0 * toward, 0.0, 14.0 * toward);
        let shoulder = at(0.0, -4.0 * toward, 0.24 * lift + 5.0 * toward);
        for (bone, degrees) in
            [("shoulder", shoulder), ("upper arm", upper), ("forearm", lower), ("hand", hand)]
        {
            let degrees = if sign > 0.0 { degrees } else { crate::cycle::mirrored_turn(degrees) };
            pose.turn(&format!("{name} {bone}"), degrees.as_slice());
        }
    }
}

/// The transform of a foot from rest: it stands, leaves the floor in the hop, and steps around in the turn, alternating left and right.
fn foot(side: f64, beat: f64, rise: f64) -> Isometry {
    let turned = turned(beat);
    let (mut yaw, mut up) = (0.0, 0.0);
    for k in 0..STEPS {
        let begin = (k as f64 + if side > 0.0 { 0.0 } else { 0.5 }) / STEPS as f64;
        let end = begin + 0.5 / STEPS as f64;
        yaw += 360.0 / STEPS as f64 * ramp(turned, begin, end);
        up += 0.05 * bump(turned, begin, end);
    }
    // in the air the feet follow the hips
    let air = (rise + 0.012).max(0.0);
    let toes_down = turn_of(at(220.0 * air, 0.0, 0.0));
    let facing = so3::exp(&(Vec3::y() * yaw.to_radians()));
    let pivot = super::LEG[3];
    let pivot = if side > 0.0 { pivot } else { crate::character_desc::mirrored(pivot) };
    about_origin(facing, Vec3::zeros(), at(0.0, up + 1.08 * air, 0.0))
        * about_origin(toes_down, pivot, Vec3::zeros())
}

/// Completed fraction of the turn: nearly linear, with smooth ends.
fn turned(beat: f64) -> f64 {
    let steady = ((beat - TURN[0]) / (TURN[1] - TURN[0])).clamp(0.0, 1.0);
    0.5 * (steady + ramp(beat, TURN[0], TURN[1]))
}

/// A rotation about a point followed by a translation (m).
fn about_origin(rotation: sinew_math::Rotation, point: Vec3, shift: Vec3) -> Isometry {
    Isometry::from_parts((point - rotation * point + shift).into(), rotation)
}

fn turn_of(degrees: Vec3) -> sinew_math::Rotation {
    so3::exp(&degrees.map(f64::to_radians))
}

/// The value of a table at a beat, on a cyclic Catmull-Rom spline.
fn curve(table: &[(f64, f64)], beat: f64) -> f64 {
    let keys = table.iter().map(|&(time, value)| Key::at(time, value)).collect();
    Keyframes::build(keys, Interpolation::KochanekBartels, Extrapolation::Loop)
        .map_or(0.0, |keys| keys.value(beat))
}
