//! The plain alternation of [LeDeng2012], which helpers are measured against: rigid bones for the whole motion, started from k-means.
//!
//! Clusters are those of k-means on the trajectories of vertices. Then, in turn: non-negative least squares over the bones that carry a
//! vertex best, of which the K with the largest weights are kept and solved for again; and one pass over the bones of each frame.

use super::fit::{max_error, rigid_motion};
use super::motion::{Affine, Influence, SkinnedMotion, apply};
use super::sample::Sample;
use super::simplex::{Gram, MAX_CANDIDATES};
use super::transforms::{FrameTerms, Tether, TransformSolver, distances};
use rayon::prelude::*;
use sinew_math::Vec3;

/// Rounds of k-means, and of the alternation.
const CLUSTER_ROUNDS: usize = 10;
const ROUNDS: usize = 20;

/// The largest and the root mean square error (m) of so many bones, with at most `limit` per vertex, over all frames.
pub(crate) fn errors_of(motion: &impl SkinnedMotion, bones: usize, limit: usize) -> (f64, f64) {
    let sample = Sample::read(motion, (0..motion.frame_count()).collect()).unwrap();
    let clusters = cluster(&sample, bones);
    let mut weights: Vec<Vec<Influence>> =
        clusters.iter().map(|bone| vec![Influence { bone: *bone, weight: 1.0 }]).collect();
    let vertices = |bone: usize| -> Vec<usize> {
        (0..clusters.len()).filter(|vertex| clusters[*vertex] == bone).collect()
    };
    let mut tracks: Vec<Vec<Affine>> =
        (0..bones).map(|bone| rigid_motion(&sample, &vertices(bone))).collect();
    for _ in 0..ROUNDS {
        weights = (0..sample.vertex_count)
            .into_par_iter()
            .map(|vertex| vertex_weights(&sample, &tracks, vertex, limit))
            .collect();
        update_transforms(&sample, &weights, &mut tracks);
    }
    let of_frame = |place: usize| {
        let maps: Vec<Affine> = tracks.iter().map(|track| track[place]).collect();
        distances(&weights, &maps, &sample.frame_bind(place), sample.frame_targets(place))
    };
    let errors: Vec<Vec<f32>> = (0..sample.count()).map(of_frame).collect();
    let sum: f64 = errors.iter().flatten().map(|error| f64::from(*error).powi(2)).sum();
    let count = sample.vertex_count * sample.count();
    (f64::from(max_error(&errors)), (sum / count as f64).sqrt())
}

/// k-means of trajectories, started from vertices spread over the list.
fn cluster(sample: &Sample, count: usize) -> Vec<usize> {
    let mut centres: Vec<Vec<f32>> =
        (0..count).map(|c| sample.targets(c * sample.vertex_count / count).to_vec()).collect();
    let mut clusters = Vec::new();
    for _ in 0..CLUSTER_ROUNDS {
        let nearest = |vertex: usize| {
            let x = sample.targets(vertex);
            let squared = |centre: &Vec<f32>| -> f64 {
                centre.iter().zip(x).map(|(a, b)| f64::from((a - b) * (a - b))).sum()
            };
            let all: Vec<f64> = centres.iter().map(squared).collect();
            (0..count).min_by(|a, b| all[*a].total_cmp(&all[*b])).unwrap()
        };
        clusters = (0..sample.vertex_count).into_par_iter().map(nearest).collect();
        for (c, centre) in centres.iter_mut().enumerate() {
            let members: Vec<usize> = (0..clusters.len()).filter(|v| clusters[*v] == c).collect();
            for (t, value) in centre.iter_mut().enumerate() {
                let sum: f64 = members.iter().map(|v| f64::from(sample.targets(*v)[t])).sum();
                *value = if members.is_empty() { *value } else { (sum / members.len() as f64) as f32 };
            }
        }
    }
    clusters
}

/// The K largest weights of non-negative least squares, solved for again.
fn vertex_weights(sample: &Sample, tracks: &[Vec<Affine>], vertex: usize, limit: usize) -> Vec<Influence> {
    let offsets = |track: &Vec<Affine>| -> Vec<f64> {
        let offset = |(place, map): (usize, &Affine)| {
            let (p, x) = (sample.bind(vertex, place), sample.target(vertex, place));
            let moved = apply(map, &p);
            [0, 1, 2].map(|axis| moved[axis] - f64::from(x[axis]))
        };
        track.iter().enumerate().flat_map(offset).collect()
    };
    let mut all: Vec<(f64, usize, Vec<f64>)> = tracks
        .iter()
        .enumerate()
        .map(|(bone, track)| {
            let offsets = offsets(track);
            (offsets.iter().map(|d| d * d).sum(), bone, offsets)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.truncate(MAX_CANDIDATES.min(16));
    let gram = Gram::of(all.len(), |j, k| all[j].2.iter().zip(&all[k].2).map(|(a, b)| a * b).sum());
    let mut found = gram.minimise(&(0..all.len()).collect::<Vec<_>>()).weights;
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(limit);
    let kept: Vec<usize> = found.iter().map(|(j, _)| *j).collect();
    let found = gram.minimise(&kept).weights;
    found.iter().map(|(j, weight)| Influence { bone: all[*j].1, weight: *weight }).collect()
}

fn update_transforms(sample: &Sample, weights: &[Vec<Influence>], tracks: &mut [Vec<Affine>]) {
    let solver = TransformSolver::new(0, tracks.len(), weights);
    let free = Tether { centre: Vec3::zeros(), radius: 1.0, map: Affine::identity(), fraction: 0.0 };
    let tethers = vec![free; tracks.len()];
    let solve = |place: usize| {
        let mut maps: Vec<Affine> = tracks.iter().map(|track| track[place]).collect();
        let (bind, targets) = (sample.frame_bind(place), sample.frame_targets(place));
        let frame = FrameTerms { bind: &bind, targets, joints: &[], tethers: &tethers };
        solver.solve(&frame, &vec![1.0; bind.len()], 1, &mut maps);
        maps
    };
    let found: Vec<Vec<Affine>> = (0..sample.count()).into_par_iter().map(solve).collect();
    for (place, maps) in found.iter().enumerate() {
        tracks.iter_mut().zip(maps).for_each(|(track, map)| track[place] = *map);
    }
}
