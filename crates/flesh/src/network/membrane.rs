//! Constant-strain membrane triangles in plane stress, by Green's strain (St. Venant-Kirchhoff).
//!
//! ```text
//! F = Σ xₙ bₙᵀ (3×2),   E = ½ (FᵀF − g I),   s = (E₁₁, E₂₂, 2E₁₂)
//! σ = A Y/(1 − ν²) (E₁₁ + ν E₂₂, E₂₂ + ν E₁₁, (1 − ν)/2 · 2E₁₂)
//! ∂s/∂xₙ = (bₙ₁ F₁, bₙ₂ F₂, bₙ₁ F₂ + bₙ₂ F₁)         G = bᵀ S⁺ b
//! ```
//!
//! bₙ are the gradients of the shape functions in the plane of the triangle at rest, A its area, and S⁺ the tensile part of the 2×2 stress. The stiffness per area is that of the fabric however the surface is divided
//! into triangles. g is 1 for a sheet that is at rest as it is drawn; below 1 it is tight, and at 0 it would shrink to a point.
//!
//! A surface may have weights of its own along two directions instead of Young's modulus and Poisson's ratio, which is the energy Σ ηᵢⱼ (Gᵢⱼ − G⁰ᵢⱼ)² with G = FᵀF:   \[TurnerThalmann1993, eq. 2\]
//!
//! ```text
//! σ = 8 A (η₁₁ E₁₁, η₂₂ E₂₂, η₁₂ E₁₂)
//! ```

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
    /// g
    metric: f64,
    /// 8 A (η₁₁, η₂₂, ½ η₁₂), instead of Young's modulus and Poisson's ratio (N m).
    weights: Option<[f64; 3]>,
}

/// Stretch stiffness that depends on direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anisotropy {
    /// The first direction: that of the surface nearest to it in space.
    pub direction: Vec3,
    /// η₁₁ along it, η₂₂ across it and η₁₂ for shear (N/m).
    pub weights: [f64; 3],
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
            metric: 1.0,
            weights: None,
        })
    }

    /// The same with a rest metric of g times that of the corners: lengths are at rest at √g of theirs.
    #[must_use]
    pub fn with_metric(self, metric: f64) -> Membrane {
        Membrane { metric, ..self }
    }

    /// The same between corners at rest (m), with a stiffness that depends on direction; unchanged where the direction is across the triangle.
    #[must_use]
    pub fn with_anisotropy(self, rest: &[Vec3; 3], anisotropy: &Anisotropy) -> Membrane {
        let [u, v] = [rest[1] - rest[0], rest[2] - rest[0]];
        let Some(normal) = u.cross(&v).try_normalize(0.0) else { return self };
        let flat = anisotropy.direction - anisotropy.direction.dot(&normal) * normal;
        let (Some(first), Some(along)) = (flat.try_normalize(1e-9), u.try_normalize(0.0)) else {
            return self;
        };
        // the shape functions' gradients in axes that begin with the direction
        let (cos, sin) = (first.dot(&along), first.dot(&normal.cross(&along)));
        let shape = self.shape.map(|[a, b]| [cos * a + sin * b, cos * b - sin * a]);
        let [one, two, shear] = anisotropy.weights.map(|eta| 8.0 * self.area * eta);
        Membrane { shape, weights: Some([one, two, 0.5 * shear]), ..self }
    }

    /// The columns of F.
    #[inline]
    fn columns(&self, x: &[Vec3; 3]) -> [Vec3; 2] {
        // differences first: positions are large, strains are not
        let (u, v) = (x[1] - x[0], x[2] - x[0]);
        let [_, second, third] = &self.shape;
        [second[0] * u + third[0] * v, second[1] * u + third[1] * v]
    }
}

impl StrainElement<3, 3> for Membrane {
    fn nodes(&self) -> &[u32; 3] {
        &self.nodes
    }

    #[inline]
    fn strain(&self, x: &[Vec3; 3]) -> [f64; 3] {
        let [first, second] = self.columns(x);
        let g = self.metric;
        [0.5 * (first.norm_squared() - g), 0.5 * (second.norm_squared() - g), first.dot(&second)]
    }

    #[inline]
    fn gradients(&self, x: &[Vec3; 3]) -> [[Vec3; 3]; 3] {
        let [first, second] = self.columns(x);
        let [a, b, c] = &self.shape;
        let shear = |b: &[f64; 2]| b[0] * second + b[1] * first;
        [
            [a[0] * first, b[0] * first, c[0] * first],
            [a[1] * second, b[1] * second, c[1] * second],
            [shear(a), shear(b), shear(c)],
        ]
    }

    #[inline]
    fn stress(&self, s: &[f64; 3]) -> [f64; 3] {
        if let Some([one, two, shear]) = self.weights {
            return [one * s[0], two * s[1], shear * s[2]];
        }
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
        let material = match self.weights {
            Some(weights) => {
                let mut diagonal = [[0.0; 3]; 3];
                (0..3).for_each(|i| diagonal[i][i] = growth * weights[i]);
                diagonal
            }
            None => [[c, c * nu, 0.0], [c * nu, c, 0.0], [0.0, 0.0, 0.5 * c * (1.0 - nu)]],
        };
        Tangent {
            gradients: self.gradients(x),
            material,
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

    #[test]
    fn gradient_and_hessian_hold_for_other_metrics_and_directions() {
        let (membrane, rest) = triangle();
        let stretched = rest.map(|x| Vec3::new(1.2 * x.y, 1.1 * x.z, 1.15 * x.x));
        let anisotropy = Anisotropy { direction: Vec3::new(0.3, 1.0, 0.2), weights: [40.0, 300.0, 90.0] };
        for metric in [0.0, 0.7] {
            check_derivatives(&membrane.with_metric(metric), &stretched, true);
            check_derivatives(
                &membrane.with_metric(metric).with_anisotropy(&rest, &anisotropy),
                &stretched,
                true,
            );
        }
    }

    /// Pulled by ε along a direction, the energy of the first weight is A η₁₁ (2ε)², to the first order in ε, and none of the others'.
    #[test]
    fn weights_count_along_their_direction() {
        let (membrane, rest) = triangle();
        let along = (rest[2] - rest[1]).normalize();
        let anisotropy = Anisotropy { direction: along, weights: [40.0, 300.0, 90.0] };
        let own = membrane.with_anisotropy(&rest, &anisotropy);
        let strain = 1e-6;
        let s = own.strain(&rest.map(|x| x + strain * along.dot(&x) * along));
        let energy = 0.5 * own.stress(&s).iter().zip(&s).map(|(a, b)| a * b).sum::<f64>();
        let wanted = membrane.area * 40.0 * 4.0 * strain * strain;
        assert!((energy / wanted - 1.0).abs() < 1e-5, "{}", energy / wanted);
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
