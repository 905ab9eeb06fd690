//! Selection of the time integrator, and tolerances and iteration limits of implicit steps.

use crate::{Model, StepError};
use std::fmt;

/// How a world is integrated in time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// Symplectic Euler in many small sub-steps: cheapest for soft and coarse bodies, conserves energy well.
    #[default]
    Explicit,
    /// Implicit steps, stable for any stiffness; fast motion is damped numerically.
    Implicit(ImplicitSettings),
    /// Implicit where explicit stepping would take more than [`Solver::MANY_SUBSTEPS`] sub-steps (twice as many at second order) and no body has generalised coordinates; explicit otherwise.
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

/// The integrator chosen for the steps of a model, and the reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverPick {
    /// Settings of the implicit solver; none if steps are explicit.
    pub implicit: Option<ImplicitSettings>,
    /// The reason for the choice.
    pub reason: SolverReason,
}

/// Why steps are explicit or implicit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolverReason {
    /// The user chose it.
    Asked,
    /// A body has generalised coordinates.
    OwnCoordinates,
    /// A sheet may come into contact, where implicit steps with springs seldom converge.
    SheetInContact,
    /// Explicit stepping needs few enough sub-steps to be cheaper.
    FewSubsteps(f64),
    /// Explicit stepping needs so many sub-steps that an implicit step is cheaper.
    ManySubsteps(f64),
}

/// Tolerance and iteration limits of implicit steps. Work is limited by iteration counts, and by time only if `budget` is set, so that results do not depend on the load of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitSettings {
    /// Relative tolerance: a step has converged when the norm of the gradient of its potential falls to this fraction of the initial norm.
    pub tolerance: f64,
    /// Maximum number of Newton iterations in a step.
    pub max_newton: usize,
    /// Maximum number of conjugate gradient iterations per Newton iteration.
    pub max_inner: usize,
    /// Number of sub-steps that each step is divided into; more sub-steps reduce numerical damping.
    pub substeps: usize,
    /// Order of accuracy of the time integration.
    pub order: StepOrder,
    /// How surfaces are kept apart.
    pub contact: ImplicitContact,
    /// How exact constraints are held.
    pub exact: ExactMethod,
    /// Time limit for a step by the clock of the [`crate::Stepper`] (s); none for no limit. A step that exceeds it keeps the best iterate found, after at least one iteration of
    /// each solve. Results then depend on the load of the machine and are not reproducible, nor equal to those of a resumed run.
    pub budget: Option<f64>,
}

/// How implicit steps hold exact constraints. Both have the same solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExactMethod {
    /// Projection inside conjugate gradients: points are at their targets to round-off in every iteration.
    #[default]
    Projection,
    /// Lagrange multipliers by MINRES: points are at their targets to the tolerance of the solve.
    Multipliers,
}

/// How implicit steps keep surfaces apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImplicitContact {
    /// Barriers in steps that begin without intersections, springs in others.
    Auto,
    /// Springs, whatever the start: surfaces in contact overlap a little, and may be pushed through each other.
    #[default]
    Springs,
    /// Barriers: no step ends with an intersection. A step that begins with one is an error.
    Barrier,
}

/// Order of accuracy of implicit time integration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepOrder {
    /// Backward Euler: one solve per step, first-order accurate. An oscillation of frequency ω retains 1/(1 + (ω h)²) of its energy per step.
    #[default]
    First,
    /// SDIRK2: two solves of 0.29 of the step each, second-order accurate and L-stable. An oscillation retains 1 − (0.29 ω h)⁴ of its energy per step, and unresolved motion is damped.
    Second,
}

impl Solver {
    /// Number of explicit sub-steps above which one implicit step is cheaper: an accurate implicit step of the beam of 10,240 tets costs 26 sub-steps on one thread, and so does one of the dancer.
    pub const MANY_SUBSTEPS: f64 = 25.0;

    /// The same where surfaces may be in contact with each other, in equivalent sub-steps without contact: contact detection then dominates implicit steps as well. The dancer with floor and self-contact costs 84 of them explicitly, and takes
    /// 9.3 to 10.6 s for three seconds on two cores; implicitly it takes 9.1 to 12.8.
    pub const MANY_SUBSTEPS_OF_TOUCHING: f64 = 85.0;

    /// Returns a solver of the given kind with the settings of this one, or accurate settings if it has none.
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

    /// Chooses the integrator for steps of `dt` (s) of a model.
    ///
    /// # Errors
    /// If implicit steps were requested and the model has bodies with generalised coordinates, which implicit steps do not support.
    pub fn pick(&self, model: &Model, dt: f64) -> Result<SolverPick, StepError> {
        let substeps = dt / model.stable_step().seconds;
        let (implicit, reason) = match self {
            Solver::Explicit => (None, SolverReason::Asked),
            Solver::Implicit(_) if model.reduced_body().is_some() => {
                let name = model.reduced_body().map(|body| body.name.clone()).unwrap_or_default();
                return Err(StepError::OwnCoordinates(name));
            }
            Solver::Implicit(settings) => (Some(*settings), SolverReason::Asked),
            Solver::Auto(_) if model.reduced_body().is_some() => (None, SolverReason::OwnCoordinates),
            Solver::Auto(settings)
                if settings.contact == ImplicitContact::Springs && has_sheet_in_contact(model) =>
            {
                (None, SolverReason::SheetInContact)
            }
            Solver::Auto(settings) if costs_more(model, substeps / settings.order.cost()) => {
                (Some(*settings), SolverReason::ManySubsteps(substeps))
            }
            Solver::Auto(_) => (None, SolverReason::FewSubsteps(substeps)),
        };
        Ok(SolverPick { implicit, reason })
    }
}

impl StepOrder {
    /// Approximate cost of a step relative to first order.
    fn cost(self) -> f64 {
        match self {
            StepOrder::First => 1.0,
            StepOrder::Second => 2.0,
        }
    }
}

/// Whether a sheet may meet an obstacle or a surface. Silk that falls on a ball took 6.5 s of processor time for a second in explicit steps, and more than 86 s for less in implicit ones, of which 92 % did not converge.
fn has_sheet_in_contact(model: &Model) -> bool {
    let can_touch = !model.obstacles().is_empty() || model.contact_surface().has_pairs;
    can_touch && model.bodies().iter().any(|body| body.thickness().is_some())
}

/// Whether this many explicit sub-steps cost more than an implicit step. In each sub-step a vertex that may be in contact with another surface costs about as much as an element: the dancer, with four times as many vertices as
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

    /// The name used in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SolverKind::Explicit => "explicit",
            SolverKind::Implicit => "implicit",
            SolverKind::Auto => "auto",
        }
    }

    /// Returns the kind with the given name.
    pub fn named(name: &str) -> Option<SolverKind> {
        SolverKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl SolverPick {
    /// The kind of the chosen steps.
    pub fn kind(&self) -> SolverKind {
        if self.implicit.is_some() { SolverKind::Implicit } else { SolverKind::Explicit }
    }
}

impl fmt::Display for SolverReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolverReason::Asked => f.write_str("as asked for"),
            SolverReason::OwnCoordinates => {
                f.write_str("implicit steps do not support bodies with generalised coordinates")
            }
            SolverReason::SheetInContact => {
                f.write_str("implicit steps with contact springs seldom converge for cloth in contact")
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
    /// Relative tolerance 1e-3 and few iterations: for interactive use.
    pub const INTERACTIVE: ImplicitSettings = ImplicitSettings {
        tolerance: 1e-3,
        max_newton: 12,
        max_inner: 60,
        substeps: 1,
        order: StepOrder::First,
        contact: ImplicitContact::Springs,
        exact: ExactMethod::Projection,
        budget: None,
    };
    /// Relative tolerance 1e-5: for final takes.
    pub const ACCURATE: ImplicitSettings = ImplicitSettings {
        tolerance: 1e-5,
        max_newton: 100,
        max_inner: 300,
        substeps: 1,
        order: StepOrder::First,
        contact: ImplicitContact::Springs,
        exact: ExactMethod::Projection,
        budget: None,
    };
}

impl Default for ImplicitSettings {
    fn default() -> Self {
        ImplicitSettings::INTERACTIVE
    }
}
