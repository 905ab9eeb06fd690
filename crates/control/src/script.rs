//! A controller that plays given motions.

use crate::{Controller, Motion};
use sinew_sim::{Control, Model, PinPath, State};

/// Moves every pin along a motion of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// One motion per pin, in the order of the model's pins. Pins beyond the end of the list stay still.
    pub pin_motions: Vec<Motion>,
}

impl Controller for Script {
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control) {
        control.load_scales.resize(model.loads.len(), 1.0);
        control.pins.resize(model.pins.len(), PinPath::default());
        for (path, motion) in control.pins.iter_mut().zip(&self.pin_motions) {
            *path = PinPath {
                from: motion.world_from_rest(state.time),
                to: motion.world_from_rest(state.time + dt),
            };
        }
    }
}
