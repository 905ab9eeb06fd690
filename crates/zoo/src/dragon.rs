//! A small dragon with a long neck and tail, and wings that are thick sheets of flesh.                  [Capell2004, fig. 4.7]

use crate::character_desc::{CharacterDesc, EARTH, at};
use crate::cycle::{Cycle, PoseBuilder, bump, wave};
use sinew_flesh::Material;
use sinew_math::{Rotation, Vec3, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::CoreDesc;
use sinew_skeleton::JointKind;
use sinew_take::Scene;

/// Joints of the neck from the chest to the snout (m).
const NECK: [Vec3; 5] =
    [at(0.0, 0.06, 0.16), at(0.0, 0.14, 0.25), at(0.0, 0.24, 0.3), at(0.0, 0.34, 0.33), at(0.0, 0.35, 0.46)];
/// Joints of the tail from the hips to its tip (m).
const TAIL: [Vec3; 6] = [
    at(0.0, 0.02, -0.16),
    at(0.0, 0.0, -0.27),
    at(0.0, -0.01, -0.38),
    at(0.0, 0.0, -0.49),
    at(0.0, 0.03, -0.59),
    at(0.0, 0.07, -0.68),
];
/// Joints of the left wing from the shoulder to its tip (m).
const WING: [Vec3; 4] =
    [at(0.07, 0.11, 0.06), at(0.2, 0.2, 0.03), at(0.35, 0.235, -0.01), at(0.5, 0.22, -0.06)];

/// Heading from the z axis (rad), so that its side is visible.
const FACING: f64 = 0.75;

/// A dragon that flies in place.
pub fn dragon() -> Scene {
    let mut character = CharacterDesc {
        name: "dragon",
        bones: Vec::new(),
        primitives: primitives(),
        spacing: 0.009,
        tets: 8000,
        material: Material::soft_solid(8e3, 0.42, 1000.0, 0.08),
        core: CoreDesc { stiffness: 4.0, reach: 0.45 },
        ties: Vec::new(),
        gravity: EARTH,
    };
    bones(&mut character);
    character.scene(&Cycle { keys: 24, frames_per_key: 6, pose: &fly }, 4.8)
}

fn bones(character: &mut CharacterDesc) {
    let ball = |_: f64| JointKind::Ball;
    character.root("trunk", [at(0.0, 0.03, 0.0), NECK[0]], 0.045, JointKind::Free);
    character.bone("hips", "trunk", [at(0.0, 0.03, 0.0), TAIL[0]], 0.045, JointKind::Ball);
    for i in 0..3 {
        let parent = if i == 0 { "trunk".to_owned() } else { format!("neck {i}") };
        character.bone(format!("neck {}", i + 1), &parent, [NECK[i], NECK[i + 1]], 0.026, JointKind::Ball);
    }
    character.bone("head", "neck 3", [NECK[3], NECK[4]], 0.026, JointKind::Ball);
    for i in 0..5 {
        let parent = if i == 0 { "hips".to_owned() } else { format!("tail {i}") };
        let radius = [0.03, 0.024, 0.019, 0.014, 0.01][i];
        character.bone(format!("tail {}", i + 1), &parent, [TAIL[i], TAIL[i + 1]], radius, JointKind::Ball);
    }
    for i in 0..3 {
        let parent = if i == 0 { "trunk".to_owned() } else { format!("wing {i}") };
        character.pair(&format!("wing {}", i + 1), &parent, [WING[i], WING[i + 1]], 0.012, ball);
    }
    character.pair("arm", "trunk", [at(0.085, -0.03, 0.13), at(0.1, -0.13, 0.17)], 0.018, ball);
    character.pair("leg", "hips", [at(0.1, -0.03, -0.1), at(0.115, -0.13, -0.08)], 0.024, ball);
    character.pair("shin", "leg", [at(0.115, -0.13, -0.08), at(0.12, -0.21, -0.1)], 0.02, ball);
}

/// One wing beat; the body rises as the wings fall, neck and tail follow in a wave.
fn fly(fraction: f64, pose: &mut PoseBuilder) {
    // trunk and wings
    let beat = wave(fraction);
    let pitch = so3::exp(&(Vec3::x() * (-12.0 + 4.0 * beat).to_radians()));
    let facing = so3::exp(&(Vec3::y() * FACING));
    pose.place("trunk", at(0.0, 0.035 * wave(fraction - 0.25), 0.0), &(facing * pitch));
    let wings = [("wing 1", 34.0, 0.0), ("wing 2", 24.0, 0.1), ("wing 3", 22.0, 0.2)];
    for (bone, degrees, late) in wings {
        pose.turn_both(bone, at(0.0, 0.0, degrees * wave(fraction - late)));
    }

    // neck, head, tail
    for i in 0..3 {
        let nod = 6.0 * wave(fraction - 0.1 * f64::from(i));
        pose.turn(&format!("neck {}", i + 1), &[nod, 5.0 * wave(fraction - 0.3), 0.0]);
    }
    pose.turn("head", &[4.0 - 8.0 * wave(fraction - 0.25), 4.0 * wave(fraction - 0.45), 0.0]);
    for i in 0..5 {
        let late = 0.13 * f64::from(i);
        pose.turn(
            &format!("tail {}", i + 1),
            &[-9.0 * wave(fraction - late), 9.0 * wave(fraction - late - 0.2), 0.0],
        );
    }

    // hips and legs
    pose.turn("hips", &[4.0 * beat, 0.0, 0.0]);
    pose.turn_both("arm", at(14.0 * wave(fraction - 0.2), 0.0, 0.0));
    pose.turn_both("leg", at(10.0 * wave(fraction - 0.15), 0.0, 0.0));
    pose.turn_both("shin", at(12.0 + 10.0 * wave(fraction - 0.3), 0.0, 0.0));
}

fn primitives() -> Vec<Primitive> {
    let leaning = |middle: Vec3, degrees: Vec3, radii: [f64; 3], blend: f64| {
        let turned: Rotation = so3::exp(&degrees.map(f64::to_radians));
        Primitive::ellipsoid(middle, turned, radii).blended(blend)
    };
    let upright = Vec3::zeros();

    // parts on the sagittal plane: trunk and belly, head, neck, tail
    let mut middle = vec![
        leaning(at(0.0, 0.02, -0.01), upright, [0.115, 0.12, 0.18], 0.04),
        leaning(at(0.0, -0.025, 0.03), upright, [0.11, 0.105, 0.14], 0.04),
        // skull, snout, chin
        leaning(NECK[3] + at(0.0, 0.012, 0.02), upright, [0.062, 0.055, 0.068], 0.025),
        Primitive::round_cone([NECK[3] + at(0.0, 0.0, 0.05), NECK[4]], [0.048, 0.036]).blended(0.025),
        leaning(NECK[4] + at(0.0, 0.004, 0.004), upright, [0.046, 0.03, 0.036], 0.015),
        // the fin at the end of the tail
        leaning(TAIL[5] + at(0.0, 0.012, -0.018), at(20.0, 0.0, 0.0), [0.055, 0.02, 0.062], 0.016),
    ];
    for i in 0..3 {
        let radii = [[0.08, 0.054], [0.054, 0.044], [0.044, 0.042]][i];
        middle.push(Primitive::round_cone([NECK[i], NECK[i + 1]], radii).blended(0.03));
    }
    for i in 0..5 {
        let radii = [0.085, 0.064, 0.05, 0.037, 0.027, 0.02];
        middle.push(Primitive::round_cone([TAIL[i], TAIL[i + 1]], [radii[i], radii[i + 1]]).blended(0.02));
    }
    // plates along the back
    for (y, z, size) in [
        (0.15, 0.08, 0.03),
        (0.155, 0.0, 0.034),
        (0.145, -0.08, 0.032),
        (0.1, -0.18, 0.028),
        (0.06, -0.28, 0.024),
    ] {
        middle.push(leaning(at(0.0, y - 0.012, z), at(-25.0, 0.0, 0.0), [0.0135, size + 0.006, size], 0.01));
    }

    // parts of the left side, which are mirrored
    let mut sides = vec![
        // horns, eyes, nostrils
        Primitive::round_cone(
            [NECK[3] + at(0.028, 0.05, 0.0), NECK[3] + at(0.045, 0.115, -0.05)],
            [0.017, 0.009],
        )
        .blended(0.008),
        Primitive::sphere(NECK[3] + at(0.042, 0.036, 0.058), 0.0165).blended(0.004),
        Primitive::sphere(NECK[4] + at(0.018, 0.026, 0.022), 0.0125).blended(0.006),
        // arms and legs
        Primitive::round_cone([at(0.075, -0.02, 0.12), at(0.1, -0.125, 0.165)], [0.042, 0.027]).blended(0.02),
        Primitive::sphere(at(0.1, -0.145, 0.175), 0.032).blended(0.015),
        Primitive::round_cone([at(0.09, -0.02, -0.1), at(0.115, -0.13, -0.08)], [0.068, 0.042])
            .blended(0.025),
        Primitive::round_cone([at(0.115, -0.13, -0.08), at(0.12, -0.21, -0.1)], [0.04, 0.028]).blended(0.02),
        leaning(at(0.122, -0.225, -0.075), at(8.0, 0.0, 0.0), [0.034, 0.024, 0.055], 0.015),
    ];
    for i in 0..3 {
        let radii = [0.032, 0.026, 0.022, 0.015];
        sides.push(Primitive::round_cone([WING[i], WING[i + 1]], [radii[i], radii[i + 1]]).blended(0.016));
    }
    sides.extend(flap());
    middle
        .into_iter()
        .chain(sides.into_iter().flat_map(|primitive| [primitive, primitive.mirrored_in_x()]))
        .collect()
}

/// The sheet behind the bones of a wing: ribs so close that they blend into one, longest at the joints.
fn flap() -> Vec<Primitive> {
    const RIBS: usize = 17;
    let rib = |i: usize| {
        let along = 3.0 * (i as f64 + 0.5) / RIBS as f64;
        let part = (along as usize).min(2);
        let from = WING[part] + (WING[part + 1] - WING[part]) * (along - part as f64);
        let scallop = 1.0 - 0.16 * bump(along - part as f64, 0.0, 1.0);
        let length = scallop * (0.25 - 0.04 * along);
        let to = from + at(0.02 * along, -0.03, -length);
        Primitive::round_cone([from, to], [0.0135, 0.0125]).blended(0.02)
    };
    (0..RIBS).map(rib).collect()
}
