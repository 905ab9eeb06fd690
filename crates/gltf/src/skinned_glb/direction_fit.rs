//! Deltas of normals and tangents by least squares in the weights that positions have:
//!
//! ```text
//! min_D ‖R − W D‖² + λ ‖D‖²,   D = (WᵀW + λ 1)⁻¹ Wᵀ R
//! ```
//!
//! with the deltas R that frames ask for (see [`super::shading`]), row by row. Weights are between 0 and 1; λ keeps shapes that are hardly ever seen from adding large normals.

use super::flesh_frames::{FleshFrames, own_weights};
use super::residuals::Residuals;
use super::shading::to_world;
use crate::components::add_scaled;
use nalgebra::DMatrix;
use rayon::prelude::*;
use sinew_math::{Vec3, real};
use std::io;

/// λ as a fraction of the number of frames: that of a shape whose weight is 0.01 throughout.
const DAMPING: f64 = 1e-4;
/// Frames whose numbers are in memory together.
const BATCH: usize = 16;

/// For each field the delta of each morph target.
pub(super) type DirectionDeltas = Vec<Vec<Vec<[f32; 3]>>>;

/// Fits the deltas of a body, given the weights of its morph targets at the keys. No component is above 1 in size.
pub(super) fn fit(residuals: &Residuals, body: usize, weights: &[Vec<f32>]) -> io::Result<DirectionDeltas> {
    // the normal equations
    let frames = at_frames(residuals, weights);
    let count = weights.first().map_or(0, Vec::len);
    let shading = &residuals.frames.shadings[body];
    let vertex_count = residuals.body.vertex_count();
    if count == 0 || shading.fields.is_empty() {
        return Ok(vec![Vec::new(); shading.fields.len()]);
    }
    let w = DMatrix::from_fn(frames.len(), count, |f, k| f64::from(frames[f].1[k]));
    let mut normal = w.tr_mul(&w);
    (0..count).for_each(|k| normal[(k, k)] += DAMPING * frames.len() as f64);
    let solve = normal.cholesky().map(|cholesky| cholesky.solve(&w.transpose()));
    let solve = solve.ok_or_else(|| io::Error::other("the weights of its morph targets are not finite"))?;

    // their solution, frame after frame
    let mut found = vec![vec![[0.0f32; 3]; shading.fields.len() * vertex_count]; count];
    for (batch, chunk) in frames.chunks(BATCH).enumerate() {
        let read = |(frame, _): &(usize, &[f32])| residuals.frames.directions(body, *frame);
        let numbers: Vec<Vec<f32>> = chunk.par_iter().map(read).collect::<io::Result<_>>()?;
        found.par_iter_mut().enumerate().for_each(|(k, delta)| {
            for (f, numbers) in numbers.iter().enumerate() {
                add_scaled(solve[(k, batch * BATCH + f)] as f32, numbers, delta.as_flattened_mut());
            }
        });
    }
    let field = |field: usize| {
        let part = |all: &Vec<[f32; 3]>| {
            let vectors = &all[field * vertex_count..][..vertex_count];
            vectors.iter().map(|v| v.map(|c| c.clamp(-1.0, 1.0))).collect()
        };
        found.iter().map(part).collect()
    };
    Ok((0..shading.fields.len()).map(field).collect())
}

/// The mean angle (rad) between normals as they are asked for and as they are shown with these deltas, over all frames and the area of the body; `None` without normals.
pub(super) fn mean_angle(
    residuals: &Residuals,
    body: usize,
    deltas: &DirectionDeltas,
    weights: &[Vec<f32>],
) -> io::Result<Option<f64>> {
    let frames: &FleshFrames = residuals.frames;
    let shading = &frames.shadings[body];
    let (Some(field), Some(deltas)) = (shading.fields.first(), deltas.first()) else { return Ok(None) };
    let vertex_count = residuals.body.vertex_count();
    let of_frame = |(frame, weights): &(usize, &[f32])| -> io::Result<(f64, f64)> {
        // what morph targets add and were to add
        let asked = frames.directions(body, *frame)?;
        let asked = &asked.as_chunks::<3>().0[..vertex_count];
        let mut added = vec![[0.0f32; 3]; vertex_count];
        for (weight, delta) in weights.iter().zip(deltas) {
            add_scaled(*weight, delta.as_flattened(), added.as_flattened_mut());
        }

        // both in the world
        let clip = residuals.clips.iter().find(|clip| clip.frames.contains(frame));
        let Some(clip) = clip else { return Ok((0.0, 0.0)) };
        let moment = super::clip::Moment { clip: 0, frame: *frame, fraction: 0.0 };
        let pose = clip.pose_at(residuals.character, &moment);
        let joints = residuals.body.joints(residuals.character, &pose);
        let own = own_weights(residuals.character, residuals.body.node, &pose);
        let (mut sum, mut whole) = (0.0, 0.0);
        for vertex in 0..vertex_count {
            let base = field.base(vertex, own);
            let shown = |delta: &[f32; 3]| {
                let bound = base + Vec3::from(delta.map(f64::from));
                to_world(residuals.body, &joints, vertex, &bound)
            };
            if let (Some(wanted), Some(found)) = (shown(&asked[vertex]), shown(&added[vertex])) {
                sum += shading.area[vertex] * real::acos(wanted.dot(&found).clamp(-1.0, 1.0));
                whole += shading.area[vertex];
            }
        }
        Ok((sum, whole))
    };
    let frames = at_frames(residuals, weights);
    let sums: Vec<(f64, f64)> = frames.par_iter().map(of_frame).collect::<io::Result<_>>()?;
    let (sum, whole) = sums.into_iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
    Ok((whole > 0.0).then(|| sum / whole))
}

/// Frames and the weights of the keys at them.
pub(super) fn at_frames<'w>(residuals: &Residuals, weights: &'w [Vec<f32>]) -> Vec<(usize, &'w [f32])> {
    let keys = residuals.keys.iter().zip(weights).filter(|(key, _)| key.fraction == 0.0);
    keys.map(|(key, weights)| (key.frame, weights.as_slice())).collect()
}
