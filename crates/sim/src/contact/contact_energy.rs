//! Contact and friction in implicit steps, as a lagged convex energy of nodes.
//!
//! Active contacts, their normals and friction limits are updated before each Newton iteration and fixed within it, see `lagged_contact`:
//! each contact is then a convex function of a linear combination of node positions. A contact that was active once in a step stays in the sum with its half-space, even if separated: otherwise it would reappear in
//! every other iteration. Springs are those of explicit steps, so that both have the same equilibria; dampers are omitted, because a step longer than the duration of an impact dissipates more
//! than they do. Dynamic obstacles are unknowns: the material point of one that a contact began at moves with it, and so do samples of its surface, see `rigid_points`.

mod lagged_contact;
mod rigid_points;
mod soft_pairs;

use super::candidates::{Candidate, CandidateSearch, SearchRange};
use super::contacts::kinematic_pose;
use super::sample_law::SampleLaws;
use crate::NodeEnergy;
use crate::desc::Mobility;
use crate::friction_anchor::ObstacleFrictionAnchor;
use crate::friction_anchor::{PairFrictionAnchor, SoftPair};
use crate::substep::Substep;
use crate::{Control, Model, State};
use lagged_contact::LaggedContact;
use rayon::prelude::*;
use rigid_points::{RigidFrames, RigidPoints};
use sinew_contact::{FrictionAnchor, Penalty, RigidMotion, detect_contact};
use sinew_math::nalgebra::Matrix6;
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, Twist, Wrench};
use sinew_math::{Isometry, Mat3, Vec3};
use soft_pairs::{LaggedPairContact, SoftPairs};

/// Workspace of contact in implicit steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactEnergy {
    /// Positions of nodes, surface points and obstacles at the beginning of the step, and expected velocities of surface points.
    node_start: Vec<Vec3>,
    start: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// Predicted node positions at the last detection of pairs (m); empty before.
    expected: Vec<Vec3>,
    from: Vec<RigidMotion>,
    /// Poses of obstacles at the end of the step.
    to: Vec<Isometry>,
    h: f64,
    /// Points that may come into contact with obstacles if nothing moves farther than `within` (m).
    candidates: Vec<Candidate>,
    /// The last contact of each candidate in this step.
    last: Vec<Option<ObstacleContact>>,
    /// Poses and twists of dynamic obstacles, and the laws of their contacts.
    rigid: RigidFrames,
    sample_laws: SampleLaws,
    search: CandidateSearch,
    within: f64,
    pairs: SoftPairs,
    /// Number of pair detections in this step.
    looks: usize,
    /// Active contacts, and the row of each: a range of `nodes` and `weights`.
    active: Vec<ActiveContact>,
    nodes: Vec<u32>,
    weights: Vec<f64>,
    hessians: Vec<Mat3>,
    /// Friction limits at the current iterate (N).
    limits: Vec<f64>,
    /// Whether normals were updated near the minimum.
    is_corrected: bool,
    /// Gradients of the active contacts at the last evaluation (N).
    gradients: Vec<Vec3>,
    energy: f64,
    /// Number of points in contact at the end of the step.
    in_contact: usize,
    /// Whether existing contacts are fixed and only new ones are added.
    is_fixed: bool,
}

/// A contact with its row.
#[derive(Clone, Copy, Debug)]
struct ActiveContact {
    lagged: LaggedContact,
    /// The end of its row; it begins at the end of the previous one.
    row_end: u32,
    /// Point, obstacle and side, for contacts with obstacles.
    held: Option<(u32, u32, Vec3)>,
    /// Points of dynamic obstacles that the gap depends on.
    rigid: RigidPoints,
}

/// The contact of a candidate: its energy, the side it entered, and the points of dynamic obstacles.
#[derive(Clone, Copy, Debug)]
struct ObstacleContact {
    lagged: LaggedContact,
    side: Vec3,
    rigid: RigidPoints,
}

/// The contact energy in an implicit step of a model.
#[derive(Debug)]
pub(crate) struct ContactNodes<'a> {
    model: &'a Model,
    own: &'a mut ContactEnergy,
    state: &'a State,
}

/// Normals and friction limits are updated in this many first iterations of a step.
const MAX_TURNS: usize = 4;
/// Friction limits count as unchanged if they change by less than this fraction of their sum: half of the error of friction that is allowed.
const SAME_LIMITS: f64 = 0.01;
/// Maximum number of pair detections in a step.
const MAX_LOOKS: usize = 3;

impl ContactEnergy {
    /// Prepares for a sub-step.
    pub(crate) fn begin(
        &mut self,
        model: &Model,
        control: &Control,
        Substep { from, to, h, .. }: Substep,
        state: &State,
    ) {
        // positions at the beginning
        self.h = h;
        self.node_start.clone_from(&state.node_x);
        self.start.resize(model.contact_surface().count(), Vec3::zeros());
        let place = |(i, x): (usize, &mut Vec3)| *x = model.contact_surface().at(i, &state.node_x);
        self.start.par_iter_mut().with_min_len(2048).enumerate().for_each(place);

        // motion of obstacles
        self.from.clear();
        self.to.clear();
        for (i, obstacle) in model.obstacles().iter().enumerate() {
            let whole = |fraction| match obstacle.mobility {
                Mobility::Kinematic => kinematic_pose(obstacle, control, i, fraction),
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

        // samples of dynamic obstacles follow the surface points
        self.rigid.begin(model, state);
        for (obstacle, motion) in model.obstacles().iter().zip(&self.from) {
            self.start.extend(obstacle.samples.iter().map(|sample| motion.point_in_world(sample)));
        }

        // no contacts yet
        self.pairs.bind(model);
        self.expected.clear();
        self.looks = 0;
        self.is_corrected = false;
        self.within = f64::NEG_INFINITY;
        self.candidates.clear();
        self.active.clear();
        self.nodes.clear();
        self.weights.clear();
        self.energy = 0.0;
    }

    /// The contact energy for the solver, in a step that begins at a state.
    pub(crate) fn on<'a>(&'a mut self, model: &'a Model, state: &'a State) -> ContactNodes<'a> {
        ContactNodes { model, own: self, state }
    }

    /// The contact energy at the last evaluation (J).
    pub(crate) fn energy(&self) -> f64 {
        self.energy
    }

    /// Number of points that were in contact in any iteration of the step.
    pub(crate) fn met(&self) -> usize {
        self.active.len()
    }

    /// Number of points in contact at the end of the step.
    pub(crate) fn in_contact(&self) -> usize {
        self.in_contact
    }

    /// Moves obstacles to the end of the step and writes friction anchors, with nodes at the end of the step.
    pub(crate) fn finish(&mut self, model: &Model, state: &mut State) {
        self.in_contact = 0;
        state.anchors.clear();
        state.pair_anchors.clear();
        let rough = self.pairs.pressed().filter(|pressed| pressed.lagged.friction > 0.0);
        let held = rough.filter_map(|pressed| anchor_after(model, pressed, &state.node_x));
        state.pair_anchors.extend(held);
        for (i, (own, to)) in state.obstacles.iter_mut().zip(&mut self.to).enumerate() {
            match model.solid(i) {
                Some(_) => *to = own.pose,
                None => own.pose = *to,
            }
        }
        self.rigid.begin(model, state);
        for i in 0..self.active.len() {
            let active = self.active[i];
            let gap = self.gap(i, &state.node_x);
            if !active.lagged.is_touching(&gap) {
                continue;
            }
            self.in_contact += 1;
            let Some((point, obstacle, side)) = active.held else { continue };
            let gap_origin = self.rigid.origin(&active.rigid);
            let place = gap_origin + active.lagged.surface(&gap) - active.lagged.kept_stretch(&gap);
            let place = in_shape(&self.to[obstacle as usize], &place);
            state.anchors.push(ObstacleFrictionAnchor {
                point,
                obstacle,
                anchor: FrictionAnchor { place, side },
            });
        }
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let start = if i == 0 { 0 } else { self.active[i - 1].row_end as usize };
        let range = start..self.active[i].row_end as usize;
        self.nodes[range.clone()].iter().map(|node| *node as usize).zip(self.weights[range].iter().copied())
    }

    fn gap(&self, i: usize, node_x: &[Vec3]) -> Vec3 {
        let nodes = self.row(i).fold(Vec3::zeros(), |sum, (node, weight)| sum + weight * node_x[node]);
        self.rigid.add_to_gap(&self.active[i].rigid, nodes)
    }

    /// The change of a gap for displacements of nodes and dynamic obstacles (m).
    fn motion(&self, i: usize, u: &[Row]) -> Vec3 {
        let mut moved = [0.0f32; 3];
        for (node, weight) in self.row(i) {
            (0..3).for_each(|k| moved[k] += weight as f32 * u[node][k]);
        }
        let moved = Vec3::new(moved[0].into(), moved[1].into(), moved[2].into());
        self.rigid.add_to_motion(&self.active[i].rigid, moved)
    }

    /// Detects candidates for nodes at predicted positions (m) unless earlier ones still cover them; returns whether it did.
    fn detect(&mut self, model: &Model, state: &State, node_x: &[Vec3]) -> bool {
        let apart = |(a, b): (&Vec3, &Vec3)| (a - b).norm_squared();
        let farthest = |from: &[Vec3]| {
            model.contact_surface().stretch * from.iter().zip(node_x).map(apart).fold(0.0, f64::max).sqrt()
        };
        let mut is_new = false;

        // candidates near obstacles, keeping their last contacts
        if !model.obstacles().is_empty() {
            let moved = farthest(&self.node_start) + self.obstacles_move(model);
            if moved > self.within {
                is_new = true;
                self.within = 1.5 * moved + model.contact_surface().spacing;
                let key = |c: &Candidate| (c.point, c.obstacle);
                let known = self.candidates.iter().map(key).zip(core::mem::take(&mut self.last));
                let known: Vec<_> = known.filter(|(_, last)| last.is_some()).collect();
                let ContactEnergy { search, from, start, node_start, within, candidates, .. } = self;
                let range = SearchRange { margin: *within, moved: f64::INFINITY };
                search.find(model, from, (start, range), (state, node_start), candidates);
                self.last.resize(self.candidates.len(), None);
                for (key_of_last, last) in known {
                    if let Ok(i) = self.candidates.binary_search_by_key(&key_of_last, key) {
                        self.last[i] = last;
                    }
                }
            }
        }

        // pairs of surfaces
        let strays = || self.pairs.is_stale(model, &self.expected, node_x);
        if !self.pairs.is_idle() && (self.looks == 0 || self.looks < MAX_LOOKS && strays()) {
            self.looks += 1;
            self.expected.clear();
            self.expected.extend_from_slice(node_x);
            let flesh = model.contact_surface().count();
            self.velocities.resize(flesh, Vec3::zeros());
            let (start, h) = (&self.start, self.h);
            let find =
                |(i, v): (usize, &mut Vec3)| *v = (model.contact_surface().at(i, node_x) - start[i]) / h;
            self.velocities.par_iter_mut().with_min_len(1024).enumerate().for_each(find);
            self.pairs.detect(model, (&self.start[..flesh], &self.velocities), h);
            is_new = true;
        }
        is_new
    }

    /// Upper bound of the displacement of any obstacle point in the step (m).
    fn obstacles_move(&self, model: &Model) -> f64 {
        let mut most = 0.0f64;
        for ((obstacle, from), to) in model.obstacles().iter().zip(&self.from).zip(&self.to) {
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

    /// Finds the contacts with obstacles for nodes at the given positions (m).
    fn detect_obstacles(&mut self, model: &Model, anchors: &[ObstacleFrictionAnchor], node_x: &[Vec3]) {
        let ContactEnergy { candidates, start, from, to, .. } = self;

        // contact test of each candidate
        let look = |c: &mut Candidate| {
            let (point, o) = (c.point as usize, c.obstacle as usize);
            let held =
                anchors.binary_search_by_key(&(c.point, c.obstacle), |held| (held.point, held.obstacle));
            c.anchor = held.ok().map(|i| anchors[i].anchor);
            c.x = match c.owner {
                None => model.contact_surface().at(point, node_x),
                Some(owner) => sample_at(model, to, owner as usize, point),
            };
            let shape = &model.obstacles()[o].shape;
            let p = in_shape(&to[o], &c.x);
            // a sheet meets the obstacle with its side
            let inset = model.contact_surface().inset(point, shape, &p);
            let (p, came_from) = (p - inset, from[o].point_in_shape(&start[point]) - inset);
            c.contact = detect_contact(shape, &p, &came_from, c.anchor.as_ref());
            if let (Some(contact), None) = (&c.contact, c.anchor) {
                // a new friction anchor is at the estimated point of impact, if the initial distance is known
                let above = shape.probe(&came_from).distance.max(0.0);
                let free = if above.is_finite() { above / (above + contact.depth) } else { 1.0 };
                let place = came_from + (p - came_from) * free;
                c.anchor = Some(FrictionAnchor { place, side: contact.side });
            }
        };
        candidates.par_iter_mut().with_min_len(512).for_each(look);

        // stiffness of dynamic obstacles
        let ContactEnergy { candidates, rigid, sample_laws, .. } = self;
        let in_contact = || candidates.iter().filter(|c| c.contact.is_some());
        sample_laws.count(model, in_contact());
        let stiffness = |laws: &SampleLaws, c: &Candidate| match c.owner {
            Some(owner) => laws.of_sample(model, owner, c.obstacle).stiffness,
            None => spring_on_flesh(model, c).stiffness,
        };
        sample_laws.soften(model, |side| rigid.center(model, side), in_contact(), stiffness);

        // lagged contacts in order of candidates
        for i in 0..self.candidates.len() {
            let c = self.candidates[i];
            let (point, o) = (c.point as usize, c.obstacle as usize);
            if self.is_fixed && self.last[i].is_some() {
                // unchanged
            } else if let (Some(contact), Some(anchor)) = (c.contact, c.anchor) {
                let pose = &self.to[o];
                let normal = pose.rotation * contact.normal;
                let hold = pose.rotation * anchor.place + pose.translation.vector;
                let law = self.law(model, &c);
                let rigid = self.rigid.points(model, &c);
                let gap = c.x - self.rigid.origin(&rigid);
                let lagged = LaggedContact::new(&law, normal, gap, contact.depth, &(c.x - hold));
                self.last[i] = Some(ObstacleContact { lagged, side: contact.side, rigid });
            } else if let Some(last) = &mut self.last[i] {
                last.lagged.max_friction = 0.0;
            }
            if let Some(ObstacleContact { lagged, side, rigid }) = self.last[i] {
                if c.owner.is_none() {
                    self.add_row(model, point, 1.0);
                }
                self.add(lagged, Some((c.point, c.obstacle, side)), rigid);
            }
        }
    }

    /// Updates the friction limits of all contacts to their normal forces with nodes at the given positions (m), while normals stay; returns whether that changed anything.
    ///
    /// Without this, limits are those of the last iteration that updated normals, far from equilibrium: where a box slides over a soft slab by a good part of the vertex spacing per step, vertices take over load from each
    /// other in the remaining iterations, and friction was half as large again as it should be at steps of 1/60 s. With it, and with normals updated once more near the minimum, it is right to a thousandth.
    fn update_limits(&mut self, node_x: &[Vec3]) -> bool {
        self.limits.clear();
        let (mut changed, mut sum) = (0.0, 0.0);
        for i in 0..self.active.len() {
            let (lagged, gap) = (&self.active[i].lagged, self.gap(i, node_x));
            let next = lagged.limit_at(&gap);
            if next != lagged.max_friction {
                changed += (next - lagged.max_friction).abs();
            }
            sum += if next.is_finite() { next } else { 0.0 };
            self.limits.push(next);
        }
        let is_new = changed > SAME_LIMITS * sum;
        if is_new {
            self.active.iter_mut().zip(&self.limits).for_each(|(own, next)| own.lagged.max_friction = *next);
            self.keep_limits();
        }
        is_new
    }

    /// Copies the friction limits of active contacts, which are in the order of candidates and of vertices, to where the next update takes them from.
    fn keep_limits(&mut self) {
        let on_obstacles = self.last.iter_mut().flatten().map(|last| &mut last.lagged);
        let last = on_obstacles.chain(self.pairs.pressed_mut().map(|pressed| &mut pressed.lagged));
        last.zip(&self.active).for_each(|(last, active)| last.max_friction = active.lagged.max_friction);
    }

    /// The spring of a candidate in contact.
    fn law(&self, model: &Model, c: &Candidate) -> Penalty {
        let mut law = match c.owner {
            None => spring_on_flesh(model, c),
            Some(owner) => self.sample_laws.of_sample(model, owner, c.obstacle),
        };
        law.stiffness *= self.sample_laws.give(model, c);
        law
    }

    /// Finds the contacts between surfaces for nodes at the given positions (m).
    fn detect_pairs(&mut self, model: &Model, anchors: &[PairFrictionAnchor], node_x: &[Vec3]) {
        let mut pairs = core::mem::take(&mut self.pairs);
        let start = core::mem::take(&mut self.start);
        pairs.find(model, &start[..model.contact_surface().count()], node_x);
        for i in 0..pairs.groups.len() {
            // new contacts, with the tangential stretch of their friction anchor
            let group = &pairs.groups[i];
            let found = group.contact.filter(|_| !(self.is_fixed && group.last.is_some()));
            if let Some(contact) = found {
                let at = |point: u32| model.contact_surface().at(point as usize, node_x);
                let anchor = anchor_of(anchors, contact.pair);
                let gap = contact.gap(at);
                let stretch = anchor.and_then(|anchor| contact.stretch(&pairs.finder, &anchor, at));
                let stretch = stretch.unwrap_or_else(|| {
                    // the anchor is at the estimated point of impact
                    let then = |point: u32| model.contact_surface().at(point as usize, &self.node_start);
                    let moved = gap - contact.gap(then);
                    let depth_then = contact.depth + moved.dot(&contact.normal);
                    let free = (-depth_then).max(0.0) / (contact.depth - depth_then.min(0.0));
                    (1.0 - free) * moved
                });
                let law = model.contact_surface().pair_spring(&contact.points, &contact.weights);
                let lagged = LaggedContact::new(&law, contact.normal, gap, contact.depth, &stretch);
                pairs.groups[i].last = Some(LaggedPairContact { contact, lagged, anchor });
            } else if !self.is_fixed
                && let Some(last) = &mut pairs.groups[i].last
            {
                last.lagged.max_friction = 0.0;
            }

            // rows in order of vertices
            if let Some(LaggedPairContact { contact, lagged, .. }) = &pairs.groups[i].last {
                let points = contact.points.into_iter().zip(contact.weights);
                points.for_each(|(point, weight)| self.add_row(model, point as usize, weight));
                self.add(*lagged, None, RigidPoints::default());
            }
        }
        self.pairs = pairs;
        self.start = start;
    }

    fn add_row(&mut self, model: &Model, point: usize, factor: f64) {
        for (node, weight) in model.contact_surface().row(point) {
            self.nodes.push(node as u32);
            self.weights.push(factor * weight);
        }
    }

    fn add(&mut self, lagged: LaggedContact, held: Option<(u32, u32, Vec3)>, rigid: RigidPoints) {
        self.active.push(ActiveContact { lagged, row_end: self.nodes.len() as u32, held, rigid });
    }
}

impl NodeEnergy for ContactNodes<'_> {
    fn refresh(&mut self, x: &[Vec3], round: usize) -> bool {
        let ContactNodes { model, own, state } = self;
        let is_new = own.detect(model, state, x);
        own.is_fixed = round >= MAX_TURNS;
        let before = own.active.len();
        own.active.clear();
        own.nodes.clear();
        own.weights.clear();
        own.detect_obstacles(model, &state.anchors, x);
        if !own.pairs.is_idle() {
            own.detect_pairs(model, &state.pair_anchors, x);
        }
        let is_more = own.active.len() > before;
        is_more || before > 0 && (is_new || !own.is_fixed)
    }

    fn correct(&mut self, x: &[Vec3]) -> bool {
        let is_new = self.own.update_limits(x);
        if is_new && !self.own.is_corrected {
            // normals, too, are those of iterates far from the minimum; a second time, steps would no longer converge
            self.own.is_corrected = true;
            self.refresh(x, 0);
        }
        is_new
    }

    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let own = &mut *self.own;
        let mut sum = 0.0;
        own.gradients.clear();
        for i in 0..own.active.len() {
            let (energy, gap_gradient) = own.active[i].lagged.evaluate(&own.gap(i, x));
            sum += energy;
            own.gradients.push(gap_gradient);
            own.row(i).for_each(|(node, weight)| gradient[node] += weight * gap_gradient);
        }
        own.energy = sum;
        sum
    }

    fn update(&mut self, x: &[Vec3]) {
        let own = &mut *self.own;
        let mut hessians = core::mem::take(&mut own.hessians);
        hessians.clear();
        hessians.extend((0..own.active.len()).map(|i| own.active[i].lagged.hessian(&own.gap(i, x))));
        own.hessians = hessians;
    }

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        for (i, hessian) in self.own.hessians.iter().enumerate() {
            let pull = hessian * self.own.motion(i, u);
            let pull = [pull.x as f32, pull.y as f32, pull.z as f32];
            for (node, weight) in self.own.row(i) {
                (0..3).for_each(|k| out[node][k] += weight as f32 * pull[k]);
            }
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        for (i, hessian) in self.own.hessians.iter().enumerate() {
            self.own.row(i).for_each(|(node, weight)| blocks[node] += hessian * (weight * weight));
        }
    }

    fn see_bones(&mut self, frames: &[Frame]) {
        self.own.rigid.see(self.model, frames, &mut self.own.to);
    }

    fn add_bone_gradients(&self, wrenches: &mut [Wrench]) {
        let own = &*self.own;
        for (active, gradient) in own.active.iter().zip(&own.gradients) {
            own.rigid.add_wrenches(&active.rigid, gradient, wrenches);
        }
    }

    fn move_bones(&mut self, twists: &[Twist]) {
        self.own.rigid.move_by(twists);
    }

    fn add_bone_products(&self, u: &[Row], wrenches: &mut [Wrench]) {
        let own = &*self.own;
        for (i, hessian) in own.hessians.iter().enumerate() {
            if own.active[i].rigid.any() {
                own.rigid.add_wrenches(&own.active[i].rigid, &(hessian * own.motion(i, u)), wrenches);
            }
        }
    }

    fn add_bone_blocks(&self, blocks: &mut [Matrix6<f64>]) {
        let own = &*self.own;
        for (active, hessian) in own.active.iter().zip(&own.hessians) {
            own.rigid.add_blocks(&active.rigid, hessian, blocks);
        }
    }
}

/// The spring of a vertex on an obstacle, before the stiffness of light dynamic obstacles is reduced.
fn spring_on_flesh(model: &Model, c: &Candidate) -> Penalty {
    let material = model.contact_surface().materials.of_point_on_obstacle(c.point, c.obstacle);
    let factor = SampleLaws::fraction(model, c.obstacle) * material.stiffness;
    model.contact_surface().spring(c.point as usize, material.friction, factor)
}

/// The position of a sample of an obstacle (m), given the poses of all.
fn sample_at(model: &Model, poses: &[Isometry], owner: usize, point: usize) -> Vec3 {
    let obstacle = &model.obstacles()[owner];
    let sample = &obstacle.samples[point - obstacle.first_sample as usize];
    poses[owner].rotation * sample + poses[owner].translation.vector
}

/// The friction anchor of two primitives in a sorted list; that of a vertex may be on any triangle.
fn anchor_of(anchors: &[PairFrictionAnchor], pair: SoftPair) -> Option<PairFrictionAnchor> {
    let is_before = |anchor: &PairFrictionAnchor| match (anchor.pair, pair) {
        (SoftPair::VertexTriangle { vertex, .. }, SoftPair::VertexTriangle { vertex: own, .. }) => {
            vertex < own
        }
        (held, own) => held < own,
    };
    let found = anchors.get(anchors.partition_point(is_before))?;
    let is_own = match (found.pair, pair) {
        (SoftPair::VertexTriangle { vertex, .. }, SoftPair::VertexTriangle { vertex: own, .. }) => {
            vertex == own
        }
        (held, own) => held == own,
    };
    is_own.then_some(*found)
}

/// The friction anchor of two primitives at the end of a step with nodes at the given positions (m), if they are still in contact: unchanged unless it has slipped.
fn anchor_after(model: &Model, pressed: &LaggedPairContact, node_x: &[Vec3]) -> Option<PairFrictionAnchor> {
    let LaggedPairContact { contact, lagged, anchor } = pressed;
    let at = |point: u32| model.contact_surface().at(point as usize, node_x);
    let gap = contact.gap(at);
    if !lagged.is_touching(&gap) {
        return None;
    }
    let held = anchor.filter(|_| !lagged.slips(&gap));
    // the points have moved since the last contact test
    let moved = gap - gap.dot(&lagged.normal) * lagged.normal;
    let stretch = lagged.kept_stretch(&gap) - moved;
    Some(held.unwrap_or_else(|| contact.hold(at, &stretch)))
}

fn in_shape(world_from_shape: &Isometry, x: &Vec3) -> Vec3 {
    world_from_shape.rotation.inverse_transform_vector(&(x - world_from_shape.translation.vector))
}
