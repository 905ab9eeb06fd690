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

use crate::block::ElementDesc;
use crate::gather::pad;
pub use grouping::PatchList;
pub(crate) use kernel::{MovingVolumeKernel, VolumeKernel, add_scaled, area_vectors, is_apart};
use sinew_math::Vec3;

/// The patches of a model's elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patches {
    /// c of each slot (Pa); empty without patches.
    pub(crate) weight: Vec<f32>,
    /// The patch of each slot, of any where c is 0.
    pub(crate) patch_of: Vec<u32>,
    /// The end of each patch in `slots`.
    pub(crate) ends: Vec<u32>,
    pub(crate) slots: Vec<u32>,
    /// W (J)
    pub(crate) rest: Vec<f64>,
    /// β (s)
    pub(crate) viscosity: Vec<f64>,
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
    pub(crate) fn change(&self, patch: usize, slots: &[f64]) -> f64 {
        let sum: f64 = self.members(patch).iter().map(|slot| slots[*slot as usize]).sum();
        // a patch of flat tets has no volume, and exerts no force
        if self.rest[patch] > 0.0 { sum / self.rest[patch] - 1.0 } else { 0.0 }
    }

    /// Sets the stiffness that a slot contributes to its patch, and the viscosity of that patch, to multiples of those of other patches. W = Σ c V is scaled with them, so that J̄ = Σ c v / W stays.
    pub(crate) fn scale_slot(&mut self, own: &Patches, slot: usize, stiffness: f64, viscosity: f64) {
        if own.weight.get(slot).is_none_or(|weight| *weight == 0.0) {
            return;
        }
        let patch = own.patch_of[slot] as usize;
        // weights are rounded to single precision, so that the rest shape has J̄ = 1 to 6e-8
        self.weight[slot] = (f64::from(own.weight[slot]) * stiffness) as f32;
        self.rest[patch] = own.rest[patch] * stiffness;
        self.viscosity[patch] = own.viscosity[patch] * viscosity;
    }

    /// The slots of a patch.
    pub(crate) fn members(&self, patch: usize) -> &[u32] {
        let start = if patch == 0 { 0 } else { self.ends[patch - 1] };
        &self.slots[start as usize..self.ends[patch] as usize]
    }
}
