//! Who decides: controllers read a `State` and write the `Control` of the next step. They never
//! step anything themselves.
//!
//! Motions for skeletons are here too: [`Keyframes`] and [`SkeletonMotion`] say where joints are to be, [`PathFollower`] brings
//! them there, [`Performance`] says who drives them when, [`Retarget`] carries a motion from one skeleton to another.

mod constraint_motion;
mod curve;
mod fit;
mod human_shape;
mod humanoid;
mod key_poses;
mod keyframes;
mod motion;
mod names;
mod part_value;
mod path_follower;
mod performance;
mod retarget;
mod script;
mod skeleton_motion;
mod smoothing;

pub use constraint_motion::{ConstraintMotion, PlaceMotion};
pub use curve::{Interpolation, KeyShape, KeyValue, Sample};
pub use humanoid::{BoneMap, HumanBone};
pub use keyframes::{Extrapolation, Key, KeyError, Keyframes};
pub use motion::Motion;
pub use path_follower::PathFollower;
pub use performance::{Approach, BoneSelection, Cue, CueDrive, DriveMode, Performance};
pub use retarget::{Humanoid, Retarget, RetargetError, RetargetOptions};
pub use script::Script;
pub use skeleton_motion::{MotionError, SkeletonMotion};

use sinew_sim::{Control, Model, State};

/// Something that decides what is asked of the next step.
pub trait Controller {
    /// Writes what is asked of the step of `dt` (s) that begins at `state`.
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control);
}
