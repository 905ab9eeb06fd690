//! Controllers: each reads a [`State`] and writes the [`Control`] of the next step. A controller never steps the simulation itself.
//!
//! [`Curve`] is a number over time, constant, along a spline or along Bézier segments with handles: the one way in which anything of a scene that is a number is keyed.
//!
//! The crate also holds the motion of skeletons. [`Keyframes`] and [`SkeletonMotion`] are splines of joint coordinates,
//! [`PathFollower`] brings joints onto them, [`Performance`] says what drives each joint when, and [`Retarget`] transfers a motion
//! from one humanoid to another. [`Goal`]s say where points of a character are to be, and [`CueDrive`] how joints bring them there: by inverse kinematics, by servos or by direct control. [`Script`] is the
//! controller that plays all of them.
//!
//! ```
//! use sinew_control::{Extrapolation, Interpolation, Key, Keyframes};
//!
//! // a drag target that rises by 1 m and falls back, over and over
//! let keys = vec![Key::at(0.0, 0.0), Key::at(0.5, 1.0), Key::at(1.0, 0.0)];
//! let height = Keyframes::build(keys, Interpolation::KochanekBartels, Extrapolation::Loop)?;
//!
//! assert_eq!(height.value(0.5), 1.0);
//! assert!((height.value(2.25) - height.value(0.25)).abs() < 1e-12);
//! // splines have derivatives: here the target is at its highest point
//! assert!(height.sample(0.5).rate.abs() < 1e-12);
//! # Ok::<(), sinew_control::KeyError>(())
//! ```

mod bezier;
mod bone_name;
mod constraint_motion;
mod curve;
mod direct_control;
mod factor_curves;
mod goal;
mod humanoid;
mod humanoid_shape;
mod joint_control;
mod joint_fit;
mod key_poses;
mod keyframes;
mod motion;
mod motion_cut;
mod muscle_drive;
mod name_words;
mod part_slot;
mod path_follower;
mod performance;
mod reach;
mod retarget;
mod script;
mod servo;
mod skeleton_motion;
mod smoothing;
mod spline;
mod world_curves;

pub use bezier::{BezierCurve, BezierKey, Handles};
pub use constraint_motion::{ConstraintMotion, PlaceMotion};
pub use curve::{Curve, VectorCurve};
pub use factor_curves::{Factor, FactorCurves};
pub use goal::{DEFAULT_BLEND, DEFAULT_REACH_TIME, Goal, GoalPoint};
pub use humanoid::{BoneMap, HumanBone};
pub use joint_control::JointControl;
pub use keyframes::{Extrapolation, Key, KeyError, Keyframes};
pub use motion::{KeyedMotion, Motion, MotionStart};
pub use motion_cut::MotionCut;
pub use muscle_drive::{JointCurve, MuscleDrive};
pub use name_words::name_words;
pub use path_follower::{FrameMotion, PathFollower};
pub use performance::{Approach, BoneSelection, Cue, CueDrive, DriveMode, Performance};
pub use retarget::{Humanoid, Retarget, RetargetError, RetargetOptions};
pub use script::Script;
pub use skeleton_motion::{MotionError, SkeletonMotion};
pub use spline::{Interpolation, KeyShape, KeyValue, Sample};
pub use world_curves::WorldCurves;

use sinew_sim::{Control, Model, State};

/// A source of control input: joint drives, pin and obstacle paths, constraint targets.
pub trait Controller {
    /// Writes the control of the step of `dt` (s) that starts at `state`.
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control);
}
