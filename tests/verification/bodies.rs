//! Bodies and laws for the verification tests.

use sinew::prelude::*;

/// All laws, with default parameters.
pub(crate) const LAWS: [Law; 3] = [
    Law::StVenantKirchhoff(StretchLimits { lower: 0.75, upper: 1.4 }),
    Law::Corotational,
    Law::StableNeoHookean,
];

/// A number between −1 and 1 from a fixed sequence.
pub(crate) fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A vector of pseudo-random numbers.
pub(crate) fn random_vector(seed: &mut u64) -> Vec3 {
    Vec3::new(random(seed), random(seed), random(seed))
}

/// A body of tets without pins, loads or bones.
pub(crate) fn loose(mesh: TetMesh, material: Material) -> BodyDesc {
    BodyDesc {
        name: "body".into(),
        shape: ShapeDesc::Tets(mesh),
        material,
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: None,
        sag: Sag::Free,
        ..BodyDesc::default()
    }
}

/// A world of one body.
pub(crate) fn world(gravity: Vec3, body: BodyDesc) -> Model {
    Model::build(&WorldDesc { gravity, bodies: vec![body], rigs: Vec::new(), ..WorldDesc::default() })
        .expect("a sound world")
}
