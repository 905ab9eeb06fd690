//! An arm that bends at the elbow: the flesh bulges on the inside and stretches on the outside.

use crate::character_desc::{CharacterDesc, EARTH, at};
use crate::cycle::{Cycle, PoseBuilder, ramp, wave};
use sinew_flesh::Material;
use sinew_math::{Rotation, Vec3, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::CoreDesc;
use sinew_skeleton::JointKind;
use sinew_take::Scene;

const SHOULDER: Vec3 = at(-0.32, 0.0, 0.0);
const ELBOW: Vec3 = at(0.0, 0.0, 0.0);
const WRIST: Vec3 = at(0.27, 0.0, 0.0);

/// An arm with a fixed upper arm and an elbow that bends back and forth.
pub fn arm() -> Scene {
    arm_bones().scene(&Cycle { keys: 24, frames_per_key: 12, pose: &bend_arm }, 4.8)
}

/// The arm's bones and flesh.
pub(crate) fn arm_bones() -> CharacterDesc {
    let mut character = CharacterDesc {
        name: "arm",
        bones: Vec::new(),
        primitives: primitives(),
        spacing: 0.008,
        tets: 4000,
        material: Material::soft_solid(10e3, 0.44, 1000.0, 0.1),
        core: CoreDesc { stiffness: 4.0, reach: 0.5 },
        ties: Vec::new(),
        gravity: EARTH,
    };
    character.root("upper arm", [SHOULDER, ELBOW + at(-0.02, 0.0, 0.0)], 0.022, JointKind::Fixed);
    character.bone("forearm", "upper arm", [ELBOW, WRIST], 0.02, JointKind::Revolute(Vec3::z()));
    character.bone("hand", "forearm", [WRIST, at(0.38, 0.0, 0.0)], 0.016, JointKind::Revolute(Vec3::z()));
    character
}

/// Bends, holds, and extends faster.
pub(crate) fn bend_arm(fraction: f64, pose: &mut PoseBuilder) {
    let bent = ramp(fraction, 0.05, 0.35) - ramp(fraction, 0.6, 0.78);
    pose.turn("forearm", &[105.0 * bent]);
    pose.turn("hand", &[25.0 * bent + 6.0 * wave(2.0 * fraction)]);
}

fn primitives() -> Vec<Primitive> {
    let ellipsoid = |middle: Vec3, radii: [f64; 3], blend: f64| {
        Primitive::ellipsoid(middle, Rotation::identity(), radii).blended(blend)
    };
    let mut primitives = vec![
        Primitive::round_cone([SHOULDER, ELBOW], [0.075, 0.052]).blended(0.03),
        Primitive::sphere(SHOULDER + at(0.005, 0.01, 0.0), 0.092).blended(0.04),
        // biceps, and the fat below
        ellipsoid(at(-0.14, 0.028, 0.0), [0.11, 0.055, 0.055], 0.03),
        ellipsoid(at(-0.15, -0.045, 0.0), [0.125, 0.058, 0.055], 0.03),
        Primitive::round_cone([ELBOW, WRIST], [0.052, 0.032]).blended(0.03),
        ellipsoid(at(0.08, 0.004, 0.0), [0.095, 0.056, 0.053], 0.03),
        // the palm of the hand
        ellipsoid(at(0.315, 0.0, 0.0), [0.058, 0.022, 0.046], 0.02),
    ];

    // fingers and thumb
    for finger in 0..4 {
        let z = 0.033 - 0.022 * f64::from(finger);
        let length = [0.055, 0.068, 0.064, 0.046][finger as usize];
        let base = at(0.352, 0.0, z);
        primitives.push(
            Primitive::round_cone([base, base + at(length, 0.008, 0.12 * z)], [0.0125, 0.0105])
                .blended(0.004),
        );
    }
    let thumb = so3::exp(&at(0.0, -0.7, 0.0)) * at(0.062, 0.004, 0.0);
    let base = at(0.292, 0.004, 0.03);
    primitives.push(Primitive::round_cone([base, base + thumb], [0.018, 0.0125]).blended(0.01));
    primitives
}
