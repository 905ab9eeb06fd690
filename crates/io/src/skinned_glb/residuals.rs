//! What flesh adds to skinning, in bind space, and its principal components.
//!
//! Kept on disk is u = x − x_p, where a vertex is beyond where the file alone puts it, in the world. In bind space that is
//! δ = A⁺ u. Components are those of g δ with g = max_t s(t) (see [`Body::largest_scales`]): an error e of g δ shows in the world as
//! ‖A e/g‖ ≤ ‖e‖, so that a bound in the world is kept. How large errors really are is measured at the end, on the numbers as written.

use super::body::{Body, Part};
use super::carry_back::carry_back;
use super::scratch::Scratch;
use crate::components::{Components, Effort, Frames, add_scaled};
use rayon::prelude::*;
use sinew_math::Vec3;
use std::borrow::Cow;
use std::io;

/// Frames that are measured together while a block of components is in the cache.
const BATCH: usize = 16;
/// Vertices of a block.
const BLOCK: usize = 512;
/// Share of the allowed error that components may use; rounding and damping have the rest.
const SHARE: f64 = 0.995;

/// The components of what flesh does to a body.
#[derive(Debug)]
pub(super) struct Flesh {
    /// What each adds to the vertices of the body in bind space at weight 1.
    pub(super) deltas: Vec<Vec<[f32; 3]>>,
    /// For each frame their weights.
    pub(super) weights: Vec<Vec<f32>>,
    /// The largest distance of any vertex in any frame from where it was given, in the world (m).
    pub(super) largest_error: f64,
    /// Vertices whose way back was damped in some frame.
    pub(super) damped: usize,
}

/// The frames of a body as g δ.
pub(super) struct Residuals<'a> {
    body: &'a Body<'a>,
    scratch: &'a Scratch,
    scales: Vec<f64>,
}

impl<'a> Residuals<'a> {
    pub(super) fn new(body: &'a Body<'a>, scratch: &'a Scratch) -> Residuals<'a> {
        Residuals { body, scratch, scales: body.largest_scales() }
    }

    /// Finds components that keep every vertex within what is allowed, if the limit lets them.
    pub(super) fn compress(&self, effort: Effort) -> io::Result<Flesh> {
        let nothing = vec![[0.0; 3]; self.body.vertex_count()];
        let within = Effort { allowed: SHARE * effort.allowed, ..effort };
        let Components { mut deltas, weights, .. } = Components::find(self, nothing, within)?;
        deltas.par_iter_mut().for_each(|delta| {
            for (delta, scale) in delta.iter_mut().zip(&self.scales) {
                // a vertex that all joints shrink to a point cannot be moved
                let share = if *scale > 0.0 { 1.0 / scale } else { 0.0 };
                *delta = delta.map(|c| (f64::from(c) * share) as f32);
            }
        });
        let (largest_error, damped) = self.measure(&deltas, &weights)?;
        Ok(Flesh { deltas, weights, largest_error, damped })
    }

    /// The largest error in the world, ‖u − A Σₖ wₖ dₖ‖ (m), and the number of vertices whose way back was damped.
    fn measure(&self, deltas: &[Vec<[f32; 3]>], weights: &[Vec<f32>]) -> io::Result<(f64, usize)> {
        let mut damped = vec![false; self.body.vertex_count()];
        let mut largest = 0.0f64;
        for first in (0..self.count()).step_by(BATCH) {
            let batch = first..(first + BATCH).min(self.count());
            let given: Vec<Vec<f32>> =
                batch.map(|frame| self.displacements(frame)).collect::<io::Result<_>>()?;
            let measured = damped.par_chunks_mut(BLOCK).enumerate().map(|(block, damped)| {
                let mut largest = 0.0f64;
                for (f, given) in given.iter().enumerate() {
                    let start = BLOCK * block;
                    let mut moved = vec![[0.0f32; 3]; damped.len()];
                    for (delta, weight) in deltas.iter().zip(&weights[first + f]) {
                        let delta = &delta[start..start + moved.len()];
                        add_scaled(*weight, delta.as_flattened(), moved.as_flattened_mut());
                    }
                    let given = &given.as_chunks::<3>().0[start..];
                    for (i, (moved, given)) in moved.iter().zip(given).enumerate() {
                        let (part, vertex) = self.part_of(start + i);
                        let (map, scale) = self.body.map(part, first + f, vertex);
                        let gap = vector(given) - map * vector(moved);
                        largest = largest.max(gap.norm_squared());
                        damped[i] |= carry_back(&map, scale).1;
                    }
                }
                largest
            });
            largest = measured.collect::<Vec<f64>>().into_iter().fold(largest, f64::max);
        }
        Ok((largest.sqrt(), damped.iter().filter(|damped| **damped).count()))
    }

    /// u of all vertices in a frame.
    fn displacements(&self, frame: usize) -> io::Result<Vec<f32>> {
        let vertices = &self.body.vertices;
        self.scratch.read(frame, 3 * vertices.start..3 * vertices.end)
    }

    /// The part that a vertex of the body is in, and its place there.
    fn part_of(&self, vertex: usize) -> (&Part<'a>, usize) {
        let place = self.body.parts.partition_point(|part| part.vertices.end <= vertex);
        let part = &self.body.parts[place];
        (part, vertex - part.vertices.start)
    }
}

impl Frames for Residuals<'_> {
    fn count(&self) -> usize {
        self.body.frame_count()
    }

    fn read(&self, frame: usize) -> io::Result<Cow<'_, [f32]>> {
        let mut numbers = self.displacements(frame)?;
        for part in &self.body.parts {
            let vectors = &mut numbers.as_chunks_mut::<3>().0[part.vertices.clone()];
            let scales = &self.scales[part.vertices.clone()];
            for (vertex, (u, largest)) in vectors.iter_mut().zip(scales).enumerate() {
                if *u == [0.0; 3] {
                    continue;
                }
                let (map, scale) = self.body.map(part, frame, vertex);
                let delta = *largest * (carry_back(&map, scale).0 * vector(u));
                *u = [delta.x as f32, delta.y as f32, delta.z as f32];
            }
        }
        Ok(Cow::Owned(numbers))
    }
}

fn vector(numbers: &[f32; 3]) -> Vec3 {
    Vec3::from(numbers.map(f64::from))
}
