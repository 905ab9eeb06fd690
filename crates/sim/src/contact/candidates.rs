//! Points that may touch an obstacle before anything has moved farther than a margin.

use super::obstacle::Obstacle;
use crate::{Model, State};
use rayon::prelude::*;
use sinew_contact::{Bounds, Grip, RigidMotion, Touch};
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
    /// Where the point is and how it moves, kept up to date while it may touch (m, m/s).
    pub(super) x: Vec3,
    pub(super) v: Vec3,
    /// What the point remembers while it touches.
    pub(super) grip: Option<Grip>,
    /// How it touches now.
    pub(super) touch: Option<Touch>,
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

/// Finds all candidates within a margin (m) of where things are, sorted by point, then obstacle. `x` are the positions of all points.
pub(super) fn find(
    model: &Model,
    motions: &[RigidMotion],
    x: &[Vec3],
    margin: f64,
    state: &State,
    (chunks, out): (&mut Vec<Vec<Candidate>>, &mut Vec<Candidate>),
) {
    let flesh = model.touch.count();
    let near = |o: usize, point: usize, bounds: &Bounds| {
        let distance = || model.obstacles[o].shape.probe(&motions[o].point_in_shape(&x[point])).distance;
        let found = bounds.holds(&x[point]).then(distance).filter(|distance| *distance < margin)?;
        // others may be nearer than they seem
        Some(if model.obstacles[o].shape.has_exact_distance() { found } else { f64::NEG_INFINITY })
    };
    let task_count = flesh.div_ceil(CHUNK);
    chunks.resize_with(task_count.max(chunks.len()), || {
        Vec::with_capacity(CHUNK * model.obstacles.len().min(MANY))
    });
    let search = |(task, found): (usize, &mut Vec<Candidate>)| {
        found.clear();
        let range = task * CHUNK..((task + 1) * CHUNK).min(flesh);
        let own = Bounds::around(&x[range.clone()]);
        for (o, obstacle) in model.obstacles.iter().enumerate() {
            let bounds = around(obstacle, &motions[o], margin);
            if !bounds.meets(&own) {
                continue;
            }
            for point in range.clone() {
                if let Some(distance) = near(o, point, &bounds) {
                    found.push(candidate(point as u32, o, None, distance));
                }
            }
        }
    };
    chunks[..task_count].par_iter_mut().enumerate().for_each(search);
    out.clear();
    out.reserve(x.len() * model.obstacles.len().min(MANY));
    chunks[..task_count].iter().for_each(|found| out.extend_from_slice(found));
    for (s, owner) in model.obstacles.iter().enumerate().filter(|(_, owner)| !owner.samples.is_empty()) {
        for o in (0..model.obstacles.len()).filter(|o| model.obstacles[*o].carrier != owner.carrier) {
            let bounds = around(&model.obstacles[o], &motions[o], margin);
            for i in 0..owner.samples.len() {
                let point = owner.first_sample as usize + i;
                if let Some(distance) = near(o, point, &bounds) {
                    out.push(candidate(point as u32, o, Some(s as u32), distance));
                }
            }
        }
    }
    // what is held is never lost, however deep it is
    for held in &state.grips {
        let owns = |owner: &Obstacle| {
            (owner.first_sample..owner.first_sample + owner.samples.len() as u32).contains(&held.point)
        };
        let owner = model.obstacles.iter().position(owns).map(|s| s as u32);
        let sound = (held.obstacle as usize) < model.obstacles.len()
            && ((held.point as usize) < flesh || owner.is_some());
        if sound {
            out.push(Candidate {
                grip: Some(held.grip),
                ..candidate(held.point, held.obstacle as usize, owner, f64::NEG_INFINITY)
            });
        }
    }
    // those that are held stand before their doubles
    out.sort_unstable_by_key(|c| (c.point, c.obstacle, c.grip.is_none()));
    out.dedup_by_key(|c| (c.point, c.obstacle));
}

fn candidate(point: u32, obstacle: usize, owner: Option<u32>, distance: f64) -> Candidate {
    let (x, v) = (Vec3::zeros(), Vec3::zeros());
    Candidate { point, obstacle: obstacle as u32, owner, distance, x, v, grip: None, touch: None }
}
