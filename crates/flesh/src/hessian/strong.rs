//! Packed storage of elements beyond their stretch limits, whose tangents need all 45 numbers.

use super::stiffness::BlockTangent;
use super::update::take_whole;
use crate::elements::Block;
use crate::material::Law;
use crate::potential::StepStart;
use sinew_math::lanes::{BLOCK, Lanes};

/// The elements of one task beyond their stretch limits.
#[derive(Clone, Debug, Default)]
pub(super) struct StrongLanes {
    /// Their indices among the elements of the task, in increasing order.
    places: Vec<u32>,
    /// Packed copies.
    blocks: Vec<Block>,
    starts: Vec<StepStart>,
    tangents: Vec<BlockTangent>,
}

impl StrongLanes {
    /// Removes all elements.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.blocks.clear();
        self.starts.clear();
    }

    /// Adds the element with index `place`, which is lane `lane` of its block.
    #[inline(always)]
    pub(super) fn push(&mut self, place: usize, lane: usize, block: &Block, start: Option<&StepStart>) {
        let to = self.places.len() % BLOCK;
        if to == 0 {
            self.blocks.push(Block::default());
            self.starts.extend(start.map(|_| StepStart::ZERO));
        }
        self.places.push(place as u32);
        if let Some(packed) = self.blocks.last_mut() {
            packed.copy_lane(to, block, lane);
        }
        if let (Some(packed), Some(start)) = (self.starts.last_mut(), start) {
            packed.copy_lane(to, start, lane);
        }
    }

    /// Computes the tangents of all elements with nodes at `x` (m).
    #[inline(always)]
    pub(super) fn take_tangents<L: Lanes>(&mut self, law: Law, x: &[[f64; 4]]) {
        self.tangents.resize(self.blocks.len(), BlockTangent::ZERO);
        for (i, (block, to)) in self.blocks.iter().zip(&mut self.tangents).enumerate() {
            let count = (self.places.len() - i * BLOCK).min(BLOCK);
            take_whole::<L>(law, block, self.starts.get(i), count, x, to);
        }
    }

    /// Blocks with their tangents and the indices of their elements.
    #[inline(always)]
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&Block, &BlockTangent, &[u32])> {
        let blocks = self.blocks.iter().zip(&self.tangents).zip(self.places.chunks(BLOCK));
        blocks.map(|((block, tangent), places)| (block, tangent, places))
    }

    /// Whether the element with index `place` is among them.
    pub(super) fn holds(&self, place: usize) -> bool {
        self.places.binary_search(&(place as u32)).is_ok()
    }
}
