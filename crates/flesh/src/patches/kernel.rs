//! SIMD kernels for element volumes and volume gradients.

use crate::block::Block;
use crate::gather::{edge_rates, edges, wide_edges};
use sinew_math::columns::{Columns, cross, dot, scale};
use sinew_math::lanes::{BLOCK, Kernel, Lanes, Real, WideLanes};

/// ∂v/∂x of corners 1 to 3, by columns: e₂ × e₃ / 6, e₃ × e₁ / 6, e₁ × e₂ / 6.
#[inline(always)]
pub(crate) fn area_vectors<T: Real>(e: &Columns<T>) -> Columns<T> {
    let sixth = T::splat(1.0 / 6.0);
    [scale(cross(e[1], e[2]), sixth), scale(cross(e[2], e[0]), sixth), scale(cross(e[0], e[1]), sixth)]
}

/// to += by × columns
#[inline(always)]
pub(crate) fn add_scaled<T: Real>(to: &mut Columns<T>, columns: &Columns<T>, by: T) {
    for k in 0..3 {
        for i in 0..3 {
            to[k][i] = to[k][i] + columns[k][i] * by;
        }
    }
}

/// c v of elements (J).
pub(crate) struct VolumeKernel<'a> {
    pub(crate) blocks: &'a [Block],
    pub(crate) weight: &'a [f32],
    pub(crate) x: &'a [[f64; 4]],
    pub(crate) out: &'a mut [f64],
}

impl Kernel for VolumeKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let lanes = self.weight.chunks_exact(BLOCK).zip(self.out.chunks_exact_mut(BLOCK));
        for (block, (weight, out)) in self.blocks.iter().zip(lanes) {
            if is_apart(weight) {
                continue;
            }
            for first in (0..BLOCK).step_by(L::Wide::WIDTH) {
                let edges = wide_edges::<L::Wide>(&block.nodes[first..first + L::Wide::WIDTH], self.x);
                let volume = dot(edges[0], area_vectors(&edges)[0]);
                (L::Wide::load_single(&weight[first..]) * volume).store(&mut out[first..]);
            }
        }
    }
}

/// c (v + β dv/dt) of elements (J) in single precision, as forces have their stress.
pub(crate) struct MovingVolumeKernel<'a> {
    pub(crate) blocks: &'a [Block],
    pub(crate) weight: &'a [f32],
    pub(crate) x: &'a [[f64; 4]],
    /// Velocities; empty without viscosity.
    pub(crate) v: &'a [[f32; 4]],
    pub(crate) out: &'a mut [f64],
}

impl Kernel for MovingVolumeKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let lanes = self.weight.chunks_exact(BLOCK).zip(self.out.chunks_exact_mut(BLOCK));
        for (block, (weight, out)) in self.blocks.iter().zip(lanes) {
            if is_apart(weight) {
                continue;
            }
            let mut volumes = [0.0; BLOCK];
            for first in (0..BLOCK).step_by(L::WIDTH) {
                let nodes = &block.nodes[first..first + L::WIDTH];
                let edges = edges::<L>(nodes, self.x);
                let area = area_vectors(&edges);
                let mut volume = dot(edges[0], area[0]);
                if !self.v.is_empty() {
                    let rates = edge_rates::<L>(nodes, self.v);
                    let rate = dot(rates[0], area[0]) + dot(rates[1], area[1]) + dot(rates[2], area[2]);
                    volume = volume + L::load(&block.viscosity[first..]) * rate;
                }
                (L::load(&weight[first..]) * volume).store(&mut volumes[first..]);
            }
            for lane in 0..BLOCK {
                out[lane] = f64::from(volumes[lane]);
            }
        }
    }
}

/// c v of one element, to the bit as lanes have it.
pub(crate) fn weighted_volume(weight: f32, nodes: &[u32; 4], x: &[[f64; 4]]) -> f64 {
    let corner = |k: usize| x[nodes[k] as usize];
    let origin = corner(0);
    let edge = |k: usize| {
        let end = corner(k);
        [end[0] - origin[0], end[1] - origin[1], end[2] - origin[2]]
    };
    let edges = [edge(1), edge(2), edge(3)];
    f64::from(weight) * dot(edges[0], area_vectors(&edges)[0])
}

/// Whether none of the sixteen elements is in a patch.
#[inline(always)]
pub(crate) fn is_apart(weight: &[f32]) -> bool {
    weight.iter().all(|weight| *weight == 0.0)
}
