//! Node rotations by polar decomposition of the mean deformation gradient.

use crate::elements::Group;
use sinew_math::columns::{Columns, cross, dot, scale};
use sinew_math::lanes::{BLOCK, Kernel, Lanes, Real};

/// Sums at each node the deformation gradients of its elements, weighted by μ V w, by columns.
pub(super) struct NodeGradientKernel<'a> {
    pub(super) group: &'a Group,
    pub(super) x: &'a [[f64; 4]],
    pub(super) sums: &'a mut [[[f32; 4]; 3]],
}

impl Kernel for NodeGradientKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for slot in 0..self.group.count {
            let (block, lane) = (&self.group.blocks[slot / BLOCK], slot % BLOCK);
            let nodes = block.nodes[lane];
            let origin = self.x[nodes[0] as usize];
            let mut columns = [[0.0f32; 4]; 3];
            for k in 0..3 {
                let corner = self.x[nodes[k + 1] as usize];
                let mut edge = [0.0f32; 4];
                for i in 0..4 {
                    edge[i] = (corner[i] - origin[i]) as f32 * block.mu[lane];
                }
                for j in 0..3 {
                    let fraction = block.inverse_rest[k][j][lane];
                    for i in 0..4 {
                        columns[j][i] += edge[i] * fraction;
                    }
                }
            }
            for node in nodes {
                let sum = &mut self.sums[node as usize];
                for j in 0..3 {
                    for i in 0..4 {
                        sum[j][i] += columns[j][i];
                    }
                }
            }
        }
    }
}

/// Computes the rotations nearest to the sums of gradients by Higham's Newton iteration R ← (R + R⁻ᵀ)/2, which converges quadratically.
pub(super) struct TurnKernel<'a> {
    pub(super) turns: &'a mut [[[f32; 4]; 3]],
}

/// Iterations to single precision from stretches between 0.3 and 3.
const ROUNDS: usize = 6;

/// det F below this fraction of |F|³/3√3 counts as crushed or inverted.
const CRUSHED: f64 = 0.1;

impl Kernel for TurnKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for nodes in self.turns.chunks_exact_mut(L::WIDTH) {
            let mut rows = [[[0.0; 4]; BLOCK]; 3];
            for (lane, node) in nodes.iter().enumerate() {
                for j in 0..3 {
                    rows[j][lane] = node[j];
                }
            }
            let f = [L::from_rows(&rows[0]), L::from_rows(&rows[1]), L::from_rows(&rows[2])];
            let turned = polar(&f);
            for j in 0..3 {
                L::to_rows(turned[j], &mut rows[j], 1);
            }
            for (lane, node) in nodes.iter_mut().enumerate() {
                for j in 0..3 {
                    node[j] = rows[j][lane];
                }
            }
        }
    }
}

#[inline(always)]
fn polar<T: Real>(f: &Columns<T>) -> Columns<T> {
    let (zero, one, half) = (T::splat(0.0), T::splat(1.0), T::splat(0.5));
    let square = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let size = (square * T::splat(1.0 / 3.0)).sqrt().max(T::splat(T::TINY));
    let shrink = one / size;
    let scaled = [scale(f[0], shrink), scale(f[1], shrink), scale(f[2], shrink)];
    let is_crushed = dot(scaled[0], cross(scaled[1], scaled[2])).less(T::splat(CRUSHED));
    let mut r = scaled;
    for j in 0..3 {
        for i in 0..3 {
            r[j][i] = T::select(is_crushed, if i == j { one } else { zero }, scaled[j][i]);
        }
    }
    for _ in 0..ROUNDS {
        let cofactor = [cross(r[1], r[2]), cross(r[2], r[0]), cross(r[0], r[1])];
        let inverse = half / dot(r[0], cofactor[0]);
        for j in 0..3 {
            for i in 0..3 {
                r[j][i] = half * r[j][i] + inverse * cofactor[j][i];
            }
        }
    }
    r
}
