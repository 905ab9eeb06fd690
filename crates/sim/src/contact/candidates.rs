//! Points that may touch an obstacle before anything has moved farther than a margin.

use crate::obstacle::Obstacle;
use crate::{Model, State};
use rayon::prelude::*;
use sinew_contact::{Bounds, Contact, FrictionAnchor, RigidMotion};
use sinew_math::Vec3;

/// A point and an obstacle that may touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) point: u32,
    pub(super) obstacle: u32,
    /// The free obstacle that the point is a sample of.
    pub(super) owner: Option<u32>,
    /// How far the point was from the obstacle when it was looked for (m); those that are held count as inside.
    pub(super) distance: f64,
    /// It cannot touch before things have come nearer by so much since then (m): that distance, or more where it was looked at meanwhile.
    pub(super) clear: f64,
    /// Where the point is and how it moves, kept up to date while it may touch (m, m/s).
    pub(super) x: Vec3,
    pub(super) v: Vec3,
    /// What the point remembers while it touches.
    pub(super) anchor: Option<FrictionAnchor>,
    /// How it touches now.
    pub(super) contact: Option<Contact>,
}

/// Points that one task looks through.
const CHUNK: usize = 2048;
/// Points that are near to more obstacles than this are few.
const MANY: usize = 2;

/// A box around an obstacle in the world, grown by a margin (m).
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

/// What one task finds, and which obstacles are near any of its points.
#[derive(Clone, Debug)]
struct Chunk {
    found: Vec<Candidate>,
    near: Vec<usize>,
}

/// Scratch of looking for candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct CandidateSearch {
    chunks: Vec<Chunk>,
    /// Around each obstacle (m).
    boxes: Vec<Bounds>,
}

impl CandidateSearch {
    /// How many candidates there is room for among so many points: more are few.
    pub(super) fn room(model: &Model, points: usize) -> usize {
        points * model.obstacles().len().min(MANY)
    }

    /// Finds all candidates within a margin (m) of where things are, sorted by point, then obstacle. `x` are the positions of all points.
    pub(super) fn find(
        &mut self,
        model: &Model,
        motions: &[RigidMotion],
        (x, margin): (&[Vec3], f64),
        state: &State,
        out: &mut Vec<Candidate>,
    ) {
        let CandidateSearch { chunks, boxes } = self;
        boxes.clear();
        boxes.extend(model.obstacles().iter().zip(motions).map(|(o, motion)| around(o, motion, margin)));
        let near = |o: usize, point: usize| {
            let distance =
                || model.obstacles()[o].shape.probe(&motions[o].point_in_shape(&x[point])).distance;
            let found = boxes[o].contains(&x[point]).then(distance).filter(|distance| *distance < margin)?;
            // others may be nearer than they seem
            Some(if model.obstacles()[o].shape.has_exact_distance() { found } else { f64::NEG_INFINITY })
        };
        let flesh = model.contact_surface().count();
        let task_count = flesh.div_ceil(CHUNK);
        let count = model.obstacles().len();
        chunks.resize_with(task_count.max(chunks.len()), || Chunk {
            found: Vec::with_capacity(CHUNK * count.min(MANY)),
            near: Vec::with_capacity(count),
        });
        let search = |(task, Chunk { found, near: obstacles }): (usize, &mut Chunk)| {
            let range = task * CHUNK..((task + 1) * CHUNK).min(flesh);
            let own = Bounds::around(&x[range.clone()]);
            obstacles.clear();
            obstacles.extend((0..count).filter(|o| boxes[*o].intersects(&own)));
            found.clear();
            for point in range {
                let own = obstacles.iter().filter_map(|o| Some((*o, near(*o, point)?)));
                found.extend(own.map(|(o, distance)| candidate(point as u32, o, None, distance)));
            }
        };
        chunks[..task_count].par_iter_mut().enumerate().for_each(search);
        out.clear();
        out.reserve(CandidateSearch::room(model, x.len()));
        chunks[..task_count].iter().for_each(|chunk| out.extend_from_slice(&chunk.found));
        for (s, owner) in model.obstacles().iter().enumerate() {
            for point in owner.first_sample as usize..owner.first_sample as usize + owner.samples.len() {
                let others =
                    (0..model.obstacles().len()).filter(|o| model.obstacles()[*o].carrier != owner.carrier);
                let own = others.filter_map(|o| Some((o, near(o, point)?)));
                out.extend(own.map(|(o, distance)| candidate(point as u32, o, Some(s as u32), distance)));
            }
        }
        keep_held(model, state, out);
    }
}

/// What is held is never lost, however deep it is.
fn keep_held(model: &Model, state: &State, out: &mut Vec<Candidate>) {
    let found = out.len();
    for held in &state.anchors {
        let key = (held.point, held.obstacle);
        if let Ok(place) = out[..found].binary_search_by_key(&key, |c| (c.point, c.obstacle)) {
            let c = &mut out[place];
            (c.anchor, c.distance, c.clear) = (Some(held.anchor), f64::NEG_INFINITY, f64::NEG_INFINITY);
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
    Candidate {
        point,
        obstacle: obstacle as u32,
        owner,
        distance,
        clear: distance,
        x,
        v,
        anchor: None,
        contact: None,
    }
}
