//! Who decides: controllers read a `State` and write the `Control` of the next step. They never
//! step anything themselves.
//!
//! Motions for skeletons are here too: [`Keyframes`] and [`SkeletonMotion`] say where joints are to be, [`Follow`] finds the
//! accelerations that bring them there.

mod curve;
mod fit;
mod follow;
mod keyframes;
mod motion;
mod part_value;
mod script;
mod skeleton_motion;

pub use curve::{Interpolation, KeyShape, KeyValue, Sample};
pub use follow::{Follow, Path};
pub use keyframes::{Beyond, Key, KeyError, Keyframes};
pub use motion::Motion;
pub use script::Script;
pub use skeleton_motion::{MotionError, SkeletonMotion};

use sinew_sim::{Control, Model, State};

/// Something that decides what is asked of the next step.
pub trait Controller {
    /// Writes what is asked of the step of `dt` (s) that begins at `state`.
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control);
}
