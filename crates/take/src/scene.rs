//! What a user wrote, with names, units and paths resolved.

use sinew_control::{ConstraintMotion, Motion, Performance};
use sinew_sim::{Solver, WorldDesc};

/// A scene: a world and how to play it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Its name, for outputs that need one.
    pub name: String,
    /// All that the model is built from.
    pub world: WorldDesc,
    /// How each pin moves: one list per body of the world, one motion per pin of that body.
    pub pin_motions: Vec<Vec<Motion>>,
    /// What each rig of the world does.
    pub performances: Vec<Performance>,
    /// How each obstacle of the world moves, if it is led; those beyond the end of the list stay.
    pub obstacle_motions: Vec<Motion>,
    /// How each constraint of the world is led; those beyond the end of the list hold in full where they are.
    pub constraint_motions: Vec<ConstraintMotion>,
    /// Whether steps are explicit or implicit.
    pub solver: Solver,
    /// How long the world runs before the take begins (s): skeletons come to their first pose and flesh settles.
    pub preroll: f64,
    /// How long to play (s).
    pub seconds: f64,
    /// Frames per second.
    pub fps: f64,
}

/// The longest take and the most frames per second that are taken for meant: a day, and a thousand times film.
const LONGEST: f64 = 86_400.0;
const MAX_FPS: f64 = 24_000.0;
/// Flesh that is started from rest swings like that of every other cycle after this time (s): soft fat on a limb has lost all but a thousandth of what else it did.
const LOOP_PREROLL: f64 = 6.0;

impl Scene {
    /// How many frames follow the start.
    pub fn frame_count(&self) -> usize {
        (self.seconds * self.fps).round() as usize
    }

    /// How many frames' time the world runs before the start.
    pub fn preroll_frames(&self) -> usize {
        (self.preroll * self.fps - 1e-9).ceil() as usize
    }

    /// Makes the take one cycle of the motion among many: it is played over and over before, and the scene is as long as it. Returns whether every
    /// skeleton's motion is a cycle, all as long as the first; if not, nothing changes.
    pub fn make_loop(&mut self) -> bool {
        let periods: Vec<f64> = self.performances.iter().filter_map(Performance::period).collect();
        let Some(&period) = periods.first().filter(|_| periods.len() == self.performances.len()) else {
            return false;
        };
        if periods.iter().any(|other| (other - period).abs() > 1e-6 * period) {
            return false;
        }
        let longer =
            self.performances.iter_mut().filter_map(|performance| performance.extend_preroll(LOOP_PREROLL));
        self.preroll += longer.fold(0.0, f64::max);
        // whole frames, so that the last is the first of the next cycle
        self.fps = (self.fps * period).round().max(1.0) / period;
        self.seconds = period;
        true
    }

    /// Everything wrong with the numbers of the scene itself; its world is checked when it is built.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !(self.seconds >= 0.0 && self.seconds <= LONGEST) {
            faults.push(format!("seconds = {} is not between 0 and {LONGEST}", self.seconds));
        }
        if !(self.fps > 0.0 && self.fps <= MAX_FPS) {
            faults.push(format!("fps = {} is not above 0 and up to {MAX_FPS}: 24 to 60 is usual", self.fps));
        }
        if !(self.preroll >= 0.0 && self.preroll <= LONGEST) {
            faults.push(format!("a warm-up of {} s is not between 0 and {LONGEST}", self.preroll));
        }
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
