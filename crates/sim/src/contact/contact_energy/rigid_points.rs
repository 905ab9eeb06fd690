//! Points of dynamic obstacles in the gaps of contacts.
//!
//! ```text
//! g = Σ φᵢ xᵢ ± (R p + o),      δg = Σ φᵢ δxᵢ ± (u + θ × (R p + o))
//! ```
//!
//! A vertex in contact with a dynamic obstacle is measured from the material point of the obstacle that it coincided with at the last update (sign −1); a sample of an obstacle is a point of its own (sign +1). The rotation
//! is linearised in products, as that of bones, so that the system stays positive definite.

use super::super::candidates::Candidate;
use crate::{Model, State};
use sinew_math::nalgebra::{Matrix3x6, Matrix6};
use sinew_math::spatial::{Frame, Twist, Wrench, cross_matrix};
use sinew_math::{Isometry, Mat3, Rotation, Vec3, nalgebra::Rotation3};

/// A material point of a dynamic obstacle.
#[derive(Clone, Copy, Debug)]
pub(super) struct RigidPoint {
    /// The obstacle that carries it.
    carrier: u32,
    /// Position in the carrier's frame (m).
    place: Vec3,
}

/// The points of a gap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RigidPoints {
    /// A sample, which adds to the gap.
    sample: Option<RigidPoint>,
    /// The point that the gap is measured from.
    origin: Option<RigidPoint>,
}

/// Poses of dynamic obstacles at the current iterate, and twists of a displacement.
#[derive(Clone, Debug, Default)]
pub(super) struct RigidFrames {
    /// Number of rigid bodies before the obstacles: the world and all bones.
    bones: usize,
    /// Poses of all obstacles; empty if none is dynamic.
    frames: Vec<Frame>,
    /// Twists about the origin of the world; empty if nothing moves.
    twists: Vec<Twist>,
}

impl RigidPoints {
    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        self.sample.is_some() || self.origin.is_some()
    }

    fn signed(&self) -> impl Iterator<Item = (&RigidPoint, f64)> {
        self.sample.iter().map(|point| (point, 1.0)).chain(self.origin.iter().map(|point| (point, -1.0)))
    }
}

impl RigidFrames {
    /// Places obstacles as in a state.
    pub(super) fn begin(&mut self, model: &Model, state: &State) {
        self.bones = model.rigs().last().map_or(1, |rig| rig.bones.end);
        self.frames.clear();
        self.twists.clear();
        if model.has_free_obstacles() {
            self.frames.extend(state.obstacles.iter().map(|obstacle| Frame::from(&obstacle.pose)));
        }
    }

    /// Places dynamic obstacles as among the poses of all rigid bodies, and their shapes with their parts.
    pub(super) fn see(&mut self, model: &Model, frames: &[Frame], shapes: &mut [Isometry]) {
        if self.frames.is_empty() || frames.len() <= self.bones {
            return;
        }
        self.frames.copy_from_slice(&frames[self.bones..]);
        for (i, obstacle) in model.obstacles().iter().enumerate().filter(|(i, _)| model.solid(*i).is_some()) {
            let Frame { rotation, origin } = self.frames[obstacle.carrier];
            let rotation = Rotation::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation));
            shapes[i] = Isometry::from_parts(origin.into(), rotation) * obstacle.carrier_from_shape;
        }
    }

    /// Sets the twists of all rigid bodies for products.
    pub(super) fn move_by(&mut self, twists: &[Twist]) {
        self.twists.clear();
        self.twists.extend_from_slice(twists.get(self.bones..).unwrap_or_default());
    }

    /// Centre of mass of a dynamic obstacle (m).
    pub(super) fn center(&self, model: &Model, carrier: usize) -> Vec3 {
        model.solid(carrier).map_or(Vec3::zeros(), |solid| self.frames[carrier].point(&solid.center))
    }

    /// The points of a candidate at its position.
    pub(super) fn points(&self, model: &Model, c: &Candidate) -> RigidPoints {
        let point = |obstacle: u32| {
            model.solid(obstacle as usize)?;
            let carrier = model.obstacles()[obstacle as usize].carrier as u32;
            Some(RigidPoint { carrier, place: self.frames[carrier as usize].point_back(&c.x) })
        };
        RigidPoints { sample: c.owner.and_then(point), origin: point(c.obstacle) }
    }

    fn at(&self, point: &RigidPoint) -> Vec3 {
        self.frames[point.carrier as usize].point(&point.place)
    }

    /// The point that a gap is measured from (m).
    pub(super) fn origin(&self, points: &RigidPoints) -> Vec3 {
        points.origin.as_ref().map_or(Vec3::zeros(), |point| self.at(point))
    }

    /// Completes the gap of nodes (m).
    #[inline]
    pub(super) fn add_to_gap(&self, points: &RigidPoints, nodes: Vec3) -> Vec3 {
        points.signed().fold(nodes, |sum, (point, sign)| sum + sign * self.at(point))
    }

    /// Completes the change of a gap by nodes (m).
    #[inline]
    pub(super) fn add_to_motion(&self, points: &RigidPoints, nodes: Vec3) -> Vec3 {
        points.signed().fold(nodes, |sum, (point, sign)| {
            let twist = self.twists.get(point.carrier as usize);
            sum + twist.map_or(Vec3::zeros(), |twist| sign * twist.at(&self.at(point)))
        })
    }

    /// Adds the transpose of [`Self::add_to_motion`]: the wrenches of a gradient with respect to the gap (N) about the origin of the world.
    pub(super) fn add_wrenches(&self, points: &RigidPoints, gradient: &Vec3, wrenches: &mut [Wrench]) {
        for (point, sign) in points.signed() {
            wrenches[self.bones + point.carrier as usize] +=
                Wrench::of_force_at(sign * gradient, &self.at(point));
        }
    }

    /// Adds the diagonal blocks Jᵀ H J of a Hessian with respect to the gap (N/m).
    pub(super) fn add_blocks(&self, points: &RigidPoints, hessian: &Mat3, blocks: &mut [Matrix6<f64>]) {
        for (point, _) in points.signed() {
            let mut jacobian = Matrix3x6::zeros();
            jacobian.fixed_view_mut::<3, 3>(0, 0).copy_from(&-cross_matrix(&self.at(point)));
            jacobian.fixed_view_mut::<3, 3>(0, 3).copy_from(&Mat3::identity());
            blocks[self.bones + point.carrier as usize] += jacobian.transpose() * hessian * jacobian;
        }
    }
}
