//! A worm: a chain of seven bones, with joints that bend vertically and sideways.                     [KimPollard2011, fig. 3]

use crate::character_desc::{CharacterDesc, at};
use crate::cycle::{Cycle, PoseBuilder, wave};
use sinew_flesh::Material;
use sinew_math::{Rotation, Vec3, real, so3};
use sinew_mesh::Primitive;
use sinew_sim::desc::CoreDesc;
use sinew_skeleton::JointKind;
use sinew_take::Scene;

pub(crate) const BONES: usize = 7;
/// Length of a bone (m).
const LENGTH: f64 = 0.1;
/// Radius of the flesh at the start of each bone, and at the end of the last (m).
const FLESH: [f64; BONES + 1] = [0.03, 0.045, 0.052, 0.054, 0.054, 0.053, 0.05, 0.052];

/// A worm without gravity that swims by a wave along its body; `tets` is the approximate number of tets of the cage.
pub fn worm(tets: usize) -> Scene {
    let mut character = CharacterDesc {
        name: "worm",
        bones: Vec::new(),
        primitives: primitives(),
        spacing: 0.0145,
        tets,
        material: Material::soft_solid(6e3, 0.42, 1000.0, 0.12),
        core: CoreDesc { stiffness: 3.0, reach: 0.6 },
        ties: Vec::new(),
        gravity: Vec3::zeros(),
    };
    // the root is the middle bone, so that a free worm is driven symmetrically
    let joint = |i: usize| at(LENGTH * (i as f64 - 0.5 * BONES as f64), 0.0, 0.0);
    let name = |i: usize| format!("bone {}", i + 1);
    let bend = JointKind::Universal(Vec3::z(), Vec3::y());
    let radius = |i: usize| 0.38 * FLESH[i].min(FLESH[i + 1]);
    character.root(&name(3), [joint(3), joint(4)], radius(3), JointKind::Free);
    for i in 4..BONES {
        character.bone(name(i), &name(i - 1), [joint(i), joint(i + 1)], radius(i), bend.clone());
    }
    for i in (0..3).rev() {
        character.bone(name(i), &name(i + 1), [joint(i + 1), joint(i)], radius(i), bend.clone());
    }
    character.scene(&Cycle { keys: 24, frames_per_key: 10, pose: &swim }, 4.0)
}

/// Amplitude of vertical bending of a joint (rad), and its phase difference to the next joint as a fraction of the cycle.
const BEND: f64 = 0.7;
const LATE: f64 = 0.18;

/// A travelling wave of one and a quarter wavelengths, from head to tail.
///
/// With the bend βᵢ = B sin(2π(t + i δ)) at the joint before bone i, the tilts of bones are
///
/// ```text
/// θᵢ = −C cos(2π(t + (i + ½) δ)),   C = B / (2 sin πδ),   since θᵢ − θᵢ₋₁ = βᵢ
/// ```
///
/// and heights are sums of tilts, scaled by the same factor once more; the root moves such that the mean of the wave stays level.
fn swim(fraction: f64, pose: &mut PoseBuilder) {
    let bend = |joint: f64| BEND * wave(fraction + LATE * joint);
    let aside = |joint: f64| 0.2 * wave(fraction + LATE * joint + 0.3);
    for i in (0..BONES).filter(|i| *i != 3) {
        // joints are counted from the one before the root; bones before the root have their joints at the other end
        let (joint, sign) = if i > 3 { (i as f64 - 3.0, 1.0) } else { (i as f64 - 2.0, -1.0) };
        let angles = [sign * bend(joint), sign * aside(joint)].map(f64::to_degrees);
        pose.turn(&format!("bone {}", i + 1), &angles);
    }
    let fall_off = 2.0 * real::sin(core::f64::consts::PI * LATE);
    let tilt = -BEND / fall_off * wave(fraction + 0.5 * LATE + 0.25);
    let height = -LENGTH * BEND / (fall_off * fall_off) * wave(fraction);
    pose.place("bone 4", at(0.0, height, 0.0), &so3::exp(&(Vec3::z() * tilt)));
}

fn primitives() -> Vec<Primitive> {
    let joint = |i: usize| at(LENGTH * (i as f64 - 0.5 * BONES as f64), 0.0, 0.0);
    let mut primitives = Vec::new();
    for i in 0..BONES {
        let ends = [joint(i), joint(i + 1)];
        primitives.push(Primitive::round_cone(ends, [FLESH[i], FLESH[i + 1]]).blended(0.01));
        // the rings of a worm
        if i > 0 {
            let ring = Primitive::ellipsoid(
                joint(i),
                Rotation::identity(),
                [0.022, FLESH[i] + 0.007, FLESH[i] + 0.007],
            );
            primitives.push(ring.blended(0.012));
        }
    }
    // eyes and snout at the thick end
    for side in [1.0, -1.0] {
        primitives
            .push(Primitive::sphere(joint(BONES) + at(0.03, 0.032, side * 0.026), 0.019).blended(0.006));
    }
    primitives.push(Primitive::sphere(joint(BONES) + at(0.042, -0.004, 0.0), 0.022).blended(0.014));
    primitives
}
