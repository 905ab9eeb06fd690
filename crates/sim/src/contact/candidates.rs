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
    /// Lower bound of the relative approach since detection before contact is possible (m): that distance, or more if it was tested since.
    pub(super) clear: f64,
    /// Position and velocity of the point, kept up to date while contact is possible (m, m/s).
    pub(super) x: Vec3,
    pub(super) v: Vec3,
    /// The friction anchor while in contact.
    pub(super) anchor: Option<FrictionAnchor>,
    /// The current contact.
    pub(super) contact: Option<Contact>,
}

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

/// Candidates found by one task, and the obstacles near any of its points.
#[derive(Clone, Debug)]
struct Chunk {
    found: Vec<Candidate>,
    near: Vec<usize>,
}

/// Workspace of candidate detection.
#[derive(Clone, Debug, Default)]
pub(super) struct CandidateSearch {
    chunks: Vec<Chunk>,
    /// Bounding box of each obstacle (m).
    boxes: Vec<Bounds>,
}

impl CandidateSearch {
    /// Expected maximum number of candidates for so many points, for reserving memory.
    pub(super) fn room(model: &Model, points: usize) -> usize {
        points * model.obstacles().len().min(MANY)
    }

    /// Finds all candidates within a margin (m), sorted by point, then obstacle. `x` are the positions of all points.
    pub(super) fn find(
        &mut self,
        model: &Model,
        motions: &[RigidMotion],
        (x, margin): (&[Vec3], f64),
        state: &State,
        out: &mut Vec<Candidate>,
    ) {
        // distance of a point from an obstacle, if it is within the margin
        let CandidateSearch { chunks, boxes } = self;
        boxes.clear();
        let reach = margin + model.contact_surface().max_offset();
        boxes.extend(model.obstacles().iter().zip(motions).map(|(o, motion)| around(o, motion, reach)));
        let near = |o: usize, point: usize| {
            let distance =
                || model.obstacles()[o].shape.probe(&motions[o].point_in_shape(&x[point])).distance;
            let offset = model.contact_surface().offset(point);
            let found = boxes[o].contains(&x[point]).then(|| distance() - offset);
            let found = found.filter(|distance| *distance < margin)?;
            // approximate distance functions may overestimate
            Some(if model.obstacles()[o].shape.has_exact_distance() { found } else { f64::NEG_INFINITY })
        };

        // vertices of flesh, in parallel tasks
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

        // collected in order, with the samples of dynamic obstacles
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

/// Adds points with a friction anchor, which remain candidates at any depth.
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
