//! Friction anchors: the points where static friction holds surface points on obstacles and on other soft surfaces.

use sinew_contact::FrictionAnchor;
use sinew_math::Vec3;

/// The friction anchor of a point in contact with an obstacle, as part of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObstacleFrictionAnchor {
    /// The point: a surface vertex, numbered over all bodies, or a sample of a dynamic obstacle, numbered after them.
    pub point: u32,
    /// The obstacle in contact.
    pub obstacle: u32,
    /// The friction anchor in the frame of the obstacle.
    pub anchor: FrictionAnchor,
}

/// The friction anchor of a vertex in contact with a soft surface, as part of a state: a material point of that surface.
///
/// ```text
/// anchor = Σ wₖ xₖ   over the corners of the triangle,   Σ wₖ = 1
/// ```
///
/// The point moves with the surface. It lies in the plane of the triangle, possibly outside of it, so weights may be negative or greater than 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFrictionAnchor {
    /// The vertex, numbered over all bodies.
    pub vertex: u32,
    /// The triangle, numbered over all bodies.
    pub triangle: u32,
    /// Barycentric weights of its corners, which sum to 1.
    pub weights: [f64; 3],
}

impl PairFrictionAnchor {
    /// All values, for saving.
    pub fn numbers(&self) -> [f64; 5] {
        let [a, b, c] = self.weights;
        [f64::from(self.vertex), f64::from(self.triangle), a, b, c]
    }

    /// The friction anchor with these values.
    pub fn from_numbers([vertex, triangle, a, b, c]: [f64; 5]) -> PairFrictionAnchor {
        PairFrictionAnchor { vertex: vertex as u32, triangle: triangle as u32, weights: [a, b, c] }
    }

    /// The position of the anchor for the given corners of the triangle (m).
    #[inline]
    pub fn place(&self, corners: [Vec3; 3]) -> Vec3 {
        let [a, b, c] = self.weights;
        a * corners[0] + b * corners[1] + c * corners[2]
    }
}

impl ObstacleFrictionAnchor {
    /// All values, for saving.
    pub fn numbers(&self) -> [f64; 8] {
        let FrictionAnchor { place, side } = self.anchor;
        let ids = [f64::from(self.point), f64::from(self.obstacle)];
        [ids[0], ids[1], place.x, place.y, place.z, side.x, side.y, side.z]
    }

    /// The friction anchor with these values.
    pub fn from_numbers([point, obstacle, px, py, pz, sx, sy, sz]: [f64; 8]) -> ObstacleFrictionAnchor {
        let anchor = FrictionAnchor { place: Vec3::new(px, py, pz), side: Vec3::new(sx, sy, sz) };
        ObstacleFrictionAnchor { point: point as u32, obstacle: obstacle as u32, anchor }
    }
}
