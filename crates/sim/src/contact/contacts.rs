//! Touching during a step: who touches, what that does to nodes and free obstacles, and how these move.

use super::candidates::{self, Candidate};
use super::desc::Mobility;
use super::obstacle::{HeldGrip, Obstacle};
use super::pair_forces::PairForces;
use crate::{Control, Model, State};
use rayon::prelude::*;
use sinew_contact::{Penalty, Response, RigidMotion, feel};
use sinew_math::{Isometry, Vec3, turn};

/// Scratch of touching.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    candidates: Vec<Candidate>,
    chunks: Vec<Vec<Candidate>>,
    /// How obstacles move, and where they were a sub-step before.
    motions: Vec<RigidMotion>,
    before: Vec<Isometry>,
    /// Force and torque about the centre on each obstacle (N, N m).
    wrenches: Vec<(Vec3, Vec3)>,
    /// For each free obstacle Σ k (1/m + r²/I) of what touches it, then the factor that keeps it stable.
    give: Vec<f64>,
    /// Positions and velocities of points: surface vertices, then samples of obstacles.
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    /// The points whose positions are kept up to date.
    needed: Vec<u32>,
    /// The deepest candidate of each cell, for [`Response::Projection`].
    deepest: Vec<u32>,
    pairs: PairForces,
    /// How far things may move before candidates are looked for again, and how far they have (m).
    margin: f64,
    moved: f64,
}

/// A sub-step: from which share of the step to which, and how long it is (s).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substep {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) h: f64,
}

/// Fewer candidates are looked at on one thread.
const FEW: usize = 1024;
/// Springs between free obstacles and flesh leave half of what is stable to each side.
const SHARED: f64 = 0.5;
/// Free obstacles have no elasticity of their own that takes part of what is stable, and are damped more.
const SAMPLE_DAMPING: f64 = 0.6;

impl Contacts {
    /// Whether anything can touch.
    pub(crate) fn can_touch(model: &Model) -> bool {
        !model.obstacles.is_empty() || model.touch.has_pairs
    }

    /// Makes ready for a step of `dt` (s).
    pub(crate) fn begin(
        &mut self,
        model: &Model,
        control: &Control,
        dt: f64,
        substep: Substep,
        state: &mut State,
    ) {
        self.pairs.attend(model);
        self.place_obstacles(model, control, substep, state);
        self.detect(model, substep.h, dt, state);
    }

    /// Adds what touching does to the forces on nodes (N), and to those on free obstacles.
    pub(crate) fn push(
        &mut self,
        model: &Model,
        control: &Control,
        (dt, substep): (f64, Substep),
        state: &mut State,
        node_force: &mut [Vec3],
    ) {
        if substep.from > 0.0 {
            self.place_obstacles(model, control, substep, state);
            self.moved += substep.h * self.fastest(model, state);
            if self.moved > self.margin {
                self.keep_grips(state);
                self.detect(model, substep.h, (1.0 - substep.from) * dt, state);
            }
        }
        self.follow_points(model, state);
        self.find_touches(model, substep.h);
        self.find_give(model, substep.h);
        self.answer_touches(model, substep.h, state, node_force);
        let given = self.pairs.push(model, (&self.x, &self.v), substep.h, node_force);
        state.supplied_energy += given;
    }

    /// Moves obstacles to the end of a sub-step.
    pub(crate) fn move_obstacles(
        &mut self,
        model: &Model,
        control: &Control,
        substep: Substep,
        state: &mut State,
    ) {
        for (i, obstacle) in model.obstacles.iter().enumerate() {
            if let Some(solid) = &obstacle.solid {
                state.obstacles[i].advance(solid, self.wrenches[i], &model.gravity, substep.h);
            } else if obstacle.mobility == Mobility::Led {
                state.obstacles[i].pose = led_pose(obstacle, control, i, substep.to);
            }
        }
    }

    /// Writes what touching points remember into the state.
    pub(crate) fn keep_grips(&self, state: &mut State) {
        state.grips.clear();
        state.grips.reserve(self.candidates.capacity());
        let held = self
            .candidates
            .iter()
            .filter_map(|c| c.grip.map(|grip| HeldGrip { point: c.point, obstacle: c.obstacle, grip }));
        state.grips.extend(held);
    }

    /// How many points touch an obstacle.
    pub(crate) fn touching(&self) -> usize {
        self.candidates.iter().filter(|c| c.touch.is_some()).count()
    }

    fn place_obstacles(&mut self, model: &Model, control: &Control, substep: Substep, state: &State) {
        let Substep { from, to, h } = substep;
        self.motions.clear();
        self.before.clear();
        for (i, (obstacle, now)) in model.obstacles.iter().zip(&state.obstacles).enumerate() {
            let motion = match (obstacle.mobility, &obstacle.solid) {
                (Mobility::Led, _) => {
                    let (start, end) =
                        (led_pose(obstacle, control, i, from), led_pose(obstacle, control, i, to));
                    let origin = start.translation.vector;
                    RigidMotion {
                        world_from_shape: start,
                        linear: (end.translation.vector - origin) / h,
                        angular: turn::log(&(end.rotation * start.rotation.inverse())) / h,
                        origin,
                    }
                }
                (_, Some(solid)) => now.motion(solid),
                _ => RigidMotion::still(now.pose),
            };
            self.motions.push(motion);
            self.before.push(back(&motion, h));
        }
    }

    /// The most that two things can come nearer to each other in a second (m/s).
    fn fastest(&self, model: &Model, state: &State) -> f64 {
        let node = state.node_v.iter().map(Vec3::norm_squared).fold(0.0, f64::max).sqrt();
        let obstacle = |(obstacle, motion): (&Obstacle, &RigidMotion)| {
            if motion.linear == Vec3::zeros() && motion.angular == Vec3::zeros() {
                return 0.0;
            }
            let reach =
                if obstacle.reach.is_finite() { obstacle.reach } else { farthest(motion, &state.node_x) };
            motion.fastest(reach)
        };
        let obstacles = model.obstacles.iter().zip(&self.motions).map(obstacle).fold(0.0, f64::max);
        2.0 * node.max(obstacles)
    }

    /// Looks for candidates, to last for what is left of the step (s) if speeds stay.
    fn detect(&mut self, model: &Model, h: f64, left: f64, state: &State) {
        let samples = model.obstacles.iter().map(|o| o.samples.len()).sum::<usize>();
        let flesh = model.touch.count();
        self.x.resize(flesh + samples, Vec3::zeros());
        self.v.resize(flesh + samples, Vec3::zeros());
        self.wrenches.resize(model.obstacles.len(), (Vec3::zeros(), Vec3::zeros()));
        let (x, node_x) = (&mut self.x[..flesh], &state.node_x);
        x.par_iter_mut().with_min_len(2048).enumerate().for_each(|(i, x)| *x = model.touch.at(i, node_x));
        self.follow_samples(model);
        let speed = self.fastest(model, state);
        if !speed.is_finite() {
            // the step has failed and is about to be taken again
            self.candidates.clear();
            self.pairs.clear();
            self.needed.clear();
            return;
        }
        // a share of the step at least, so that fast things are looked for a few times in a step and not in every sub-step
        self.margin = (1.25 * speed * left)
            .min(model.touch.spacing.max(4.0 * speed * h))
            .max(0.25 * model.touch.spacing);
        self.moved = 0.0;
        // the last sub-step's way is looked back upon
        let within = self.margin + speed * h;
        let room = (&mut self.chunks, &mut self.candidates);
        candidates::find(model, &self.motions, &self.x, within, state, room);
        // surfaces that come nearer by more than this in a sub-step may miss each other: with all pairs in reach of faster ones a step that
        // diverges would take for ever
        self.pairs.detect(&self.x[..flesh], within.min(model.touch.spacing));
        self.needed.clear();
        self.needed.reserve(16 * flesh);
        self.needed.extend(self.candidates.iter().map(|c| c.point).filter(|point| (*point as usize) < flesh));
        self.pairs.add_needed(&mut self.needed);
        self.needed.sort_unstable();
        self.needed.dedup();
    }

    fn follow_points(&mut self, model: &Model, state: &State) {
        for &point in &self.needed {
            let (mut x, mut v) = (Vec3::zeros(), Vec3::zeros());
            for (node, weight) in model.touch.row(point as usize) {
                x += weight * state.node_x[node];
                v += weight * state.node_v[node];
            }
            (self.x[point as usize], self.v[point as usize]) = (x, v);
        }
        self.follow_samples(model);
    }

    fn follow_samples(&mut self, model: &Model) {
        for (obstacle, motion) in model.obstacles.iter().zip(&self.motions) {
            for (i, sample) in obstacle.samples.iter().enumerate() {
                let point = obstacle.first_sample as usize + i;
                self.x[point] = motion.point_in_world(sample);
                self.v[point] = motion.velocity_at(&self.x[point]);
            }
        }
    }

    fn find_touches(&mut self, model: &Model, h: f64) {
        let Contacts { candidates, motions, before, x, v, .. } = self;
        let look = |c: &mut Candidate| {
            let (point, o) = (c.point as usize, c.obstacle as usize);
            let p = motions[o].point_in_shape(&x[point]);
            let earlier = x[point] - h * v[point] - before[o].translation.vector;
            let came_from = before[o].rotation.inverse_transform_vector(&earlier);
            c.touch = feel(&model.obstacles[o].shape, &p, &came_from, c.grip.as_ref());
            if c.touch.is_none() {
                c.grip = None;
            }
        };
        if candidates.len() < FEW || rayon::current_num_threads() == 1 {
            candidates.iter_mut().for_each(look);
        } else {
            candidates.par_iter_mut().with_min_len(FEW / 2).for_each(look);
        }
        if model.touch.desc.response == Response::Projection {
            self.keep_deepest(model);
        }
    }

    /// Of several points in a cell only the deepest is answered; they would ask for different things.
    fn keep_deepest(&mut self, model: &Model) {
        self.deepest.clear();
        self.deepest.resize(model.touch.cell_count, u32::MAX);
        let depth = |c: &Candidate| c.touch.map_or(0.0, |touch| touch.depth);
        for i in 0..self.candidates.len() {
            let c = self.candidates[i];
            if c.owner.is_none() && c.touch.is_some() {
                let best = &mut self.deepest[model.touch.cell[c.point as usize] as usize];
                if *best == u32::MAX || depth(&c) > depth(&self.candidates[*best as usize]) {
                    *best = i as u32;
                }
            }
        }
        for (i, c) in self.candidates.iter_mut().enumerate() {
            if c.owner.is_none() && self.deepest[model.touch.cell[c.point as usize] as usize] != i as u32 {
                c.touch = None;
            }
        }
    }

    /// The law of a candidate, before free obstacles give.
    fn law(model: &Model, c: &Candidate, h: f64) -> Penalty {
        let obstacle = &model.obstacles[c.obstacle as usize];
        let Some(owner) = c.owner else {
            let share = if obstacle.solid.is_some() { SHARED } else { 1.0 };
            return model.touch.law(c.point as usize, obstacle.friction, share * obstacle.stiffness, h);
        };
        let owner = &model.obstacles[owner as usize];
        let (mass, step) = (owner.solid.map_or(0.0, |solid| solid.mass), model.touch.step);
        let factor = model.touch.desc.stiffness * obstacle.stiffness;
        let law = Response::Penalty.law(mass, step, obstacle.friction.min(owner.friction), owner.reach);
        let damping = SAMPLE_DAMPING * factor.sqrt() * mass / step;
        Penalty { stiffness: factor * law.stiffness, damping, ..law }
    }

    /// How much softer touching must be than asked for where a free obstacle is light:
    ///
    /// ```text
    /// λ ≤ Σᵢ kᵢ (1/m + rᵢ²/I)  over all that touches it, I its smallest inertia
    /// ```
    fn find_give(&mut self, model: &Model, h: f64) {
        self.give.clear();
        self.give.resize(model.obstacles.len(), 0.0);
        if model.obstacles.iter().all(|obstacle| obstacle.solid.is_none()) {
            return;
        }
        for c in self.candidates.iter().filter(|c| c.touch.is_some()) {
            let stiffness = Contacts::law(model, c, h).stiffness;
            let sides = [Some(c.obstacle), c.owner];
            for side in sides.into_iter().flatten().map(|side| side as usize) {
                if let Some(solid) = &model.obstacles[side].solid {
                    let arm = self.x[c.point as usize] - self.motions[side].origin;
                    let least = solid.inertia.diagonal().min().max(f64::MIN_POSITIVE);
                    self.give[side] += stiffness * (1.0 / solid.mass + arm.norm_squared() / least);
                }
            }
        }
        let stable = SHARED * Response::Penalty.strength().0 * model.touch.desc.stiffness
            / (model.touch.step * model.touch.step);
        for give in &mut self.give {
            *give = if *give > stable { stable / *give } else { 1.0 };
        }
    }

    fn answer_touches(&mut self, model: &Model, h: f64, state: &mut State, node_force: &mut [Vec3]) {
        self.wrenches.fill((Vec3::zeros(), Vec3::zeros()));
        let Contacts { candidates, motions, wrenches, give, x, v, .. } = self;
        let mut given = 0.0;
        for c in candidates.iter_mut() {
            let Some(touch) = c.touch else { continue };
            let (point, o) = (c.point as usize, c.obstacle as usize);
            let (motion, x) = (&motions[o], x[point]);
            let normal = motion.world_from_shape.rotation * touch.normal;
            let surface = x + touch.depth * normal;
            let stretch = c.grip.map_or(Vec3::zeros(), |grip| surface - motion.point_in_world(&grip.place));
            let mut law = Contacts::law(model, c, h);
            let sides = [Some(c.obstacle), c.owner].into_iter().flatten().map(|side| side as usize);
            let free = sides.filter(|side| model.obstacles[*side].solid.is_some());
            let give = free.map(|side| give[side]).fold(1.0, f64::min);
            law.stiffness *= give;
            law.damping *= give;
            let obstacle_v = motion.velocity_at(&x);
            let relative = v[point] - obstacle_v;
            let push = law.push(touch.depth, &normal, &relative, &stretch);
            let place = motion.point_in_shape(&(surface - push.stretch));
            c.grip = Some(sinew_contact::Grip { place, side: touch.side });

            match c.owner {
                None => {
                    for (node, weight) in model.touch.row(point) {
                        node_force[node] += weight * push.force;
                    }
                }
                Some(owner) => {
                    add_wrench(&mut wrenches[owner as usize], &motions[owner as usize], &x, &push.force);
                    // springs between obstacles are no part of any energy, so that what they give is supplied
                    given += (h * push.force.dot(&relative)).max(0.0);
                }
            }
            add_wrench(&mut wrenches[o], motion, &x, &-push.force);
            if model.obstacles[o].mobility == Mobility::Led {
                given += h * push.force.dot(&obstacle_v);
            }
            if model.touch.desc.response != Response::Penalty {
                given += push.force.norm() * touch.depth;
            }
        }
        state.supplied_energy += given;
    }
}

fn add_wrench(wrench: &mut (Vec3, Vec3), motion: &RigidMotion, x: &Vec3, force: &Vec3) {
    wrench.0 += force;
    wrench.1 += (x - motion.origin).cross(force);
}

/// Where a led obstacle is after a share of the step.
fn led_pose(obstacle: &Obstacle, control: &Control, i: usize, share: f64) -> Isometry {
    let start = &obstacle.start.pose;
    let path = control.obstacles.get(i).copied().unwrap_or_default();
    path.pose(share, &start.translation.vector) * start
}

/// Where a moving obstacle was a sub-step before.
fn back(motion: &RigidMotion, h: f64) -> Isometry {
    if motion.linear == Vec3::zeros() && motion.angular == Vec3::zeros() {
        return motion.world_from_shape;
    }
    let turned = turn::exp(&(-h * motion.angular));
    let from_origin = motion.world_from_shape.translation.vector - motion.origin;
    let place = motion.origin - h * motion.linear + turned * from_origin;
    Isometry::from_parts(place.into(), turned * motion.world_from_shape.rotation)
}

fn farthest(motion: &RigidMotion, points: &[Vec3]) -> f64 {
    points.iter().map(|x| (x - motion.origin).norm_squared()).fold(0.0, f64::max).sqrt()
}
