//! Steihaug conjugate gradients: preconditioned conjugate gradients that stop at directions of negative curvature.   `[Steihaug1983]`
//!
//! Points that are held exactly are projected out of residuals and directions, so that no iterate moves them.   [Capell2004, §4.8]

use super::linear_system::System;
use super::minres::Minres;
use super::problem::{Gradient, Motion, Problem, row};
use sinew_math::sparse::Row;
use sinew_math::spatial::Twist;

/// Workspace of conjugate gradients; `direction` is the solution.
#[derive(Clone, Debug, Default)]
pub(super) struct Pcg {
    pub(super) direction: Motion,
    r: Motion,
    z: Motion,
    p: Motion,
    product: Motion,
}

/// Result of a conjugate gradient solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PcgReport {
    pub(super) iterations: usize,
    pub(super) is_solved: bool,
    /// Relative residual norm.
    pub(super) left: f64,
    pub(super) curves_down: bool,
}

impl Pcg {
    /// Solves Hessian × direction = −gradient to a relative residual of `fraction`, in at most `max_iterations` iterations. `minres` has been prepared if points are held exactly.
    pub(super) fn solve(
        &mut self,
        system: &mut System,
        minres: &Minres,
        gradient: &Gradient,
        (fraction, max_iterations): (f64, usize),
    ) -> PcgReport {
        // initial residual −g, restricted to the unknowns
        self.fit(gradient);
        let System { model, problem, preconditioner, point, extras, deadline } = system;
        for (r, g) in self.r.nodes.iter_mut().zip(&gradient.nodes) {
            *r = row(&-g);
        }
        for (dof, (r, g)) in self.r.joints.iter_mut().zip(&gradient.joints).enumerate() {
            *r = if problem.bones.is_sought[dof] { -g } else { 0.0 };
        }
        for (r, g) in self.r.obstacles.iter_mut().zip(&gradient.obstacles) {
            *r = Twist::new(-g.torque, -g.force);
        }

        // initial direction
        let size = self.r.norm(problem);
        preconditioner.apply(problem, point, &self.r, &mut self.z);
        minres.project(&problem.exact, &mut self.z);
        self.p.copy_from(&self.z);
        let mut rz = self.r.dot(&self.z);
        let mut left = 1.0;
        for iteration in 1..=max_iterations {
            // stop at negative curvature
            problem.multiply(model, point, extras, &mut self.p, &mut self.product);
            problem.exact.project_rows(&mut self.product.nodes);
            let curvature = self.p.dot_free(&self.product);
            let is_positive = curvature > 0.0;
            if !is_positive {
                if iteration == 1 {
                    // not even the first direction has positive curvature: use the preconditioned gradient
                    self.direction.copy_from(&self.z);
                }
                return PcgReport { iterations: iteration, is_solved: false, left, curves_down: true };
            }

            // update of solution and residual
            let alpha = rz / curvature;
            self.direction.add(&self.p, alpha);
            self.r.add(&self.product, -alpha);
            left = self.r.norm(problem) / size;
            if left <= fraction {
                return PcgReport { iterations: iteration, is_solved: true, left, curves_down: false };
            }
            if deadline.has_passed() {
                return PcgReport { iterations: iteration, is_solved: false, left, curves_down: false };
            }

            // next conjugate direction
            preconditioner.apply(problem, point, &self.r, &mut self.z);
            minres.project(&problem.exact, &mut self.z);
            let next = self.r.dot(&self.z);
            self.p.scale_and_add(next / rz, &self.z);
            rz = next;
        }
        PcgReport { iterations: max_iterations, is_solved: false, left, curves_down: false }
    }

    /// Sets the direction to zero, with the sizes of a gradient.
    pub(super) fn clear(&mut self, gradient: &Gradient) {
        self.fit(gradient);
    }

    fn fit(&mut self, gradient: &Gradient) {
        let (nodes, joints) = (gradient.nodes.len(), gradient.joints.len());
        for motion in [&mut self.direction, &mut self.r, &mut self.z, &mut self.p, &mut self.product] {
            motion.nodes.clear();
            motion.nodes.resize(nodes, [0.0; 4]);
            motion.joints.clear();
            motion.joints.resize(joints, 0.0);
            motion.obstacles.clear();
            motion.obstacles.resize(gradient.obstacles.len(), Twist::default());
        }
    }
}

impl Motion {
    pub(super) fn copy_from(&mut self, other: &Motion) {
        self.nodes.copy_from_slice(&other.nodes);
        self.joints.copy_from_slice(&other.joints);
        self.obstacles.copy_from_slice(&other.obstacles);
    }

    pub(super) fn add(&mut self, other: &Motion, factor: f64) {
        let single = factor as f32;
        for (own, other) in self.nodes.iter_mut().zip(&other.nodes) {
            (0..4).for_each(|i| own[i] += single * other[i]);
        }
        self.joints.iter_mut().zip(&other.joints).for_each(|(own, other)| *own += factor * other);
        self.obstacles.iter_mut().zip(&other.obstacles).for_each(|(own, other)| *own += *other * factor);
    }

    fn scale_and_add(&mut self, factor: f64, other: &Motion) {
        let single = factor as f32;
        for (own, other) in self.nodes.iter_mut().zip(&other.nodes) {
            (0..4).for_each(|i| own[i] = single * own[i] + other[i]);
        }
        self.joints.iter_mut().zip(&other.joints).for_each(|(own, other)| *own = factor * *own + other);
        self.obstacles
            .iter_mut()
            .zip(&other.obstacles)
            .for_each(|(own, other)| *own = *own * factor + *other);
    }

    pub(super) fn dot(&self, other: &Motion) -> f64 {
        dot_rows(&self.nodes, &other.nodes)
            + dot_numbers(&self.joints, &other.joints)
            + dot_twists(&self.obstacles, &other.obstacles)
    }

    /// Dot product with a vector whose entries at constrained nodes are 0.
    fn dot_free(&self, other: &Motion) -> f64 {
        self.dot(other)
    }

    fn norm(&self, problem: &Problem) -> f64 {
        let joints: f64 =
            self.joints.iter().zip(&problem.joint_reach).map(|(g, reach)| (g / reach) * (g / reach)).sum();
        let obstacles = self.obstacles.iter().map(|own| (&own.angular, &own.linear));
        (dot_rows(&self.nodes, &self.nodes) + joints + problem.obstacles.norm_squared(obstacles)).sqrt()
    }
}

fn dot_numbers(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn dot_twists(a: &[Twist], b: &[Twist]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.angular.dot(&b.angular) + a.linear.dot(&b.linear)).sum()
}

/// Sums a few rows in single precision and the partial sums in double precision.
fn dot_rows(a: &[Row], b: &[Row]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.chunks(32).zip(b.chunks(32)) {
        let mut lanes = [0.0f32; 4];
        for (a, b) in a.iter().zip(b) {
            (0..4).for_each(|i| lanes[i] += a[i] * b[i]);
        }
        sum += f64::from(lanes[0]) + f64::from(lanes[1]) + f64::from(lanes[2]);
    }
    sum
}
