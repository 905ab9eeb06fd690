//! SIMD kernels for products with element tangents and for diagonal blocks.

use super::stiffness::{BlockTangent, Stiffness};
use super::strong::StrongLanes;
use crate::elements::Block;
use crate::gather::{edge_rates, edges};
use crate::law::LaneLame;
use crate::patch_volumes::PatchProduct;
use crate::patches::add_scaled;
use sinew_math::columns::{Columns, combine};
use sinew_math::lanes::{BLOCK, Kernel, Lanes};

/// Multiplies the elements of one task by displacements of nodes.
pub(super) struct MultiplyKernel<'a, S> {
    pub(super) blocks: &'a [Block],
    pub(super) tangents: &'a [S],
    /// Lanes whose tangents are stored separately.
    pub(super) strong: Option<&'a StrongLanes>,
    pub(super) patches: PatchProduct<'a>,
    pub(super) u: &'a [[f32; 4]],
    pub(super) corners: &'a mut [[f32; 4]],
}

impl<S: Stiffness> Kernel for MultiplyKernel<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let corners = self.corners.chunks_exact_mut(3 * BLOCK);
        for (i, ((block, tangent), corners)) in self.blocks.iter().zip(self.tangents).zip(corners).enumerate()
        {
            for first in (0..BLOCK).step_by(L::WIDTH) {
                let moved = edge_rates(&block.nodes[first..first + L::WIDTH], self.u);
                let patched = self.patches.lanes::<L>(i * BLOCK + first, &moved);
                multiply::<L, S>(block, tangent, first, (&moved, patched), corners);
            }
        }
        let Some(strong) = self.strong else { return };
        for (block, tangent, places) in strong.blocks() {
            let mut packed = [[0.0; 4]; 3 * BLOCK];
            for first in (0..places.len()).step_by(L::WIDTH) {
                let moved = edge_rates(&block.nodes[first..first + L::WIDTH], self.u);
                multiply::<L, BlockTangent>(block, tangent, first, (&moved, None), &mut packed);
            }
            for (lane, place) in places.iter().enumerate() {
                let own = &mut packed[3 * lane..3 * lane + 3];
                self.patches.add_at(*place as usize, &block.nodes[lane], self.u, own);
                let place = 3 * *place as usize;
                self.corners[place..place + 3].copy_from_slice(own);
            }
        }
    }
}

/// Multiplies the lanes of a block from `first` on by displacements of their edges, and adds the patch terms.
#[inline(always)]
fn multiply<L: Lanes, S: Stiffness>(
    block: &Block,
    tangent: &S,
    first: usize,
    (moved, patched): (&Columns<L>, Option<Columns<L>>),
    corners: &mut [[f32; 4]],
) {
    let b = load_rest::<L>(block, first);
    let dp = tangent.product::<L>(first, &times_rest(moved, &b));
    let mut product = [[L::splat(0.0); 3]; 3];
    for k in 0..3 {
        product[k] = combine(&dp, b[k][0], b[k][1], b[k][2]);
    }
    if let Some(patched) = patched {
        add_scaled(&mut product, &patched, L::splat(1.0));
    }
    let corners = &mut corners[3 * first..];
    for k in 0..3 {
        L::to_rows(product[k], &mut corners[k..], 3);
    }
}

/// The diagonal blocks of the four corners of sixteen elements, each as its lower triangle.
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
                    // a unit displacement of the corner along axis i
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
    let edges = edges(&block.nodes[first..first + L::WIDTH], x);
    times_rest(&edges, &load_rest(block, first))
}
