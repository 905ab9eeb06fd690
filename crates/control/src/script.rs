//! The controller of a take: plays prescribed motions of pins, obstacles, constraints and rigs.

use crate::{ConstraintMotion, Controller, Motion, Performance};
use sinew_sim::{ConstraintPath, Control, Model, Phase, PinPath, RigControl, State};

/// Moves every pin, kinematic obstacle and constraint along its own motion, and plays the performance of every rig.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// One motion per pin, in the order of the model's pins. Pins beyond the end of the list do not move.
    pub pin_motions: Vec<Motion>,
    /// One performance per rig of the model. Rigs beyond the end of the list keep their rest pose.
    pub performances: Vec<Performance>,
    /// One motion per obstacle of the model; only kinematic ones use it. Obstacles beyond the end of the list do not move.
    pub obstacle_motions: Vec<Motion>,
    /// One per constraint of the model. Constraints beyond the end of the list keep their target and full strength.
    pub constraint_motions: Vec<ConstraintMotion>,
}

impl Controller for Script {
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control) {
        // pins
        control.load_scales.resize(model.loads().len(), 1.0);
        control.pins.resize(model.pins().len(), PinPath::default());
        let along = |motion: &Motion| PinPath {
            from: motion.world_from_rest(state.time.max(0.0)),
            to: motion.world_from_rest((state.time + dt).max(0.0)),
        };
        for (path, motion) in control.pins.iter_mut().zip(&self.pin_motions) {
            *path = along(motion);
        }

        // whether rigs still move to their first pose, or the take has not begun; then obstacles
        let is_placed = |performance: &Performance| {
            performance.approach.is_none_or(|approach| state.time >= approach.end)
        };
        control.phase = match state.time {
            _ if !self.performances.iter().all(is_placed) => Phase::Placing,
            time if time < 0.0 => Phase::Settling,
            _ => Phase::Take,
        };
        control.obstacles.resize(model.obstacles().len(), PinPath::default());
        for (path, motion) in control.obstacles.iter_mut().zip(&self.obstacle_motions) {
            *path = along(motion);
        }

        // constraints
        control.constraints.resize(model.constraints().len(), ConstraintPath::default());
        let prescribed = model.constraints().iter().zip(&self.constraint_motions);
        for (path, (constraint, motion)) in control.constraints.iter_mut().zip(prescribed) {
            *path = motion.path(constraint, state.time, dt);
        }

        // rigs
        if control.rigs.len() != model.rigs().len() {
            control.rigs = model.rigs().iter().map(RigControl::hold).collect();
        }
        for (i, performance) in self.performances.iter().enumerate().take(model.rigs().len()) {
            performance.control(&model.rigs()[i], (state.time, dt), &state.rigs[i], &mut control.rigs[i]);
        }
    }
}
