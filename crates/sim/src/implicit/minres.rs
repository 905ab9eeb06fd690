//! MINRES for steps with Lagrange multipliers: the system of Newton's method under linear constraints, symmetric but indefinite.
//!
//! ```text
//! ⎡H  C⎤ ⎡d ⎤   ⎡−g − Cλ⎤
//! ⎣Cᵀ 0⎦ ⎣δλ⎦ = ⎣y − Cᵀx⎦                       [Capell2004, eq. 3.14 and 4.5], [PaigeSaunders1975]
//! ```
//!
//! The preconditioner is block diagonal: that of conjugate gradients, K⁻¹ ≈ H⁻¹, and S = Cᵀ K⁻¹ C, which is dense and small. With exact blocks it would converge in three iterations. What the solution still violates of the constraints is
//! removed by one displacement K⁻¹ C S⁻¹ in the end.

use super::linear_system::System;
use super::problem::{Gradient, Motion, row, vector};
use crate::exact_constraints::{ExactConstraints, cholesky, solve};
use sinew_math::Vec3;
use sinew_math::spatial::Twist;

/// Residuals relative to those asked for, which are Euclidean.
const TIGHTER: f64 = 0.01;

/// A displacement and multipliers.
#[derive(Clone, Debug, Default)]
struct Saddle {
    motion: Motion,
    multipliers: Vec<f64>,
}

/// Workspace of the solver.
#[derive(Clone, Debug, Default)]
pub(super) struct Minres {
    /// K⁻¹ C, one displacement per constraint and axis, and the Cholesky factor of S.
    spread: Vec<Motion>,
    schur: Vec<f64>,
}

/// Result of a solve.
#[derive(Clone, Debug, Default)]
pub(super) struct MinresReport {
    pub(super) iterations: usize,
    pub(super) is_solved: bool,
    pub(super) left: f64,
    /// The change of λ (N).
    pub(super) multipliers: Vec<Vec3>,
}

impl Minres {
    /// Computes K⁻¹ C and S at the current iterate; the preconditioner must be up to date.
    pub(super) fn prepare(&mut self, system: &mut System) {
        let count = 3 * system.problem.exact.count();
        self.spread.clear();
        for k in 0..count {
            let mut unit = vec![Vec3::zeros(); count / 3];
            unit[k / 3][k % 3] = 1.0;
            let (mut column, mut answer) = (empty(system), empty(system));
            add_column(system, &unit, &mut column);
            system.preconditioner.apply(system.problem, system.point, &column, &mut answer);
            self.spread.push(answer);
        }
        self.schur.clear();
        self.schur.resize(count * count, 0.0);
        for (j, spread) in self.spread.iter().enumerate() {
            for (i, entry) in flat(&points(system, spread)).into_iter().enumerate() {
                self.schur[i * count + j] = entry;
            }
        }
        symmetrise(&mut self.schur, count);
        cholesky(&mut self.schur, count);
    }

    /// The displacement K⁻¹ C S⁻¹ b that moves the points by b (m): smooth, as forces on them would deform the body.
    pub(super) fn displacement(&self, b: &[Vec3], out: &mut Motion) {
        let mut factors = flat(b);
        solve(&self.schur, factors.len(), &mut factors);
        for (spread, factor) in self.spread.iter().zip(factors) {
            out.add(spread, factor);
        }
    }

    /// K⁻¹ r without what moves the points: z − K⁻¹ C S⁻¹ Cᵀ z for z = K⁻¹ r, the preconditioner of projected conjugate gradients.      `[GouldHribarNocedal2001]`
    pub(super) fn project(&self, exact: &ExactConstraints, z: &mut Motion) {
        if exact.is_empty() {
            return;
        }
        let moved: Vec<Vec3> = exact.at_points(|node| -vector(&z.nodes[node]));
        self.displacement(&moved, z);
    }

    /// Solves for the direction and the change of the multipliers to a relative residual of `fraction`.
    pub(super) fn solve(
        &mut self,
        system: &mut System,
        gradient: &Gradient,
        (fraction, max_iterations): (f64, usize),
        direction: &mut Motion,
    ) -> MinresReport {
        // right-hand side; the residual is measured in the norm of the preconditioner, in which soft modes count more than in that of the gradient
        let fraction = TIGHTER * fraction;
        let gaps = system.problem.exact.gaps(&system.point.x);
        let mut r2 = Saddle { motion: empty(system), multipliers: flat(&gaps) };
        set_residual(system, gradient, &mut r2.motion);
        let mut found = Saddle { motion: empty(system), multipliers: vec![0.0; r2.multipliers.len()] };
        let (mut r1, mut w, mut w2) = (r2.clone(), found.clone(), found.clone());
        let mut y = self.apply(system, &r2);
        let first = r2.dot(&y).max(0.0).sqrt();
        let mut report = MinresReport { left: 1.0, ..MinresReport::default() };
        let (mut beta, mut old_beta, mut phi_bar) = (first, 0.0, first);
        let (mut delta_bar, mut epsilon, mut cosine, mut sine) = (0.0, 0.0, -1.0, 0.0);
        while report.iterations < max_iterations && beta > 0.0 && !report.is_solved {
            report.iterations += 1;

            // Lanczos step
            let mut v = y.clone();
            v.scale(1.0 / beta);
            y = self.multiply(system, &mut v);
            if report.iterations > 1 {
                y.add(&r1, -beta / old_beta);
            }
            let alpha = v.dot(&y);
            y.add(&r2, -alpha / beta);
            r1 = core::mem::replace(&mut r2, y);
            y = self.apply(system, &r2);
            old_beta = beta;
            beta = r2.dot(&y).max(0.0).sqrt();

            // rotation, and update of the solution
            let old_epsilon = epsilon;
            let delta = cosine * delta_bar + sine * alpha;
            let gamma_bar = sine * delta_bar - cosine * alpha;
            epsilon = sine * beta;
            delta_bar = -cosine * beta;
            let gamma = (gamma_bar * gamma_bar + beta * beta).sqrt().max(f64::MIN_POSITIVE);
            (cosine, sine) = (gamma_bar / gamma, beta / gamma);
            let phi = cosine * phi_bar;
            phi_bar *= sine;
            v.add(&w2, -old_epsilon);
            v.add(&w, -delta);
            v.scale(1.0 / gamma);
            w2 = core::mem::replace(&mut w, v);
            found.add(&w, phi);
            report.left = phi_bar / first;
            report.is_solved = report.left <= fraction;
            if system.deadline.has_passed() {
                break;
            }
        }

        // the constraints to round-off of the displacement
        let reached = points(system, &found.motion);
        let left: Vec<Vec3> = gaps.iter().zip(reached).map(|(gap, reached)| gap - reached).collect();
        self.displacement(&left, &mut found.motion);
        direction.copy_from(&found.motion);
        report.multipliers = found.multipliers.chunks(3).map(Vec3::from_column_slice).collect();
        report
    }

    /// The block-diagonal preconditioner.
    fn apply(&self, system: &mut System, r: &Saddle) -> Saddle {
        let mut z = Saddle { motion: empty(system), multipliers: r.multipliers.clone() };
        system.preconditioner.apply(system.problem, system.point, &r.motion, &mut z.motion);
        solve(&self.schur, z.multipliers.len(), &mut z.multipliers);
        z
    }

    /// The product with the matrix of the system.
    fn multiply(&self, system: &mut System, v: &mut Saddle) -> Saddle {
        let mut out = Saddle { motion: empty(system), multipliers: flat(&points(system, &v.motion)) };
        let System { model, problem, point, extras, .. } = system;
        problem.multiply(model, point, extras, &mut v.motion, &mut out.motion);
        let multipliers: Vec<Vec3> = v.multipliers.chunks(3).map(Vec3::from_column_slice).collect();
        add_column(system, &multipliers, &mut out.motion);
        out
    }
}

impl Saddle {
    fn dot(&self, other: &Saddle) -> f64 {
        let multipliers: f64 = self.multipliers.iter().zip(&other.multipliers).map(|(a, b)| a * b).sum();
        self.motion.dot(&other.motion) + multipliers
    }

    fn add(&mut self, other: &Saddle, factor: f64) {
        self.motion.add(&other.motion, factor);
        self.multipliers.iter_mut().zip(&other.multipliers).for_each(|(own, other)| *own += factor * other);
    }

    fn scale(&mut self, factor: f64) {
        let single = factor as f32;
        self.motion.nodes.iter_mut().for_each(|node| node.iter_mut().for_each(|x| *x *= single));
        self.motion.joints.iter_mut().for_each(|x| *x *= factor);
        self.motion.obstacles.iter_mut().for_each(|x| *x = *x * factor);
        self.multipliers.iter_mut().for_each(|x| *x *= factor);
    }
}

/// A displacement of zero.
fn empty(system: &System) -> Motion {
    Motion {
        nodes: vec![[0.0; 4]; system.point.x.len()],
        joints: vec![0.0; system.problem.bones.dof_bone.len()],
        obstacles: vec![Twist::default(); system.point.obstacles.len()],
    }
}

/// −g over the unknowns.
fn set_residual(system: &System, gradient: &Gradient, r: &mut Motion) {
    r.nodes.iter_mut().zip(&gradient.nodes).for_each(|(r, g)| *r = row(&-g));
    for (dof, (r, g)) in r.joints.iter_mut().zip(&gradient.joints).enumerate() {
        *r = if system.problem.bones.is_sought[dof] { -g } else { 0.0 };
    }
    for (r, g) in r.obstacles.iter_mut().zip(&gradient.obstacles) {
        *r = Twist::new(-g.torque, -g.force);
    }
}

/// Adds C λ.
fn add_column(system: &System, multipliers: &[Vec3], out: &mut Motion) {
    system.problem.exact.add_forces(multipliers, |node, force| {
        (0..3).for_each(|k| out.nodes[node][k] += force[k] as f32);
    });
}

/// Cᵀ d
fn points(system: &System, motion: &Motion) -> Vec<Vec3> {
    system.problem.exact.at_points(|node| vector(&motion.nodes[node]))
}

fn flat(vectors: &[Vec3]) -> Vec<f64> {
    vectors.iter().flat_map(|v| [v.x, v.y, v.z]).collect()
}

/// The symmetric part of a matrix: preconditioners in single precision are symmetric to their round-off only.
fn symmetrise(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (a[i * n + j] + a[j * n + i]);
            (a[i * n + j], a[j * n + i]) = (mean, mean);
        }
    }
}
