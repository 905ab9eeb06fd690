//! The implicit primitives of the dancer's body.

use super::{ARM, LEG};
use crate::character_desc::at;
use sinew_math::{Rotation, Vec3, real, so3};
use sinew_mesh::{Primitive, PrimitiveShape};

/// Number of petals of the skirt.
const PETALS: usize = 30;
/// Scale of the head about the end of the neck.
const HEAD: f64 = 1.14;
const NECK_END: Vec3 = at(0.0, 1.45, 0.0);

/// All primitives.
pub(super) fn primitives() -> Vec<Primitive> {
    let middle = [trunk(), skirt(), enlarged(head())].concat();
    let sides = [breast_and_back(), arm(), leg(), enlarged(face())].concat();
    middle
        .into_iter()
        .chain(sides.into_iter().flat_map(|primitive| [primitive, primitive.mirrored_in_x()]))
        .collect()
}

/// Scales primitives about the end of the neck.
fn enlarged(parts: Vec<Primitive>) -> Vec<Primitive> {
    let away = |p: Vec3| NECK_END + (p - NECK_END) * HEAD;
    let larger = |primitive: Primitive| {
        let shape = match primitive.shape {
            PrimitiveShape::RoundCone { ends, radii } => {
                PrimitiveShape::RoundCone { ends: ends.map(away), radii: radii.map(|r| HEAD * r) }
            }
            PrimitiveShape::Ellipsoid { center, world_from_axes, radii } => PrimitiveShape::Ellipsoid {
                center: away(center),
                world_from_axes,
                radii: radii.map(|r| HEAD * r),
            },
        };
        Primitive { shape, blend: HEAD * primitive.blend }
    };
    parts.into_iter().map(larger).collect()
}

fn ellipsoid(middle: Vec3, radii: [f64; 3], blend: f64) -> Primitive {
    Primitive::ellipsoid(middle, Rotation::identity(), radii).blended(blend)
}

fn leaning(middle: Vec3, degrees: Vec3, radii: [f64; 3], blend: f64) -> Primitive {
    Primitive::ellipsoid(middle, so3::exp(&degrees.map(f64::to_radians)), radii).blended(blend)
}

fn trunk() -> Vec<Primitive> {
    vec![
        // the belly, widest slightly below the navel
        ellipsoid(at(0.0, 1.02, 0.1), [0.212, 0.175, 0.205], 0.05),
        ellipsoid(at(0.0, 1.09, 0.03), [0.205, 0.17, 0.175], 0.06),
        // hips, ribs and shoulders
        ellipsoid(at(0.0, 0.885, -0.01), [0.225, 0.12, 0.155], 0.05),
        ellipsoid(at(0.0, 1.24, 0.0), [0.19, 0.15, 0.135], 0.06),
        Primitive::round_cone([at(-0.11, 1.33, -0.015), at(0.11, 1.33, -0.015)], [0.085, 0.085])
            .blended(0.05),
        Primitive::round_cone([at(0.0, 1.36, -0.01), at(0.0, 1.47, 0.0)], [0.085, 0.075]).blended(0.035),
    ]
}

/// A skirt of petals that blend into each other.
fn skirt() -> Vec<Primitive> {
    let petal = |i: usize| {
        let angle = core::f64::consts::TAU * i as f64 / PETALS as f64;
        let outward = at(real::sin(angle), 0.0, real::cos(angle));
        let ends = [outward * 0.15 + at(0.0, 0.945, 0.0), outward * 0.315 + at(0.0, 0.915, 0.01)];
        Primitive::round_cone(ends, [0.03, 0.026]).blended(0.02)
    };
    (0..PETALS).map(petal).collect()
}

fn breast_and_back() -> Vec<Primitive> {
    vec![
        ellipsoid(at(0.086, 1.22, 0.09), [0.083, 0.075, 0.066], 0.035),
        ellipsoid(at(0.105, 0.865, -0.1), [0.118, 0.12, 0.105], 0.035),
        // rolls at the waist
        ellipsoid(at(0.165, 1.03, -0.01), [0.08, 0.07, 0.11], 0.03),
    ]
}

fn arm() -> Vec<Primitive> {
    let [_, shoulder, elbow, wrist, tip] = ARM;
    let hang = (shoulder + elbow) * 0.5 + at(-0.018, -0.022, -0.005);
    let along = wrist - elbow;
    vec![
        Primitive::sphere(shoulder + at(-0.005, -0.01, 0.0), 0.086).blended(0.04),
        Primitive::round_cone([shoulder, elbow], [0.082, 0.063]).blended(0.03),
        // the fat below the upper arm
        leaning(hang, at(0.0, 0.0, -45.0), [0.115, 0.07, 0.07], 0.035),
        Primitive::round_cone([elbow, elbow + along * 0.35], [0.058, 0.06]).blended(0.03),
        Primitive::round_cone([elbow + along * 0.35, wrist], [0.06, 0.04]).blended(0.03),
        // a mitten with a thumb
        leaning(
            (wrist + tip) * 0.5 + at(0.012, -0.014, 0.004),
            at(0.0, -8.0, -46.0),
            [0.072, 0.03, 0.05],
            0.022,
        ),
        Primitive::round_cone([wrist + at(0.0, -0.01, 0.03), wrist + at(0.02, -0.05, 0.085)], [0.022, 0.017])
            .blended(0.018),
    ]
}

fn leg() -> Vec<Primitive> {
    let [hip, knee, ankle, _] = LEG;
    vec![
        Primitive::round_cone([hip + at(0.02, -0.02, 0.0), knee], [0.13, 0.078]).blended(0.025),
        ellipsoid(at(0.165, 0.74, 0.005), [0.112, 0.16, 0.125], 0.03),
        Primitive::round_cone([knee, ankle], [0.076, 0.05]).blended(0.025),
        ellipsoid(at(0.178, 0.34, -0.03), [0.072, 0.12, 0.075], 0.03),
        // a broad foot
        leaning(at(0.195, 0.042, 0.05), at(2.0, 8.0, 0.0), [0.062, 0.042, 0.125], 0.03),
        Primitive::sphere(ankle + at(0.0, -0.03, -0.005), 0.05).blended(0.03),
    ]
}

fn head() -> Vec<Primitive> {
    vec![
        ellipsoid(at(0.0, 1.575, 0.005), [0.116, 0.132, 0.122], 0.03),
        // chin, nose, and a bun of hair
        ellipsoid(at(0.0, 1.485, 0.05), [0.085, 0.06, 0.065], 0.035),
        Primitive::sphere(at(0.0, 1.56, 0.13), 0.028).blended(0.012),
        Primitive::sphere(at(0.0, 1.735, -0.035), 0.062).blended(0.012),
    ]
}

fn face() -> Vec<Primitive> {
    vec![
        // cheeks, ears, eyes, and half a smile
        ellipsoid(at(0.058, 1.525, 0.075), [0.05, 0.045, 0.045], 0.025),
        leaning(at(0.12, 1.565, -0.005), at(0.0, 20.0, 0.0), [0.018, 0.038, 0.028], 0.01),
        Primitive::sphere(at(0.042, 1.6, 0.108), 0.021).blended(0.006),
        Primitive::round_cone([at(0.0, 1.502, 0.121), at(0.04, 1.512, 0.109)], [0.012, 0.009]).blended(0.006),
    ]
}
