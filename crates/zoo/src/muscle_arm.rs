//! A human arm that bends by its muscles: the elbow is limp, and biceps, triceps and a muscle of the forearm move it.

use crate::character_desc::{CharacterDesc, EARTH, at};
use crate::cycle::{Cycle, PoseBuilder};
use sinew_control::{BezierKey, BoneSelection, Cue, CueDrive, Curve, Extrapolation, MuscleDrive};
use sinew_flesh::{ForceLength, Material};
use sinew_math::{Rotation, Vec3};
use sinew_mesh::Primitive;
use sinew_sim::desc::{
    CoreDesc, FibreField, FleshMuscleDesc, MuscleDesc, MuscleEnd, MuscleKind, MuscleTissue, MuscleVolume,
};
use sinew_skeleton::{DofDesc, JointKind, Skeleton};
use sinew_take::Scene;

const SHOULDER: Vec3 = at(0.0, 0.31, 0.0);
const ELBOW: Vec3 = at(0.0, 0.0, 0.0);
/// The direction of the forearm at rest, bent by 50°, and the one that it bends towards.
const ALONG: Vec3 = at(0.766, -0.643, 0.0);
const BENDING: Vec3 = at(0.643, 0.766, 0.0);
/// Lengths of the forearm and of the hand (m).
const FOREARM: f64 = 0.25;
const HAND: f64 = 0.15;

/// The elbow hangs by this angle below its rest (°), and stops at these.
const HANGING: f64 = -42.0;
const RANGE: [f64; 2] = [-46.0, 85.0];

/// An arm whose upper arm is fixed: the forearm hangs, is lifted by its biceps, held, lowered, and stretched by its triceps.
pub fn muscle_arm() -> Scene {
    let mut character = CharacterDesc {
        name: "muscle-arm",
        bones: Vec::new(),
        primitives: primitives(),
        spacing: 0.008,
        tets: 5000,
        material: Material::tissue(5e3, 0.45, 1050.0, 0.3),
        core: CoreDesc { stiffness: 6.0, reach: 0.5 },
        ties: Vec::new(),
        gravity: EARTH,
    };
    character.root("upper arm", [SHOULDER, ELBOW + at(0.0, 0.03, 0.0)], 0.016, JointKind::Fixed);
    let wrist = FOREARM * ALONG;
    character.bone("forearm", "upper arm", [ELBOW, wrist], 0.015, JointKind::Revolute(Vec3::z()));
    character.bone("hand", "forearm", [wrist, (FOREARM + 0.95 * HAND) * ALONG], 0.011, JointKind::Fixed);
    let hang = |_: f64, pose: &mut PoseBuilder| pose.turn("forearm", &[HANGING]);
    let mut scene = character.scene(&Cycle { keys: 24, frames_per_key: 24, pose: &hang }, 5.0);

    // the elbow, which nothing but muscles drives
    let joint = &mut scene.world.rigs[0].skeleton.bones[1].joint;
    joint.dofs = vec![DofDesc {
        damping: 0.4,
        lower: RANGE[0].to_radians(),
        upper: RANGE[1].to_radians(),
        limit_stiffness: 60.0,
        limit_damping: 1.0,
        ..DofDesc::default()
    }];
    let elbow = Skeleton::build(&scene.world.rigs[0].skeleton.with_plain_masses());
    if let Some(bone) = elbow.ok().and_then(|skeleton| skeleton.find_bone("forearm")) {
        let bones = BoneSelection::These(vec![bone]);
        scene.performances[0].cues.push(Cue { time: 0.0, bones, drive: CueDrive::Limp });
    }

    // muscles
    (scene.world.muscles, scene.curves.muscles) = muscles().into_iter().unzip();
    scene
}

/// The muscles with their activations.
fn muscles() -> Vec<(MuscleDesc, MuscleDrive)> {
    let upper = |place: Vec3| ("upper arm", place);
    let lower =
        |along: f64, bending: f64, z: f64| ("forearm", along * ALONG + bending * BENDING + at(0.0, 0.0, z));
    let biceps = [(0.3, 0.0), (1.7, 0.42), (2.4, 0.5), (3.6, 0.05), (3.9, 0.0)];
    let triceps = [(3.4, 0.0), (4.0, 0.3), (4.5, 0.3), (4.9, 0.0)];
    let forearm = [(0.4, 0.0), (1.7, 0.3), (2.4, 0.35), (3.4, 0.0)];
    vec![
        muscle("biceps", [upper(at(0.02, 0.275, 0.0)), lower(0.05, 0.008, 0.0)], 0.026, &biceps),
        muscle(
            "triceps",
            [upper(at(-0.02, 0.265, 0.0)), ("forearm", at(-0.024, -0.004, 0.0))],
            0.026,
            &triceps,
        ),
        muscle("forearm", [upper(at(0.012, 0.05, 0.022)), lower(0.19, 0.008, 0.008)], 0.019, &forearm),
    ]
}

fn muscle(
    name: &str,
    ends: [(&str, Vec3); 2],
    radius: f64,
    keys: &[(f64, f64)],
) -> (MuscleDesc, MuscleDrive) {
    let end = |(bone, place): (&str, Vec3)| MuscleEnd { place, radius: Some(0.016), bone: Some(bone.into()) };
    let flesh = FleshMuscleDesc {
        body: "muscle-arm".into(),
        volume: MuscleVolume::Spindle(radius),
        ends: Some(ends.map(end)),
        fibres: FibreField::Harmonic,
        tissue: Some(MuscleTissue::default()),
    };
    let desc = MuscleDesc {
        name: name.into(),
        kind: MuscleKind::Flesh(Box::new(flesh)),
        curve: ForceLength::default(),
    };
    let keys = keys.iter().map(|(time, value)| BezierKey::auto(*time, *value)).collect();
    let activation = Curve::build(keys, Extrapolation::Hold).unwrap_or(Curve::Constant(0.0));
    (desc, MuscleDrive { activation, joint: None })
}

fn primitives() -> Vec<Primitive> {
    let ellipsoid = |middle: Vec3, rotation: Rotation, radii: [f64; 3], blend: f64| {
        Primitive::ellipsoid(middle, rotation, radii).blended(blend)
    };
    let upright = Rotation::identity();
    let bent = Rotation::from_axis_angle(&Vec3::z_axis(), -core::f64::consts::FRAC_PI_2 + 50f64.to_radians());
    let wrist = FOREARM * ALONG;
    let mut primitives = vec![
        Primitive::round_cone([SHOULDER, ELBOW], [0.058, 0.044]).blended(0.03),
        Primitive::sphere(SHOULDER + at(0.0, 0.005, 0.0), 0.066).blended(0.04),
        // biceps in front, triceps behind
        ellipsoid(at(0.024, 0.15, 0.0), upright, [0.036, 0.1, 0.036], 0.03),
        ellipsoid(at(-0.022, 0.165, 0.0), upright, [0.036, 0.105, 0.036], 0.03),
        Primitive::round_cone([ELBOW, wrist], [0.044, 0.028]).blended(0.03),
        ellipsoid(0.08 * ALONG + at(0.0, 0.0, 0.006), bent, [0.09, 0.043, 0.042], 0.03),
        // the palm of the hand
        ellipsoid((FOREARM + 0.05) * ALONG, bent, [0.055, 0.02, 0.042], 0.02),
    ];

    // fingers, slightly closed, and thumb
    for finger in 0..4 {
        let z = 0.03 - 0.02 * f64::from(finger);
        let length = [0.05, 0.06, 0.057, 0.042][finger as usize];
        let base = (FOREARM + 0.088) * ALONG + at(0.0, 0.0, z);
        let tip = base + length * (ALONG + 0.35 * BENDING);
        primitives.push(Primitive::round_cone([base, tip], [0.0115, 0.0095]).blended(0.004));
    }
    let base = (FOREARM + 0.03) * ALONG + at(0.0, 0.0, 0.03);
    let tip = base + 0.045 * ALONG + 0.015 * BENDING + at(0.0, 0.0, 0.028);
    primitives.push(Primitive::round_cone([base, tip], [0.016, 0.0115]).blended(0.01));
    primitives
}
