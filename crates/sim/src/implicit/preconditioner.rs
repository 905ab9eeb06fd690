//! What makes conjugate gradients fast: the system at rest, solved once and for all, in frames that turn with the flesh.
//!
//! ```text
//! z = Q K₀⁻¹ Qᵀ r + Z (ZᵀHZ)⁻¹ Zᵀ r,       K₀ = stiffness at rest + m/h² + drag
//! ```
//!
//! Q holds how each node has turned. Z lets flesh follow joints as a skin does, so that a joint feels what hangs on it. Tangled flesh is
//! nothing like flesh at rest: there the blocks of the nodes alone do better.

use super::bones::Bones;
use super::problem::{Motion, Point, Problem, row, vector};
use super::skin::Skin;
use crate::Model;
use crate::NodeEnergy;
use crate::model::ModelId;
use crate::rest_matrix::rest_matrix;
use sinew_math::nalgebra::{DMatrix, DVector, Vector6};
use sinew_math::sparse::{Block, Row, Solver, SolverChoice, times, times_transposed};
use sinew_math::spatial::{Frame, RigidInertia, Twist, Wrench};
use sinew_math::{Mat3, Vec3};

/// Approximate inverses of the system, and scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Preconditioner {
    rest: Option<Rest>,
    kind: Kind,
    turns: Vec<Block>,
    /// Inverse blocks of nodes, for tangled flesh.
    inverse_blocks: Vec<Block>,
    joints: Option<JointFactor>,
    r: Vec<Row>,
    z: Vec<Row>,
    twists: Vec<Twist>,
    wrenches: Vec<Wrench>,
}

/// Which approximate inverse is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The system at rest, turned.
    #[default]
    AtRest,
    /// Each node's own block.
    Blocks,
}

/// What depends on the model and the step's length only.
#[derive(Clone, Debug)]
struct Rest {
    key: ModelId,
    h: f64,
    is_damped: bool,
    any_waits: bool,
    /// The free nodes.
    free: Vec<u32>,
    solver: Option<Solver>,
    skin: Skin,
    rest_frames: Vec<Frame>,
    /// What elements would hold if they were stretched to twice their size (J), about.
    stiffness: f64,
}

#[derive(Clone, Debug)]
struct JointFactor {
    lower: DMatrix<f64>,
}

impl Preconditioner {
    /// Makes ready for steps of a model: costs as much as some tens of steps the first time and whenever the step's length changes, nothing otherwise.
    pub(super) fn prepare(&mut self, model: &Model, problem: &Problem) {
        let key = model.id().clone();
        let is_damped = problem.drag.iter().any(|drag| *drag > 0.0);
        let fits = |rest: &Rest| {
            let has_same_nodes = rest.key == key && rest.any_waits == problem.any_waits;
            has_same_nodes && rest.h == problem.h && rest.is_damped == is_damped
        };
        if self.rest.as_ref().is_some_and(fits) {
            return;
        }
        let known = self.rest.take().filter(|rest| rest.key == key);
        let (skin, rest_frames) = match known {
            Some(rest) => (rest.skin, rest.rest_frames),
            None if model.rigs().is_empty() => (Skin::default(), Vec::new()),
            None => (Skin::build(model), model.rest_frames()),
        };
        let free: Vec<u32> =
            (0..model.node_count() as u32).filter(|node| problem.inertia[*node as usize] > 0.0).collect();
        let own: Vec<f64> = problem.inertia.iter().zip(&problem.drag).map(|(a, b)| a + b).collect();
        let matrix = rest_matrix(model.elements(), &own, &free);
        let places: Vec<Vec3> = free.iter().map(|node| model.node_rest()[*node as usize]).collect();
        let first = model.node_rest().first().copied().unwrap_or_default();
        let low = model.node_rest().iter().fold(first, |low, x| low.inf(x));
        let solver =
            if free.is_empty() { None } else { Solver::build(&matrix, &places, low, SolverChoice::BySize) };
        let stiffness = stiffness(model);
        let (h, any_waits) = (problem.h, problem.any_waits);
        self.rest = Some(Rest { key, h, is_damped, any_waits, free, solver, skin, rest_frames, stiffness });
    }

    /// The size of the terms that the energy of elements is a small difference of (J).
    pub(super) fn energy_terms(&self) -> f64 {
        self.rest.as_ref().map_or(0.0, |rest| rest.stiffness)
    }

    /// Begins a step whose first guess is a point.
    pub(super) fn begin(&mut self, model: &Model, point: &Point) {
        self.kind = match &self.rest {
            Some(rest) if rest.solver.is_some() || rest.free.is_empty() => Kind::AtRest,
            _ => Kind::Blocks,
        };
        model.elements().find_node_turns(&point.x, &mut self.turns);
    }

    /// Uses the nodes' own blocks for the rest of the step.
    pub(super) fn fall_back(&mut self) -> bool {
        let is_new = self.kind == Kind::AtRest;
        self.kind = Kind::Blocks;
        is_new
    }

    /// Takes what it needs of the Hessian.
    pub(super) fn update(
        &mut self,
        model: &Model,
        problem: &Problem,
        point: &Point,
        extras: &[&mut dyn NodeEnergy],
    ) {
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

    /// ZᵀHZ, with the mass of flesh given to bones by weight and its stiffness taken at rest.
    fn factor_joints(&self, model: &Model, problem: &Problem, point: &Point) -> Option<JointFactor> {
        let rest = self.rest.as_ref()?;
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
        for pair in &rest.skin.pairs {
            let base = pair.base as usize;
            // from the world now to the world at rest, with the base
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
        problem.isolate(&mut matrix);
        let matrix = DMatrix::from_row_slice(n, n, &matrix);
        let symmetric = (&matrix + matrix.transpose()) * 0.5;
        symmetric.cholesky().map(|factor| JointFactor { lower: factor.unpack() })
    }

    /// z ≈ (Hessian)⁻¹ r
    pub(super) fn apply(&mut self, problem: &Problem, point: &Point, r: &Motion, z: &mut Motion) {
        z.joints.fill(0.0);
        match self.kind {
            Kind::AtRest => self.apply_at_rest(r, z),
            Kind::Blocks => {
                for ((z, r), block) in z.nodes.iter_mut().zip(&r.nodes).zip(&self.inverse_blocks) {
                    *z = times(block, r);
                }
            }
        }
        if let Some(joints) = &self.joints {
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
            let mut answer = DVector::from_column_slice(&gradients);
            joints.lower.solve_lower_triangular_mut(&mut answer);
            joints.lower.tr_solve_lower_triangular_mut(&mut answer);
            z.joints.copy_from_slice(answer.as_slice());
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

    /// Where nodes would be as a skin of bones that have gone from one place to another; `None` where no bone carries them.
    pub(super) fn skinned(&self, node: usize, x: &Vec3, from: &[Frame], to: &[Frame]) -> Option<Vec3> {
        let bones = self.rest.as_ref()?.skin.of_node(node);
        if bones.is_empty() {
            return None;
        }
        let place = |bone: usize| to[bone].point(&from[bone].point_back(x));
        Some(bones.iter().map(|(bone, weight)| place(*bone as usize) * f64::from(*weight)).sum())
    }
}

/// Degrees of freedom that move a bone against a base, with their sign.
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
fn stiffness(model: &Model) -> f64 {
    let mut sum = 0.0;
    model.elements().for_each_rest_stiffness(|nodes, blocks| {
        let edge = model.node_unstressed()[nodes[1] as usize] - model.node_unstressed()[nodes[0] as usize];
        sum += blocks[nodes.len() + 1].trace() * edge.norm_squared();
    });
    sum
}

/// The inverse of a block whose eigenvalues are brought to at least the inertia of its node, or a thousandth of the largest.
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
