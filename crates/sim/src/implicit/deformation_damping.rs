//! Damping of the deformation of bodies without bones in an implicit step: a quadratic potential of what their parts do beside rigid motion.
//!
//! ```text
//! D = κ/2 min Σ wᵢ |xᵢ − t − R yᵢ|²  over translations t and rotations R,       t = x̄,   R = polar(Σ wᵢ (xᵢ − x̄) yᵢᵀ)
//! ∂D/∂xᵢ = κ wᵢ eᵢ,   eᵢ = xᵢ − x̄ − R yᵢ
//! ∂²D δ ≈ κ wᵢ (δᵢ − v̄ − ω × R yᵢ),   with the rigid motion (v̄, ω) of the displacements δ that fits them best
//! ```
//!
//! y are the positions at the beginning of the step relative to their centre, w the masses of free nodes and the large weights of pinned ones, see [`crate::part`]. At the minimum D does not change with t and R to first order, so the gradient is that
//! of the distance alone. It has no resultant and no moment at the end of the step, so linear and angular momentum are conserved exactly, however far the part turns in the step. The Hessian is that at R y instead of x
//! (Gauss–Newton): an orthogonal projection, which is never indefinite and differs by the strain of one step. κ = ĉ/h, with ĉ h = e^(c h) − 1 in a single solve.

use super::problem::vector;
use crate::Model;
use crate::part::{Part, RigidMoments};
use sinew_math::sparse::Row;
use sinew_math::svd::Polar;
use sinew_math::{Mat3, Vec3};

/// The damping potential of all parts.
#[derive(Clone, Debug, Default)]
pub(super) struct DeformationDamping {
    parts: Vec<PartDamping>,
    /// Positions y of nodes at the beginning of the step relative to the centre of their part (m); unused for nodes of other bodies.
    pub(super) shape: Vec<Vec3>,
    /// κ m of free nodes (N/m), 0 for all others.
    pub(super) diagonal: Vec<f64>,
}

/// The damping potential of one part.
#[derive(Clone, Copy, Debug)]
struct PartDamping {
    /// κ (1/s²)
    stiffness: f64,
    /// R at the last evaluation.
    rotation: Mat3,
}

impl DeformationDamping {
    /// Prepares for a step of `h` (s) from the given node positions (m). `is_free` are nodes that move in it.
    pub(super) fn begin(&mut self, model: &Model, h: f64, x: &[Vec3], is_free: impl Fn(usize) -> bool) {
        let all = model.parts();
        self.parts.clear();
        self.shape.resize(if all.all().is_empty() { 0 } else { x.len() }, Vec3::zeros());
        self.diagonal.clear();
        self.diagonal.resize(x.len(), 0.0);
        // parts are in the order of their bodies
        let of_body = |i: usize| all.of_body(i).map(move |part| (&all.all()[part], i));
        for (part, body) in (0..model.bodies().len()).flat_map(of_body) {
            let nodes = all.nodes_of(part);
            let moves = nodes.iter().any(|node| is_free(*node as usize));
            let growth = model.bodies()[body].factors.growth(part.damping_rate * h);
            let stiffness = if moves { growth / (h * h) } else { 0.0 };
            self.parts.push(PartDamping { stiffness, rotation: Mat3::identity() });
            let center = center(model, part, x);
            nodes.iter().for_each(|node| self.shape[*node as usize] = x[*node as usize] - center);
        }
        self.fill_diagonal(model, is_free);
    }

    /// Uses the damping rate c unmodified: κ = c/h, without the correction that matches a single solve to explicit decay.
    pub(super) fn damp_plainly(&mut self, model: &Model, h: f64, is_free: impl Fn(usize) -> bool) {
        for (own, part) in self.parts.iter_mut().zip(model.parts().all()) {
            if own.stiffness > 0.0 {
                own.stiffness = part.damping_rate / h;
            }
        }
        self.fill_diagonal(model, is_free);
    }

    fn fill_diagonal(&mut self, model: &Model, is_free: impl Fn(usize) -> bool) {
        for (own, part) in self.parts.iter().zip(model.parts().all()) {
            for &node in model.parts().nodes_of(part) {
                let node = node as usize;
                self.diagonal[node] =
                    if is_free(node) { own.stiffness * model.node_mass()[node] } else { 0.0 };
            }
        }
    }

    /// Extrapolates the shape from an earlier one through its own, by a factor `s`, without the rotation between them.
    pub(super) fn begin_beyond(&mut self, model: &Model, earlier: &[Vec3], s: f64) {
        for part in model.parts().all() {
            let turn = rotation(model, part, &Vec3::zeros(), (&self.shape, earlier));
            for &node in model.parts().nodes_of(part) {
                let own = &mut self.shape[node as usize];
                let then = &earlier[node as usize];
                *own = then + s * (turn.tr_mul(own) - then);
            }
        }
    }

    /// Removes all damping.
    pub(super) fn begin_static(&mut self) {
        self.parts.iter_mut().for_each(|part| part.stiffness = 0.0);
        self.diagonal.fill(0.0);
    }

    /// Returns the potential (J) at node positions (m) and adds its gradient on free nodes (N).
    pub(super) fn evaluate(&mut self, model: &Model, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let mut sum = 0.0;
        let all = model.parts();
        for (own, part) in self.parts.iter_mut().zip(all.all()).filter(|(own, _)| own.stiffness > 0.0) {
            let center = center(model, part, x);
            own.rotation = rotation(model, part, &center, (x, &self.shape));
            for &node in all.nodes_of(part) {
                let node = node as usize;
                let residual = x[node] - center - own.rotation * self.shape[node];
                sum += 0.5 * own.stiffness * all.node_weight[node] * residual.norm_squared();
                gradient[node] += self.diagonal[node] * residual;
            }
        }
        sum
    }

    /// Adds the product of the Hessian with displacements, except for that of its diagonal κ m. Displacements of nodes that are not free count as zero.
    pub(super) fn multiply_rigid(&self, model: &Model, motion: &[Row], out: &mut [Row]) {
        let all = model.parts();
        for (own, part) in self.parts.iter().zip(all.all()).filter(|(own, _)| own.stiffness > 0.0) {
            // the rigid motion of the displacements
            let mut moments = RigidMoments::default();
            for &node in all.nodes_of(part) {
                let node = node as usize;
                let moved = if self.diagonal[node] > 0.0 { vector(&motion[node]) } else { Vec3::zeros() };
                moments.add(all.node_weight[node], &(own.rotation * self.shape[node]), &moved);
            }

            // forces on the nodes that move with it
            let field = moments.field(&Vec3::zeros());
            for &node in all.nodes_of(part) {
                let node = node as usize;
                let pull = self.diagonal[node] * field.at(&(own.rotation * self.shape[node]));
                (0..3).for_each(|k| out[node][k] -= pull[k] as f32);
            }
        }
    }
}

/// x̄ = Σ w x / Σ w (m)
fn center(model: &Model, part: &Part, x: &[Vec3]) -> Vec3 {
    let all = model.parts();
    let origin = x[all.nodes_of(part)[0] as usize];
    let (mut weight, mut first) = (0.0, Vec3::zeros());
    for &node in all.nodes_of(part) {
        let own = all.node_weight[node as usize];
        weight += own;
        first += own * (x[node as usize] - origin);
    }
    origin + first / weight
}

/// polar(Σ w (x − x̄) yᵀ): the rotation that takes positions y closest to x − x̄.
fn rotation(model: &Model, part: &Part, center: &Vec3, (x, y): (&[Vec3], &[Vec3])) -> Mat3 {
    let all = model.parts();
    let mut sum = Mat3::zeros();
    for &node in all.nodes_of(part) {
        let node = node as usize;
        sum += (all.node_weight[node] * (x[node] - center)) * y[node].transpose();
    }
    Polar::of(&sum).rotation
}
