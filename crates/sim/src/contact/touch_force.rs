//! What obstacles push on surfaces with, for whoever wants to see it.

use crate::{Model, State};
use sinew_contact::feel;
use sinew_math::Vec3;

/// What an obstacle pushes on a surface vertex with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchForce {
    /// The vertex, counted over all bodies.
    pub vertex: u32,
    /// The obstacle.
    pub obstacle: u32,
    /// Where the vertex is (m).
    pub point: Vec3,
    /// The force on it (N).
    pub force: Vec3,
}

/// What springs of obstacles push on surface vertices with in a state, by obstacle, then vertex. Looks at every vertex and every obstacle.
///
/// Dampers are left out; friction is known as far as the state remembers where it holds, which states of recorded takes do not.
pub fn touch_forces(model: &Model, state: &State) -> Vec<TouchForce> {
    let mut found = Vec::new();
    for (o, (obstacle, now)) in model.obstacles.iter().zip(&state.obstacles).enumerate() {
        for vertex in 0..model.touch.count() {
            let x = model.touch.at(vertex, &state.node_x);
            let p = now.pose.rotation.inverse_transform_vector(&(x - now.pose.translation.vector));
            let key = (vertex as u32, o as u32);
            let held = state.grips.binary_search_by_key(&key, |held| (held.point, held.obstacle));
            let grip = held.ok().map(|i| state.grips[i].grip);
            let Some(touch) = feel(&obstacle.shape, &p, &p, grip.as_ref()) else { continue };
            let stretch = grip.map_or(Vec3::zeros(), |grip| p - grip.place);
            let law = model.touch.law(vertex, obstacle.friction, obstacle.stiffness, model.touch.step);
            let push = law.push(touch.depth, &touch.normal, &Vec3::zeros(), &stretch);
            let force = now.pose.rotation * push.force;
            found.push(TouchForce { vertex: key.0, obstacle: key.1, point: x, force });
        }
    }
    found
}
