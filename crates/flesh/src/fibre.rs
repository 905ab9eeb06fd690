//! Fibre-reinforced tets: an energy of the stretch along one direction per element, beside that of the isotropic material.
//!
//! ```text
//! W = V Ψ(λ, a),     λ = |F d| = |y|,     y = Σ gᵢ xᵢ,     gᵢ = ∇φᵢ · d
//! ∂W/∂xᵢ = V Ψ'/λ gᵢ y                                             P = Ψ'/λ F d dᵀ
//! ∂²W/∂xᵢ∂xⱼ = V gᵢ gⱼ (Ψ'' n nᵀ + Ψ'/λ (1 − n nᵀ)),   n = y/λ
//! ```
//!
//! The Hessian is positive semi-definite with both factors limited to 0 from below. Forces have neither a resultant, because Σ gᵢ = 0, nor a moment, because they are along y.

use crate::ForceLength;
use sinew_math::{Mat3, Vec3};

/// The fibres in one tet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fibre {
    /// The nodes of the tet.
    pub nodes: [u32; 4],
    /// gᵢ (1/m)
    pub gradients: [f64; 4],
    /// V: volume at rest that fibres fill (m³).
    pub volume: f64,
}

/// The Hessian of a fibre at one configuration: gᵢ gⱼ times one block.
#[derive(Clone, Copy, Debug, Default)]
pub struct FibreTangent {
    /// V (Ψ''⁺ n nᵀ + (Ψ'/λ)⁺ (1 − n nᵀ)) (J)
    pub block: Mat3,
}

impl Fibre {
    /// Fibres of a volume (m³) along a direction of unit length in a tet with corners at rest (m); `None` if the tet has no volume.
    pub fn build(nodes: [u32; 4], rest: &[Vec3; 4], direction: &Vec3, volume: f64) -> Option<Fibre> {
        let [a, b, c, d] = rest;
        let inverse = Mat3::from_columns(&[b - a, c - a, d - a]).try_inverse()?;
        let own = inverse * direction;
        let gradients = [-(own.x + own.y + own.z), own.x, own.y, own.z];
        gradients.iter().all(|g| g.is_finite()).then_some(Fibre { nodes, gradients, volume })
    }

    /// F d, for nodes at positions (m).
    #[inline]
    pub fn direction(&self, x: &[Vec3]) -> Vec3 {
        let [a, b, c, d] = self.nodes.map(|node| x[node as usize]);
        let [_, g1, g2, g3] = self.gradients;
        g1 * (b - a) + g2 * (c - a) + g3 * (d - a)
    }

    /// W (J), and V Ψ'/λ y (J): the gradient at node i is gᵢ times that.
    #[inline]
    pub fn evaluate(&self, law: &ForceLength, activation: f64, x: &[Vec3]) -> (f64, Vec3) {
        let stretch = self.direction(x).norm();
        (self.volume * law.energy(stretch, activation), self.pull(law, activation, x))
    }

    /// V Ψ'/λ y alone (J).
    #[inline]
    pub fn pull(&self, law: &ForceLength, activation: f64, x: &[Vec3]) -> Vec3 {
        let y = self.direction(x);
        let stretch = y.norm();
        // a fibre of no length has no direction, and pulls nowhere
        if stretch > 0.0 {
            y * (self.volume * law.stress(stretch, activation) / stretch)
        } else {
            Vec3::zeros()
        }
    }

    /// The Hessian at node positions (m), without what is negative.
    #[inline]
    pub fn tangent(&self, law: &ForceLength, activation: f64, x: &[Vec3]) -> FibreTangent {
        let y = self.direction(x);
        let stretch = y.norm();
        if stretch == 0.0 {
            return FibreTangent::default();
        }
        let n = y / stretch;
        let across = self.volume * (law.stress(stretch, activation) / stretch).max(0.0);
        let along = self.volume * law.tangent(stretch, activation).max(0.0);
        FibreTangent { block: Mat3::from_diagonal_element(across) + n * n.transpose() * (along - across) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: [Vec3; 4] = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(0.02, 0.001, 0.0),
        Vec3::new(0.003, 0.025, 0.002),
        Vec3::new(0.004, -0.002, 0.018),
    ];

    fn fibre() -> (Fibre, ForceLength) {
        let direction = Vec3::new(0.8, 0.5, -0.3).normalize();
        let [a, b, c, d] = REST;
        let volume = Mat3::from_columns(&[b - a, c - a, d - a]).determinant() / 6.0;
        let fibre = Fibre::build([0, 1, 2, 3], &REST, &direction, volume).expect("a tet");
        (fibre, ForceLength::default())
    }

    fn stretched(by: f64) -> Vec<Vec3> {
        let map = Mat3::new(by, 0.1, 0.0, -0.05, by, 0.2, 0.0, 0.1, 0.9 * by);
        REST.iter().map(|x| map * x).collect()
    }

    #[test]
    fn a_fibre_sees_the_stretch_along_its_direction() {
        let (fibre, _) = fibre();
        let direction = Vec3::new(0.8, 0.5, -0.3).normalize();
        let map = Mat3::new(1.2, 0.1, 0.0, 0.0, 0.9, 0.2, 0.1, 0.0, 1.1);
        let x: Vec<Vec3> = REST.iter().map(|x| map * x + Vec3::new(1.0, 2.0, 3.0)).collect();
        // round-off of positions of some metres over edges of centimetres
        assert!((fibre.direction(&x) - map * direction).norm() < 1e-12);
    }

    /// Central differences over 1e-7 m of edges of 0.02 m are right to 1e-10 and lose 1e-9 of the value to round-off. The Hessian is compared where no factor is limited: on the ascending limb.
    #[test]
    fn gradient_and_hessian_are_those_of_the_energy() {
        let (fibre, law) = fibre();
        for (by, activation) in [(0.85, 1.0), (0.7, 0.4), (1.25, 0.0), (1.0, 0.8)] {
            let (x, e) = (stretched(by), 1e-7);
            let (_, y) = fibre.evaluate(&law, activation, &x);
            let tangent = fibre.tangent(&law, activation, &x);
            let is_whole = law.tangent(fibre.direction(&x).norm(), activation) >= 0.0;
            for i in 0..12 {
                let moved = |by: f64| {
                    let mut moved = x.clone();
                    moved[i / 3][i % 3] += by;
                    fibre.evaluate(&law, activation, &moved)
                };
                let (ahead, back) = (moved(e), moved(-e));
                let own = fibre.gradients[i / 3] * y[i % 3];
                let derivative = (ahead.0 - back.0) / (2.0 * e);
                assert!((derivative - own).abs() < 1e-5 * (1.0 + y.norm() / 0.02), "{derivative} {own}");
                if is_whole {
                    let change = (ahead.1 - back.1) / (2.0 * e);
                    let product = tangent.block.column(i % 3) * fibre.gradients[i / 3];
                    assert!((change - product).norm() < 1e-5 * (1.0 + product.norm()), "{change} {product}");
                }
            }
        }
    }

    #[test]
    fn the_hessian_has_no_negative_eigenvalue_on_the_descending_limb() {
        let (fibre, law) = fibre();
        let x = stretched(1.3);
        assert!(law.tangent(fibre.direction(&x).norm(), 1.0) < 0.0);
        let values =
            fibre.tangent(&ForceLength { passive: 0.0, ..law }, 1.0, &x).block.symmetric_eigenvalues();
        assert!(values.min() >= -1e-12 * values.max(), "{values}");
    }

    /// Round-off of forces of some newtons.
    #[test]
    fn forces_have_neither_a_resultant_nor_a_moment() {
        let (fibre, law) = fibre();
        let x = stretched(0.9);
        let (_, y) = fibre.evaluate(&law, 1.0, &x);
        let forces = fibre.gradients.map(|g| g * y);
        let size: f64 = forces.iter().map(Vec3::norm).sum();
        assert!(forces.iter().sum::<Vec3>().norm() < 1e-12 * size);
        let moment: Vec3 = forces.iter().zip(&x).map(|(f, x)| x.cross(f)).sum();
        assert!(moment.norm() < 1e-12 * size);
    }
}
