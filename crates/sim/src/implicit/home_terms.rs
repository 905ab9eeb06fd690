//! Flesh with a home in implicit steps: node positions in bind space for elasticity, and the springs towards home.
//!
//! Joints on a path know where they end, so homes at the end of the step are given, and the potential gains
//!
//! ```text
//! Ψ(y(x)) instead of Ψ(x),   y = X + Rᵀ (x − s),   and   Σ m ψ(|x − s|)
//! ```
//!
//! The gradient of Ψ over x is R ∂Ψ/∂y and its Hessian R (∂²Ψ/∂y²) Rᵀ. Joints that are sought would make s and R unknowns; such steps are refused.

use super::problem::{row, vector};
use crate::coupling::{BoneCoupling, Field, HomePose};
use crate::{Model, State};
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, Wrench};
use sinew_math::{Mat3, Vec3};

/// Homes at the start and at the end of a solve, and scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct HomeTerms {
    /// At the start, with node positions and velocities in bind space; those of nodes without a home are as they are in the world.
    pub(super) start: HomePose,
    end: HomePose,
    /// Node positions in bind space at the last evaluation (m).
    pub(super) bind_x: Vec<Vec3>,
    /// Hessian of each free node's spring at the last update (N/m).
    springs: Vec<Mat3>,
    turned: Vec<Row>,
}

impl HomeTerms {
    /// Takes the start of a solve.
    pub(super) fn begin(&mut self, model: &Model, state: &State) {
        if model.homes().is_empty() {
            return;
        }
        let coupling = BoneCoupling::of(model, state);
        self.start.update(model, &coupling.fields, state);
    }

    /// Node positions at the start, which are at `x` in the world (m), as elasticity sees them.
    pub(super) fn start_of<'a>(&'a self, model: &Model, x: &'a [Vec3]) -> &'a [Vec3] {
        if model.homes().is_empty() { x } else { &self.start.bind_x }
    }

    /// Takes where bones are at the end of the solve.
    pub(super) fn place_end(&mut self, model: &Model, frames: &[Frame]) {
        if model.homes().is_empty() {
            return;
        }
        let field =
            |frame: &Frame| Field { rotation: frame.rotation, origin: frame.origin, ..Field::default() };
        let fields: Vec<Field> = frames.iter().map(field).collect();
        self.end.place(model, &fields);
    }

    /// A point of bind space in the world, as carried by a node's home at the end.
    pub(super) fn world(&self, model: &Model, node: usize, bind: &Vec3) -> Vec3 {
        let home = &self.end.nodes[node];
        home.place + home.rotation * (bind - model.node_rest()[node])
    }

    /// Node positions as elasticity sees them.
    pub(super) fn bind<'a>(&'a mut self, model: &Model, x: &'a [Vec3]) -> &'a [Vec3] {
        if model.homes().is_empty() {
            return x;
        }
        self.bind_x.clear();
        self.bind_x.extend_from_slice(x);
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            let home = &self.end.nodes[node];
            self.bind_x[node] = model.node_rest()[node] + home.rotation.tr_mul(&(x[node] - home.place));
        }
        &self.bind_x
    }

    /// The rotation from bind space to the world at a node with a home.
    #[inline(always)]
    pub(super) fn rotation(&self, model: &Model, node: usize) -> Option<&Mat3> {
        model.homes().holds(node).then(|| &self.end.nodes[node].rotation)
    }

    /// Adds the springs of free nodes and what balances their weight to their gradients, and returns their energy (J).
    pub(super) fn add_springs(&self, model: &Model, x: &[Vec3], gradients: &mut [Vec3]) -> f64 {
        let mut sum = 0.0;
        for node in self.free_nodes(model) {
            let (spring, mass) = (&model.homes().springs[node], model.node_mass()[node]);
            let home = &self.end.nodes[node];
            let off = x[node] - home.place;
            sum += mass * (spring.energy(&off) - home.lift.dot(&off));
            gradients[node] += mass * (spring.secant(off.norm()) * off - home.lift);
        }
        sum
    }

    /// Adds what bones bear of free nodes, whose gradients of elasticity and springs are given. Fixed nodes bear nothing more: theirs become 0.
    pub(super) fn add_reactions(
        &self,
        model: &Model,
        x: &[Vec3],
        gradients: &mut [Vec3],
        wrenches: &mut [Wrench],
    ) {
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            if model.node_inverse_mass()[node] > 0.0 {
                self.add_reaction(model, node, &x[node], &gradients[node], wrenches);
            } else if model.fixed_nodes().holds(node) {
                gradients[node] = Vec3::zeros();
            }
        }
    }

    /// Adds the opposite of a gradient on a node to its bones, by weight and at a point.
    pub(super) fn add_reaction(
        &self,
        model: &Model,
        node: usize,
        at: &Vec3,
        pull: &Vec3,
        wrenches: &mut [Wrench],
    ) {
        let turning = at.cross(pull);
        for part in model.homes().of_node(node) {
            let wrench = &mut wrenches[part.bone as usize];
            wrench.force -= part.weight * pull;
            wrench.torque -= part.weight * turning;
        }
    }

    /// Takes the Hessian of the springs.
    pub(super) fn update(&mut self, model: &Model, x: &[Vec3]) {
        if model.homes().is_empty() {
            return;
        }
        self.springs.clear();
        self.springs.resize(model.node_count(), Mat3::zeros());
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            if model.node_inverse_mass()[node] > 0.0 {
                let off = x[node] - self.end.nodes[node].place;
                self.springs[node] = model.node_mass()[node] * model.homes().springs[node].hessian(&off);
            }
        }
    }

    /// A motion of nodes as elasticity sees it.
    pub(super) fn turn_back<'a>(&'a mut self, model: &Model, motion: &'a [Row]) -> &'a [Row] {
        if model.homes().is_empty() {
            return motion;
        }
        self.turned.clear();
        self.turned.extend_from_slice(motion);
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            self.turned[node] = row(&self.end.nodes[node].rotation.tr_mul(&vector(&motion[node])));
        }
        &self.turned
    }

    /// The product of elasticity at a node, turned to the world, with that of its spring added.
    #[inline(always)]
    pub(super) fn product(&self, model: &Model, node: usize, elastic: Row, motion: &Row) -> Row {
        let Some(rotation) = self.rotation(model, node) else { return elastic };
        row(&(rotation * vector(&elastic) + self.springs[node] * vector(motion)))
    }

    /// Turns blocks of elasticity to the world and adds those of springs.
    pub(super) fn turn_blocks(&self, model: &Model, blocks: &mut [Mat3]) {
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            let rotation = &self.end.nodes[node].rotation;
            blocks[node] = rotation * blocks[node] * rotation.transpose() + self.springs[node];
        }
    }

    fn free_nodes<'a>(&self, model: &'a Model) -> impl Iterator<Item = usize> + use<'a> {
        let nodes = model.homes().bodies.iter().flat_map(|body| body.nodes.clone());
        nodes.filter(|node| model.node_inverse_mass()[*node] > 0.0)
    }
}
