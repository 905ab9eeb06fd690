//! One step of a world: checks what is asked of it and takes it explicitly or implicitly.

use crate::explicit::Explicit;
use crate::implicit::{Clock, Implicit, ImplicitSettings, Solver};
use crate::{Control, Model, NodeEnergy, State, StepError, StepReport};
use sinew_flesh::Diagonalise;
use std::sync::Arc;

/// Scratch of stepping: dropping it costs time, never a different answer.
#[derive(Clone, Debug)]
pub struct Stepper {
    /// Explicit or implicit.
    pub solver: Solver,
    /// Which elements are diagonalised; the answer is the same up to round-off.
    pub diagonalise: Diagonalise,
    explicit: Explicit,
    implicit: Implicit,
    /// Whether the last step was implicit.
    was_implicit: bool,
    /// The state before a sudden cut, in case the step fails.
    before_cut: State,
}

impl Default for Stepper {
    fn default() -> Self {
        Stepper {
            solver: Solver::Explicit,
            diagonalise: Diagonalise::Selectively,
            explicit: Explicit::default(),
            implicit: Implicit::default(),
            was_implicit: false,
            before_cut: State::default(),
        }
    }
}

impl Stepper {
    /// A stepper that solves in a given way.
    pub fn with_solver(solver: Solver) -> Stepper {
        Stepper { solver, ..Stepper::default() }
    }

    /// Lends a clock for implicit steps with a budget of time. Nothing else looks at it.
    pub fn set_clock(&mut self, clock: Arc<dyn Clock>) {
        self.implicit.clock = Some(clock);
    }

    /// Takes the state `dt` (s) further: explicitly in as many sub-steps as stability asks for, or implicitly.
    pub fn step(
        &mut self,
        model: &Model,
        control: &Control,
        dt: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        check(model, control, dt)?;
        let implicit = self.solver.pick(model, dt)?.implicit;
        self.was_implicit = implicit.is_some();
        let has_cut = self.cross_cuts(model, control, state);
        let stepped = match implicit {
            Some(settings) => self.implicit.step(model, control, &settings, &mut [], dt, state),
            None => self.explicit.step(model, control, self.diagonalise, dt, state),
        };
        if has_cut && stepped.is_err() {
            state.copy_from(&self.before_cut);
        }
        stepped
    }

    /// Takes the state `dt` (s) further by an implicit step, with more energies of nodes than the model has: barriers, say, or point constraints.
    pub fn step_with(
        &mut self,
        model: &Model,
        control: &Control,
        settings: &ImplicitSettings,
        extras: &mut [&mut dyn NodeEnergy],
        dt: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        check(model, control, dt)?;
        Solver::Implicit(*settings).pick(model, dt)?;
        self.was_implicit = true;
        let has_cut = self.cross_cuts(model, control, state);
        let stepped = self.implicit.step(model, control, settings, extras, dt, state);
        if has_cut && stepped.is_err() {
            state.copy_from(&self.before_cut);
        }
        stepped
    }

    /// Carries bones and flesh across sudden cuts, if the control has any.
    fn cross_cuts(&mut self, model: &Model, control: &Control, state: &mut State) -> bool {
        let has_cut = control.rigs.iter().any(|rig| !rig.cuts.is_empty());
        if has_cut {
            self.before_cut.copy_from(state);
            state.carry_across_cuts(model, control);
        }
        has_cut
    }

    /// Torques of all drives of a rig in the last step taken (N m or N), one per degree of freedom: found for joints driven along a path.
    pub fn torques(&self, rig: usize) -> &[f64] {
        if self.was_implicit { self.implicit.torques(rig) } else { self.explicit.torques(rig) }
    }
}

/// Rejects a step whose length is no positive number, and a control that does not fit the model.
fn check(model: &Model, control: &Control, dt: f64) -> Result<(), StepError> {
    if !(dt > 0.0 && dt.is_finite()) {
        return Err(StepError::BadTimeStep(dt));
    }
    control.fault(model).map_or(Ok(()), |fault| Err(StepError::BadControl(fault)))
}
