//! Linearised sag under small forces: (K + m/s²) d = f with the tangent stiffness of the drawn shape, by conjugate gradients preconditioned with the stress-free stiffness.

use super::DrawnShape;
use crate::rest_matrix::rest_matrix;
use sinew_flesh::{ElasticHessian, ElasticPotential, Elements};
use sinew_math::Vec3;
use sinew_math::sparse::{Row, Solver, SolverChoice};

/// Solver for the sag of one body, with workspace.
pub(super) struct SagSolver {
    /// Indices of the free nodes.
    free: Vec<u32>,
    /// None if the stress-free stiffness matrix is not positive definite.
    solver: Option<Solver>,
    /// Regularisation of the free nodes (N/m).
    inertia: Vec<f32>,
    hessian: ElasticHessian,
    /// Potential without a time step: no viscosity.
    still: ElasticPotential,
    /// Displacements of all nodes; 0 for fixed ones.
    motion: Vec<Row>,
}

/// A computed sag.
pub(super) struct FoundSag {
    /// Displacement of each node (m).
    pub(super) node_sag: Vec<Vec3>,
    pub(super) iterations: usize,
    /// Whether negative curvature was found.
    pub(super) curves_down: bool,
}

/// Relative residual of the linear solve: a modified Newton method converges no faster with a smaller one.
const TOLERANCE: f64 = 3e-3;
/// Maximum number of iterations: bodies of 10,000 tets need about 10 to 40.
const MAX_INNER: usize = 150;
/// Regularisation (1/s²): flesh that can rotate freely about its bones would move by g over this, 10 m, and does not count as unstable. Flesh that sags by a centimetre is a
/// thousand times stiffer.
const INERTIA: f64 = 1.0;

impl SagSolver {
    pub(super) fn build(drawn: &DrawnShape, elements: &Elements) -> SagSolver {
        let free: Vec<u32> =
            (0..drawn.node_x.len() as u32).filter(|node| !drawn.is_held[*node as usize]).collect();
        let mut inertia = vec![0.0; drawn.node_x.len()];
        for element in drawn.elements {
            let [a, b, c, d] = element.nodes.map(|node| drawn.node_x[node as usize]);
            let volume = element.fill * (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0;
            for node in element.nodes {
                inertia[node as usize] += 0.25 * INERTIA * element.material.density * volume;
            }
        }
        let matrix = rest_matrix(elements, &inertia, &free);
        let places: Vec<Vec3> = free.iter().map(|node| drawn.node_x[*node as usize]).collect();
        let first = drawn.node_x.first().copied().unwrap_or_default();
        let low = drawn.node_x.iter().fold(first, |low, x| low.inf(x));
        let is_any = !free.is_empty();
        SagSolver {
            solver: is_any.then(|| Solver::build(&matrix, &places, low, SolverChoice::BySize)).flatten(),
            free,
            inertia: inertia.iter().map(|own| *own as f32).collect(),
            hessian: ElasticHessian::default(),
            still: ElasticPotential::default(),
            motion: vec![[0.0; 4]; drawn.node_x.len()],
        }
    }

    /// Computes the sag of nodes at `x` (m) under forces (N).
    pub(super) fn solve(&mut self, elements: &Elements, x: &[Vec3], forces: &[Vec3]) -> FoundSag {
        let mut sag = FoundSag { node_sag: vec![Vec3::zeros(); x.len()], iterations: 0, curves_down: false };
        let count = self.free.len();
        if self.solver.is_none() {
            sag.curves_down = count > 0;
            return sag;
        }

        // tangent stiffness, residual and tolerance
        self.hessian.update(elements, &self.still, x);
        let mut r: Vec<Row> = self.free.iter().map(|node| row(&forces[*node as usize])).collect();
        let (mut d, mut z, mut product) =
            (vec![[0.0; 4]; count], vec![[0.0; 4]; count], vec![[0.0; 4]; count]);
        let aim = TOLERANCE * dot(&r, &r).sqrt();
        self.precondition(&r, &mut z);
        let mut p = z.clone();
        let mut rz = dot(&r, &z);

        // stop at negative curvature
        while sag.iterations < MAX_INNER && dot(&r, &r).sqrt() > aim {
            sag.iterations += 1;
            self.multiply(elements, &p, &mut product);
            let second_derivative = dot(&p, &product);
            let curves_up = second_derivative > 0.0;
            if !curves_up {
                sag.curves_down = true;
                break;
            }

            // update of solution, residual and direction
            let alpha = rz / second_derivative;
            add(&mut d, alpha, &p);
            add(&mut r, -alpha, &product);
            self.precondition(&r, &mut z);
            let next = dot(&r, &z);
            let keep = (next / rz) as f32;
            p.iter_mut().zip(&z).for_each(|(p, z)| (0..4).for_each(|i| p[i] = keep * p[i] + z[i]));
            rz = next;
        }
        for (node, d) in self.free.iter().zip(&d) {
            sag.node_sag[*node as usize] = Vec3::new(d[0].into(), d[1].into(), d[2].into());
        }
        sag
    }

    fn precondition(&mut self, r: &[Row], z: &mut [Row]) {
        if let Some(solver) = &mut self.solver {
            solver.solve(r, z);
        }
    }

    fn multiply(&mut self, elements: &Elements, p: &[Row], product: &mut [Row]) {
        self.free.iter().zip(p).for_each(|(node, p)| self.motion[*node as usize] = *p);
        self.hessian.multiply(elements, &self.motion);
        for (node, product) in self.free.iter().zip(product) {
            *product = self.hessian.on_node(elements, *node as usize);
            let (own, motion) = (self.inertia[*node as usize], &self.motion[*node as usize]);
            (0..3).for_each(|i| product[i] += own * motion[i]);
        }
    }
}

impl FoundSag {
    /// √Σ sag² (m).
    pub(super) fn norm(&self) -> f64 {
        self.node_sag.iter().map(Vec3::norm_squared).sum::<f64>().sqrt()
    }

    /// Maximum displacement of a node (m).
    pub(super) fn farthest(&self) -> f64 {
        self.node_sag.iter().map(Vec3::norm).fold(0.0, f64::max)
    }
}

fn row(v: &Vec3) -> Row {
    [v.x as f32, v.y as f32, v.z as f32, 0.0]
}

fn add(to: &mut [Row], factor: f64, other: &[Row]) {
    let factor = factor as f32;
    to.iter_mut().zip(other).for_each(|(to, other)| (0..4).for_each(|i| to[i] += factor * other[i]));
}

fn dot(a: &[Row], b: &[Row]) -> f64 {
    let products =
        a.iter().zip(b).map(|(a, b)| (0..3).map(|i| f64::from(a[i]) * f64::from(b[i])).sum::<f64>());
    products.sum()
}
