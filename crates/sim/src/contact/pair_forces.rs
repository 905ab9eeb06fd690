//! Contact between soft surfaces in explicit steps, self-contact included: penalty forces push vertices out of triangles and edges off edges, with friction anchors on the surfaces.

mod lever;
mod nearest_triangles;
mod pair_law;

use super::pair_contact::PairContact;
use crate::contact_surface::{PointMotion, SoftContact};
use crate::friction_anchor::{PairFrictionAnchor, SoftPair};
use crate::{Model, State};
use lever::Lever;
use nearest_triangles::{NearestTriangles, PatchBox};
use pair_law::PairLaw;
use rayon::prelude::*;
use sinew_contact::{Bounds, NearPair, SurfacePairs};
use sinew_math::Vec3;
use sinew_math::parallel::for_each_part;
use std::sync::Arc;

/// Workspace of contact between surfaces.
#[derive(Clone, Debug, Default)]
pub(super) struct PairForces {
    made_for: Option<Arc<SurfacePairs>>,
    finder: SurfacePairs,
    /// What may be in contact: the pairs of each vertex, then each pair of edges.
    groups: Vec<Group>,
    /// The points of all pairs with position and velocity; those that cannot be in contact yet are not updated.
    points: Vec<NearPoint>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    /// For each surface point the nearness of its pairs, then its index in `points`.
    nearest: Vec<Nearness>,
    slot: Vec<u32>,
    /// The pairs of vertices and patches, in the order of those found.
    pairs: Vec<PatchPair>,
    /// The patches of all pairs with a box around each, updated likewise; for each patch the nearness of its pairs, then its index among them.
    patches: Vec<Nearness>,
    boxes: Vec<PatchBox>,
    nearest_patch: Vec<Nearness>,
    patch_slot: Vec<u32>,
    contacts: Vec<Option<PairContact>>,
    /// Friction anchor of each group.
    anchors: Vec<Option<PairFrictionAnchor>>,
    /// Positions of points and nodes at the last detection (m), and their velocities (m/s).
    x_then: Vec<Vec3>,
    v_then: Vec<Vec3>,
    node_x_then: Vec<Vec3>,
    node_v_then: Vec<Vec3>,
    /// Deviation of the points of each body from constant velocity that the pairs allow for (m).
    drifts: Vec<f64>,
    /// Time since then, and time for which the pairs remain valid at constant velocity (s).
    elapsed: f64,
    lasts: f64,
    /// Upper bound of the deviation of points from constant velocity (m).
    strayed: f64,
    law: PairLaw,
}

/// The pairs of one vertex with patches, a range of all pairs, or one pair of edges, and their nearness.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: u32,
    end: u32,
    is_edges: bool,
    near: Nearness,
}

/// A surface point, and the nearness of its pairs.
#[derive(Clone, Copy, Debug)]
struct NearPoint {
    point: u32,
    near: Nearness,
}

/// A pair of a vertex and a patch: the index of the patch in `boxes`.
#[derive(Clone, Copy, Debug)]
struct PatchPair {
    slot: u32,
    near: Nearness,
}

/// Minimum distance beyond the reach of contact (m) and maximum rate of approach (m/s) at detection.
#[derive(Clone, Copy, Debug)]
struct Nearness {
    clearance: f32,
    closing: f32,
}

impl Nearness {
    const FAR: Nearness = Nearness { clearance: f32::INFINITY, closing: 0.0 };

    /// That of a pair of a vertex and a patch.
    fn of_vertex(finder: &SurfacePairs, pair: &NearPair) -> Nearness {
        let reach = finder.gap(pair.first).max(finder.patch(pair.second).range);
        Nearness { clearance: pair.distance - reach as f32, closing: pair.closing }
    }

    /// That of a pair of edges.
    fn of_edges(finder: &SurfacePairs, pair: &NearPair) -> Nearness {
        let reach = |edge: u32| finder.edge_gap(edge).max(finder.edge_range(edge));
        let reach = reach(pair.first).max(reach(pair.second));
        Nearness { clearance: pair.distance - reach as f32, closing: pair.closing }
    }

    fn and(self, other: Nearness) -> Nearness {
        Nearness { clearance: self.clearance.min(other.clearance), closing: self.closing.max(other.closing) }
    }
}

/// Deviation of points from constant velocity that triggers a new detection, relative to the range of contact.
const STRAY: f64 = 0.3;
/// Pairs are detected for the time in which surfaces approach by at most this many times the range: a fast step looks several times for few pairs, not once for all.
const HORIZON: f64 = 3.0;
/// Fraction of the range that surfaces may approach in a sub-step, so that they are stopped before they pass through each other. A spring at the stability limit, with κ = 0.09, stops them within
/// 1/√κ = 3.4 sub-steps: within half of the range.
const FRACTION: f64 = 0.15;
/// Groups, and points or patches, per parallel task: some 50 µs of work.
const GROUPS: usize = 256;
const POINTS: usize = 1024;
/// Expected maximum number of pairs of vertices and patches, for reserving memory; what is not used is never accessed.
const ROOM_FOR_PAIRS: usize = 1 << 19;
/// Expected maximum number of pairs of edges, for reserving memory.
const ROOM_FOR_EDGES: usize = 65_536;
/// Lower limit of sub-steps relative to the stable step: faster motion is not physical.
const SHORTEST: f64 = 1.0 / 16.0;

/// Contacts deeper than this fraction of their range are deep.
const DEEP: f64 = 0.25;
/// The cosine of the angle between the normal and g up to which g tells where out is.
const WELL_ALONG: f64 = 0.7;

impl PairForces {
    /// Binds to the bounding volume hierarchies of a model.
    pub(super) fn bind(&mut self, model: &Model) {
        if !model.contact_surface().has_trees(self.made_for.as_ref()) {
            *self =
                PairForces { made_for: model.contact_surface().pairs().cloned(), ..PairForces::default() };
            self.finder = self.made_for.as_deref().cloned().unwrap_or_default();
            if let Some(soft) = &model.contact_surface().soft {
                self.drifts = soft.drifts(STRAY);
                self.law.make_room(model.contact_surface());
            }
        }
    }

    /// Expected maximum number of friction anchors, for reserving memory.
    pub(super) fn room(model: &Model) -> usize {
        if model.contact_surface().has_pairs { model.contact_surface().count() + ROOM_FOR_EDGES } else { 0 }
    }

    /// Removes all pairs.
    fn clear(&mut self) {
        self.groups.clear();
        self.points.clear();
        self.patches.clear();
        self.boxes.clear();
    }

    /// Detects the pairs of a step of `dt` (s); returns the number of sub-steps needed to prevent tunnelling, where stability alone requires `fewest`.
    pub(super) fn prepare(&mut self, model: &Model, state: &State, dt: f64, fewest: usize) -> usize {
        let mut rate = self.detect(model, state, dt);
        // what slides along does not pass through, which is searched only if it may matter
        let harmless = FRACTION * fewest as f64 / dt;
        if rate > harmless {
            let motion = (self.x_then.as_slice(), self.v_then.as_slice());
            rate = self.finder.crossing_rate(motion, dt, &self.drifts, harmless);
        }
        let needed = (dt * rate / FRACTION).ceil();
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
        let mut is_stale = self.elapsed > self.lasts;
        self.strayed = 0.0;
        let mut first = 0;
        for (body, drift) in model.bodies().iter().zip(&self.drifts) {
            // points of the surface move less than the nodes around it, some of which are light
            let points = first..first + body.contact_mesh().0.vertices.len();
            first = points.end;
            let of_nodes = model.contact_surface().stretch * self.farthest_stray(body.nodes.clone(), state);
            let strayed =
                if of_nodes > *drift { self.farthest_point_stray(model, points, state) } else { of_nodes };
            self.strayed = self.strayed.max(strayed);
            is_stale |= strayed > *drift;
        }
        if is_stale {
            self.keep_anchors(state);
            self.detect(model, state, left);
        }
    }

    /// The largest deviation of some nodes from constant velocity (m).
    fn farthest_stray(&self, nodes: core::ops::Range<usize>, state: &State) -> f64 {
        let elapsed = self.elapsed;
        let stray =
            |((x, x_then), v_then): ((&Vec3, &Vec3), &Vec3)| (x - x_then - elapsed * v_then).norm_squared();
        let then = (&self.node_x_then[nodes.clone()], &self.node_v_then[nodes.clone()]);
        let all = state.node_x[nodes].par_iter().zip(then.0).zip(then.1);
        all.with_min_len(4096).map(stray).reduce(|| 0.0, f64::max).sqrt()
    }

    /// The largest deviation of some points from constant velocity (m).
    fn farthest_point_stray(&self, model: &Model, points: core::ops::Range<usize>, state: &State) -> f64 {
        let (surface, elapsed) = (model.contact_surface(), self.elapsed);
        let stray = |i: usize| {
            if !surface.is_corner(i) {
                return 0.0;
            }
            (surface.at(i, &state.node_x) - self.x_then[i] - elapsed * self.v_then[i]).norm_squared()
        };
        points.into_par_iter().with_min_len(2048).map(stray).reduce(|| 0.0, f64::max).sqrt()
    }

    /// Detects pairs that remain valid for a time within `left` (s) at constant velocity; returns the maximum rate of approach of possible contacts, relative to the range of contact (1/s).
    fn detect(&mut self, model: &Model, state: &State, left: f64) -> f64 {
        self.clear();
        if self.made_for.is_none() {
            return 0.0;
        }

        // motion of all corners
        let count = model.contact_surface().count();
        self.x_then.resize(count, Vec3::zeros());
        self.v_then.resize(count, Vec3::zeros());
        let find = |(i, (x, v)): (usize, (&mut Vec3, &mut Vec3))| {
            if model.contact_surface().is_corner(i) {
                PointMotion { x: *x, v: *v } =
                    model.contact_surface().motion_at(i, &state.node_x, &state.node_v);
            }
        };
        let points = self.x_then.par_iter_mut().zip(self.v_then.par_iter_mut());
        points.with_min_len(1024).enumerate().for_each(find);
        self.node_x_then.clone_from(&state.node_x);
        self.node_v_then.clone_from(&state.node_v);
        (self.elapsed, self.strayed) = (0.0, 0.0);

        // gaps, and pairs within the horizon
        if let Some(soft) = &model.contact_surface().soft {
            soft.rest_gaps.update(&self.x_then, &mut self.finder);
        }
        self.finder.refit(&self.x_then, &self.v_then);
        let rate = self.finder.approach_rate(left, &self.drifts);
        self.lasts = if rate * left > HORIZON { HORIZON / rate } else { left };
        self.finder.find_patches(&self.x_then, &self.v_then, self.lasts, &self.drifts);
        self.sort_pairs(count);
        self.take_anchors(state);
        rate
    }

    /// Assigns friction anchors of a state to groups. A vertex or pair of edges with an anchor but without candidates is no longer in contact, and its anchor is dropped.
    fn take_anchors(&mut self, state: &State) {
        let (triangles, edges) = (self.finder.triangle_count() as u32, self.finder.edge_count() as u32);
        let is_known = |anchor: &&PairFrictionAnchor| match anchor.pair {
            SoftPair::VertexTriangle { triangle, .. } => triangle < triangles,
            SoftPair::Edges { edges: [_, second] } => second < edges,
        };
        let mut held = state.pair_anchors.iter().filter(is_known).peekable();
        // anchors of a vertex may be on any triangle
        let rank = |pair: SoftPair| match pair {
            SoftPair::VertexTriangle { vertex, .. } => (0, vertex, 0),
            SoftPair::Edges { edges: [first, second] } => (1, first, second),
        };
        let (vertex_pairs, edge_pairs) = (self.finder.vertex_pairs(), self.finder.edge_pairs());
        for (group, anchor) in self.groups.iter().zip(&mut self.anchors) {
            let own = if group.is_edges {
                let NearPair { first, second, .. } = edge_pairs[group.start as usize];
                (1, first, second)
            } else {
                (0, vertex_pairs[group.start as usize].first, 0)
            };
            while held.next_if(|held| rank(held.pair) < own).is_some() {}
            *anchor = held.next_if(|held| rank(held.pair) == own).copied();
        }
    }

    /// Groups pairs by vertex, and collects the points among all `count` that are part of a pair.
    fn sort_pairs(&mut self, count: usize) {
        let edge_pairs = self.finder.edge_pairs();
        let group_count = count + edge_pairs.len();
        let room = count + edge_pairs.len().max(ROOM_FOR_EDGES);
        self.groups.reserve(room);
        self.contacts.reserve(room.saturating_sub(self.contacts.len()));
        self.anchors.reserve(room.saturating_sub(self.anchors.len()));
        self.points.reserve(count);
        self.nearest.clear();
        self.nearest.resize(count, Nearness::FAR);
        self.slot.resize(count, 0);
        self.contacts.resize(self.contacts.len().max(group_count), None);
        self.anchors.resize(self.anchors.len().max(group_count), None);
        self.x.resize(count, Vec3::zeros());
        self.v.resize(count, Vec3::zeros());
        self.nearest_patch.clear();
        self.nearest_patch.resize(self.finder.patch_count(), Nearness::FAR);
        self.patch_slot.resize(self.finder.patch_count(), 0);
        self.patches.reserve(self.finder.patch_count());
        self.boxes.reserve(self.finder.patch_count());
        self.pairs.clear();
        self.pairs.reserve(self.finder.vertex_pairs().len().max(ROOM_FOR_PAIRS));

        // groups of vertices, then of edges
        let mut start = 0;
        let nearest = &mut self.nearest;
        let mut note = |point: u32, near: Nearness| {
            nearest[point as usize] = nearest[point as usize].and(near);
        };
        for own in self.finder.vertex_pairs().chunk_by(|a, b| a.first == b.first) {
            let end = start + own.len() as u32;
            let mut all = Nearness::FAR;
            for pair in own {
                let near = Nearness::of_vertex(&self.finder, pair);
                all = all.and(near);
                self.pairs.push(PatchPair { slot: pair.second, near });
                let patch = &mut self.nearest_patch[pair.second as usize];
                *patch = patch.and(near);
            }
            note(own[0].first, all);
            self.groups.push(Group { start, end, is_edges: false, near: all });
            start = end;
        }
        for (i, pair) in edge_pairs.iter().enumerate() {
            let (start, near) = (i as u32, Nearness::of_edges(&self.finder, pair));
            self.groups.push(Group { start, end: start + 1, is_edges: true, near });
            for edge in [pair.first, pair.second].map(|edge| self.finder.edge(edge)) {
                edge.ends.into_iter().chain(edge.wings).for_each(|point| note(point, near));
            }
        }

        // patches that are part of a pair, with their points
        for (number, near) in
            self.nearest_patch.iter().enumerate().filter(|(_, near)| near.clearance.is_finite())
        {
            self.patch_slot[number] = self.patches.len() as u32;
            self.patches.push(*near);
            let patch = self.finder.patch(number as u32);
            self.boxes.push(PatchBox { bounds: Bounds::EMPTY, range: patch.range, patch: number as u32 });
            for triangle in self.finder.patch_triangles(patch) {
                self.finder.triangle(*triangle).into_iter().for_each(|point| note(point, *near));
            }
        }
        self.pairs.iter_mut().for_each(|pair| pair.slot = self.patch_slot[pair.slot as usize]);

        // points that are part of a pair
        for (point, near) in self.nearest.iter().enumerate().filter(|(_, near)| near.clearance.is_finite()) {
            self.slot[point] = self.points.len() as u32;
            self.points.push(NearPoint { point: point as u32, near: *near });
        }
    }

    /// Finds what each group is in contact with.
    fn find_contacts(&mut self, model: &Model, state: &State, range: f64) {
        let (elapsed, strayed) = (self.elapsed as f32, 2.0 * self.strayed as f32);
        // more than the rounding of distances in single precision
        let slack = 1e-5 * (range as f32 + strayed);
        let may_collide =
            |near: &Nearness| near.clearance <= strayed + slack + elapsed * near.closing * (1.0 + 1e-5);
        self.follow_points(model, state, may_collide);

        // the contact of each group
        let PairForces { finder, groups, x, slot, pairs, boxes, contacts, anchors, .. } = self;
        let (x, slot, pairs, boxes) = (&*x, &*slot, &*pairs, &*boxes);
        let at = |point: u32| x[slot[point as usize] as usize];
        let find = |group: &Group| {
            if !may_collide(&group.near) {
                return None;
            }
            let found = if group.is_edges {
                PairContact::of_edges(finder, &finder.edge_pairs()[group.start as usize], at)
            } else {
                let own = &pairs[group.start as usize..group.end as usize];
                let near = own.iter().filter(|pair| may_collide(&pair.near));
                let patches = near.map(|pair| &boxes[pair.slot as usize]);
                let vertex = finder.vertex_pairs()[group.start as usize].first;
                NearestTriangles::new(finder, vertex, at).contact(patches)
            };
            found.filter(|contact| !contact.is_inside_out(model, &state.node_x))
        };
        let count = groups.len();
        let all = (groups.as_slice(), &mut contacts[..count], &mut anchors[..count]);
        for_each_part(all, GROUPS, |_, (groups, contacts, anchors)| {
            for ((group, contact), anchor) in groups.iter().zip(contacts).zip(anchors) {
                *contact = find(group);
                if contact.is_none() {
                    *anchor = None;
                }
            }
        });
    }

    /// Updates the points and the boxes of patches that may be in contact.
    fn follow_points(
        &mut self,
        model: &Model,
        state: &State,
        may_collide: impl Fn(&Nearness) -> bool + Copy + Sync,
    ) {
        let PairForces { finder, points, x, v, slot, patches, boxes, .. } = self;
        let count = points.len();
        for_each_part((points.as_slice(), &mut x[..count], &mut v[..count]), POINTS, |_, (points, x, v)| {
            for ((point, x), v) in points.iter().zip(x).zip(v).filter(|((p, _), _)| may_collide(&p.near)) {
                PointMotion { x: *x, v: *v } =
                    model.contact_surface().motion_at(point.point as usize, &state.node_x, &state.node_v);
            }
        });
        let (x, slot, finder) = (&*x, &*slot, &*finder);
        let at = |point: u32| &x[slot[point as usize] as usize];
        for_each_part((patches.as_slice(), boxes.as_mut_slice()), POINTS, |_, (patches, boxes)| {
            for (_, own) in patches.iter().zip(boxes).filter(|(near, _)| may_collide(near)) {
                let triangles = finder.patch_triangles(finder.patch(own.patch));
                own.bounds = Bounds::around(triangles.iter().flat_map(|t| finder.triangle(*t)).map(at));
            }
        });
    }

    /// Adds contact forces to nodes (N); returns the energy they supply (J).
    pub(super) fn push(&mut self, model: &Model, state: &State, h: f64, node_force: &mut [Vec3]) -> f64 {
        // contacts at current positions
        let Some(soft) = &model.contact_surface().soft else { return 0.0 };
        if self.groups.is_empty() {
            return 0.0;
        }
        self.find_contacts(model, state, max_range(soft));
        let PairForces { finder, groups, contacts, anchors, law, x, v, slot, .. } = self;
        let x = |point: u32| x[slot[point as usize] as usize];
        let v = |point: u32| v[slot[point as usize] as usize];
        let contacts = &contacts[..groups.len()];
        law.begin(model.contact_surface(), contacts.iter().flatten(), h);

        // force of each contact, with the updated friction anchor
        let mut given = 0.0;
        for (contact, anchor) in contacts.iter().zip(anchors) {
            let Some(contact) = contact else { continue };
            let penalty = law.of(model.contact_surface(), contact);
            let lever = Lever::of(model.contact_surface(), finder, contact, contact.gap(x), &state.node_x);
            let relative = contact.gap(v) - lever.velocity(&state.node_x, &state.node_v);
            let far = |point: u32| model.contact_surface().at(point as usize, &state.node_x);
            let stretch = anchor.and_then(|anchor| contact.stretch(finder, &anchor, far));
            let push = penalty.force(contact.depth, &contact.normal, &relative, &stretch.unwrap_or_default());
            if penalty.friction > 0.0 && (stretch.is_none() || push.slips) {
                *anchor = Some(contact.hold(x, &push.stretch));
            }

            // action on the first surface and reaction on the second
            given += (h * push.force.dot(&relative)).max(0.0);
            for (point, weight) in contact.points.into_iter().zip(contact.weights) {
                for (node, row_weight) in model.contact_surface().row(point as usize) {
                    node_force[node] += (weight * row_weight) * push.force;
                }
            }
            lever.add_couple(&push.force, &state.node_x, node_force);
        }
        given
    }
}

impl PairForces {
    /// The contacts of bodies of tets that are deeper than a quarter of the range beyond which they are lost: points with their weights, and the direction along g in which they part. Impulses along it have one line of
    /// action, and conserve angular momentum.
    pub(super) fn deep(&self) -> impl Iterator<Item = ([(u32, f64); 4], Vec3)> + '_ {
        let range = |pair: SoftPair| match pair {
            SoftPair::VertexTriangle { triangle, .. } => self.finder.range(triangle),
            SoftPair::Edges { edges: [a, b] } => self.finder.edge_range(a).min(self.finder.edge_range(b)),
        };
        let is_deep = move |contact: &&PairContact| contact.depth > DEEP * range(contact.pair);
        let found = self.contacts[..self.groups.len()].iter().flatten().filter(is_deep);
        found.filter_map(|contact| {
            let gap = contact.gap(|point| self.x[self.slot[point as usize] as usize]);
            let along = gap.dot(&contact.normal);
            let out = if along < 0.0 { -gap } else { gap }.try_normalize(f64::MIN_POSITIVE)?;
            let points = [0, 1, 2, 3].map(|i| (contact.points[i], contact.weights[i]));
            (out.dot(&contact.normal) > WELL_ALONG).then_some((points, out))
        })
    }
}

/// The largest range within which contact is detected (m).
fn max_range(soft: &SoftContact) -> f64 {
    soft.ranges.iter().copied().fold(0.0, f64::max)
}
