//! Contact between soft surfaces in explicit steps, self-contact included: penalty forces push each vertex out of the nearest triangle, with friction anchors on its surface.

use super::pair_contact::PairContact;
use crate::contact_surface::{ContactSurface, PointMotion};
use crate::friction_anchor::PairFrictionAnchor;
use crate::{Model, State};
use rayon::prelude::*;
use sinew_contact::{NearPair, Penalty, SurfacePairs};
use sinew_math::Vec3;
use std::sync::Arc;

/// Workspace of contact between surfaces.
#[derive(Clone, Debug, Default)]
pub(super) struct PairForces {
    made_for: Option<Arc<SurfacePairs>>,
    finder: SurfacePairs,
    /// The pairs of each vertex.
    groups: Vec<Group>,
    /// The points of all pairs with position and velocity; those that cannot be in contact yet are not updated.
    points: Vec<NearPoint>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    /// For each surface point the nearness of its pairs, then its index in `points`.
    nearest: Vec<Nearness>,
    slot: Vec<u32>,
    contacts: Vec<Option<PairContact>>,
    /// Friction anchor of the vertex of each group.
    anchors: Vec<Option<PairFrictionAnchor>>,
    /// Positions of points and nodes at the last detection (m), and their velocities (m/s).
    x_then: Vec<Vec3>,
    v_then: Vec<Vec3>,
    node_x_then: Vec<Vec3>,
    node_v_then: Vec<Vec3>,
    /// Time since then, and time for which the pairs remain valid at constant velocity (s).
    elapsed: f64,
    lasts: f64,
    /// Upper bound of the deviation of points from constant velocity (m).
    strayed: f64,
    /// Total stiffness of the contacts at each point as a corner.
    incoming: Vec<f64>,
}

/// The pairs of one vertex, a range of all pairs, and their nearness.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: u32,
    end: u32,
    near: Nearness,
}

/// A surface point, and the nearness of its pairs.
#[derive(Clone, Copy, Debug)]
struct NearPoint {
    point: u32,
    near: Nearness,
}

/// Minimum distance (m) and maximum rate of approach (m/s) at detection.
#[derive(Clone, Copy, Debug)]
struct Nearness {
    distance: f64,
    closing: f64,
}

impl Nearness {
    const FAR: Nearness = Nearness { distance: f64::INFINITY, closing: 0.0 };

    fn with(self, pair: &NearPair) -> Nearness {
        Nearness { distance: self.distance.min(pair.distance), closing: self.closing.max(pair.closing) }
    }
}

/// Each side of a pair gets half of the stability limit, once as vertex and once as corners: no row of GᵀKG, where each pair has two halves of sum 1,
/// then exceeds κ/h².
const SHARED: f64 = 0.25;
/// Deviation of points from constant velocity that triggers a new detection, relative to the mean vertex spacing.
const STRAY: f64 = 0.4;
/// Maximum detection distance, in the same unit: a diverging step must not test all pairs.
const FARTHEST: f64 = 8.0;
/// Fraction of the vertex spacing that surfaces may approach in a sub-step: a third of the range of the contact force, so that they are decelerated
/// before they pass through each other.
const FRACTION: f64 = 0.2;
/// Lower limit of sub-steps relative to the stable step: faster motion is not physical.
const SHORTEST: f64 = 1.0 / 8.0;
/// Additional damping of surfaces in units of m/h, where sub-steps are short enough that elasticity leaves room for it.
const FAST_DAMPING: f64 = 0.45;

impl PairForces {
    /// Binds to the bounding volume hierarchies of a model.
    pub(super) fn bind(&mut self, model: &Model) {
        if !model.contact_surface().has_trees(self.made_for.as_ref()) {
            *self = PairForces { made_for: model.contact_surface().pairs.clone(), ..PairForces::default() };
            self.finder = model.contact_surface().pairs.as_deref().cloned().unwrap_or_default();
        }
    }

    /// Removes all pairs.
    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.points.clear();
    }

    /// Detects the pairs of a step of `dt` (s); returns the number of sub-steps needed to prevent tunnelling, where stability alone requires `fewest`.
    pub(super) fn prepare(&mut self, model: &Model, state: &State, dt: f64, fewest: usize) -> usize {
        let closing = self.detect(model, state, dt);
        let needed = (dt * closing / (FRACTION * model.contact_surface().spacing)).ceil();
        if needed.is_finite() {
            fewest.max((needed as usize).min((fewest as f64 / SHORTEST) as usize))
        } else {
            fewest
        }
    }

    /// Writes friction anchors to the state.
    pub(super) fn keep_anchors(&self, state: &mut State) {
        state.pair_anchors.clear();
        state.pair_anchors.reserve(self.anchors.capacity());
        state.pair_anchors.extend(self.anchors[..self.groups.len()].iter().flatten());
    }

    /// Records a sub-step of h (s) with `left` (s) remaining, and detects pairs again if the current ones may be incomplete.
    pub(super) fn follow(&mut self, model: &Model, state: &mut State, h: f64, left: f64) {
        if self.made_for.is_none() {
            return;
        }
        self.elapsed += h;
        let elapsed = self.elapsed;
        let stray =
            |((x, x_then), v_then): ((&Vec3, &Vec3), &Vec3)| (x - x_then - elapsed * v_then).norm_squared();
        let nodes = state.node_x.par_iter().zip(&self.node_x_then).zip(&self.node_v_then);
        let farthest = nodes.with_min_len(4096).map(stray).reduce(|| 0.0, f64::max);
        self.strayed = model.contact_surface().stretch * farthest.sqrt();
        if elapsed > self.lasts || self.strayed > STRAY * model.contact_surface().spacing {
            self.keep_anchors(state);
            self.detect(model, state, left);
        }
    }

    /// Detects pairs that remain valid for the given time (s) at constant velocity; returns the maximum rate of approach of possible contacts (m/s).
    fn detect(&mut self, model: &Model, state: &State, left: f64) -> f64 {
        self.clear();
        if self.made_for.is_none() {
            return 0.0;
        }
        let count = model.contact_surface().count();
        self.x_then.resize(count, Vec3::zeros());
        self.v_then.resize(count, Vec3::zeros());
        let find = |(i, (x, v)): (usize, (&mut Vec3, &mut Vec3))| {
            PointMotion { x: *x, v: *v } = model.contact_surface().motion_at(i, &state.node_x, &state.node_v);
        };
        let points = self.x_then.par_iter_mut().zip(self.v_then.par_iter_mut());
        points.with_min_len(1024).enumerate().for_each(find);
        self.node_x_then.clone_from(&state.node_x);
        self.node_v_then.clone_from(&state.node_v);
        (self.elapsed, self.strayed) = (0.0, 0.0);
        let stray = STRAY * model.contact_surface().spacing;
        self.finder.refit(&self.x_then, &self.v_then);
        let closing = self.finder.closing_speed(left, stray);
        self.lasts = left;
        if closing * left > FARTHEST * model.contact_surface().spacing {
            self.lasts = FARTHEST * model.contact_surface().spacing / closing;
        }
        self.finder.find(&self.x_then, &self.v_then, self.lasts, stray);
        self.sort_pairs(count);
        self.take_anchors(state);
        closing
    }

    /// Assigns friction anchors of a state to groups. A vertex with an anchor but without pairs is no longer in contact, and its anchor is dropped.
    fn take_anchors(&mut self, state: &State) {
        let triangle_count = self.finder.triangle_count();
        let mut held =
            state.pair_anchors.iter().filter(|anchor| (anchor.triangle as usize) < triangle_count).peekable();
        let pairs = self.finder.pairs();
        for (group, anchor) in self.groups.iter().zip(&mut self.anchors) {
            let vertex = pairs[group.start as usize].vertex;
            while held.next_if(|held| held.vertex < vertex).is_some() {}
            *anchor = held.next_if(|held| held.vertex == vertex).copied();
        }
    }

    /// Groups pairs by vertex, and collects the points among all `count` that are part of a pair.
    fn sort_pairs(&mut self, count: usize) {
        self.groups.reserve(count);
        self.points.reserve(count);
        self.nearest.clear();
        self.nearest.resize(count, Nearness::FAR);
        self.slot.resize(count, 0);
        self.contacts.resize(count, None);
        self.anchors.resize(count, None);
        self.incoming.resize(count, 0.0);
        self.x.resize(count, Vec3::zeros());
        self.v.resize(count, Vec3::zeros());
        let mut start = 0;
        for own in self.finder.pairs().chunk_by(|a, b| a.vertex == b.vertex) {
            let end = start + own.len() as u32;
            self.groups.push(Group { start, end, near: own.iter().fold(Nearness::FAR, Nearness::with) });
            start = end;
            for pair in own {
                let mut note = |point: u32| {
                    let nearest = &mut self.nearest[point as usize];
                    *nearest = nearest.with(pair);
                };
                note(pair.vertex);
                self.finder.triangle(pair.triangle).into_iter().for_each(note);
            }
        }
        for (point, near) in self.nearest.iter().enumerate().filter(|(_, near)| near.distance.is_finite()) {
            self.slot[point] = self.points.len() as u32;
            self.points.push(NearPoint { point: point as u32, near: *near });
        }
    }

    /// Finds the triangle that each vertex is in contact with.
    fn find_contacts(&mut self, model: &Model, state: &State) {
        let (elapsed, range) = (self.elapsed, self.finder.range() + 2.0 * self.strayed);
        let may_collide = |distance: f64, closing: f64| distance <= range + elapsed * closing;
        let PairForces { finder, groups, points, x, v, slot, contacts, anchors, .. } = self;
        let follow = |((point, x), v): ((&NearPoint, &mut Vec3), &mut Vec3)| {
            if may_collide(point.near.distance, point.near.closing) {
                PointMotion { x: *x, v: *v } =
                    model.contact_surface().motion_at(point.point as usize, &state.node_x, &state.node_v);
            }
        };
        points.par_iter().zip(x.par_iter_mut()).zip(v.par_iter_mut()).with_min_len(1024).for_each(follow);
        let pairs = finder.pairs();
        let find = |((group, contact), anchor): (
            (&Group, &mut Option<PairContact>),
            &mut Option<PairFrictionAnchor>,
        )| {
            *contact = None;
            if may_collide(group.near.distance, group.near.closing) {
                let own = &pairs[group.start as usize..group.end as usize];
                let own = own.iter().filter(|pair| may_collide(pair.distance, pair.closing));
                *contact = PairContact::nearest(finder, own, |point| x[slot[point as usize] as usize])
                    .filter(|contact| !contact.is_inside_out(model, &state.node_x));
            }
            if contact.is_none() {
                *anchor = None;
            }
        };
        let groups = groups.par_iter().zip(contacts.par_iter_mut()).zip(anchors.par_iter_mut());
        groups.with_min_len(1024).for_each(find);
    }

    /// Adds contact forces to nodes (N); returns the energy they supply (J).
    pub(super) fn push(&mut self, model: &Model, state: &State, h: f64, node_force: &mut [Vec3]) -> f64 {
        // contacts at current positions
        if self.groups.is_empty() {
            return 0.0;
        }
        self.find_contacts(model, state);
        let PairForces { finder, groups, contacts, anchors, incoming, x, v, slot, .. } = self;
        let x = |point: u32| x[slot[point as usize] as usize];
        let v = |point: u32| v[slot[point as usize] as usize];
        let all_contacts = &contacts[..groups.len()];
        let contacts = || all_contacts.iter().flatten();

        // total stiffness at the corners of triangles
        let law = PairLaw::of(model.contact_surface(), finder, h);
        for contact in contacts() {
            contact.corners.iter().for_each(|corner| incoming[*corner as usize] = 0.0);
        }
        for contact in contacts() {
            let stiffness = law.at(contact.vertex).stiffness;
            for (corner, weight) in contact.corners.iter().zip(contact.weights) {
                incoming[*corner as usize] += weight * stiffness;
            }
        }

        // law of each contact, softened where many vertices share a corner
        let mut given = 0.0;
        for (contact, anchor) in all_contacts.iter().zip(anchors) {
            let Some(contact) = contact else { continue };
            let fraction = law.borne(contact, incoming);
            let mut law = law.at(contact.vertex);
            law.stiffness *= fraction;
            law.damping *= fraction;
            let corner_v: Vec3 = contact.corners.iter().zip(contact.weights).map(|(c, w)| w * v(*c)).sum();
            let relative = v(contact.vertex) - corner_v;
            let corners = contact.corners.map(&x);

            // force, with the updated friction anchor
            let held_corners = |triangle: u32| {
                let is_same = triangle == contact.triangle;
                let far = |point: u32| model.contact_surface().at(point as usize, &state.node_x);
                if is_same { corners } else { finder.triangle(triangle).map(far) }
            };
            let stretch =
                anchor.and_then(|anchor| contact.stretch(&corners, &anchor, &held_corners(anchor.triangle)));
            let push = law.force(contact.depth, &contact.normal, &relative, &stretch.unwrap_or_default());
            if law.friction > 0.0 && (stretch.is_none() || push.slips) {
                *anchor = Some(contact.hold(&corners, &push.stretch));
            }

            // action on the vertex and reaction on the corners
            let force = push.force;
            given += (h * force.dot(&relative)).max(0.0);
            let mut act = |point: u32, force: Vec3| {
                for (node, weight) in model.contact_surface().row(point as usize) {
                    node_force[node] += weight * force;
                }
            };
            act(contact.vertex, force);
            contact
                .corners
                .iter()
                .zip(contact.weights)
                .for_each(|(corner, weight)| act(*corner, -weight * force));
        }
        given
    }
}

/// The contact law of vertices in a sub-step.
struct PairLaw<'a> {
    surface: &'a ContactSurface,
    /// The time step that springs are computed for (s).
    step: f64,
    /// Damping factor relative to the default.
    damping: f64,
    /// The spring force is constant beyond this depth (m).
    deepest: f64,
}

impl<'a> PairLaw<'a> {
    /// Springs and dampers at the stability limit of a sub-step of `h` (s): fast motion is stopped within the range.
    fn of(surface: &'a ContactSurface, finder: &SurfacePairs, h: f64) -> PairLaw<'a> {
        let step = h.min(surface.step);
        let slack = 1.0 - (step / surface.step) * (step / surface.step);
        let damping = 1.0 + FAST_DAMPING * slack / Penalty::STRENGTH.damping;
        PairLaw { surface, step, damping, deepest: finder.range() * 2.0 }
    }

    /// The contact law of a vertex.
    fn at(&self, point: u32) -> Penalty {
        let desc = &self.surface.desc;
        let mass = self.surface.mass[point as usize];
        let mut law = Penalty::stable(mass, self.step, desc.friction, self.deepest);
        law.stiffness *= SHARED * desc.stiffness;
        law.damping *= SHARED * desc.stiffness.sqrt() * self.damping;
        law
    }

    /// The fraction of the stiffness that the corners of a triangle allow: many vertices on the same few corners share their stability limit.
    fn borne(&self, contact: &PairContact, incoming: &[f64]) -> f64 {
        let mut fraction = 1.0f64;
        for corner in contact.corners {
            let bears = SHARED
                * Penalty::STRENGTH.stiffness
                * self.surface.desc.stiffness
                * self.surface.mass[corner as usize]
                / (self.step * self.step);
            if incoming[corner as usize] > bears {
                fraction = fraction.min(bears / incoming[corner as usize]);
            }
        }
        fraction
    }
}
