//! Edits: changes of a scene from a frame of its take on.
//!
//! An edit is a list of changes of plain values: gravity, materials, loads, motions, constraints, metaphors, contact, the solver, or who drives a skeleton. Bodies, skeletons and obstacles
//! stay what they are, so that the state at the frame of the edit is also a state of the changed scene.

use sinew_control::{ConstraintMotion, Curve, DriveMode, Factor, Goal, Motion, VectorCurve};
use sinew_flesh::Material;
use sinew_sim::Solver;
use sinew_sim::desc::{BandsDesc, ConstraintDesc, ContactDesc, LoadDesc, MetaphorDesc};

/// A change of a scene from a time of its take on.
#[derive(Clone, Debug, Default)]
pub struct SceneEdit {
    /// When it takes effect (s); rounded to the nearest frame, whose state is the last one without it.
    pub time: f64,
    /// What changes, in order.
    pub changes: Vec<SceneChange>,
}

/// One change of a scene. Bodies, skeletons, obstacles, constraints and metaphors are given by their names.
#[derive(Clone, Debug)]
pub enum SceneChange {
    /// Gravitational acceleration (m/s²), over the time of the take. Stress-free shapes stay as they were found under the first gravity.
    Gravity(VectorCurve),
    /// The material of a body.
    Material {
        /// The body.
        body: String,
        /// Its material from then on.
        material: Material,
    },
    /// All external forces on a body.
    Loads {
        /// The body.
        body: String,
        /// Its loads from then on, in place of those before.
        loads: Vec<LoadDesc>,
        /// Their forces over the time of the take (N); `None`, and those beyond the end of the list, are constant.
        forces: Vec<Option<VectorCurve>>,
    },
    /// The air drag of a body without bones.
    AirDrag {
        /// The body.
        body: String,
        /// The rate at which the air slows its motion (1/s), over the time of the take.
        rate: Curve,
    },
    /// What the stiffness, damping or friction of a body is multiplied by.
    BodyFactor {
        /// The body.
        body: String,
        /// Which of them.
        factor: Factor,
        /// The factor, over the time of the take.
        curve: Curve,
    },
    /// What friction against an obstacle is multiplied by.
    ObstacleFrictionFactor {
        /// The obstacle.
        obstacle: String,
        /// The factor, over the time of the take.
        curve: Curve,
    },
    /// The bands of a skin: how it is bound to its muscles.
    Bands {
        /// The body.
        body: String,
        /// Its bands from then on, in place of those before.
        bands: BandsDesc,
    },
    /// The motion of a pin. It begins at the edit, from where the pin is then.
    PinMotion {
        /// The body.
        body: String,
        /// The pin, by its index among those of the body.
        pin: usize,
        /// Its motion from then on; [`Motion::Still`] stops it there.
        motion: Motion,
    },
    /// The motion of a fixed or kinematic obstacle. It begins at the edit, from where the obstacle is then.
    ObstacleMotion {
        /// The obstacle.
        obstacle: String,
        /// Its motion from then on; [`Motion::Still`] stops it there.
        motion: Motion,
    },
    /// Coulomb's coefficient of friction against an obstacle.
    ObstacleFriction {
        /// The obstacle.
        obstacle: String,
        /// The coefficient.
        friction: f64,
    },
    /// A new constraint, or another one in place of that of the same name.
    Constraint {
        /// The constraint.
        constraint: ConstraintDesc,
        /// Its animation, over the time of the take.
        motion: ConstraintMotion,
    },
    /// The end of a constraint.
    RemoveConstraint(String),
    /// A new control metaphor, or another one in place of that of the same name.
    Metaphor {
        /// The metaphor.
        metaphor: MetaphorDesc,
        /// Its magnitude, over the time of the take.
        magnitude: Curve,
    },
    /// The end of a metaphor.
    RemoveMetaphor(String),
    /// The activation of a muscle.
    Activation {
        /// The muscle.
        muscle: String,
        /// From 0 to 1, over the time of the take.
        curve: Curve,
    },
    /// Contact parameters. Friction begins anew.
    Contact(ContactDesc),
    /// The solver.
    Solver(Solver),
    /// Who drives a skeleton, in place of its cues up to then. Joints without springs, dampers and stops of their own get those of a limp character where they go limp.
    Drive {
        /// The skeleton.
        rig: String,
        /// Who drives it from then on.
        mode: DriveMode,
    },
    /// A new goal of a character, or another one in place of that of the same name.
    Goal {
        /// The skeleton.
        rig: String,
        /// The goal, over the time of the take.
        goal: Goal,
    },
    /// The end of a goal.
    RemoveGoal {
        /// The skeleton.
        rig: String,
        /// The name of the goal.
        goal: String,
    },
}

impl SceneEdit {
    /// The frame at which it takes effect: the last one without it.
    pub fn frame(&self, fps: f64) -> usize {
        (self.time * fps).round().max(0.0) as usize
    }
}

impl SceneChange {
    /// Appends what it changes of the world that a model is built from, as text that differs whenever that does.
    pub(crate) fn write_world(&self, text: &mut String) {
        use core::fmt::Write as _;
        // text grows without fail
        let _ = match self {
            // a drive may give bare joints stops
            _ if !self.is_of_world() && !matches!(self, SceneChange::Drive { .. }) => Ok(()),
            // animations are no part of the world
            SceneChange::Constraint { constraint, motion: _ } => writeln!(text, "{constraint:?}"),
            SceneChange::ObstacleMotion { obstacle, motion: _ } => writeln!(text, "moves {obstacle:?}"),
            change => writeln!(text, "{change:?}"),
        };
    }

    /// Whether it changes the world that a model is built from, not only its motions.
    pub(crate) fn is_of_world(&self) -> bool {
        match self {
            SceneChange::PinMotion { .. }
            | SceneChange::BodyFactor { .. }
            | SceneChange::ObstacleFrictionFactor { .. }
            | SceneChange::Activation { .. }
            | SceneChange::Solver(_)
            | SceneChange::Goal { .. }
            | SceneChange::RemoveGoal { .. }
            // but for bare joints, which may get stops
            | SceneChange::Drive { .. } => false,
            // curves act on the steps of the same model
            SceneChange::Gravity(gravity) => gravity.is_constant(),
            SceneChange::AirDrag { rate, .. } => rate.is_constant(),
            SceneChange::Material { .. }
            | SceneChange::Loads { .. }
            | SceneChange::Bands { .. }
            // a fixed obstacle becomes a kinematic one
            | SceneChange::ObstacleMotion { .. }
            | SceneChange::ObstacleFriction { .. }
            | SceneChange::Constraint { .. }
            | SceneChange::RemoveConstraint(_)
            | SceneChange::Metaphor { .. }
            | SceneChange::RemoveMetaphor(_)
            | SceneChange::Contact(_) => true,
        }
    }
}
