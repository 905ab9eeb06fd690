//! A starfish under a glass cage: it leaps against the lid, throws the cage over, and is free.            [KimPollard2011, fig. 2]

use super::act::Act;
use crate::cycle::{Posture, ramp};
use crate::figure::at;
use crate::starfish;
use core::f64::consts::TAU;
use sinew_math::{Isometry, Rotation, Vec3, real};
use sinew_sim::desc::{Mobility, ObstacleDesc, Shape};
use sinew_take::Scene;

/// Half the sides of the cage within, level and upright (m), and half the thickness of its glass (m).
const HALF_SIDE: f64 = 0.18;
const HALF_HEIGHT: f64 = 0.075;
const HALF_GLASS: f64 = 0.005;
/// Mass per volume of its glass (kg/m³): the cage weighs two thirds of what the starfish does.
const DENSITY: f64 = 300.0;
/// How far the starfish sits aside of the middle (m), so that its leaps strike the lid off its middle.
const ASIDE: f64 = 0.02;

/// When its arms strike the ground (s), how far beyond flat (degrees), and by which share more on the left than on the right: twice to try, then with all its
/// strength and to one side.
const STRIKES: [(f64, f64, f64); 3] = [(0.8, 16.0, 0.0), (2.0, 24.0, 0.0), (3.2, 40.0, 0.4)];
const STRIKING: f64 = 0.12;
/// How far each joint of an arm is raised before (degrees).
const RAISED: f64 = 14.0;

/// A starfish under a glass cage tries to leap, twice in vain, and throws the cage over.
pub fn starfish_cage() -> Scene {
    let mut scene = Act {
        name: "starfish-cage",
        seconds: 6.0,
        friction: 0.8,
        young: 25e3,
        hold: 0.006,
        pose: &leap,
        cues: Vec::new(),
    }
    .played_by(starfish(400));
    scene.world.obstacles.extend(cage(1));
    scene
}

/// The lid and the four walls it carries; the lid has this place among all obstacles.
fn cage(lid_place: usize) -> Vec<ObstacleDesc> {
    let part = |name: &str, half: Vec3, middle: Vec3, mobility: Mobility| {
        let pose = Isometry::translation(middle.x, middle.y, middle.z);
        let plate = ObstacleDesc::fixed(name, Shape::Cuboid { half }, pose);
        ObstacleDesc { mobility, is_glass: true, friction: Some(0.3), ..plate }
    };
    let free = Mobility::Free { density: DENSITY, velocity: Vec3::zeros(), spin: Vec3::zeros() };
    let outer = HALF_SIDE + 2.0 * HALF_GLASS;
    let lid = at(0.0, 2.0 * HALF_HEIGHT + HALF_GLASS, 0.0);
    let mut cage = vec![part("lid", at(outer, HALF_GLASS, outer), lid, free)];
    let out = HALF_SIDE + HALF_GLASS;
    for (name, half, middle) in [
        ("left pane", at(HALF_GLASS, HALF_HEIGHT, outer), at(-out, HALF_HEIGHT, 0.0)),
        ("right pane", at(HALF_GLASS, HALF_HEIGHT, outer), at(out, HALF_HEIGHT, 0.0)),
        ("back pane", at(HALF_SIDE, HALF_HEIGHT, HALF_GLASS), at(0.0, HALF_HEIGHT, -out)),
        ("front pane", at(HALF_SIDE, HALF_HEIGHT, HALF_GLASS), at(0.0, HALF_HEIGHT, out)),
    ] {
        cage.push(part(name, half, middle, Mobility::PartOf(lid_place)));
    }
    cage
}

fn leap(time: f64, posture: &mut Posture) {
    let step = |from: f64, to: f64| ramp(time, from, to);
    for arm in 1..=5 {
        let angle = TAU * f64::from(arm - 1) / 5.0;
        let mut down = 0.0;
        for (strike, struck, lean) in STRIKES {
            let struck = struck * (1.0 - lean * real::sin(angle));
            let raised = step(strike - 0.6, strike - 0.3) - step(strike, strike + STRIKING);
            let flat = step(strike + STRIKING + 0.05, strike + STRIKING + 0.35);
            down += struck * (step(strike, strike + STRIKING) - flat) - RAISED * raised;
        }
        posture.turn(&format!("arm {arm}.1"), &[0.0, -down]);
        posture.turn(&format!("arm {arm}.2"), &[-down]);
        posture.turn(&format!("arm {arm}.3"), &[-down]);
    }
    posture.place("middle", at(ASIDE, 0.042, 0.0), &Rotation::identity());
}
