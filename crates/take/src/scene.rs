//! Scenes: what a user wrote, with names, units and paths resolved.

use crate::SceneEdit;
use sinew_control::{ConstraintMotion, Motion, Performance, WorldCurves};
use sinew_math::Vec3;
use sinew_sim::{Solver, WorldDesc};

/// The acceleration of free fall on Earth (m/s²).
pub const EARTH_GRAVITY: f64 = 9.81;

/// A scene: the description of a world, its animation, and how to simulate it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its name, the default name of outputs.
    pub name: String,
    /// The description from which the model is built.
    pub world: WorldDesc,
    /// Motions of pins: one list per body of the world, one motion per pin of that body.
    pub pin_motions: Vec<Vec<Motion>>,
    /// The performance of each rig of the world.
    pub performances: Vec<Performance>,
    /// Motions of the world's kinematic obstacles; those beyond the end of the list do not move.
    pub obstacle_motions: Vec<Motion>,
    /// Animation of the world's constraints; those beyond the end of the list keep their target and full strength.
    pub constraint_motions: Vec<ConstraintMotion>,
    /// Gravity, loads, air drag and magnitudes of metaphors over time, in place of the constants of the world.
    pub curves: WorldCurves,
    /// Explicit or implicit time integration.
    pub solver: Solver,
    /// Time simulated before the first frame (s): skeletons move to their first pose and flesh settles.
    pub preroll: f64,
    /// Length of the take (s).
    pub seconds: f64,
    /// Frames per second.
    pub fps: f64,
    /// Changes of the scene during the take, in any order.
    pub edits: Vec<SceneEdit>,
}

/// Limits of plausible input: a day (s), and a thousand times the frame rate of film.
const MAX_SECONDS: f64 = 86_400.0;
const MAX_FPS: f64 = 24_000.0;

impl Default for Scene {
    /// Four seconds of an empty world on Earth, y up, at 60 frames per second.
    fn default() -> Scene {
        Scene {
            name: "scene".into(),
            world: WorldDesc { gravity: Vec3::new(0.0, -EARTH_GRAVITY, 0.0), ..WorldDesc::default() },
            pin_motions: Vec::new(),
            performances: Vec::new(),
            obstacle_motions: Vec::new(),
            constraint_motions: Vec::new(),
            curves: WorldCurves::default(),
            solver: Solver::default(),
            preroll: 0.0,
            seconds: 4.0,
            fps: 60.0,
            edits: Vec::new(),
        }
    }
}

impl Scene {
    /// Number of frames after the start.
    pub fn frame_count(&self) -> usize {
        (self.seconds * self.fps).round() as usize
    }

    /// Length of the preroll in frames, rounded up.
    pub fn preroll_frames(&self) -> usize {
        (self.preroll * self.fps - 1e-9).ceil() as usize
    }

    /// The edits in the order of their frames; those at the same frame together, in the order of the list.
    pub(crate) fn edit_groups(&self) -> Vec<Vec<&SceneEdit>> {
        let mut sorted: Vec<&SceneEdit> = self.edits.iter().collect();
        sorted.sort_by_key(|edit| edit.frame(self.fps));
        let same = |a: &&SceneEdit, b: &&SceneEdit| a.frame(self.fps) == b.frame(self.fps);
        sorted.chunk_by(same).map(<[_]>::to_vec).collect()
    }

    /// Makes the take exactly one cycle of its motion: extends the preroll by two cycles, to which a [`Player`](crate::Player) adds others until flesh closes them, and sets the
    /// length of the take to the period. Returns false and changes nothing unless the motion of every skeleton loops, all with the same period.
    pub fn make_loop(&mut self) -> bool {
        let periods: Vec<f64> = self.performances.iter().filter_map(Performance::period).collect();
        let Some(&period) = periods.first().filter(|_| periods.len() == self.performances.len()) else {
            return false;
        };
        if periods.iter().any(|other| (other - period).abs() > 1e-6 * period) {
            return false;
        }
        let longer = self.performances.iter_mut().filter_map(|performance| performance.extend_preroll(0.0));
        self.preroll += longer.fold(0.0, f64::max);
        // a whole number of frames per period, so that the last frame is the first of the next cycle
        self.fps = (self.fps * period).round().max(1.0) / period;
        self.seconds = period;
        true
    }

    /// All faults in the settings of the scene itself; `Model::build` checks its world.
    pub fn faults(&self) -> Vec<String> {
        // length, frame rate and preroll
        let mut faults = Vec::new();
        if !(self.seconds >= 0.0 && self.seconds <= MAX_SECONDS) {
            faults.push(format!("seconds = {} is not between 0 and {MAX_SECONDS}", self.seconds));
        }
        if !(self.fps > 0.0 && self.fps <= MAX_FPS) {
            faults.push(format!("fps = {} is not above 0 and up to {MAX_FPS}: 24 to 60 is usual", self.fps));
        }
        if !(self.preroll >= 0.0 && self.preroll <= MAX_SECONDS) {
            faults.push(format!("the preroll of {} s is not between 0 and {MAX_SECONDS}", self.preroll));
        }

        // edits
        for edit in self.edits.iter().filter(|edit| !(edit.time >= 0.0 && edit.time <= MAX_SECONDS)) {
            faults.push(format!("an edit at {} s is not between 0 and {MAX_SECONDS} s", edit.time));
        }

        // curves, and motions of pins, obstacles and constraints
        faults.extend(self.curves.fault());
        for (body, motions) in self.world.bodies.iter().zip(&self.pin_motions) {
            for (i, motion) in motions.iter().enumerate() {
                if let Some(fault) = motion.fault() {
                    faults.push(format!("body '{}': motion of pin {}: {fault}", body.name, i + 1));
                }
            }
        }
        for (obstacle, motion) in self.world.obstacles.iter().zip(&self.obstacle_motions) {
            if let Some(fault) = motion.fault() {
                faults.push(format!("obstacle '{}': motion: {fault}", obstacle.name));
            }
        }
        for (constraint, motion) in self.world.constraints.iter().zip(&self.constraint_motions) {
            if let Some(fault) = motion.fault() {
                faults.push(format!("constraint '{}': {fault}", constraint.name));
            }
        }
        faults
    }
}
