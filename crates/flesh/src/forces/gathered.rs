//! Elements in registers: gathered from blocks and nodes, written back as corner forces.

use super::PaddedMotion;
use super::kernel::LaneStress;
use crate::elements::Block;
use crate::law::{LaneLame, viscous_stress};
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
    pub(super) fn from_block<const VISCOUS: bool>(
        block: &Block,
        first: usize,
        motion: &PaddedMotion,
    ) -> Self {
        let nodes = &block.nodes[first..first + L::WIDTH];
        Gathered {
            edges: gather_edges(nodes, &motion.x),
            edge_rates: if VISCOUS { gather_edge_rates(nodes, &motion.v) } else { [[L::splat(0.0); 3]; 3] },
            inverse_rest: load_columns(&block.inverse_rest, first),
            lame: LaneLame { mu: L::load(&block.mu[first..]), lambda: L::load(&block.lambda[first..]) },
            viscosity: L::load(&block.viscosity[first..]),
        }
    }

    /// Lanes picked from anywhere in the blocks; lanes beyond the end of `places` repeat the last one.
    #[inline(always)]
    pub(super) fn from_places<const VISCOUS: bool>(
        blocks: &[Block],
        places: &[u32],
        motion: &PaddedMotion,
    ) -> Self {
        let mut picked = Block::default();
        for lane in 0..L::WIDTH {
            let place = places[lane.min(places.len() - 1)] as usize;
            picked.copy_lane(lane, &blocks[place / BLOCK], place % BLOCK);
        }
        Self::from_block::<VISCOUS>(&picked, 0, motion)
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

    /// The stress of a law, with what viscosity adds.
    #[inline(always)]
    pub(super) fn stress<const VISCOUS: bool, S: LaneStress>(&self, f: &Columns<L>, law: &S) -> Columns<L> {
        let mut p = law.stress(f, self.lame);
        if VISCOUS {
            let extra = viscous_stress(f, &self.gradient(&self.edge_rates), self.lame, self.viscosity);
            for j in 0..3 {
                for i in 0..3 {
                    p[j][i] = p[j][i] + extra[j][i];
                }
            }
        }
        p
    }

    /// V w P Dm⁻ᵀ, column k for corner k + 1.                               [KimPollard2011, eq. 3, 11]
    #[inline(always)]
    pub(super) fn write(&self, p: &Columns<L>, corners: &mut [[f32; 4]]) {
        let b = &self.inverse_rest;
        for k in 0..3 {
            L::to_rows(combine(p, b[k][0], b[k][1], b[k][2]), &mut corners[k..], 3);
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

/// The edges from corner 0 to the others. They are differences in double precision, so that a body far from the origin loses nothing.
#[inline(always)]
fn gather_edges<L: Lanes>(nodes: &[[u32; 4]], node_x: &[[f64; 4]]) -> Columns<L> {
    let mut rows = [[[0.0; 4]; BLOCK]; 3];
    for (lane, nodes) in nodes.iter().enumerate() {
        let origin = node_x[nodes[0] as usize];
        for k in 0..3 {
            let corner = node_x[nodes[k + 1] as usize];
            for i in 0..4 {
                rows[k][lane][i] = (corner[i] - origin[i]) as f32;
            }
        }
    }
    [L::from_rows(&rows[0]), L::from_rows(&rows[1]), L::from_rows(&rows[2])]
}

/// How fast those edges change: viscosity needs no more than single precision.
#[inline(always)]
fn gather_edge_rates<L: Lanes>(nodes: &[[u32; 4]], node_v: &[[f32; 4]]) -> Columns<L> {
    let origin = L::gather_rows(node_v, nodes, 0);
    let mut rates = [origin; 3];
    for k in 0..3 {
        let corner = L::gather_rows(node_v, nodes, k + 1);
        for i in 0..3 {
            rates[k][i] = corner[i] - origin[i];
        }
    }
    rates
}
