//! Where friction holds a vertex on another soft surface.

use sinew_math::Vec3;

/// What a vertex that touches a surface remembers, as part of a state: the material point of that surface where friction holds it.
///
/// ```text
/// place = Σ wₖ xₖ   over the corners of the triangle,   Σ wₖ = 1
/// ```
///
/// The point moves with the surface. It lies in the plane of the triangle, beyond its edges as well, so weights may be below 0 and above 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFrictionAnchor {
    /// The vertex, counted over all bodies.
    pub vertex: u32,
    /// The triangle, counted over all bodies.
    pub triangle: u32,
    /// Weights of its corners, of sum 1.
    pub weights: [f64; 3],
}

impl PairFrictionAnchor {
    /// All its numbers, to be saved.
    pub fn numbers(&self) -> [f64; 5] {
        let [a, b, c] = self.weights;
        [f64::from(self.vertex), f64::from(self.triangle), a, b, c]
    }

    /// The friction anchor that has these numbers.
    pub fn from_numbers([vertex, triangle, a, b, c]: [f64; 5]) -> PairFrictionAnchor {
        PairFrictionAnchor { vertex: vertex as u32, triangle: triangle as u32, weights: [a, b, c] }
    }

    /// Where it holds, with the triangle's corners there (m).
    #[inline]
    pub fn place(&self, corners: [Vec3; 3]) -> Vec3 {
        let [a, b, c] = self.weights;
        a * corners[0] + b * corners[1] + c * corners[2]
    }
}
