//! Which surfaces touch which, or themselves, in the course of an implicit step: where they are now, and what they passed on the way there.

use super::super::pair_contact::PairContact;
use super::lagged_contact::LaggedContact;
use crate::Model;
use crate::friction_anchor::PairFrictionAnchor;
use rayon::prelude::*;
use sinew_contact::{NearPair, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;
use std::sync::Arc;

/// Pairs that may touch in a step, and scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct SoftPairs {
    made_for: Option<Arc<SurfacePairs>>,
    finder: SurfacePairs,
    /// The pairs of each vertex.
    pub(super) groups: Vec<Group>,
    /// For each pair whether the vertex was in front of the triangle as the step began.
    in_front: Vec<bool>,
    /// The points that pairs are made of, where they are, and the place of each point of the surfaces among them.
    points: Vec<u32>,
    x: Vec<Vec3>,
    slot: Vec<u32>,
}

/// The pairs of one vertex, a range of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    start: u32,
    end: u32,
    /// Whether it touched as the step began.
    was_in_contact: bool,
    /// What it touches now.
    pub(super) contact: Option<PairContact>,
    /// The touch it had when last it had one in this step.
    pub(super) last: Option<LaggedPairContact>,
}

/// A vertex that presses on a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaggedPairContact {
    pub(super) contact: PairContact,
    pub(super) lagged: LaggedContact,
    /// Where friction held it as the step began.
    pub(super) anchor: Option<PairFrictionAnchor>,
}

/// How far points may end up from where they were expected before pairs are looked for again, in parts of the mean distance of vertices.
const STRAY: f64 = 0.5;
/// Pairs are looked for no farther than this, in the same parts: an animation that jumps shall not look at all with all.
const FARTHEST: f64 = 40.0;
/// Points that moved by less than this fraction of the range against what is near them are still within it.
const SHORT: f64 = 0.5;

/// A point is no part of any pair.
const NONE: u32 = u32::MAX;

impl SoftPairs {
    /// How far points may end up from where they were expected (m).
    pub(super) fn max_stray(model: &Model) -> f64 {
        STRAY * model.contact_surface().spacing
    }

    /// Has the trees of a model.
    pub(super) fn bind(&mut self, model: &Model) {
        if !model.contact_surface().has_trees(self.made_for.as_ref()) {
            *self = SoftPairs { made_for: model.contact_surface().pairs.clone(), ..SoftPairs::default() };
            self.finder = model.contact_surface().pairs.as_deref().cloned().unwrap_or_default();
        }
        self.groups.clear();
        self.points.clear();
    }

    /// Whether no surface may touch another.
    pub(super) fn is_idle(&self) -> bool {
        self.made_for.is_none()
    }

    /// Corners of a triangle among all points.
    pub(super) fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.finder.triangle(triangle)
    }

    /// All vertices that pressed on a triangle in this step.
    pub(super) fn pressed(&self) -> impl Iterator<Item = &LaggedPairContact> {
        self.groups.iter().filter_map(|group| group.last.as_ref())
    }

    /// Looks for all pairs that may touch while points go from `x` (m) as fast as `v` (m/s) for `h` (s).
    pub(super) fn detect(&mut self, model: &Model, x: &[Vec3], v: &[Vec3], h: f64) {
        let stray = SoftPairs::max_stray(model);
        self.finder.refit(x, v);
        let farthest = FARTHEST * model.contact_surface().spacing;
        let fastest = v.iter().map(Vec3::norm_squared).fold(0.0, f64::max).sqrt();
        // how fast those that may meet come nearer is found by a walk of its own, which few steps need
        let is_fast = 2.0 * fastest * h > farthest;
        let closing = if is_fast { self.finder.closing_speed(h, stray) } else { 0.0 };
        let time = if closing * h > farthest { farthest / closing } else { h };
        let known: Vec<LaggedPairContact> = self.pressed().copied().collect();
        self.finder.find(x, v, time, stray);

        self.groups.clear();
        self.points.clear();
        self.slot.clear();
        self.slot.resize(x.len(), NONE);
        let mut start = 0;
        for own in self.finder.pairs().chunk_by(|a, b| a.vertex == b.vertex) {
            let end = start + own.len() as u32;
            self.groups.push(Group { start, end, was_in_contact: false, contact: None, last: None });
            start = end;
            let corners = own.iter().flat_map(|pair| self.finder.triangle(pair.triangle));
            for point in corners.chain([own[0].vertex]) {
                let slot = &mut self.slot[point as usize];
                if *slot == NONE {
                    *slot = self.points.len() as u32;
                    self.points.push(point);
                }
            }
        }
        self.x.resize(self.points.len(), Vec3::zeros());
        self.note_start(x);
        let pairs = self.finder.pairs();
        for last in known {
            let vertex = |group: &Group| pairs[group.start as usize].vertex;
            if let Ok(i) = self.groups.binary_search_by_key(&last.contact.vertex, vertex) {
                self.groups[i].last = Some(last);
            }
        }
    }

    /// Notes who touches and who is in front of whom as the step begins, with points at places (m).
    fn note_start(&mut self, x: &[Vec3]) {
        let SoftPairs { finder, groups, in_front, .. } = self;
        let (pairs, reach) = (finder.pairs(), finder.range());
        let at = |point: u32| x[point as usize];
        in_front.resize(pairs.len(), false);
        let is_in_front = |(front, pair): (&mut bool, &NearPair)| {
            let [a, b, c] = finder.triangle(pair.triangle).map(at);
            *front = (at(pair.vertex) - a).dot(&(b - a).cross(&(c - a))) >= 0.0;
        };
        in_front.par_iter_mut().zip(pairs.par_iter()).with_min_len(1024).for_each(is_in_front);
        let find = |group: &mut Group| {
            let own = &pairs[group.start as usize..group.end as usize];
            let near = own.iter().filter(|pair| is_near(finder, pair, reach, at));
            group.was_in_contact = PairContact::nearest(finder, near, at).is_some();
        };
        groups.par_iter_mut().with_min_len(256).for_each(find);
    }

    /// Finds what touches with nodes at places (m), when points were at `start` as the step began. In order of vertices.
    ///
    /// A vertex behind a triangle touches it if it did so as the step began, or was in front of it then. What is deeper than touching is seen, as skins drawn through each other are, is left alone:
    /// it would be shot out as soon as it came within sight.
    pub(super) fn find(&mut self, model: &Model, start: &[Vec3], node_x: &[Vec3]) {
        let SoftPairs { finder, groups, points, x, slot, in_front, .. } = self;
        let place = |(x, point): (&mut Vec3, &u32)| *x = model.contact_surface().at(*point as usize, node_x);
        x.par_iter_mut().zip(points.par_iter()).with_min_len(1024).for_each(place);
        let now = |point: u32| x[slot[point as usize] as usize];
        let then = |point: u32| start[point as usize];
        let (pairs, reach) = (finder.pairs(), finder.range());
        let skin = finder.gap();
        let find = |group: &mut Group| {
            let range = group.start as usize..group.end as usize;
            let own = &pairs[range.clone()];
            let is_behind = |pair: &NearPair| {
                let [a, b, c] = finder.triangle(pair.triangle).map(now);
                (now(pair.vertex) - a).dot(&(b - a).cross(&(c - a))) < 0.0
            };
            let may_collide = |(pair, front): &(&NearPair, &bool)| {
                is_near(finder, pair, reach, now) && (group.was_in_contact || **front || !is_behind(pair))
            };
            let near = own.iter().zip(&in_front[range]).filter(may_collide).map(|(pair, _)| pair);
            group.contact = PairContact::nearest(finder, near, now);
            if let Some(passed) = first_passed(finder, own, (&then, &now), SHORT * reach, skin)
                && passed.depth > reach
            {
                group.contact = Some(passed);
            }
            group.contact = group.contact.filter(|contact| !contact.is_inside_out(model, node_x));
        };
        groups.par_iter_mut().with_min_len(256).for_each(find);
    }
}

/// Whether a vertex may be within reach (m) of a triangle.
fn is_near(finder: &SurfacePairs, pair: &NearPair, reach: f64, at: impl Fn(u32) -> Vec3) -> bool {
    let p = at(pair.vertex);
    let [a, b, c] = finder.triangle(pair.triangle).map(at);
    let (low, high) = (a.inf(&b).inf(&c), a.sup(&b).sup(&c));
    (0..3).all(|k| p[k] >= low[k] - reach && p[k] <= high[k] + reach)
}

/// The first triangle that a vertex went through from its front to its back, if any. Pairs that moved against each other by less than `short` (m) are left out; triangles are
/// widened by `skin` (m).
fn first_passed(
    finder: &SurfacePairs,
    pairs: &[NearPair],
    (then, now): (&impl Fn(u32) -> Vec3, &impl Fn(u32) -> Vec3),
    short: f64,
    skin: f64,
) -> Option<PairContact> {
    let vertex = pairs[0].vertex;
    let (p0, p1) = (then(vertex), now(vertex));
    let mut first: Option<(f64, PairContact)> = None;
    for pair in pairs {
        let corners = finder.triangle(pair.triangle);
        let (from, to) = (corners.map(then), corners.map(now));
        if ((p1 - p0) - (to[0] - from[0])).norm_squared() < short * short {
            continue;
        }
        let normal = |[a, b, c]: &[Vec3; 3]| (b - a).cross(&(c - a));
        let (before, after) = (normal(&from), normal(&to));
        let (above, below) = ((p0 - from[0]).dot(&before), (p1 - to[0]).dot(&after));
        let size = (before.norm(), after.norm());
        if !(above >= 0.0 && below < 0.0 && size.0 > 0.0 && size.1 > 0.0) {
            continue;
        }
        // heights change about evenly
        let (above, below) = (above / size.0, below / size.1);
        let fraction = above / (above - below);
        if first.as_ref().is_some_and(|(earlier, _)| *earlier <= fraction) {
            continue;
        }
        let between = |a: &Vec3, b: &Vec3| a + fraction * (b - a);
        let p = between(&p0, &p1);
        let there = core::array::from_fn(|i| between(&from[i], &to[i]));
        let found = nearest_on_triangle(&p, &there);
        if (found.point - p).norm() > skin {
            continue;
        }
        let depth = pair.gap - below;
        let (triangle, weights, normal) = (pair.triangle, found.weights, after / size.1);
        let contact = PairContact { vertex, triangle, corners, weights, depth, normal };
        first = Some((fraction, contact));
    }
    first.map(|(_, contact)| contact)
}
