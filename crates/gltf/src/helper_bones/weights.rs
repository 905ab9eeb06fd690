//! Sparse skinning weights of a vertex over some frames.
//!
//! ```text
//! minimise Σ_t λ(t) ‖r(t)‖²,   r = Σ_b w_b T_b(t) p − x(t),   subject to   Σ w = 1,   w ≥ 0,   at most K positive
//! ```
//!
//! with λ that emphasises the largest residuals (see [`Norm`](super::norm::Norm)). Candidates are the bones that move the vertex, the joints that move it in the file, and the helpers that lower the objective most when
//! they are blended in alone: with the residual r and d = T p − x, the blend r + s (d − r) gains ⟨r, r − d⟩² / ‖r − d‖² at its best s > 0.

use super::motion::{Affine, Influence};
use super::sample::Sample;
use super::simplex::{Gram, MAX_CANDIDATES};
use crate::components::add_scaled;

/// Helpers that are tried beside the bones that a vertex has.
const TRIED: usize = 8;
/// Frames that gains are measured on.
const RANKED_FRAMES: usize = 48;
/// Numbers that are summed side by side.
const LANES: usize = 16;

/// Where bones are over the frames of a sample: `[bone][place]`.
pub(super) type Tracks = Vec<Vec<Affine>>;

/// Finds the weights of vertices for bones that stay as they are.
pub(super) struct WeightSolver<'a> {
    sample: &'a Sample,
    joint_count: usize,
    limit: usize,
    /// The entries of each bone's maps in single precision, as `[entry][place]`.
    columns: Vec<Vec<f32>>,
    ranked: Vec<usize>,
}

impl<'a> WeightSolver<'a> {
    /// At most `limit` bones per vertex. Rounds of different numbers rank helpers on different frames.
    pub(super) fn new(
        sample: &'a Sample,
        tracks: &Tracks,
        joint_count: usize,
        limit: usize,
        round: usize,
    ) -> WeightSolver<'a> {
        let column = |maps: &Vec<Affine>| {
            (0..12).flat_map(|entry| maps.iter().map(move |map| map[(entry / 4, entry % 4)] as f32)).collect()
        };
        let columns = tracks.iter().map(column).collect();
        let stride = sample.count().div_ceil(RANKED_FRAMES).max(1);
        let ranked = (round % stride..sample.count()).step_by(stride).collect();
        WeightSolver { sample, joint_count, limit, columns, ranked }
    }

    /// The weights of a vertex, given those it has, those of the file, and λ.
    pub(super) fn solve(
        &self,
        vertex: usize,
        current: &[Influence],
        of_file: &[Influence],
        emphasis: &[f32],
    ) -> Vec<Influence> {
        // residuals of the weights it has
        let count = self.sample.count();
        let mut residual = vec![0.0f32; 3 * count];
        for influence in current {
            add_scaled(influence.weight as f32, &self.offsets(vertex, influence.bone), &mut residual);
        }
        let candidates = self.candidates(vertex, current, of_file, &residual, emphasis);

        // the weighted least-squares problem over the candidates
        let mut offsets: Vec<Vec<f32>> = candidates.iter().map(|bone| self.offsets(vertex, *bone)).collect();
        let roots: Vec<f32> = emphasis.iter().map(|lambda| lambda.sqrt()).collect();
        for offsets in &mut offsets {
            for axis in offsets.chunks_mut(count) {
                axis.iter_mut().zip(&roots).for_each(|(d, root)| *d *= root);
            }
        }
        let gram = Gram::of(candidates.len(), |j, k| dot(&offsets[j], &offsets[k]));
        let fits = current.len() <= self.limit;
        let support: Vec<usize> = if fits { (0..current.len()).collect() } else { Vec::new() };
        let found = gram.minimise_sparse(self.limit, &support);

        found.weights.iter().map(|(j, weight)| Influence { bone: candidates[*j], weight: *weight }).collect()
    }

    /// Bones that may move a vertex, those that do first.
    fn candidates(
        &self,
        vertex: usize,
        current: &[Influence],
        of_file: &[Influence],
        residual: &[f32],
        emphasis: &[f32],
    ) -> Vec<usize> {
        let mut candidates: Vec<usize> = current.iter().map(|influence| influence.bone).collect();
        candidates.truncate(MAX_CANDIDATES - TRIED);
        for influence in of_file {
            if candidates.len() < MAX_CANDIDATES - TRIED && !candidates.contains(&influence.bone) {
                candidates.push(influence.bone);
            }
        }

        // the helpers that gain most, ties by index
        let others = (self.joint_count..self.columns.len()).filter(|bone| !candidates.contains(bone));
        let gains = others.map(|bone| (self.gain(vertex, bone, residual, emphasis), bone));
        let mut gains: Vec<(f64, usize)> = gains.filter(|(gain, _)| *gain > 0.0).collect();
        gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        candidates.extend(gains.iter().take(TRIED).map(|(_, bone)| *bone));
        candidates
    }

    /// ⟨r, r − d⟩² / ‖r − d‖² of a bone, or zero where it only adds to the residual.
    fn gain(&self, vertex: usize, bone: usize, residual: &[f32], emphasis: &[f32]) -> f64 {
        let count = self.sample.count();
        let (mut falls, mut norm) = (0.0, 0.0);
        for &place in &self.ranked {
            let (p, x) = (self.sample.bind(vertex, place), self.sample.target(vertex, place));
            let d = self.offset(bone, place, &p, &x);
            for axis in 0..3 {
                let r = residual[axis * count + place];
                let towards = r - d[axis];
                falls += f64::from(emphasis[place] * r * towards);
                norm += f64::from(emphasis[place] * towards * towards);
            }
        }
        if falls > 0.0 && norm > 0.0 { falls * falls / norm } else { 0.0 }
    }

    /// T p − x of a bone in one frame.
    #[inline]
    fn offset(&self, bone: usize, place: usize, p: &[f32; 3], x: &[f32; 3]) -> [f32; 3] {
        let (columns, count) = (&self.columns[bone], self.sample.count());
        let entry = |entry: usize| columns[entry * count + place];
        let mut offset = [0.0; 3];
        for r in 0..3 {
            let turned = entry(4 * r) * p[0] + entry(4 * r + 1) * p[1] + entry(4 * r + 2) * p[2];
            offset[r] = turned + (entry(4 * r + 3) - x[r]);
        }
        offset
    }

    /// T p − x of a bone in all frames, axis after axis.
    fn offsets(&self, vertex: usize, bone: usize) -> Vec<f32> {
        let (columns, count) = (&self.columns[bone], self.sample.count());
        let targets = self.sample.targets(vertex);
        let mut offsets = vec![0.0; 3 * count];
        for axis in 0..3 {
            let entry = |k: usize| &columns[(4 * axis + k) * count..][..count];
            let (a, b, c, d) = (entry(0), entry(1), entry(2), entry(3));
            let (x, out) = (&targets[axis * count..][..count], &mut offsets[axis * count..][..count]);
            if let Some([px, py, pz]) = self.sample.fixed_bind(vertex) {
                for t in 0..count {
                    out[t] = a[t] * px + b[t] * py + c[t] * pz + (d[t] - x[t]);
                }
            } else {
                for t in 0..count {
                    let [px, py, pz] = self.sample.bind(vertex, t);
                    out[t] = a[t] * px + b[t] * py + c[t] * pz + (d[t] - x[t]);
                }
            }
        }
        offsets
    }
}

/// The product of two vectors, in lanes that are summed in double precision.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0f64; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    // short runs in single precision
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        let mut run = [0.0f32; LANES];
        for (a, b) in a.iter().zip(b) {
            for lane in 0..LANES {
                run[lane] += a[lane] * b[lane];
            }
        }
        for lane in 0..LANES {
            sums[lane] += f64::from(run[lane]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    sums.iter().sum::<f64>() + rest
}
