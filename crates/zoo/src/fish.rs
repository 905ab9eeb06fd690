//! A fish with a spine of five bones that undulates sideways, and fins that trail behind.             [KimPollard2011, fig. 3]

use crate::character_desc::{CharacterDesc, at};
use crate::cycle::{Cycle, PoseBuilder, wave};
use sinew_flesh::Material;
use sinew_math::{Rotation, Vec3, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::CoreDesc;
use sinew_skeleton::JointKind;
use sinew_take::Scene;

/// The joints of the spine from the head to the root of the tail, and the end of the last bone (m).
const SPINE: [Vec3; 5] =
    [at(0.07, 0.0, 0.0), at(-0.02, 0.0, 0.0), at(-0.1, 0.0, 0.0), at(-0.17, 0.0, 0.0), at(-0.235, 0.0, 0.0)];

/// A fish without gravity that swims in place; `tets` is the approximate number of tets of the cage.
pub fn fish(tets: usize) -> Scene {
    let mut character = character(tets);
    let hinge = || JointKind::Revolute(Vec3::y());
    character.root("head", [SPINE[0], at(0.17, 0.0, 0.0)], 0.022, JointKind::Free);
    character.bone("trunk", "head", [SPINE[0], SPINE[1]], 0.026, hinge());
    character.bone("loin", "trunk", [SPINE[1], SPINE[2]], 0.022, hinge());
    character.bone("stem", "loin", [SPINE[2], SPINE[3]], 0.014, hinge());
    character.bone("tail", "stem", [SPINE[3], SPINE[4]], 0.008, hinge());
    character.bone(
        "upper fluke",
        "tail",
        [at(-0.225, 0.012, 0.0), at(-0.275, 0.06, 0.0)],
        0.007,
        JointKind::Fixed,
    );
    character.bone(
        "lower fluke",
        "tail",
        [at(-0.225, -0.012, 0.0), at(-0.275, -0.06, 0.0)],
        0.007,
        JointKind::Fixed,
    );
    character.scene(&Cycle { keys: 16, frames_per_key: 7, pose: &swim }, 4.0)
}

/// Each bone rotates later and farther than the one before it: a travelling wave towards the tail.
fn swim(fraction: f64, pose: &mut PoseBuilder) {
    let beats = [("trunk", 7.0, 0.12), ("loin", 13.0, 0.24), ("stem", 22.0, 0.38), ("tail", 26.0, 0.52)];
    for (bone, degrees, late) in beats {
        pose.turn(bone, &[degrees * wave(fraction - late)]);
    }
    let heading = at(0.06 * wave(fraction + 0.25), 0.14 * wave(fraction + 0.45), 0.0);
    pose.place("head", at(0.0, 0.006 * wave(2.0 * fraction), 0.008 * wave(fraction)), &so3::exp(&heading));
}

fn character(tets: usize) -> CharacterDesc {
    let ellipsoid = |middle: Vec3, turned: f64, radii: [f64; 3], blend: f64| {
        let turned: Rotation = so3::exp(&(Vec3::z() * turned.to_radians()));
        Primitive::ellipsoid(middle, turned, radii).blended(blend)
    };
    let mut character = CharacterDesc {
        name: "fish",
        bones: Vec::new(),
        primitives: vec![
            // a deep body with a blunt head and a narrow tail stem
            ellipsoid(at(0.045, 0.0, 0.0), -3.0, [0.155, 0.088, 0.058], 0.03),
            ellipsoid(at(-0.07, 0.0, 0.0), 0.0, [0.125, 0.055, 0.036], 0.03),
            Primitive::round_cone([at(0.155, -0.004, 0.0), at(0.185, -0.006, 0.0)], [0.038, 0.03])
                .blended(0.02),
            Primitive::round_cone([at(-0.12, 0.0, 0.0), at(-0.21, 0.0, 0.0)], [0.032, 0.016]).blended(0.02),
            // lips
            Primitive::sphere(at(0.212, -0.018, 0.0), 0.014).blended(0.008),
            Primitive::sphere(at(0.215, 0.004, 0.0), 0.015).blended(0.008),
        ],
        spacing: 0.0112,
        tets,
        material: Material::soft_solid(8e3, 0.42, 1000.0, 0.12),
        core: CoreDesc { stiffness: 3.0, reach: 0.6 },
        ties: Vec::new(),
        gravity: Vec3::zeros(),
    };
    fins(&mut character);
    character
}

/// Fins are rays that blend into each other, thick enough to be simulated as flesh.
fn fins(character: &mut CharacterDesc) {
    // fins on the sagittal plane
    let mut ray = |from: Vec3, to: Vec3, radii: [f64; 2]| {
        character.primitive(Primitive::round_cone([from, to], radii).blended(0.012));
    };
    for fraction in [0.0, 0.25, 0.5, 0.75, 1.0] {
        // two tail lobes, dorsal fin, anal fin
        for up in [1.0, -1.0] {
            let tip = at(-0.325 + 0.045 * fraction, up * (0.105 - 0.085 * fraction), 0.0);
            ray(at(-0.2, 0.0, 0.0), tip, [0.014, 0.0105]);
        }
        let back = at(-0.075 + 0.03 * fraction, 0.125 - 0.01 * fraction, 0.0);
        ray(
            at(-0.045 + 0.1 * fraction, 0.06, 0.0),
            back + at(0.04 * fraction, -0.012 * fraction, 0.0),
            [0.014, 0.0105],
        );
        let below = at(-0.125 + 0.04 * fraction, -0.075, 0.0);
        ray(at(-0.09 + 0.035 * fraction, -0.035, 0.0), below, [0.012, 0.0105]);
    }

    // pectoral fins, and the eyes
    for side in [1.0, -1.0] {
        for fraction in [0.0, 0.33, 0.67, 1.0] {
            let tip =
                at(-0.01 + 0.04 * fraction, -0.085 - 0.03 * fraction, side * (0.105 + 0.012 * fraction));
            ray(at(0.075, -0.042, side * 0.042), tip, [0.014, 0.0105]);
        }
    }
    for side in [1.0, -1.0] {
        character.primitive(Primitive::sphere(at(0.152, 0.026, side * 0.033), 0.0165).blended(0.005));
    }
}
