//! Surfaces that touch each other or themselves: each vertex is pushed out of the triangle nearest to it.

use crate::{Model, State};
use rayon::prelude::*;
use sinew_contact::{NearPair, PairSurface, Response, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;
use std::sync::Arc;

/// Scratch of surfaces that touch.
#[derive(Clone, Debug, Default)]
pub(super) struct PairForces {
    made_for: Option<Arc<SurfacePairs>>,
    finder: SurfacePairs,
    /// The pairs of each vertex.
    groups: Vec<Group>,
    /// The points that pairs are made of, where they are and how they move; those that cannot touch yet are not kept up to date.
    points: Vec<NearPoint>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    /// For each point of the surfaces the distance of its nearest pair, then its place among `points`.
    nearest: Vec<f64>,
    slot: Vec<u32>,
    touches: Vec<Option<PairTouch>>,
    /// Where points were when pairs were looked for (m).
    x_then: Vec<Vec3>,
    /// How much nearer surfaces may come before pairs are looked for again, and how much they have since (m).
    within: f64,
    moved: f64,
    /// Stiffness that comes in at each point as a corner.
    incoming: Vec<f64>,
}

/// The pairs of one vertex, a range of all, and how near the nearest was when they were found (m).
#[derive(Clone, Copy, Debug)]
struct Group {
    start: u32,
    end: u32,
    distance: f64,
}

/// A point of a surface, and how near the nearest pair that it is part of was (m).
#[derive(Clone, Copy, Debug)]
struct NearPoint {
    point: u32,
    distance: f64,
}

/// A vertex that touches a triangle.
#[derive(Clone, Copy, Debug)]
struct PairTouch {
    vertex: u32,
    corners: [u32; 3],
    weights: [f64; 3],
    depth: f64,
    normal: Vec3,
}

/// Both sides of a pair take half of what is stable, once as vertices and once as corners: no row of GᵀKG, of which each pair has two halves of sum 1,
/// is then above κ/h².
const SHARED: f64 = 0.25;
/// From which distance on, and down to which depth surfaces push each other apart, in parts of the mean distance of vertices.
const GAP: f64 = 0.1;
const RANGE: f64 = 0.5;
/// Pairs are looked for no farther than this, in the same parts: sub-steps are short enough for it (see [`super::closing`]).
const FARTHEST: f64 = 3.0;
/// How much more surfaces are damped, in parts of m/h, where sub-steps are so short that elasticity leaves room for it.
const FAST_DAMPING: f64 = 0.45;

/// The trees of a model's surfaces.
pub(super) fn finder_of(model_bodies: &[crate::Body], touch: &super::TouchSurface) -> SurfacePairs {
    let surface = |body: &crate::Body| touch.desc.self_contact.contains(&body.name);
    let surfaces: Vec<PairSurface> = model_bodies
        .iter()
        .map(|body| PairSurface {
            triangles: &body.surface.triangles,
            rest: &body.surface.vertices,
            touches_itself: surface(body),
            touches_others: touch.desc.between_bodies,
        })
        .collect();
    SurfacePairs::build(&surfaces, GAP * touch.spacing, RANGE * touch.spacing)
}

impl PairForces {
    /// Has the trees of a model.
    pub(super) fn attend(&mut self, model: &Model) {
        let fits = match (&self.made_for, &model.touch.pairs) {
            (None, None) => true,
            (Some(own), Some(theirs)) => Arc::ptr_eq(own, theirs),
            _ => false,
        };
        if !fits {
            *self = PairForces { made_for: model.touch.pairs.clone(), ..PairForces::default() };
            self.finder = model.touch.pairs.as_deref().cloned().unwrap_or_default();
        }
    }

    /// Forgets all pairs.
    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.points.clear();
    }

    /// Notes that surfaces came nearer by `step` (m); `false` when pairs are to be looked for again.
    pub(super) fn come_nearer(&mut self, step: f64) -> bool {
        self.moved += step;
        self.made_for.is_none() || self.moved + step <= self.within
    }

    /// Looks for pairs, to last for what is left of a step if surfaces come nearer with the same speed: that speed (m/s), the sub-step and what is left (s).
    pub(super) fn detect(&mut self, model: &Model, state: &State, (closing, h, left): (f64, f64, f64)) {
        self.clear();
        if self.made_for.is_none() {
            return;
        }
        if !closing.is_finite() {
            // the step has failed and is about to be taken again
            return;
        }
        let (spacing, step) = (model.touch.spacing, closing * h);
        let way = (1.25 * closing * left).min(spacing.max(4.0 * step)).max(0.25 * spacing) + step;
        // a step that diverges shall not look at all with all
        self.within = way.min(FARTHEST * spacing);
        self.moved = 0.0;
        self.x_then.resize(model.touch.count(), Vec3::zeros());
        let mut x = core::mem::take(&mut self.x_then);
        let find = |(i, x): (usize, &mut Vec3)| *x = model.touch.at(i, &state.node_x);
        x.par_iter_mut().with_min_len(2048).enumerate().for_each(find);
        self.find_pairs(&x);
        self.x_then = x;
    }

    fn find_pairs(&mut self, x: &[Vec3]) {
        self.groups.reserve(x.len());
        self.points.reserve(x.len());
        self.nearest.clear();
        self.nearest.resize(x.len(), f64::INFINITY);
        self.slot.resize(x.len(), 0);
        self.touches.resize(x.len(), None);
        self.incoming.resize(x.len(), 0.0);
        self.x.resize(x.len(), Vec3::zeros());
        self.v.resize(x.len(), Vec3::zeros());
        self.finder.update(x, self.within);
        let mut start = 0;
        for own in self.finder.pairs().chunk_by(|a, b| a.vertex == b.vertex) {
            let end = start + own.len() as u32;
            let distance = own.iter().map(|pair| pair.distance).fold(f64::INFINITY, f64::min);
            self.groups.push(Group { start, end, distance });
            start = end;
            for pair in own {
                let mut note = |point: u32| {
                    let nearest = &mut self.nearest[point as usize];
                    *nearest = nearest.min(pair.distance);
                };
                note(pair.vertex);
                self.finder.triangle(pair.triangle).into_iter().for_each(note);
            }
        }
        for (point, distance) in self.nearest.iter().enumerate().filter(|(_, distance)| distance.is_finite())
        {
            self.slot[point] = self.points.len() as u32;
            self.points.push(NearPoint { point: point as u32, distance: *distance });
        }
    }

    /// Finds which vertices touch which triangles.
    fn find_touches(&mut self, model: &Model, state: &State) {
        let near = self.finder.range() + self.moved;
        let PairForces { finder, groups, points, x, v, slot, touches, .. } = self;
        let follow = |((point, x), v): ((&NearPoint, &mut Vec3), &mut Vec3)| {
            if point.distance <= near {
                *x = model.touch.at(point.point as usize, &state.node_x);
                *v = model.touch.at(point.point as usize, &state.node_v);
            }
        };
        points.par_iter().zip(x.par_iter_mut()).zip(v.par_iter_mut()).with_min_len(1024).for_each(follow);
        let pairs = finder.pairs();
        let find = |(group, touch): (&Group, &mut Option<PairTouch>)| {
            *touch = None;
            if group.distance <= near {
                let own = &pairs[group.start as usize..group.end as usize];
                *touch = nearest(finder, own, near, |point| x[slot[point as usize] as usize]);
            }
        };
        groups.par_iter().zip(touches.par_iter_mut()).with_min_len(1024).for_each(find);
    }

    /// Adds forces to nodes (N); returns the energy they give (J).
    pub(super) fn push(&mut self, model: &Model, state: &State, h: f64, node_force: &mut [Vec3]) -> f64 {
        if self.groups.is_empty() {
            return 0.0;
        }
        self.find_touches(model, state);
        let PairForces { finder, groups, touches, incoming, v, slot, .. } = self;
        let v = |point: u32| v[slot[point as usize] as usize];
        let touches = || touches[..groups.len()].iter().flatten();

        // springs are as stiff as this sub-step bears, dampers too: what is fast is stopped within the range
        let step = h.min(model.touch.step);
        let slack = 1.0 - (step / model.touch.step) * (step / model.touch.step);
        let more_damping = 1.0 + FAST_DAMPING * slack / Response::Penalty.strength().1;
        let law = |point: u32| {
            let desc = &model.touch.desc;
            let deepest = finder.range() * 2.0;
            let mass = model.touch.mass[point as usize];
            let mut law = Response::Penalty.law(mass, step, desc.friction, deepest);
            law.stiffness *= SHARED * desc.stiffness;
            law.damping *= SHARED * desc.stiffness.sqrt() * more_damping;
            law
        };
        for touch in touches() {
            touch.corners.iter().for_each(|corner| incoming[*corner as usize] = 0.0);
        }
        for touch in touches() {
            let stiffness = law(touch.vertex).stiffness;
            for (corner, weight) in touch.corners.iter().zip(touch.weights) {
                incoming[*corner as usize] += weight * stiffness;
            }
        }
        let mut given = 0.0;
        for touch in touches() {
            let mut law = law(touch.vertex);
            // many vertices on a few corners push no harder than these can bear
            let mut share = 1.0f64;
            for corner in touch.corners {
                let bears = SHARED
                    * Response::Penalty.strength().0
                    * model.touch.desc.stiffness
                    * model.touch.mass[corner as usize]
                    / (step * step);
                if incoming[corner as usize] > bears {
                    share = share.min(bears / incoming[corner as usize]);
                }
            }
            law.stiffness *= share;
            law.damping *= share;
            let corner_v: Vec3 = touch.corners.iter().zip(touch.weights).map(|(c, w)| w * v(*c)).sum();
            let relative = v(touch.vertex) - corner_v;
            let force = law.push(touch.depth, &touch.normal, &relative, &Vec3::zeros()).force;
            given += (h * force.dot(&relative)).max(0.0);
            let mut act = |point: u32, force: Vec3| {
                for (node, weight) in model.touch.row(point as usize) {
                    node_force[node] += weight * force;
                }
            };
            act(touch.vertex, force);
            touch
                .corners
                .iter()
                .zip(touch.weights)
                .for_each(|(corner, weight)| act(*corner, -weight * force));
        }
        given
    }
}

/// The triangle nearest to a vertex, if the vertex is within the gap before it or the range behind it. Of triangles equally near, as at an edge, the one
/// that faces the vertex most.
///
/// Pairs that were farther apart than `near` (m) when they were found cannot touch.
fn nearest(
    finder: &SurfacePairs,
    pairs: &[NearPair],
    near: f64,
    x: impl Fn(u32) -> Vec3,
) -> Option<PairTouch> {
    let p = x(pairs[0].vertex);
    let reach = finder.range();
    let mut best: Option<(f64, f64, f64, PairTouch)> = None;
    for pair in pairs.iter().filter(|pair| pair.distance <= near) {
        let corners = finder.triangle(pair.triangle);
        let [a, b, c] = corners.map(&x);
        let found = nearest_on_triangle(&p, &[a, b, c]);
        let off = p - found.point;
        let distance = off.norm();
        if distance > reach {
            continue;
        }
        let normal = (b - a).cross(&(c - a));
        let length = normal.norm();
        if length == 0.0 {
            continue;
        }
        let normal = normal / length;
        let height = off.dot(&normal);
        let same = |other: f64| (distance - other).abs() <= 1e-9 * reach;
        let is_better = match &best {
            None => true,
            Some((other, facing, _, _)) => {
                if same(*other) {
                    height.abs() > *facing
                } else {
                    distance < *other
                }
            }
        };
        if is_better {
            let side = if height < 0.0 { -1.0 } else { 1.0 };
            let normal = if distance > 1e-9 * reach { off * (side / distance) } else { normal };
            let touch = PairTouch {
                vertex: pair.vertex,
                corners,
                weights: found.weights,
                depth: pair.gap - side * distance,
                normal,
            };
            best = Some((distance, height.abs(), pair.gap, touch));
        }
    }
    best.map(|(_, _, _, touch)| touch).filter(|touch| touch.depth > 0.0)
}
