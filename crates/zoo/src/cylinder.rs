//! A column of rubber that is held below, and twisted, bent and stretched from above.

use crate::cycle::{Cycle, Posture, bump};
use crate::figure::{EARTH, Figure, at};
use sinew_flesh::Material;
use sinew_math::{Vec3, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::CoreDesc;
use sinew_skeleton::JointKind;
use sinew_take::Scene;

/// Height and radius (m), and how many flutes run along it, which show how it is twisted.
const HEIGHT: f64 = 0.4;
const RADIUS: f64 = 0.055;
const FLUTES: usize = 10;

/// A fluted column between a plate that stands and one that moves.
pub fn cylinder() -> Scene {
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
    let mut figure = Figure {
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
    figure.root("below", plate(-0.01), 0.026, JointKind::Fixed);
    figure.root("above", plate(HEIGHT + 0.01), 0.026, JointKind::Free);
    figure.scene(&Cycle { keys: 40, frames_per_key: 15, pose: &twist }, 5.0)
}

/// Twisted by half a turn and back, bent to the side, stretched.
fn twist(fraction: f64, posture: &mut Posture) {
    let (twisted, bent, pulled) =
        (bump(fraction, 0.0, 0.45), bump(fraction, 0.4, 0.75), bump(fraction, 0.72, 1.0));
    let middle = at(0.05, HEIGHT + 0.01, 0.0);
    let bend = so3::exp(&(Vec3::z() * (-60.0f64 * bent).to_radians()));
    let turned = bend * so3::exp(&(Vec3::y() * (200.0f64 * twisted).to_radians()));
    // the bone begins beside the axis: its begin goes round, the middle of the plate goes where it is sent
    let sent = at(0.16 * bent, -0.07 * bent - 0.03 * twisted + 0.12 * pulled, 0.0);
    let begin = sent + turned * at(-0.05, 0.0, 0.0) + middle - at(0.0, HEIGHT + 0.01, 0.0);
    posture.place("above", begin, &turned);
}
