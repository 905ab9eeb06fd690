//! Friction of a pair whose normal, normal force and closest points are those of an earlier iterate.

use super::barrier_pairs::BarrierPair;
use sinew_contact::{PairDistance, SmoothFriction};
use sinew_math::{Mat3, Vec3};

/// Friction of one pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaggedFriction {
    pub(super) points: [u32; 4],
    /// Coefficients of the points in the vector between the closest points.
    pub(super) weights: [f64; 4],
    normal: Vec3,
    /// Displacement of a plane since the beginning of the stage (m).
    carried: Vec3,
    pub(super) law: SmoothFriction,
}

/// Slip speed at which friction is fully developed, in activation distances per second: creep on inclines is slower, some tenths of a millimetre per second on a box of 10 cm.
const SLIP_SPEED: f64 = 1.0;

impl LaggedFriction {
    /// The friction of a pair with a normal force (N), in steps of `h` (s).
    pub(super) fn new(
        pair: &BarrierPair,
        distance: &PairDistance,
        force: f64,
        carried: Vec3,
        h: f64,
    ) -> LaggedFriction {
        let slip = SLIP_SPEED * pair.barrier.range * h;
        let law = SmoothFriction { limit: pair.friction * force, slip };
        let PairDistance { weights, normal, .. } = *distance;
        LaggedFriction { points: pair.points, weights, normal, carried, law }
    }

    /// The tangential slip since the beginning of the stage (m), from positions of points then and now.
    pub(super) fn slip(&self, x: &[Vec3], start: &[Vec3]) -> Vec3 {
        let moved = |i: usize| x[self.points[i] as usize] - start[self.points[i] as usize];
        let slip = (0..4).map(|i| self.weights[i] * moved(i)).sum::<Vec3>() - self.carried;
        slip - slip.dot(&self.normal) * self.normal
    }

    /// The Hessian with respect to the vector between the closest points (N/m).
    pub(super) fn hessian(&self, x: &[Vec3], start: &[Vec3]) -> Mat3 {
        let tangential = Mat3::identity() - self.normal * self.normal.transpose();
        tangential * self.law.hessian(&self.slip(x, start)) * tangential
    }
}
