//! Kinematics of material points: position and velocity, and the transpose map of forces.
//!
//! ```text
//! flesh:     y = Σ φᵢ xᵢ,    fᵢ += φᵢ f
//! bone:      y = R p + o,    torque += y × f,  force += f
//! obstacle:  the same, about its centre
//! ```
//!
//! Velocities and forces are mapped with the same weights: ⟨f, ẏ⟩ is the power on either side.

use crate::Model;
use crate::constraint::{Anchor, sum};
use crate::coupling::BoneCoupling;
use crate::obstacle::ObstacleState;
use sinew_contact::RigidMotion;
use sinew_math::Vec3;
use sinew_math::spatial::Wrench;

/// Positions and velocities of everything that an anchor can be attached to.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) node_x: &'a [Vec3],
    pub(crate) node_v: &'a [Vec3],
    pub(crate) coupling: &'a BoneCoupling,
    pub(crate) obstacles: &'a [ObstacleState],
    /// Motion of obstacles; empty if velocities are not needed.
    pub(crate) motions: &'a [RigidMotion],
}

/// Constraint forces on bones and obstacles.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppliedForces {
    /// On each bone, the world first, about the origin of the world.
    pub(crate) bones: Vec<Wrench>,
    /// On each obstacle, about its centre of mass.
    pub(crate) obstacles: Vec<Wrench>,
}

impl AppliedForces {
    /// Resets all forces for a model.
    pub(crate) fn clear(&mut self, model: &Model) {
        self.bones.clear();
        self.bones.resize(model.rigs().last().map_or(1, |rig| rig.bones.end), Wrench::default());
        self.obstacles.clear();
        self.obstacles.resize(model.obstacles().len(), Wrench::default());
    }
}

impl Anchor {
    /// Its position (m).
    pub(crate) fn at(&self, now: &Surroundings) -> Vec3 {
        match self {
            Anchor::Nodes(row) => sum(row, now.node_x),
            Anchor::Bone { rig, bone, place } => now.coupling.frame(*rig, *bone).point(place),
            Anchor::Obstacle { obstacle, place } => {
                let pose = &now.obstacles[*obstacle].pose;
                pose.rotation * place + pose.translation.vector
            }
        }
    }

    /// Its velocity at position `y` (m/s).
    pub(crate) fn velocity(&self, model: &Model, now: &Surroundings, y: &Vec3) -> Vec3 {
        match self {
            Anchor::Nodes(row) => sum(row, now.node_v),
            Anchor::Bone { rig, bone, .. } => {
                now.coupling.fields[model.rigs()[*rig].bones.start + bone].at(y)
            }
            Anchor::Obstacle { obstacle, .. } => {
                now.motions.get(*obstacle).map_or(Vec3::zeros(), |motion| motion.velocity_at(y))
            }
        }
    }

    /// Applies a force (N) to it at position `y`.
    pub(crate) fn pull(
        &self,
        model: &Model,
        now: &Surroundings,
        (y, force): (&Vec3, &Vec3),
        node_force: &mut [Vec3],
        applied: &mut AppliedForces,
    ) {
        match self {
            Anchor::Nodes(row) => {
                row.iter().for_each(|(node, weight)| node_force[*node as usize] += *weight * force)
            }
            Anchor::Bone { rig, bone, .. } => {
                let wrench = &mut applied.bones[model.rigs()[*rig].bones.start + bone];
                wrench.force += force;
                wrench.torque += y.cross(force);
            }
            Anchor::Obstacle { obstacle, .. } => {
                let origin = now.motions.get(*obstacle).map_or(Vec3::zeros(), |motion| motion.origin);
                let wrench = &mut applied.obstacles[*obstacle];
                wrench.force += force;
                wrench.torque += (y - origin).cross(force);
            }
        }
    }
}
