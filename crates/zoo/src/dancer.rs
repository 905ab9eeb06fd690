//! The dancer: a heavy character with 20 bones and 63 degrees of freedom, whose belly, arms and thighs follow the dance slightly
//! later than the bones.                                                                              [KimPollard2011, table IV]

mod dance;
mod leg;
mod shape;

use crate::character_desc::{CharacterDesc, EARTH, at};
use crate::cycle::Cycle;
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_sim::desc::CoreDesc;
use sinew_skeleton::JointKind;
use sinew_take::Scene;

/// Hip joint, knee, ankle and toe of the left leg (m).
const LEG: [Vec3; 4] =
    [at(0.115, 0.86, 0.0), at(0.165, 0.47, 0.02), at(0.185, 0.085, -0.015), at(0.2, 0.035, 0.13)];
/// Collar bone, shoulder, elbow, wrist and end of the left hand (m).
const ARM: [Vec3; 5] = [
    at(0.035, 1.35, 0.0),
    at(0.185, 1.345, -0.01),
    at(0.365, 1.165, -0.02),
    at(0.52, 1.005, 0.01),
    at(0.6, 0.92, 0.03),
];
/// The joints from the hips up to the top of the head (m).
const SPINE: [Vec3; 7] = [
    at(0.0, 0.9, -0.01),
    at(0.0, 1.0, -0.02),
    at(0.0, 1.12, -0.025),
    at(0.0, 1.24, -0.02),
    at(0.0, 1.39, -0.01),
    at(0.0, 1.47, 0.0),
    at(0.0, 1.64, 0.01),
];

/// The dancer: `tets` is the approximate number of tets of the cage, `spacing` that of surface vertices (m).
pub fn dancer(tets: usize, spacing: f64) -> Scene {
    let mut character = CharacterDesc {
        name: "dancer",
        bones: Vec::new(),
        primitives: shape::primitives(),
        spacing,
        tets,
        // a layer of fat of a hand's thickness h sways at 2 to 4 Hz: f ≈ √(μ/ρ)/(4 h)
        material: Material::soft_solid(15e3, 0.42, 960.0, 0.1),
        core: CoreDesc { stiffness: 6.0, reach: 0.5 },
        ties: Vec::new(),
        gravity: EARTH,
    };
    bones(&mut character);
    let cycle = Cycle { keys: 60, frames_per_key: 8, pose: &dance::pose };
    character.scene(&cycle, 8.0)
}

fn bones(character: &mut CharacterDesc) {
    let ball = |_: f64| JointKind::Ball;
    character.root("hips", [SPINE[0], SPINE[1]], 0.06, JointKind::Free);
    let spine = [("spine", "hips", 0.045), ("chest", "spine", 0.05), ("upper chest", "chest", 0.06)];
    for (i, (name, parent, radius)) in spine.into_iter().enumerate() {
        character.bone(name, parent, [SPINE[i + 1], SPINE[i + 2]], radius, JointKind::Ball);
    }
    character.bone("neck", "upper chest", [SPINE[4], SPINE[5]], 0.035, JointKind::Ball);
    character.bone("head", "neck", [SPINE[5], SPINE[6]], 0.085, JointKind::Ball);
    character.pair("shoulder", "upper chest", [ARM[0], ARM[1]], 0.025, ball);
    character.pair("upper arm", "shoulder", [ARM[1], ARM[2]], 0.034, ball);
    character.pair("forearm", "upper arm", [ARM[2], ARM[3]], 0.034, ball);
    character.pair("hand", "forearm", [ARM[3], ARM[4]], 0.02, ball);
    character.pair("thigh", "hips", [LEG[0], LEG[1]], 0.055, ball);
    character.pair("shin", "thigh", [LEG[1], LEG[2]], 0.044, ball);
    character.pair("foot", "shin", [LEG[2], LEG[3]], 0.03, ball);
}
