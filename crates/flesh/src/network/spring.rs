//! Linear springs between two nodes.                                    \[Transue2014, eq. 3.3\]
//!
//! ```text
//! Ψ = k/2 (|x₁ − x₀| − ℓ)²
//! ```

use super::{StrainElement, Tangent};
use sinew_math::Vec3;

/// A spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Its ends.
    pub nodes: [u32; 2],
    /// ℓ (m)
    pub length: f64,
    /// k (N/m)
    pub stiffness: f64,
}

impl StrainElement<2, 1> for Spring {
    fn nodes(&self) -> &[u32; 2] {
        &self.nodes
    }

    fn strain(&self, x: &[Vec3; 2]) -> [f64; 1] {
        [(x[1] - x[0]).norm() - self.length]
    }

    fn gradients(&self, x: &[Vec3; 2]) -> [[Vec3; 2]; 1] {
        // ends at one place have no direction, and no force
        let along = (x[1] - x[0]).try_normalize(0.0).unwrap_or_default();
        [[-along, along]]
    }

    fn stress(&self, strain: &[f64; 1]) -> [f64; 1] {
        [self.stiffness * strain[0]]
    }

    /// k n nᵀ + T⁺/d (I − n nᵀ), with tension T and distance d.
    fn tangent(&self, x: &[Vec3; 2], stress: &[f64; 1], growth: f64) -> Tangent<2, 1> {
        let distance = (x[1] - x[0]).norm();
        let across = if distance > 0.0 { stress[0].max(0.0) / distance } else { 0.0 };
        Tangent {
            gradients: self.gradients(x),
            // less what the identity below adds along n
            material: [[growth * self.stiffness - across]],
            geometric: [[across, -across], [-across, across]],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::check_derivatives;

    #[test]
    fn gradient_and_hessian_are_those_of_the_energy() {
        let spring = Spring { nodes: [0, 1], length: 0.1, stiffness: 40.0 };
        check_derivatives(&spring, &[Vec3::zeros(), Vec3::new(0.1, 0.05, -0.03)], true);
        check_derivatives(&spring, &[Vec3::zeros(), Vec3::new(0.05, 0.02, -0.03)], false);
    }

    /// A slack spring is not softer than zero across itself.
    #[test]
    fn the_hessian_of_a_slack_spring_has_no_negative_eigenvalue() {
        let spring = Spring { nodes: [0, 1], length: 0.1, stiffness: 40.0 };
        let x = [Vec3::zeros(), Vec3::new(0.02, 0.0, 0.0)];
        let tangent = spring.tangent(&x, &spring.stress(&spring.strain(&x)), 1.0);
        let block = tangent.block(0, 0);
        assert!(block.symmetric_eigenvalues().min() >= 0.0);
    }
}
