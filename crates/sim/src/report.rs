//! Results of a step: a report of the work done, or the error that stopped it.

use sinew_skeleton::DynamicsError;
use thiserror::Error;

/// Report of a completed step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Sub-steps of the successful attempt.
    pub substeps: usize,
    /// Attempts that diverged before it.
    pub retries: usize,
    /// Elements that were diagonalised, summed over the sub-steps.
    pub diagonalised: usize,
    /// Maximum number of elements inverted at the same time.
    pub max_inverted: usize,
    /// Surface vertices and obstacle samples in contact with an obstacle at the end.
    pub in_contact: usize,
    /// Implicit sub-steps that kept surfaces apart by barriers.
    pub barrier_substeps: usize,
    /// Those that began so and were left to springs, because prescribed motion left flesh no room.
    pub barrier_fallbacks: usize,
    /// Convergence of an implicit step; none for an explicit one.
    pub solve: Option<SolveReport>,
}

impl StepReport {
    /// The report of two steps, one after the other.
    pub fn and(self, next: StepReport) -> StepReport {
        StepReport {
            substeps: self.substeps + next.substeps,
            retries: self.retries + next.retries,
            diagonalised: self.diagonalised + next.diagonalised,
            max_inverted: self.max_inverted.max(next.max_inverted),
            in_contact: next.in_contact,
            barrier_substeps: self.barrier_substeps + next.barrier_substeps,
            barrier_fallbacks: self.barrier_fallbacks + next.barrier_fallbacks,
            solve: match (self.solve, next.solve) {
                (Some(first), Some(second)) => Some(first.and(second)),
                (first, second) => first.or(second),
            },
        }
    }
}

/// A step failed. The state is unchanged.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StepError {
    /// Even the smallest sub-steps diverged.
    #[error(
        "body '{body}' diverged at {time:.4} s near ({:.4}, {:.4}, {:.4}) m, even with {substeps} sub-steps of {:.2e} s: \
         soften the material, use a coarser cage, or move its pins and bones more slowly", .place[0], .place[1], .place[2], .substep
    )]
    Diverged {
        /// The body with the fastest node.
        body: String,
        /// Time at the beginning of the step (s).
        time: f64,
        /// Rest position of that node (m).
        place: [f64; 3],
        /// Largest number of sub-steps tried.
        substeps: usize,
        /// Their duration (s).
        substep: f64,
    },
    /// A control metaphor has torn or crushed a body.
    #[error(
        "metaphor '{metaphor}' of magnitude {magnitude:.4} is too strong for body '{body}'{}: at {time:.4} s {what}; {}", together(.beside), held_magnitude(*.held)
    )]
    TooStrong {
        /// The metaphor whose region has suffered most; from a player the last one without which the body holds.
        metaphor: String,
        /// Its magnitude.
        magnitude: f64,
        /// The body.
        body: String,
        /// Time at the beginning of the step (s).
        time: f64,
        /// The other metaphors that act on the body, with their magnitudes.
        beside: Box<[(String, f64)]>,
        /// What has become of it.
        what: String,
        /// The largest magnitude that held over the same time, if that was searched for.
        held: Option<f64>,
    },
    /// The stability limit is too small for the step.
    #[error(
        "a step of {dt} s would take {substeps:.0} sub-steps of {stable:.1e} s: soften the material, use a coarser cage, or ask for more frames per second"
    )]
    TooManySubsteps {
        /// The time step (s).
        dt: f64,
        /// The stability limit (s).
        stable: f64,
        /// The number of sub-steps that would be needed.
        substeps: f64,
    },
    /// The equations of motion of a skeleton have no solution.
    #[error("at {time:.4} s: {error}")]
    Bones {
        /// Time at the beginning of the step (s).
        time: f64,
        /// The cause.
        error: BoneError,
    },
    /// The control does not match the model.
    #[error("{0}")]
    BadControl(String),
    /// An implicit step was requested, but a body has generalised coordinates.
    #[error(
        "implicit steps move nodes, joints and obstacles only, but body '{0}' has generalised coordinates: use the explicit or the auto solver"
    )]
    OwnCoordinates(String),
    /// An implicit step was requested, but flesh that rests at its skinned shape hangs on joints that forces move.
    #[error(
        "implicit steps hold flesh at its skinned shape only where all joints follow a motion, but skeleton '{0}' has limp or driven joints: use the explicit or the auto solver, or `shape = \"physical\"`"
    )]
    FreeHome(String),
    /// Barriers were requested for a start with intersections.
    #[error(
        "contact = \"barrier\" keeps surfaces apart that are apart, but at {time:.4} s {intersections}: move them apart, or use contact = \"auto\" or \"springs\""
    )]
    Intersecting {
        /// Time at the beginning of the step (s).
        time: f64,
        /// Which surfaces intersect, and in how many places.
        intersections: String,
    },
    /// Barriers were requested for obstacles that do not support them.
    #[error(
        "contact = \"barrier\" needs obstacles with faces that are fixed or follow a motion: use contact = \"auto\" or \"springs\", or give distance grids a surface"
    )]
    NoBarrier,
    /// Barriers were requested beside constraints that hold exactly.
    #[error(
        "contact = \"barrier\" cannot be combined with constraints that hold exactly, which move flesh whatever is in its way: use contact = \"auto\" or \"springs\", or remove `exact`"
    )]
    ExactWithBarrier,
    /// A time budget was set without a clock.
    #[error(
        "the time budget is {0} s per step, but there is no clock: set one with `Stepper::set_clock`, or remove the budget"
    )]
    NoClock(f64),
    /// The time step is not positive and finite.
    #[error("the time step is {0} s: it must be positive and finite")]
    BadTimeStep(f64),
}

/// Other metaphors with their magnitudes, in words.
fn together(beside: &[(String, f64)]) -> String {
    let words: Vec<String> =
        beside.iter().map(|(name, magnitude)| format!("'{name}' of {magnitude:.4}")).collect();
    if words.is_empty() { String::new() } else { format!(" together with {}", words.join(" and ")) }
}

/// What is known of a magnitude that is not too strong.
fn held_magnitude(held: Option<f64>) -> String {
    match held {
        Some(0.0) => "no magnitude held: look for what else deforms it".to_owned(),
        Some(held) => format!("the largest magnitude that held is {held:.4}"),
        None => "ask for less".to_owned(),
    }
}

/// A skeleton whose equations of motion have no solution.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("skeleton '{rig}': {error}")]
pub struct BoneError {
    /// The rig's name.
    pub rig: String,
    /// The error of its dynamics.
    pub error: DynamicsError,
}

/// Convergence of an implicit step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// Whether the tolerance was reached. If not, the state is the best iterate found.
    pub converged: bool,
    /// Gradient norm relative to that at the beginning of the step; with sub-steps, the largest of them.
    pub residual: f64,
    /// Newton iterations, summed over sub-steps.
    pub newton: usize,
    /// Conjugate gradient iterations.
    pub inner: usize,
    /// Evaluations of the potential.
    pub evaluations: usize,
    /// Number of times negative curvature of the potential was found, as occurs in buckling.
    pub negative_hessian: usize,
    /// Whether the time budget ended it.
    pub out_of_time: bool,
}

impl SolveReport {
    /// The report of a step without any work.
    pub(crate) const CONVERGED: SolveReport = SolveReport {
        converged: true,
        residual: 0.0,
        newton: 0,
        inner: 0,
        evaluations: 0,
        negative_hessian: 0,
        out_of_time: false,
    };

    /// The report of this and a following step together.
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
