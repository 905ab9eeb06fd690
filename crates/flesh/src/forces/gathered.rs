//! Gather and scatter of elements: from blocks and nodes to registers, and back as corner forces.

use super::PaddedMotion;
use super::kernel::LaneStress;
use crate::elements::Block;
use crate::gather::{edge_rates, edges};
use crate::law::{LaneLame, viscous_stress};
use crate::patches::{add_scaled, area_vectors};
use sinew_math::columns::{Columns, combine};
use sinew_math::lanes::{BLOCK, Lanes};

/// Elements in registers.
pub(super) struct Gathered<L> {
    pub(super) edges: Columns<L>,
    /// Zero unless the elements are viscous.
    pub(super) edge_rates: Columns<L>,
    inverse_rest: Columns<L>,
    pub(super) lame: LaneLame<L>,
    pub(super) viscosity: L,
}

impl<L: Lanes> Gathered<L> {
    /// Lanes of a block, from lane `first` on.
    #[inline(always)]
    pub(super) fn from_block(block: &Block, first: usize, motion: &PaddedMotion, is_viscous: bool) -> Self {
        let nodes = &block.nodes[first..first + L::WIDTH];
        Gathered {
            edges: edges(nodes, &motion.x),
            edge_rates: if is_viscous { edge_rates(nodes, &motion.v) } else { [[L::splat(0.0); 3]; 3] },
            inverse_rest: load_columns(&block.inverse_rest, first),
            lame: LaneLame { mu: L::load(&block.mu[first..]), lambda: L::load(&block.lambda[first..]) },
            viscosity: L::load(&block.viscosity[first..]),
        }
    }

    /// Lanes picked from anywhere in the blocks; lanes beyond the end of `places` repeat the last.
    #[inline(always)]
    pub(super) fn from_places(
        blocks: &[Block],
        places: &[u32],
        motion: &PaddedMotion,
        is_viscous: bool,
    ) -> Self {
        let mut picked = Block::default();
        for lane in 0..L::WIDTH {
            let place = places[lane.min(places.len() - 1)] as usize;
            picked.copy_lane(lane, &blocks[place / BLOCK], place % BLOCK);
        }
        Self::from_block(&picked, 0, motion, is_viscous)
    }

    /// F = Ds Dm⁻¹, or Ḟ from the rates of the edges.
    #[inline(always)]
    pub(super) fn gradient(&self, edges: &Columns<L>) -> Columns<L> {
        let b = &self.inverse_rest;
        [
            combine(edges, b[0][0], b[1][0], b[2][0]),
            combine(edges, b[0][1], b[1][1], b[2][1]),
            combine(edges, b[0][2], b[1][2], b[2][2]),
        ]
    }

    /// The stress of a law plus the viscous stress.
    #[inline(always)]
    pub(super) fn stress<S: LaneStress>(&self, f: &Columns<L>, law: &S, is_viscous: bool) -> Columns<L> {
        let mut p = law.stress(f, self.lame);
        if is_viscous {
            let extra = viscous_stress(f, &self.gradient(&self.edge_rates), self.lame, self.viscosity);
            for j in 0..3 {
                for i in 0..3 {
                    p[j][i] = p[j][i] + extra[j][i];
                }
            }
        }
        p
    }

    /// Writes V w P Dm⁻ᵀ, column k for corner k + 1, plus the patch force.   [KimPollard2011, eq. 3, 11]
    #[inline(always)]
    pub(super) fn write(&self, p: &Columns<L>, pull: Option<L>, corners: &mut [[f32; 4]]) {
        let b = &self.inverse_rest;
        let mut pulls = [[L::splat(0.0); 3]; 3];
        for k in 0..3 {
            pulls[k] = combine(p, b[k][0], b[k][1], b[k][2]);
        }
        if let Some(pull) = pull {
            add_scaled(&mut pulls, &area_vectors(&self.edges), pull);
        }
        for k in 0..3 {
            L::to_rows(pulls[k], &mut corners[k..], 3);
        }
    }
}

#[inline(always)]
fn load_columns<L: Lanes>(from: &[[[f32; BLOCK]; 3]; 3], first: usize) -> Columns<L> {
    let mut columns = [[L::splat(0.0); 3]; 3];
    for k in 0..3 {
        for j in 0..3 {
            columns[k][j] = L::load(&from[k][j][first..]);
        }
    }
    columns
}
