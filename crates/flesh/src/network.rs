//! Elements of thin bodies and spring networks: energies of generalised strains s(x) of a few nodes.
//!
//! ```text
//! Ψ = ½ sᵀ C s + β/(2h) (s − sₙ)ᵀ C (s − sₙ)        ∂Ψ/∂x = Jᵀ σ,   σ = C (s + β ṡ),   J = ∂s/∂x
//! ∂²Ψ/∂x² ≈ (1 + β/h) Jᵀ C J + σ⁺ · ∂²s/∂x²
//! ```
//!
//! The second term of the Hessian keeps only what tension makes stiffer, so that the matrix is positive semi-definite: compressed cloth buckles instead. β is a viscosity (Kelvin-Voigt), ṡ the rate J v in explicit steps and
//! (s − sₙ)/h in implicit ones. Strains are invariant under rigid motion, and so forces and dampers keep linear and angular momentum.

mod bending;
mod membrane;
mod pressure;
mod spring;

pub use bending::{Bending, Hinge};
pub use membrane::{Anisotropy, Membrane};
pub use pressure::Pressure;
pub use spring::Spring;

use sinew_math::{Mat3, Vec3};

/// An element of N nodes with M strains.
pub trait StrainElement<const N: usize, const M: usize>: Send + Sync {
    /// Its nodes.
    fn nodes(&self) -> &[u32; N];

    /// s at node positions (m).
    fn strain(&self, x: &[Vec3; N]) -> [f64; M];

    /// J = ∂s/∂x, one row of N vectors per strain.
    fn gradients(&self, x: &[Vec3; N]) -> [[Vec3; N]; M];

    /// σ = C s, with the size of the element in C.
    fn stress(&self, strain: &[f64; M]) -> [f64; M];

    /// The Hessian at node positions (m) under a stress, with C scaled by `growth` = 1 + β/h.
    fn tangent(&self, x: &[Vec3; N], stress: &[f64; M], growth: f64) -> Tangent<N, M>;
}

/// The Hessian of an element: Jᵀ C J + G ⊗ I.
#[derive(Clone, Copy, Debug)]
pub struct Tangent<const N: usize, const M: usize> {
    /// J
    pub gradients: [[Vec3; N]; M],
    /// C
    pub material: [[f64; M]; M],
    /// G (N/m)
    pub geometric: [[f64; N]; N],
}

impl<const N: usize, const M: usize> Tangent<N, M> {
    /// Its product with displacements of the nodes.
    #[inline]
    pub fn multiply(&self, u: &[Vec3; N]) -> [Vec3; N] {
        let change: [f64; M] =
            core::array::from_fn(|m| (0..N).map(|n| self.gradients[m][n].dot(&u[n])).sum());
        let stress: [f64; M] =
            core::array::from_fn(|m| (0..M).map(|k| self.material[m][k] * change[k]).sum());
        core::array::from_fn(|n| {
            let mut sum = Vec3::zeros();
            (0..M).for_each(|m| sum += stress[m] * self.gradients[m][n]);
            (0..N).for_each(|k| sum += self.geometric[n][k] * u[k]);
            sum
        })
    }

    /// Its block of two nodes (N/m).
    pub fn block(&self, i: usize, j: usize) -> Mat3 {
        let mut block = Mat3::from_diagonal_element(self.geometric[i][j]);
        for (row, left) in self.material.iter().zip(&self.gradients) {
            for (c, right) in row.iter().zip(&self.gradients) {
                block += (*c * left[i]) * right[j].transpose();
            }
        }
        block
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The energy ½ sᵀ C s of an element.
    fn energy<const N: usize, const M: usize>(element: &impl StrainElement<N, M>, x: &[Vec3; N]) -> f64 {
        let strain = element.strain(x);
        0.5 * element.stress(&strain).iter().zip(&strain).map(|(a, b)| a * b).sum::<f64>()
    }

    fn gradient<const N: usize, const M: usize>(
        element: &impl StrainElement<N, M>,
        x: &[Vec3; N],
    ) -> [Vec3; N] {
        let stress = element.stress(&element.strain(x));
        let rows = element.gradients(x);
        core::array::from_fn(|n| (0..M).map(|m| stress[m] * rows[m][n]).sum())
    }

    fn moved<const N: usize>(x: &[Vec3; N], u: &[Vec3; N], step: f64) -> [Vec3; N] {
        core::array::from_fn(|n| x[n] + step * u[n])
    }

    /// Checks that the gradient is the derivative of the energy and, where the element is in tension, the Hessian that of the gradient. Central differences over a step of 1e-5 of the element's size are right to its square,
    /// 1e-10 of the scale of the derivative, and lose 1e-11 to round-off: 1e-7 has a hundredfold margin.
    pub(crate) fn check_derivatives<const N: usize, const M: usize>(
        element: &impl StrainElement<N, M>,
        x: &[Vec3; N],
        is_in_tension: bool,
    ) {
        let step = 1e-5 * (x[1] - x[0]).norm();
        let tangent = element.tangent(x, &element.stress(&element.strain(x)), 1.0);
        for direction in 0..3 * N {
            let mut u = [Vec3::zeros(); N];
            u[direction / 3][direction % 3] = 1.0;
            let (ahead, back) = (moved(x, &u, step), moved(x, &u, -step));
            let derivative = (energy(element, &ahead) - energy(element, &back)) / (2.0 * step);
            let own = gradient(element, x);
            let scale = own.iter().map(Vec3::norm).sum::<f64>().max(1e-9);
            assert!(
                (derivative - own[direction / 3][direction % 3]).abs() < 1e-7 * scale,
                "{derivative} {own:?}"
            );
            if is_in_tension {
                let product = tangent.multiply(&u);
                let scale = product.iter().map(Vec3::norm).sum::<f64>();
                let (up, down) = (gradient(element, &ahead), gradient(element, &back));
                for n in 0..N {
                    let derivative = (up[n] - down[n]) / (2.0 * step);
                    assert!((derivative - product[n]).norm() < 1e-7 * scale, "{derivative} {}", product[n]);
                    let block = tangent.block(n, direction / 3) * u[direction / 3];
                    assert!((block - product[n]).norm() < 1e-12 * scale);
                }
            }
        }
    }
}
