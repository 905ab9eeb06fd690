//! Mean-dilatation patches against volumetric locking of linear tetrahedra.
//!
//! A linear tet has one volume constraint. With five tets per cube these are more constraints than the three unknowns per node can satisfy, and the
//! body locks: it bends less the closer ν is to ½. Above ν = 0.45 elements therefore keep only λₒ = 9μ, the λ of that ν, and the rest acts on the mean
//! dilatation of a patch of elements:
//!
//! ```text
//! E = Σ W/2 (J̄ − 1)²,     J̄ = Σ c v / W,     W = Σ c V          c = (λ − λₒ) w of an element, v and V its volume now and at rest
//! ∂E/∂x = (J̄ − 1) Σ c ∂v/∂x,     ∂v/∂x₁ = e₂ × e₃ / 6 and so on around, for edges e from corner 0
//! ```
//!
//! By convexity this is at most the energy of separate elements, and equal to it for uniform dilatation. Viscosity β adds β/h W/2 (J̄ − J̄ₙ)² over a step of
//! h that starts at J̄ₙ; mean volumes hardly change, so β is not reduced at large strain as it is for elements. Patch forces are added to the corner forces
//! of their elements.

mod grouping;
mod kernel;
mod product;
#[cfg(test)]
mod tests;

use crate::elements::{Block, ElementDesc, Elements};
use crate::potential::{CHUNK, pad};
use core::ops::Range;
pub use grouping::PatchList;
use kernel::{MovingVolumeKernel, VolumeKernel};
pub(crate) use kernel::{add_scaled, area_vectors};
pub(crate) use product::{PatchProduct, PatchProducts};
use rayon::prelude::*;
use sinew_math::Vec3;
use sinew_math::lanes::{BLOCK, Lanes, WideLanes, dispatch};

/// The patches of a model's elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patches {
    /// c of each slot (Pa); empty without patches.
    pub(crate) weight: Vec<f32>,
    /// The patch of each slot; arbitrary where c is 0.
    patch_of: Vec<u32>,
    /// The end of each patch in `slots`.
    ends: Vec<u32>,
    slots: Vec<u32>,
    /// W (J)
    rest: Vec<f64>,
    /// β (s)
    viscosity: Vec<f64>,
}

/// Scratch: the volumes of the current configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct PatchVolumes {
    /// c v of each slot (J).
    slots: Vec<f64>,
    /// J̄ − 1 of each patch, or its pressure factor p.
    patches: Vec<f64>,
}

/// The start of a step of a patch: J̄ₙ − 1 and β/h.
pub(crate) type PatchStart = (f64, f64);

/// The forces of patches on their elements, c p ∂v/∂x.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pulls<'a> {
    weight: &'a [f32],
    patch_of: &'a [u32],
    /// p of each patch.
    of_patch: &'a [f64],
}

impl Patches {
    /// Builds the patches of elements with these slots.
    pub(crate) fn build(
        node_rest: &[Vec3],
        elements: &[ElementDesc],
        tet_slot: &[u32],
        slot_count: usize,
    ) -> Patches {
        // no patches, no data
        let list = PatchList::group(elements);
        if list.count() == 0 {
            return Patches::default();
        }

        // slots, weights and viscosity of each patch
        let mut patches =
            Patches { weight: vec![0.0; slot_count], patch_of: vec![0; slot_count], ..Patches::default() };
        for (patch, members) in list.iter().enumerate() {
            let mut viscosity = 0.0f64;
            for &member in members {
                let (element, slot) = (&elements[member as usize], tet_slot[member as usize]);
                patches.weight[slot as usize] = (element.material.shared_lambda() * element.fill) as f32;
                patches.patch_of[slot as usize] = patch as u32;
                patches.slots.push(slot);
                viscosity = viscosity.max(element.viscosity);
            }
            patches.ends.push(patches.slots.len() as u32);
            patches.viscosity.push(viscosity);
        }

        // rest volumes by the same sums as potentials, so that the rest shape has exactly J̄ = 1
        let mut x = Vec::new();
        pad(node_rest, &mut x);
        let mut volumes = vec![0.0; slot_count];
        for (element, &slot) in elements.iter().zip(tet_slot) {
            let weight = patches.weight[slot as usize];
            volumes[slot as usize] = kernel::weighted_volume(weight, &element.nodes, &x);
        }
        let volume = |slot: &u32| volumes[*slot as usize];
        patches.rest =
            (0..list.count()).map(|patch| patches.members(patch).iter().map(volume).sum()).collect();
        patches
    }

    /// Number of patches.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// J̄ − 1 of a patch from c v of every slot.
    #[inline(always)]
    fn change(&self, patch: usize, slots: &[f64]) -> f64 {
        let sum: f64 = self.members(patch).iter().map(|slot| slots[*slot as usize]).sum();
        // a patch of flat tets has no volume, and exerts no force
        if self.rest[patch] > 0.0 { sum / self.rest[patch] - 1.0 } else { 0.0 }
    }

    /// The slots of a patch.
    fn members(&self, patch: usize) -> &[u32] {
        let start = if patch == 0 { 0 } else { self.ends[patch - 1] };
        &self.slots[start as usize..self.ends[patch] as usize]
    }
}

/// Number of patches whose sums are worth a task.
const PATCH_CHUNK: usize = 4096;

impl PatchVolumes {
    /// Computes J̄ − 1 + β dJ̄/dt of every patch with nodes at `x` (m) and velocities `v` (m/s); `v` is empty without viscosity.
    pub(crate) fn update_moving(&mut self, elements: &Elements, x: &[[f64; 4]], v: &[[f32; 4]]) {
        self.update_by(elements, |blocks, weight, out| {
            dispatch(MovingVolumeKernel { blocks, weight, x, v, out });
        });
    }

    /// Computes J̄ − 1 of every patch with nodes at `x` (m).
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

    /// Computes J̄ₙ − 1 and β/h of every patch at the start of a step of `h` (s).
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
        starts.extend(self.patches.iter().zip(viscosity).map(|(change, viscosity)| (*change, viscosity / h)));
    }

    /// Extrapolates the start from the stored one and the configuration `x`: J̄ₙ + s (J̄ − J̄ₙ).
    pub(crate) fn go_beyond(
        &mut self,
        elements: &Elements,
        x: &[[f64; 4]],
        s: f64,
        starts: &mut [PatchStart],
    ) {
        self.update(elements, x);
        for ((start, _), next) in starts.iter_mut().zip(&self.patches) {
            *start += s * (next - *start);
        }
    }

    /// Computes the energy of all patches (J), including the viscous potential; afterwards [`Self::pulls`] is its gradient.
    pub(crate) fn evaluate(&mut self, elements: &Elements, x: &[[f64; 4]], starts: &[PatchStart]) -> f64 {
        self.update(elements, x);
        let mut energy = 0.0;
        for (patch, (change, rest)) in self.patches.iter_mut().zip(&elements.patches.rest).enumerate() {
            let (start, rate) = starts.get(patch).copied().unwrap_or_default();
            let since = *change - start;
            energy += 0.5 * rest * (*change * *change + rate * since * since);
            *change += rate * since;
        }
        energy
    }

    /// The patch forces of the last evaluation: p = J̄ − 1 plus the viscous part.
    pub(crate) fn pulls<'a>(&'a self, elements: &'a Elements) -> Pulls<'a> {
        let Patches { weight, patch_of, .. } = &elements.patches;
        Pulls { weight, patch_of, of_patch: &self.patches }
    }
}

impl<'a> Pulls<'a> {
    /// The forces of a range of slots.
    pub(crate) fn of_slots(&self, slots: Range<usize>) -> Pulls<'a> {
        if self.weight.is_empty() {
            return *self;
        }
        Pulls { weight: &self.weight[slots.clone()], patch_of: &self.patch_of[slots], ..*self }
    }

    /// The forces of the first slots, and of the rest.
    pub(crate) fn split_at(&self, slot: usize) -> (Pulls<'a>, Pulls<'a>) {
        (self.of_slots(0..slot), self.of_slots(slot..self.weight.len()))
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.weight.is_empty()
    }

    /// c p of one slot (Pa); 0 without patches.
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
