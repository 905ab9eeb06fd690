//! `[solver]` of a scene file.

use super::keys::ScenePart;
use super::section::Section;
use sinew_files::ReadError;
use sinew_sim::{ImplicitSettings, Solver, SolverKind, StepOrder};

/// Reads how steps are taken.
pub(super) fn read_solver(scene: &Section) -> Result<Solver, ReadError> {
    let Some(section) = scene.section("solver", ScenePart::Solver)? else { return Ok(Solver::default()) };
    let names = SolverKind::ALL.map(SolverKind::name);
    let kind = section.choice("kind", &names)?.and_then(SolverKind::named).unwrap_or_default();
    let accuracy = section.choice("accuracy", &["interactive", "accurate"])?;
    let mut settings = match accuracy {
        Some("interactive") => ImplicitSettings::INTERACTIVE,
        _ => ImplicitSettings::ACCURATE,
    };
    let is_count = |n: f64| n.fract() == 0.0 && (1.0..=1000.0).contains(&n);
    if let Some(substeps) = section.number("substeps", "a whole number from 1 to 1000", is_count)? {
        settings.substeps = substeps as usize;
    }
    match section.number("order", "1 or 2", |order| order == 1.0 || order == 2.0)? {
        Some(2.0) => settings.order = StepOrder::Second,
        _ => settings.order = StepOrder::First,
    }
    settings.budget = section.number("budget", "seconds above 0", |seconds| seconds > 0.0)?;
    let unused = ["accuracy", "substeps", "order", "budget"].into_iter().find(|key| section.has(key));
    if let (SolverKind::Explicit, Some(key)) = (kind, unused) {
        let message = format!("`{key}` goes with kind = \"implicit\" or \"auto\": explicit steps have none");
        return Err(section.error(key, message));
    }
    Ok(match kind {
        SolverKind::Explicit => Solver::Explicit,
        SolverKind::Implicit => Solver::Implicit(settings),
        SolverKind::Auto => Solver::Auto(settings),
    })
}
