//! Elements in lanes: products with their tangents, and the blocks of their corners.

use super::stiffness::{BlockTangent, Stiffness};
use super::strong::StrongLanes;
use crate::elements::Block;
use crate::law::LaneLame;
use sinew_math::columns::{Columns, combine};
use sinew_math::lanes::{BLOCK, Kernel, Lanes};

/// Multiplies one task's elements with motions of nodes.
pub(super) struct MultiplyKernel<'a, S> {
    pub(super) blocks: &'a [Block],
    pub(super) tangents: &'a [S],
    /// Lanes whose tangents stand apart.
    pub(super) strong: Option<&'a StrongLanes>,
    pub(super) u: &'a [[f32; 4]],
    pub(super) corners: &'a mut [[f32; 4]],
}

impl<S: Stiffness> Kernel for MultiplyKernel<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let corners = self.corners.chunks_exact_mut(3 * BLOCK);
        for ((block, tangent), corners) in self.blocks.iter().zip(self.tangents).zip(corners) {
            for first in (0..BLOCK).step_by(L::WIDTH) {
                multiply::<L, S>(block, tangent, first, self.u, corners);
            }
        }
        let Some(strong) = self.strong else { return };
        for (block, tangent, places) in strong.blocks() {
            let mut packed = [[0.0; 4]; 3 * BLOCK];
            for first in (0..places.len()).step_by(L::WIDTH) {
                multiply::<L, BlockTangent>(block, tangent, first, self.u, &mut packed);
            }
            for (lane, place) in places.iter().enumerate() {
                let place = 3 * *place as usize;
                self.corners[place..place + 3].copy_from_slice(&packed[3 * lane..3 * lane + 3]);
            }
        }
    }
}

/// Multiplies the lanes of a block from `first` on.
#[inline(always)]
fn multiply<L: Lanes, S: Stiffness>(
    block: &Block,
    tangent: &S,
    first: usize,
    u: &[[f32; 4]],
    corners: &mut [[f32; 4]],
) {
    let nodes = &block.nodes[first..first + L::WIDTH];
    let origin = L::gather_rows(u, nodes, 0);
    let mut edges = [origin; 3];
    for k in 0..3 {
        let corner = L::gather_rows(u, nodes, k + 1);
        for i in 0..3 {
            edges[k][i] = corner[i] - origin[i];
        }
    }
    let b = load_rest::<L>(block, first);
    let df = times_rest(&edges, &b);
    let dp = tangent.product::<L>(first, &df);
    let corners = &mut corners[3 * first..];
    for k in 0..3 {
        L::to_rows(combine(&dp, b[k][0], b[k][1], b[k][2]), &mut corners[k..], 3);
    }
}

/// The blocks of the four corners of sixteen elements, each as its lower triangle.
pub(super) struct DiagonalKernel<'a, S> {
    pub(super) block: &'a Block,
    pub(super) tangent: &'a S,
}

impl<S: Stiffness> Kernel for DiagonalKernel<'_, S> {
    type Output = [[[f32; BLOCK]; 6]; 4];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [[[f32; BLOCK]; 6]; 4] {
        let mut out = [[[0.0; BLOCK]; 6]; 4];
        for part in 0..BLOCK / L::WIDTH {
            let first = part * L::WIDTH;
            let b = load_rest::<L>(self.block, first);
            for corner in 0..4 {
                let mut g = [L::splat(0.0); 3];
                for j in 0..3 {
                    g[j] = if corner > 0 { b[corner - 1][j] } else { -(b[0][j] + b[1][j] + b[2][j]) };
                }
                for i in 0..3 {
                    // a unit motion along axis i of the corner
                    let mut df = [[L::splat(0.0); 3]; 3];
                    for j in 0..3 {
                        df[j][i] = g[j];
                    }
                    let dp = self.tangent.product::<L>(first, &df);
                    let pull = combine(&dp, g[0], g[1], g[2]);
                    for k in 0..=i {
                        pull[k].store(&mut out[corner][i * (i + 1) / 2 + k][first..]);
                    }
                }
            }
        }
        out
    }
}

#[inline(always)]
fn load_rest<L: Lanes>(block: &Block, first: usize) -> Columns<L> {
    let mut b = [[L::splat(0.0); 3]; 3];
    for k in 0..3 {
        for j in 0..3 {
            b[k][j] = L::load(&block.inverse_rest[k][j][first..]);
        }
    }
    b
}

#[inline(always)]
pub(super) fn load_lame<L: Lanes>(block: &Block, first: usize) -> LaneLame<L> {
    LaneLame { mu: L::load(&block.mu[first..]), lambda: L::load(&block.lambda[first..]) }
}

#[inline(always)]
fn times_rest<L: Lanes>(edges: &Columns<L>, b: &Columns<L>) -> Columns<L> {
    [
        combine(edges, b[0][0], b[1][0], b[2][0]),
        combine(edges, b[0][1], b[1][1], b[2][1]),
        combine(edges, b[0][2], b[1][2], b[2][2]),
    ]
}

/// F, from differences in double precision.
#[inline(always)]
pub(super) fn gradient<L: Lanes>(block: &Block, first: usize, x: &[[f64; 4]]) -> Columns<L> {
    let mut rows = [[[0.0; 4]; BLOCK]; 3];
    for lane in 0..L::WIDTH {
        let nodes = &block.nodes[first + lane];
        let origin = x[nodes[0] as usize];
        for k in 0..3 {
            let corner = x[nodes[k + 1] as usize];
            for i in 0..4 {
                rows[k][lane][i] = (corner[i] - origin[i]) as f32;
            }
        }
    }
    let edges = [L::from_rows(&rows[0]), L::from_rows(&rows[1]), L::from_rows(&rows[2])];
    times_rest(&edges, &load_rest(block, first))
}
