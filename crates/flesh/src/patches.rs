//! Patches of elements that keep their volume together, so that flesh that is nearly incompressible still bends.
//!
//! A tet of straight edges has one volume. Five to a cube, each held to its volume, ask for more than the three unknowns per node can give, and the body locks: it
//! bends less the closer ν is to ½. So above ν = 0.45 elements keep only as much of λ as makes them a solid of that ν, λₒ = 9μ, and the rest acts on the mean volume of a patch:
//!
//! ```text
//! E = Σ W/2 (J̄ − 1)²,     J̄ = Σ c v / W,     W = Σ c V          c = (λ − λₒ) w of an element, v and V its volume now and at rest
//! ∂E/∂x = (J̄ − 1) Σ c ∂v/∂x,     ∂v/∂x₁ = e₂ × e₃ / 6 and so on around, for edges e from corner 0
//! ```
//!
//! That is never more energy than the elements would hold each by itself, and as much where all of them change alike. Viscosity β adds β/h W/2 (J̄ − J̄ₙ)² over a step of h that
//! began at J̄ₙ; mean volumes hardly change, so that β is not made smaller with strain as that of elements is. Pulls go to the corners of the elements, beside what the elements do there.

mod grouping;
mod kernel;

use crate::block::ElementDesc;
use crate::gather::pad;
pub use grouping::PatchList;
pub(crate) use kernel::{MovingVolumeKernel, VolumeKernel, add_scaled, area_vectors, is_apart};
use sinew_math::Vec3;

/// All patches of a model's elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patches {
    /// c of each slot (Pa); empty where there are no patches.
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
    /// Finds the patches of elements that stand in these slots.
    pub(crate) fn build(
        node_rest: &[Vec3],
        elements: &[ElementDesc],
        tet_slot: &[u32],
        slot_count: usize,
    ) -> Patches {
        let list = PatchList::group(elements);
        if list.count() == 0 {
            return Patches::default();
        }
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
        // by the sums that potentials use: a shape at rest then has J̄ = 1 to the bit
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

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// J̄ − 1 of a patch from c v of every slot.
    #[inline(always)]
    pub(crate) fn change(&self, patch: usize, slots: &[f64]) -> f64 {
        let sum: f64 = self.members(patch).iter().map(|slot| slots[*slot as usize]).sum();
        // a patch of flat tets has no volume, and pulls on nothing
        if self.rest[patch] > 0.0 { sum / self.rest[patch] - 1.0 } else { 0.0 }
    }

    /// The slots of a patch.
    pub(crate) fn members(&self, patch: usize) -> &[u32] {
        let start = if patch == 0 { 0 } else { self.ends[patch - 1] };
        &self.slots[start as usize..self.ends[patch] as usize]
    }
}
