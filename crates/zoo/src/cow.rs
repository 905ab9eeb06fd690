//! A cow with soft ears and stiff horns, which shakes her head.                                        [Capell2004, fig. 5.4]

use crate::character_desc::{CharacterDesc, EARTH, at};
use crate::cycle::{Cycle, PoseBuilder, bump, wave};
use sinew_flesh::Material;
use sinew_math::{Rotation, Vec3, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::{CoreDesc, Hold, TieDesc};
use sinew_skeleton::JointKind;
use sinew_take::Scene;

/// Distance from its bone within which a horn is rigid (m): all of it.
const HORN: f64 = 0.032;

/// Heading from the z axis (rad), so that her side is visible.
const FACING: f64 = 1.15;

/// A standing cow that swings her head and tail and shakes her ears.
pub fn cow() -> Scene {
    let horns = ["left horn", "right horn"];
    let tie = |name: &str| TieDesc { bone: Some(name.to_owned()), hold: Hold::Near { distance: HORN } };
    let mut character = CharacterDesc {
        name: "cow",
        bones: Vec::new(),
        primitives: primitives(),
        spacing: 0.011,
        tets: 7000,
        material: Material::soft_solid(9e3, 0.42, 1000.0, 0.08),
        core: CoreDesc { stiffness: 4.0, reach: 0.4 },
        ties: horns.map(tie).to_vec(),
        gravity: EARTH,
    };
    bones(&mut character);
    character.scene(&Cycle { keys: 40, frames_per_key: 9, pose: &shake }, 6.0)
}

/// She faces z, with her left at positive x.
fn bones(character: &mut CharacterDesc) {
    let ball = |_: f64| JointKind::Ball;
    character.root("trunk", [at(0.0, 0.62, -0.02), at(0.0, 0.62, 0.22)], 0.07, JointKind::Free);
    character.bone("hips", "trunk", [at(0.0, 0.62, -0.02), at(0.0, 0.63, -0.3)], 0.065, JointKind::Ball);
    character.bone("neck", "trunk", [at(0.0, 0.66, 0.26), at(0.0, 0.8, 0.44)], 0.05, JointKind::Ball);
    character.bone("head", "neck", [at(0.0, 0.82, 0.45), at(0.0, 0.74, 0.62)], 0.05, JointKind::Ball);
    character.pair("horn", "head", [at(0.07, 0.9, 0.44), at(0.15, 1.0, 0.45)], 0.014, |_| JointKind::Fixed);
    character.bone("tail", "hips", [at(0.0, 0.68, -0.42), at(0.0, 0.52, -0.5)], 0.012, JointKind::Ball);
    character.bone("tail end", "tail", [at(0.0, 0.52, -0.5), at(0.0, 0.36, -0.51)], 0.012, JointKind::Ball);
    character.pair("fore leg", "trunk", [at(0.13, 0.48, 0.22), at(0.14, 0.27, 0.22)], 0.034, ball);
    character.pair("fore hoof", "fore leg", [at(0.14, 0.27, 0.22), at(0.14, 0.05, 0.22)], 0.034, ball);
    character.pair("hind leg", "hips", [at(0.13, 0.5, -0.3), at(0.14, 0.27, -0.33)], 0.036, ball);
    character.pair("hind hoof", "hind leg", [at(0.14, 0.27, -0.33), at(0.14, 0.05, -0.31)], 0.034, ball);
}

/// She looks from side to side and shakes her head hard twice.
fn shake(fraction: f64, pose: &mut PoseBuilder) {
    let hard = bump(fraction, 0.3, 0.75);
    let (slow, fast) = (wave(fraction), hard * wave(6.0 * fraction));
    pose.turn("neck", &[10.0 * wave(fraction + 0.2), 14.0 * slow + 9.0 * fast, 0.0]);
    pose.turn("head", &[-6.0 * slow, 8.0 * slow + 14.0 * fast, 16.0 * fast]);
    pose.turn("tail", &[-14.0, 0.0, 22.0 * wave(2.0 * fraction)]);
    pose.turn("tail end", &[0.0, 0.0, 30.0 * wave(2.0 * fraction - 0.18)]);

    // she shifts her weight; the legs lean the other way, so that the hooves stay in place
    let aside = 0.022 * slow;
    let facing = so3::exp(&(Vec3::y() * FACING));
    let trunk = at(0.0, 0.62, -0.02);
    pose.place("trunk", facing * (trunk + at(aside, 0.0, 0.0)) - trunk, &facing);
    let lean = (aside / 0.45).to_degrees();
    for leg in ["left fore leg", "right fore leg", "left hind leg", "right hind leg"] {
        pose.turn(leg, &[0.0, 0.0, -lean]);
    }
    for hoof in ["left fore hoof", "right fore hoof", "left hind hoof", "right hind hoof"] {
        pose.turn(hoof, &[0.0, 0.0, 0.0]);
    }
}

fn primitives() -> Vec<Primitive> {
    let leaning = |middle: Vec3, degrees: Vec3, radii: [f64; 3], blend: f64| {
        let turned: Rotation = so3::exp(&degrees.map(f64::to_radians));
        Primitive::ellipsoid(middle, turned, radii).blended(blend)
    };
    let upright = Vec3::zeros();

    // parts on the sagittal plane
    let middle = [
        // trunk, belly, shoulders and rump
        leaning(at(0.0, 0.6, -0.06), upright, [0.215, 0.2, 0.36], 0.06),
        leaning(at(0.0, 0.535, -0.04), upright, [0.2, 0.175, 0.26], 0.06),
        leaning(at(0.0, 0.63, 0.18), upright, [0.185, 0.19, 0.17], 0.06),
        leaning(at(0.0, 0.635, -0.32), upright, [0.195, 0.17, 0.145], 0.06),
        // neck, dewlap, skull, muzzle
        Primitive::round_cone([at(0.0, 0.66, 0.25), at(0.0, 0.81, 0.44)], [0.14, 0.105]).blended(0.06),
        leaning(at(0.0, 0.6, 0.36), at(-45.0, 0.0, 0.0), [0.045, 0.11, 0.12], 0.05),
        leaning(at(0.0, 0.835, 0.475), upright, [0.118, 0.108, 0.12], 0.04),
        Primitive::round_cone([at(0.0, 0.81, 0.52), at(0.0, 0.745, 0.64)], [0.092, 0.088]).blended(0.04),
        leaning(at(0.0, 0.735, 0.665), at(20.0, 0.0, 0.0), [0.1, 0.07, 0.06], 0.03),
        // udder, tail and its tuft
        leaning(at(0.0, 0.4, -0.22), upright, [0.1, 0.085, 0.1], 0.03),
        Primitive::round_cone([at(0.0, 0.7, -0.42), at(0.0, 0.54, -0.5)], [0.034, 0.026]).blended(0.03),
        Primitive::round_cone([at(0.0, 0.54, -0.5), at(0.0, 0.42, -0.51)], [0.026, 0.026]).blended(0.02),
        leaning(at(0.0, 0.36, -0.51), upright, [0.042, 0.075, 0.042], 0.02),
    ];

    // parts of the left side, which are mirrored: first fore and hind legs
    let sides = [
        Primitive::round_cone([at(0.12, 0.52, 0.22), at(0.14, 0.27, 0.22)], [0.1, 0.066]).blended(0.04),
        Primitive::round_cone([at(0.14, 0.27, 0.22), at(0.14, 0.07, 0.22)], [0.062, 0.06]).blended(0.025),
        Primitive::round_cone([at(0.14, 0.05, 0.225), at(0.14, 0.042, 0.235)], [0.07, 0.07]).blended(0.01),
        Primitive::round_cone([at(0.12, 0.53, -0.32), at(0.14, 0.27, -0.33)], [0.12, 0.066]).blended(0.04),
        Primitive::round_cone([at(0.14, 0.27, -0.33), at(0.14, 0.07, -0.31)], [0.062, 0.06]).blended(0.025),
        Primitive::round_cone([at(0.14, 0.05, -0.305), at(0.14, 0.042, -0.295)], [0.07, 0.07]).blended(0.01),
        // horns, curved upwards
        Primitive::round_cone([at(0.06, 0.89, 0.44), at(0.125, 0.945, 0.44)], [0.038, 0.03]).blended(0.014),
        Primitive::round_cone([at(0.125, 0.945, 0.44), at(0.145, 1.02, 0.46)], [0.03, 0.016]).blended(0.008),
        // hanging ears
        leaning(at(0.195, 0.835, 0.43), at(0.0, 12.0, -24.0), [0.098, 0.021, 0.047], 0.02),
        // eyes and nostrils
        Primitive::sphere(at(0.085, 0.86, 0.548), 0.026).blended(0.006),
        Primitive::round_cone([at(0.045, 0.755, 0.715), at(0.06, 0.765, 0.708)], [0.018, 0.018])
            .blended(0.008),
    ];
    middle
        .into_iter()
        .chain(sides.into_iter().flat_map(|primitive| [primitive, primitive.mirrored_in_x()]))
        .collect()
}
