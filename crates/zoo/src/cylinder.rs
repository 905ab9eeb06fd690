//! A rubber column, fixed at the bottom, and twisted, bent and stretched from the top.

use crate::character_desc::{CharacterDesc, EARTH, at};
use crate::cycle::{Cycle, PoseBuilder, bump};
use sinew_flesh::Material;
use sinew_math::{Vec3, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::CoreDesc;
use sinew_skeleton::JointKind;
use sinew_take::Scene;

/// Height and radius (m), and number of flutes along it, which make the twist visible.
const HEIGHT: f64 = 0.4;
const RADIUS: f64 = 0.055;
const FLUTES: usize = 10;

/// A fluted column between a fixed and a moving plate.
pub fn cylinder() -> Scene {
    // the column and its two plates
    let inside = [at(0.0, RADIUS, 0.0), at(0.0, HEIGHT - RADIUS, 0.0)];
    let mut primitives = vec![Primitive::round_cone(inside, [RADIUS; 2]).blended(0.01)];
    for flute in 0..FLUTES {
        let turned = so3::exp(&(Vec3::y() * (core::f64::consts::TAU * flute as f64 / FLUTES as f64)));
        let ends = [turned * at(RADIUS, 0.0, 0.0), turned * at(RADIUS, HEIGHT, 0.0)];
        primitives.push(Primitive::round_cone(ends, [0.016; 2]).blended(0.01));
        // spokes of the plates
        for y in [-0.01, HEIGHT + 0.01] {
            let spoke = [at(0.0, y, 0.0), turned * at(0.085, 0.0, 0.0) + at(0.0, y, 0.0)];
            primitives.push(Primitive::round_cone(spoke, [0.024, 0.028]).blended(0.02));
        }
    }

    // a bone in each plate
    let mut character = CharacterDesc {
        name: "cylinder",
        bones: Vec::new(),
        primitives,
        spacing: 0.007,
        tets: 5000,
        material: Material::soft_solid(20e3, 0.42, 1000.0, 0.08),
        core: CoreDesc::EVEN,
        ties: Vec::new(),
        gravity: EARTH,
    };
    let plate = |y: f64| [at(-0.05, y, 0.0), at(0.05, y, 0.0)];
    character.root("below", plate(-0.01), 0.026, JointKind::Fixed);
    character.root("above", plate(HEIGHT + 0.01), 0.026, JointKind::Free);
    character.scene(&Cycle { keys: 40, frames_per_key: 15, pose: &twist }, 5.0)
}

/// Twists by 200° and back, bends to the side, stretches.
fn twist(fraction: f64, pose: &mut PoseBuilder) {
    let (twisted, bent, pulled) =
        (bump(fraction, 0.0, 0.45), bump(fraction, 0.4, 0.75), bump(fraction, 0.72, 1.0));
    let middle = at(0.05, HEIGHT + 0.01, 0.0);
    let bend = so3::exp(&(Vec3::z() * (-60.0f64 * bent).to_radians()));
    let turned = bend * so3::exp(&(Vec3::y() * (200.0f64 * twisted).to_radians()));
    // the bone starts beside the axis: its start rotates with the plate, whose centre moves as given
    let sent = at(0.16 * bent, -0.07 * bent - 0.03 * twisted + 0.12 * pulled, 0.0);
    let begin = sent + turned * at(-0.05, 0.0, 0.0) + middle - at(0.0, HEIGHT + 0.01, 0.0);
    pose.place("above", begin, &turned);
}
