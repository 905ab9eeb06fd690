//! Closest-point queries on a body at rest.

use super::cut::vertex_row;
use crate::body::Body;
use crate::constraint::{NodeRow, sum};
use sinew_contact::nearest_on_triangle;
use sinew_math::Vec3;

/// A point of a body at rest.
pub(crate) struct Found {
    /// Position (m).
    pub(crate) point: Vec3,
    /// The weighted nodes of the model that carry it.
    pub(crate) row: NodeRow,
}

/// The closest point of the surface.
pub(crate) fn on_surface(body: &Body, place: &Vec3) -> Option<Found> {
    let surface = &body.surface;
    let near = |t: usize| nearest_on_triangle(place, &surface.corners(t));
    let distance = |t: &usize| (near(*t).point - place).norm_squared();
    let t = (0..surface.triangles.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let found = near(t);
    let vertices: Vec<(u32, f64)> = surface.triangles[t].into_iter().zip(found.weights).collect();
    Some(Found { point: found.point, row: vertex_row(body, &vertices) })
}

/// The point of the flesh at a position, or the closest one on the boundary of a tet. `tets` and `nodes` are those of the model.
pub(crate) fn inside(body: &Body, tets: &[[u32; 4]], nodes: &[Vec3], place: &Vec3) -> Option<Found> {
    let mut best: Option<(f64, NodeRow)> = None;
    for tet in &tets[body.tets.clone()] {
        let corners = tet.map(|node| nodes[node as usize]);
        let edges = sinew_math::Mat3::from_columns(&[
            corners[1] - corners[0],
            corners[2] - corners[0],
            corners[3] - corners[0],
        ]);
        let Some(inverse) = edges.try_inverse() else { continue };
        let w = inverse * (place - corners[0]);
        let weights = [1.0 - w.x - w.y - w.z, w.x, w.y, w.z];
        if weights.iter().all(|weight| *weight >= 0.0) {
            let row = tet.iter().copied().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
            return Some(Found { point: *place, row });
        }
        for opposite in 0..4 {
            let face: [usize; 3] = core::array::from_fn(|k| k + usize::from(k >= opposite));
            let near = nearest_on_triangle(place, &face.map(|k| corners[k]));
            let distance = (near.point - place).norm();
            if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
                let row = face.iter().zip(near.weights).filter(|(_, weight)| *weight > 0.0);
                best = Some((distance, row.map(|(k, weight)| (tet[*k], weight)).collect()));
            }
        }
    }
    let (_, row) = best?;
    Some(Found { point: sum(&row, nodes), row })
}
