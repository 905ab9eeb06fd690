//! Metaphors that are too strong for a body.

use crate::bodies::{FPS, cloth, cylinder, model_with, on_all};
use sinew_sim::desc::{BodyDesc, MetaphorKind};
use sinew_sim::{Control, ImplicitSettings, Solver, State, StepError, Stepper};

/// Twenty frames of a magnitude, which begins at once. Checks that a failed step leaves the state as it was.
fn pull(body: &BodyDesc, kind: MetaphorKind, solver: Solver, magnitude: f64) -> Result<(), StepError> {
    let model = model_with(body.clone(), on_all(kind));
    let (mut state, mut stepper) = (State::at_rest(&model), Stepper::with_solver(solver));
    let control = Control { metaphors: vec![[magnitude; 2]], ..Control::still(&model) };
    for _ in 0..20 {
        let before = state.clone();
        if let Err(error) = stepper.step(&model, &control, 1.0 / FPS, &mut state) {
            assert_eq!(state, before);
            return Err(error);
        }
    }
    Ok(())
}

const KINDS: [MetaphorKind; 4] =
    [MetaphorKind::Stretch, MetaphorKind::Bend, MetaphorKind::Twist, MetaphorKind::Push];

#[test]
fn what_no_body_survives_is_an_error_that_names_the_metaphor() {
    let solvers = [Solver::Explicit, Solver::Implicit(ImplicitSettings::INTERACTIVE)];
    for (solver, kind) in solvers.into_iter().flat_map(|solver| KINDS.map(|kind| (solver, kind))) {
        for magnitude in [-1e5, 1e5] {
            let error = pull(&cylinder(), kind, solver, magnitude).expect_err("too strong");
            assert!(
                matches!(&error, StepError::TooStrong { metaphor, body, .. } if metaphor == "all" && body == "body"),
                "{kind:?}: {error}"
            );
        }
        pull(&cylinder(), kind, solver, 1.5).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    }
    let error = pull(&cloth(), MetaphorKind::Stretch, Solver::Explicit, 1e4).expect_err("too strong");
    assert!(error.to_string().contains("times its size"), "{error}");
}
