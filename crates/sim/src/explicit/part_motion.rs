//! Symplectic Euler motion of bodies without bones: damped relative to the rigid motion of their connected parts, and exact in free flight.
//!
//! ```text
//! v* = vₙ + h (f(xₙ)/m + g),    vₙ₊₁ = e^(−a h) (w + (v* − w) e^(−c h)),    w = v̄ + ω × (xₙ − x̄) fitted to v*
//! xₙ₊₁ = xₙ + h vₙ₊₁ − ½ h² g in free flight,    xₙ + h vₙ₊₁ otherwise
//! ```
//!
//! c is the damping rate of the part and a that of the air. Symplectic Euler takes gravity at the end of the step for all of it, and is ahead by ½ h² g after each. A part on which nothing but gravity acts is
//! moved back by that, all of it alike, so that nothing deforms: its centre then follows the parabola exactly. Where contacts, constraints, loads or pins act, they balance gravity, and what is at rest must have
//! velocity zero; there the step stays as it is.

use crate::Model;
use crate::body::decay;
use crate::exact_constraints::ExactConstraints;
use crate::part::{Parts, RigidField, RigidMoments};
use core::ops::Range;
use sinew_math::Vec3;
use sinew_math::lanes::{Kernel, Lanes, dispatch};
use sinew_math::parallel::for_each_part;

/// How parts move in the sub-steps of a step, with workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct PartMotion {
    chunks: Vec<PartChunk>,
    parts: Vec<PartStep>,
}

/// Sums over some nodes of a part.
#[derive(Clone, Debug)]
struct PartChunk {
    part: usize,
    /// A range of the list of nodes of all parts.
    nodes: Range<usize>,
    moments: RigidMoments,
    /// Whether a force from outside acts on any of them.
    is_pushed: bool,
}

/// How a part moves in a sub-step.
#[derive(Clone, Copy, Debug, Default)]
struct PartStep {
    field: RigidField,
    /// e^(−c h)
    keep: f64,
    /// e^(−a h)
    air: f64,
    is_pinned: bool,
    is_flying: bool,
}

/// Nodes per sum: sums are the same on any number of threads.
const CHUNK: usize = 512;

impl PartMotion {
    /// Prepares for sub-steps of `h` (s).
    pub(super) fn prepare(&mut self, model: &Model, h: f64) {
        self.chunks.clear();
        self.parts.clear();
        for (i, body) in model.bodies().iter().enumerate() {
            for part in model.parts().of_body(i) {
                let own = &model.parts().all()[part];
                let (keep, air) = (decay(own.damping_rate, h), decay(body.air_drag, h));
                self.parts.push(PartStep { keep, air, is_pinned: own.is_pinned, ..PartStep::default() });
                let starts = own.nodes.clone().step_by(CHUNK);
                self.chunks.extend(starts.map(|start| PartChunk {
                    part,
                    nodes: start..(start + CHUNK).min(own.nodes.end),
                    moments: RigidMoments::default(),
                    is_pushed: false,
                }));
            }
        }
    }

    /// Fits rigid motions to the velocities of parts, and finds out which of them fly: `outside` are the forces on nodes other than gravity and elasticity (N), empty if there are none,
    /// and `exact` the points that are held exactly.
    pub(super) fn fit(
        &mut self,
        model: &Model,
        (outside, exact): (&[Vec3], &ExactConstraints),
        (x, v): (&[Vec3], &[Vec3]),
    ) {
        // sums over chunks, each in a fixed order
        let all = model.parts();
        let origin = |part: usize| x[all.nodes[all.all()[part].nodes.start] as usize];
        let parts = &self.parts;
        for_each_part(self.chunks.as_mut_slice(), 1, |_, chunks| {
            for chunk in chunks {
                let nodes = &all.nodes[chunk.nodes.clone()];
                let is_pushed = |node: &u32| outside[*node as usize] != Vec3::zeros();
                chunk.is_pushed = !outside.is_empty() && nodes.iter().any(is_pushed);
                chunk.is_pushed |= !exact.is_empty() && nodes.iter().any(|node| exact.holds(*node));
                chunk.moments = RigidMoments::default();
                if parts[chunk.part].keep < 1.0 {
                    dispatch(MomentKernel { all, nodes, origin: origin(chunk.part), x, v, chunk });
                }
            }
        });

        // sums over parts
        let mut chunks = self.chunks.iter().peekable();
        for (i, part) in self.parts.iter_mut().enumerate() {
            let mut moments = RigidMoments::default();
            part.is_flying = !part.is_pinned;
            while let Some(chunk) = chunks.next_if(|chunk| chunk.part == i) {
                moments.merge(&chunk.moments);
                part.is_flying &= !chunk.is_pushed;
            }
            if part.keep < 1.0 {
                part.field = moments.field(&origin(i));
            }
        }
    }
}

/// Adds the nodes of a chunk to its moments.
struct MomentKernel<'a> {
    all: &'a Parts,
    nodes: &'a [u32],
    origin: Vec3,
    x: &'a [Vec3],
    v: &'a [Vec3],
    chunk: &'a mut PartChunk,
}

impl Kernel for MomentKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for &node in self.nodes {
            let node = node as usize;
            self.chunk.moments.add(self.all.node_weight[node], &(self.x[node] - self.origin), &self.v[node]);
        }
    }
}

/// Damps and moves the free nodes of a chunk that begins at `first`, after their velocities have taken up the forces.
pub(super) struct MoveKernel<'a> {
    pub(super) motion: &'a PartMotion,
    pub(super) model: &'a Model,
    pub(super) first: usize,
    pub(super) h: f64,
    pub(super) x: &'a mut [Vec3],
    pub(super) v: &'a mut [Vec3],
}

impl Kernel for MoveKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let MoveKernel { motion, model, first, h, x, v } = self;
        let back = 0.5 * h * h * model.gravity();
        for (i, (x, v)) in x.iter_mut().zip(v).enumerate() {
            let node = first + i;
            if model.node_inverse_mass()[node] == 0.0 {
                continue;
            }
            if let Some(part) = motion.parts.get(model.parts().node_part[node] as usize) {
                let rigid = part.field.at(x);
                *v = (rigid + (*v - rigid) * part.keep) * part.air;
                if part.is_flying {
                    *x -= back;
                }
            }
            *x += h * *v;
        }
    }
}
