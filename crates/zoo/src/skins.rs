//! Elastic skin over muscles: the penguin of Turner and Thalmann, and an arm whose biceps swells.          `[TurnerThalmann1993]`

use crate::arm::bend_arm;
use crate::character_desc::{CharacterDesc, at};
use crate::cycle::Cycle;
use crate::penguin::{penguin_bones, waddle};
use sinew_control::{Approach, Performance};
use sinew_math::{Isometry, Rotation, Vec3, so3};
use sinew_sim::desc::{
    BandsDesc, BodyDesc, DriveSource, FixedSkin, ImplicitMuscleDesc, ImplicitMuscleDrive, ImplicitSolid,
    MuscleParameter, Region, RigDesc, SKIN, ShapeDesc, SkinDesc, SolidShape, WorldDesc,
};
use sinew_sim::wrap_skin;
use sinew_skeleton::Skeleton;
use sinew_take::Scene;

/// Time of the move from the rest pose to the first pose, and for the skin to settle there (s).
const APPROACH: f64 = 0.6;
const SETTLE: f64 = 0.6;

/// A penguin as a sack of loose skin over muscles: a grid of 32 by 32 points, whose poles are fixed to the head and the hips.       \[TurnerThalmann1993, figures 4 and 5\]
pub fn penguin_skin() -> Scene {
    penguin_skin_of([32, 32])
}

/// The same with so many rings and points around.
pub fn penguin_skin_of(count: [u32; 2]) -> Scene {
    let turned = |degrees: Vec3| so3::exp(&degrees.map(f64::to_radians));
    let egg = |name: &str, bone: &str, center: Vec3, radii: Vec3, degrees: Vec3| ImplicitMuscleDesc {
        name: name.into(),
        bone: Some(bone.into()),
        pose: Isometry::from_parts(center.into(), turned(degrees)),
        solid: ImplicitSolid::from(SolidShape::Ellipsoid { radii }),
        drives: Vec::new(),
    };
    let upright = Vec3::zeros();
    let mut muscles = vec![
        egg("body", "hips", at(0.0, 0.23, -0.01), at(0.145, 0.16, 0.135), upright),
        egg("belly", "hips", at(0.0, 0.19, 0.05), at(0.135, 0.135, 0.12), upright),
        egg("chest", "chest", at(0.0, 0.36, -0.01), at(0.115, 0.12, 0.105), upright),
        egg("neck", "neck", at(0.0, 0.46, -0.005), at(0.08, 0.08, 0.078), upright),
        egg("head", "head", at(0.0, 0.55, 0.008), at(0.085, 0.08, 0.088), upright),
        egg("beak", "beak", at(0.0, 0.55, 0.105), at(0.024, 0.02, 0.05), upright),
        egg("tail", "tail", at(0.0, 0.1, -0.14), at(0.045, 0.03, 0.07), at(-30.0, 0.0, 0.0)),
    ];
    for (side, sign) in [("left", 1.0), ("right", -1.0)] {
        let leg = format!("{side} leg");
        muscles.push(egg(&leg, &leg, at(0.085 * sign, 0.085, 0.0), at(0.055, 0.075, 0.055), upright));
    }
    let skin = SkinDesc {
        fabric: sinew_flesh::Fabric { areal_density: 2.5, stretch: 10.0, ..SKIN },
        rest_length: 0.95,
        even_points: true,
        fat: 0.008,
        muscles,
        bands: Some(BandsDesc { stiffness: 1500.0, slack: 0.006, ..BandsDesc::default() }),
        ..SkinDesc::default()
    };
    let cycle = Cycle { keys: 32, frames_per_key: 4, pose: &waddle };
    let poles = [(Vec3::y(), "head"), (-Vec3::y(), "hips")];
    scene(named("penguin-skin", penguin_bones()), skin, count, None, poles, &cycle, 4.0)
}

/// An arm that bends at the elbow, with a biceps that swells as it does: its skin slides over the muscles.
pub fn arm_skin() -> Scene {
    arm_skin_with(BandsDesc { stiffness: 1500.0, slack: 0.012, ..BandsDesc::default() })
}

/// The same arm with other bands.
pub fn arm_skin_with(bands: BandsDesc) -> Scene {
    let solid = |name: &str, bone: &str, center: Vec3, shape: SolidShape| ImplicitMuscleDesc {
        name: name.into(),
        bone: Some(bone.into()),
        // its axis along the arm
        pose: Isometry::from_parts(center.into(), along_x()),
        solid: ImplicitSolid::from(shape),
        drives: Vec::new(),
    };
    let egg = |x: f64, y: f64, z: f64| SolidShape::Ellipsoid { radii: at(x, y, z) };
    let swell = |most: f64| ImplicitMuscleDrive {
        parameter: MuscleParameter::Swell,
        source: DriveSource::JointAngle { bone: "forearm".into() },
        keys: vec![[0.0, 1.0], [0.6, 1.04], [1.8, most]],
    };
    let biceps = solid("biceps", "upper arm", at(-0.15, 0.026, 0.0), egg(0.036, 0.11, 0.036));
    let triceps = solid("triceps", "upper arm", at(-0.16, -0.028, 0.0), egg(0.034, 0.12, 0.036));
    let box_like = SolidShape::Superquadric { radii: at(0.024, 0.06, 0.042), squareness: [0.8, 0.8] };
    let muscles = vec![
        solid(
            "humerus",
            "upper arm",
            at(-0.16, 0.0, 0.0),
            SolidShape::Capsule { half_length: 0.15, radius: 0.034 },
        ),
        ImplicitMuscleDesc { drives: vec![swell(1.25)], ..biceps },
        ImplicitMuscleDesc { drives: vec![swell(0.94)], ..triceps },
        solid("shoulder", "upper arm", at(-0.3, 0.0, 0.0), SolidShape::Sphere { radius: 0.062 }),
        solid("elbow", "forearm", Vec3::zeros(), SolidShape::Sphere { radius: 0.036 }),
        solid("forearm", "forearm", at(0.1, 0.0, 0.0), egg(0.042, 0.13, 0.04)),
        solid(
            "wrist",
            "forearm",
            at(0.19, 0.0, 0.0),
            SolidShape::Capsule { half_length: 0.07, radius: 0.024 },
        ),
        solid("hand", "hand", at(0.32, 0.0, 0.0), box_like),
    ];
    let skin = SkinDesc {
        fabric: sinew_flesh::Fabric { areal_density: 1.5, stretch: 40.0, ..SKIN },
        rest_length: 0.97,
        // without it the folds in the elbow go on shaking
        friction: 0.4,
        even_points: true,
        fat: 0.006,
        muscles,
        bands: Some(bands),
        ..SkinDesc::default()
    };
    let cycle = Cycle { keys: 24, frames_per_key: 12, pose: &bend_arm };
    let poles = [(-Vec3::x(), "upper arm"), (Vec3::x(), "hand")];
    let axis = [at(-0.36, 0.0, 0.0), at(0.385, 0.0, 0.0)];
    scene(named("arm-skin", crate::arm::arm_bones()), skin, [64, 28], Some(axis), poles, &cycle, 4.8)
}

/// The rotation that turns y to x.
fn along_x() -> Rotation {
    so3::exp(&at(0.0, 0.0, -core::f64::consts::FRAC_PI_2))
}

fn named(name: &'static str, character: CharacterDesc) -> CharacterDesc {
    CharacterDesc { name, ..character }
}

/// A skin of a character without flesh, wrapped onto its muscles, with its poles fixed to two bones.
fn scene(
    character: CharacterDesc,
    skin: SkinDesc,
    count: [u32; 2],
    axis: Option<[Vec3; 2]>,
    poles: [(Vec3, &str); 2],
    cycle: &Cycle,
    seconds: f64,
) -> Scene {
    let name = character.name.to_owned();
    let skeleton = character.skeleton();
    // the muscles are there and have a size, so that a skin can be wrapped
    let surface = wrap_skin(&skin.muscles, skin.fat, count, axis, &Vec3::y()).unwrap_or_default();
    let ends = [surface.vertices.first(), surface.vertices.last()].map(|x| x.copied().unwrap_or_default());
    let ring = (ends[0] - ends[1]).norm() / f64::from(count[0]);
    let fixed = poles.iter().zip(ends).map(|((_, bone), pole)| FixedSkin {
        region: Region::Ball { center: pole, radius: 1.7 * ring },
        bone: (*bone).to_owned(),
    });
    let skin = SkinDesc { surface, rig: Some(name.clone()), fixed: fixed.collect(), ..skin };
    let motion = Skeleton::build(&skeleton.with_plain_masses()).ok().and_then(|built| cycle.motion(&built));
    let approach = Some(Approach { begin: -(APPROACH + SETTLE), end: -SETTLE });
    let body = BodyDesc { name: name.clone(), shape: ShapeDesc::Skin(Box::new(skin)), ..BodyDesc::default() };
    Scene {
        name: name.clone(),
        world: WorldDesc {
            gravity: character.gravity,
            bodies: vec![body],
            rigs: vec![RigDesc { name, skeleton }],
            ..WorldDesc::default()
        },
        pin_motions: vec![Vec::new()],
        performances: vec![Performance { approach, ..Performance::of(motion) }],
        preroll: APPROACH + SETTLE,
        seconds,
        ..Scene::default()
    }
}
