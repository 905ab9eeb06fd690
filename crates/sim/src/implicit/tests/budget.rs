//! Steps with a time budget, with clocks that count their readings.

use super::beam::{BAD_STARTS, bad_start, beam, rubber};
use crate::SolveReport;
use crate::implicit::{Clock, ImplicitSettings, Solver, StepOrder};
use crate::{Control, Model, State, StepError, Stepper};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const DT: f64 = 1.0 / 60.0;

/// A clock that advances by a millisecond at each reading.
#[derive(Debug, Default)]
struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn seconds(&self) -> f64 {
        1e-3 * self.0.fetch_add(1, Ordering::Relaxed) as f64
    }
}

fn step(model: &Model, settings: ImplicitSettings, state: &mut State) -> (SolveReport, u64) {
    let clock = Arc::new(Ticks::default());
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    stepper.set_clock(clock.clone());
    let report = stepper.step(model, &Control::still(model), DT, state).expect("a step");
    (report.solve.expect("implicit"), clock.0.load(Ordering::Relaxed))
}

/// A step without time keeps the result of its first iteration, reports it, and reads the clock only a few times: it cannot hang. More time gives a smaller residual.
#[test]
fn a_step_that_runs_out_of_time_keeps_the_best() {
    let model = beam(2, rubber(5e5, 0.4, 0.1), true);
    for start in BAD_STARTS {
        let mut before = f64::INFINITY;
        for milliseconds in [0.0, 20.0, 200.0] {
            let settings =
                ImplicitSettings { budget: Some(1e-3 * milliseconds), ..ImplicitSettings::ACCURATE };
            let mut state = bad_start(&model, start);
            let (solve, asked) = step(&model, settings, &mut state);
            assert!(state.node_x.iter().all(|x| x.iter().all(|x| x.is_finite())));
            assert_eq!(solve.out_of_time, !solve.converged, "{start}: {solve:?}");
            assert!(milliseconds > 0.0 || (solve.out_of_time && solve.newton == 1), "{start}: {solve:?}");
            assert!((asked as f64) < milliseconds + 10.0, "{start}: {asked}");
            let energies = state.energies(&model);
            // the potential of the step decreases, and with it the elastic energy, its only term here
            assert!(energies.elastic <= before, "{start}: {} {before}", energies.elastic);
            before = energies.elastic;
        }
    }
}

/// Both solves of every sub-step get their part of the budget, and at least one iteration.
#[test]
fn every_solve_has_its_share_of_the_time() {
    let model = beam(2, rubber(5e5, 0.4, 0.1), true);
    let order = StepOrder::Second;
    let settings = ImplicitSettings { budget: Some(0.0), substeps: 3, order, ..ImplicitSettings::ACCURATE };
    let (solve, _) = step(&model, settings, &mut State::at_rest(&model));
    assert!(solve.out_of_time && !solve.converged && solve.newton == 6, "{solve:?}");
}

/// With enough time the result is bitwise that without a budget; a budget without a clock is rejected, and the state is unchanged.
#[test]
fn time_enough_changes_nothing_and_no_clock_is_an_error() {
    let model = beam(2, rubber(5e5, 0.4, 0.1), true);
    let settings = ImplicitSettings { budget: Some(1e9), ..ImplicitSettings::ACCURATE };
    let (mut timed, mut free, mut refused) =
        (State::at_rest(&model), State::at_rest(&model), State::at_rest(&model));
    let (solve, _) = step(&model, settings, &mut timed);
    assert!(solve.converged && !solve.out_of_time, "{solve:?}");
    step(&model, ImplicitSettings::ACCURATE, &mut free);
    assert_eq!(timed.hash(), free.hash());
    let before = refused.hash();
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    let error = stepper.step(&model, &Control::still(&model), DT, &mut refused);
    assert_eq!(error, Err(StepError::NoClock(1e9)));
    assert_eq!(refused.hash(), before);
}
