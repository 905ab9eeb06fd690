//! The distance of a point and a triangle, or of two edges, as a function of their four points, with first and second derivatives of
//! energies of it.
//!
//! Closest points are r = Σ cᵢ xᵢ apart, with coefficients c that depend on up to two parameters β: barycentric weights that are not at
//! their limits. Because d² = min |r|² over β, the gradient needs no derivative of β (envelope theorem), and the Hessian that of the
//! condition ∂|r|²/∂β = 0. With e = ∂r/∂β orthonormalised to q, g = ∂c/∂β transformed likewise and n = r/d
//!
//! ```text
//! ∇d    = c ⊗ n
//! d ∇²d = c cᵀ ⊗ (1 − n nᵀ) − Σₖ zₖ zₖᵀ,        zₖ = d gₖ ⊗ n + c ⊗ qₖ
//! ```
//!
//! for faces, edges and corners alike.

use crate::{nearest_on_segments, nearest_on_triangle};
use sinew_math::Vec3;
use sinew_math::nalgebra::{SMatrix, SVector};

/// The distance between two primitives of four points together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairDistance {
    /// The distance d (m).
    pub distance: f64,
    /// Unit vector n from the second primitive to the first.
    pub normal: Vec3,
    /// Coefficients c of the points in the vector between the closest points; their sum is 0.
    pub weights: [f64; 4],
    /// Parameters that are not at their limits.
    parameters: usize,
    /// ∂c of each parameter.
    rates: [[f64; 4]; 2],
}

/// A positive semi-definite matrix over four points, Σ vₖ vₖᵀ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairHessian {
    /// Number of vectors.
    pub rank: usize,
    /// The vectors v, for each point.
    pub vectors: [[Vec3; 4]; 5],
}

impl PairDistance {
    /// Of a point, the first, and a triangle.
    #[inline]
    pub fn point_triangle(x: &[Vec3; 4]) -> PairDistance {
        let found = nearest_on_triangle(&x[0], &[x[1], x[2], x[3]]);
        let [u, v, w] = found.weights;
        let mut rates = [[0.0; 4]; 2];
        let inside: [bool; 3] = found.weights.map(|weight| weight > 0.0);
        let first = inside.iter().position(|inside| *inside).unwrap_or(0);
        let mut parameters = 0;
        for other in first + 1..3 {
            if inside[other] {
                (rates[parameters][1 + first], rates[parameters][1 + other]) = (1.0, -1.0);
                parameters += 1;
            }
        }
        PairDistance::of(&(x[0] - found.point), [1.0, -u, -v, -w], parameters, rates)
    }

    /// Of two edges: the first two points and the last two.
    #[inline]
    pub fn edge_edge(x: &[Vec3; 4]) -> PairDistance {
        let found = nearest_on_segments(&[x[0], x[1]], &[x[2], x[3]]);
        let [s, t] = found.fractions;
        let mut rates = [[0.0; 4]; 2];
        let mut parameters = 0;
        for (fraction, rate) in [(s, [-1.0, 1.0, 0.0, 0.0]), (t, [0.0, 0.0, 1.0, -1.0])] {
            if fraction > 0.0 && fraction < 1.0 {
                rates[parameters] = rate;
                parameters += 1;
            }
        }
        PairDistance::of(&found.gap(), [1.0 - s, s, t - 1.0, -t], parameters, rates)
    }

    /// Of a point, the first, and a plane with a unit normal at a signed distance (m); the other points do not count.
    pub fn point_plane(distance: f64, normal: Vec3) -> PairDistance {
        PairDistance { distance, normal, weights: [1.0, 0.0, 0.0, 0.0], parameters: 0, rates: [[0.0; 4]; 2] }
    }

    #[inline]
    fn of(gap: &Vec3, weights: [f64; 4], parameters: usize, rates: [[f64; 4]; 2]) -> PairDistance {
        let distance = gap.norm();
        let normal = if distance > 0.0 { gap / distance } else { Vec3::zeros() };
        PairDistance { distance, normal, weights, parameters, rates }
    }

    /// The Hessian of an energy b(d) at positions `x` (m) with derivatives b′ (N) and b″ (N/m), without its negative eigenvalues.
    ///
    /// It acts on the space of c ⊗ n, gₖ ⊗ n and c ⊗ qₖ alone: at most five dimensions, in which its eigenvalues are found. A direction q
    /// across which no parameter is free has b′/d < 0 for a repulsive energy and is left out.
    pub fn hessian(&self, x: &[Vec3; 4], first: f64, second: f64) -> PairHessian {
        let (q, g) = self.orthonormal(x);

        // an orthonormal basis of c, g₁ and g₂ along n, and c along q₁ and q₂
        let mut along: [[f64; 4]; 3] = [self.weights, g[0], g[1]];
        let mut coordinates = SMatrix::<f64, 3, 3>::zeros();
        for i in 0..=self.parameters {
            for j in 0..i {
                let shared = dot(&along[i], &along[j]);
                coordinates[(j, i)] = shared;
                along[i] = core::array::from_fn(|k| along[i][k] - shared * along[j][k]);
            }
            let norm = dot(&along[i], &along[i]).sqrt();
            coordinates[(i, i)] = norm;
            along[i] = along[i].map(|value| if norm > 1e-12 { value / norm } else { 0.0 });
        }

        // b″ (c ⊗ n)(c ⊗ n)ᵀ − b′ Σ (d (g ⊗ n)(g ⊗ n)ᵀ + (g ⊗ n)(c ⊗ q)ᵀ + (c ⊗ q)(g ⊗ n)ᵀ)
        let vector =
            |i: usize| SVector::<f64, 5>::from_fn(|k, _| if k < 3 { coordinates[(k, i)] } else { 0.0 });
        let size = coordinates[(0, 0)];
        let c = vector(0);
        let mut matrix = second * c * c.transpose();
        for k in 0..self.parameters {
            let (g, mut across) = (vector(1 + k), SVector::<f64, 5>::zeros());
            across[3 + k] = size;
            let mixed = g * across.transpose();
            matrix -= first * (self.distance * g * g.transpose() + mixed + mixed.transpose());
        }
        self.positive_part(&matrix, &along, &q)
    }

    /// Directions qₖ and rates gₖ: those of the free parameters, orthonormalised.
    fn orthonormal(&self, x: &[Vec3; 4]) -> ([Vec3; 2], [[f64; 4]; 2]) {
        let mut q = [Vec3::zeros(); 2];
        let mut g = self.rates;
        for k in 0..self.parameters {
            let mut e: Vec3 = (0..4).map(|i| x[i] * g[k][i]).sum();
            if k == 1 {
                let shared = e.dot(&q[0]);
                e -= shared * q[0];
                g[1] = core::array::from_fn(|i| g[1][i] - shared * g[0][i]);
            }
            let norm = e.norm();
            // edges without length and triangles without area have no direction
            let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
            q[k] = scale * e;
            g[k] = g[k].map(|rate| scale * rate);
        }
        (q, g)
    }

    fn positive_part(
        &self,
        matrix: &SMatrix<f64, 5, 5>,
        along: &[[f64; 4]; 3],
        q: &[Vec3; 2],
    ) -> PairHessian {
        let mut found = PairHessian::default();
        let size = dot(&self.weights, &self.weights).sqrt();
        let eigen = matrix.symmetric_eigen();
        let largest = eigen.eigenvalues.amax();
        for k in (0..5).filter(|k| eigen.eigenvalues[*k] > 1e-9 * largest) {
            let v = eigen.eigenvectors.column(k) * eigen.eigenvalues[k].sqrt();
            let at = |i: usize| {
                let height = v[0] * along[0][i] + v[1] * along[1][i] + v[2] * along[2][i];
                height * self.normal + self.weights[i] / size * (v[3] * q[0] + v[4] * q[1])
            };
            found.vectors[found.rank] = core::array::from_fn(at);
            found.rank += 1;
        }
        found
    }
}

impl PairHessian {
    /// The product with displacements of the four points.
    pub fn times(&self, u: &[Vec3; 4]) -> [Vec3; 4] {
        let mut sum = [Vec3::zeros(); 4];
        for v in &self.vectors[..self.rank] {
            let along: f64 = (0..4).map(|i| v[i].dot(&u[i])).sum();
            (0..4).for_each(|i| sum[i] += along * v[i]);
        }
        sum
    }

    /// The matrix multiplied by a number that is not negative.
    pub fn scaled(mut self, factor: f64) -> PairHessian {
        let root = factor.sqrt();
        self.vectors[..self.rank].as_flattened_mut().iter_mut().for_each(|v| *v *= root);
        self
    }
}

fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    (0..4).map(|i| a[i] * b[i]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Barrier;
    use crate::ccd::tests::Random;
    use sinew_math::nalgebra::{DMatrix, DVector};

    type Measure = fn(&[Vec3; 4]) -> PairDistance;

    fn gradient(measure: Measure, barrier: &Barrier, x: &[Vec3; 4]) -> DVector<f64> {
        let pair = measure(x);
        let force = barrier.derivative(pair.distance);
        DVector::from_iterator(12, (0..12).map(|k| force * pair.weights[k / 3] * pair.normal[k % 3]))
    }

    fn moved(x: &[Vec3; 4], k: usize, by: f64) -> [Vec3; 4] {
        let mut x = *x;
        x[k / 3][k % 3] += by;
        x
    }

    /// Random positions in range of a barrier, in all regions.
    fn cases(measure: Measure) -> impl Iterator<Item = [Vec3; 4]> {
        let mut random = Random(21);
        let all = (0..4000).map(move |_| core::array::from_fn(|_| 0.5 * random.point()));
        all.filter(move |x| measure(x).distance < 0.3 && measure(x).distance > 0.01)
    }

    const BARRIER: Barrier = Barrier { range: 0.4, stiffness: 3.0 };

    #[test]
    fn gradients_are_those_of_the_distance() {
        for measure in [PairDistance::point_triangle as Measure, PairDistance::edge_edge] {
            for x in cases(measure) {
                let gradient = gradient(measure, &BARRIER, &x);
                let energy = |k, by| BARRIER.energy(measure(&moved(&x, k, by)).distance);
                for k in 0..12 {
                    let difference = (energy(k, 1e-6) - energy(k, -1e-6)) / 2e-6;
                    // the third derivative grows with the inverse cube of the distance, here up to 1e6
                    assert!((difference - gradient[k]).abs() < 1e-5 * (1.0 + gradient.norm()), "{x:?}");
                }
            }
        }
    }

    /// The positive part of the Hessian found by finite differences of the gradient, with its eigenvalues in twelve dimensions.
    #[test]
    fn hessians_are_the_positive_parts_of_differences_of_gradients() {
        let mut count = 0;
        for measure in [PairDistance::point_triangle as Measure, PairDistance::edge_edge] {
            for x in cases(measure) {
                // away from where the region changes, and the Hessian jumps
                let pair = measure(&x);
                let is_same = |k| {
                    let [up, down] = [1e-4, -1e-4].map(|by| measure(&moved(&x, k, by)));
                    up.rates == pair.rates && down.rates == pair.rates
                };
                if !(0..12).all(is_same) {
                    continue;
                }
                count += 1;
                let column = |k| {
                    let [up, down] = [1e-6, -1e-6].map(|by| gradient(measure, &BARRIER, &moved(&x, k, by)));
                    (up - down) / 2e-6
                };
                let columns: Vec<_> = (0..12).map(column).collect();
                let matrix = DMatrix::from_columns(&columns);
                let eigen = ((&matrix + matrix.transpose()) * 0.5).symmetric_eigen();
                let kept = eigen.eigenvalues.map(|value| value.max(0.0));
                let expected =
                    &eigen.eigenvectors * DMatrix::from_diagonal(&kept) * eigen.eigenvectors.transpose();
                let d = pair.distance;
                let found = pair.hessian(&x, BARRIER.derivative(d), BARRIER.second_derivative(d));
                for k in 0..12 {
                    let product = found.times(&moved(&[Vec3::zeros(); 4], k, 1.0));
                    for i in 0..12 {
                        let error = (product[i / 3][i % 3] - expected[(i, k)]).abs();
                        assert!(error < 1e-5 * (1.0 + expected.norm()), "{x:?}: {error}");
                    }
                }
            }
        }
        assert!(count > 1000, "{count}");
    }
}
