//! Principal components of what flesh adds to skinning, in bind space.
//!
//! Kept on disk is u = x − x_p, where a vertex is beyond where the file alone puts it, in the world. In bind space that is
//! δ = A⁺ u. Components are those of g δ with g = max_t s(t): an error e of g δ shows in the world as
//! ‖A e/g‖ ≤ ‖e‖, so that a bound in the world is kept. How large errors really are is measured on the numbers as written, at the keys and at
//! every quarter between frames; where joints shrink a vertex they are smaller, and the last components may turn out not to be needed.

use super::body::{Body, Joint};
use super::carry_back::carry_back;
use super::clip::{Clip, Moment};
use super::flesh_frames::FleshFrames;
use crate::components::{Components, Effort, Frames, add_scaled, to_unit_shapes, to_unit_weights};
use rayon::prelude::*;
use sinew_character::RiggedCharacter;
use sinew_math::Vec3;
use std::borrow::Cow;
use std::io;

/// Moments that are measured together while a block of components is in the cache.
const BATCH: usize = 16;
/// Vertices of a block.
const BLOCK: usize = 512;
/// The fraction of the allowed error that components may use; rounding and damping have the rest.
const FRACTION: f64 = 0.98;
/// How many of the last components are tried to be left out.
const TRIED: usize = 8;

/// Morph targets before they are rounded.
pub(super) struct Shapes {
    /// What each adds to the vertices of the body in bind space at weight 1.
    pub(super) deltas: Vec<Vec<[f32; 3]>>,
    /// For each key their weights: from 0 to 1, unless there is only one target.
    pub(super) weights: Vec<Vec<f32>>,
    /// The largest error at any key (m).
    pub(super) error: f64,
}

/// The motion of a body as g δ.
pub(super) struct Residuals<'a> {
    pub(super) character: &'a RiggedCharacter,
    pub(super) clips: &'a [Clip],
    pub(super) frames: &'a FleshFrames,
    pub(super) body: &'a Body,
    /// The moments that get keys, in order.
    pub(super) keys: Vec<Moment>,
    /// Where joints stand at each of them.
    joints: Vec<Vec<Joint>>,
    scales: Vec<f64>,
}

/// What is measured at some moments.
pub(super) struct Measured {
    /// For each moment the largest errors (m) with all components, and before it with up to some of the last left out, fewest components first.
    pub(super) errors: Vec<Vec<f64>>,
    /// The number of vertices whose way back was damped.
    pub(super) damped: usize,
}

/// Some vertices at a moment: the first of them, u of each, the joints, and the weights of components.
struct Block<'a> {
    start: usize,
    given: &'a [[f32; 3]],
    joints: &'a [Joint],
    weights: &'a [f32],
}

/// A body at a moment.
struct Shown {
    given: Vec<f32>,
    joints: Vec<Joint>,
    weights: Vec<f32>,
}

impl<'a> Residuals<'a> {
    /// The motion of one of the bodies, with so many keys per frame in each clip.
    pub(super) fn new(
        character: &'a RiggedCharacter,
        clips: &'a [Clip],
        frames: &'a FleshFrames,
        body: usize,
        keys_per_frame: &[usize],
    ) -> Residuals<'a> {
        let body = &frames.bodies[body];
        let keys: Vec<Moment> = clips
            .iter()
            .zip(keys_per_frame)
            .enumerate()
            .flat_map(|(clip, (of, per_frame))| of.keys(character, clip, *per_frame))
            .collect();
        let joints = keys.iter().map(|key| body.joints(character, &clips[key.clip].pose_at(character, key)));
        let joints: Vec<Vec<Joint>> = joints.collect();
        let largest = |vertex: usize| {
            let (part, vertex) = body.part_of(vertex);
            joints.iter().map(|joints| part.scale(joints, vertex)).fold(0.0, f64::max)
        };
        let scales = (0..body.vertex_count()).into_par_iter().map(largest).collect();
        Residuals { character, clips, frames, body, keys, joints, scales }
    }

    /// Finds components that keep every vertex at every key within what is allowed, if the limit lets them.
    pub(super) fn components(&self, effort: Effort) -> io::Result<Shapes> {
        // none, where something else carries flesh
        if effort.limit == 0 {
            let weights = vec![Vec::new(); self.keys.len()];
            let error = self.measure(&self.keys, &[], &weights, 0)?.largest()[0];
            return Ok(Shapes { deltas: Vec::new(), weights, error });
        }

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
        let measured = self.measure(&self.keys, &deltas, &weights, TRIED)?;
        let errors = measured.largest();
        let least = deltas.len() + 1 - errors.len();
        let enough = errors.iter().position(|error| *error <= within.allowed);
        let count = least + enough.unwrap_or(errors.len() - 1);
        deltas.truncate(count);
        weights.iter_mut().for_each(|weights| weights.truncate(count));
        if count > 0 && effort.limit > 1 {
            let ranges = to_unit_weights(&mut weights);
            let always = to_unit_shapes(&ranges, &mut deltas);
            deltas.push(always);
            weights.iter_mut().for_each(|weights| weights.push(1.0));
        }
        Ok(Shapes { deltas, weights, error: errors[count - least] })
    }

    /// Measures errors in the world, ‖u − A Σₖ wₖ dₖ‖, at some moments, with all components and with up to `tried` of the last left out. Between keys weights are straight lines.
    pub(super) fn measure(
        &self,
        moments: &[Moment],
        deltas: &[Vec<[f32; 3]>],
        weights: &[Vec<f32>],
        tried: usize,
    ) -> io::Result<Measured> {
        let mut damped = vec![false; self.body.vertex_count()];
        let count = deltas.len().min(tried) + 1;
        let mut errors = Vec::with_capacity(moments.len());
        for batch in moments.chunks(BATCH) {
            let shown: Vec<Shown> =
                batch.par_iter().map(|moment| self.shown(moment, weights)).collect::<io::Result<_>>()?;
            let of_blocks = damped.par_chunks_mut(BLOCK).enumerate().map(|(block, damped)| {
                let start = BLOCK * block;
                let measure = |shown: &Shown| {
                    let given = &shown.given.as_chunks::<3>().0[start..][..damped.len()];
                    let (joints, weights) = (shown.joints.as_slice(), shown.weights.as_slice());
                    let mut errors = vec![0.0f64; count];
                    self.measure_block(&Block { start, given, joints, weights }, deltas, damped, &mut errors);
                    errors
                };
                shown.iter().map(measure).collect::<Vec<_>>()
            });
            let mut of_batch = vec![vec![0.0f64; count]; batch.len()];
            for of_block in of_blocks.collect::<Vec<_>>() {
                let pairs = of_batch.iter_mut().flatten().zip(of_block.into_iter().flatten());
                pairs.for_each(|(all, one)| *all = all.max(one));
            }
            of_batch.iter_mut().flatten().for_each(|squared| *squared = squared.sqrt());
            errors.extend(of_batch);
        }
        Ok(Measured { errors, damped: damped.iter().filter(|damped| **damped).count() })
    }

    /// The body at a moment.
    fn shown(&self, moment: &Moment, weights: &[Vec<f32>]) -> io::Result<Shown> {
        let pose = self.clips[moment.clip].pose_at(self.character, moment);
        Ok(Shown {
            given: self.frames.displacements(self.body, self.clips, moment)?,
            joints: self.body.joints(self.character, &pose),
            weights: self.weights_at(moment, weights),
        })
    }

    /// Weights on the straight line between keys.
    fn weights_at(&self, moment: &Moment, weights: &[Vec<f32>]) -> Vec<f32> {
        let place = |moment: &Moment| moment.frame as f64 + moment.fraction;
        let key = self.keys.partition_point(|key| place(key) <= place(moment)).saturating_sub(1);
        let Some(next) = self.keys.get(key + 1).filter(|next| next.clip == moment.clip) else {
            return weights[key].clone();
        };
        let from = place(&self.keys[key]);
        let s = ((place(moment) - from) / (place(next) - from)) as f32;
        weights[key].iter().zip(&weights[key + 1]).map(|(a, b)| a + s * (b - a)).collect()
    }

    /// Raises squared errors to those of a block of vertices, and marks vertices whose way back is damped.
    fn measure_block(
        &self,
        block: &Block,
        deltas: &[Vec<[f32; 3]>],
        damped: &mut [bool],
        errors: &mut [f64],
    ) {
        let vertices = block.start..block.start + block.given.len();
        let mut maps = Vec::with_capacity(vertices.len());
        for (vertex, damped) in vertices.clone().zip(damped) {
            let (part, vertex) = self.body.part_of(vertex);
            let (map, scale) = part.map(block.joints, vertex);
            *damped |= carry_back(&map, scale).1;
            maps.push(map);
        }
        let mut moved = vec![[0.0f32; 3]; vertices.len()];
        let least = deltas.len() + 1 - errors.len();
        for count in 0..=deltas.len() {
            if let Some(last) = count.checked_sub(1) {
                let delta = &deltas[last][vertices.clone()];
                add_scaled(block.weights[last], delta.as_flattened(), moved.as_flattened_mut());
            }
            if let Some(place) = count.checked_sub(least) {
                let gaps = maps.iter().zip(&moved).zip(block.given);
                let gaps = gaps.map(|((map, moved), u)| (vector(u) - map * vector(moved)).norm_squared());
                errors[place] = gaps.fold(errors[place], f64::max);
            }
        }
    }
}

impl Measured {
    /// The largest errors at any moment, fewest components first.
    pub(super) fn largest(&self) -> Vec<f64> {
        let count = self.errors.first().map_or(1, Vec::len);
        (0..count).map(|i| self.errors.iter().map(|errors| errors[i]).fold(0.0, f64::max)).collect()
    }
}

impl Frames for Residuals<'_> {
    fn count(&self) -> usize {
        self.keys.len()
    }

    fn read(&self, key: usize) -> io::Result<Cow<'_, [f32]>> {
        let mut numbers = self.frames.displacements(self.body, self.clips, &self.keys[key])?;
        let joints = &self.joints[key];
        for part in &self.body.parts {
            let vectors = &mut numbers.as_chunks_mut::<3>().0[part.vertices.clone()];
            let scales = &self.scales[part.vertices.clone()];
            for (vertex, (u, largest)) in vectors.iter_mut().zip(scales).enumerate() {
                if *u == [0.0; 3] {
                    continue;
                }
                let (map, scale) = part.map(joints, vertex);
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
