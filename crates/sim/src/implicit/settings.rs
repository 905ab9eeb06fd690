//! Which solver steps a world, how exactly, and what it says afterwards.

use crate::Model;

/// How a world is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// Many small explicit sub-steps: cheapest for soft and coarse bodies, second order, keeps energy.
    #[default]
    Explicit,
    /// One implicit step, stable for any stiffness; fast motion is damped.
    Implicit(ImplicitSettings),
    /// Implicit where explicit stepping would take more than [`Solver::MANY_SUBSTEPS`], explicit elsewhere.
    Auto(ImplicitSettings),
}

/// How exactly implicit steps are solved, and how much work they may take. Work is counted, not timed, so that a busy machine does not change the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitSettings {
    /// A step is solved when the slope of its potential has fallen to this share of what it was at the start.
    pub tolerance: f64,
    /// The most iterations of Newton's method in a step.
    pub most_newton: usize,
    /// The most iterations of conjugate gradients in each of them.
    pub most_inner: usize,
    /// Steps that each call is cut into; more damp motion less.
    pub substeps: usize,
}

/// How well an implicit step was solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// Whether the tolerance was reached. If not, the state is the best that was found.
    pub converged: bool,
    /// The slope that is left, as a share of the slope at the start of the step; with sub-steps, of the worst of them.
    pub residual: f64,
    /// Iterations of Newton's method, of all sub-steps.
    pub newton: usize,
    /// Iterations of conjugate gradients.
    pub inner: usize,
    /// Evaluations of the potential.
    pub evaluations: usize,
    /// Times that the potential curved downwards, as it does where flesh buckles.
    pub negative_curvature: usize,
}

impl Solver {
    /// Explicit sub-steps in one step above which an implicit step costs less: an implicit step of the clamped beam costs about 45 sub-steps.
    pub const MANY_SUBSTEPS: f64 = 45.0;

    /// The settings with which a step of `dt` (s) of a model is implicit; none if it is explicit.
    pub fn implicit_for(&self, model: &Model, dt: f64) -> Option<ImplicitSettings> {
        match self {
            Solver::Explicit => None,
            Solver::Implicit(settings) => Some(*settings),
            Solver::Auto(settings) => {
                (dt > Solver::MANY_SUBSTEPS * model.stable_step.seconds).then_some(*settings)
            }
        }
    }
}

impl ImplicitSettings {
    /// To a thousandth, with bounded work: for the studio.
    pub const INTERACTIVE: ImplicitSettings =
        ImplicitSettings { tolerance: 1e-3, most_newton: 12, most_inner: 60, substeps: 1 };
    /// To a hundred-thousandth: for takes that are kept.
    pub const ACCURATE: ImplicitSettings =
        ImplicitSettings { tolerance: 1e-5, most_newton: 100, most_inner: 300, substeps: 1 };
}

impl Default for ImplicitSettings {
    fn default() -> Self {
        ImplicitSettings::INTERACTIVE
    }
}

impl SolveReport {
    /// Of a step without any work.
    pub(crate) const CONVERGED: SolveReport = SolveReport {
        converged: true,
        residual: 0.0,
        newton: 0,
        inner: 0,
        evaluations: 0,
        negative_curvature: 0,
    };

    /// Of this and a following step together.
    pub(crate) fn and(self, next: SolveReport) -> SolveReport {
        SolveReport {
            converged: self.converged && next.converged,
            residual: self.residual.max(next.residual),
            newton: self.newton + next.newton,
            inner: self.inner + next.inner,
            evaluations: self.evaluations + next.evaluations,
            negative_curvature: self.negative_curvature + next.negative_curvature,
        }
    }
}
