//! Contact forces of obstacles on surfaces in a state, and their energy.

use crate::{Model, State};
use sinew_contact::detect_contact;
use sinew_math::Vec3;

/// The contact force of an obstacle on a surface vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// The vertex, numbered over the surfaces of all bodies, without long edges.
    pub vertex: u32,
    /// The obstacle.
    pub obstacle: u32,
    /// Position of the vertex (m).
    pub point: Vec3,
    /// The force on it (N).
    pub force: Vec3,
}

/// Contact forces of obstacles on surface vertices in a state, by obstacle, then vertex. Tests every vertex with every obstacle.
///
/// Damping is not included. Friction is included only as far as the state has friction anchors, which states of recorded takes do not.
pub fn contact_forces(model: &Model, state: &State) -> Vec<ContactForce> {
    let mut found = Vec::new();
    for (o, (obstacle, now)) in model.obstacles().iter().zip(&state.obstacles).enumerate() {
        for vertex in 0..model.contact_surface().count() {
            let x = model.contact_surface().at(vertex, &state.node_x);
            let p = now.pose.rotation.inverse_transform_vector(&(x - now.pose.translation.vector));
            let p = p - model.contact_surface().inset(vertex, &obstacle.shape, &p);
            let key = (vertex as u32, o as u32);
            let held = state.anchors.binary_search_by_key(&key, |held| (held.point, held.obstacle));
            let anchor = held.ok().map(|i| state.anchors[i].anchor);
            let Some(contact) = detect_contact(&obstacle.shape, &p, &p, anchor.as_ref()) else { continue };
            let stretch = anchor.map_or(Vec3::zeros(), |anchor| p - anchor.place);
            let material = model.contact_surface().materials.of_point_on_obstacle(key.0, key.1);
            let law = model.contact_surface().law(vertex, material.friction, material.stiffness);
            let push = law.force(contact.depth, &contact.normal, &Vec3::zeros(), &stretch);
            let force = now.pose.rotation * push.force;
            found.push(ContactForce { vertex: key.0, obstacle: key.1, point: x, force });
        }
    }
    found
}

/// Energy of all contact springs in a state (J). Tests every point with every obstacle.
pub(crate) fn contact_energy(model: &Model, state: &State) -> f64 {
    let mut sum = 0.0;
    for (o, (obstacle, now)) in model.obstacles().iter().zip(&state.obstacles).enumerate() {
        for point in 0..model.contact_surface().count() {
            let x = model.contact_surface().at(point, &state.node_x);
            let p = now.pose.rotation.inverse_transform_vector(&(x - now.pose.translation.vector));
            let p = p - model.contact_surface().inset(point, &obstacle.shape, &p);
            let held = state
                .anchors
                .binary_search_by_key(&(point as u32, o as u32), |held| (held.point, held.obstacle));
            let anchor = held.ok().map(|i| state.anchors[i].anchor);
            if let Some(hit) = detect_contact(&obstacle.shape, &p, &p, anchor.as_ref()) {
                let off = anchor.map_or(Vec3::zeros(), |anchor| p - anchor.place);
                let stretch = off - off.dot(&hit.normal) * hit.normal;
                let material = model.contact_surface().materials.of_point_on_obstacle(point as u32, o as u32);
                let law = model.contact_surface().law(point, material.friction, material.stiffness);
                sum += law.energy(hit.depth, &stretch);
            }
        }
    }
    sum
}
