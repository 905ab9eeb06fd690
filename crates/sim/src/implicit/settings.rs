//! Which solver steps a world, how exactly, and what it says afterwards.

use crate::{Model, StepError};
use std::fmt;

/// How a world is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// Many small explicit sub-steps: cheapest for soft and coarse bodies, second order, keeps energy.
    #[default]
    Explicit,
    /// One implicit step, stable for any stiffness; fast motion is damped.
    Implicit(ImplicitSettings),
    /// Implicit where explicit stepping would take more than [`Solver::MANY_SUBSTEPS`] (twice as many at second order) no obstacle is free to move and no body has coordinates of its own, explicit elsewhere.
    Auto(ImplicitSettings),
}

/// A [`Solver`] without its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverKind {
    /// [`Solver::Explicit`]
    #[default]
    Explicit,
    /// [`Solver::Implicit`]
    Implicit,
    /// [`Solver::Auto`]
    Auto,
}

/// How steps of a model are taken, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverPick {
    /// How steps are solved; none if they are explicit.
    pub implicit: Option<ImplicitSettings>,
    /// Why.
    pub reason: SolverReason,
}

/// Why steps are explicit or implicit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolverReason {
    /// It was asked for.
    Asked,
    /// Obstacles are free to move.
    FreeObstacles,
    /// A body has coordinates of its own.
    OwnCoordinates,
    /// Explicit stepping takes so few sub-steps that it costs less.
    FewSubsteps(f64),
    /// Explicit stepping takes so many sub-steps that it costs more.
    ManySubsteps(f64),
}

/// How exactly implicit steps are solved, and how much work they may take. Work is counted, and not timed unless `budget` asks for it, so that a busy machine does not change the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitSettings {
    /// A step is solved when the gradient of its potential has fallen to this fraction of what it was at the start.
    pub tolerance: f64,
    /// The most iterations of Newton's method in a step.
    pub max_newton: usize,
    /// The most iterations of conjugate gradients in each of them.
    pub max_inner: usize,
    /// Steps that each call is cut into; more damp motion less.
    pub substeps: usize,
    /// How steps follow the motion.
    pub order: StepOrder,
    /// Seconds that solving a step may take by the clock of the [`crate::Stepper`]; none for as many as it takes. A step that runs out of them keeps the best state that was found, after one iteration of
    /// each solve at least. Then answers depend on how busy a machine is: no run is like another, nor like one that is resumed.
    pub budget: Option<f64>,
}

/// How an implicit step follows the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepOrder {
    /// Backward Euler: one solve, whose error is halved with the step. A swing of ω keeps 1/(1 + (ω h)²) of its energy in a step.
    #[default]
    First,
    /// Two solves of 0.29 of the step each, whose error falls to a quarter with half the step. A swing keeps 1 − (0.29 ω h)⁴ of its energy, and motion too fast for the step is damped.
    Second,
}

impl Solver {
    /// Explicit sub-steps in one step above which an implicit step costs less: an accurate implicit step of the beam of 10,240 tets costs 26 sub-steps on one thread, and so does one of the dancer.
    pub const MANY_SUBSTEPS: f64 = 25.0;

    /// The same, where surfaces may touch each other, in sub-steps of elements alone: looking for what touches is then most of an implicit step as well. The dancer with floor and self-contact costs 84 of them explicitly, and takes
    /// 9.3 to 10.6 s for three seconds on two cores; implicitly it takes 9.1 to 12.8.
    pub const MANY_SUBSTEPS_OF_TOUCHING: f64 = 85.0;

    /// A solver of a kind, with the settings of this one, or accurate ones if it has none.
    pub fn of_kind(&self, kind: SolverKind) -> Solver {
        let settings = match self {
            Solver::Explicit => ImplicitSettings::ACCURATE,
            Solver::Implicit(settings) | Solver::Auto(settings) => *settings,
        };
        match kind {
            SolverKind::Explicit => Solver::Explicit,
            SolverKind::Implicit => Solver::Implicit(settings),
            SolverKind::Auto => Solver::Auto(settings),
        }
    }

    /// How a step of `dt` (s) of a model is taken; an error if it would be implicit by demand and obstacles are free to move or bodies have coordinates of their own, which implicit steps do not see.
    pub fn pick(&self, model: &Model, dt: f64) -> Result<SolverPick, StepError> {
        let substeps = dt / model.stable_step().seconds;
        let (implicit, reason) = match self {
            Solver::Explicit => (None, SolverReason::Asked),
            Solver::Implicit(_) if model.has_free_obstacles() => {
                return Err(StepError::FreeObstacles);
            }
            Solver::Implicit(_) if model.reduced_body().is_some() => {
                let name = model.reduced_body().map(|body| body.name.clone()).unwrap_or_default();
                return Err(StepError::OwnCoordinates(name));
            }
            Solver::Implicit(settings) => (Some(*settings), SolverReason::Asked),
            Solver::Auto(_) if model.has_free_obstacles() => (None, SolverReason::FreeObstacles),
            Solver::Auto(_) if model.reduced_body().is_some() => (None, SolverReason::OwnCoordinates),
            Solver::Auto(settings) if costs_more(model, substeps / settings.order.cost()) => {
                (Some(*settings), SolverReason::ManySubsteps(substeps))
            }
            Solver::Auto(_) => (None, SolverReason::FewSubsteps(substeps)),
        };
        Ok(SolverPick { implicit, reason })
    }
}

impl StepOrder {
    /// What a step costs beside one of first order, about.
    fn cost(self) -> f64 {
        match self {
            StepOrder::First => 1.0,
            StepOrder::Second => 2.0,
        }
    }
}

/// Whether so many explicit sub-steps cost more than an implicit step. In each of them a vertex that may touch another surface costs about as much as an element: the dancer, with four times as many vertices as
/// elements, takes five times as long with self-contact as without.
fn costs_more(model: &Model, substeps: f64) -> bool {
    if !model.contact_surface().has_pairs {
        return substeps > Solver::MANY_SUBSTEPS;
    }
    let vertices = model.contact_surface().count() as f64 / model.tets().len().max(1) as f64;
    substeps * (1.0 + vertices) > Solver::MANY_SUBSTEPS_OF_TOUCHING
}

impl SolverKind {
    /// All kinds, by name.
    pub const ALL: [SolverKind; 3] = [SolverKind::Explicit, SolverKind::Implicit, SolverKind::Auto];

    /// Its name in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SolverKind::Explicit => "explicit",
            SolverKind::Implicit => "implicit",
            SolverKind::Auto => "auto",
        }
    }

    /// The kind of a name.
    pub fn named(name: &str) -> Option<SolverKind> {
        SolverKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl SolverPick {
    /// What steps are.
    pub fn kind(&self) -> SolverKind {
        if self.implicit.is_some() { SolverKind::Implicit } else { SolverKind::Explicit }
    }
}

impl fmt::Display for SolverReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolverReason::Asked => f.write_str("as asked for"),
            SolverReason::FreeObstacles => {
                f.write_str("obstacles are free to move, which implicit steps do not see")
            }
            SolverReason::OwnCoordinates => {
                f.write_str("a body has coordinates of its own, which implicit steps do not move")
            }
            SolverReason::FewSubsteps(n) => {
                write!(f, "{:.0} explicit sub-steps per frame cost less than an implicit step", n.ceil())
            }
            SolverReason::ManySubsteps(n) => {
                write!(f, "{:.0} explicit sub-steps per frame cost more than an implicit step", n.ceil())
            }
        }
    }
}

impl ImplicitSettings {
    /// To a thousandth, with bounded work: for the studio.
    pub const INTERACTIVE: ImplicitSettings = ImplicitSettings {
        tolerance: 1e-3,
        max_newton: 12,
        max_inner: 60,
        substeps: 1,
        order: StepOrder::First,
        budget: None,
    };
    /// To a hundred-thousandth: for takes that are kept.
    pub const ACCURATE: ImplicitSettings = ImplicitSettings {
        tolerance: 1e-5,
        max_newton: 100,
        max_inner: 300,
        substeps: 1,
        order: StepOrder::First,
        budget: None,
    };
}

impl Default for ImplicitSettings {
    fn default() -> Self {
        ImplicitSettings::INTERACTIVE
    }
}
