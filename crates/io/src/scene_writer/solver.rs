//! Writes the solver as `[solver]`.

use crate::scene_schema::{Accuracy, ContactChoice, ExactChoice, SolverChoice, SolverTable};
use sinew_sim::{ExactMethod, ImplicitContact, ImplicitSettings, Solver, StepOrder};

/// The table of a solver; `None` for explicit steps, the default.
pub(super) fn solver_table(solver: &Solver) -> Option<SolverTable> {
    let (kind, settings) = match solver {
        Solver::Explicit => return None,
        Solver::Implicit(settings) => (SolverChoice::Implicit, settings),
        Solver::Auto(settings) => (SolverChoice::Auto, settings),
    };
    let (accuracy, base) = if settings.tolerance == ImplicitSettings::INTERACTIVE.tolerance {
        (Accuracy::Interactive, ImplicitSettings::INTERACTIVE)
    } else {
        (Accuracy::Accurate, ImplicitSettings::ACCURATE)
    };
    let order = match settings.order {
        StepOrder::First => 1,
        StepOrder::Second => 2,
    };
    Some(SolverTable {
        kind: Some(kind),
        accuracy: Some(accuracy),
        tolerance: (settings.tolerance != base.tolerance).then_some(settings.tolerance),
        max_newton: (settings.max_newton != base.max_newton).then_some(settings.max_newton),
        max_inner: (settings.max_inner != base.max_inner).then_some(settings.max_inner),
        substeps: Some(settings.substeps),
        order: Some(order),
        contact: Some(match settings.contact {
            ImplicitContact::Auto => ContactChoice::Auto,
            ImplicitContact::Springs => ContactChoice::Springs,
            ImplicitContact::Barrier => ContactChoice::Barrier,
        }),
        exact: (settings.exact == ExactMethod::Multipliers).then_some(ExactChoice::Multipliers),
        budget: settings.budget,
    })
}
