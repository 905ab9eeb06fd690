//! Volumes of patches in one shape, and what their change pulls on elements with.

mod product;
#[cfg(test)]
mod tests;

use crate::block::{Block, CHUNK};
use crate::elements::Elements;
use crate::patches::{MovingVolumeKernel, Patches, VolumeKernel};
use core::ops::Range;
pub(crate) use product::{PatchProduct, PatchProducts};
use rayon::prelude::*;
use sinew_math::lanes::{BLOCK, Lanes, WideLanes, dispatch};

/// Volumes of a shape: scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct PatchVolumes {
    /// c v of each slot (J).
    slots: Vec<f64>,
    /// J̄ − 1 of each patch, or what its elements are pulled by.
    patches: Vec<f64>,
}

/// How a patch began a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PatchStart {
    /// J̄ₙ − 1
    change: f64,
    /// β/h
    rate: f64,
}

/// What elements of patches are pulled by, c p ∂v/∂x.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pulls<'a> {
    weight: &'a [f32],
    patch_of: &'a [u32],
    /// p of each patch.
    of_patch: &'a [f64],
}

/// Patches whose sums are worth a task.
const PATCH_CHUNK: usize = 4096;

impl PatchVolumes {
    /// J̄ − 1 + β dJ̄/dt of every patch with nodes at `x` (m) and velocities `v` (m/s), none without viscosity.
    pub(crate) fn update_moving(&mut self, elements: &Elements, x: &[[f64; 4]], v: &[[f32; 4]]) {
        self.update_by(elements, |blocks, weight, out| {
            dispatch(MovingVolumeKernel { blocks, weight, x, v, out });
        });
    }

    /// J̄ − 1 of every patch with nodes at `x` (m).
    fn update(&mut self, elements: &Elements, x: &[[f64; 4]]) {
        self.update_by(elements, |blocks, weight, out| dispatch(VolumeKernel { blocks, weight, x, out }));
    }

    fn update_by(&mut self, elements: &Elements, volumes: impl Fn(&[Block], &[f32], &mut [f64]) + Sync) {
        let patches = &elements.patches;
        self.slots.resize(patches.weight.len(), 0.0);
        self.patches.resize(patches.ends.len(), 0.0);
        for (blocks, slots) in elements.patched_blocks() {
            let tasks = blocks.par_chunks(CHUNK).zip(patches.weight[slots.clone()].par_chunks(CHUNK * BLOCK));
            let tasks = tasks.zip(self.slots[slots].par_chunks_mut(CHUNK * BLOCK));
            tasks.for_each(|((blocks, weight), out)| volumes(blocks, weight, out));
        }
        let slots = &self.slots;
        let changes = self.patches.par_iter_mut().enumerate().with_min_len(PATCH_CHUNK);
        changes.for_each(|(patch, change)| *change = patches.change(patch, slots));
    }

    /// J̄ₙ − 1 of every patch and β/h, as a step of `h` (s) begins.
    pub(crate) fn begin(
        &mut self,
        elements: &Elements,
        x: &[[f64; 4]],
        h: f64,
        starts: &mut Vec<PatchStart>,
    ) {
        self.update(elements, x);
        starts.clear();
        let viscosity = &elements.patches.viscosity;
        starts.extend(
            self.patches
                .iter()
                .zip(viscosity)
                .map(|(change, viscosity)| PatchStart { change: *change, rate: viscosity / h }),
        );
    }

    /// Takes for the start what lies beyond the one remembered and the shape of nodes at `x`: J̄ₙ + s (J̄ − J̄ₙ).
    pub(crate) fn go_beyond(
        &mut self,
        elements: &Elements,
        x: &[[f64; 4]],
        s: f64,
        starts: &mut [PatchStart],
    ) {
        self.update(elements, x);
        for (start, next) in starts.iter_mut().zip(&self.patches) {
            start.change += s * (next - start.change);
        }
    }

    /// The energy of all patches (J), what viscosity adds included; afterwards the pulls are its derivative.
    pub(crate) fn evaluate(&mut self, elements: &Elements, x: &[[f64; 4]], starts: &[PatchStart]) -> f64 {
        self.update(elements, x);
        let mut energy = 0.0;
        for (patch, (change, rest)) in self.patches.iter_mut().zip(&elements.patches.rest).enumerate() {
            let PatchStart { change: start, rate } = starts.get(patch).copied().unwrap_or_default();
            let since = *change - start;
            energy += 0.5 * rest * (*change * *change + rate * since * since);
            *change += rate * since;
        }
        energy
    }

    /// What elements are pulled by, as the last call left it: p = J̄ − 1, with what viscosity adds.
    pub(crate) fn pulls<'a>(&'a self, elements: &'a Elements) -> Pulls<'a> {
        let Patches { weight, patch_of, .. } = &elements.patches;
        Pulls { weight, patch_of, of_patch: &self.patches }
    }
}

impl<'a> Pulls<'a> {
    /// Those of some slots.
    pub(crate) fn of_slots(&self, slots: Range<usize>) -> Pulls<'a> {
        if self.weight.is_empty() {
            return *self;
        }
        Pulls { weight: &self.weight[slots.clone()], patch_of: &self.patch_of[slots], ..*self }
    }

    /// Those of the first slots, and of the rest.
    pub(crate) fn split_at(&self, slot: usize) -> (Pulls<'a>, Pulls<'a>) {
        (self.of_slots(0..slot), self.of_slots(slot..self.weight.len()))
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.weight.is_empty()
    }

    /// c p of one slot (Pa); 0 where there are no patches.
    #[inline(always)]
    pub(crate) fn at(&self, slot: usize) -> f64 {
        if self.is_empty() {
            0.0
        } else {
            f64::from(self.weight[slot]) * self.of_patch[self.patch_of[slot] as usize]
        }
    }

    /// c p of several slots, if there are patches.
    #[inline(always)]
    pub(crate) fn lanes<L: Lanes>(&self, first: usize) -> Option<L> {
        if self.is_empty() {
            return None;
        }
        let mut numbers = [0.0; BLOCK];
        for lane in 0..L::WIDTH {
            numbers[lane] = self.at(first + lane) as f32;
        }
        Some(L::load(&numbers))
    }

    /// The same in double precision.
    #[inline(always)]
    pub(crate) fn wide<W: WideLanes>(&self, first: usize) -> Option<W> {
        if self.is_empty() {
            return None;
        }
        let mut numbers = [0.0; BLOCK];
        for lane in 0..W::WIDTH {
            numbers[lane] = self.at(first + lane);
        }
        Some(W::load(&numbers))
    }
}
