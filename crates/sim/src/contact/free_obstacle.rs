//! Dynamic obstacles: rigid bodies under gravity and contact forces.

use crate::obstacle::{Obstacle, ObstacleState};
use crate::{Energies, Model, State};
use sinew_contact::{RigidMotion, SolidMass};
use sinew_math::spatial::Wrench;
use sinew_math::{Isometry, Mat3, Vec3, so3};
use sinew_skeleton::Momentum;

impl ObstacleState {
    /// Centre of mass (m).
    pub(crate) fn center(&self, solid: &SolidMass) -> Vec3 {
        self.pose.rotation * solid.center + self.pose.translation.vector
    }

    /// Its rigid motion.
    pub(crate) fn motion(&self, solid: &SolidMass) -> RigidMotion {
        RigidMotion {
            world_from_shape: self.pose,
            linear: self.linear,
            angular: self.angular,
            origin: self.center(solid),
        }
    }

    /// Inertia about the centre of mass in world axes (kg m²).
    fn inertia(&self, solid: &SolidMass) -> Mat3 {
        let turn = self.pose.rotation.to_rotation_matrix();
        turn * solid.inertia * turn.transpose()
    }

    /// Symplectic Euler; angular momentum L = I ω is conserved to round-off if no torque acts:
    ///
    /// ```text
    /// v ← v + h (f/m + g),   x ← x + h v [− ½ h² g in free flight],    L ← L + h τ,   R ← exp(h I⁻¹ L) R,   ω = (R I₀ Rᵀ)⁻¹ L
    /// ```
    pub(crate) fn advance(&mut self, solid: &SolidMass, wrench: &Wrench, gravity: &Vec3, h: f64) {
        let center = self.center(solid);
        self.linear += h * (wrench.force / solid.mass + gravity);
        let inertia = self.inertia(solid);
        let momentum = inertia * self.angular + h * wrench.torque;
        let rate = inertia.try_inverse().unwrap_or_else(Mat3::zeros) * momentum;
        let mut rotation = so3::exp(&(h * rate)) * self.pose.rotation;
        rotation.renormalize();
        // ahead by ½ h² g where nothing balances gravity
        let is_flying = wrench.force == Vec3::zeros() && wrench.torque == Vec3::zeros();
        let back = if is_flying { 0.5 * h * h * gravity } else { Vec3::zeros() };
        let center = center + h * self.linear - back;
        self.pose = Isometry::from_parts((center - rotation * solid.center).into(), rotation);
        self.angular = self.inertia(solid).try_inverse().unwrap_or_else(Mat3::zeros) * momentum;
    }
}

fn free<'a>(
    model: &'a Model,
    state: &'a State,
) -> impl Iterator<Item = (&'a Obstacle, &'a SolidMass, &'a ObstacleState)> {
    let all = model.obstacles().iter().zip(&state.obstacles);
    all.filter_map(|(obstacle, state)| obstacle.solid.as_ref().map(|solid| (obstacle, solid, state)))
}

/// Energies of dynamic obstacles, with zero potential energy at the start; contact energies are in [`super::contact_energy()`].
pub(crate) fn energies(model: &Model, state: &State) -> Energies {
    let mut sum = Energies::default();
    for (obstacle, solid, now) in free(model, state) {
        let spin = now.angular.dot(&(now.inertia(solid) * now.angular));
        sum.kinetic += 0.5 * (solid.mass * now.linear.norm_squared() + spin);
        sum.potential -=
            solid.mass * model.gravity().dot(&(now.center(solid) - obstacle.start.center(solid)));
    }
    sum
}

/// Momentum and angular momentum of dynamic obstacles about the origin.
pub(crate) fn momenta(model: &Model, state: &State) -> Momentum {
    let mut sum = Momentum::default();
    for (_, solid, now) in free(model, state) {
        let linear = solid.mass * now.linear;
        sum.linear += linear;
        sum.angular += now.center(solid).cross(&linear) + now.inertia(solid) * now.angular;
    }
    sum
}
