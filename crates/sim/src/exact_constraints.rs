//! Exact position constraints of points of flesh: independent rows, projection onto what they leave free, and corrections that restore them.
//!
//! A constraint asks that a point of the flesh is at a place, Cᵀx = y, with the weights φ of its free nodes as a column of C, the same for all three axes. Columns are orthonormalised in the order of the constraints,
//! C = Q R [Capell2004, §4.8]; one that depends on those before it is dropped, and named where it also contradicts them. Then
//!
//! ```text
//! P g = g − Q Qᵀ g                               what is left of a gradient
//! Δx = M⁻¹ C (Cᵀ M⁻¹ C)⁻¹ (y − Cᵀ x)            the smallest displacement, weighted by mass, that restores them
//! ```
//!
//! A point that is off its target when the constraint begins comes there like a critically damped spring (Baumgarte stabilisation with the exact solution over the step as the velocity at its end), not by a jump.

use crate::constraint::{Hold, NodeRow, sum};
use crate::substep::Substep;
use crate::{Control, Model, State};
use sinew_math::sparse::Row;
use sinew_math::{Vec3, real};

/// τ: time constant with which a point comes to its target (s).
const STABILISATION: f64 = 0.05;
/// A point closer to its target than this fraction of the size of its body is there.
const THERE: f64 = 1e-9;
/// Targets of dependent constraints that differ by more than this fraction of the size of the body contradict each other.
const CONTRADICTION: f64 = 1e-6;
/// A column whose part beside the others is smaller than this fraction of it depends on them: points closer than that fraction of an element.
const DEPENDENT: f64 = 1e-6;

/// An exact constraint that is not held, because others leave it no freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct DroppedConstraint {
    /// The constraint: an index into [`Model::constraints`].
    pub constraint: usize,
    /// The constraints that hold its points already; none if nothing of it can move.
    pub beside: Vec<usize>,
    /// How far they hold it from its target (m).
    pub distance: f64,
}

/// The exact constraints of a sub-step that are held.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactConstraints {
    rows: Vec<ExactRow>,
    /// Rows of earlier sub-steps, whose memory is used again.
    spare: Vec<ExactRow>,
    /// Q, column by column over the nodes that are in any constraint, and these nodes.
    basis: Vec<f64>,
    nodes: Vec<u32>,
    /// A column that is being made orthogonal to the others.
    column: Vec<f64>,
    /// Gaps, impulses or forces of the rows.
    work: Vec<Vec3>,
    /// Lower triangle of Cᵀ M⁻¹ C = L Lᵀ, row by row.
    factor: Vec<f64>,
    pub(crate) dropped: Vec<DroppedConstraint>,
    /// λ: Lagrange multipliers (N).
    pub(crate) multipliers: Vec<Vec3>,
}

/// One constraint.
#[derive(Clone, Debug, Default)]
struct ExactRow {
    constraint: usize,
    /// Its nodes that are free, and those that are not.
    free: NodeRow,
    prescribed: NodeRow,
    /// y at the end of the sub-step (m), on the way to the place that is asked for then.
    target: Vec3,
    place: Vec3,
    /// The point as the sub-step begins (m), and the velocity of its free nodes' part then (m/s).
    start: Vec3,
    velocity: Vec3,
}

impl ExactConstraints {
    /// Finds the constraints of a sub-step that begins at a state. Constraints of strength 0 are released; any other strength holds.
    pub(crate) fn begin(
        &mut self,
        model: &Model,
        control: &Control,
        substep: Substep,
        state: &State,
        is_free: impl Fn(usize) -> bool,
    ) {
        self.spare.append(&mut self.rows);
        self.nodes.clear();
        self.basis.clear();
        self.dropped.clear();
        let held = || {
            let all = model.constraints().iter().enumerate();
            all.filter_map(|(i, constraint)| match &constraint.hold {
                Hold::Exact { row, .. } if control.constraint(i).strength[1] != 0.0 => {
                    Some((i, constraint, row))
                }
                _ => None,
            })
        };
        for (_, _, row) in held() {
            for (node, _) in row.iter().filter(|(node, _)| is_free(*node as usize)) {
                if !self.nodes.contains(node) {
                    self.nodes.push(*node);
                }
            }
        }
        for (i, constraint, row) in held() {
            let path = control.constraint(i);
            let [before, after] = [substep.from, substep.to].map(|t| path.asks(constraint, t).place);
            let size = body_size(model, row);
            // targets move evenly within a step
            let moved = if substep.from == 0.0 { path.moved_before() } else { None };
            let speed = moved.map(|moved| moved / substep.dt);
            let target = stabilised(row, state, ([before, after], speed, substep), THERE * size);
            let ExactRow { mut free, mut prescribed, .. } = self.spare.pop().unwrap_or_default();
            free.clear();
            free.extend(row.iter().filter(|(node, _)| is_free(*node as usize)));
            prescribed.clear();
            prescribed.extend(row.iter().filter(|(node, _)| !is_free(*node as usize)));
            let (start, velocity) = (sum(row, &state.node_x), sum(&free, &state.node_v));
            let row = ExactRow { constraint: i, free, prescribed, target, place: after, start, velocity };
            self.add(row, (state, CONTRADICTION * size));
        }
        self.multipliers.clear();
        self.multipliers.resize(self.rows.len(), Vec3::zeros());
        self.factorise(model);
    }

    /// Whether no constraint is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of constraints that are held.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Whether a node is in a constraint.
    pub(crate) fn holds(&self, node: u32) -> bool {
        self.nodes.contains(&node)
    }

    /// Adds a constraint that does not depend on those before it; drops it otherwise.
    fn add(&mut self, row: ExactRow, (state, tolerance): (&State, f64)) {
        // its column over the nodes of all constraints
        let mut own = core::mem::take(&mut self.column);
        own.clear();
        own.resize(self.nodes.len(), 0.0);
        for (node, weight) in &row.free {
            let place = self.nodes.iter().position(|other| other == node).unwrap_or(0);
            own[place] += weight;
        }
        let whole = norm(&own);

        // its part beside the others; taken twice, it is orthogonal to round-off
        for _ in 0..2 {
            for unit in self.units() {
                let part = dot(unit, &own);
                own.iter_mut().zip(unit).for_each(|(own, unit)| *own -= part * unit);
            }
        }
        let left = norm(&own);
        let is_independent = left > DEPENDENT * whole && whole > 0.0;
        if is_independent {
            self.basis.extend(own.iter().map(|x| x / left));
        }
        self.column = own;
        if is_independent {
            self.rows.push(row);
            return;
        }

        // dropped: silently if the others hold it where it is to be
        let (beside, distance) = self.distance_by_others(&row, state);
        let is_wrong = distance > tolerance;
        if is_wrong {
            self.dropped.push(DroppedConstraint { constraint: row.constraint, beside, distance });
        }
        self.spare.push(row);
    }

    /// The columns of Q.
    fn units(&self) -> impl Iterator<Item = &[f64]> {
        self.basis.chunks_exact(self.nodes.len().max(1))
    }

    /// The constraints that a dependent one is a combination of, and how far they hold it from its target (m).
    fn distance_by_others(&self, row: &ExactRow, state: &State) -> (Vec<usize>, f64) {
        let column = |row: &ExactRow| -> Vec<f64> {
            let weight = |node: &u32| row.free.iter().filter(|(own, _)| own == node).map(|(_, w)| w).sum();
            self.nodes.iter().map(weight).collect()
        };
        let own = column(row);
        let columns: Vec<Vec<f64>> = self.rows.iter().map(column).collect();

        // c = Σ a c_j by the Gram matrix of those that share a node with it
        let n = columns.len();
        let gram: Vec<f64> = (0..n * n).map(|k| dot(&columns[k / n], &columns[k % n])).collect();
        let mut a: Vec<f64> = columns.iter().map(|other| dot(other, &own)).collect();
        let mut lower = gram;
        cholesky(&mut lower, n);
        solve(&lower, n, &mut a);
        let at = |row: &ExactRow| row.place - sum(&row.prescribed, &state.node_x);
        let held: Vec3 = self.rows.iter().zip(&a).map(|(row, a)| *a * at(row)).sum();
        let beside = (0..n).filter(|j| a[*j].abs() > 1e-9).map(|j| self.rows[j].constraint).collect();
        (beside, (at(row) - held).norm())
    }

    /// Factorises Cᵀ M⁻¹ C.
    fn factorise(&mut self, model: &Model) {
        let n = self.rows.len();
        self.factor.clear();
        self.factor.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..=i {
                let pairs =
                    self.rows[i].free.iter().flat_map(|a| self.rows[j].free.iter().map(move |b| (a, b)));
                let shared = pairs.filter(|((a, _), (b, _))| a == b);
                let entry: f64 =
                    shared.map(|((node, a), (_, b))| a * b * model.node_inverse_mass()[*node as usize]).sum();
                self.factor[i * n + j] = entry;
                self.factor[j * n + i] = entry;
            }
        }
        cholesky(&mut self.factor, n);
    }

    /// y − Cᵀ x of each constraint (m).
    pub(crate) fn gaps(&self, x: &[Vec3]) -> Vec<Vec3> {
        self.rows.iter().map(|row| row.gap(x)).collect()
    }

    /// Moves free nodes by the smallest displacement, weighted by mass, that restores all constraints.
    pub(crate) fn correct(&mut self, model: &Model, x: &mut [Vec3]) {
        if self.is_empty() {
            return;
        }
        let mut forces = core::mem::take(&mut self.work);
        forces.clear();
        forces.extend(self.rows.iter().map(|row| row.gap(x)));
        self.solve(&mut forces);
        self.add_forces(&forces, |node, force| x[node] += model.node_inverse_mass()[node] * force);
        self.work = forces;
    }

    /// b ← (Cᵀ M⁻¹ C)⁻¹ b for each axis.
    fn solve(&self, b: &mut [Vec3]) {
        let (n, lower) = (self.rows.len(), &self.factor);
        for i in 0..n {
            let known: Vec3 = (0..i).map(|k| lower[i * n + k] * b[k]).sum();
            b[i] = (b[i] - known) / lower[i * n + i];
        }
        for i in (0..n).rev() {
            let known: Vec3 = (i + 1..n).map(|k| lower[k * n + i] * b[k]).sum();
            b[i] = (b[i] - known) / lower[i * n + i];
        }
    }

    /// C λ: calls `each` with nodes and the forces of multipliers on them; a node may come several times.
    pub(crate) fn add_forces(&self, multipliers: &[Vec3], mut each: impl FnMut(usize, Vec3)) {
        for (row, force) in self.rows.iter().zip(multipliers) {
            row.free.iter().for_each(|(node, weight)| each(*node as usize, *weight * force));
        }
    }

    /// Cᵀ v: the values at the points of a field on free nodes.
    pub(crate) fn at_points(&self, value: impl Fn(usize) -> Vec3) -> Vec<Vec3> {
        let at = |row: &ExactRow| -> Vec3 {
            row.free.iter().map(|(node, weight)| *weight * value(*node as usize)).sum()
        };
        self.rows.iter().map(at).collect()
    }

    /// P g in double precision.
    pub(crate) fn project(&self, g: &mut [Vec3]) {
        for unit in self.units() {
            let along: Vec3 = self.nodes.iter().zip(unit).map(|(node, q)| *q * g[*node as usize]).sum();
            self.nodes.iter().zip(unit).for_each(|(node, q)| g[*node as usize] -= *q * along);
        }
    }

    /// P r of vectors of conjugate gradients.
    pub(crate) fn project_rows(&self, r: &mut [Row]) {
        for unit in self.units() {
            let mut along = [0.0f64; 3];
            for (node, q) in self.nodes.iter().zip(unit) {
                (0..3).for_each(|k| along[k] += q * f64::from(r[*node as usize][k]));
            }
            for (node, q) in self.nodes.iter().zip(unit) {
                (0..3).for_each(|k| r[*node as usize][k] -= (q * along[k]) as f32);
            }
        }
    }

    /// Restores the constraints at the end of an explicit sub-step of `h` (s) by impulses on free nodes; returns their work (J).
    ///
    /// ```text
    /// λ = (Cᵀ M⁻¹ C)⁻¹ ((y − y₀)/h − Cᵀ v),   v' = v + M⁻¹ C λ,   x' = x + M⁻¹ C (Cᵀ M⁻¹ C)⁻¹ (y − Cᵀ x),   W = λ · Cᵀ (v₀ + v')/2
    /// ```
    ///
    /// Positions and velocities are corrected apart, because nodes in free flight do not move by their velocities at the end of the sub-step alone. v₀ are velocities at the beginning of the sub-step: the impulse acts together with all other forces, and where nothing moves it does no work.
    pub(crate) fn restore(&mut self, model: &Model, h: f64, state: &mut State) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.correct(model, &mut state.node_x);
        self.push(model, h, state)
    }

    /// The impulses alone, after other forces and before damping, which sees the velocities that they leave; returns their work (J).
    pub(crate) fn push(&mut self, model: &Model, h: f64, state: &mut State) -> f64 {
        let slow = |row: &ExactRow| {
            (row.target - row.start) / h - sum(&row.free, &state.node_v) - sum(&row.prescribed, &state.node_v)
        };
        let mut impulses = core::mem::take(&mut self.work);
        impulses.clear();
        impulses.extend(self.rows.iter().map(slow));
        self.solve(&mut impulses);
        self.add_forces(&impulses, |node, impulse| {
            state.node_v[node] += model.node_inverse_mass()[node] * impulse;
        });
        let mean = |row: &ExactRow| 0.5 * (row.velocity + sum(&row.free, &state.node_v));
        let work = self.rows.iter().zip(&impulses).map(|(row, impulse)| impulse.dot(&mean(row))).sum();
        self.work = impulses;
        work
    }
}

impl ExactRow {
    /// y − Cᵀ x (m).
    fn gap(&self, x: &[Vec3]) -> Vec3 {
        self.target - sum(&self.free, x) - sum(&self.prescribed, x)
    }
}

/// The target of a point at the end of a sub-step (m): y itself if the point is at its target, otherwise on its way there.
///
/// ```text
/// e = Cᵀx − y,   B = ė + e/τ,   ė' = (ė − B h/τ) exp(−h/τ),   e' = e + h ė'
/// ```
///
/// ė is relative to the velocity that the target had before the sub-step, `speed` (m/s) where that differs from its own: against the velocity within it, a point would fall behind a target that accelerates by a τ².
fn stabilised(
    row: &NodeRow,
    state: &State,
    ([before, after], speed, substep): ([Vec3; 2], Option<Vec3>, Substep),
    there: f64,
) -> Vec3 {
    let off = sum(row, &state.node_x) - before;
    // at rest there is no way to go
    if off.norm() <= there || substep.from == substep.to {
        return after;
    }
    // the second stage of an implicit step spans more than its h
    let h = (substep.to - substep.from) * substep.dt;
    let rate = sum(row, &state.node_v) - speed.unwrap_or((after - before) / h);
    let pull = rate + off / STABILISATION;
    after + off + (rate - pull * (h / STABILISATION)) * (h * real::exp(-h / STABILISATION))
}

/// The longest side of the body that a row belongs to (m).
fn body_size(model: &Model, row: &NodeRow) -> f64 {
    let body = row.first().map(|(node, _)| model.body_of_node(*node as usize));
    let bounds = body.and_then(|body| body.surface.bounds());
    bounds.map_or(1.0, |(low, high)| (high - low).amax())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Replaces the lower triangle of a positive definite matrix, row by row, by its Cholesky factor.
pub(crate) fn cholesky(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let left = a[i * n + j] - known;
            a[i * n + j] = if i == j { left.max(f64::MIN_POSITIVE).sqrt() } else { left / a[j * n + j] };
        }
    }
}

/// x ← (L Lᵀ)⁻¹ x
pub(crate) fn solve(lower: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let known: f64 = (0..i).map(|k| lower[i * n + k] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| lower[k * n + i] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i * n + i];
    }
}
