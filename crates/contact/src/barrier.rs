//! Logarithmic contact barrier (incremental potential contact, `[Li2020]`) with first and second derivatives.

use sinew_math::{Mat3, Vec3, real};

/// The barrier of `[Li2020]`: zero beyond its range, infinite at contact, C² in between.
///
/// ```text
/// b(d)  = −k (d − d̂)² ln(d/d̂)                     for 0 < d < d̂, else 0                [Li2020, eq. 6]
/// b′(d) = −k (2 (d − d̂) ln(d/d̂) + (d − d̂)²/d)
/// b″(d) = −k (2 ln(d/d̂) + 4 (d − d̂)/d − (d − d̂)²/d²)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier {
    /// Activation distance d̂ (m).
    pub range: f64,
    /// Stiffness k (J/m²).
    pub stiffness: f64,
}

impl Barrier {
    /// b(d) (J); infinite for d ≤ 0, so that no line search accepts penetration.
    pub fn energy(&self, distance: f64) -> f64 {
        if distance >= self.range {
            return 0.0;
        }
        if distance <= 0.0 {
            return f64::INFINITY;
        }
        let inside = distance - self.range;
        -self.stiffness * inside * inside * real::ln(distance / self.range)
    }

    /// b′(d) (N), for positive distances.
    pub fn derivative(&self, distance: f64) -> f64 {
        if distance >= self.range {
            return 0.0;
        }
        let inside = distance - self.range;
        -self.stiffness * (2.0 * inside * real::ln(distance / self.range) + inside * inside / distance)
    }

    /// b″(d) (N/m), for positive distances.
    pub fn second_derivative(&self, distance: f64) -> f64 {
        if distance >= self.range {
            return 0.0;
        }
        let inside = distance - self.range;
        let ratio = inside / distance;
        -self.stiffness * (2.0 * real::ln(distance / self.range) + 4.0 * ratio - ratio * ratio)
    }

    /// ∂b/∂x = b′ n at a point where the distance has the gradient n.
    pub fn gradient(&self, distance: f64, normal: &Vec3) -> Vec3 {
        self.derivative(distance) * normal
    }

    /// ∂²b/∂x² = b″ n nᵀ + b′ ∂²d/∂x², with the Hessian of the distance: zero for a plane, (1 − n nᵀ)/r at a distance r from the
    /// centre of a sphere.
    pub fn hessian(&self, distance: f64, normal: &Vec3, distance_hessian: &Mat3) -> Mat3 {
        normal * normal.transpose() * self.second_derivative(distance)
            + distance_hessian * self.derivative(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    const BARRIER: Barrier = Barrier { range: 0.01, stiffness: 3e4 };

    #[test]
    fn derivatives_agree_with_finite_differences() {
        for fraction in [0.01, 0.1, 0.4, 0.7, 0.95, 1.2] {
            let (d, e) = (fraction * BARRIER.range, 1e-6 * fraction * BARRIER.range);
            let derivative = (BARRIER.energy(d + e) - BARRIER.energy(d - e)) / (2.0 * e);
            let second_derivative = (BARRIER.derivative(d + e) - BARRIER.derivative(d - e)) / (2.0 * e);
            // central differences: relative truncation 1e-12 on functions that vary over the distance, and cancellation
            let scale = BARRIER.stiffness * BARRIER.range / fraction;
            assert!((derivative - BARRIER.derivative(d)).abs() < 1e-6 * scale, "{fraction}");
            assert!(
                (second_derivative - BARRIER.second_derivative(d)).abs() < 1e-5 * scale / d,
                "{fraction}"
            );
        }
    }

    #[test]
    fn gradient_and_hessian_agree_with_finite_differences_near_a_sphere() {
        let sphere = Shape::Sphere { radius: 0.2 };
        let x = Vec3::new(0.12, 0.1, 0.131) * (0.206 / Vec3::new(0.12, 0.1, 0.131).norm());
        let energy = |x: &Vec3| BARRIER.energy(sphere.probe(x).distance);
        let gradient = |x: &Vec3| BARRIER.gradient(sphere.probe(x).distance, &sphere.probe(x).normal);
        let probe = sphere.probe(&x);
        let distance_hessian = (Mat3::identity() - probe.normal * probe.normal.transpose()) / x.norm();
        let hessian = BARRIER.hessian(probe.distance, &probe.normal, &distance_hessian);
        let step = 1e-8;
        for k in 0..3 {
            let mut by = Vec3::zeros();
            by[k] = step;
            let derivative = (energy(&(x + by)) - energy(&(x - by))) / (2.0 * step);
            assert!((derivative - gradient(&x)[k]).abs() < 1e-5 * gradient(&x).norm());
            let column = (gradient(&(x + by)) - gradient(&(x - by))) / (2.0 * step);
            assert!((column - hessian.column(k)).norm() < 1e-5 * hessian.norm());
        }
    }

    #[test]
    fn the_barrier_is_infinite_at_contact_and_zero_out_of_range() {
        assert_eq!(BARRIER.energy(0.0), f64::INFINITY);
        assert_eq!(
            (BARRIER.energy(0.01), BARRIER.derivative(0.01), BARRIER.second_derivative(0.02)),
            (0.0, 0.0, 0.0)
        );
        assert!(BARRIER.energy(1e-9) > BARRIER.energy(1e-6));
    }
}
