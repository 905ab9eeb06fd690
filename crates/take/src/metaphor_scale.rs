//! A factor of the magnitudes of metaphors, tried in place of what controllers ask for.

use sinew_sim::{Control, Model};

/// A factor of the magnitudes of metaphors.
#[derive(Clone, Debug)]
pub(crate) struct MetaphorScale {
    /// The metaphor that it applies to.
    pub(crate) only: String,
    pub(crate) factor: f64,
}

impl MetaphorScale {
    /// Multiplies the magnitudes of a control.
    pub(crate) fn apply(&self, model: &Model, control: &mut Control) {
        for (metaphor, ends) in model.metaphors().iter().zip(&mut control.metaphors) {
            if self.only == metaphor.name {
                ends.iter_mut().for_each(|magnitude| *magnitude *= self.factor);
            }
        }
    }
}
