//! Gaps of vertices that overlap or nearly touch other flesh at rest, as functions of how far they have come apart from it.
//!
//! ```text
//! gap = g₀ + (g − g₀) s(t),   t = (|x − y| − d)/L,   s(t) = t² (3 − 2t)  between 0 and 1
//! ```
//!
//! y is the material point of the other flesh that was nearest at rest, at the distance d; g₀ is the gap that leaves rest free of forces, g the usual one. Flesh that has been carried away from where it overlapped, as an arm that is lifted,
//! collides with everything as usual; back in its rest pose it overlaps as drawn again. Nothing has to be remembered for that.

use sinew_contact::{SurfacePairs, TrianglePoint};
use sinew_math::Vec3;

/// The gap of one vertex.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestGap {
    pub(super) vertex: u32,
    /// y: corners of a triangle with their weights.
    pub(super) corners: [u32; 3],
    pub(super) weights: [f64; 3],
    /// d (m).
    pub(super) distance: f64,
    /// g₀ and g (m).
    pub(super) at_rest: f64,
    pub(super) usual: f64,
    /// L (m).
    pub(super) length: f64,
}

/// All gaps that depend on positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestGaps {
    vertices: Vec<RestGap>,
    /// Edges with such a vertex at one end.
    edges: Vec<u32>,
}

/// The point of a surface nearest to a vertex at rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearestAtRest {
    pub(super) corners: [u32; 3],
    pub(super) point: TrianglePoint,
    /// Distance (m).
    pub(super) distance: f64,
}

impl RestGaps {
    pub(super) fn build(vertices: Vec<RestGap>, pairs: &SurfacePairs) -> RestGaps {
        let mut is_one = vec![false; pairs.vertex_count()];
        vertices.iter().for_each(|own| is_one[own.vertex as usize] = true);
        let has_one = |edge: &u32| pairs.edge(*edge).ends.iter().any(|end| is_one[*end as usize]);
        let edges = (0..pairs.edge_count() as u32).filter(has_one).collect();
        RestGaps { vertices, edges }
    }

    /// Sets the gaps of pairs for points at the given positions (m).
    pub(crate) fn update(&self, x: &[Vec3], pairs: &mut SurfacePairs) {
        for own in &self.vertices {
            pairs.set_gap(own.vertex, own.gap(x));
        }
        for edge in &self.edges {
            let [a, b] = pairs.edge(*edge).ends.map(|end| pairs.gap(end));
            pairs.set_edge_gap(*edge, a.min(b));
        }
    }
}

impl RestGap {
    fn gap(&self, x: &[Vec3]) -> f64 {
        let there: Vec3 = (0..3).map(|i| self.weights[i] * x[self.corners[i] as usize]).sum();
        let apart = (x[self.vertex as usize] - there).norm() - self.distance;
        let t = (apart / self.length).clamp(0.0, 1.0);
        self.at_rest + (self.usual - self.at_rest) * (t * t * (3.0 - 2.0 * t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of rest as long as both move together, the usual one beyond the length, and in between it only rises.
    #[test]
    fn gaps_rise_as_surfaces_come_apart_and_fall_back_as_they_return() {
        let own = RestGap {
            vertex: 3,
            corners: [0, 1, 2],
            weights: [0.2, 0.3, 0.5],
            distance: 0.004,
            at_rest: -0.005,
            usual: 0.002,
            length: 0.01,
        };
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::z()];
        let there = Vec3::new(0.3, -0.004, 0.5);
        let gap = |shift: Vec3, moved: Vec3| {
            let x: Vec<Vec3> = corners.iter().map(|x| x + shift).chain([there + shift + moved]).collect();
            own.gap(&x)
        };
        assert_eq!(gap(Vec3::new(0.5, 1.0, -2.0), Vec3::zeros()), -0.005);
        assert!((gap(Vec3::zeros(), Vec3::y() * 0.1) - 0.002).abs() < 1e-15);
        let rising = (0..20).map(|i| gap(Vec3::x(), Vec3::x() * 1e-3 * f64::from(i)));
        assert!(rising.collect::<Vec<_>>().is_sorted());
    }
}
