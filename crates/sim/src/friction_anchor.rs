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

/// Two primitives of soft surfaces in contact, numbered over all bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SoftPair {
    /// A vertex and a triangle.
    VertexTriangle {
        /// The vertex.
        vertex: u32,
        /// The triangle.
        triangle: u32,
    },
    /// Two edges, the one with the smaller number first.
    Edges {
        /// The edges.
        edges: [u32; 2],
    },
}

/// The friction anchor of two soft surfaces in contact, as part of a state: material points of them.
///
/// ```text
/// vertex and triangle:   anchor = Σ wₖ xₖ   over the corners of the triangle,   Σ wₖ = 1
/// two edges:             anchors at the fractions w₀ and w₁ of the first and the second edge
/// ```
///
/// The points move with the surfaces. They lie in the plane of the triangle or on the lines of the edges, possibly outside of them, so weights may be negative or greater than 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFrictionAnchor {
    /// What is in contact; the triangle is that of the anchor.
    pub pair: SoftPair,
    /// Barycentric weights of the corners, which sum to 1, or two fractions and a zero.
    pub weights: [f64; 3],
}

impl PairFrictionAnchor {
    /// All values, for saving. Edges have a negative first number.
    pub fn numbers(&self) -> [f64; 5] {
        let [a, b, c] = self.weights;
        match self.pair {
            SoftPair::VertexTriangle { vertex, triangle } => {
                [f64::from(vertex), f64::from(triangle), a, b, c]
            }
            SoftPair::Edges { edges: [first, second] } => {
                [-1.0 - f64::from(first), f64::from(second), a, b, c]
            }
        }
    }

    /// The friction anchor with these values.
    pub fn from_numbers([first, second, a, b, c]: [f64; 5]) -> PairFrictionAnchor {
        let pair = if first < 0.0 {
            SoftPair::Edges { edges: [(-1.0 - first) as u32, second as u32] }
        } else {
            SoftPair::VertexTriangle { vertex: first as u32, triangle: second as u32 }
        };
        PairFrictionAnchor { pair, weights: [a, b, c] }
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
