//! The rigid motion that fits the velocities of weighted points best, from their momentum and angular momentum.
//!
//! ```text
//! v̄ = Σ w v / Σ w,    x̄ = Σ w x / Σ w,    J ω = Σ w (x − x̄) × (v − v̄),    J = Σ w (|x − x̄|² I − (x − x̄)(x − x̄)ᵀ)
//! ```

use sinew_math::{Mat3, Vec3};

/// A field of velocities of a rigid motion: v(x) = v̄ + ω × (x − x̄).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RigidField {
    /// The centre x̄ (m).
    pub(crate) center: Vec3,
    /// Velocity of the centre v̄ (m/s).
    pub(crate) linear: Vec3,
    /// Angular velocity ω (rad/s).
    pub(crate) angular: Vec3,
}

impl RigidField {
    /// The velocity at a point (m/s).
    #[inline(always)]
    pub(crate) fn at(&self, x: &Vec3) -> Vec3 {
        self.linear + self.angular.cross(&(x - self.center))
    }
}

/// Sums over weighted points with velocities, about an origin close to them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RigidMoments {
    /// Σ w
    weight: f64,
    /// Σ w x
    first: Vec3,
    /// Σ w v
    linear: Vec3,
    /// Σ w x × v
    angular: Vec3,
    /// Σ w x xᵀ
    second: Mat3,
}

/// Smallest moment of inertia that counts, as a fraction of the largest possible one: points in line have no angular velocity about it, and none is found there.
const SMALLEST_INERTIA: f64 = 1e-12;

impl RigidMoments {
    /// Adds a point at `x` (m) from the origin.
    #[inline(always)]
    pub(crate) fn add(&mut self, weight: f64, x: &Vec3, v: &Vec3) {
        self.weight += weight;
        self.first += weight * x;
        self.linear += weight * v;
        self.angular += weight * x.cross(v);
        self.second += (weight * x) * x.transpose();
    }

    /// Adds the sums over other points about the same origin.
    pub(crate) fn merge(&mut self, other: &RigidMoments) {
        self.weight += other.weight;
        self.first += other.first;
        self.linear += other.linear;
        self.angular += other.angular;
        self.second += other.second;
    }

    /// The best-fit rigid motion, in the world if `origin` is the origin of the sums there.
    pub(crate) fn field(&self, origin: &Vec3) -> RigidField {
        let (center, linear) = (self.first / self.weight, self.linear / self.weight);
        let spin = self.angular - self.first.cross(&linear);
        let angular = inverse_inertia(&(self.second - self.first * center.transpose())) * spin;
        RigidField { center: origin + center, linear, angular }
    }
}

/// J⁻¹ for central second moments C = Σ w x xᵀ, J = tr(C) I − C, without angular motion about a line on which all points are.
pub(crate) fn inverse_inertia(second: &Mat3) -> Mat3 {
    let trace = second.trace();
    let inertia = Mat3::from_diagonal_element((1.0 + SMALLEST_INERTIA) * trace) - second;
    inertia.try_inverse().unwrap_or_else(Mat3::zeros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pseudo_random::pseudo_random_vectors;

    fn moments(points: &[Vec3], velocity: impl Fn(&Vec3) -> Vec3) -> RigidMoments {
        let mut sums = RigidMoments::default();
        points.iter().enumerate().for_each(|(i, x)| sums.add(1.0 + i as f64, x, &velocity(x)));
        sums
    }

    #[test]
    fn a_rigid_motion_fits_itself() {
        let points: Vec<Vec3> = pseudo_random_vectors().take(10).collect();
        let (linear, angular) = (Vec3::new(1.0, 2.0, -3.0), Vec3::new(0.5, -1.0, 2.0));
        let field = moments(&points, |x| linear + angular.cross(x)).field(&Vec3::zeros());
        for x in &points {
            assert!((field.at(x) - linear - angular.cross(x)).norm() < 1e-10);
        }
        assert!((field.angular - angular).norm() < 1e-10);
    }

    /// What a fit leaves has neither momentum nor angular momentum.
    #[test]
    fn the_residual_has_no_momentum() {
        let points: Vec<Vec3> = pseudo_random_vectors().take(12).collect();
        let velocity = |x: &Vec3| Vec3::new(x.y * x.y, x.z - 2.0 * x.x, x.x * x.y * x.z);
        let field = moments(&points, velocity).field(&Vec3::zeros());
        let residual = moments(&points, |x| velocity(x) - field.at(x));
        assert!(residual.linear.norm() < 1e-10 && residual.angular.norm() < 1e-10);
    }

    /// Points in line fit any angular velocity about their line, of which zero is taken.
    #[test]
    fn points_in_line_have_no_spin_about_it() {
        let points: Vec<Vec3> = (0..5).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
        let angular = Vec3::new(7.0, 1.0, 2.0);
        let field = moments(&points, |x| angular.cross(x)).field(&Vec3::zeros());
        assert!((field.angular - Vec3::new(0.0, 1.0, 2.0)).norm() < 1e-10);
    }

    /// The sums are about the given origin, however far it is from that of the world.
    #[test]
    fn the_origin_only_moves_the_centre() {
        let points: Vec<Vec3> = pseudo_random_vectors().take(10).collect();
        let sums = moments(&points, |x| x.yzx());
        let (here, far) = (sums.field(&Vec3::zeros()), sums.field(&Vec3::new(1e6, 0.0, 0.0)));
        assert_eq!((here.linear, here.angular), (far.linear, far.angular));
        assert_eq!(far.center, here.center + Vec3::new(1e6, 0.0, 0.0));
    }
}
