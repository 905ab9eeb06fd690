//! Vectors that go every way.

use sinew_math::Vec3;

/// Vectors with numbers between −1 and 1 that have a part along every motion: a fixed pseudo-random sequence.
pub(crate) fn pseudo_random_vectors() -> impl Iterator<Item = Vec3> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    core::iter::repeat_with(move || Vec3::new(random(), random(), random()))
}
