//! A controller that plays given motions.

use crate::{ConstraintMotion, Controller, Motion, Performance};
use sinew_sim::{ConstraintPath, Control, Model, PinPath, RigControl, State};

/// Moves every pin, every led obstacle and every constraint along a motion of its own and lets every rig play its performance.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// One motion per pin, in the order of the model's pins. Pins beyond the end of the list stay still.
    pub pin_motions: Vec<Motion>,
    /// One performance per rig of the model. Rigs beyond the end of the list are held at rest.
    pub performances: Vec<Performance>,
    /// One motion per obstacle of the model; only led ones follow. Obstacles beyond the end of the list stay.
    pub obstacle_motions: Vec<Motion>,
    /// One per constraint of the model. Constraints beyond the end of the list hold in full where they are.
    pub constraint_motions: Vec<ConstraintMotion>,
}

impl Controller for Script {
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control) {
        control.load_scales.resize(model.loads.len(), 1.0);
        control.pins.resize(model.pins.len(), PinPath::default());
        let along = |motion: &Motion| PinPath {
            from: motion.world_from_rest(state.time.max(0.0)),
            to: motion.world_from_rest((state.time + dt).max(0.0)),
        };
        for (path, motion) in control.pins.iter_mut().zip(&self.pin_motions) {
            *path = along(motion);
        }
        let is_placed = |performance: &Performance| {
            performance.approach.is_none_or(|approach| state.time >= approach.end)
        };
        control.is_placing = !self.performances.iter().all(is_placed);
        control.obstacles.resize(model.obstacles.len(), PinPath::default());
        for (path, motion) in control.obstacles.iter_mut().zip(&self.obstacle_motions) {
            *path = along(motion);
        }
        control.constraints.resize(model.constraints.len(), ConstraintPath::default());
        let prescribed = model.constraints.iter().zip(&self.constraint_motions);
        for (path, (constraint, motion)) in control.constraints.iter_mut().zip(prescribed) {
            *path = motion.path(constraint, state.time, dt);
        }
        if control.rigs.len() != model.rigs.len() {
            control.rigs = model.rigs.iter().map(RigControl::hold).collect();
        }
        for (i, performance) in self.performances.iter().enumerate().take(model.rigs.len()) {
            performance.control(&model.rigs[i], (state.time, dt), &state.rigs[i], &mut control.rigs[i]);
        }
    }
}
