//! Coulomb friction smoothed at small slips, as an energy of the slip. `[Li2020, §5]`

use sinew_math::{Mat3, Vec3};

/// The friction of a contact whose normal force, and with it the largest friction force, is lagged.
///
/// ```text
/// D(u) = L f₀(|u|),    f₀(y) = y²/ε − y³/(3 ε²) + ε/3   for y < ε,  y beyond          [Li2020, eq. 14]
/// ∂D/∂u = L f₁(y) u/y,  f₁(y) = 2y/ε − y²/ε²            for y < ε,  1 beyond
/// ```
///
/// u is the tangential slip since the beginning of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothFriction {
    /// Largest force L: friction coefficient times normal force (N).
    pub limit: f64,
    /// Slip ε at which it is reached (m).
    pub slip: f64,
}

impl SmoothFriction {
    /// D(u) (J).
    pub fn energy(&self, u: &Vec3) -> f64 {
        let (y, e) = (u.norm(), self.slip);
        let f = if y < e { y * y / e - y * y * y / (3.0 * e * e) + e / 3.0 } else { y };
        self.limit * f
    }

    /// ∂D/∂u (N).
    pub fn gradient(&self, u: &Vec3) -> Vec3 {
        self.limit * self.secant(u.norm()) * u
    }

    /// ∂²D/∂u² (N/m): f₁/y across the slip and f₁′ along it, neither of them negative.
    pub fn hessian(&self, u: &Vec3) -> Mat3 {
        let (y, e) = (u.norm(), self.slip);
        let secant = self.secant(y);
        let tangent = if y < e { 2.0 / e - 2.0 * y / (e * e) } else { 0.0 };
        let along = if y > 0.0 { u / y } else { Vec3::zeros() };
        let isotropic = Mat3::from_diagonal_element(secant);
        self.limit * (isotropic + (tangent - secant) * along * along.transpose())
    }

    /// f₁(y)/y (1/m).
    fn secant(&self, y: f64) -> f64 {
        let e = self.slip;
        if y < e { 2.0 / e - y / (e * e) } else { 1.0 / y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let friction = SmoothFriction { limit: 3.0, slip: 0.2 };
        for size in [0.02, 0.15, 0.25, 2.0] {
            let u = size * Vec3::new(0.6, -0.48, 0.64);
            let step = 1e-6;
            for k in 0..3 {
                let mut by = Vec3::zeros();
                by[k] = step;
                let derivative = (friction.energy(&(u + by)) - friction.energy(&(u - by))) / (2.0 * step);
                assert!((derivative - friction.gradient(&u)[k]).abs() < 1e-8 * friction.limit);
                let column = (friction.gradient(&(u + by)) - friction.gradient(&(u - by))) / (2.0 * step);
                let scale = friction.limit / friction.slip;
                assert!((column - friction.hessian(&u).column(k)).norm() < 1e-7 * scale);
            }
        }
    }

    #[test]
    fn the_force_is_coulombs_beyond_the_slip_and_vanishes_without_one() {
        let friction = SmoothFriction { limit: 3.0, slip: 1e-3 };
        assert_eq!(friction.gradient(&Vec3::zeros()), Vec3::zeros());
        assert!((friction.gradient(&Vec3::new(0.0, 0.5, 0.0)) - Vec3::new(0.0, 3.0, 0.0)).norm() < 1e-15);
    }
}
