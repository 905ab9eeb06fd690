//! Detects the periodic response of flesh to a cyclic motion: the preroll of a loop ends as soon as a cycle ends as it began.
//!
//! ```text
//! max_i |x_i(t) − x_i(t − T)| ≤ ε L   and   max_i |v_i(t) − v_i(t − T)| Δt ≤ ε L
//! ```
//!
//! with T the period, Δt the time of a frame and L the largest extent of all nodes at rest. Both are needed: flesh that passes the same place
//! with another velocity is elsewhere a frame later.

use crate::Scene;
use sinew_math::Vec3;
use sinew_sim::{Model, State};

/// ε: a tenth of the error that a bake may have by default, so that a closed cycle never shows its seam.
const TOLERANCE: f64 = 1e-4;

/// Compares the ends of successive cycles during the preroll.
#[derive(Clone, Debug)]
pub(crate) struct CycleWatch {
    /// Frames per cycle.
    frames: usize,
    /// Frames before the take in which the cycle plays.
    preroll_frames: usize,
    /// The time of a frame (s).
    dt: f64,
    /// The distance within which a cycle counts as closed (m).
    tolerance: f64,
    /// Positions (m) and velocities (m/s) of all nodes one cycle ago.
    before: Option<(Vec<Vec3>, Vec<Vec3>)>,
}

impl CycleWatch {
    /// The watch of a take that is one cycle of its motion; `None` for any other.
    pub(crate) fn of(scene: &Scene, model: &Model) -> Option<CycleWatch> {
        let played = scene.cycle_preroll()?;
        let extent = |axis: usize| {
            let (low, high) = model.node_rest().iter().fold((f64::INFINITY, f64::NEG_INFINITY), |range, x| {
                (range.0.min(x[axis]), range.1.max(x[axis]))
            });
            (high - low).max(0.0)
        };
        Some(CycleWatch {
            frames: scene.frame_count().max(1),
            preroll_frames: (played * scene.fps).round() as usize,
            dt: 1.0 / scene.fps,
            tolerance: TOLERANCE * (0..3).map(extent).fold(0.0, f64::max),
            before: None,
        })
    }

    /// Whether a cycle that ends `left` frames before the take ended as it began. Must be asked after every frame of the preroll.
    pub(crate) fn is_closed(&mut self, left: usize, state: &State) -> bool {
        if left > self.preroll_frames || !left.is_multiple_of(self.frames) {
            return false;
        }
        let largest = |now: &[Vec3], then: &[Vec3]| {
            now.iter().zip(then).map(|(a, b)| (a - b).norm_squared()).fold(0.0, f64::max).sqrt()
        };
        let is_closed = self.before.as_ref().is_some_and(|(x, v)| {
            largest(&state.node_x, x) <= self.tolerance
                && largest(&state.node_v, v) * self.dt <= self.tolerance
        });
        self.before = Some((state.node_x.clone(), state.node_v.clone()));
        is_closed
    }
}
