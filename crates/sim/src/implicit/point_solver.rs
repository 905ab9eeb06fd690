//! Sparse Cholesky factorisation of the Hessian of custom bodies, as their part of the preconditioner.
//!
//! ```text
//! A = m/h² + damping + Hessian of the bodies + diagonal blocks of contacts and constraints
//! ```
//!
//! Flesh stays near a rotated rest state, and its matrix is factorised once; cloth has none worth keeping. Its tension changes the stiffness across the sheet by orders of magnitude, and A is factorised in every
//! iteration. Nodes of flesh are not part of it.

use super::problem::Problem;
use crate::Model;
use crate::NodeEnergy;
use crate::body_kind::BodyKind;
use crate::model::ModelId;
use sinew_math::sparse::{BlockCsr, Cholesky, Row};
use sinew_math::{Mat3, Vec3};

/// The factorisation of custom bodies, with workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct PointSolver {
    made_for: Option<ModelId>,
    /// The nodes of custom bodies whose points move freely.
    nodes: Vec<u32>,
    /// The place of each node of the model in that list.
    place: Vec<u32>,
    /// The zero matrix over them.
    pattern: BlockCsr,
    places: Vec<Vec3>,
    diagonal: Vec<Mat3>,
    factor: Option<Cholesky>,
    r: Vec<Row>,
    z: Vec<Row>,
}

const NONE: u32 = u32::MAX;

impl PointSolver {
    /// Factorises the matrix at the last update of the energies.
    pub(super) fn update(&mut self, model: &Model, problem: &Problem, extras: &[&mut dyn NodeEnergy]) {
        self.factor = None;
        self.prepare(model, extras);
        if self.nodes.is_empty() {
            return;
        }

        // the bodies
        let mut matrix = self.pattern.clone();
        let place = |node: u32| self.place[node as usize];
        for extra in extras.iter().filter(|extra| extra.is_internal()) {
            extra.for_each_block(&mut |a, b, block| {
                let is_free = |node: u32| problem.inertia[node as usize] > 0.0;
                if place(a) != NONE && place(b) != NONE && is_free(a) && is_free(b) {
                    matrix.add(place(a) as usize, place(b) as usize, block);
                }
            });
        }

        // inertia, damping, and what acts from outside
        self.diagonal.clear();
        self.diagonal.resize(model.node_count(), Mat3::zeros());
        let outside = extras.iter().filter(|extra| !extra.is_internal());
        outside.for_each(|extra| extra.add_diagonal(&mut self.diagonal));
        for (i, node) in self.nodes.iter().map(|node| *node as usize).enumerate() {
            let own = problem.own_diagonal(node);
            // nodes that do not move are rows of the identity
            let block = if problem.inertia[node] > 0.0 {
                Mat3::from_diagonal_element(own) + self.diagonal[node]
            } else {
                Mat3::identity()
            };
            matrix.add(i, i, &block);
        }
        self.factor = Cholesky::build(&matrix, &self.places);
    }

    /// Replaces z at the nodes of custom bodies by A⁻¹ r; leaves it as it is if there is no factorisation.
    pub(super) fn apply(&mut self, problem: &Problem, r: &[Row], z: &mut [Row]) {
        let Some(factor) = &mut self.factor else { return };
        self.r.clear();
        let inertia = |node: u32| problem.inertia[node as usize];
        let own = |node: &u32| if inertia(*node) > 0.0 { r[*node as usize] } else { [0.0; 4] };
        self.r.extend(self.nodes.iter().map(own));
        self.z.resize(self.nodes.len(), [0.0; 4]);
        factor.solve(&self.r, &mut self.z);
        for (node, own) in self.nodes.iter().zip(&self.z).filter(|(node, _)| inertia(**node) > 0.0) {
            z[*node as usize] = *own;
        }
    }

    /// Lists nodes and finds the pattern of the matrix, once per model.
    fn prepare(&mut self, model: &Model, extras: &[&mut dyn NodeEnergy]) {
        if self.made_for.as_ref() == Some(model.id()) {
            return;
        }
        *self = PointSolver { made_for: Some(model.id().clone()), ..PointSolver::default() };
        self.place.resize(model.node_count(), NONE);
        for body in model.bodies() {
            if let BodyKind::Custom(own) = &body.kind
                && own.kind.coordinates().is_none()
            {
                self.nodes.extend(body.nodes.clone().map(|node| node as u32));
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            self.place[*node as usize] = i as u32;
        }
        self.places = self.nodes.iter().map(|node| model.node_rest()[*node as usize]).collect();
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for extra in extras.iter().filter(|extra| extra.is_internal()) {
            extra.for_each_block(&mut |a, b, _| {
                let [a, b] = [a, b].map(|node| self.place[node as usize]);
                if a != NONE && b != NONE {
                    neighbours[a as usize].push(b);
                }
            });
        }
        self.pattern = BlockCsr::with_pattern(neighbours);
    }
}
