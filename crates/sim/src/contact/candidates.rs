//! Broad phase: points that may come into contact with an obstacle before relative motion exceeds a margin.

use crate::obstacle::Obstacle;
use crate::{Model, State};
use rayon::prelude::*;
use sinew_contact::{Bounds, Contact, FrictionAnchor, RigidMotion};
use sinew_math::Vec3;

/// A point and an obstacle that may come into contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) point: u32,
    pub(super) obstacle: u32,
    /// The dynamic obstacle that the point is a sample of.
    pub(super) owner: Option<u32>,
    /// Distance of the point from the obstacle at detection (m); points with a friction anchor count as inside.
    pub(super) distance: f64,
    /// Position and velocity of the point, kept up to date while contact is possible (m, m/s).
    pub(super) x: Vec3,
    pub(super) v: Vec3,
    /// The friction anchor while in contact.
    pub(super) anchor: Option<FrictionAnchor>,
    /// The current contact.
    pub(super) contact: Option<Contact>,
}

/// Distances are rounded down by more than the round-off of sums of motions.
const CERTAINLY: f64 = 1.0 - 1e-9;
/// Points per parallel task.
const CHUNK: usize = 2048;
/// Expected maximum number of obstacles near a point, for reserving memory.
const MANY: usize = 2;

/// World bounding box of an obstacle, enlarged by a margin (m).
fn around(obstacle: &Obstacle, motion: &RigidMotion, margin: f64) -> Bounds {
    let bounds = obstacle.shape.bounds();
    if !bounds.radius().is_finite() {
        let all = Vec3::repeat(f64::INFINITY);
        return Bounds { min: -all, max: all };
    }
    let turn = motion.world_from_shape.rotation.to_rotation_matrix();
    let center = motion.point_in_world(&bounds.center());
    let half = turn.matrix().abs() * (0.5 * (bounds.max - bounds.min));
    Bounds { min: center - half, max: center + half }.grown(margin)
}

/// Candidates found by one task, and the points and obstacles that it compares.
#[derive(Clone, Debug)]
struct Chunk {
    found: Vec<Candidate>,
    points: Vec<u32>,
    near: Vec<usize>,
}

/// What a task works on: with the positions of its points (m), and the approach until which they are away.
type Task<'a> = ((&'a mut Chunk, &'a mut [Vec3]), &'a mut [f64]);

/// Workspace of candidate detection.
#[derive(Clone, Debug, Default)]
pub(super) struct CandidateSearch {
    chunks: Vec<Chunk>,
    /// Bounding box of each obstacle (m).
    boxes: Vec<Bounds>,
    /// Bound of the relative approach of any point and obstacle since the first search (m).
    approach: f64,
    /// For each point of flesh the approach until which it is away from all obstacles (m).
    away_until: Vec<f64>,
}

/// How far points are compared, and how far they may have come since the last search (m); infinite after an unknown motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchRange {
    pub(super) margin: f64,
    pub(super) moved: f64,
}

impl CandidateSearch {
    /// Expected maximum number of candidates for so many points, for reserving memory.
    pub(super) fn room(model: &Model, points: usize) -> usize {
        points * model.obstacles().len().min(MANY)
    }

    /// Finds all candidates within a margin, sorted by point, then obstacle. `x` are the positions of all points (m); those of flesh are updated from nodes where they are needed.
    pub(super) fn find(
        &mut self,
        model: &Model,
        motions: &[RigidMotion],
        (x, range): (&mut [Vec3], SearchRange),
        (state, node_x): (&State, &[Vec3]),
        out: &mut Vec<Candidate>,
    ) {
        // what is compared
        self.follow(model, range.moved);
        let (margin, flesh) = (range.margin, model.contact_surface().count());
        let CandidateSearch { chunks, boxes, approach, away_until } = self;
        boxes.clear();
        let reach = margin + model.contact_surface().max_offset();
        boxes.extend(model.obstacles().iter().zip(motions).map(|(o, motion)| around(o, motion, reach)));
        let query = Query { model, motions, boxes, margin, approach: *approach, node_x };

        // vertices of flesh, in parallel tasks
        let task_count = flesh.div_ceil(CHUNK);
        let count = model.obstacles().len();
        chunks.resize_with(task_count.max(chunks.len()), || Chunk {
            found: Vec::with_capacity(CHUNK * count.min(MANY)),
            points: Vec::with_capacity(CHUNK),
            near: Vec::with_capacity(count),
        });
        let (flesh_x, samples_x) = x.split_at_mut(flesh);
        let tasks = chunks[..task_count].par_iter_mut().zip(flesh_x.par_chunks_mut(CHUNK));
        let tasks = tasks.zip(away_until.par_chunks_mut(CHUNK)).enumerate();
        tasks.for_each(|(i, task)| query.find_in(i * CHUNK, task));

        // collected in order, with the samples of dynamic obstacles
        out.clear();
        out.reserve(CandidateSearch::room(model, flesh + samples_x.len()));
        chunks[..task_count].iter().for_each(|chunk| out.extend_from_slice(&chunk.found));
        query.find_samples(samples_x, out);
        keep_held(model, state, out);
    }

    /// Adds what points may have moved (m); after an unknown motion no point is known to be away.
    fn follow(&mut self, model: &Model, moved: f64) {
        let flesh = model.contact_surface().count();
        if self.away_until.len() != flesh || !(self.approach + moved).is_finite() {
            self.away_until.clear();
            self.away_until.resize(flesh, f64::NEG_INFINITY);
            self.approach = 0.0;
            return;
        }
        self.approach += moved;
    }
}

/// What points are compared with.
struct Query<'a> {
    model: &'a Model,
    motions: &'a [RigidMotion],
    boxes: &'a [Bounds],
    margin: f64,
    approach: f64,
    node_x: &'a [Vec3],
}

impl Query<'_> {
    /// The distance of a point from an obstacle (m).
    fn distance(&self, o: usize, x: &Vec3) -> f64 {
        self.model.obstacles()[o].shape.distance(&self.motions[o].point_in_shape(x))
    }

    /// A lower bound of that distance: approximate distance functions may overestimate.
    fn bound(&self, o: usize, distance: f64) -> f64 {
        if self.model.obstacles()[o].shape.has_exact_distance() { distance } else { f64::NEG_INFINITY }
    }

    /// Finds the candidates among the vertices of a task, which begin at `first`.
    fn find_in(&self, first: usize, ((chunk, x), away_until): Task) {
        // points that may be near, where they are, and the obstacles around them
        let Query { boxes, margin, approach, .. } = *self;
        let Chunk { found, points, near } = chunk;
        found.clear();
        points.clear();
        let may_be_near = |i: &u32| away_until[*i as usize] - approach < margin;
        points.extend((0..x.len() as u32).filter(may_be_near));
        let at = |i: u32| self.model.contact_surface().at(first + i as usize, self.node_x);
        points.iter().for_each(|i| x[*i as usize] = at(*i));
        let own = points.iter().fold(Bounds::EMPTY, |own, i| own.with(&x[*i as usize]));
        near.clear();
        near.extend((0..boxes.len()).filter(|o| boxes[*o].intersects(&own)));

        // their distances; those of obstacles around no point are beyond the margin
        for i in points.iter().map(|i| *i as usize) {
            let mut nearest = if near.len() == boxes.len() { f64::INFINITY } else { margin };
            for &o in near.iter() {
                if !boxes[o].contains(&x[i]) {
                    nearest = nearest.min(margin + boxes[o].distance_squared(&x[i]).sqrt());
                    continue;
                }
                let distance = self.distance(o, &x[i]) - self.model.contact_surface().offset(first + i);
                nearest = nearest.min(self.bound(o, distance));
                if distance < margin {
                    found.push(candidate((first + i) as u32, o, None, self.bound(o, distance)));
                }
            }
            away_until[i] = approach + CERTAINLY * nearest;
        }
    }

    /// Adds the candidates among the samples of dynamic obstacles at `x` (m).
    fn find_samples(&self, x: &[Vec3], out: &mut Vec<Candidate>) {
        let (obstacles, flesh) = (self.model.obstacles(), self.model.contact_surface().count());
        for (s, owner) in obstacles.iter().enumerate() {
            for point in owner.first_sample as usize..owner.first_sample as usize + owner.samples.len() {
                let x = &x[point - flesh];
                let others = (0..obstacles.len()).filter(|o| obstacles[*o].carrier != owner.carrier);
                for o in others.filter(|o| self.boxes[*o].contains(x)) {
                    let distance = self.distance(o, x);
                    if distance < self.margin {
                        out.push(candidate(point as u32, o, Some(s as u32), self.bound(o, distance)));
                    }
                }
            }
        }
    }
}

/// Adds points with a friction anchor, which remain candidates at any depth.
fn keep_held(model: &Model, state: &State, out: &mut Vec<Candidate>) {
    let found = out.len();
    for held in &state.anchors {
        let key = (held.point, held.obstacle);
        if let Ok(place) = out[..found].binary_search_by_key(&key, |c| (c.point, c.obstacle)) {
            let c = &mut out[place];
            (c.anchor, c.distance) = (Some(held.anchor), f64::NEG_INFINITY);
            continue;
        }
        let owns = |owner: &Obstacle| {
            (owner.first_sample..owner.first_sample + owner.samples.len() as u32).contains(&held.point)
        };
        let owner = model.obstacles().iter().position(owns).map(|s| s as u32);
        let sound = (held.obstacle as usize) < model.obstacles().len()
            && ((held.point as usize) < model.contact_surface().count() || owner.is_some());
        if sound {
            out.push(Candidate {
                anchor: Some(held.anchor),
                ..candidate(held.point, held.obstacle as usize, owner, f64::NEG_INFINITY)
            });
        }
    }
    if out.len() > found {
        out.sort_unstable_by_key(|c| (c.point, c.obstacle));
        out.dedup_by_key(|c| (c.point, c.obstacle));
    }
}

fn candidate(point: u32, obstacle: usize, owner: Option<u32>, distance: f64) -> Candidate {
    let (x, v) = (Vec3::zeros(), Vec3::zeros());
    Candidate { point, obstacle: obstacle as u32, owner, distance, x, v, anchor: None, contact: None }
}
