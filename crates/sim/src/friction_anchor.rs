//! Friction anchors: where friction holds points on obstacles and on other soft surfaces.

use sinew_contact::FrictionAnchor;
use sinew_math::Vec3;

/// What a touching point remembers, as part of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObstacleFrictionAnchor {
    /// The point: a surface vertex, counted over all bodies, or a sample of a free obstacle behind them.
    pub point: u32,
    /// The obstacle it touches.
    pub obstacle: u32,
    /// What it remembers, in the frame of the obstacle.
    pub anchor: FrictionAnchor,
}

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

impl ObstacleFrictionAnchor {
    /// All its numbers, to be saved.
    pub fn numbers(&self) -> [f64; 8] {
        let FrictionAnchor { place, side } = self.anchor;
        let ids = [f64::from(self.point), f64::from(self.obstacle)];
        [ids[0], ids[1], place.x, place.y, place.z, side.x, side.y, side.z]
    }

    /// The friction anchor that has these numbers.
    pub fn from_numbers([point, obstacle, px, py, pz, sx, sy, sz]: [f64; 8]) -> ObstacleFrictionAnchor {
        let anchor = FrictionAnchor { place: Vec3::new(px, py, pz), side: Vec3::new(sx, sy, sz) };
        ObstacleFrictionAnchor { point: point as u32, obstacle: obstacle as u32, anchor }
    }
}
