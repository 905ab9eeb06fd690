//! Inexact Newton's method on the incremental potential: search directions by preconditioned conjugate gradients, step lengths by a backtracking line search, so that the potential decreases monotonically.

use super::deadline::Deadline;
use super::linear_system::System;
use super::minres::Minres;
use super::pcg::Pcg;
use super::preconditioner::Preconditioner;
use super::problem::{Gradient, Motion, Point, Problem, row, vector};
use super::settings::ImplicitSettings;
use super::stagnation::Stagnation;
use crate::Model;
use crate::NodeEnergy;
use crate::SolveReport;
use sinew_math::Vec3;

/// Workspace of Newton's method, and the current iterate.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    /// Whether it is one of many rounds, in which energies need no corrections near the minimum.
    pub(super) is_settling: bool,
    preconditioner: Preconditioner,
    pcg: Pcg,
    minres: Minres,
    point: Point,
    gradient: Gradient,
    energy: f64,
    inverted: usize,
    trial: Point,
    trial_gradient: Gradient,
    motion: Vec<Vec3>,
    /// A displacement of what is prescribed, and the gradient that it causes to first order.
    prescribed: Motion,
    prescribed_gradient: Motion,
    /// Norm of the gradient that residuals are relative to (N).
    reference: f64,
    evaluations: usize,
    /// Whether linear systems are solved more tightly: see [`STIFF_FORCING`].
    pub(super) is_stiff: bool,
    /// When it must stop; the first iteration is always completed.
    pub(super) deadline: Deadline,
}

/// Largest forcing term: relative residual at which conjugate gradients stop.
const MAX_FORCING: f64 = 0.3;

/// Largest forcing term with barriers, whose stiffness hides the rest of the gradient from a looser solve: gradient norms then rise in every other iteration, and two balls that meet at 40 m/s do not converge in 60.
const STIFF_FORCING: f64 = 0.02;

/// Forcing term of the first iteration. Reducing it from 0.3 to 0.1 reduces the Newton iterations of the clamped beam of 10,240 tets from 2.9 to 2.4 at the same number of
/// conjugate gradient iterations; smaller values increase that number.
const FIRST_FORCING: f64 = 0.1;

/// The last iteration aims for this fraction of the tolerance: because conjugate gradients advance in whole iterations, they usually fall below it anyway.
const FINAL_FRACTION: f64 = 0.5;

/// Iterations with the rest-shape preconditioner after which the configuration counts as tangled: 8 are typical, 28 for nearly incompressible flesh.
const TANGLED_ITERATIONS: usize = 40;

/// Extra energies are refreshed before at most this many iterations and then stay fixed: active sets may alternate forever.
const MAX_REFRESHES: usize = 12;

/// Extra energies are corrected when the gradient norm is within this factor of the tolerance, and so many times at most.
const NEARLY: f64 = 10.0;
const MAX_CORRECTIONS: usize = 8;

/// If an initial guess has a relative gradient norm below this and no more inverted elements, the third guess is skipped: it is better in only one of 200 steps of the dancer.
const GOOD_GUESS: f64 = 0.3;

/// Armijo constant: fraction of the predicted decrease of the potential that a step must reach.
const ARMIJO: f64 = 1e-4;

/// Relative differences of the potential below this are round-off.
const ROUND_OFF: f64 = 1e-12;

/// Round-off relative to the magnitude of the terms that cancel in the elastic energy: for flesh as stiff as bone these are millions of joules, and their last digit exceeds the decrease
/// of the last iterations of a step.
const TERM_ROUND_OFF: f64 = f64::EPSILON;

impl Newton {
    /// The current iterate.
    pub(super) fn point(&self) -> &Point {
        &self.point
    }

    /// The current iterate, to be moved before a [`Newton::restart`].
    pub(super) fn point_mut(&mut self) -> &mut Point {
        &mut self.point
    }

    /// Evaluates the potential at an iterate that was moved, or with other energies than before.
    pub(super) fn restart(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        extras: &mut [&mut dyn NodeEnergy],
    ) {
        problem.place_bones(model, &mut self.point);
        self.evaluate_point(problem, model, extras);
    }

    /// Raises the gradient norm that residuals are relative to, to the inertial force at the current iterate: that of bodies that contact has stopped on their way.
    pub(super) fn raise_reference(&mut self, problem: &Problem) {
        let force = |node: usize| problem.inertia[node] * (self.point.x[node] - problem.aim[node]);
        let squared: f64 = (0..self.point.x.len()).map(|node| force(node).norm_squared()).sum();
        self.reference = self.reference.max(squared.sqrt());
    }

    /// Computes H Δ at the current iterate for a displacement Δ of nodes that are not free (m), with what extra energies see move besides.
    pub(super) fn displace(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        extras: &mut [&mut dyn NodeEnergy],
        displacement: impl Fn(usize) -> Vec3,
    ) {
        self.restart(problem, model, extras);
        problem.update_hessian(model, &self.point, extras);
        let (nodes, joints) = (self.point.x.len(), problem.bones.dof_bone.len());
        for motion in [&mut self.prescribed, &mut self.prescribed_gradient] {
            motion.nodes.clear();
            motion.nodes.resize(nodes, [0.0; 4]);
            motion.joints.clear();
            motion.joints.resize(joints, 0.0);
        }
        for node in (0..nodes).filter(|node| problem.inertia[*node] == 0.0) {
            self.prescribed.nodes[node] = row(&displacement(node));
        }
        let (motion, out) = (&mut self.prescribed, &mut self.prescribed_gradient);
        problem.multiply(model, &self.point, extras, motion, out);
    }

    /// The displacement of free nodes that restores equilibrium to first order after [`Newton::displace`]: H p = −g − H Δ.
    pub(super) fn respond(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        settings: &ImplicitSettings,
        extras: &mut [&mut dyn NodeEnergy],
    ) -> &Motion {
        self.trial_gradient.clone_from(&self.gradient);
        for (own, more) in self.trial_gradient.nodes.iter_mut().zip(&self.prescribed_gradient.nodes) {
            *own += vector(more);
        }
        self.preconditioner.begin(model, problem, &self.point);
        self.preconditioner.update(model, problem, &self.point, extras);
        let mut system = System {
            model,
            problem,
            preconditioner: &mut self.preconditioner,
            point: &self.point,
            extras,
            deadline: &self.deadline,
        };
        let limits = (FIRST_FORCING, settings.max_inner);
        self.pcg.solve(&mut system, &self.minres, &self.trial_gradient, limits);
        &self.pcg.direction
    }

    /// The gradient at the current iterate.
    pub(super) fn gradient(&self) -> &Gradient {
        &self.gradient
    }

    /// The joint components of the gradient at the current iterate.
    pub(super) fn joint_gradient(&self) -> &[f64] {
        &self.gradient.joints
    }

    /// Number of inverted elements at the current iterate.
    pub(super) fn inverted(&self) -> usize {
        self.inverted
    }

    /// Chooses the initial guess: the candidate with the lowest potential.
    pub(super) fn start(&mut self, problem: &mut Problem, model: &Model, extras: &mut [&mut dyn NodeEnergy]) {
        // first candidate: constant velocity, which also sets the reference gradient
        self.evaluations = 0;
        self.preconditioner.prepare(model, problem);
        self.point.clone_from(&problem.onward);
        problem.place_bones(model, &mut self.point);
        problem.set_joint_reach(model);
        self.evaluate_point(problem, model, extras);
        self.reference = problem.norm(&self.gradient).max(problem.small_gradient(model));
        if model.rigs().is_empty() {
            return;
        }

        // further candidates: flesh skinned to the bones, by their acceleration only or by their whole motion
        let inverted_onward = self.inverted;
        for carries_all in [false, true] {
            let is_good = self.inverted <= inverted_onward
                && problem.norm(&self.gradient) < GOOD_GUESS * self.reference;
            if carries_all && is_good {
                break;
            }
            let Newton { trial, .. } = self;
            trial.x.clone_from(&problem.onward.x);
            trial.rigs.clone_from(&problem.onward.rigs);
            trial.obstacles.clone_from(&problem.onward.obstacles);
            for node in 0..model.node_count() {
                if problem.inertia[node] == 0.0 {
                    continue;
                }
                let x = problem.start.x[node];
                let bones = &problem.bones;
                let skinned = |from, to| self.preconditioner.skinned(node, &x, from, to);
                let Some(next) = skinned(&bones.start_frames, &bones.frames) else { continue };
                if carries_all {
                    self.trial.x[node] = next;
                } else if let Some(back) = skinned(&bones.start_frames, &bones.back_frames) {
                    self.trial.x[node] += next - 2.0 * x + back;
                }
            }

            // keep the better one
            problem.place_bones(model, &mut self.trial);
            let (energy, inverted) = problem.evaluate(model, &self.trial, extras, &mut self.trial_gradient);
            self.evaluations += 1;
            if energy < self.energy {
                core::mem::swap(&mut self.point, &mut self.trial);
                core::mem::swap(&mut self.gradient, &mut self.trial_gradient);
                (self.energy, self.inverted) = (energy, inverted);
            }
        }
    }

    /// Minimises until the gradient norm is within tolerance, an iteration limit is reached, or no descent direction makes progress.
    pub(super) fn minimise(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        settings: &ImplicitSettings,
        extras: &mut [&mut dyn NodeEnergy],
    ) -> SolveReport {
        self.preconditioner.begin(model, problem, &self.point);
        if !problem.exact.is_empty() {
            self.meet_constraints(problem, model, extras);
        }
        let mut report = SolveReport::CONVERGED;
        let mut size = problem.norm(&self.gradient);
        let mut before = size;
        let aim = settings.tolerance * self.reference;
        let mut stagnation = Stagnation::default();
        let mut corrections = 0;
        loop {
            // stop at the tolerance, the iteration limit or the deadline
            if report.newton < MAX_REFRESHES && self.refresh(problem, model, report.newton, extras) {
                size = problem.norm(&self.gradient);
            }
            let may_correct = !self.is_settling && corrections < MAX_CORRECTIONS && size <= NEARLY * aim;
            if may_correct && self.correct(problem, model, extras) {
                corrections += 1;
                stagnation = Stagnation::default();
                size = problem.norm(&self.gradient);
            }
            if size <= aim || report.newton >= settings.max_newton {
                break;
            }
            if report.newton > 0 && self.deadline.has_passed() {
                report.out_of_time = true;
                break;
            }
            report.newton += 1;

            let fraction = forcing(report.newton, size, before, aim);
            let is_tangled = self.find_direction(problem, model, settings, (fraction, extras), &mut report);

            // line search, with the fallback preconditioner if it fails
            let energy_before = self.energy;
            let has_decreased = self.search(problem, model, extras);
            if is_tangled || !has_decreased {
                let is_new = self.preconditioner.fall_back();
                if !has_decreased && !is_new {
                    break;
                }
            }

            // stop on stagnation
            before = size;
            size = problem.norm(&self.gradient);
            if stagnation.is_stagnant(size, energy_before - self.energy) {
                break;
            }
        }
        // the caller reads the gradient of the problem at this point
        report.residual = size / self.reference;
        report.converged = size <= aim;
        report.evaluations = self.evaluations;
        report
    }

    /// Moves the initial guess, or what the last round has left, to where exact constraints are met: by the displacement that forces on their points would cause, then to round-off. With multipliers, Newton's method does it.
    fn meet_constraints(&mut self, problem: &mut Problem, model: &Model, extras: &mut [&mut dyn NodeEnergy]) {
        if problem.uses_multipliers {
            return;
        }
        problem.place_bones(model, &mut self.point);
        problem.update_hessian(model, &self.point, extras);
        self.preconditioner.update(model, problem, &self.point, extras);
        let gaps = problem.exact.gaps(&self.point.x);
        let mut system = System {
            model,
            problem,
            preconditioner: &mut self.preconditioner,
            point: &self.point,
            extras,
            deadline: &self.deadline,
        };
        self.minres.prepare(&mut system);
        self.pcg.clear(&self.gradient);
        self.minres.displacement(&gaps, &mut self.pcg.direction);
        self.take_step(problem, model, 1.0);
        core::mem::swap(&mut self.point, &mut self.trial);
        self.evaluate_point(problem, model, extras);
    }

    /// Sets the trial iterate: a fraction of the direction from the current one, corrected so that exact constraints are met.
    fn take_step(&mut self, problem: &mut Problem, model: &Model, fraction: f64) {
        self.trial.x.clone_from(&self.point.x);
        for (node, d) in self.pcg.direction.nodes.iter().enumerate() {
            if problem.inertia[node] > 0.0 {
                self.trial.x[node] += fraction * vector(d);
            }
        }
        let rates = &self.pcg.direction.joints;
        problem.bones.moved(model, &self.point.rigs, rates, fraction, &mut self.trial.rigs);
        let motion = &self.pcg.direction.obstacles;
        problem.obstacles.moved(&self.point.obstacles, motion, fraction, &mut self.trial.obstacles);
        problem.place_bones(model, &mut self.trial);
        if !problem.uses_multipliers {
            problem.exact.correct(model, &mut self.trial.x);
        }
    }

    /// Solves for the direction and the multipliers of exact constraints, which the gradient then contains; returns whether the solution was not found.
    fn find_multipliers(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        ((fraction, max_inner), extras): ((f64, usize), &mut [&mut dyn NodeEnergy]),
        report: &mut SolveReport,
    ) -> bool {
        // the direction, and the change of the multipliers
        self.pcg.clear(&self.gradient);
        let mut system = System {
            model,
            problem,
            preconditioner: &mut self.preconditioner,
            point: &self.point,
            extras,
            deadline: &self.deadline,
        };
        let found =
            self.minres.solve(&mut system, &self.gradient, (fraction, max_inner), &mut self.pcg.direction);

        // the Lagrangian with them
        let gaps = problem.exact.gaps(&self.point.x);
        let exact = &mut problem.exact;
        exact.multipliers.iter_mut().zip(&found.multipliers).for_each(|(own, change)| *own += change);
        exact.add_forces(&found.multipliers, |node, force| self.gradient.nodes[node] += force);
        self.energy -= found.multipliers.iter().zip(&gaps).map(|(change, gap)| change.dot(gap)).sum::<f64>();
        report.inner += found.iterations;
        !found.is_solved && found.left > MAX_FORCING
    }

    /// Solves for the search direction to a fraction of the gradient; returns whether elements are so tangled that it was not found.
    fn find_direction(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        settings: &ImplicitSettings,
        (mut fraction, extras): (f64, &mut [&mut dyn NodeEnergy]),
        report: &mut SolveReport,
    ) -> bool {
        // Hessian and preconditioner at the current iterate
        problem.place_bones(model, &mut self.point);
        problem.update_hessian(model, &self.point, extras);
        self.preconditioner.update(model, problem, &self.point, extras);

        // conjugate gradients
        let mut max_inner = settings.max_inner.min(TANGLED_ITERATIONS);
        if self.is_stiff {
            fraction = fraction.min(STIFF_FORCING);
            max_inner = settings.max_inner;
        }
        if !problem.exact.is_empty() {
            self.minres.prepare(&mut System {
                model,
                problem,
                preconditioner: &mut self.preconditioner,
                point: &self.point,
                extras,
                deadline: &self.deadline,
            });
        }
        if problem.uses_multipliers && !problem.exact.is_empty() {
            return self.find_multipliers(problem, model, ((fraction, max_inner), extras), report);
        }
        let mut system = System {
            model,
            problem,
            preconditioner: &mut self.preconditioner,
            point: &self.point,
            extras,
            deadline: &self.deadline,
        };
        let found = self.pcg.solve(&mut system, &self.minres, &self.gradient, (fraction, max_inner));
        report.inner += found.iterations;
        report.negative_hessian += usize::from(found.curves_down);
        // flesh as stiff as bone does not converge to the last digit in single precision; that alone is no sign of tangling
        !found.is_solved && !found.curves_down && found.left > MAX_FORCING
    }

    /// Lets extra energies update their active sets at the current iterate; returns whether anything changed.
    fn refresh(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        round: usize,
        extras: &mut [&mut dyn NodeEnergy],
    ) -> bool {
        self.change(problem, model, extras, |extra, x| extra.refresh(x, round))
    }

    /// Lets extra energies correct what is fixed far from the minimum; returns whether anything changed.
    fn correct(&mut self, problem: &mut Problem, model: &Model, extras: &mut [&mut dyn NodeEnergy]) -> bool {
        self.change(problem, model, extras, |extra, x| extra.correct(x))
    }

    /// Lets extra energies change at the current iterate, and evaluates it again if any did.
    fn change(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        extras: &mut [&mut dyn NodeEnergy],
        how: impl Fn(&mut dyn NodeEnergy, &[Vec3]) -> bool,
    ) -> bool {
        if problem.obstacles.any() {
            problem.place_bones(model, &mut self.point);
            problem.show_bodies(&self.point, extras);
        }
        let mut is_new = false;
        for extra in extras.iter_mut() {
            is_new |= how(&mut **extra, &self.point.x);
        }
        if is_new {
            problem.place_bones(model, &mut self.point);
            self.evaluate_point(problem, model, extras);
        }
        is_new
    }

    fn evaluate_point(&mut self, problem: &mut Problem, model: &Model, extras: &mut [&mut dyn NodeEnergy]) {
        (self.energy, self.inverted) = problem.evaluate(model, &self.point, extras, &mut self.gradient);
        self.evaluations += 1;
    }

    /// Backtracking line search along the direction with the Armijo condition; returns false if the potential does not decrease.
    fn search(&mut self, problem: &mut Problem, model: &Model, extras: &mut [&mut dyn NodeEnergy]) -> bool {
        // directional derivative, over free nodes and unknown joints
        let size = problem.norm(&self.gradient);
        let direction = &self.pcg.direction;
        let is_sought = &problem.bones.is_sought;
        let along: f64 =
            self.gradient.nodes.iter().zip(&direction.nodes).map(|(g, d)| g.dot(&vector(d))).sum();
        let joints = self.gradient.joints.iter().zip(&direction.joints).zip(is_sought);
        let derivative: f64 =
            along + joints.map(|((g, d), sought)| if *sought { g * d } else { 0.0 }).sum::<f64>();
        let obstacles = self.gradient.obstacles.iter().zip(&direction.obstacles);
        let derivative = derivative + obstacles.map(|(g, d)| d.dot(g)).sum::<f64>();
        let is_descent = derivative < 0.0;
        if !is_descent {
            return false;
        }

        // longest step that the extra energies permit
        let mut fraction = self.max_step(problem, model, extras);
        for _ in 0..30 {
            self.take_step(problem, model, fraction);
            let (energy, inverted) = problem.evaluate(model, &self.trial, extras, &mut self.trial_gradient);
            self.evaluations += 1;

            // accept a sufficient decrease, or a smaller gradient where the decrease is below round-off
            let round_off = ROUND_OFF * (self.energy.abs() + problem.elastic_energy().abs())
                + TERM_ROUND_OFF * self.preconditioner.energy_terms();
            let is_flat =
                (energy - self.energy).abs() <= round_off && problem.norm(&self.trial_gradient) < size;
            if energy <= self.energy + ARMIJO * fraction * derivative || is_flat {
                core::mem::swap(&mut self.point, &mut self.trial);
                core::mem::swap(&mut self.gradient, &mut self.trial_gradient);
                (self.energy, self.inverted) = (energy, inverted);
                return true;
            }

            // minimiser of the quadratic interpolant
            let curvature = 2.0 * (energy - self.energy - fraction * derivative);
            let minimiser = if curvature > 0.0 && curvature.is_finite() {
                -derivative * fraction * fraction / curvature
            } else {
                0.0
            };
            fraction = minimiser.clamp(0.1 * fraction, 0.5 * fraction);
        }
        false
    }

    /// The largest step length that the extra energies permit.
    fn max_step(&mut self, problem: &mut Problem, model: &Model, extras: &mut [&mut dyn NodeEnergy]) -> f64 {
        if extras.is_empty() {
            return 1.0;
        }
        self.motion.clear();
        let is_free = |node: usize| if problem.inertia[node] > 0.0 { 1.0 } else { 0.0 };
        let nodes = self.pcg.direction.nodes.iter().enumerate();
        self.motion.extend(nodes.map(|(node, d)| is_free(node) * vector(d)));

        // nodes fixed to bones that move, along the chords of their arcs
        if problem.bones.any_sought() {
            self.trial.x.clone_from(&self.point.x);
            let rates = &self.pcg.direction.joints;
            problem.bones.moved(model, &self.point.rigs, rates, 1.0, &mut self.trial.rigs);
            problem.place_bones(model, &mut self.trial);
            for node in (0..self.motion.len()).filter(|node| problem.inertia[*node] == 0.0) {
                self.motion[node] = self.trial.x[node] - self.point.x[node];
            }
        }
        let (x, motion) = (&self.point.x, &self.motion);
        extras.iter_mut().map(|extra| extra.max_step(x, motion)).fold(1.0, f64::min)
    }
}

/// Forcing term of the inexact Newton method: tightens as the gradient norm decreases, but never below what the tolerance requires.   [EisenstatWalker1996, choice 2]
fn forcing(iteration: usize, size: f64, before: f64, aim: f64) -> f64 {
    let ratio = size / before;
    let wanted = if iteration == 1 { FIRST_FORCING } else { (0.9 * ratio * ratio).clamp(1e-4, MAX_FORCING) };
    wanted.max(FINAL_FRACTION * aim / size).min(0.5)
}
