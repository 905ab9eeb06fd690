//! Who decides: controllers read a `State` and write the `Control` of the next step. They never
//! step anything themselves.

mod motion;
mod script;

pub use motion::Motion;
pub use script::Script;

use sinew_sim::{Control, Model, State};

/// Something that decides what is asked of the next step.
pub trait Controller {
    /// Writes what is asked of the step of `dt` (s) that begins at `state`.
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control);
}
