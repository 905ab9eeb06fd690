//! Narrow phase of points against obstacles in explicit steps, with continuous detection over the last sub-step.
//!
//! A candidate stores the relative approach up to which it is clear of its obstacle, and is not tested before. Of the others most are near an obstacle and not in contact, which their distance alone
//! tells.

use super::candidates::Candidate;
use crate::{Model, State};
use sinew_contact::{RigidMotion, detect_contact_after, is_out_of_contact};
use sinew_math::lanes::{Kernel, Lanes};
use sinew_math::{Isometry, Vec3};

/// What candidates are tested with.
pub(super) struct NarrowPhase<'a> {
    pub(super) model: &'a Model,
    pub(super) state: &'a State,
    /// Motion of obstacles, and their poses one sub-step earlier.
    pub(super) motions: &'a [RigidMotion],
    pub(super) before: &'a [Isometry],
    /// Duration of a sub-step (s).
    pub(super) h: f64,
    /// Relative approach since candidates were detected, now and with the one of another sub-step (m).
    pub(super) moved: f64,
    pub(super) near: f64,
}

/// Tests of some candidates, compiled for the instruction set of the processor.
pub(super) struct TestKernel<'a> {
    pub(super) phase: &'a NarrowPhase<'a>,
    pub(super) candidates: &'a mut [Candidate],
    pub(super) clear: &'a mut [f64],
}

impl Kernel for TestKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let TestKernel { phase, candidates, clear } = self;
        candidates.iter_mut().zip(clear).for_each(|(c, clear)| phase.test(c, clear));
    }
}

impl NarrowPhase<'_> {
    /// Updates the contact of a candidate and the approach up to which it is clear (m).
    #[inline(always)]
    pub(super) fn test(&self, c: &mut Candidate, clear: &mut f64) {
        if *clear > self.near {
            // neither in contact now nor one sub-step ago, so that it has no contact to remove
            return;
        }
        let o = c.obstacle as usize;
        let (shape, motion) = (&self.model.obstacles()[o].shape, &self.motions[o]);

        // where it is, and where it was one sub-step ago
        c.x = self.position(c);
        let p = motion.point_in_shape(&c.x);
        let came_from = |v: &Vec3| {
            let earlier = c.x - self.h * v - self.before[o].translation.vector;
            self.before[o].rotation.inverse_transform_vector(&earlier)
        };

        // near, but not in contact
        if c.anchor.is_none() && shape.has_exact_distance() {
            let distance = shape.distance(&p);
            if is_out_of_contact(shape, distance, || (p - came_from(&self.velocity(c))).norm()) {
                *clear = self.moved + distance;
                c.contact = None;
                return;
            }
        }

        // contact along its path
        let v = self.velocity(c);
        let found = detect_contact_after(shape, &p, || came_from(&v), c.anchor.as_ref());
        c.v = v;
        c.contact = found.ok();
        *clear = f64::NEG_INFINITY;
        if let Err(distance) = found {
            c.anchor = None;
            if shape.has_exact_distance() {
                *clear = self.moved + distance.unwrap_or_else(|| shape.distance(&p));
            }
        }
    }

    /// Where the point of a candidate meets its obstacle (m): sheets do with their side.
    #[inline(always)]
    fn position(&self, c: &Candidate) -> Vec3 {
        let (point, o) = (c.point as usize, c.obstacle as usize);
        if let Some(owner) = c.owner.map(|owner| owner as usize) {
            let obstacle = &self.model.obstacles()[owner];
            return self.motions[owner]
                .point_in_world(&obstacle.samples[point - obstacle.first_sample as usize]);
        }
        let surface = self.model.contact_surface();
        let x = surface.at(point, &self.state.node_x);
        let inset =
            || surface.inset(point, &self.model.obstacles()[o].shape, &self.motions[o].point_in_shape(&x));
        if surface.offset(point) == 0.0 { x } else { x - self.motions[o].vector_in_world(&inset()) }
    }

    /// The velocity of the point of a candidate at its position (m/s).
    #[inline(always)]
    fn velocity(&self, c: &Candidate) -> Vec3 {
        match c.owner {
            Some(owner) => self.motions[owner as usize].velocity_at(&c.x),
            None => self.model.contact_surface().at(c.point as usize, &self.state.node_v),
        }
    }
}
