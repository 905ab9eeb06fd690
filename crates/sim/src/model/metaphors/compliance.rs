//! The compliance of a body: its displacement under small forces, by preconditioned conjugate gradients.
//!
//! ```text
//! (K + ω² m) u = f
//! ```
//!
//! K is the stiffness at rest, over the nodes that neither bones nor pins hold: that of elements and patches with springs towards home, or the Hessian of the energy of another kind of body. ω² m is the inertia of an oscillation of half a
//! second's rise: it bounds the displacement of a body without any stiffness, such as cloth across itself, and of rigid motions, which forces without a resultant do not cause.

use crate::body::Body;
use crate::body_kind::BodyKind;
use crate::model::Model;
use crate::rest_matrix::rest_matrix;
use sinew_math::sparse::{BlockCsr, Row, Solver, SolverChoice};
use sinew_math::{Mat3, Vec3};

/// ω (rad/s): a cloth without any stiffness across itself reaches the displacement within half a second.
const RATE: f64 = 4.5;
/// Reduction of the energy norm of the residual: estimates need a percent.
const TOLERANCE: f64 = 1e-4;
/// Maximum number of iterations; flesh needs about 10 to 60.
const MAX_ITERATIONS: usize = 400;

/// A factorised or coarsened stiffness matrix of one body.
pub(super) struct Compliance {
    /// The nodes of the model that move.
    free: Vec<u32>,
    matrix: BlockCsr,
    /// Approximate inverse; none where single precision finds the matrix not positive definite.
    solver: Option<Solver>,
}

impl Compliance {
    /// Assembles and factorises the matrix of a body; none if its points have no energy, or none of them moves.
    pub(super) fn build(model: &Model, body: &Body) -> Option<Compliance> {
        let free: Vec<u32> = body
            .nodes
            .clone()
            .filter(|node| model.node_inverse_mass[*node] > 0.0)
            .map(|node| node as u32)
            .collect();
        if free.is_empty() {
            return None;
        }
        let mut own: Vec<f64> = model.node_mass.iter().map(|mass| RATE * RATE * mass).collect();
        for node in body.nodes.clone().filter(|node| model.homes.holds(*node)) {
            own[node] += model.node_mass[node] * model.homes.springs[node].stiffness;
        }
        let matrix = match &body.kind {
            BodyKind::Tets => rest_matrix(model.elements(), &own, &free),
            BodyKind::Custom(_) => custom_matrix(model, body, &own, &free)?,
        };
        let places: Vec<Vec3> = free.iter().map(|node| model.node_rest[*node as usize]).collect();
        let low = places.iter().fold(places[0], |low, x| low.inf(x));
        let solver = Solver::build(&matrix, &places, low, SolverChoice::BySize);
        Some(Compliance { free, matrix, solver })
    }

    /// Adds the displacement under forces on nodes of the model (N) to their positions.
    pub(super) fn displace(&mut self, forces: &[(u32, Vec3)], x: &mut [Vec3]) {
        let mut r = vec![Vec3::zeros(); self.free.len()];
        for (node, force) in forces {
            if let Ok(place) = self.free.binary_search(node) {
                r[place] += force;
            }
        }
        let found = self.solve(r);
        self.free.iter().zip(&found).for_each(|(node, u)| x[*node as usize] += u);
    }

    /// Preconditioned conjugate gradients, with the residual in double precision.
    fn solve(&mut self, mut r: Vec<Vec3>) -> Vec<Vec3> {
        let mut u = vec![Vec3::zeros(); r.len()];
        let mut z = self.precondition(&r);
        let mut p = z.clone();
        let mut rz = dot(&r, &z);
        let aim = TOLERANCE * TOLERANCE * rz;
        for _ in 0..MAX_ITERATIONS {
            if rz.is_nan() || rz <= aim {
                break;
            }
            let product = self.multiply(&p);
            let second_derivative = dot(&p, &product);
            if second_derivative.is_nan() || second_derivative <= 0.0 {
                break;
            }
            let alpha = rz / second_derivative;
            u.iter_mut().zip(&p).for_each(|(u, p)| *u += alpha * p);
            r.iter_mut().zip(&product).for_each(|(r, product)| *r -= alpha * product);
            z = self.precondition(&r);
            let next = dot(&r, &z);
            let keep = next / rz;
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + keep * *p);
            rz = next;
        }
        u
    }

    fn multiply(&self, p: &[Vec3]) -> Vec<Vec3> {
        let row = |i: usize| {
            let pairs = self.matrix.columns_of(i).iter().zip(self.matrix.blocks_of(i));
            pairs.map(|(column, block)| block * p[*column as usize]).sum()
        };
        (0..p.len()).map(row).collect()
    }

    /// The approximate inverse, or that of diagonal blocks.
    fn precondition(&mut self, r: &[Vec3]) -> Vec<Vec3> {
        let Some(solver) = &mut self.solver else {
            let inverse = |i: usize| self.matrix.diagonal(i).try_inverse().unwrap_or_else(Mat3::identity);
            return r.iter().enumerate().map(|(i, r)| inverse(i) * r).collect();
        };
        let rows: Vec<Row> = r.iter().map(|r| [r.x as f32, r.y as f32, r.z as f32, 0.0]).collect();
        let mut z = vec![[0.0; 4]; r.len()];
        solver.solve(&rows, &mut z);
        z.iter().map(|z| Vec3::new(z[0].into(), z[1].into(), z[2].into())).collect()
    }
}

/// The Hessian of the energy of a body's points at rest, over its free nodes, with additional diagonal terms (N/m); none without such an energy, or where coordinates carry the points.
fn custom_matrix(model: &Model, body: &Body, own: &[f64], free: &[u32]) -> Option<BlockCsr> {
    let BodyKind::Custom(custom) = &body.kind else { return None };
    let mut energy = custom.kind.energy().filter(|_| custom.kind.coordinates().is_none())?;
    energy.update(&model.node_rest[body.nodes.clone()]);
    let first = body.nodes.start as u32;
    let place = |node: u32| free.binary_search(&(first + node)).ok();
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); free.len()];
    energy.for_each_block(&mut |a, b, _| {
        if let (Some(a), Some(b)) = (place(a), place(b)) {
            neighbours[a].push(b as u32);
        }
    });
    let mut matrix = BlockCsr::with_pattern(neighbours);
    energy.for_each_block(&mut |a, b, block| {
        if let (Some(a), Some(b)) = (place(a), place(b)) {
            matrix.add(a, b, block);
        }
    });
    for (i, node) in free.iter().enumerate() {
        matrix.add(i, i, &Mat3::from_diagonal_element(own[*node as usize]));
    }
    Some(matrix)
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}
