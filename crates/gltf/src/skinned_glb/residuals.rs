//! Principal components of what flesh adds to skinning, in bind space.
//!
//! Kept on disk is u = x − x_p, where a vertex is beyond where the file alone puts it, in the world. In bind space that is
//! δ = A⁺ u. Components are those of g δ with g = max_t s(t) (see [`Body::largest_scales`]): an error e of g δ shows in the world as
//! ‖A e/g‖ ≤ ‖e‖, so that a bound in the world is kept. How large errors really are is measured at the end, on the numbers as written;
//! where joints shrink a vertex they are smaller, and the last components may turn out not to be needed.

use super::body::{Body, Part};
use super::carry_back::carry_back;
use super::scratch::Scratch;
use crate::components::{Components, Effort, Frames, add_scaled, to_unit_shapes, to_unit_weights};
use rayon::prelude::*;
use sinew_math::Vec3;
use std::borrow::Cow;
use std::io;

/// Frames that are measured together while a block of components is in the cache.
const BATCH: usize = 16;
/// Vertices of a block.
const BLOCK: usize = 512;
/// The fraction of the allowed error that components may use; rounding and damping have the rest.
const FRACTION: f64 = 0.995;
/// How many of the last components are tried to be left out.
const TRIED: usize = 8;

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

/// Errors with all components and with up to eight of the last left out, fewest components first (m); and the number of vertices
/// whose way back was damped.
struct Measured {
    errors: Vec<f64>,
    damped: usize,
}

/// Some vertices in a frame: the first of them, and u of each.
struct Block<'a> {
    start: usize,
    frame: usize,
    given: &'a [[f32; 3]],
}

impl<'a> Residuals<'a> {
    pub(super) fn new(body: &'a Body<'a>, scratch: &'a Scratch) -> Residuals<'a> {
        Residuals { body, scratch, scales: body.largest_scales() }
    }

    /// Finds components that keep every vertex within what is allowed, if the limit lets them.
    pub(super) fn compress(&self, effort: Effort) -> io::Result<Flesh> {
        // components of g δ
        let nothing = vec![[0.0; 3]; self.body.vertex_count()];
        // one target holds what is there always; where only one is allowed, its weights are left as they come
        let limit = effort.limit.saturating_sub(1).max(1);
        let within = Effort { allowed: FRACTION * effort.allowed, limit, ..effort };
        let Components { mut deltas, mut weights, .. } = Components::find(self, nothing, within)?;

        // back to δ
        deltas.par_iter_mut().for_each(|delta| {
            for (delta, scale) in delta.iter_mut().zip(&self.scales) {
                // a vertex that all joints shrink to a point cannot be moved
                let fraction = if *scale > 0.0 { 1.0 / scale } else { 0.0 };
                *delta = delta.map(|c| (f64::from(c) * fraction) as f32);
            }
        });
        if deltas.iter().any(|delta| delta.as_flattened().iter().any(|c| !c.is_finite())) {
            return Err(io::Error::other(
                "joints shrink it beyond all numbers: check the scales of its skin",
            ));
        }

        // as few as keep the bound, with weights in [0, 1]
        let measured = self.measure(&deltas, &weights)?;
        let least = deltas.len() + 1 - measured.errors.len();
        let enough = measured.errors.iter().position(|error| *error <= effort.allowed);
        let count = least + enough.unwrap_or(measured.errors.len() - 1);
        deltas.truncate(count);
        weights.iter_mut().for_each(|weights| weights.truncate(count));
        if count > 0 && effort.limit > 1 {
            let ranges = to_unit_weights(&mut weights);
            let always = to_unit_shapes(&ranges, &mut deltas);
            deltas.push(always);
            weights.iter_mut().for_each(|weights| weights.push(1.0));
        }
        Ok(Flesh { deltas, weights, largest_error: measured.errors[count - least], damped: measured.damped })
    }

    /// Measures errors in the world, ‖u − A Σₖ wₖ dₖ‖, over all frames.
    fn measure(&self, deltas: &[Vec<[f32; 3]>], weights: &[Vec<f32>]) -> io::Result<Measured> {
        let mut damped = vec![false; self.body.vertex_count()];
        let mut errors = vec![0.0f64; deltas.len().min(TRIED) + 1];
        for first in (0..self.count()).step_by(BATCH) {
            let batch = first..(first + BATCH).min(self.count());
            let given: Vec<Vec<f32>> =
                batch.map(|frame| self.displacements(frame)).collect::<io::Result<_>>()?;
            let of_blocks = damped.par_chunks_mut(BLOCK).enumerate().map(|(block, damped)| {
                let mut errors = vec![0.0f64; errors.len()];
                for (f, given) in given.iter().enumerate() {
                    let given = &given.as_chunks::<3>().0[BLOCK * block..][..damped.len()];
                    let of_frame = Block { start: BLOCK * block, frame: first + f, given };
                    self.measure_block(&of_frame, deltas, &weights[first + f], damped, &mut errors);
                }
                errors
            });
            for of_block in of_blocks.collect::<Vec<_>>() {
                errors.iter_mut().zip(of_block).for_each(|(all, one)| *all = all.max(one));
            }
        }
        errors.iter_mut().for_each(|error| *error = error.sqrt());
        Ok(Measured { errors, damped: damped.iter().filter(|damped| **damped).count() })
    }

    /// Raises squared errors to those of a block of vertices, and marks vertices whose way back is damped.
    fn measure_block(
        &self,
        block: &Block,
        deltas: &[Vec<[f32; 3]>],
        weights: &[f32],
        damped: &mut [bool],
        errors: &mut [f64],
    ) {
        let vertices = block.start..block.start + block.given.len();
        let mut maps = Vec::with_capacity(vertices.len());
        for (vertex, damped) in vertices.clone().zip(damped) {
            let (part, vertex) = self.part_of(vertex);
            let (map, scale) = self.body.map(part, block.frame, vertex);
            *damped |= carry_back(&map, scale).1;
            maps.push(map);
        }
        let mut moved = vec![[0.0f32; 3]; vertices.len()];
        let least = deltas.len() + 1 - errors.len();
        for count in 0..=deltas.len() {
            if let Some(last) = count.checked_sub(1) {
                let delta = &deltas[last][vertices.clone()];
                add_scaled(weights[last], delta.as_flattened(), moved.as_flattened_mut());
            }
            if let Some(place) = count.checked_sub(least) {
                let gaps = maps.iter().zip(&moved).zip(block.given);
                let gaps = gaps.map(|((map, moved), u)| (vector(u) - map * vector(moved)).norm_squared());
                errors[place] = gaps.fold(errors[place], f64::max);
            }
        }
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
