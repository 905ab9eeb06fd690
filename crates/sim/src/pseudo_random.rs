//! Deterministic pseudo-random vectors.

use sinew_math::Vec3;

/// A fixed pseudo-random sequence of vectors with components between −1 and 1, which almost surely has a component along every mode.
pub(crate) fn pseudo_random_vectors() -> impl Iterator<Item = Vec3> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    core::iter::repeat_with(move || Vec3::new(random(), random(), random()))
}
