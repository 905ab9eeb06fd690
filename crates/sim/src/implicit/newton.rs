//! Newton's method on the potential: directions by conjugate gradients, lengths by backtracking, so that the potential never rises.

use super::deadline::Deadline;
use super::pcg::{Pcg, System};
use super::preconditioner::Preconditioner;
use super::problem::{Gradient, Point, Problem, vector};
use super::settings::ImplicitSettings;
use super::stagnation::Stagnation;
use crate::Model;
use crate::NodeEnergy;
use crate::SolveReport;
use sinew_math::Vec3;

/// Scratch of Newton's method, and where it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    preconditioner: Preconditioner,
    pcg: Pcg,
    point: Point,
    gradient: Gradient,
    energy: f64,
    inverted: usize,
    trial: Point,
    trial_gradient: Gradient,
    motion: Vec<Vec3>,
    /// The gradient that what is left is compared with (N).
    reference: f64,
    evaluations: usize,
    /// When it must end; the first iteration is always taken.
    pub(super) deadline: Deadline,
}

/// Conjugate gradients may leave this large a fraction of the gradient at most.
const LOOSEST: f64 = 0.3;

/// The fraction that the first iteration may leave: from 0.3 down to 0.1 the clamped beam of 10,240 tets takes 2.4 instead of 2.9 iterations of Newton's method for as many of
/// conjugate gradients; below that these grow.
const FIRST: f64 = 0.1;

/// The fraction of what a step may leave that its last iteration aims for: whole iterations of conjugate gradients go beyond on their own.
const ENOUGH_LEFT: f64 = 0.5;

/// Iterations that the system at rest may take before flesh counts as tangled: 8 are usual, 28 nearly incompressible flesh.
const PATIENCE: usize = 40;

/// Extra energies look at where they are before as many iterations, then stay as they are: what they see may change for ever, back and forth.
const MAX_LOOKS: usize = 12;

/// A guess that leaves less than this fraction of the gradient, and inverts no more elements, is not compared with a third, which is better in one of 200 steps of the dancer.
const GOOD_GUESS: f64 = 0.3;

/// The fraction of the expected fall of the potential that a step must reach.
const ENOUGH: f64 = 1e-4;

/// Differences of the potential below this fraction of it are round-off.
const ROUND_OFF: f64 = 1e-12;

/// So are those below this fraction of the terms that the energy of elements is a difference of: flesh as stiff as bone holds millions of joules in them, and their last digit is more than what
/// the end of a step still gains.
const TERM_ROUND_OFF: f64 = f64::EPSILON;

impl Newton {
    /// Where it is.
    pub(super) fn point(&self) -> &Point {
        &self.point
    }

    /// The gradient there.
    pub(super) fn gradient(&self) -> &Gradient {
        &self.gradient
    }

    /// The gradient along joints there.
    pub(super) fn joint_gradient(&self) -> &[f64] {
        &self.gradient.joints
    }

    /// Elements inverted there.
    pub(super) fn inverted(&self) -> usize {
        self.inverted
    }

    /// Chooses where to begin: of a few guesses the one with the lowest potential.
    pub(super) fn start(&mut self, problem: &mut Problem, model: &Model, extras: &mut [&mut dyn NodeEnergy]) {
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
        let inverted_onward = self.inverted;
        // flesh carried on by bones: with their change of velocity, or all the way
        for carries_all in [false, true] {
            let is_good = self.inverted <= inverted_onward
                && problem.norm(&self.gradient) < GOOD_GUESS * self.reference;
            if carries_all && is_good {
                break;
            }
            let Newton { trial, .. } = self;
            trial.x.clone_from(&problem.onward.x);
            trial.rigs.clone_from(&problem.onward.rigs);
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

    /// Goes down until the gradient is small enough, the work is used up, or there is no descent direction that leads anywhere.
    pub(super) fn minimise(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        settings: &ImplicitSettings,
        extras: &mut [&mut dyn NodeEnergy],
    ) -> SolveReport {
        self.preconditioner.begin(model, &self.point);
        let mut report = SolveReport::CONVERGED;
        let mut size = problem.norm(&self.gradient);
        let mut before = size;
        let aim = settings.tolerance * self.reference;
        let mut stagnation = Stagnation::default();
        loop {
            if report.newton < MAX_LOOKS && self.refresh(problem, model, report.newton, extras) {
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

            // a direction
            problem.place_bones(model, &mut self.point);
            problem.update_hessian(model, &self.point, extras);
            self.preconditioner.update(model, problem, &self.point, extras);
            let fraction = forcing(report.newton, size, before, aim);
            let mut system = System {
                model,
                problem,
                preconditioner: &mut self.preconditioner,
                point: &self.point,
                extras,
                deadline: &self.deadline,
            };
            let found =
                self.pcg.solve(&mut system, &self.gradient, fraction, settings.max_inner.min(PATIENCE));
            report.inner += found.iterations;
            report.negative_hessian += usize::from(found.curves_down);
            // flesh as stiff as bone cannot be solved to the last digit in single precision, and is not tangled for that
            let is_tangled = !found.is_solved && !found.curves_down && found.left > LOOSEST;

            // how far along it
            let high = self.energy;
            let went = self.search(problem, model, extras);
            if is_tangled || !went {
                let is_new = self.preconditioner.fall_back();
                if !went && !is_new {
                    break;
                }
            }
            before = size;
            size = problem.norm(&self.gradient);
            if stagnation.stands(size, high - self.energy) {
                break;
            }
        }
        // what follows asks the problem about this point
        report.residual = size / self.reference;
        report.converged = size <= aim;
        report.evaluations = self.evaluations;
        report
    }

    /// Lets extra energies look anew at where it is; whether that changed anything.
    fn refresh(
        &mut self,
        problem: &mut Problem,
        model: &Model,
        round: usize,
        extras: &mut [&mut dyn NodeEnergy],
    ) -> bool {
        let mut is_new = false;
        for extra in extras.iter_mut() {
            is_new |= extra.refresh(&self.point.x, round);
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

    /// Goes along the direction as far as the potential falls; false if it does not fall at all.
    fn search(&mut self, problem: &mut Problem, model: &Model, extras: &mut [&mut dyn NodeEnergy]) -> bool {
        let size = problem.norm(&self.gradient);
        let direction = &self.pcg.direction;
        let is_sought = &problem.bones.is_sought;
        let along: f64 =
            self.gradient.nodes.iter().zip(&direction.nodes).map(|(g, d)| g.dot(&vector(d))).sum();
        let joints = self.gradient.joints.iter().zip(&direction.joints).zip(is_sought);
        let falls: f64 =
            along + joints.map(|((g, d), sought)| if *sought { g * d } else { 0.0 }).sum::<f64>();
        let goes_down = falls < 0.0;
        if !goes_down {
            return false;
        }
        let mut fraction = self.max_step(extras);
        for _ in 0..30 {
            self.trial.x.clone_from(&self.point.x);
            for (node, d) in self.pcg.direction.nodes.iter().enumerate() {
                if problem.inertia[node] > 0.0 {
                    self.trial.x[node] += fraction * vector(d);
                }
            }
            let rates = &self.pcg.direction.joints;
            problem.bones.moved(model, &self.point.rigs, rates, fraction, &mut self.trial.rigs);
            problem.place_bones(model, &mut self.trial);
            let (energy, inverted) = problem.evaluate(model, &self.trial, extras, &mut self.trial_gradient);
            self.evaluations += 1;
            let round_off = ROUND_OFF * (self.energy.abs() + problem.elastic_energy().abs())
                + TERM_ROUND_OFF * self.preconditioner.energy_terms();
            let is_flat =
                (energy - self.energy).abs() <= round_off && problem.norm(&self.trial_gradient) < size;
            if energy <= self.energy + ENOUGH * fraction * falls || is_flat {
                core::mem::swap(&mut self.point, &mut self.trial);
                core::mem::swap(&mut self.gradient, &mut self.trial_gradient);
                (self.energy, self.inverted) = (energy, inverted);
                return true;
            }
            // the bottom of the parabola through what is known
            let bend = 2.0 * (energy - self.energy - fraction * falls);
            let bottom =
                if bend > 0.0 && bend.is_finite() { -falls * fraction * fraction / bend } else { 0.0 };
            fraction = bottom.clamp(0.1 * fraction, 0.5 * fraction);
        }
        false
    }

    /// The largest fraction of the direction that extra energies allow.
    fn max_step(&mut self, extras: &mut [&mut dyn NodeEnergy]) -> f64 {
        if extras.is_empty() {
            return 1.0;
        }
        self.motion.clear();
        self.motion.extend(self.pcg.direction.nodes.iter().map(vector));
        let (x, motion) = (&self.point.x, &self.motion);
        extras.iter_mut().map(|extra| extra.max_step(x, motion)).fold(1.0, f64::min)
    }
}

/// How exactly a direction is sought: ever better as the gradient falls, never better than the step needs.   [EisenstatWalker1996, choice 2]
fn forcing(iteration: usize, size: f64, before: f64, aim: f64) -> f64 {
    let ratio = size / before;
    let wanted = if iteration == 1 { FIRST } else { (0.9 * ratio * ratio).clamp(1e-4, LOOSEST) };
    wanted.max(ENOUGH_LEFT * aim / size).min(0.5)
}
