//! Detection of contacts between surfaces during an implicit step, self-contact included: at the current positions, and along the motion since the beginning of the step.

use super::super::pair_contact::PairContact;
use super::lagged_contact::LaggedContact;
use crate::Model;
use crate::friction_anchor::PairFrictionAnchor;
use crate::friction_anchor::SoftPair;
use rayon::prelude::*;
use sinew_contact::{NearPair, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;
use std::sync::Arc;

/// Possible contact pairs of a step, with workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct SoftPairs {
    made_for: Option<Arc<SurfacePairs>>,
    pub(super) finder: SurfacePairs,
    /// The deviation of points of each body from their predicted position that pairs allow for (m).
    drifts: Vec<f64>,
    /// Whether each edge is sharp at rest.
    is_sharp: Vec<bool>,
    /// The pairs of each vertex, then each pair of edges.
    pub(super) groups: Vec<Group>,
    /// For each pair whether the vertex was in front of the triangle at the beginning of the step, or behind it by less than its gap: surfaces that slide over each other sink in by so much, and the vertices ahead of an edge are
    /// above the face that it slides on.
    in_front: Vec<bool>,
    /// The points of all pairs, their positions, and the index of each surface point among them.
    points: Vec<u32>,
    x: Vec<Vec3>,
    slot: Vec<u32>,
}

/// The pairs of one vertex, a range of all pairs, or one pair of edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    start: u32,
    end: u32,
    is_edges: bool,
    /// Whether it was in contact at the beginning of the step.
    was_in_contact: bool,
    /// The current contact.
    pub(super) contact: Option<PairContact>,
    /// The last contact in this step.
    pub(super) last: Option<LaggedPairContact>,
}

/// A vertex in contact with a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaggedPairContact {
    pub(super) contact: PairContact,
    pub(super) lagged: LaggedContact,
    /// The friction anchor at the beginning of the step.
    pub(super) anchor: Option<PairFrictionAnchor>,
}

/// Deviation of points from their predicted position that triggers a new detection, relative to the range of contact.
const STRAY: f64 = 0.5;
/// Maximum detection distance, in the same unit: a discontinuous animation must not test all pairs.
const FARTHEST: f64 = 16.0;
/// Points whose relative displacement is below this fraction of the range are still within it.
const SHORT: f64 = 0.5;
/// Triangles are enlarged by this fraction of the range, so that nothing passes between two of them.
const SKIN: f64 = 0.1;

/// A face beside an edge does not face away from the one on the other side (cosine): the far side of a thin part does.
const FACING_AWAY: f64 = -0.5;
/// A vertex is straight in front of a triangle if its normal is within this cosine, 5°, of that of the triangle.
const STRAIGHT: f64 = 0.996;
/// Two triangles share the point that is nearest to a vertex if those points differ by less than this fraction of the distance.
const SAME_POINT: f64 = 1e-6;

/// Marks a point that is not part of any pair.
const NONE: u32 = u32::MAX;

impl SoftPairs {
    /// Whether nodes at the given positions (m) deviate too far from predicted ones.
    pub(super) fn is_stale(&self, model: &Model, expected: &[Vec3], node_x: &[Vec3]) -> bool {
        let stretch = model.contact_surface().stretch;
        model.bodies().iter().zip(&self.drifts).any(|(body, drift)| {
            let nodes = body.nodes.clone();
            let apart = |(a, b): (&Vec3, &Vec3)| stretch * (a - b).norm() > *drift;
            expected[nodes.clone()].iter().zip(&node_x[nodes]).any(apart)
        })
    }

    /// Binds to the bounding volume hierarchies of a model.
    pub(super) fn bind(&mut self, model: &Model) {
        if !model.contact_surface().has_trees(self.made_for.as_ref()) {
            *self = SoftPairs { made_for: model.contact_surface().pairs().cloned(), ..SoftPairs::default() };
            self.finder = self.made_for.as_deref().cloned().unwrap_or_default();
            if let Some(soft) = &model.contact_surface().soft {
                self.drifts = soft.drifts(STRAY);
                self.is_sharp.clone_from(&soft.is_sharp);
            }
        }
        self.groups.clear();
        self.points.clear();
    }

    /// Whether contact between surfaces is disabled.
    pub(super) fn is_idle(&self) -> bool {
        self.made_for.is_none()
    }

    /// All contacts that were active in this step.
    pub(super) fn pressed(&self) -> impl Iterator<Item = &LaggedPairContact> {
        self.groups.iter().filter_map(|group| group.last.as_ref())
    }

    /// The same, to be changed.
    pub(super) fn pressed_mut(&mut self) -> impl Iterator<Item = &mut LaggedPairContact> {
        self.groups.iter_mut().filter_map(|group| group.last.as_mut())
    }

    /// Detects all pairs that may come into contact while points move from `x` (m) with velocity `v` (m/s) for `h` (s).
    pub(super) fn detect(&mut self, model: &Model, (x, v): (&[Vec3], &[Vec3]), h: f64) {
        // gaps at the beginning of the step, and pairs within the time horizon, limited for very fast motion
        if let Some(soft) = &model.contact_surface().soft {
            soft.rest_gaps.update(x, &mut self.finder);
        }
        self.finder.refit(x, v);
        let rate = self.finder.approach_rate(h, &self.drifts);
        let time = if rate * h > FARTHEST { FARTHEST / rate } else { h };
        let known: Vec<LaggedPairContact> = self.pressed().copied().collect();
        self.finder.find(x, v, time, &self.drifts);

        // groups of vertices and edges, and the points they need
        self.groups.clear();
        let mut start = 0;
        let group = |start, end, is_edges| Group {
            start,
            end,
            is_edges,
            was_in_contact: false,
            contact: None,
            last: None,
        };
        for own in self.finder.vertex_pairs().chunk_by(|a, b| a.first == b.first) {
            let end = start + own.len() as u32;
            self.groups.push(group(start, end, false));
            start = end;
        }
        // flat edges rest on vertices: as steps are long, friction along them would be that of a saw
        let is_sharp = |edge: u32| self.is_sharp.get(edge as usize) == Some(&true);
        let edges = self.finder.edge_pairs().iter().enumerate();
        let sharp = edges.filter(|(_, pair)| is_sharp(pair.first) && is_sharp(pair.second));
        self.groups.extend(sharp.map(|(i, _)| group(i as u32, i as u32 + 1, true)));
        self.collect_points(x.len());

        // state at the beginning of the step, and contacts known from before
        self.x.resize(self.points.len(), Vec3::zeros());
        self.note_start(x);
        for last in known {
            let found = self.groups.binary_search_by_key(&rank(last.contact.pair), |group| self.rank(group));
            if let Ok(i) = found {
                self.groups[i].last = Some(last);
            }
        }
    }

    /// Collects the points of all pairs, among `count`.
    fn collect_points(&mut self, count: usize) {
        let SoftPairs { finder, points, slot, .. } = self;
        points.clear();
        slot.clear();
        slot.resize(count, NONE);
        let mut note = |point: u32| {
            let slot = &mut slot[point as usize];
            if *slot == NONE {
                *slot = points.len() as u32;
                points.push(point);
            }
        };
        for pair in finder.vertex_pairs() {
            note(pair.first);
            finder.triangle(pair.second).into_iter().for_each(&mut note);
        }
        for edge in finder.edge_pairs().iter().flat_map(|pair| [pair.first, pair.second]) {
            let edge = finder.edge(edge);
            edge.ends.into_iter().chain(edge.wings).for_each(&mut note);
        }
    }

    /// The order of groups: by vertex, then by edges.
    fn rank(&self, group: &Group) -> (u32, u32, u32) {
        if group.is_edges {
            let pair = self.finder.edge_pairs()[group.start as usize];
            return (1, pair.first, pair.second);
        }
        (0, self.finder.vertex_pairs()[group.start as usize].first, 0)
    }

    /// Records which pairs are in contact and which vertices are in front of their triangles at the beginning of the step, with points at the given positions (m).
    fn note_start(&mut self, x: &[Vec3]) {
        let SoftPairs { finder, groups, in_front, .. } = self;
        let pairs = finder.vertex_pairs();
        let at = |point: u32| x[point as usize];
        in_front.resize(pairs.len(), false);
        let is_in_front = |(front, pair): (&mut bool, &NearPair)| {
            let [a, b, c] = finder.triangle(pair.second).map(at);
            let normal = (b - a).cross(&(c - a));
            *front = (at(pair.first) - a).dot(&normal) >= -finder.gap(pair.first).max(0.0) * normal.norm();
        };
        in_front.par_iter_mut().zip(pairs.par_iter()).with_min_len(1024).for_each(is_in_front);
        let find = |group: &mut Group| {
            if !group.is_edges {
                let own = &pairs[group.start as usize..group.end as usize];
                let near = own.iter().filter(|pair| is_near(finder, pair, at)).map(|pair| pair.second);
                group.was_in_contact = PairContact::of_vertex(finder, own[0].first, near, at).is_some();
            }
        };
        groups.par_iter_mut().with_min_len(256).for_each(find);
    }

    /// Finds contacts for nodes at the given positions (m) when points were at `start` at the beginning of the step. In order of groups.
    ///
    /// A vertex behind a triangle is in contact if it was so at the beginning of the step, or was in front of it then. Penetrations deeper than the contact range, as of skins modelled through each other, are ignored:
    /// they would be expelled violently as soon as they came within range.
    pub(super) fn find(&mut self, model: &Model, start: &[Vec3], node_x: &[Vec3]) {
        let SoftPairs { finder, groups, points, x, slot, in_front, .. } = self;
        let place = |(x, point): (&mut Vec3, &u32)| *x = model.contact_surface().at(*point as usize, node_x);
        x.par_iter_mut().zip(points.par_iter()).with_min_len(1024).for_each(place);
        let now = |point: u32| x[slot[point as usize] as usize];
        let then = |point: u32| start[point as usize];
        let find = |group: &mut Group| {
            let found = if group.is_edges {
                PairContact::of_edges(finder, &finder.edge_pairs()[group.start as usize], now)
            } else {
                let range = group.start as usize..group.end as usize;
                vertex_contact(finder, group, &in_front[range], (&then, &now))
            };
            group.contact = found.filter(|contact| !contact.is_inside_out(model, node_x));
        };
        groups.par_iter_mut().with_min_len(256).for_each(find);
    }
}

/// The order of contacts: by vertex, then by edges.
fn rank(pair: SoftPair) -> (u32, u32, u32) {
    match pair {
        SoftPair::VertexTriangle { vertex, .. } => (0, vertex, 0),
        SoftPair::Edges { edges: [first, second] } => (1, first, second),
    }
}

/// The contact of a vertex with points that were at `then` at the beginning of the step and are at `now`.
fn vertex_contact(
    finder: &SurfacePairs,
    group: &Group,
    in_front: &[bool],
    (then, now): (&impl Fn(u32) -> Vec3, &impl Fn(u32) -> Vec3),
) -> Option<PairContact> {
    let own = &finder.vertex_pairs()[group.start as usize..group.end as usize];
    let is_behind = |pair: &NearPair| {
        let [a, b, c] = finder.triangle(pair.second).map(now);
        (now(pair.first) - a).dot(&(b - a).cross(&(c - a))) < 0.0
    };
    let may_collide = |(pair, front): &(&NearPair, &bool)| {
        let is_sheet = finder.is_two_sided(pair.second);
        is_near(finder, pair, now) && (is_sheet || group.was_in_contact || **front || !is_behind(pair))
    };
    let near = own.iter().zip(in_front).filter(may_collide).map(|(pair, _)| pair.second);
    let found = PairContact::of_vertex(finder, own[0].first, near, now);
    let deep = |passed: &PairContact| match passed.pair {
        SoftPair::VertexTriangle { triangle, .. } => {
            passed.depth > finder.range(triangle) || finder.is_two_sided(triangle)
        }
        SoftPair::Edges { .. } => false,
    };
    let passed = first_passed(finder, own, (then, now)).filter(deep);
    let contact = match (passed, found) {
        // it slid past an edge, and is nearer to the face on the other side of that
        (Some(passed), Some(beside)) if beside.normal.dot(&passed.normal) > FACING_AWAY => beside,
        (passed, found) => passed.or(found)?,
    };
    Some(along_a_face(finder, own, &contact, (then, now)).unwrap_or(contact)).filter(|c| c.depth > 0.0)
}

/// The contact of a vertex in front of an edge or a corner, with the face there that it slides along, if it moves by more than its gap in the step. The normal between those of the faces is that of one moment only: fixed
/// for the step, it would stop a box whose edge slides over a vertex.
fn along_a_face(
    finder: &SurfacePairs,
    pairs: &[NearPair],
    contact: &PairContact,
    (then, now): (&impl Fn(u32) -> Vec3, &impl Fn(u32) -> Vec3),
) -> Option<PairContact> {
    // fast, in front of a surface, and not straight in front of its face
    let SoftPair::VertexTriangle { vertex, triangle } = contact.pair else { return None };
    let (gap, g) = (finder.gap(vertex), contact.gap(now));
    let motion = g - contact.gap(then);
    let is_straight = contact.normal.dot(&triangle_normal(finder, triangle, now)?) > STRAIGHT;
    if motion.norm() <= gap || contact.depth >= gap || is_straight {
        return None;
    }

    // the face whose normal is most across the motion
    let p = now(vertex);
    let mut best: Option<(f64, PairContact)> = None;
    for pair in pairs.iter().filter(|pair| finder.shell(pair.second) == finder.shell(triangle)) {
        let corners = finder.triangle(pair.second);
        let Some(normal) = triangle_normal(finder, pair.second, now) else { continue };
        let nearest = nearest_on_triangle(&p, &corners.map(now));
        let along = (normal.dot(&motion) / motion.norm()).abs();
        let is_there = (p - nearest.point - g).norm() <= SAME_POINT * g.norm();
        if is_there && best.as_ref().is_none_or(|(least, _)| along < *least) {
            let [wa, wb, wc] = nearest.weights;
            let pair = SoftPair::VertexTriangle { vertex, triangle: pair.second };
            let points = [vertex, corners[0], corners[1], corners[2]];
            let weights = [1.0, -wa, -wb, -wc];
            best = Some((along, PairContact { pair, points, weights, depth: gap - normal.dot(&g), normal }));
        }
    }
    best.map(|(_, contact)| contact)
}

/// The unit normal of a triangle; none if it has no area.
fn triangle_normal(finder: &SurfacePairs, triangle: u32, at: &impl Fn(u32) -> Vec3) -> Option<Vec3> {
    let [a, b, c] = finder.triangle(triangle).map(at);
    (b - a).cross(&(c - a)).try_normalize(0.0)
}

/// Whether a vertex may be within reach of a triangle.
fn is_near(finder: &SurfacePairs, pair: &NearPair, at: impl Fn(u32) -> Vec3) -> bool {
    let reach = finder.range(pair.second).max(finder.gap(pair.first));
    let p = at(pair.first);
    let [a, b, c] = finder.triangle(pair.second).map(at);
    let (low, high) = (a.inf(&b).inf(&c), a.sup(&b).sup(&c));
    (0..3).all(|k| p[k] >= low[k] - reach && p[k] <= high[k] + reach)
}

/// The first triangle that a vertex passed through from front to back, if any; that of a sheet in either direction. Pairs with a relative displacement below a fraction of the range are skipped; triangles are
/// enlarged by a fraction of it.
fn first_passed(
    finder: &SurfacePairs,
    pairs: &[NearPair],
    (then, now): (&impl Fn(u32) -> Vec3, &impl Fn(u32) -> Vec3),
) -> Option<PairContact> {
    let vertex = pairs[0].first;
    let (p0, p1) = (then(vertex), now(vertex));
    let mut first: Option<(f64, PairContact)> = None;
    for pair in pairs {
        // pairs with enough relative motion
        let (triangle, range) = (pair.second, finder.range(pair.second));
        let corners = finder.triangle(triangle);
        let (from, to) = (corners.map(then), corners.map(now));
        if ((p1 - p0) - (to[0] - from[0])).norm() < SHORT * range {
            continue;
        }

        // from the front to the back side
        let normal = |[a, b, c]: &[Vec3; 3]| (b - a).cross(&(c - a));
        let (before, after) = (normal(&from), normal(&to));
        let (above, below) = ((p0 - from[0]).dot(&before), (p1 - to[0]).dot(&after));
        let size = (before.norm(), after.norm());
        let side = if finder.is_two_sided(triangle) && above < 0.0 { -1.0 } else { 1.0 };
        let (above, below) = (side * above, side * below);
        if !(above >= 0.0 && below < 0.0 && size.0 > 0.0 && size.1 > 0.0) {
            continue;
        }
        // time of impact, for a signed distance that is linear in time
        let (above, below) = (above / size.0, below / size.1);
        let fraction = above / (above - below);
        if first.as_ref().is_some_and(|(earlier, _)| *earlier <= fraction) {
            continue;
        }

        // the point of impact must be on the triangle
        let between = |a: &Vec3, b: &Vec3| a + fraction * (b - a);
        let p = between(&p0, &p1);
        let there = core::array::from_fn(|i| between(&from[i], &to[i]));
        let found = nearest_on_triangle(&p, &there);
        if (found.point - p).norm() > SKIN * range {
            continue;
        }

        // keep the earliest
        let [wa, wb, wc] = found.weights;
        let contact = PairContact {
            pair: SoftPair::VertexTriangle { vertex, triangle },
            points: [vertex, corners[0], corners[1], corners[2]],
            weights: [1.0, -wa, -wb, -wc],
            depth: finder.gap(vertex) - below,
            normal: after * (side / size.1),
        };
        first = Some((fraction, contact));
    }
    first.map(|(_, contact)| contact)
}
