//! Spring between two points, as an energy of the gap d between them.
//!
//! ```text
//! E = k/2 (|d| − L)²        zero for |d| < L if unilateral
//! ∂E/∂d = k (1 − L/|d|) d
//! ∂²E/∂d² = k (n nᵀ + (1 − L/|d|) (1 − n nᵀ)),    n = d/|d|
//! ```
//!
//! A compressed spring has negative curvature perpendicular to its axis; that part is omitted, so that the Hessian is positive semidefinite.

use sinew_math::{Mat3, Vec3};

/// A spring with a natural length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spring {
    /// k (N/m)
    pub(crate) stiffness: f64,
    /// L (m)
    pub(crate) length: f64,
    /// Whether it resists extension only.
    pub(crate) is_unilateral: bool,
}

impl Spring {
    /// |d| − L, or 0 where it is slack (m).
    fn stretch(&self, distance: f64) -> f64 {
        let stretch = distance - self.length;
        if self.is_unilateral { stretch.max(0.0) } else { stretch }
    }

    /// Whether it exerts a force at a gap.
    pub(crate) fn is_taut(&self, gap: &Vec3) -> bool {
        !self.is_unilateral || gap.norm() > self.length
    }

    /// E (J)
    pub(crate) fn energy(&self, gap: &Vec3) -> f64 {
        let stretch = self.stretch(gap.norm());
        0.5 * self.stiffness * stretch * stretch
    }

    /// ∂E/∂d (N). Zero at d = 0, where the direction is undefined.
    pub(crate) fn gradient(&self, gap: &Vec3) -> Vec3 {
        if self.length == 0.0 {
            return self.stiffness * gap;
        }
        let distance = gap.norm();
        if distance == 0.0 {
            return Vec3::zeros();
        }
        gap * (self.stiffness * self.stretch(distance) / distance)
    }

    /// ∂²E/∂d² (N/m), without its negative part.
    pub(crate) fn hessian(&self, gap: &Vec3) -> Mat3 {
        if self.length == 0.0 {
            return Mat3::from_diagonal_element(self.stiffness);
        }
        let distance = gap.norm();
        if distance == 0.0 || !self.is_taut(gap) {
            return Mat3::zeros();
        }
        let along = (gap / distance) * (gap / distance).transpose();
        let across = (self.stretch(distance) / distance).max(0.0);
        (along + (Mat3::identity() - along) * across) * self.stiffness
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn springs() -> Vec<Spring> {
        let spring = |length, is_unilateral| Spring { stiffness: 70.0, length, is_unilateral };
        vec![spring(0.0, false), spring(0.4, false), spring(0.4, true)]
    }

    /// Gaps longer and shorter than the springs.
    const GAPS: [[f64; 3]; 3] = [[0.3, -0.5, 0.2], [0.1, 0.05, -0.2], [-0.6, 0.0, 0.1]];

    /// Central differences with steps of 1e-5: the truncation error is that squared times third derivatives of some hundreds, and round-off of 1e-16/1e-5 times energies of some joules.
    #[test]
    fn the_gradient_is_that_of_the_energy_and_the_hessian_that_of_the_gradient() {
        let e = 1e-5;
        for spring in springs() {
            for gap in GAPS.map(Vec3::from) {
                let found = spring.gradient(&gap);
                let hessian = spring.hessian(&gap);
                for k in 0..3 {
                    let mut step = Vec3::zeros();
                    step[k] = e;
                    let rise = spring.energy(&(gap + step)) - spring.energy(&(gap - step));
                    assert!((found[k] - rise / (2.0 * e)).abs() < 1e-6, "{spring:?} {gap:?}");
                    if gap.norm() >= spring.length {
                        let turn =
                            (spring.gradient(&(gap + step)) - spring.gradient(&(gap - step))) / (2.0 * e);
                        assert!((hessian.column(k) - turn).norm() < 1e-5, "{spring:?} {gap:?}");
                    }
                }
            }
        }
    }

    /// Under compression the Hessian is exact along the axis and zero perpendicular to it.
    #[test]
    fn a_spring_that_is_pressed_curves_along_its_line_only() {
        let spring = Spring { stiffness: 70.0, length: 0.4, is_unilateral: false };
        let hessian = spring.hessian(&Vec3::new(0.2, 0.0, 0.0));
        assert_eq!(hessian, Mat3::from_diagonal(&Vec3::new(70.0, 0.0, 0.0)));
    }

    #[test]
    fn a_rope_that_is_slack_does_nothing() {
        let rope = Spring { stiffness: 70.0, length: 0.4, is_unilateral: true };
        let gap = Vec3::new(0.1, 0.2, 0.0);
        assert_eq!(
            (rope.energy(&gap), rope.gradient(&gap), rope.hessian(&gap)),
            (0.0, Vec3::zeros(), Mat3::zeros())
        );
    }
}
