//! What touches in an implicit step, as an energy of nodes.
//!
//! Who touches whom, along which normals and how hard friction may pull is looked at anew before each iteration of Newton's method and stays as it is within one, see `press`:
//! each touch is then a convex function of one row of node positions. What has touched once in a step stays in the sum, as a wall that is not reached: else it would come back in
//! every other iteration. Springs are those of explicit steps, so that both lead to the same rest; dampers are left out, since a step longer than a touch lasts takes more out of
//! it than they do. Obstacles are fixed or led: free ones have no place in the system.

mod press;
mod soft_pairs;

use super::candidates::{Candidate, CandidateSearch};
use super::contacts::led_pose;
use super::desc::Mobility;
use super::obstacle::{HeldGrip, Obstacle};
use super::pair_grip::PairGrip;
use super::pair_touch::PairTouch;
use crate::implicit::NodeEnergy;
use crate::{Control, Model, State};
use press::Press;
use rayon::prelude::*;
use sinew_contact::{Grip, RigidMotion, feel};
use sinew_math::sparse::Row;
use sinew_math::{Isometry, Mat3, Vec3};
use soft_pairs::{SoftPairs, SoftPress};

/// Scratch of touching in implicit steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pressing {
    /// Where nodes, points of the surfaces and obstacles were as the step began, and how fast points are expected to go.
    node_start: Vec<Vec3>,
    start: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// Where nodes were expected when pairs were looked for (m); empty before.
    expected: Vec<Vec3>,
    from: Vec<RigidMotion>,
    /// Where obstacles are as it ends.
    to: Vec<Isometry>,
    h: f64,
    /// Points that may touch obstacles if nothing moves farther than `within` (m).
    candidates: Vec<Candidate>,
    /// The touch that each had when last it had one in this step.
    last: Vec<Option<(Press, Vec3)>>,
    search: CandidateSearch,
    within: f64,
    pairs: SoftPairs,
    /// How often pairs were looked for in this step.
    looks: usize,
    /// What touches, and the row of each: a range of `nodes` and `weights`.
    touches: Vec<Touching>,
    nodes: Vec<u32>,
    weights: Vec<f64>,
    curvatures: Vec<Mat3>,
    energy: f64,
    /// How many points touch something as the step ends.
    touching: usize,
    /// Touches stay as they are, and only new ones are added.
    is_fixed: bool,
}

/// One touch with its row.
#[derive(Clone, Copy, Debug)]
struct Touching {
    press: Press,
    /// The end of its row; it begins where that of the touch before ends.
    row_end: u32,
    /// Point, obstacle and side of those with obstacles.
    held: Option<(u32, u32, Vec3)>,
}

/// The energy of what touches, in an implicit step of a model.
#[derive(Debug)]
pub(crate) struct PressedNodes<'a> {
    model: &'a Model,
    own: &'a mut Pressing,
    state: &'a State,
}

/// Normals and pressures follow the first iterations of a step.
const MOST_TURNS: usize = 4;
/// Pairs are looked for at most so often in a step.
const MOST_LOOKS: usize = 3;

impl Pressing {
    /// Makes ready for a sub-step of `h` (s) between shares of a step.
    pub(crate) fn begin(
        &mut self,
        model: &Model,
        control: &Control,
        ([from, to], h): ([f64; 2], f64),
        state: &State,
    ) {
        self.h = h;
        self.node_start.clone_from(&state.node_x);
        self.start.resize(model.touch.count(), Vec3::zeros());
        let place = |(i, x): (usize, &mut Vec3)| *x = model.touch.at(i, &state.node_x);
        self.start.par_iter_mut().with_min_len(2048).enumerate().for_each(place);
        self.from.clear();
        self.to.clear();
        for (i, obstacle) in model.obstacles.iter().enumerate() {
            let whole = |share| match obstacle.mobility {
                Mobility::Led => led_pose(obstacle, control, i, share),
                _ => state.obstacles[i].pose,
            };
            let [start, end] = match obstacle.mobility {
                Mobility::PartOf(carrier) => [self.from[carrier].world_from_shape, self.to[carrier]]
                    .map(|whole| whole * obstacle.carrier_from_shape),
                _ => [from, to].map(whole),
            };
            self.from.push(RigidMotion::still(start));
            self.to.push(end);
        }
        self.pairs.attend(model);
        self.expected.clear();
        self.looks = 0;
        self.within = f64::NEG_INFINITY;
        self.candidates.clear();
        self.touches.clear();
        self.nodes.clear();
        self.weights.clear();
        self.energy = 0.0;
    }

    /// The energy of what touches, for the solver, in a step that begins at a state.
    pub(crate) fn on<'a>(&'a mut self, model: &'a Model, state: &'a State) -> PressedNodes<'a> {
        PressedNodes { model, own: self, state }
    }

    /// What touches holds (J), as evaluated last.
    pub(crate) fn energy(&self) -> f64 {
        self.energy
    }

    /// How many points have touched something on the way to where the step ends.
    pub(crate) fn met(&self) -> usize {
        self.touches.len()
    }

    /// How many points touch something as the step ends.
    pub(crate) fn touching(&self) -> usize {
        self.touching
    }

    /// Moves obstacles to the end of the step, and writes what touching points remember, with nodes where the step has taken them.
    pub(crate) fn finish(&mut self, model: &Model, state: &mut State) {
        self.touching = 0;
        state.grips.clear();
        state.pair_grips.clear();
        if model.touch.desc.friction > 0.0 {
            let held = self.pairs.pressed().filter_map(|pressed| grip_after(model, pressed, &state.node_x));
            state.pair_grips.extend(held);
        }
        state.obstacles.iter_mut().zip(&self.to).for_each(|(own, to)| own.pose = *to);
        for i in 0..self.touches.len() {
            let touching = self.touches[i];
            let gap = self.gap(i, &state.node_x);
            if !touching.press.touches(&gap) {
                continue;
            }
            self.touching += 1;
            let Some((point, obstacle, side)) = touching.held else { continue };
            let place = touching.press.surface(&gap) - touching.press.kept_stretch(&gap);
            let place = in_shape(&self.to[obstacle as usize], &place);
            state.grips.push(HeldGrip { point, obstacle, grip: Grip { place, side } });
        }
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let start = if i == 0 { 0 } else { self.touches[i - 1].row_end as usize };
        let range = start..self.touches[i].row_end as usize;
        self.nodes[range.clone()].iter().map(|node| *node as usize).zip(self.weights[range].iter().copied())
    }

    fn gap(&self, i: usize, node_x: &[Vec3]) -> Vec3 {
        self.row(i).fold(Vec3::zeros(), |sum, (node, weight)| sum + weight * node_x[node])
    }

    /// Looks for what may touch with nodes about to go to places (m), if that was not looked for yet; whether it did.
    fn detect(&mut self, model: &Model, state: &State, node_x: &[Vec3]) -> bool {
        let apart = |(a, b): (&Vec3, &Vec3)| (a - b).norm_squared();
        let farthest = |from: &[Vec3]| {
            model.touch.stretch * from.iter().zip(node_x).map(apart).fold(0.0, f64::max).sqrt()
        };
        let mut is_new = false;
        if !model.obstacles.is_empty() {
            let moved = farthest(&self.node_start) + self.obstacles_move(model);
            if moved > self.within {
                is_new = true;
                self.within = 1.5 * moved + model.touch.spacing;
                let key = |c: &Candidate| (c.point, c.obstacle);
                let known = self.candidates.iter().map(key).zip(core::mem::take(&mut self.last));
                let known: Vec<_> = known.filter(|(_, last)| last.is_some()).collect();
                let Pressing { search, from, start, within, candidates, .. } = self;
                search.find(model, from, (start, *within), state, candidates);
                self.last.resize(self.candidates.len(), None);
                for (key_of_last, last) in known {
                    if let Ok(i) = self.candidates.binary_search_by_key(&key_of_last, key) {
                        self.last[i] = last;
                    }
                }
            }
        }
        let strays = || farthest(&self.expected) > SoftPairs::most_stray(model);
        if !self.pairs.is_idle() && (self.looks == 0 || self.looks < MOST_LOOKS && strays()) {
            self.looks += 1;
            self.expected.clear();
            self.expected.extend_from_slice(node_x);
            self.velocities.resize(self.start.len(), Vec3::zeros());
            let (start, h) = (&self.start, self.h);
            let find = |(i, v): (usize, &mut Vec3)| *v = (model.touch.at(i, node_x) - start[i]) / h;
            self.velocities.par_iter_mut().with_min_len(1024).enumerate().for_each(find);
            self.pairs.detect(model, &self.start, &self.velocities, h);
            is_new = true;
        }
        is_new
    }

    /// How far any point of an obstacle moves in the step at most (m).
    fn obstacles_move(&self, model: &Model) -> f64 {
        let mut most = 0.0f64;
        for ((obstacle, from), to) in model.obstacles.iter().zip(&self.from).zip(&self.to) {
            let from = from.world_from_shape;
            if from != *to {
                let turned = (to.rotation * from.rotation.inverse()).angle();
                let arm = obstacle.reach + obstacle.shape.bounds().center().norm();
                let shifted = (to.translation.vector - from.translation.vector).norm();
                most = most.max(shifted + if turned > 0.0 { turned * arm } else { 0.0 });
            }
        }
        most
    }

    /// Takes what touches obstacles with nodes at places (m).
    fn press_obstacles(&mut self, model: &Model, grips: &[HeldGrip], node_x: &[Vec3]) {
        let Pressing { candidates, start, from, to, .. } = self;
        let look = |c: &mut Candidate| {
            let (point, o) = (c.point as usize, c.obstacle as usize);
            let held = grips.binary_search_by_key(&(c.point, c.obstacle), |held| (held.point, held.obstacle));
            c.grip = held.ok().map(|i| grips[i].grip);
            c.x = model.touch.at(point, node_x);
            let p = in_shape(&to[o], &c.x);
            let came_from = from[o].point_in_shape(&start[point]);
            let shape = &model.obstacles[o].shape;
            c.touch = feel(shape, &p, &came_from, c.grip.as_ref());
            if let (Some(touch), None) = (&c.touch, c.grip) {
                // friction holds it where it came in, if it is known how far away it was
                let above = shape.probe(&came_from).distance.max(0.0);
                let free = if above.is_finite() { above / (above + touch.depth) } else { 1.0 };
                let place = came_from + (p - came_from) * free;
                c.grip = Some(Grip { place, side: touch.side });
            }
        };
        candidates.par_iter_mut().with_min_len(512).for_each(look);
        for i in 0..self.candidates.len() {
            let c = self.candidates[i];
            let (point, o) = (c.point as usize, c.obstacle as usize);
            if self.is_fixed && self.last[i].is_some() {
                // as it is
            } else if let (Some(touch), Some(grip)) = (c.touch, c.grip) {
                let Obstacle { friction, stiffness, .. } = model.obstacles[o];
                let pose = &self.to[o];
                let normal = pose.rotation * touch.normal;
                let hold = pose.rotation * grip.place + pose.translation.vector;
                let law = model.touch.spring(point, friction, stiffness);
                let press = Press::new(&law, normal, c.x, touch.depth, &(c.x - hold));
                self.last[i] = Some((press, touch.side));
            } else if let Some((press, _)) = &mut self.last[i] {
                press.most_grip = 0.0;
            }
            if let Some((press, side)) = self.last[i] {
                self.add_row(model, point, 1.0);
                self.add(press, Some((c.point, c.obstacle, side)));
            }
        }
    }

    /// Takes what surfaces touch of each other with nodes at places (m).
    fn press_pairs(&mut self, model: &Model, grips: &[PairGrip], node_x: &[Vec3]) {
        let mut pairs = core::mem::take(&mut self.pairs);
        let start = core::mem::take(&mut self.start);
        let friction = model.touch.desc.friction;
        pairs.find(model, &start, node_x);
        for i in 0..pairs.groups.len() {
            let group = &pairs.groups[i];
            let found = group.touch.filter(|_| !(self.is_fixed && group.last.is_some()));
            if let Some(touch) = found {
                let (there, held) = (corners_at(model, &touch.corners, node_x), |triangle: u32| {
                    corners_at(model, &pairs.triangle(triangle), node_x)
                });
                let grip = grips.binary_search_by_key(&touch.vertex, |grip| grip.vertex);
                let grip = grip.ok().map(|i| grips[i]);
                let gap = gap_of(model, &touch, node_x);
                let stretch = grip.and_then(|grip| touch.stretch(&there, &grip, &held(grip.triangle)));
                let stretch = stretch.unwrap_or_else(|| {
                    // held where it came in: so far of the way it was free
                    let moved = gap - gap_of(model, &touch, &self.node_start);
                    let depth_then = touch.depth + moved.dot(&touch.normal);
                    let free = (-depth_then).max(0.0) / (touch.depth - depth_then.min(0.0));
                    (1.0 - free) * moved
                });
                let law = model.touch.spring(touch.vertex as usize, friction, 1.0);
                let press = Press::new(&law, touch.normal, gap, touch.depth, &stretch);
                pairs.groups[i].last = Some(SoftPress { touch, press, grip });
            } else if !self.is_fixed
                && let Some(last) = &mut pairs.groups[i].last
            {
                last.press.most_grip = 0.0;
            }
            if let Some(SoftPress { touch, press, .. }) = &pairs.groups[i].last {
                self.add_row(model, touch.vertex as usize, 1.0);
                let corners = touch.corners.into_iter().zip(touch.weights);
                corners.for_each(|(corner, weight)| self.add_row(model, corner as usize, -weight));
                self.add(*press, None);
            }
        }
        self.pairs = pairs;
        self.start = start;
    }

    fn add_row(&mut self, model: &Model, point: usize, factor: f64) {
        for (node, weight) in model.touch.row(point) {
            self.nodes.push(node as u32);
            self.weights.push(factor * weight);
        }
    }

    fn add(&mut self, press: Press, held: Option<(u32, u32, Vec3)>) {
        self.touches.push(Touching { press, row_end: self.nodes.len() as u32, held });
    }
}

impl NodeEnergy for PressedNodes<'_> {
    fn refresh(&mut self, x: &[Vec3], round: usize) -> bool {
        let PressedNodes { model, own, state } = self;
        let is_new = own.detect(model, state, x);
        own.is_fixed = round >= MOST_TURNS;
        let before = own.touches.len();
        own.touches.clear();
        own.nodes.clear();
        own.weights.clear();
        own.press_obstacles(model, &state.grips, x);
        if !own.pairs.is_idle() {
            own.press_pairs(model, &state.pair_grips, x);
        }
        let is_more = own.touches.len() > before;
        is_more || before > 0 && (is_new || !own.is_fixed)
    }

    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let own = &mut *self.own;
        let mut sum = 0.0;
        for i in 0..own.touches.len() {
            let (energy, slope) = own.touches[i].press.evaluate(&own.gap(i, x));
            sum += energy;
            own.row(i).for_each(|(node, weight)| gradient[node] += weight * slope);
        }
        own.energy = sum;
        sum
    }

    fn update(&mut self, x: &[Vec3]) {
        let own = &mut *self.own;
        let mut curvatures = core::mem::take(&mut own.curvatures);
        curvatures.clear();
        curvatures.extend((0..own.touches.len()).map(|i| own.touches[i].press.curvature(&own.gap(i, x))));
        own.curvatures = curvatures;
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        for (i, curvature) in self.own.curvatures.iter().enumerate() {
            let mut moved = [0.0f32; 3];
            for (node, weight) in self.own.row(i) {
                (0..3).for_each(|k| moved[k] += weight as f32 * u[node][k]);
            }
            let pull = curvature * Vec3::new(moved[0].into(), moved[1].into(), moved[2].into());
            let pull = [pull.x as f32, pull.y as f32, pull.z as f32];
            for (node, weight) in self.own.row(i) {
                (0..3).for_each(|k| out[node][k] += weight as f32 * pull[k]);
            }
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        for (i, curvature) in self.own.curvatures.iter().enumerate() {
            self.own.row(i).for_each(|(node, weight)| blocks[node] += curvature * (weight * weight));
        }
    }
}

/// Where friction holds a vertex when a step has taken nodes to places (m), if it still touches: where it did, unless that has slipped.
fn grip_after(model: &Model, pressed: &SoftPress, node_x: &[Vec3]) -> Option<PairGrip> {
    let SoftPress { touch, press, grip } = pressed;
    let gap = gap_of(model, touch, node_x);
    if !press.touches(&gap) {
        return None;
    }
    let held = grip.filter(|_| !press.slips(&gap));
    // the vertex has moved on from the point that it touched when last looked at
    let moved = gap - gap.dot(&press.normal) * press.normal;
    let stretch = press.kept_stretch(&gap) - moved;
    Some(held.unwrap_or_else(|| touch.hold(&corners_at(model, &touch.corners, node_x), &stretch)))
}

/// From the point that a vertex touches to the vertex (m).
fn gap_of(model: &Model, touch: &PairTouch, node_x: &[Vec3]) -> Vec3 {
    let there = corners_at(model, &touch.corners, node_x);
    let touched: Vec3 = there.iter().zip(touch.weights).map(|(corner, weight)| weight * corner).sum();
    model.touch.at(touch.vertex as usize, node_x) - touched
}

fn corners_at(model: &Model, corners: &[u32; 3], node_x: &[Vec3]) -> [Vec3; 3] {
    corners.map(|corner| model.touch.at(corner as usize, node_x))
}

fn in_shape(world_from_shape: &Isometry, x: &Vec3) -> Vec3 {
    world_from_shape.rotation.inverse_transform_vector(&(x - world_from_shape.translation.vector))
}
