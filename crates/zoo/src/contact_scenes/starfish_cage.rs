//! A starfish escapes from a glass cage by leaping against the lid and overturning it.                    [KimPollard2011, fig. 2]

use super::free_root_motion::FreeRootMotion;
use crate::character_desc::at;
use crate::cycle::{PoseBuilder, ramp};
use crate::starfish;
use core::f64::consts::TAU;
use sinew_math::{Isometry, Rotation, Vec3, real};
use sinew_sim::desc::{Mobility, ObstacleDesc, Shape};
use sinew_take::Scene;

/// Half the width and half the height of the cage's interior (m), and half the thickness of its glass (m).
const HALF_SIDE: f64 = 0.18;
const HALF_HEIGHT: f64 = 0.075;
const HALF_GLASS: f64 = 0.005;
/// Density of its glass (kg/m³): the cage has two thirds of the starfish's mass.
const DENSITY: f64 = 300.0;
/// Offset of the starfish from the centre (m), so that it hits the lid off-centre.
const ASIDE: f64 = 0.02;

/// When the arms strike the ground (s), how far beyond flat (degrees), and by which fraction more on the left than on the right: two attempts, then full
/// strength to one side.
const STRIKES: [(f64, f64, f64); 3] = [(0.8, 16.0, 0.0), (2.0, 24.0, 0.0), (3.2, 42.0, 0.5)];
const STRIKING: f64 = 0.12;
/// How far each joint of an arm is raised before a strike (degrees).
const RAISED: f64 = 14.0;

/// A starfish under a glass cage leaps twice without success and then overturns the cage.
pub fn starfish_cage() -> Scene {
    let mut scene = FreeRootMotion {
        name: "starfish-cage",
        seconds: 6.0,
        friction: 0.8,
        young: 25e3,
        hold: 0.006,
        pose: &leap,
        cues: Vec::new(),
    }
    .apply_to(starfish(400));
    scene.world.obstacles.extend(cage(1));
    scene
}

/// The lid and the four walls that belong to it; `lid_place` is the index of the lid among all obstacles.
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

fn leap(time: f64, pose: &mut PoseBuilder) {
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
        pose.turn(&format!("arm {arm}.1"), &[0.0, -down]);
        pose.turn(&format!("arm {arm}.2"), &[-down]);
        pose.turn(&format!("arm {arm}.3"), &[-down]);
    }
    pose.place("middle", at(ASIDE, 0.042, 0.0), &Rotation::identity());
}
