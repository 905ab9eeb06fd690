//! Reads `[solver]` of a scene file.

use super::section::Section;
use crate::scene_schema::{Accuracy, ContactChoice, ExactChoice, SolverChoice, SolverTable};
use sinew_files::ReadError;
use sinew_sim::{ExactMethod, ImplicitContact, ImplicitSettings, Solver, StepOrder};

/// Reads how time steps are taken.
pub(super) fn read_solver(solver: Option<&Section<SolverTable>>) -> Result<Solver, ReadError> {
    let Some(solver) = solver else { return Ok(Solver::default()) };
    let kind = solver.kind.unwrap_or(SolverChoice::Explicit);
    let implicit_keys = [
        "accuracy",
        "tolerance",
        "max_newton",
        "max_inner",
        "substeps",
        "order",
        "contact",
        "exact",
        "budget",
    ];
    if let (SolverChoice::Explicit, Some(key)) = (kind, solver.first_of(&implicit_keys)) {
        let message = format!("`{key}` needs kind = \"implicit\" or \"auto\": explicit steps do not use it");
        return Err(solver.error(key, message));
    }
    let base = match solver.accuracy {
        Some(Accuracy::Interactive) => ImplicitSettings::INTERACTIVE,
        _ => ImplicitSettings::ACCURATE,
    };
    let settings = ImplicitSettings {
        tolerance: solver.tolerance.unwrap_or(base.tolerance),
        max_newton: solver.max_newton.unwrap_or(base.max_newton),
        max_inner: solver.max_inner.unwrap_or(base.max_inner),
        substeps: solver.substeps.unwrap_or(base.substeps),
        order: if solver.order == Some(2) { StepOrder::Second } else { StepOrder::First },
        contact: match solver.contact {
            Some(ContactChoice::Auto) => ImplicitContact::Auto,
            Some(ContactChoice::Springs) => ImplicitContact::Springs,
            Some(ContactChoice::Barrier) => ImplicitContact::Barrier,
            None => base.contact,
        },
        exact: match solver.exact {
            Some(ExactChoice::Multipliers) => ExactMethod::Multipliers,
            Some(ExactChoice::Projection) | None => ExactMethod::Projection,
        },
        budget: solver.budget,
    };
    Ok(match kind {
        SolverChoice::Explicit => Solver::Explicit,
        SolverChoice::Implicit => Solver::Implicit(settings),
        SolverChoice::Auto => Solver::Auto(settings),
    })
}
