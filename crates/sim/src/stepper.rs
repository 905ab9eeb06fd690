//! Time stepping of a world: validates the input of a step and dispatches it to the explicit or the implicit integrator.

use crate::exact_constraints::DroppedConstraint;
use crate::explicit::Explicit;
use crate::implicit::{Clock, Implicit, ImplicitSettings, Solver};
use crate::metaphor_strength;
use crate::step_model::StepModel;
use crate::{Control, Model, NodeEnergy, State, StepError, StepReport};
use sinew_flesh::Diagonalise;
use sinew_math::parallel::within_pool;
use std::sync::Arc;

/// Workspace of the time integrators: dropping it costs time but never changes a result.
#[derive(Clone, Debug)]
pub struct Stepper {
    /// Which time integrator is used.
    pub solver: Solver,
    /// Which elements are diagonalised; results agree up to round-off.
    pub diagonalise: Diagonalise,
    explicit: Explicit,
    implicit: Implicit,
    /// Whether the last step was implicit.
    was_implicit: bool,
    /// The state before a sudden cut, in case the step fails.
    before_cut: State,
    /// The state before a step in which metaphors act.
    before_metaphors: State,
    /// The model of steps under another gravity or air drag.
    step_model: StepModel,
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
            before_metaphors: State::default(),
            step_model: StepModel::default(),
        }
    }
}

impl Stepper {
    /// Creates a stepper with the given time integrator.
    pub fn with_solver(solver: Solver) -> Stepper {
        Stepper { solver, ..Stepper::default() }
    }

    /// Sets the clock that implicit steps with a time budget read. It is not used for anything else.
    pub fn set_clock(&mut self, clock: Arc<dyn Clock>) {
        self.implicit.clock = Some(clock);
    }

    /// Advances the state by `dt` (s): explicitly in as many sub-steps as stability requires, or implicitly.
    pub fn step(
        &mut self,
        model: &Model,
        control: &Control,
        dt: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        check(model, control, dt)?;
        let mut step_model = core::mem::take(&mut self.step_model);
        let stepped = within_pool(|| {
            step_model.step(model, control, state, |model, state| self.step_in(model, control, dt, state))
        });
        self.step_model = step_model;
        stepped
    }

    /// Advances the state by `dt` (s) under the gravity of a model.
    fn step_in(
        &mut self,
        model: &Model,
        control: &Control,
        dt: f64,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        let mut implicit = self.solver.pick(model, dt)?.implicit;
        if let (Some(name), true) = (control.free_home(model), implicit.is_some()) {
            match self.solver {
                Solver::Auto(_) => implicit = None,
                _ => return Err(StepError::FreeHome(name.to_owned())),
            }
        }
        self.was_implicit = implicit.is_some();
        let has_cut = self.cross_cuts(model, control, state);
        let is_directed = metaphor_strength::any_acts(model, control);
        if is_directed {
            self.before_metaphors.copy_from(state);
        }
        let stepped = match implicit {
            Some(settings) => self.implicit.step(model, control, &settings, &mut [], dt, state),
            None => self.explicit.step(model, control, self.diagonalise, dt, state),
        };
        let stepped =
            if is_directed { self.check_metaphors(model, control, stepped, state) } else { stepped };
        if has_cut && stepped.is_err() {
            state.copy_from(&self.before_cut);
        }
        stepped
    }

    /// Takes a step back that metaphors have destroyed a body in.
    fn check_metaphors(
        &self,
        model: &Model,
        control: &Control,
        stepped: Result<StepReport, StepError>,
        state: &mut State,
    ) -> Result<StepReport, StepError> {
        let report = stepped.map_err(|error| metaphor_strength::blame(model, control, error))?;
        let when = (self.before_metaphors.time, &*state);
        match metaphor_strength::find_destroyed(model, control, &report, when) {
            None => Ok(report),
            Some(error) => {
                state.copy_from(&self.before_metaphors);
                Err(error)
            }
        }
    }

    /// Advances the state by `dt` (s) with an implicit step that includes node energies in addition to those of the model, such as barriers or point constraints.
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
        if let Some(name) = control.free_home(model) {
            return Err(StepError::FreeHome(name.to_owned()));
        }
        self.was_implicit = true;
        let mut step_model = core::mem::take(&mut self.step_model);
        let stepped = step_model.step(model, control, state, |model, state| {
            let has_cut = self.cross_cuts(model, control, state);
            let stepped = self.implicit.step(model, control, settings, extras, dt, state);
            if has_cut && stepped.is_err() {
                state.copy_from(&self.before_cut);
            }
            stepped
        });
        self.step_model = step_model;
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

    /// Exact constraints that could not be held in the last completed step, because others leave them no freedom.
    pub fn dropped_constraints(&self) -> &[DroppedConstraint] {
        if self.was_implicit { self.implicit.dropped() } else { &self.explicit.dropped }
    }

    /// Torques of all drives of a rig in the last completed step (N m or N), one per degree of freedom; for joints with prescribed motion they are the constraint torques of inverse dynamics.
    pub fn torques(&self, rig: usize) -> &[f64] {
        if self.was_implicit { self.implicit.torques(rig) } else { self.explicit.torques(rig) }
    }
}

/// Rejects a time step that is not positive and finite, and a control that does not match the model.
fn check(model: &Model, control: &Control, dt: f64) -> Result<(), StepError> {
    if !(dt > 0.0 && dt.is_finite()) {
        return Err(StepError::BadTimeStep(dt));
    }
    control.fault(model).map_or(Ok(()), |fault| Err(StepError::BadControl(fault)))
}
