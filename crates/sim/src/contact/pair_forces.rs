//! Surfaces that touch each other or themselves: each vertex is pushed out of the triangle nearest to it.

use crate::Model;
use rayon::prelude::*;
use sinew_contact::{NearPair, PairSurface, Response, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;
use std::sync::Arc;

/// Scratch of surfaces that touch.
#[derive(Clone, Debug, Default)]
pub(super) struct PairForces {
    made_for: Option<Arc<SurfacePairs>>,
    finder: SurfacePairs,
    pairs: Vec<NearPair>,
    /// The pairs of each vertex: a range of `pairs`.
    groups: Vec<(u32, u32)>,
    touches: Vec<Option<PairTouch>>,
    /// Stiffness that comes in at each point as a corner.
    incoming: Vec<f64>,
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
        self.pairs.clear();
        self.groups.clear();
    }

    /// Looks for pairs within a margin (m).
    pub(super) fn detect(&mut self, x: &[Vec3], margin: f64) {
        self.clear();
        if self.made_for.is_none() {
            return;
        }
        // as much as is seldom needed, so that memory is seldom asked for again
        self.pairs.reserve(4 * x.len());
        self.groups.reserve(x.len());
        self.pairs.extend_from_slice(self.finder.update(x, margin));
        let mut start = 0;
        for group in self.pairs.chunk_by(|a, b| a.vertex == b.vertex) {
            self.groups.push((start, start + group.len() as u32));
            start += group.len() as u32;
        }
        self.touches.resize(x.len(), None);
        self.incoming.resize(x.len(), 0.0);
    }

    /// Adds the points whose motion must be known.
    pub(super) fn add_needed(&self, needed: &mut Vec<u32>) {
        for pair in &self.pairs {
            needed.push(pair.vertex);
            needed.extend(self.finder.triangle(pair.triangle));
        }
    }

    /// Adds forces to nodes (N); returns the energy they give (J).
    pub(super) fn push(
        &mut self,
        model: &Model,
        motion: (&[Vec3], &[Vec3]),
        h: f64,
        node_force: &mut [Vec3],
    ) -> f64 {
        if self.pairs.is_empty() {
            return 0.0;
        }
        let (x, v) = motion;
        let PairForces { finder, pairs, groups, touches, incoming, .. } = self;
        let find = |(group, touch): (&(u32, u32), &mut Option<PairTouch>)| {
            *touch = nearest(finder, &pairs[group.0 as usize..group.1 as usize], x);
        };
        groups.par_iter().zip(touches[..groups.len()].par_iter_mut()).with_min_len(256).for_each(find);
        let touches = || touches[..groups.len()].iter().flatten();

        let law = |point: u32| {
            let desc = &model.touch.desc;
            let deepest = finder.range() * 2.0;
            let mut law = Response::Penalty.law(
                model.touch.mass[point as usize],
                model.touch.step,
                desc.friction,
                deepest,
            );
            law.stiffness *= SHARED * desc.stiffness;
            law.damping *= SHARED * desc.stiffness.sqrt();
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
                    / (model.touch.step * model.touch.step);
                if incoming[corner as usize] > bears {
                    share = share.min(bears / incoming[corner as usize]);
                }
            }
            law.stiffness *= share;
            law.damping *= share;
            let corner_v: Vec3 =
                touch.corners.iter().zip(touch.weights).map(|(c, w)| w * v[*c as usize]).sum();
            let relative = v[touch.vertex as usize] - corner_v;
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
fn nearest(finder: &SurfacePairs, pairs: &[NearPair], x: &[Vec3]) -> Option<PairTouch> {
    let p = x[pairs[0].vertex as usize];
    let reach = finder.range().max(pairs.iter().map(|pair| pair.gap).fold(0.0, f64::max));
    let mut best: Option<(f64, f64, f64, PairTouch)> = None;
    for pair in pairs {
        let corners = finder.triangle(pair.triangle);
        let [a, b, c] = corners.map(|corner| x[corner as usize]);
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
