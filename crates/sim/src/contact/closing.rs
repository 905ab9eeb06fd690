//! How fast surfaces can come nearer to each other, and how short sub-steps must be for them not to miss each other.
//!
//! A body that flies as a whole comes no nearer to itself: speeds count against the mean of each body. With v̄ the mean velocity and s the largest |v − v̄|,
//!
//! ```text
//! a body and itself: 2 s            two bodies: |v̄₁ − v̄₂| + s₁ + s₂
//! ```

use crate::{Model, State};
use sinew_contact::Bounds;
use sinew_math::Vec3;

/// Scratch of closing speeds: how each body moves as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Closing {
    bodies: Vec<BodyMotion>,
}

#[derive(Clone, Copy, Debug)]
struct BodyMotion {
    mean: Vec3,
    spread: f64,
    bounds: Bounds,
}

/// The share of the distance of vertices that surfaces may come nearer in a sub-step: a third of what they push each other apart over, so that they are slowed
/// down before they are through.
const SHARE: f64 = 0.2;
/// Sub-steps become no shorter than this share of what is stable by itself: what is faster than that is no motion of flesh.
const SHORTEST: f64 = 1.0 / 8.0;

impl Closing {
    /// The most that two surfaces which may touch can come nearer in a second (m/s). Bodies that are farther apart than they come in the time `within` (s) do not count.
    pub(super) fn speed(&mut self, model: &Model, state: &State, within: f64) -> f64 {
        if !model.touch.has_pairs {
            return 0.0;
        }
        self.bodies.clear();
        self.bodies.extend(model.bodies.iter().map(|body| {
            let v = &state.node_v[body.nodes.clone()];
            let mean = v.iter().sum::<Vec3>() / v.len().max(1) as f64;
            let spread = v.iter().map(|v| (v - mean).norm_squared()).fold(0.0, f64::max).sqrt();
            BodyMotion { mean, spread, bounds: Bounds::around(&state.node_x[body.nodes.clone()]) }
        }));
        let desc = &model.touch.desc;
        let mut most = 0.0f64;
        for (i, (body, own)) in model.bodies.iter().zip(&self.bodies).enumerate() {
            if desc.self_contact.contains(&body.name) {
                most = most.max(2.0 * own.spread);
            }
            if desc.between_bodies {
                for other in &self.bodies[i + 1..] {
                    let speed = (own.mean - other.mean).norm() + own.spread + other.spread;
                    let reach = within * speed + 4.0 * model.touch.spacing;
                    // not a number, as in a step that has failed, counts
                    if (speed > most || speed.is_nan()) && own.bounds.grown(reach).meets(&other.bounds) {
                        most = speed;
                    }
                }
            }
        }
        most
    }

    /// How many sub-steps a step of `dt` (s) needs at least, where stability alone asks for `fewest`.
    pub(super) fn substeps(&mut self, model: &Model, state: &State, dt: f64, fewest: usize) -> usize {
        let closing = self.speed(model, state, dt);
        let needed = (dt * closing / (SHARE * model.touch.spacing)).ceil();
        if needed.is_finite() {
            fewest.max((needed as usize).min((fewest as f64 / SHORTEST) as usize))
        } else {
            fewest
        }
    }
}
