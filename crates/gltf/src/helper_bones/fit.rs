//! The alternation over a sample of frames: weights, transforms, errors and what is emphasised.

use super::motion::{Affine, Between, ClipTime, Influence, SkinnedMotion, apply, squared_distance};
use super::norm::Norm;
use super::sample::Sample;
use super::transforms::{FrameTerms, SWEEPS, Tether, TransformSolver, best_rigid, carried, distances, rigid};
use super::weights::{Tracks, WeightSolver};
use rayon::prelude::*;
use sinew_math::nalgebra::Matrix4;
use sinew_math::svd::Svd;
use sinew_math::{Mat3, Vec3};

/// The weight of tethers as a fraction of that of vertices: a helper that is 10 cm from where its joint would carry it is drawn back by 10 µm.
const TETHER: f64 = 1e-4;

/// The weight of the course of a helper, likewise.
const COURSE: f64 = 0.1;

/// Steps of least trimmed squares; a few reach a set that stays.
const CONCENTRATION_STEPS: usize = 4;

/// Weights and transforms over a sample.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) joint_count: usize,
    /// The most bones of a vertex.
    pub(super) limit: usize,
    pub(super) of_file: Vec<Vec<Influence>>,
    pub(super) weights: Vec<Vec<Influence>>,
    /// Joints of the file, then helpers.
    pub(super) tracks: Tracks,
    /// λ by frame and vertex.
    pub(super) emphasis: Vec<Vec<f32>>,
    round: usize,
}

/// How helpers are inserted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Insertion {
    /// How many, if vertices are off in so many places.
    pub(super) count: usize,
    /// Each begins as the rigid motion of so many vertices that stay nearest to its place.
    pub(super) patch: usize,
    /// No other place is among so many vertices that stay nearest, at least itself.
    pub(super) spacing: usize,
    /// Whether places are ranked by their largest errors, rather than by sums of fourth powers over frames.
    pub(super) by_maxima: bool,
}

/// What a helper is tied to in all frames.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    /// The centre of its vertices at bind (m).
    pub(super) centre: Vec3,
    /// Their radius about it (m).
    pub(super) radius: f64,
    /// The joint that most of them follow in the file.
    pub(super) joint: usize,
}

impl Fit {
    /// The file's own skinning.
    pub(super) fn new(motion: &impl SkinnedMotion, sample: &Sample, limit: usize) -> Fit {
        let of_file: Vec<Vec<Influence>> =
            (0..sample.vertex_count).map(|vertex| motion.influences(vertex)).collect();
        let mut tracks: Tracks = vec![Vec::with_capacity(sample.count()); motion.joint_count()];
        for frame in &sample.frames {
            for (track, map) in tracks.iter_mut().zip(motion.joints(*frame).iter()) {
                track.push(*map);
            }
        }
        let emphasis = vec![vec![1.0; sample.vertex_count]; sample.count()];
        let weights = of_file.clone();
        Fit { joint_count: motion.joint_count(), limit, weights, of_file, tracks, emphasis, round: 0 }
    }

    /// How many helpers there are.
    pub(super) fn helper_count(&self) -> usize {
        self.tracks.len() - self.joint_count
    }

    /// One round of the alternation.
    pub(super) fn improve(&mut self, sample: &Sample, norm: &Norm) {
        self.update_weights(sample);
        self.update_transforms(sample);
        let errors = self.errors(sample);
        let largest = max_error(&errors);
        for (emphasis, errors) in self.emphasis.iter_mut().zip(&errors) {
            norm.emphasise(errors, largest, emphasis);
        }
    }

    /// Finds all weights anew.
    pub(super) fn update_weights(&mut self, sample: &Sample) {
        let solver = WeightSolver::new(sample, &self.tracks, self.joint_count, self.limit, self.round);
        let vertices = self.weights.par_iter().zip(&self.of_file).enumerate();
        let found = vertices.map(|(vertex, (current, of_file))| {
            let emphasis: Vec<f32> = self.emphasis.iter().map(|of_frame| of_frame[vertex]).collect();
            solver.solve(vertex, current, of_file, &emphasis)
        });
        self.weights = found.collect();
        self.round += 1;
    }

    /// Finds all transforms anew.
    pub(super) fn update_transforms(&mut self, sample: &Sample) {
        let anchors = self.anchors(sample);
        let solver = TransformSolver::new(self.joint_count, self.helper_count(), &self.weights);
        let (joints, helpers): (Vec<Vec<Affine>>, Vec<Vec<Affine>>) = (0..sample.count())
            .map(|place| {
                let mut joints = self.maps(place);
                let helpers = joints.split_off(self.joint_count);
                (joints, helpers)
            })
            .unzip();
        let course = Course::new(joints.par_iter().map(|joints| tethers(&anchors, joints)).collect());
        let solve = |place: usize| {
            let (bind, targets) = (sample.frame_bind(place), sample.frame_targets(place));
            let tethers = course.tethers(&sample.times, &helpers, place);
            let frame = FrameTerms { bind: &bind, targets, joints: &joints[place], tethers: &tethers };
            let mut helpers = helpers[place].clone();
            solver.solve(&frame, &self.emphasis[place], SWEEPS, &mut helpers);
            helpers
        };
        let found: Vec<Vec<Affine>> = (0..sample.count()).into_par_iter().map(solve).collect();
        for (place, helpers) in found.iter().enumerate() {
            for (track, map) in self.tracks[self.joint_count..].iter_mut().zip(helpers) {
                track[place] = *map;
            }
        }
    }

    /// All bones in a frame.
    pub(super) fn maps(&self, place: usize) -> Vec<Affine> {
        self.tracks.iter().map(|track| track[place]).collect()
    }

    /// Errors by frame and vertex (m).
    pub(super) fn errors(&self, sample: &Sample) -> Vec<Vec<f32>> {
        let of_frame = |place: usize| {
            let (maps, bind) = (self.maps(place), sample.frame_bind(place));
            distances(&self.weights, &maps, &bind, sample.frame_targets(place))
        };
        (0..sample.count()).into_par_iter().map(of_frame).collect()
    }

    /// Adds helpers where vertices are furthest off.
    pub(super) fn insert(&mut self, sample: &Sample, insertion: &Insertion) {
        let Insertion { count, patch, spacing, by_maxima } = *insertion;
        let add = |rank: f64, square: f64| if by_maxima { rank.max(square) } else { rank + square * square };
        let mut ranks = vec![0.0f64; sample.vertex_count];
        for errors in self.errors(sample) {
            for (rank, error) in ranks.iter_mut().zip(errors) {
                *rank = add(*rank, f64::from(error) * f64::from(error));
            }
        }
        for _ in 0..count {
            let worst = (0..ranks.len()).max_by(|a, b| ranks[*a].total_cmp(&ranks[*b]).then(b.cmp(a)));
            let Some(worst) = worst.filter(|worst| ranks[*worst] > 0.0) else { break };
            // the next one goes elsewhere
            let near = neighbourhood(sample, worst, patch.max(spacing));
            near.iter().take(spacing).for_each(|vertex| ranks[*vertex] = 0.0);
            let track = trimmed_motion(sample, &near[..patch.min(near.len())]);
            // nor where this one alone would do
            ranks.par_iter_mut().enumerate().for_each(|(vertex, rank)| {
                *rank = rank.min(squares(sample, &track, vertex).fold(0.0, add));
            });
            self.tracks.push(track);
        }
    }

    /// Leaves out helpers that move no vertex.
    pub(super) fn drop_unused(&mut self) {
        let mut is_used = vec![false; self.tracks.len()];
        is_used[..self.joint_count].fill(true);
        self.weights.iter().flatten().for_each(|influence| is_used[influence.bone] = true);
        let places: Vec<usize> = is_used
            .iter()
            .scan(0, |next, used| {
                *next += usize::from(*used);
                Some(next.saturating_sub(1))
            })
            .collect();
        self.weights.iter_mut().flatten().for_each(|influence| influence.bone = places[influence.bone]);
        let mut used = is_used.iter();
        self.tracks.retain(|_| used.next().copied().unwrap_or(false));
    }

    /// The centre, radius and joint of every helper.
    pub(super) fn anchors(&self, sample: &Sample) -> Vec<Anchor> {
        let count = self.helper_count();
        let mut mass = vec![0.0; count];
        let mut first = vec![Vec3::zeros(); count];
        let mut second = vec![0.0; count];
        let mut follows = vec![vec![0.0; self.joint_count]; count];
        for (vertex, influences) in self.weights.iter().enumerate() {
            let p = Vec3::from(sample.bind(vertex, 0).map(f64::from));
            for influence in influences.iter().filter(|influence| influence.bone >= self.joint_count) {
                let h = influence.bone - self.joint_count;
                mass[h] += influence.weight;
                first[h] += influence.weight * p;
                second[h] += influence.weight * p.norm_squared();
                for of_file in &self.of_file[vertex] {
                    follows[h][of_file.bone] += influence.weight * of_file.weight;
                }
            }
        }
        let anchor = |h: usize| {
            let m = f64::max(mass[h], 1e-30);
            let centre = first[h] / m;
            let radius = (second[h] / m - centre.norm_squared()).max(0.0).sqrt().max(1e-6);
            let joint = (0..self.joint_count)
                .max_by(|a, b| follows[h][*a].total_cmp(&follows[h][*b]).then(b.cmp(a)))
                .unwrap_or(0);
            Anchor { centre, radius, joint }
        };
        (0..count).map(anchor).collect()
    }
}

/// The largest of all errors (m).
pub(super) fn max_error(errors: &[Vec<f32>]) -> f32 {
    errors.iter().flatten().copied().fold(0.0, f32::max)
}

/// The tethers of a frame: each helper tends to move its centre as its joint does, without the joint's stretch.
pub(super) fn tethers(anchors: &[Anchor], joints: &[Affine]) -> Vec<Tether> {
    let tether = |anchor: &Anchor| {
        let joint = joints.get(anchor.joint).copied().unwrap_or_else(Affine::identity);
        let linear: Mat3 = joint.fixed_view::<3, 3>(0, 0).into_owned();
        let Svd { u, v, .. } = Svd::of(&linear);
        let carried = linear * anchor.centre + joint.column(3);
        let map = rigid(&(u * v.transpose()), &|rotation| carried - rotation * anchor.centre);
        Tether { centre: anchor.centre, radius: anchor.radius, map, fraction: TETHER }
    };
    anchors.iter().map(tether).collect()
}

/// What helpers are held to in all frames.
pub(super) struct Course {
    /// By frame and helper.
    of_joints: Vec<Vec<Tether>>,
}

impl Course {
    /// From the tethers to joints in all frames.
    pub(super) fn new(of_joints: Vec<Vec<Tether>>) -> Course {
        Course { of_joints }
    }

    /// The tethers of a frame, to joints and to the course of helpers: halfway from where they are to where they would be between the frames before and after, as seen from their joints.
    /// (All the way, frames in turn would swap places.)
    pub(super) fn tethers(&self, times: &[ClipTime], helpers: &[Vec<Affine>], frame: usize) -> Vec<Tether> {
        let own = &self.of_joints[frame];
        let Some(Between { before, after, fraction }) = Between::of(times, frame) else {
            return own.clone();
        };
        let tether = |(h, tether): (usize, &Tether)| {
            let seen = |then: usize| carried(&tether.map, &self.of_joints[then][h].map, &helpers[then][h]);
            let between = seen(before) * (1.0 - fraction) + seen(after) * fraction;
            tether.and(&((helpers[frame][h] + between) * 0.5), COURSE)
        };
        own.iter().enumerate().map(tether).collect()
    }
}

/// The vertices that stay nearest to one over the sample, itself first.
fn neighbourhood(sample: &Sample, vertex: usize, count: usize) -> Vec<usize> {
    let stride = sample.count().div_ceil(32).max(1);
    let places: Vec<usize> = (0..sample.count()).step_by(stride).collect();
    let distance = |other: usize| -> f64 {
        let squared = |place: &usize| -> f64 {
            let (a, b) = (sample.target(vertex, *place), sample.target(other, *place));
            squared_distance(&[f64::from(a[0]), f64::from(a[1]), f64::from(a[2])], &b)
        };
        places.iter().map(squared).sum()
    };
    let mut order: Vec<(f64, usize)> =
        (0..sample.vertex_count).into_par_iter().map(|other| (distance(other), other)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.iter().take(count).map(|(_, vertex)| *vertex).collect()
}

/// The rigid motion of the half of some vertices that agree best about it: least trimmed squares by concentration steps.
fn trimmed_motion(sample: &Sample, vertices: &[usize]) -> Vec<Affine> {
    let mut motion = rigid_motion(sample, vertices);
    for _ in 0..CONCENTRATION_STEPS {
        let sum = |vertex: usize| -> f64 { squares(sample, &motion, vertex).sum() };
        let mut order: Vec<(f64, usize)> = vertices.iter().map(|vertex| (sum(*vertex), *vertex)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.truncate(order.len().div_ceil(2));
        let best: Vec<usize> = order.iter().map(|(_, vertex)| *vertex).collect();
        motion = rigid_motion(sample, &best);
    }
    motion
}

/// ‖T p − x‖² of a vertex in every frame (m²), if it followed one bone alone.
fn squares(sample: &Sample, track: &[Affine], vertex: usize) -> impl Iterator<Item = f64> {
    track.iter().enumerate().map(move |(place, map)| {
        squared_distance(&apply(map, &sample.bind(vertex, place)), &sample.target(vertex, place))
    })
}

/// The rigid motion that carries some vertices best.
pub(super) fn rigid_motion(sample: &Sample, vertices: &[usize]) -> Vec<Affine> {
    let mut last = Affine::identity();
    let fit = |place: usize| {
        let (mut moment, mut wanted) = (Matrix4::zeros(), Affine::zeros());
        for vertex in vertices {
            let p = Vec3::from(sample.bind(*vertex, place).map(f64::from)).push(1.0);
            let x = Vec3::from(sample.target(*vertex, place).map(f64::from));
            moment += p * p.transpose();
            wanted += x * p.transpose();
        }
        last = best_rigid(&moment, &wanted, &last);
        last
    };
    (0..sample.count()).map(fit).collect()
}
