//! Two-level preconditioner: co-rotated rest stiffness matrix, factorised once, plus a coarse correction by skinning to the joints.
//!
//! ```text
//! z = Q K₀⁻¹ Qᵀ r + Z (ZᵀHZ)⁻¹ Zᵀ r,       K₀ = stiffness at rest + m/h² + drag
//! ```
//!
//! Custom bodies are factorised in every iteration (`point_solver`). Dynamic obstacles have their diagonal blocks of six rows, contacts and constraints included. Q holds the rotation of each node from rest. Z interpolates joint motion into the flesh by linear blend skinning, so that the coarse correction includes the flesh each joint carries. For tangled
//! configurations the rest stiffness is a poor approximation, and block Jacobi preconditioning is used instead.

use super::bones::Bones;
use super::point_solver::PointSolver;
use super::problem::{Motion, Point, Problem, row, vector};
use super::skin::Skin;
use crate::Model;
use crate::NodeEnergy;
use crate::constraint::Hold;
use crate::model::{ModelId, power_of_two};
use crate::rest_matrix::rest_matrix;
use sinew_flesh::Elements;
use sinew_math::nalgebra::{DMatrix, DVector, Matrix6, Vector6};
use sinew_math::sparse::{Block, Row, Solver, SolverChoice, times, times_transposed};
use sinew_math::spatial::{Frame, RigidInertia, Twist, Wrench};
use sinew_math::{Mat3, Vec3};

/// Stiffness of nodes of exact constraints in the matrix at rest, relative to that of elements: as stiff as these, whose order of magnitude is enough.
const HELD_STIFFNESS: f64 = 0.1;

/// Approximate inverses of the system, with workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct Preconditioner {
    rest: Option<Rest>,
    kind: Kind,
    /// Inertia and damping of nodes as they are compared with those of the matrix at rest.
    rounded: Vec<f64>,
    turns: Vec<Block>,
    /// Inverse diagonal blocks of nodes, for tangled configurations.
    inverse_blocks: Vec<Block>,
    joints: Option<JointFactor>,
    /// The factorisation of custom bodies.
    points: PointSolver,
    /// Inverse diagonal blocks of dynamic obstacles.
    obstacle_blocks: Vec<Matrix6<f64>>,
    r: Vec<Row>,
    z: Vec<Row>,
    twists: Vec<Twist>,
    wrenches: Vec<Wrench>,
}

/// Which approximate inverse is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The co-rotated rest stiffness matrix.
    #[default]
    AtRest,
    /// Block Jacobi.
    Blocks,
}

/// Data that depend only on the model and the time step.
#[derive(Clone, Debug)]
struct Rest {
    key: ModelId,
    h: f64,
    is_damped: bool,
    any_waits: bool,
    /// Factors of the stiffness of bodies that it was built for; empty for a model without.
    stiffness_factors: Vec<f64>,
    /// Inertia and damping of nodes that it was built for, where a step changes damping; empty otherwise.
    rounded: Vec<f64>,
    /// Indices of the free nodes.
    free: Vec<u32>,
    solver: Option<Solver>,
    skin: Skin,
    rest_frames: Vec<Frame>,
    /// Approximate energy of all elements stretched to twice their size (J).
    stiffness: f64,
}

#[derive(Clone, Debug)]
struct JointFactor {
    lower: DMatrix<f64>,
}

impl Preconditioner {
    /// Prepares for steps of a model: costs as much as some tens of steps for a new model or time step, and nothing otherwise.
    pub(super) fn prepare(&mut self, model: &Model, problem: &Problem) {
        // what is known fits, or its skin does
        let key = model.id().clone();
        let is_damped = problem.is_damped();
        self.rounded.clear();
        if model.changes_damping() {
            self.rounded.extend((0..problem.inertia.len()).map(|node| rounded_diagonal(problem, node)));
        }
        let rounded = &self.rounded;
        let is_as_stiff = |rest: &Rest| model.rounded_stiffness().eq(rest.stiffness_factors.iter().copied());
        let fits = |rest: &Rest| {
            let has_same_nodes = rest.key == key && rest.any_waits == problem.any_waits;
            let has_same_numbers = is_as_stiff(rest) && rest.rounded == *rounded;
            has_same_nodes && has_same_numbers && rest.h == problem.h && rest.is_damped == is_damped
        };
        if self.rest.as_ref().is_some_and(fits) {
            return;
        }
        let known = self.rest.take().filter(|rest| rest.key == key && is_as_stiff(rest));
        let elements = model.rounded_elements();
        let (skin, rest_frames) = match known {
            Some(rest) => (rest.skin, rest.rest_frames),
            None if model.rigs().is_empty() => (Skin::default(), Vec::new()),
            None => (Skin::build(model, &elements), model.rest_frames()),
        };

        // the matrix at rest: inertia, damping, home springs and elasticity
        let free: Vec<u32> =
            (0..model.node_count() as u32).filter(|node| problem.inertia[*node as usize] > 0.0).collect();
        let mut own = self.rounded.clone();
        if own.is_empty() {
            own.extend((0..problem.inertia.len()).map(|node| problem.own_diagonal(node)));
        }
        for home in &model.homes().bodies {
            for node in home.nodes.clone() {
                own[node] += model.node_mass()[node] * model.rounded_home_stiffness(home.body, node);
            }
        }
        // points that are held exactly: a body that nothing else holds would have no stiffness against rigid motion at rest
        let element = 4.0 / (model.own_step().seconds * model.own_step().seconds);
        for constraint in model.constraints() {
            if let Hold::Exact { row, .. } = &constraint.hold {
                for (node, weight) in row {
                    own[*node as usize] +=
                        HELD_STIFFNESS * weight * weight * element * model.node_mass()[*node as usize];
                }
            }
        }
        let matrix = rest_matrix(&elements, &own, &free);

        // its solver
        let places: Vec<Vec3> = free.iter().map(|node| model.node_rest()[*node as usize]).collect();
        let first = model.node_rest().first().copied().unwrap_or_default();
        let low = model.node_rest().iter().fold(first, |low, x| low.inf(x));
        let solver =
            if free.is_empty() { None } else { Solver::build(&matrix, &places, low, SolverChoice::BySize) };
        self.rest = Some(Rest {
            key,
            h: problem.h,
            is_damped,
            any_waits: problem.any_waits,
            stiffness_factors: model.rounded_stiffness().collect(),
            rounded: self.rounded.clone(),
            free,
            solver,
            skin,
            rest_frames,
            stiffness: stiffness(model, &elements),
        });
    }

    /// Magnitude of the terms that cancel in the elastic energy (J).
    pub(super) fn energy_terms(&self) -> f64 {
        self.rest.as_ref().map_or(0.0, |rest| rest.stiffness)
    }

    /// Begins a step with its initial guess.
    pub(super) fn begin(&mut self, model: &Model, problem: &mut Problem, point: &Point) {
        self.kind = match &self.rest {
            Some(rest) if rest.solver.is_some() || rest.free.is_empty() => Kind::AtRest,
            _ => Kind::Blocks,
        };
        model.elements().find_node_turns(problem.homes.bind(model, &point.x), &mut self.turns);
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            if let Some(rotation) = problem.homes.rotation(model, node) {
                for column in &mut self.turns[node] {
                    *column = row(&(rotation * vector(column)));
                }
            }
        }
    }

    /// Switches to block Jacobi for the remaining step; returns whether that is a change.
    pub(super) fn fall_back(&mut self) -> bool {
        let is_new = self.kind == Kind::AtRest;
        self.kind = Kind::Blocks;
        is_new
    }

    /// Updates the parts that depend on the Hessian.
    pub(super) fn update(
        &mut self,
        model: &Model,
        problem: &mut Problem,
        point: &Point,
        extras: &[&mut dyn NodeEnergy],
    ) {
        let bones = problem.bone_count();
        problem.obstacles.inverse_blocks(&point.obstacles, (bones, extras), &mut self.obstacle_blocks);
        let problem = &*problem;
        if model.has_custom_bodies() {
            self.points.update(model, problem, extras);
        }
        if self.kind == Kind::Blocks {
            let blocks = problem.diagonal_blocks(model, extras);
            self.inverse_blocks.clear();
            self.inverse_blocks.extend(blocks.iter().zip(&problem.inertia).map(|(block, inertia)| {
                let inverse = inverse_of_positive(block, *inertia);
                core::array::from_fn(|j| row(&inverse.column(j).into_owned()))
            }));
        }
        self.joints = problem.bones.any_sought().then(|| self.factor_joints(model, problem, point)).flatten();
    }

    /// Factorises ZᵀHZ, with the mass of flesh distributed to bones by weight and its stiffness taken at rest.
    fn factor_joints(&self, model: &Model, problem: &Problem, point: &Point) -> Option<JointFactor> {
        let rest = self.rest.as_ref()?;

        // composite inertia of bones and the flesh they carry
        let bones = &problem.bones;
        let n = bones.dof_bone.len();
        let mut inertias = bones.inertias(model);
        for &node in &rest.free {
            let (x, inertia) = (&point.x[node as usize], problem.inertia[node as usize]);
            for (bone, weight) in rest.skin.of_node(node as usize) {
                let own = &mut inertias[*bone as usize];
                let more = RigidInertia::new(f64::from(*weight) * inertia, *x, Mat3::zeros());
                own.mass += more.mass;
                own.first_moment += more.first_moment;
                own.tensor += more.tensor;
            }
        }
        let mut matrix = Vec::new();
        problem.fill_joint_matrix(inertias, &mut matrix);

        // stiffness of flesh against relative motion of bones
        for pair in &rest.skin.pairs {
            let base = pair.base as usize;
            // rotates a twist from the current to the rest pose of the base bone
            let back = |twist: &Twist| {
                let (now, then) = (&bones.frames[base], &rest.rest_frames[base]);
                let angular = then.rotation * now.rotation.tr_mul(&twist.angular);
                let at_origin = now.rotation.tr_mul(&(twist.linear + twist.angular.cross(&now.origin)));
                let linear = then.rotation * at_origin - angular.cross(&then.origin);
                Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
            };
            let [left, right] = pair.bones.map(|bone| apart(bones, bone, pair.base));
            for (i, sign) in &left {
                let force = pair.stiffness.transpose() * back(&bones.columns[*i]) * *sign;
                for (j, other) in &right {
                    matrix[i * n + j] += force.dot(&back(&bones.columns[*j])) * *other;
                }
            }
        }

        // factorisation over the unknown joints
        problem.isolate(&mut matrix);
        let matrix = DMatrix::from_row_slice(n, n, &matrix);
        let symmetric = (&matrix + matrix.transpose()) * 0.5;
        symmetric.cholesky().map(|factor| JointFactor { lower: factor.unpack() })
    }

    /// z ≈ (Hessian)⁻¹ r
    pub(super) fn apply(&mut self, problem: &Problem, point: &Point, r: &Motion, z: &mut Motion) {
        // fine level
        z.joints.fill(0.0);
        match self.kind {
            Kind::AtRest => self.apply_at_rest(r, z),
            Kind::Blocks => {
                for ((z, r), block) in z.nodes.iter_mut().zip(&r.nodes).zip(&self.inverse_blocks) {
                    *z = times(block, r);
                }
            }
        }
        self.points.apply(problem, &r.nodes, &mut z.nodes);
        for ((z, r), block) in z.obstacles.iter_mut().zip(&r.obstacles).zip(&self.obstacle_blocks) {
            let (w, f) = (r.angular, r.linear);
            let found = block * Vector6::new(w.x, w.y, w.z, f.x, f.y, f.z);
            *z = Twist::new(Vec3::new(found[0], found[1], found[2]), Vec3::new(found[3], found[4], found[5]));
        }
        if let Some(joints) = &self.joints {
            // restriction of the residual to the joints
            let rest = self.rest.as_ref().expect("a step has begun");
            let mut gradients = r.joints.clone();
            self.wrenches.clear();
            self.wrenches.resize(problem.bones.parents.len(), Wrench::default());
            for &node in &rest.free {
                let pull = vector(&r.nodes[node as usize]);
                let turning = point.x[node as usize].cross(&pull);
                for (bone, weight) in rest.skin.of_node(node as usize) {
                    let wrench = &mut self.wrenches[*bone as usize];
                    wrench.force += pull * f64::from(*weight);
                    wrench.torque += turning * f64::from(*weight);
                }
            }
            problem.bones.add_wrenches(&mut self.wrenches, &mut gradients);
            for (gradient, sought) in gradients.iter_mut().zip(&problem.bones.is_sought) {
                if !sought {
                    *gradient = 0.0;
                }
            }

            // coarse solve
            let mut answer = DVector::from_column_slice(&gradients);
            joints.lower.solve_lower_triangular_mut(&mut answer);
            joints.lower.tr_solve_lower_triangular_mut(&mut answer);
            z.joints.copy_from_slice(answer.as_slice());

            // interpolation to the nodes
            problem.bones.twists(&z.joints, &mut self.twists);
            for &node in &rest.free {
                let x = &point.x[node as usize];
                let mut moved = Vec3::zeros();
                for (bone, weight) in rest.skin.of_node(node as usize) {
                    moved += Bones::at(&self.twists[*bone as usize], x) * f64::from(*weight);
                }
                let (z, moved) = (&mut z.nodes[node as usize], row(&moved));
                (0..3).for_each(|i| z[i] += moved[i]);
            }
        }
    }

    fn apply_at_rest(&mut self, r: &Motion, z: &mut Motion) {
        let Some(Rest { free, solver: Some(solver), .. }) = &mut self.rest else {
            return;
        };
        self.r.clear();
        self.r.extend(free.iter().map(|node| {
            let node = *node as usize;
            times_transposed(&self.turns[node], &r.nodes[node])
        }));
        self.z.resize(free.len(), [0.0; 4]);
        solver.solve(&self.r, &mut self.z);
        for (node, own) in free.iter().zip(&self.z) {
            let node = *node as usize;
            z.nodes[node] = times(&self.turns[node], own);
        }
    }

    /// Position of a node under linear blend skinning between two poses of the bones; `None` if no bone carries it.
    pub(super) fn skinned(&self, node: usize, x: &Vec3, from: &[Frame], to: &[Frame]) -> Option<Vec3> {
        let bones = self.rest.as_ref()?.skin.of_node(node);
        if bones.is_empty() {
            return None;
        }
        let place = |bone: usize| to[bone].point(&from[bone].point_back(x));
        Some(bones.iter().map(|(bone, weight)| place(*bone as usize) * f64::from(*weight)).sum())
    }
}

/// Degrees of freedom that move a bone relative to a base bone, with their sign.
fn apart(bones: &Bones, bone: u32, base: u32) -> Vec<(usize, f64)> {
    let above = |mut bone: u32| {
        let mut all = Vec::new();
        while bone > 0 {
            all.push(bone);
            bone = bones.parents[bone as usize];
        }
        all
    };
    let (own, other) = (above(bone), above(base));
    let mut found = Vec::new();
    for (dof, moved) in bones.dof_bone.iter().enumerate() {
        match (own.contains(moved), other.contains(moved)) {
            (true, false) => found.push((dof, 1.0)),
            (false, true) => found.push((dof, -1.0)),
            _ => {}
        }
    }
    found
}

/// Σ tr(K₁₁) d² with d an edge of the element or patch at rest (J).
fn stiffness(model: &Model, elements: &Elements) -> f64 {
    let mut sum = 0.0;
    elements.for_each_rest_stiffness(|nodes, blocks| {
        let edge = model.node_unstressed()[nodes[1] as usize] - model.node_unstressed()[nodes[0] as usize];
        sum += blocks[nodes.len() + 1].trace() * edge.norm_squared();
    });
    sum
}

/// Inertia and damping of a node (N/m), with damping rounded to a power of two of inertia: the matrix at rest is then kept over steps in which damping changes, and does not depend on the one that it was made in.
fn rounded_diagonal(problem: &Problem, node: usize) -> f64 {
    let inertia = problem.inertia[node];
    let damping = problem.own_diagonal(node) - inertia;
    if inertia > 0.0 && damping > 0.0 { inertia * (1.0 + power_of_two(damping / inertia)) } else { inertia }
}

/// Inverse of a block whose eigenvalues are clamped from below by the inertia of its node and by a thousandth of the largest.
fn inverse_of_positive(block: &Mat3, inertia: f64) -> Mat3 {
    if inertia == 0.0 {
        return Mat3::zeros();
    }
    let clean = (block + block.transpose()) * 0.5;
    let eigen = clean.symmetric_eigen();
    let least = (1e-3 * eigen.eigenvalues.amax()).max(inertia);
    let inverse = eigen.eigenvalues.map(|value| 1.0 / value.abs().max(least));
    eigen.eigenvectors * Mat3::from_diagonal(&inverse) * eigen.eigenvectors.transpose()
}
