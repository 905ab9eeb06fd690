//! A waddling penguin with a heavy belly on short legs.                                                `[TurnerThalmann1993]`

use crate::character_desc::{CharacterDesc, EARTH, at};
use crate::cycle::{Cycle, PoseBuilder, wave};
use sinew_flesh::Material;
use sinew_math::{Isometry, Rotation, Vec3, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::CoreDesc;
use sinew_skeleton::JointKind;
use sinew_take::Scene;

/// The point it rocks about (m).
const HIPS: Vec3 = at(0.0, 0.16, -0.02);

/// A penguin that rocks from foot to foot with its flippers out; its belly lags behind.
pub fn penguin() -> Scene {
    penguin_bones().scene(&Cycle { keys: 32, frames_per_key: 4, pose: &waddle }, 4.0)
}

/// The penguin's bones and flesh.
pub(crate) fn penguin_bones() -> CharacterDesc {
    let mut character = CharacterDesc {
        name: "penguin",
        bones: Vec::new(),
        primitives: primitives(),
        spacing: 0.009,
        tets: 4500,
        material: Material::soft_solid(5e3, 0.42, 980.0, 0.08),
        core: CoreDesc { stiffness: 4.0, reach: 0.45 },
        ties: Vec::new(),
        gravity: EARTH,
    };
    let ball = |_: f64| JointKind::Ball;
    character.root("hips", [HIPS, at(0.0, 0.27, -0.03)], 0.04, JointKind::Free);
    character.bone("chest", "hips", [at(0.0, 0.27, -0.03), at(0.0, 0.42, -0.02)], 0.04, JointKind::Ball);
    character.bone("neck", "chest", [at(0.0, 0.42, -0.02), at(0.0, 0.5, 0.0)], 0.03, JointKind::Ball);
    character.bone("head", "neck", [at(0.0, 0.5, 0.0), at(0.0, 0.58, 0.01)], 0.04, JointKind::Ball);
    character.bone("beak", "head", [at(0.0, 0.555, 0.075), at(0.0, 0.545, 0.15)], 0.014, JointKind::Fixed);
    character.bone("tail", "hips", [at(0.0, 0.1, -0.14), at(0.0, 0.06, -0.2)], 0.015, JointKind::Ball);
    character.pair("flipper", "chest", [at(0.145, 0.40, -0.02), at(0.235, 0.29, -0.02)], 0.013, ball);
    character.pair("flipper tip", "flipper", [at(0.235, 0.29, -0.02), at(0.29, 0.205, -0.02)], 0.009, ball);
    character.pair("leg", "hips", [at(0.085, 0.12, 0.0), at(0.095, 0.035, 0.02)], 0.025, ball);
    character.pair("foot", "leg", [at(0.095, 0.03, 0.02), at(0.11, 0.022, 0.1)], 0.014, ball);
    character
}

/// One step of each foot.
pub(crate) fn waddle(fraction: f64, pose: &mut PoseBuilder) {
    // trunk, neck, head and tail
    let (side, step) = (wave(fraction), wave(2.0 * fraction + 0.25));
    let rock = so3::exp(&(at(0.0, 10.0 * wave(fraction + 0.2), -13.0 * side).map(f64::to_radians)));
    // it rocks about the supporting foot
    let pivot = at(0.095 * side, 0.0, 0.02);
    let bounce = at(0.0, 0.008 - 0.008 * step, 0.0);
    let world_from_hips = Isometry::from_parts((pivot - rock * pivot + bounce).into(), rock);
    let shift = world_from_hips.transform_point(&HIPS.into()).coords - HIPS;
    pose.place("hips", shift, &rock);
    pose.turn("chest", &[2.0, -6.0 * wave(fraction + 0.2), 5.0 * side]);
    pose.turn("neck", &[0.0, 0.0, 4.0 * side]);
    pose.turn("head", &[6.0 * step, -6.0 * wave(fraction + 0.1), 6.0 * side]);
    pose.turn("tail", &[0.0, 18.0 * side, 0.0]);

    // flippers, legs and feet
    for (name, sign) in [("left", 1.0), ("right", -1.0)] {
        let flap = 26.0 + 18.0 * sign * side;
        pose.turn(&format!("{name} flipper"), &[0.0, 0.0, sign * flap]);
        pose.turn(
            &format!("{name} flipper tip"),
            &[0.0, 0.0, sign * (8.0 + 14.0 * wave(fraction - 0.12) * sign)],
        );
        // the free foot swings forward, the other stays flat
        let free = (-sign * side).max(0.0);
        let ahead = sign * wave(fraction + 0.25);
        pose.turn(&format!("{name} leg"), &[-18.0 * free - 7.0 * ahead, 0.0, 6.0 * side]);
        pose.turn(&format!("{name} foot"), &[14.0 * free + 7.0 * ahead, 0.0, 7.0 * side]);
    }
}

fn primitives() -> Vec<Primitive> {
    let ellipsoid = |middle: Vec3, degrees: Vec3, radii: [f64; 3], blend: f64| {
        let turned: Rotation = so3::exp(&degrees.map(f64::to_radians));
        Primitive::ellipsoid(middle, turned, radii).blended(blend)
    };
    let upright = Vec3::zeros();
    let middle = [
        // body, belly, round head with a beak, short tail
        ellipsoid(at(0.0, 0.25, -0.01), upright, [0.155, 0.2, 0.15], 0.04),
        ellipsoid(at(0.0, 0.195, 0.055), upright, [0.15, 0.15, 0.14], 0.05),
        ellipsoid(at(0.0, 0.38, -0.01), upright, [0.12, 0.12, 0.112], 0.05),
        Primitive::round_cone([at(0.0, 0.44, -0.01), at(0.0, 0.53, 0.0)], [0.085, 0.08]).blended(0.04),
        ellipsoid(at(0.0, 0.56, 0.008), upright, [0.092, 0.088, 0.095], 0.03),
        Primitive::round_cone([at(0.0, 0.555, 0.085), at(0.0, 0.54, 0.165)], [0.032, 0.011]).blended(0.012),
        Primitive::round_cone([at(0.0, 0.13, -0.12), at(0.0, 0.055, -0.215)], [0.06, 0.02]).blended(0.03),
    ];
    let sides = [
        ellipsoid(at(0.165, 0.37, -0.02), at(0.0, 0.0, -48.0), [0.09, 0.026, 0.052], 0.03),
        ellipsoid(at(0.235, 0.285, -0.02), at(0.0, 0.0, -54.0), [0.105, 0.019, 0.043], 0.02),
        Primitive::round_cone([at(0.085, 0.13, 0.0), at(0.095, 0.04, 0.02)], [0.065, 0.04]).blended(0.02),
        ellipsoid(at(0.104, 0.025, 0.07), at(0.0, 12.0, 0.0), [0.05, 0.022, 0.082], 0.014),
        ellipsoid(at(0.045, 0.584, 0.08), upright, [0.018, 0.02, 0.018], 0.005),
    ];
    middle
        .into_iter()
        .chain(sides.into_iter().flat_map(|primitive| [primitive, primitive.mirrored_in_x()]))
        .collect()
}
