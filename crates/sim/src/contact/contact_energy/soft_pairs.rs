//! Detection of contacts between surfaces during an implicit step, self-contact included: at the current positions, and along the motion since the beginning of the step.

use super::super::pair_contact::PairContact;
use super::lagged_contact::LaggedContact;
use crate::Model;
use crate::friction_anchor::PairFrictionAnchor;
use rayon::prelude::*;
use sinew_contact::{NearPair, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;
use std::sync::Arc;

/// Possible contact pairs of a step, with workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct SoftPairs {
    made_for: Option<Arc<SurfacePairs>>,
    finder: SurfacePairs,
    /// The pairs of each vertex.
    pub(super) groups: Vec<Group>,
    /// For each pair whether the vertex was in front of the triangle at the beginning of the step.
    in_front: Vec<bool>,
    /// The points of all pairs, their positions, and the index of each surface point among them.
    points: Vec<u32>,
    x: Vec<Vec3>,
    slot: Vec<u32>,
}

/// The pairs of one vertex, a range of all pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    start: u32,
    end: u32,
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

/// Deviation of points from their predicted position that triggers a new detection, relative to the mean vertex spacing.
const STRAY: f64 = 0.5;
/// Maximum detection distance, in the same unit: a discontinuous animation must not test all pairs.
const FARTHEST: f64 = 40.0;
/// Points whose relative displacement is below this fraction of the range are still within it.
const SHORT: f64 = 0.5;

/// Marks a point that is not part of any pair.
const NONE: u32 = u32::MAX;

impl SoftPairs {
    /// Maximum deviation of points from their predicted positions (m).
    pub(super) fn max_stray(model: &Model) -> f64 {
        STRAY * model.contact_surface().spacing
    }

    /// Binds to the bounding volume hierarchies of a model.
    pub(super) fn bind(&mut self, model: &Model) {
        if !model.contact_surface().has_trees(self.made_for.as_ref()) {
            *self = SoftPairs { made_for: model.contact_surface().pairs.clone(), ..SoftPairs::default() };
            self.finder = model.contact_surface().pairs.as_deref().cloned().unwrap_or_default();
        }
        self.groups.clear();
        self.points.clear();
    }

    /// Whether contact between surfaces is disabled.
    pub(super) fn is_idle(&self) -> bool {
        self.made_for.is_none()
    }

    /// Corners of a triangle as surface points.
    pub(super) fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.finder.triangle(triangle)
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
    pub(super) fn detect(&mut self, model: &Model, x: &[Vec3], v: &[Vec3], h: f64) {
        // time horizon, limited for very fast motion
        let stray = SoftPairs::max_stray(model);
        self.finder.refit(x, v);
        let farthest = FARTHEST * model.contact_surface().spacing;
        let fastest = v.iter().map(Vec3::norm_squared).fold(0.0, f64::max).sqrt();
        // the rate of approach of possible contacts takes a tree traversal of its own, which few steps need
        let is_fast = 2.0 * fastest * h > farthest;
        let closing = if is_fast { self.finder.closing_speed(h, stray) } else { 0.0 };
        let time = if closing * h > farthest { farthest / closing } else { h };

        // pairs within the horizon
        let known: Vec<LaggedPairContact> = self.pressed().copied().collect();
        self.finder.find(x, v, time, stray);

        // groups by vertex, and the points they need
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

        // state at the beginning of the step, and contacts known from before
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

    /// Records which pairs are in contact and which vertices are in front of their triangles at the beginning of the step, with points at the given positions (m).
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

    /// Finds contacts for nodes at the given positions (m) when points were at `start` at the beginning of the step. In order of vertices.
    ///
    /// A vertex behind a triangle is in contact if it was so at the beginning of the step, or was in front of it then. Penetrations deeper than the contact range, as of skins modelled through each other, are ignored:
    /// they would be expelled violently as soon as they came within range.
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

/// The first triangle that a vertex passed through from front to back, if any. Pairs with a relative displacement below `short` (m) are skipped; triangles are
/// enlarged by `skin` (m).
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
        // pairs with enough relative motion
        let corners = finder.triangle(pair.triangle);
        let (from, to) = (corners.map(then), corners.map(now));
        if ((p1 - p0) - (to[0] - from[0])).norm_squared() < short * short {
            continue;
        }

        // from the front to the back side
        let normal = |[a, b, c]: &[Vec3; 3]| (b - a).cross(&(c - a));
        let (before, after) = (normal(&from), normal(&to));
        let (above, below) = ((p0 - from[0]).dot(&before), (p1 - to[0]).dot(&after));
        let size = (before.norm(), after.norm());
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
        if (found.point - p).norm() > skin {
            continue;
        }

        // keep the earliest
        let depth = pair.gap - below;
        let (triangle, weights, normal) = (pair.triangle, found.weights, after / size.1);
        let contact = PairContact { vertex, triangle, corners, weights, depth, normal };
        first = Some((fraction, contact));
    }
    first.map(|(_, contact)| contact)
}
