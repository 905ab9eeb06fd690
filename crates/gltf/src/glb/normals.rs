//! Normals that go with components: those of the mean and the change per weight.

use crate::components::{Components, add_scaled};
use nalgebra::DMatrix;
use rayon::prelude::*;
use sinew_take::{Smoothing, unit_or_up};

/// Frames whose normals are in memory together.
const BATCH: usize = 16;

/// Normals of the mean shape and what each component adds to them at weight 1.
pub(super) struct Normals {
    pub(super) base: Vec<[f32; 3]>,
    pub(super) deltas: Vec<Vec<[f32; 3]>>,
}

impl Normals {
    /// The normals of every frame by least squares in the same weights.
    pub(super) fn fit(components: &Components, frames: &[Vec<[f32; 3]>], smoothing: &Smoothing) -> Normals {
        let of_batch = |batch: &[Vec<[f32; 3]>]| -> Vec<Vec<[f32; 3]>> {
            batch.par_iter().map(|frame| smoothing.normals(frame)).collect()
        };
        let mut sums = vec![[0.0f64; 3]; components.base.len()];
        for normals in frames.chunks(BATCH).flat_map(of_batch) {
            sums.iter_mut().zip(&normals).for_each(|(sum, n)| (0..3).for_each(|i| sum[i] += f64::from(n[i])));
        }
        let base: Vec<[f32; 3]> = sums.into_iter().map(unit_or_up).collect();
        let mut deltas = vec![vec![[0.0f32; 3]; base.len()]; components.deltas.len()];
        if components.deltas.is_empty() {
            return Normals { base, deltas };
        }
        let solve = weights_inverse(components);
        for (batch_index, batch) in frames.chunks(BATCH).enumerate() {
            let mut normals = of_batch(batch);
            normals.par_iter_mut().for_each(|normals| {
                normals.iter_mut().zip(&base).for_each(|(n, b)| (0..3).for_each(|i| n[i] -= b[i]));
            });
            deltas.par_iter_mut().enumerate().for_each(|(k, delta)| {
                for (f, normals) in normals.iter().enumerate() {
                    let fraction = solve[(k, batch_index * BATCH + f)] as f32;
                    add_scaled(fraction, normals.as_flattened(), delta.as_flattened_mut());
                }
            });
        }
        Normals { base, deltas }
    }
}

/// (WᵀW)⁻¹ Wᵀ for the matrix W of weights, frames by components. A trace of the diagonal is added,
/// so that a component that hardly moves cannot spoil the others.
fn weights_inverse(components: &Components) -> DMatrix<f64> {
    let (frames, count) = (components.weights.len(), components.deltas.len());
    let w = DMatrix::from_fn(frames, count, |f, k| f64::from(components.weights[f][k]));
    let mut normal = w.tr_mul(&w);
    let trace = 1e-9 * normal.trace() / count as f64;
    (0..count).for_each(|k| normal[(k, k)] += trace);
    match normal.cholesky() {
        Some(cholesky) => cholesky.solve(&w.transpose()),
        None => DMatrix::zeros(count, frames),
    }
}
