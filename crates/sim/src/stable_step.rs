//! Stability limit of explicit time steps, by Lanczos iteration.
//!
//! Symplectic Euler is stable for h < 2/ω, with ω² the largest eigenvalue of M⁻¹K. K is the
//! stiffness matrix at rest, the same for all constitutive laws; how much stiffer a law may become is a separate factor.

use crate::factors::Factors;
use crate::pseudo_random::pseudo_random_vectors;
use sinew_flesh::{ElementDesc, Material, PatchList};
use sinew_math::{Mat3, Vec3};

/// The stability limit of explicit steps, and what determines it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableStep {
    /// The largest stable step (s): safety × 2/Ω (√(1 + ξ²) − ξ) with Ω = ω √stiffening and ξ = β Ω/2 the damping ratio of the viscosity β
    /// at that frequency.
    pub seconds: f64,
    /// Highest frequency at rest (rad/s).
    pub omega: f64,
    /// Factor by which an element is assumed to stiffen relative to rest.
    pub stiffening: f64,
    /// The viscosity β (s) of a damped body; 0 for an undamped one.
    pub viscosity: f64,
}

/// Safety factor on the stability limit. Lanczos approaches ω from below: after [`LANCZOS_STEPS`] it is within 2 % on the
/// cages tried, and the rest is a margin for damping and pins, which act half a step late.
const SAFETY: f64 = 0.9;

/// Damping ratio of the highest frequency due to viscosity. It is proportional to the frequency: one per cent at a tenth of the highest, negligible for
/// visible motion, but sufficient to damp oscillations of single elements within a few periods.
const HIGHEST_DAMPING_RATIO: f64 = 0.1;

/// ξ of networks at the frequency that limits their step: a tenth at rest, and √1.5 of it as they stiffen.
const NETWORK_DAMPING_RATIO: f64 = 0.1225;

/// Number of Lanczos iterations.
const LANCZOS_STEPS: usize = 30;

impl StableStep {
    /// The limit of a world without bodies.
    pub(crate) const UNLIMITED: StableStep =
        StableStep { seconds: f64::INFINITY, omega: 0.0, stiffening: 1.0, viscosity: 0.0 };

    /// Computes the limit for the elements of one body, whose nodes begin at `first_node`; pinned nodes have zero inverse mass.
    pub(crate) fn find(
        node_unstressed: &[Vec3],
        node_inverse_mass: &[f64],
        first_node: usize,
        elements: &[ElementDesc],
    ) -> StableStep {
        let stiffness = RestStiffness::new(node_unstressed, node_inverse_mass, first_node, elements);
        let omega = stiffness.largest_eigenvalue().sqrt();
        if omega == 0.0 {
            // no node is free
            return StableStep::UNLIMITED;
        }
        let stiffening = elements.iter().map(|e| e.material.law.stiffening()).fold(1.0, f64::max);
        let is_damped = elements.iter().any(|e| e.material.damping_ratio > 0.0);
        StableStep::of_elements(omega, stiffening, is_damped)
    }

    /// The limit for elements with a highest frequency at rest (rad/s).
    fn of_elements(omega: f64, stiffening: f64, is_damped: bool) -> StableStep {
        let viscosity = if is_damped { 2.0 * HIGHEST_DAMPING_RATIO / omega } else { 0.0 };
        let highest = omega * stiffening.sqrt();
        let ratio = 0.5 * viscosity * highest;
        let seconds = SAFETY * 2.0 / highest * ((1.0 + ratio * ratio).sqrt() - ratio);
        StableStep { seconds, omega, stiffening, viscosity }
    }

    /// The limit of the same body with an energy in addition whose highest frequency has this square (1/s²).
    pub(crate) fn stiffened(&self, square: f64) -> StableStep {
        if self.omega == 0.0 {
            return *self;
        }
        let stiffening = self.stiffening + square / (self.omega * self.omega);
        StableStep {
            viscosity: self.viscosity,
            ..StableStep::of_elements(self.omega, stiffening, self.viscosity > 0.0)
        }
    }

    /// The limit of the same body of another material, if that differs only in stiffness and damping: K ∝ E at the same ν, so ω' = ω √(E'/E).
    pub(crate) fn with_material(&self, own: &Material, other: &Material) -> Option<StableStep> {
        if own == other || self.omega == 0.0 {
            return (own == other).then_some(*self);
        }
        let is_alike = Material { young: other.young, damping_ratio: other.damping_ratio, ..*own } == *other;
        let omega = self.omega * (other.young / own.young).sqrt();
        is_alike.then(|| StableStep::of_elements(omega, self.stiffening, other.damping_ratio > 0.0))
    }

    /// The limit of the same body with its stiffness and its damping multiplied by factors: Ω' = Ω √k and ξ' = d ξ.
    pub(crate) fn scaled(&self, factors: Factors) -> StableStep {
        let ratio = match self.viscosity {
            viscosity if viscosity > 0.0 => 0.5 * viscosity * self.omega * self.stiffening.sqrt(),
            _ => NETWORK_DAMPING_RATIO,
        };
        let shortened = |ratio: f64| (1.0 + ratio * ratio).sqrt() - ratio;
        // less damping than that of the body itself is not trusted to make networks more stable, whose viscosity is not known here
        let is_known = self.viscosity > 0.0 || factors.damping > 1.0;
        let damped = if is_known { shortened(factors.damping * ratio) / shortened(ratio) } else { 1.0 };
        let root = factors.stiffness.sqrt();
        StableStep {
            seconds: self.seconds * damped / root,
            omega: self.omega * root,
            viscosity: self.viscosity * factors.of_viscosity(),
            ..*self
        }
    }

    /// The limit of a body with a known highest frequency (rad/s).
    pub(crate) fn of_frequency(omega: f64) -> StableStep {
        if omega == 0.0 {
            return StableStep::UNLIMITED;
        }
        StableStep { seconds: SAFETY * 2.0 / omega, omega, ..StableStep::UNLIMITED }
    }

    /// The limit of two bodies: the smaller one.
    pub(crate) fn and(self, other: StableStep) -> StableStep {
        if other.seconds < self.seconds { other } else { self }
    }
}

/// M^(−1/2) K M^(−1/2) without assembling K.
struct RestStiffness<'a> {
    elements: &'a [ElementDesc],
    first_node: usize,
    /// Dm⁻¹ and V w of each element.
    shapes: Vec<(Mat3, f64)>,
    patches: PatchList,
    /// Σ c V of each patch (J), with c the part of λ that elements contribute.
    patch_rest: Vec<f64>,
    node_root: Vec<f64>,
}

impl<'a> RestStiffness<'a> {
    fn new(
        node_rest: &[Vec3],
        node_inverse_mass: &[f64],
        first_node: usize,
        elements: &'a [ElementDesc],
    ) -> Self {
        let last_node = elements.iter().flat_map(|e| e.nodes).max().map_or(first_node, |n| n as usize + 1);
        let shape = |element: &ElementDesc| {
            let [a, b, c, d] = element.nodes.map(|n| node_rest[n as usize]);
            let edges = Mat3::from_columns(&[b - a, c - a, d - a]);
            (edges.try_inverse().unwrap_or_else(Mat3::zeros), element.fill * edges.determinant() / 6.0)
        };
        let shapes: Vec<(Mat3, f64)> = elements.iter().map(shape).collect();
        let patches = PatchList::group(elements);
        let held = |element: &u32| {
            elements[*element as usize].material.shared_lambda() * shapes[*element as usize].1
        };
        RestStiffness {
            elements,
            first_node,
            patch_rest: patches.iter().map(|patch| patch.iter().map(held).sum()).collect(),
            patches,
            shapes,
            node_root: node_inverse_mass[first_node..last_node].iter().map(|m| m.sqrt()).collect(),
        }
    }

    /// out = M^(−1/2) K M^(−1/2) u, with dP = μ (dF + dFᵀ) + λ tr(dF) I in each element, where part of λ multiplies the element's own tr(dF) and the rest the mean over its patch.
    fn apply(&self, u: &[Vec3], out: &mut [Vec3]) {
        out.fill(Vec3::zeros());
        for (i, element) in self.elements.iter().enumerate() {
            let gradient = self.gradient(i, u);
            let lame = element.material.own_lame();
            let mut stress = (gradient + gradient.transpose()) * lame.mu;
            let pressure = lame.lambda * gradient.trace();
            (0..3).for_each(|i| stress[(i, i)] += pressure);
            self.pull(i, &stress, out);
        }
        for (patch, rest) in self.patches.iter().zip(&self.patch_rest).filter(|(_, rest)| **rest > 0.0) {
            let shared = |i: usize| self.elements[i].material.shared_lambda();
            let change = |i: usize| shared(i) * self.shapes[i].1 * self.gradient(i, u).trace();
            let mean = patch.iter().map(|i| change(*i as usize)).sum::<f64>() / rest;
            for &i in patch {
                self.pull(i as usize, &Mat3::from_diagonal_element(shared(i as usize) * mean), out);
            }
        }
        for (out, root) in out.iter_mut().zip(&self.node_root) {
            *out *= *root;
        }
    }

    fn gradient(&self, element: usize, u: &[Vec3]) -> Mat3 {
        let nodes = self.elements[element].nodes.map(|n| n as usize - self.first_node);
        let [a, b, c, d] = nodes.map(|n| u[n] * self.node_root[n]);
        Mat3::from_columns(&[b - a, c - a, d - a]) * self.shapes[element].0
    }

    fn pull(&self, element: usize, stress: &Mat3, out: &mut [Vec3]) {
        let nodes = self.elements[element].nodes.map(|n| n as usize - self.first_node);
        let (inverse, volume) = &self.shapes[element];
        let pull = stress * inverse.transpose() * *volume;
        for k in 0..3 {
            out[nodes[k + 1]] += pull.column(k);
            out[nodes[0]] -= pull.column(k);
        }
    }

    /// Lanczos iteration without re-orthogonalisation: ghost eigenvalues are repeated but never exceed the largest.
    fn largest_eigenvalue(&self) -> f64 {
        let n = self.node_root.len();
        let mut q = start_vector(n);
        let mut previous = vec![Vec3::zeros(); n];
        let mut w = vec![Vec3::zeros(); n];
        let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
        let mut beta = 0.0;
        for _ in 0..LANCZOS_STEPS.min(3 * n) {
            self.apply(&q, &mut w);
            let alpha = dot(&w, &q);
            for i in 0..n {
                w[i] -= alpha * q[i] + beta * previous[i];
            }
            diagonal.push(alpha);
            beta = dot(&w, &w).sqrt();
            if beta <= 1e-12 * alpha.abs() {
                break;
            }
            beside.push(beta);
            std::mem::swap(&mut previous, &mut q);
            for i in 0..n {
                q[i] = w[i] / beta;
            }
        }
        largest_of_tridiagonal(&diagonal, &beside)
    }
}

/// A unit vector with a component along every mode.
fn start_vector(n: usize) -> Vec<Vec3> {
    let mut q: Vec<Vec3> = pseudo_random_vectors().take(n).collect();
    let length = dot(&q, &q).sqrt();
    q.iter_mut().for_each(|q| *q /= length);
    q
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection: above it every pivot of T − x I is negative.
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let reach = |i: usize| {
        let left = if i > 0 { beside[i - 1].abs() } else { 0.0 };
        let right = if i + 1 < diagonal.len() { beside[i].abs() } else { 0.0 };
        diagonal[i] + left + right
    };
    let all_below = |x: f64| {
        let mut pivot = 1.0;
        (0..diagonal.len()).all(|i| {
            let coupling = if i == 0 { 0.0 } else { beside[i - 1] * beside[i - 1] / pivot };
            pivot = diagonal[i] - x - coupling;
            pivot < 0.0
        })
    };
    let mut high = (0..diagonal.len()).map(reach).fold(0.0, f64::max);
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if all_below(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_flesh::Material;
    use sinew_math::nalgebra::{DMatrix, SymmetricEigen};
    use sinew_mesh::shapes;

    fn beam_elements(material: Material) -> (Vec<Vec3>, Vec<f64>, Vec<ElementDesc>) {
        let beam = shapes::beam(2, [0.4, 0.1, 0.1]);
        let mut mass = vec![0.0; beam.nodes.len()];
        for (t, tet) in beam.tets.iter().enumerate() {
            tet.iter().for_each(|&n| mass[n as usize] += material.density * beam.tet_volume(t) / 4.0);
        }
        let elements = beam
            .tets
            .iter()
            .map(|&nodes| ElementDesc { nodes, material, fill: 1.0, viscosity: 0.0 })
            .collect();
        (beam.nodes, mass.iter().map(|m| 1.0 / m).collect(), elements)
    }

    #[test]
    fn lanczos_finds_the_highest_frequency_of_the_dense_matrix() {
        let (rest, inverse_mass, elements) = beam_elements(Material::soft_solid(5e5, 0.4, 1000.0, 0.0));
        let stiffness = RestStiffness::new(&rest, &inverse_mass, 0, &elements);
        let n = 3 * rest.len();
        let mut dense = DMatrix::zeros(n, n);
        for j in 0..n {
            let mut unit = vec![Vec3::zeros(); rest.len()];
            unit[j / 3][j % 3] = 1.0;
            let mut column = vec![Vec3::zeros(); rest.len()];
            stiffness.apply(&unit, &mut column);
            for i in 0..n {
                dense[(i, j)] = column[i / 3][i % 3];
            }
        }
        assert!((&dense - dense.transpose()).amax() < 1e-9 * dense.amax());
        let exact = SymmetricEigen::new(dense).eigenvalues.max();
        let found = stiffness.largest_eigenvalue();
        assert!(found <= exact * (1.0 + 1e-9) && found > 0.96 * exact, "{found} {exact}");
    }

    /// Node forces of all elements and patches with the stiffness that implicit steps use at rest, which is stored in single precision: 10⁻⁷.
    #[test]
    fn the_stiffness_is_that_of_elements_and_patches() {
        for poisson in [0.4, 0.49] {
            let (rest, inverse_mass, elements) = beam_elements(Material::tissue(5e5, poisson, 1000.0, 0.0));
            let stiffness = RestStiffness::new(&rest, &inverse_mass, 0, &elements);
            let u = start_vector(rest.len());
            let mut found = vec![Vec3::zeros(); rest.len()];
            stiffness.apply(&u, &mut found);
            let mut wanted = vec![Vec3::zeros(); rest.len()];
            sinew_flesh::Elements::build(&rest, &elements).for_each_rest_stiffness(|nodes, blocks| {
                for (i, a) in nodes.iter().enumerate() {
                    for (j, b) in nodes.iter().enumerate() {
                        let (a, b) = (*a as usize, *b as usize);
                        let roots = stiffness.node_root[a] * stiffness.node_root[b];
                        wanted[a] += roots * (blocks[i * nodes.len() + j] * u[b]);
                    }
                }
            });
            let size = dot(&wanted, &wanted).sqrt();
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!((found - wanted).norm() < 1e-5 * size, "ν {poisson}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn the_step_scales_with_size_and_wave_speed() {
        let (rest, inverse_mass, elements) = beam_elements(Material::soft_solid(1e4, 0.4, 1000.0, 0.0));
        let step = StableStep::find(&rest, &inverse_mass, 0, &elements).seconds;
        let (_, stiff_inverse_mass, stiff) = beam_elements(Material::soft_solid(4e4, 0.4, 1000.0, 0.0));
        let stiff_step = StableStep::find(&rest, &stiff_inverse_mass, 0, &stiff).seconds;
        assert!((step / stiff_step - 2.0).abs() < 1e-9);
    }
}
