//! What a step says afterwards: a report of what it did, or an error that tells why it could not be taken.

use sinew_skeleton::DynamicsError;
use thiserror::Error;

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Sub-steps of the try that held.
    pub substeps: usize,
    /// Tries that diverged before it.
    pub retries: usize,
    /// Elements that were diagonalised, summed over the sub-steps.
    pub diagonalised: usize,
    /// The most inverted elements at one time.
    pub max_inverted: usize,
    /// Surface vertices and samples of obstacles in contact with an obstacle at the end.
    pub in_contact: usize,
    /// How well an implicit step was solved; none for an explicit one.
    pub solve: Option<SolveReport>,
}

/// A step that could not be taken. The state is as it was before.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StepError {
    /// Even the smallest sub-steps diverged.
    #[error(
        "body '{body}' diverged at {time:.4} s near ({:.4}, {:.4}, {:.4}) m, even with {substeps} sub-steps of {:.2e} s: \
         soften the material, use a coarser cage, or move what holds it more slowly", .place[0], .place[1], .place[2], .substep
    )]
    Diverged {
        /// The body whose node went fastest.
        body: String,
        /// When the step began (s).
        time: f64,
        /// Where that node is at rest (m).
        place: [f64; 3],
        /// The most sub-steps tried.
        substeps: usize,
        /// Their length (s).
        substep: f64,
    },
    /// The stable step is out of proportion to the step.
    #[error(
        "a step of {dt} s would take {substeps:.0} sub-steps of {stable:.1e} s: soften the material, use a coarser cage, or ask for more frames per second"
    )]
    TooManySubsteps {
        /// The step asked for (s).
        dt: f64,
        /// The longest stable step (s).
        stable: f64,
        /// How many sub-steps that makes.
        substeps: f64,
    },
    /// A skeleton's equations of motion have no answer.
    #[error("at {time:.4} s: {error}")]
    Bones {
        /// When the step began (s).
        time: f64,
        /// What is wrong.
        error: BoneError,
    },
    /// The control does not fit the model.
    #[error("{0}")]
    BadControl(String),
    /// An implicit step is asked for where obstacles are free to move.
    #[error(
        "implicit steps leave free obstacles where they are, and this scene has some: use the explicit or the auto solver, or fix them"
    )]
    FreeObstacles,
    /// An implicit step is asked for where a body has coordinates of its own.
    #[error(
        "implicit steps move points and joints, and body '{0}' has coordinates of its own: use the explicit or the auto solver"
    )]
    OwnCoordinates(String),
    /// A budget of time is asked for, and there is no clock.
    #[error(
        "steps may take {0} s each, and there is no clock to tell: lend one with `Stepper::set_clock`, or remove the budget"
    )]
    NoClock(f64),
    /// The time step is not a positive number.
    #[error("a time step of {0} s is asked for: give a positive, finite one")]
    BadTimeStep(f64),
}

/// A skeleton whose equations of motion have no answer.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("skeleton '{rig}': {error}")]
pub struct BoneError {
    /// The rig's name.
    pub rig: String,
    /// What its dynamics say.
    pub error: DynamicsError,
}

/// How well an implicit step was solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// Whether the tolerance was reached. If not, the state is the best that was found.
    pub converged: bool,
    /// The gradient that is left, as a fraction of the gradient at the start of the step; with sub-steps, of the worst of them.
    pub residual: f64,
    /// Iterations of Newton's method, of all sub-steps.
    pub newton: usize,
    /// Iterations of conjugate gradients.
    pub inner: usize,
    /// Evaluations of the potential.
    pub evaluations: usize,
    /// Times that the potential curved downwards, as it does where flesh buckles.
    pub negative_hessian: usize,
    /// Whether the budget of time ended it.
    pub out_of_time: bool,
}

impl SolveReport {
    /// Of a step without any work.
    pub(crate) const CONVERGED: SolveReport = SolveReport {
        converged: true,
        residual: 0.0,
        newton: 0,
        inner: 0,
        evaluations: 0,
        negative_hessian: 0,
        out_of_time: false,
    };

    /// Of this and a following step together.
    pub(crate) fn and(self, next: SolveReport) -> SolveReport {
        SolveReport {
            converged: self.converged && next.converged,
            residual: self.residual.max(next.residual),
            newton: self.newton + next.newton,
            inner: self.inner + next.inner,
            evaluations: self.evaluations + next.evaluations,
            negative_hessian: self.negative_hessian + next.negative_hessian,
            out_of_time: self.out_of_time || next.out_of_time,
        }
    }
}
