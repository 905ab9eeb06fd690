//! Contact in explicit steps: narrow phase, penalty forces on nodes and dynamic obstacles, and the motion of obstacles.

use super::candidates::{Candidate, CandidateSearch, SearchRange};
use super::narrow_phase::{NarrowPhase, TestKernel};
use super::pair_forces::PairForces;
use super::sample_law::SampleLaws;
use crate::desc::Mobility;
use crate::friction_anchor::ObstacleFrictionAnchor;
use crate::model::ModelId;
use crate::obstacle::Obstacle;
use crate::substep::Substep;
use crate::{Control, Model, Phase, State};
use sinew_contact::{Penalty, RigidMotion};
use sinew_math::lanes::{Kernel, Lanes, dispatch};
use sinew_math::parallel::for_each_part;
use sinew_math::spatial::Wrench;
use sinew_math::{Isometry, Rotation, Vec3, so3};

/// Workspace of contact.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    candidates: Vec<Candidate>,
    /// For each candidate a lower bound of the relative approach since detection before contact is possible (m): its distance then, or more if it was tested since; −∞ in contact.
    clear: Vec<f64>,
    /// Indices of the candidates in contact.
    hits: Vec<u32>,
    /// Their laws, before the stiffness of light dynamic obstacles is reduced.
    laws: Vec<Penalty>,
    search: CandidateSearch,
    /// Motion of obstacles, and their poses one sub-step earlier.
    motions: Vec<RigidMotion>,
    before: Vec<Isometry>,
    /// Wrench on each obstacle about its centre of mass (N m, N).
    wrenches: Vec<Wrench>,
    sample_laws: SampleLaws,
    /// Positions of points at the last candidate detection: surface vertices, then samples of obstacles.
    x: Vec<Vec3>,
    /// Positions of nodes and obstacles then, and the model they belong to.
    looked_for: Option<ModelId>,
    node_x: Vec<Vec3>,
    poses: Vec<Isometry>,
    /// Positions of nodes one sub-step earlier (m).
    node_x_before: Vec<Vec3>,
    pairs: PairForces,
    /// Margin of the candidates, relative approach since their detection, and maximum rate of approach (m, m/s).
    within: f64,
    moved: f64,
    speed: f64,
    /// The largest speed of any obstacle (m/s).
    obstacle_speed: f64,
}

/// Number of sub-steps that candidates last for at current velocities.
const LASTING: f64 = 16.0;
/// Candidates per parallel task.
const CHUNK: usize = 1024;

impl Contacts {
    /// Whether contact is possible in a step.
    pub(crate) fn can_collide_in(model: &Model, control: &Control) -> bool {
        model.can_collide() && control.phase != Phase::Placing
    }

    /// Reserves memory in a state for all friction anchors, so that later steps do not allocate.
    pub(crate) fn make_room(model: &Model, state: &mut State) {
        let samples: usize = model.obstacles().iter().map(|obstacle| obstacle.samples.len()).sum();
        let anchors = CandidateSearch::room(model, model.contact_surface().count() + samples);
        state.anchors.reserve(anchors.saturating_sub(state.anchors.len()));
        let pair_anchors = PairForces::room(model);
        state.pair_anchors.reserve(pair_anchors.saturating_sub(state.pair_anchors.len()));
    }

    /// Number of sub-steps that a step of `dt` (s) needs to prevent tunnelling, where stability alone requires `fewest`; also detects pairs of surfaces.
    ///
    /// Culling of surface patches depends on their configuration: pairs are detected in every step, so that no step depends on earlier ones.
    pub(crate) fn prepare(
        &mut self,
        model: &Model,
        control: &Control,
        state: &State,
        dt: f64,
        fewest: usize,
    ) -> usize {
        if !Contacts::can_collide_in(model, control) {
            return fewest;
        }
        self.pairs.bind(model);
        self.pairs.prepare(model, state, dt, fewest)
    }

    /// Prepares for a step with its first sub-step.
    pub(crate) fn begin(&mut self, model: &Model, control: &Control, substep: Substep, state: &mut State) {
        self.place_obstacles(model, control, substep, state);
        self.speed = self.fastest(model, state);
        self.moved = self.moved_since(model, state);
        self.node_x_before.clone_from(&state.node_x);
        let is_exact = model.obstacles().iter().all(|obstacle| obstacle.shape.has_exact_distance());
        let lasts = is_exact && self.moved.is_finite() && self.moved + substep.h * self.speed <= self.within;
        if !(lasts && self.take_anchors(state)) {
            self.detect(model, substep.h, state);
        }
    }

    /// Adds contact forces to the forces on nodes (N) and on dynamic obstacles.
    pub(crate) fn push(
        &mut self,
        model: &Model,
        control: &Control,
        substep: Substep,
        state: &mut State,
        node_force: &mut [Vec3],
    ) {
        if substep.from > 0.0 {
            self.place_obstacles(model, control, substep, state);
            self.speed = self.fastest(model, state);
            self.moved += self.moved_in_substep(model, substep.h, state);
            if self.moved + substep.h * self.speed > self.within {
                self.keep_anchors(state);
                self.detect(model, substep.h, state);
            }
            self.pairs.follow(model, state, substep.h, substep.left());
        }
        self.find_contacts(model, substep.h, state);
        self.find_laws(model);
        self.respond(model, substep.h, state, node_force);
        let given = self.pairs.push(model, state, substep.h, node_force);
        state.supplied_energy += given;
    }

    /// Points of flesh that are deeper than `depth` (m) in a fixed obstacle, with the way out.
    pub(crate) fn deep_in_fixed<'a>(
        &'a self,
        model: &'a Model,
        depth: f64,
    ) -> impl Iterator<Item = (usize, Vec3)> + 'a {
        let is_fixed = |c: &&Candidate| model.obstacles()[c.obstacle as usize].mobility == Mobility::Fixed;
        self.in_contact_now().filter(|c| c.owner.is_none()).filter(is_fixed).filter_map(move |c| {
            let contact = c.contact.filter(|contact| contact.depth > depth)?;
            let turn = self.motions[c.obstacle as usize].world_from_shape.rotation;
            Some((c.point as usize, turn * contact.normal))
        })
    }

    /// Flesh that is deep in other flesh: four points with their weights, and the direction in which their combination must not shrink.
    pub(crate) fn deep_pairs(&self) -> impl Iterator<Item = ([(u32, f64); 4], Vec3)> + '_ {
        self.pairs.deep()
    }

    /// Motion of obstacles in the sub-step.
    pub(crate) fn motions(&self) -> &[RigidMotion] {
        &self.motions
    }

    /// Adds wrenches about the centres of mass (N m, N) to the contact wrenches on obstacles.
    pub(crate) fn pull(&mut self, obstacles: &[Wrench]) {
        for (wrench, pull) in self.wrenches.iter_mut().zip(obstacles) {
            wrench.force += pull.force;
            wrench.torque += pull.torque;
        }
    }

    /// Prepares for a sub-step without contact, in which obstacles do not move.
    pub(crate) fn stand_still(&mut self, model: &Model, state: &State) {
        self.wrenches.clear();
        self.wrenches.resize(model.obstacles().len(), Wrench::default());
        self.motions.clear();
        self.motions.extend(state.obstacles.iter().map(|obstacle| RigidMotion::still(obstacle.pose)));
    }

    /// Moves obstacles to the end of a sub-step.
    pub(crate) fn move_obstacles(
        &mut self,
        model: &Model,
        control: &Control,
        substep: Substep,
        state: &mut State,
    ) {
        for (i, obstacle) in model.obstacles().iter().enumerate() {
            if obstacle.carrier != i {
                // carriers precede their parts
                state.obstacles[i].pose =
                    state.obstacles[obstacle.carrier].pose * obstacle.carrier_from_shape;
            } else if control.obstacle_waits(model, i) {
                continue;
            } else if let Some(solid) = &obstacle.solid {
                state.obstacles[i].advance(solid, &self.wrenches[i], &model.gravity(), substep.h);
            } else if obstacle.mobility == Mobility::Kinematic {
                state.obstacles[i].pose = kinematic_pose(obstacle, control, i, substep.to);
            }
        }
    }

    /// Writes friction anchors to the state.
    pub(crate) fn keep_anchors(&self, state: &mut State) {
        state.anchors.clear();
        state.anchors.reserve(self.candidates.capacity());
        let held = self.in_contact_now().filter_map(|c| {
            c.anchor.map(|anchor| ObstacleFrictionAnchor { point: c.point, obstacle: c.obstacle, anchor })
        });
        state.anchors.extend(held);
        self.pairs.keep_anchors(state);
    }

    /// Number of points in contact with an obstacle.
    pub(crate) fn in_contact(&self) -> usize {
        self.hits.len()
    }

    fn in_contact_now(&self) -> impl Iterator<Item = &Candidate> {
        self.hits.iter().map(|hit| &self.candidates[*hit as usize])
    }

    fn place_obstacles(&mut self, model: &Model, control: &Control, substep: Substep, state: &State) {
        // motion by kind of obstacle
        let Substep { from, to, h, .. } = substep;
        self.motions.clear();
        self.before.clear();
        // parts turn as one
        let mut turn = (Vec3::zeros(), Rotation::identity());
        for (i, (obstacle, now)) in model.obstacles().iter().zip(&state.obstacles).enumerate() {
            let motion = match (obstacle.mobility, &obstacle.solid) {
                (Mobility::PartOf(carrier), _) => {
                    let whole = &self.motions[carrier];
                    RigidMotion {
                        world_from_shape: whole.world_from_shape * obstacle.carrier_from_shape,
                        ..*whole
                    }
                }
                (Mobility::Kinematic, _) => {
                    let (start, end) = (
                        kinematic_pose(obstacle, control, i, from),
                        kinematic_pose(obstacle, control, i, to),
                    );
                    let origin = start.translation.vector;
                    RigidMotion {
                        world_from_shape: start,
                        linear: (end.translation.vector - origin) / h,
                        angular: so3::log(&(end.rotation * start.rotation.inverse())) / h,
                        origin,
                    }
                }
                (_, Some(solid)) => now.motion(solid),
                _ => RigidMotion::still(now.pose),
            };

            // pose one sub-step earlier, for continuous detection
            self.motions.push(motion);
            if turn.0 != motion.angular {
                turn = (motion.angular, so3::exp(&(-h * motion.angular)));
            }
            self.before.push(back(&motion, h, &turn.1));
        }
    }

    /// Upper bound of the rate of approach of any point and obstacle (m/s).
    fn fastest(&mut self, model: &Model, state: &State) -> f64 {
        let node = most(state.node_v.iter().map(Vec3::norm_squared)).sqrt();
        self.obstacle_speed = self.fastest_obstacle(model, state);
        approach(model, node, self.obstacle_speed)
    }

    /// The largest speed of any obstacle (m/s).
    fn fastest_obstacle(&self, model: &Model, state: &State) -> f64 {
        let obstacle = |(obstacle, motion): (&Obstacle, &RigidMotion)| {
            if motion.linear == Vec3::zeros() && motion.angular == Vec3::zeros() {
                return 0.0;
            }
            let reach =
                if obstacle.reach.is_finite() { obstacle.reach } else { farthest(motion, &state.node_x) };
            motion.fastest(reach)
        };
        model.obstacles().iter().zip(&self.motions).map(obstacle).fold(0.0, f64::max)
    }

    /// Upper bound of the relative approach in the last sub-step (m): that of nodes is measured, since constraints and bones move them otherwise than their velocities tell.
    fn moved_in_substep(&mut self, model: &Model, h: f64, state: &State) -> f64 {
        let mut farthest = 0.0;
        for (before, x) in self.node_x_before.iter_mut().zip(&state.node_x) {
            let squared = (x - *before).norm_squared();
            farthest = if squared > farthest { squared } else { farthest };
            *before = *x;
        }
        approach(model, farthest.sqrt(), h * self.obstacle_speed)
    }

    /// Upper bound of the relative approach since candidates were detected (m); infinite for another model.
    fn moved_since(&self, model: &Model, state: &State) -> f64 {
        let is_same = self.looked_for.as_ref() == Some(model.id());
        if !is_same || self.node_x.len() != state.node_x.len() || self.poses.len() != state.obstacles.len() {
            return f64::INFINITY;
        }
        let apart = |(a, b): (&Vec3, &Vec3)| (a - b).norm_squared();
        let nodes = most(self.node_x.iter().zip(&state.node_x).map(apart)).sqrt();
        let mut obstacles = 0.0f64;
        for ((obstacle, then), now) in model.obstacles().iter().zip(&self.poses).zip(&self.motions) {
            let now = now.world_from_shape;
            if *then != now {
                let turned = so3::log(&(now.rotation * then.rotation.inverse())).norm();
                let shifted = (now.translation.vector - then.translation.vector).norm();
                // the origin of the frame may differ from the centre that `reach` refers to
                let arm = obstacle.reach + obstacle.shape.bounds().center().norm();
                obstacles = obstacles.max(shifted + if turned > 0.0 { turned * arm } else { 0.0 });
            }
        }
        approach(model, nodes, obstacles)
    }

    /// Assigns friction anchors of a state to candidates; returns `false` if an anchored point is not a candidate.
    fn take_anchors(&mut self, state: &State) -> bool {
        let mut held = state.anchors.iter().peekable();
        for (c, clear) in self.candidates.iter_mut().zip(&mut self.clear) {
            let own = held.next_if(|held| (held.point, held.obstacle) == (c.point, c.obstacle));
            c.anchor = own.map(|held| held.anchor);
            c.contact = None;
            // the relative approach is measured from now on
            *clear = if c.anchor.is_some() { f64::NEG_INFINITY } else { c.distance };
        }
        held.next().is_none()
    }

    /// Detects candidates that remain valid for some sub-steps of `h` (s) at current velocities.
    fn detect(&mut self, model: &Model, h: f64, state: &State) {
        self.wrenches.resize(model.obstacles().len(), Wrench::default());
        if model.obstacles().is_empty() {
            self.candidates.clear();
            self.clear.clear();
            return;
        }

        // positions of samples
        let samples = model.obstacles().iter().map(|o| o.samples.len()).sum::<usize>();
        let flesh = model.contact_surface().count();
        self.x.resize(flesh + samples, Vec3::zeros());
        for (obstacle, motion) in model.obstacles().iter().zip(&self.motions) {
            let own = &mut self.x[obstacle.first_sample as usize..][..obstacle.samples.len()];
            own.iter_mut().zip(&obstacle.samples).for_each(|(x, sample)| *x = motion.point_in_world(sample));
        }
        let moved = core::mem::take(&mut self.moved);
        if !self.speed.is_finite() {
            // the step has diverged and will be repeated
            self.candidates.clear();
            self.clear.clear();
            self.looked_for = None;
            self.within = f64::INFINITY;
            return;
        }
        // a candidate that is clear costs next to nothing, so that the margin lasts for many sub-steps; includes the motion of the previous one
        let (spacing, step) = (model.contact_surface().spacing, self.speed * h);
        self.within = spacing.max(LASTING * step) + 2.0 * step;
        self.looked_for = Some(model.id().clone());
        self.node_x.clone_from(&state.node_x);
        self.poses.clear();
        self.poses.extend(self.motions.iter().map(|motion| motion.world_from_shape));

        // candidates within the margin
        let Contacts { search, motions, x, candidates, clear, within, .. } = self;
        let range = SearchRange { margin: *within, moved };
        search.find(model, motions, (x, range), (state, &state.node_x), candidates);
        clear.clear();
        clear.reserve(candidates.capacity());
        clear.extend(candidates.iter().map(|c| c.distance));
    }

    fn find_contacts(&mut self, model: &Model, h: f64, state: &State) {
        // candidates beyond this distance can be in contact neither now nor one sub-step ago
        let (moved, near) = (self.moved, self.moved + h * self.speed);
        let Contacts { candidates, clear, hits, motions, before, .. } = self;
        let phase = NarrowPhase { model, state, motions, before, h, moved, near };

        // in parallel over candidates
        let parts = (candidates.as_mut_slice(), clear.as_mut_slice());
        for_each_part(parts, CHUNK, |_, (candidates, clear)| {
            dispatch(TestKernel { phase: &phase, candidates, clear });
        });

        // those in contact, in order
        hits.clear();
        hits.reserve(candidates.capacity());
        let may_be = clear.iter().enumerate().filter(|(_, clear)| **clear == f64::NEG_INFINITY);
        hits.extend(may_be.map(|(i, _)| i as u32).filter(|i| candidates[*i as usize].contact.is_some()));
    }

    /// The contact law of a candidate, before the stiffness of light dynamic obstacles is reduced.
    #[inline(always)]
    fn law(model: &Model, sample_laws: &SampleLaws, c: &Candidate) -> Penalty {
        let Some(owner) = c.owner else {
            let material = model.contact_surface().materials.of_point_on_obstacle(c.point, c.obstacle);
            let factor = SampleLaws::fraction(model, c.obstacle) * material.stiffness;
            return model.contact_surface().law(c.point as usize, material.friction, factor);
        };
        sample_laws.of_sample(model, owner, c.obstacle)
    }

    /// Finds the laws of contacts, and how far springs on light dynamic obstacles soften.
    fn find_laws(&mut self, model: &Model) {
        let Contacts { candidates, hits, laws, motions, sample_laws, .. } = self;
        let in_contact = || hits.iter().map(|hit| &candidates[*hit as usize]);
        sample_laws.count(model, in_contact());
        laws.clear();
        laws.reserve(hits.capacity());
        laws.extend(in_contact().map(|c| Contacts::law(model, sample_laws, c)));
        let mut laws = laws.iter();
        let stiffness = |_: &SampleLaws, _: &Candidate| laws.next().map_or(0.0, |law| law.stiffness);
        sample_laws.soften(model, |side| motions[side].origin, in_contact(), stiffness);
    }

    fn respond(&mut self, model: &Model, h: f64, state: &mut State, node_force: &mut [Vec3]) {
        self.wrenches.fill(Wrench::default());
        let Contacts { candidates, hits, laws, motions, wrenches, sample_laws, .. } = self;
        let kernel =
            ResponseKernel { model, h, candidates, hits, laws, motions, wrenches, sample_laws, node_force };
        state.supplied_energy += dispatch(kernel);
    }
}

/// Forces of candidates in contact, compiled for the instruction set of the processor; returns the energy that they supply (J).
struct ResponseKernel<'a> {
    model: &'a Model,
    h: f64,
    candidates: &'a mut [Candidate],
    hits: &'a [u32],
    laws: &'a [Penalty],
    motions: &'a [RigidMotion],
    wrenches: &'a mut [Wrench],
    sample_laws: &'a SampleLaws,
    node_force: &'a mut [Vec3],
}

impl Kernel for ResponseKernel<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f64 {
        let ResponseKernel { model, h, candidates, hits, laws, motions, wrenches, sample_laws, node_force } =
            self;
        let mut given = 0.0;
        for (hit, &law) in hits.iter().zip(laws) {
            // contact geometry
            let c = &mut candidates[*hit as usize];
            let Some(contact) = c.contact else { continue };
            let (point, o) = (c.point as usize, c.obstacle as usize);
            let (motion, x) = (&motions[o], c.x);
            let normal = motion.vector_in_world(&contact.normal);
            let surface = x + contact.depth * normal;
            let stretch =
                c.anchor.map_or(Vec3::zeros(), |anchor| surface - motion.point_in_world(&anchor.place));

            // contact law, softened for light dynamic obstacles
            let mut law = law;
            if model.has_free_obstacles() {
                let give = sample_laws.give(model, c);
                law.stiffness *= give;
                law.damping *= give;
            }

            // force, and the updated friction anchor
            let obstacle_v = motion.velocity_at(&x);
            let relative = c.v - obstacle_v;
            let push = law.force(contact.depth, &normal, &relative, &stretch);
            let place = motion.point_in_shape(&(surface - push.stretch));
            c.anchor = Some(sinew_contact::FrictionAnchor { place, side: contact.side });

            // action on flesh or on the owner of the sample
            match c.owner {
                None => {
                    for (node, weight) in model.contact_surface().row(point) {
                        node_force[node] += weight * push.force;
                    }
                }
                Some(owner) => {
                    let carrier = model.obstacles()[owner as usize].carrier;
                    add_wrench(&mut wrenches[carrier], &motions[carrier], &x, &push.force);
                    // springs between obstacles are not part of the elastic energy, so their work counts as supplied
                    given += (h * push.force.dot(&relative)).max(0.0);
                }
            }

            // reaction on the obstacle, and the work of kinematic ones
            let carrier = model.obstacles()[o].carrier;
            add_wrench(&mut wrenches[carrier], motion, &x, &-push.force);
            if model.obstacles()[carrier].mobility == Mobility::Kinematic {
                given += h * push.force.dot(&obstacle_v);
            }
        }
        given
    }
}

/// Upper bound of the approach of points and obstacles where no node moves by more than `node` and no obstacle by more than `obstacle`, both lengths or speeds.
///
/// Twice of what obstacles move: dynamic ones move by their velocity at the beginning, which changes while they rotate.
fn approach(model: &Model, node: f64, obstacle: f64) -> f64 {
    let point = model.contact_surface().stretch * node;
    (point + 2.0 * obstacle).min(2.0 * point.max(obstacle))
}

/// Maximum of non-negative numbers; ignores NaN.
fn most(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |most, number| if number > most { number } else { most })
}

#[inline(always)]
fn add_wrench(wrench: &mut Wrench, motion: &RigidMotion, x: &Vec3, force: &Vec3) {
    wrench.force += force;
    wrench.torque += (x - motion.origin).cross(force);
}

/// The pose of a kinematic obstacle after a fraction of the step.
pub(super) fn kinematic_pose(obstacle: &Obstacle, control: &Control, i: usize, fraction: f64) -> Isometry {
    let start = &obstacle.start.pose;
    let path = control.obstacles.get(i).copied().unwrap_or_default();
    path.pose(fraction, &start.translation.vector) * start
}

/// The pose of a moving obstacle one sub-step of `h` (s) earlier, since which it has turned by the inverse of `turned`.
fn back(motion: &RigidMotion, h: f64, turned: &Rotation) -> Isometry {
    if motion.linear == Vec3::zeros() && motion.angular == Vec3::zeros() {
        return motion.world_from_shape;
    }
    let from_origin = motion.world_from_shape.translation.vector - motion.origin;
    let place = motion.origin - h * motion.linear + turned * from_origin;
    Isometry::from_parts(place.into(), turned * motion.world_from_shape.rotation)
}

fn farthest(motion: &RigidMotion, points: &[Vec3]) -> f64 {
    points.iter().map(|x| (x - motion.origin).norm_squared()).fold(0.0, f64::max).sqrt()
}
