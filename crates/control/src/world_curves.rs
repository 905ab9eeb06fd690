//! Numbers of a world that change over time: gravity, loads, air drag, factors of materials, magnitudes of metaphors and activations of muscles.

use crate::{Curve, FactorCurves, MuscleDrive, VectorCurve};
use sinew_sim::{Control, Model, State};

/// Curves of numbers of a world over the time of the take, in place of the constants in its description.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldCurves {
    /// Gravitational acceleration (m/s²); `None` for that of the world.
    pub gravity: Option<VectorCurve>,
    /// The force of each load (N): one list per body, one entry per load of that body. `None`, and loads beyond the end of a list, have their own.
    pub loads: Vec<Vec<Option<VectorCurve>>>,
    /// The rate at which the air slows each body (1/s). `None`, and bodies beyond the end of the list, have their own.
    pub air_drag: Vec<Option<Curve>>,
    /// Factors of stiffness, damping and friction.
    pub factors: FactorCurves,
    /// The magnitude of each metaphor. Metaphors beyond the end of the list do not act, and none does before the take.
    pub metaphors: Vec<Curve>,
    /// The activation of each muscle. Muscles beyond the end of the list are relaxed.
    pub muscles: Vec<MuscleDrive>,
}

impl WorldCurves {
    /// Writes the numbers of the step of `dt` (s) that starts in a state: those at its middle, so that the impulse of what changes linearly is exact. Before the take they are those at its start.
    pub(crate) fn control(&self, model: &Model, state: &State, dt: f64, control: &mut Control) {
        let time = state.time;
        let middle = (time + 0.5 * dt).max(0.0);
        control.gravity = self.gravity.as_ref().map(|gravity| gravity.value(middle));

        // loads are in the order of their bodies
        control.load_forces.clear();
        let mut own = (0, 0);
        for load in model.loads() {
            own = if load.body == own.0 { own } else { (load.body, 0) };
            let curve = self.loads.get(own.0).and_then(|loads| loads.get(own.1)?.as_ref());
            control.load_forces.push(curve.map(|curve| curve.value(middle)));
            own.1 += 1;
        }

        // splines overshoot their keys
        let drag = |curve: &Option<Curve>| curve.as_ref().map(|curve| curve.value(middle).max(0.0));
        control.air_drag.clear();
        control.air_drag.extend(self.air_drag.iter().map(drag));

        self.factors.control(middle, control);

        // metaphors begin with the take
        let magnitude = |curve: &Curve, time: f64| if time < 0.0 { 0.0 } else { curve.value(time) };
        let ends = |curve| [time, time + dt].map(|time| magnitude(curve, time));
        control.metaphors.clear();
        control.metaphors.extend(self.metaphors.iter().take(model.metaphors().len()).map(ends));

        // muscles
        let activations = self.muscles.iter().take(model.muscles().len());
        control.activations.clear();
        control.activations.extend(activations.map(|muscle| muscle.ends(model, state, dt)));
    }

    /// Checks the curves and returns the first fault.
    pub fn fault(&self) -> Option<String> {
        let loads = self.loads.iter().flatten().flatten();
        if !self.gravity.iter().chain(loads).all(VectorCurve::is_finite) {
            return Some("a component of gravity or of a load is not finite".into());
        }
        if !self.metaphors.iter().all(Curve::is_finite) {
            return Some("the magnitude of a metaphor is not finite".into());
        }
        if let Some(fault) = self.muscles.iter().find_map(MuscleDrive::fault) {
            return Some(fault);
        }
        let mut drags = self.air_drag.iter().flatten().flat_map(Curve::key_values);
        let drag = drags.find(|(_, value)| !(*value >= 0.0 && value.is_finite()));
        let drag =
            drag.map(|(time, value)| format!("the air drag of {value} 1/s at {time} s is not 0 or more"));
        drag.or_else(|| self.factors.fault())
    }
}
