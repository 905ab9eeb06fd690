//! Constant-strain membrane triangles in plane stress, by Green's strain (St. Venant-Kirchhoff).
//!
//! ```text
//! F = Σ xₙ bₙᵀ (3×2),   E = ½ (FᵀF − I),   s = (E₁₁, E₂₂, 2E₁₂)
//! σ = A Y/(1 − ν²) (E₁₁ + ν E₂₂, E₂₂ + ν E₁₁, (1 − ν)/2 · 2E₁₂)
//! ∂s/∂xₙ = (bₙ₁ F₁, bₙ₂ F₂, bₙ₁ F₂ + bₙ₂ F₁)         G = bᵀ S⁺ b
//! ```
//!
//! bₙ are the gradients of the shape functions in the plane of the triangle at rest, A its area, and S⁺ the tensile part of the 2×2 stress. The stiffness per area is that of the fabric however the surface is divided
//! into triangles.

use super::{StrainElement, Tangent};
use crate::Fabric;
use sinew_math::Vec3;

/// A triangle of a sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Membrane {
    /// Its corners.
    pub nodes: [u32; 3],
    /// A at rest (m²).
    pub area: f64,
    /// bₙ (1/m)
    shape: [[f64; 2]; 3],
    /// A Y/(1 − ν²) (N m)
    stiffness: f64,
    /// ν
    poisson: f64,
}

impl Membrane {
    /// The triangle of a fabric between corners at rest (m); `None` if it has no area.
    pub fn build(nodes: [u32; 3], rest: &[Vec3; 3], fabric: &Fabric) -> Option<Membrane> {
        // the plane of the triangle, with the first edge along its first axis
        let [u, v] = [rest[1] - rest[0], rest[2] - rest[0]];
        let normal = u.cross(&v);
        let area = 0.5 * normal.norm();
        let along = u.try_normalize(0.0)?;
        let across = normal.try_normalize(0.0)?.cross(&along);
        let [[a, c], [b, d]] = [[u.dot(&along), u.dot(&across)], [v.dot(&along), v.dot(&across)]];
        let determinant = a * d - b * c;
        if !(determinant > 0.0 && area > 0.0) {
            return None;
        }

        // gradients of the shape functions
        let second = [d / determinant, -b / determinant];
        let third = [-c / determinant, a / determinant];
        let shape = [[-second[0] - third[0], -second[1] - third[1]], second, third];
        let poisson = fabric.poisson;
        let stiffness = area * fabric.stretch / (1.0 - poisson * poisson);
        shape.as_flattened().iter().all(|b| b.is_finite()).then_some(Membrane {
            nodes,
            area,
            shape,
            stiffness,
            poisson,
        })
    }

    /// The columns of F.
    #[inline]
    fn columns(&self, x: &[Vec3; 3]) -> [Vec3; 2] {
        // differences first: positions are large, strains are not
        let [u, v] = [x[1] - x[0], x[2] - x[0]];
        [0, 1].map(|k| self.shape[1][k] * u + self.shape[2][k] * v)
    }
}

impl StrainElement<3, 3> for Membrane {
    fn nodes(&self) -> &[u32; 3] {
        &self.nodes
    }

    #[inline]
    fn strain(&self, x: &[Vec3; 3]) -> [f64; 3] {
        let [first, second] = self.columns(x);
        [0.5 * (first.norm_squared() - 1.0), 0.5 * (second.norm_squared() - 1.0), first.dot(&second)]
    }

    #[inline]
    fn gradients(&self, x: &[Vec3; 3]) -> [[Vec3; 3]; 3] {
        let [first, second] = self.columns(x);
        let b = &self.shape;
        [
            core::array::from_fn(|n| b[n][0] * first),
            core::array::from_fn(|n| b[n][1] * second),
            core::array::from_fn(|n| b[n][0] * second + b[n][1] * first),
        ]
    }

    #[inline]
    fn stress(&self, s: &[f64; 3]) -> [f64; 3] {
        let (c, nu) = (self.stiffness, self.poisson);
        [c * (s[0] + nu * s[1]), c * (s[1] + nu * s[0]), 0.5 * c * (1.0 - nu) * s[2]]
    }

    fn tangent(&self, x: &[Vec3; 3], stress: &[f64; 3], growth: f64) -> Tangent<3, 3> {
        let (c, nu) = (growth * self.stiffness, self.poisson);
        let [p, q, r] = tensile(*stress);
        let b = &self.shape;
        let weight = |i: usize, j: usize| {
            let [left, right] = [b[i], b[j]];
            p * left[0] * right[0] + q * left[1] * right[1] + r * (left[0] * right[1] + left[1] * right[0])
        };
        Tangent {
            gradients: self.gradients(x),
            material: [[c, c * nu, 0.0], [c * nu, c, 0.0], [0.0, 0.0, 0.5 * c * (1.0 - nu)]],
            geometric: core::array::from_fn(|i| core::array::from_fn(|j| weight(i, j))),
        }
    }
}

/// The positive part of the symmetric matrix (p, q, r off the diagonal): its eigenvalues are m ± d.
fn tensile([p, q, r]: [f64; 3]) -> [f64; 3] {
    let (mean, half) = (0.5 * (p + q), 0.5 * (p - q));
    let spread = (half * half + r * r).sqrt();
    let (high, low) = (mean + spread, mean - spread);
    if low >= 0.0 {
        return [p, q, r];
    }
    if high <= 0.0 || spread == 0.0 {
        return [0.0; 3];
    }
    // high times the projection on its eigenvector, (I + (S − m I)/d)/2
    let scale = 0.5 * high / spread;
    [scale * (spread + half), scale * (spread - half), scale * r]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::check_derivatives;

    fn triangle() -> (Membrane, [Vec3; 3]) {
        let rest = [Vec3::new(0.2, 0.1, 0.3), Vec3::new(0.31, 0.12, 0.28), Vec3::new(0.22, 0.2, 0.35)];
        (Membrane::build([0, 1, 2], &rest, &Fabric::default()).expect("an area"), rest)
    }

    #[test]
    fn gradient_and_hessian_are_those_of_the_energy() {
        let (membrane, rest) = triangle();
        // stretched by 20 % and 10 %, and turned by the exchange of axes
        let stretched = rest.map(|x| Vec3::new(1.2 * x.y, 1.1 * x.z, 1.15 * x.x));
        check_derivatives(&membrane, &stretched, true);
        check_derivatives(&membrane, &rest.map(|x| 0.8 * x), false);
    }

    /// Uniaxial stretch by ε with free sides: the force per width is Y ε to the first order, on any triangle.
    #[test]
    fn small_strains_have_the_stiffness_of_the_fabric() {
        let (membrane, rest) = triangle();
        let fabric = Fabric::default();
        let strain = 1e-6;
        let energy = |x: &[Vec3; 3]| {
            let s = membrane.strain(x);
            0.5 * membrane.stress(&s).iter().zip(&s).map(|(a, b)| a * b).sum::<f64>()
        };
        let normal = (rest[1] - rest[0]).cross(&(rest[2] - rest[0])).normalize();
        let along = (rest[2] - rest[1]).normalize();
        let across = normal.cross(&along);
        let stretched = rest
            .map(|x| x + strain * along.dot(&x) * along - fabric.poisson * strain * across.dot(&x) * across);
        let wanted = 0.5 * membrane.area * fabric.stretch * strain * strain;
        assert!((energy(&stretched) / wanted - 1.0).abs() < 1e-4, "{}", energy(&stretched) / wanted);
    }

    #[test]
    fn the_tensile_part_has_the_positive_eigenvalues() {
        assert_eq!(tensile([2.0, 1.0, 0.5]), [2.0, 1.0, 0.5]);
        assert_eq!(tensile([-2.0, -1.0, 0.5]), [0.0; 3]);
        // (0, 0, 1) has the eigenvalues ±1 along (1, ±1)/√2
        assert_eq!(tensile([0.0, 0.0, 1.0]), [0.5, 0.5, 0.5]);
    }

    #[test]
    fn a_triangle_without_area_is_none() {
        let x = [Vec3::zeros(), Vec3::x(), 2.0 * Vec3::x()];
        assert!(Membrane::build([0, 1, 2], &x, &Fabric::default()).is_none());
    }
}
