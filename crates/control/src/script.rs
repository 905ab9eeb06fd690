//! The controller of a take: plays prescribed motions of pins, obstacles, constraints and rigs, and curves of gravity, loads, air drag, materials and metaphors.

use crate::joint_control::JointControl;
use crate::{ConstraintMotion, Controller, Motion, MotionStart, Performance, WorldCurves};
use sinew_math::Isometry;
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
    /// Where motions of pins begin that replaced others during the take; `None`, and pins beyond the end of the list, begin at rest at time 0.
    pub pin_starts: Vec<Option<MotionStart>>,
    /// The same for obstacles.
    pub obstacle_starts: Vec<Option<MotionStart>>,
    /// One per constraint of the model. Constraints beyond the end of the list keep their target and full strength.
    pub constraint_motions: Vec<ConstraintMotion>,
    /// Gravity, loads, air drag, factors of materials and magnitudes of metaphors over time.
    pub curves: WorldCurves,
    /// Workspace of each rig; empty at first.
    pub joint_controls: Vec<JointControl>,
}

impl Script {
    /// Plays other motions of pins and obstacles from a time (s) on. Those that differ from the ones before begin where these have come.
    pub fn replace_motions(&mut self, time: f64, pins: Vec<Motion>, obstacles: Vec<Motion>) {
        replace(&mut self.pin_motions, &mut self.pin_starts, pins, time);
        replace(&mut self.obstacle_motions, &mut self.obstacle_starts, obstacles, time);
    }
}

/// Replaces motions, and sets the start of those that change.
fn replace(
    motions: &mut Vec<Motion>,
    starts: &mut Vec<Option<MotionStart>>,
    replaced_by: Vec<Motion>,
    time: f64,
) {
    let count = motions.len().max(replaced_by.len());
    motions.resize(count, Motion::Still);
    starts.resize(count, None);
    for (i, motion) in replaced_by.into_iter().enumerate() {
        if motions[i] != motion {
            let world_from_rest = place_at(&motions[i], starts[i], time);
            (motions[i], starts[i]) = (motion, Some(MotionStart { time, world_from_rest }));
        }
    }
}

/// The transform from the rest pose to the world at a time (s).
fn place_at(motion: &Motion, start: Option<MotionStart>, time: f64) -> Isometry {
    let time = time.max(0.0);
    start.map_or_else(|| motion.world_from_rest(time), |start| start.world_from_rest(motion, time))
}

/// The path of a pin or an obstacle in the step of `dt` (s) that starts at a time (s).
fn path_of(motion: &Motion, start: Option<MotionStart>, time: f64, dt: f64) -> PinPath {
    PinPath { from: place_at(motion, start, time), to: place_at(motion, start, time + dt) }
}

impl Controller for Script {
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control) {
        // numbers of the world, and pins
        self.curves.control(model, state, dt, control);
        control.pins.resize(model.pins().len(), PinPath::default());
        let start_of = |starts: &[Option<MotionStart>], i: usize| starts.get(i).copied().flatten();
        for (i, (path, motion)) in control.pins.iter_mut().zip(&self.pin_motions).enumerate() {
            *path = path_of(motion, start_of(&self.pin_starts, i), state.time, dt);
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
        for (i, (path, motion)) in control.obstacles.iter_mut().zip(&self.obstacle_motions).enumerate() {
            *path = path_of(motion, start_of(&self.obstacle_starts, i), state.time, dt);
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
        self.joint_controls.resize_with(self.performances.len(), JointControl::default);
        let players = self.performances.iter().zip(&mut self.joint_controls);
        for (i, (performance, joints)) in players.enumerate().take(model.rigs().len()) {
            joints.play(performance, (model, i), (state, dt), &mut control.rigs[i]);
        }
    }
}
