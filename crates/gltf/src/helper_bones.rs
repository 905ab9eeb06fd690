//! Smooth skinning decomposition with rigid helper bones under the joints of a file `[LeDeng2012]`.
//!
//! ```text
//! x_i(t) ≈ Σ_j w_ij J_j(t) p_i + Σ_h u_ih H_h(t) p_i,   Σ_j w_ij + Σ_h u_ih = 1,   w, u ≥ 0,   at most K positive
//! ```
//!
//! The joints J are known in every frame and stay as they are; helpers H, rotations with translations, are added, and the weights of vertices
//! are found anew over both. Helpers are inserted a few at a time where vertices are furthest off, and after each insertion weights and
//! transforms are improved in turn. Least squares are reweighted towards the largest errors, since the error that is reported is the largest
//! distance over all vertices and frames.
//!
//! Weights are found from a sample of the frames; transforms are solved for every frame at the end, frame by frame. [`HelperNodes`] makes nodes of
//! helpers and [`add_helpers`] writes them; all else here knows no files.

#[cfg(test)]
pub(crate) mod alternation;
mod document_joints;
mod fit;
mod motion;
mod nodes;
mod norm;
mod sample;
mod simplex;
#[cfg(test)]
mod tests;
mod transforms;
mod weights;

pub(crate) use document_joints::{HelperBody, HelperClip, add_helpers};
pub(crate) use motion::{Affine, ClipTime, Influence, SkinnedMotion};
pub(crate) use nodes::{HelperNodes, affine_of};

use fit::{Anchor, Course, Fit, Insertion, max_error, tethers};
use norm::Norm;
use rayon::prelude::*;
use sample::Sample;
use sinew_math::Vec3;
use std::io;
use transforms::{FrameTerms, SWEEPS, TransformSolver};

/// The most vertices times frames of a sample: about 24 bytes each, and 3 µs each in a round.
const SAMPLE_LIMIT: usize = 2_000_000;
/// Helpers are inserted in up to so many batches, of at least so many helpers each.
const MAX_BATCHES: usize = 8;
const MIN_BATCH: usize = 4;
/// Rounds of the alternation after each batch.
const BATCH_ROUNDS: usize = 2;
/// Rounds at the end, and how many of them in a row may lower the largest error by less than a fraction before they stop.
const LAST_ROUNDS: usize = 12;
const PATIENCE: usize = 3;
const WORTHWHILE: f32 = 0.01;
/// Errors up to so many times the allowed one are brought down by more rounds, before more helpers.
const NEARLY: f32 = 1.5;
/// The last helpers, by this fraction of the batches, are inserted at the largest errors; those before at the largest sums of fourth powers
/// over frames.
const FRACTION_OF_MAXIMA: f64 = 0.4;
/// Vertices that a helper begins with: three have a rotation, of which half may be left out.
const MIN_PATCH: usize = 6;
/// Rounds of a frame at the end.
const FRAME_ROUNDS: usize = 3;
/// Rounds over all frames at the end.
const COURSE_ROUNDS: usize = 4;

/// The integer that stands for a weight of 1.
pub(crate) const WHOLE_WEIGHT: f64 = 65535.0;

/// How closely a motion is followed, and at what cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HelperOptions {
    /// The most helpers.
    pub(crate) max_helpers: usize,
    /// The most bones of a vertex, K.
    pub(crate) influences: usize,
    /// No more helpers are inserted when all vertices are this near to their targets (m).
    pub(crate) allowed_error: f64,
}

/// A helper bone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Helper {
    /// The centre of its vertices at bind (m).
    pub(crate) centre: Vec3,
    /// The joint that most of them follow in the file.
    pub(crate) joint: usize,
}

/// Helpers, the weights of all vertices over joints and helpers, and the maps of helpers in all frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HelperBones {
    pub(crate) helpers: Vec<Helper>,
    /// By vertex, largest weight first; joints of the file are counted before helpers. Weights are normalised 16-bit integers.
    pub(crate) weights: Vec<Vec<Influence>>,
    /// H_h by frame and helper, from where the surface was bound to the world.
    pub(crate) maps: Vec<Vec<Affine>>,
    /// The largest distance of a vertex from its target in each frame (m).
    pub(crate) errors: Vec<f64>,
}

impl HelperBones {
    /// Finds helpers that bring all vertices of all frames near their targets. Fails if a frame cannot be read or is not finite.
    pub(crate) fn find(motion: &impl SkinnedMotion, options: &HelperOptions) -> io::Result<HelperBones> {
        let (vertices, frames) = (motion.vertex_count(), motion.frame_count());
        check(motion)?;
        if frames == 0 {
            let weights = (0..vertices).map(|vertex| motion.influences(vertex)).collect();
            return Ok(HelperBones { helpers: Vec::new(), weights, maps: Vec::new(), errors: Vec::new() });
        }
        let stride = (vertices * frames).div_ceil(SAMPLE_LIMIT).max(1);
        let sample = Sample::read(motion, (0..frames).step_by(stride).collect())?;
        let mut fit = Fit::new(motion, &sample, options.influences.max(1));
        if options.max_helpers > 0 {
            insert_helpers(&mut fit, &sample, options);
        }
        fit.drop_unused();
        solve_all(motion, &sample, fit)
    }
}

/// Inserts helpers where vertices are furthest off, a few at a time, until errors are allowed or there are as many as may be.
fn insert_helpers(fit: &mut Fit, sample: &Sample, options: &HelperOptions) {
    let allowed = options.allowed_error as f32;
    let batches = (options.max_helpers / MIN_BATCH).clamp(1, MAX_BATCHES);
    let patch = (sample.vertex_count / (3 * options.max_helpers)).max(MIN_PATCH);
    let spacing = (sample.vertex_count / (2 * options.max_helpers)).max(1);
    let mut largest = max_error(&fit.errors(sample));
    for batch in 1..=batches {
        if largest <= allowed {
            return;
        }
        let wanted = options.max_helpers * batch / batches;
        let count = wanted.saturating_sub(fit.helper_count());
        let by_maxima = batch > 1 && batch as f64 > (1.0 - FRACTION_OF_MAXIMA) * batches as f64;
        fit.insert(sample, &Insertion { count, patch, spacing, by_maxima });
        (0..BATCH_ROUNDS).for_each(|_| fit.improve(sample, &Norm::FOURTH));
        largest = max_error(&fit.errors(sample));
        if batch == batches || largest <= NEARLY * allowed {
            largest = improve_until_idle(fit, sample, allowed);
        }
    }
}

/// Rounds of the alternation until the largest error is allowed or hardly falls; keeps the best one and returns its error (m).
fn improve_until_idle(fit: &mut Fit, sample: &Sample, allowed: f32) -> f32 {
    let mut largest = max_error(&fit.errors(sample));
    let (mut best, mut idle) = (fit.clone(), 0);
    for _ in 0..LAST_ROUNDS {
        if largest <= allowed || idle == PATIENCE {
            break;
        }
        fit.improve(sample, &Norm::FOURTH);
        let now = max_error(&fit.errors(sample));
        idle = if now < (1.0 - WORTHWHILE) * largest { 0 } else { idle + 1 };
        if now < largest {
            (largest, best) = (now, fit.clone());
        }
    }
    *fit = best;
    largest
}

/// Fails unless all numbers are finite and all vertices have joints of the file.
fn check(motion: &impl SkinnedMotion) -> io::Result<()> {
    let invalid = |message: String| Err(io::Error::new(io::ErrorKind::InvalidData, message));
    for vertex in 0..motion.vertex_count() {
        let influences = motion.influences(vertex);
        let is_sound =
            |influence: &Influence| influence.bone < motion.joint_count() && influence.weight.is_finite();
        if influences.is_empty() || !influences.iter().all(is_sound) {
            return invalid(format!("vertex {vertex} follows no joint of its skin: paint its weights again"));
        }
    }
    for frame in 0..motion.frame_count() {
        let joints = motion.joints(frame);
        if joints.iter().any(|map| map.iter().any(|c| !c.is_finite())) {
            return invalid(format!("a joint is not finite in frame {frame}: the simulation has failed"));
        }
        let is_same = frame > 0 && motion.has_fixed_bind();
        let bind = if is_same { Default::default() } else { motion.bind(frame)? };
        for points in [bind, motion.target(frame)?] {
            if let Some(vertex) = points.iter().position(|point| point.iter().any(|c| !c.is_finite())) {
                return invalid(format!(
                    "vertex {vertex} is at {:?} in frame {frame}: the simulation has failed",
                    points[vertex]
                ));
            }
        }
    }
    Ok(())
}

/// Solves for the transforms of all frames with the weights of a sample, and measures all errors.
fn solve_all(motion: &impl SkinnedMotion, sample: &Sample, mut fit: Fit) -> io::Result<HelperBones> {
    // weights as they are written
    fit.weights.iter_mut().for_each(to_integers);
    let anchors = fit.anchors(sample);
    let solver = TransformSolver::new(fit.joint_count, fit.helper_count(), &fit.weights);

    // where helpers begin, and what holds them
    let count = motion.frame_count();
    let times: Vec<ClipTime> = (0..count).map(|frame| motion.time(frame)).collect();
    let begin = |frame: usize| {
        let joints = motion.joints(frame);
        (start(sample, &fit, frame, &joints, &anchors), tethers(&anchors, &joints))
    };
    let (mut maps, held): (Vec<Vec<Affine>>, Vec<_>) = (0..count).into_par_iter().map(begin).unzip();
    let course = Course::new(held);

    // frame by frame, a few rounds in which each frame sees those before and after it
    let mut errors = Vec::new();
    for _ in 0..COURSE_ROUNDS {
        let solve = |frame: usize| -> io::Result<(Vec<Affine>, f64)> {
            let (bind, targets, joints) = (motion.bind(frame)?, motion.target(frame)?, motion.joints(frame));
            let tethers = course.tethers(&times, &maps, frame);
            let terms = FrameTerms { bind: &bind, targets: &targets, joints: &joints, tethers: &tethers };
            let helpers = solve_frame(&solver, &terms, maps[frame].clone());
            let error = f64::from(max_error(&[solver.distances(&terms, &helpers)]));
            Ok((helpers, error))
        };
        let solved: Vec<_> = (0..count).into_par_iter().map(solve).collect::<io::Result<_>>()?;
        (maps, errors) = solved.into_iter().unzip();
    }

    let helpers = anchors.iter().map(|anchor| Helper { centre: anchor.centre, joint: anchor.joint });
    Ok(HelperBones { helpers: helpers.collect(), weights: fit.weights, maps, errors })
}

/// Where helpers of a frame begin: as in the nearest frame of the sample, carried along by their joints.
fn start(sample: &Sample, fit: &Fit, frame: usize, joints: &[Affine], anchors: &[Anchor]) -> Vec<Affine> {
    let after = sample.frames.partition_point(|sampled| *sampled < frame);
    let place = match (after.checked_sub(1), sample.frames.get(after)) {
        (Some(before), Some(next)) if frame - sample.frames[before] < next - frame => before,
        (_, Some(_)) => after,
        (before, None) => before.unwrap_or(0),
    };
    let maps = fit.maps(place);
    let (known, helpers) = maps.split_at(fit.joint_count);
    if sample.frames[place] == frame {
        return helpers.to_vec();
    }
    // H(t) = D(t) D(s)⁻¹ H(s) with D the tether's rigid maps
    let (now, then) = (tethers(anchors, joints), tethers(anchors, known));
    let pairs = now.iter().zip(&then).zip(helpers);
    pairs.map(|((now, then), map)| transforms::carried(&now.map, &then.map, map)).collect()
}

/// The helpers of a frame, reweighted towards its largest errors; the round with the smallest of them.
fn solve_frame(solver: &TransformSolver, frame: &FrameTerms, start: Vec<Affine>) -> Vec<Affine> {
    let largest = |errors: &[f32]| errors.iter().copied().fold(0.0, f32::max);
    let mut errors = solver.distances(frame, &start);
    let (mut best, mut best_error, mut helpers) = (start.clone(), largest(&errors), start);
    let mut emphasis = vec![1.0; errors.len()];
    for _ in 0..FRAME_ROUNDS {
        Norm::FOURTH.emphasise(&errors, largest(&errors), &mut emphasis);
        solver.solve(frame, &emphasis, SWEEPS, &mut helpers);
        errors = solver.distances(frame, &helpers);
        if largest(&errors) < best_error {
            (best, best_error) = (helpers.clone(), largest(&errors));
        }
    }
    best
}

/// Rounds weights to normalised 16-bit integers that sum to 1, largest first.
fn to_integers(influences: &mut Vec<Influence>) {
    influences.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));
    let sum: f64 = influences.iter().map(|influence| influence.weight).sum();
    for influence in influences.iter_mut() {
        influence.weight = (influence.weight / sum * WHOLE_WEIGHT).round() / WHOLE_WEIGHT;
    }
    // what rounding left goes to the largest, of which it is the smallest fraction
    let rest: f64 = influences.iter().skip(1).map(|influence| influence.weight).sum();
    influences[0].weight = ((1.0 - rest) * WHOLE_WEIGHT).round() / WHOLE_WEIGHT;
    influences.retain(|influence| influence.weight > 0.0);
}
