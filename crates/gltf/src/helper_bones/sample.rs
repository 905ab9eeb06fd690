//! Frames in memory, by vertex and by frame: what weights are found from.

use super::motion::{ClipTime, SkinnedMotion};
use rayon::prelude::*;
use std::io;

/// Bind positions and targets of some frames, as `[vertex][axis][frame]`.
#[derive(Debug)]
pub(super) struct Sample {
    /// The frames, in increasing order.
    pub(super) frames: Vec<usize>,
    /// When they are.
    pub(super) times: Vec<ClipTime>,
    pub(super) vertex_count: usize,
    targets: Vec<f32>,
    by_frame: Vec<Vec<[f32; 3]>>,
    /// One number per axis where the bind positions are the same in all frames.
    bind: Vec<f32>,
    is_fixed: bool,
}

impl Sample {
    /// The frames of a list.
    pub(super) fn read(motion: &impl SkinnedMotion, frames: Vec<usize>) -> io::Result<Sample> {
        let (vertex_count, is_fixed) = (motion.vertex_count(), motion.has_fixed_bind());
        let mut targets = vec![0.0; 3 * vertex_count * frames.len()];
        let kept = if is_fixed { frames.len().min(1) } else { frames.len() };
        let mut bind = vec![0.0; 3 * vertex_count * kept];
        let mut by_frame = Vec::with_capacity(frames.len());
        for (place, frame) in frames.iter().enumerate() {
            let target = motion.target(*frame)?.into_owned();
            scatter(&target, place, frames.len(), &mut targets);
            by_frame.push(target);
            if place < kept {
                scatter(&motion.bind(*frame)?, place, kept, &mut bind);
            }
        }
        let times = frames.iter().map(|frame| motion.time(*frame)).collect();
        Ok(Sample { frames, times, vertex_count, targets, by_frame, bind, is_fixed })
    }

    /// How many frames there are.
    pub(super) fn count(&self) -> usize {
        self.frames.len()
    }

    /// The targets of a vertex, axis after axis.
    pub(super) fn targets(&self, vertex: usize) -> &[f32] {
        let width = 3 * self.count();
        &self.targets[vertex * width..(vertex + 1) * width]
    }

    /// The target of a vertex in a frame, by its place.
    #[inline]
    pub(super) fn target(&self, vertex: usize, place: usize) -> [f32; 3] {
        self.by_frame[place][vertex]
    }

    /// The bind position of a vertex in a frame, by its place.
    #[inline]
    pub(super) fn bind(&self, vertex: usize, place: usize) -> [f32; 3] {
        let count = if self.is_fixed { 1 } else { self.count() };
        let place = if self.is_fixed { 0 } else { place };
        let first = 3 * vertex * count + place;
        [self.bind[first], self.bind[first + count], self.bind[first + 2 * count]]
    }

    /// The bind position of a vertex, if it is the same in all frames.
    pub(super) fn fixed_bind(&self, vertex: usize) -> Option<[f32; 3]> {
        self.is_fixed.then(|| self.bind(vertex, 0))
    }

    /// All targets in a frame, by its place.
    pub(super) fn frame_targets(&self, place: usize) -> &[[f32; 3]] {
        &self.by_frame[place]
    }

    /// All bind positions in a frame, by its place.
    pub(super) fn frame_bind(&self, place: usize) -> Vec<[f32; 3]> {
        (0..self.vertex_count).map(|vertex| self.bind(vertex, place)).collect()
    }
}

/// Writes a frame into the columns of its place.
fn scatter(from: &[[f32; 3]], place: usize, count: usize, to: &mut [f32]) {
    to.par_chunks_mut(3 * count).zip(from).for_each(|(columns, point)| {
        for axis in 0..3 {
            columns[axis * count + place] = point[axis];
        }
    });
}
