//! Where an obstacle is and how it moves.

use sinew_math::{Isometry, Vec3};

/// A pose with the velocity field that goes with it: the velocity at x is `linear + angular × (x − origin)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMotion {
    /// Takes points of the obstacle to the world.
    pub world_from_shape: Isometry,
    /// Velocity of the point that is at `origin` (m/s).
    pub linear: Vec3,
    /// Angular velocity in world (rad/s).
    pub angular: Vec3,
    /// The point that `linear` is about (m, world).
    pub origin: Vec3,
}

impl RigidMotion {
    /// Standing still at a pose.
    pub fn still(world_from_shape: Isometry) -> RigidMotion {
        let origin = world_from_shape.translation.vector;
        RigidMotion { world_from_shape, linear: Vec3::zeros(), angular: Vec3::zeros(), origin }
    }

    /// Velocity of the obstacle's material at a place (m/s).
    #[inline]
    pub fn velocity_at(&self, x: &Vec3) -> Vec3 {
        self.linear + self.angular.cross(&(x - self.origin))
    }

    /// A point of the world as the obstacle sees it (m).
    #[inline]
    pub fn point_in_shape(&self, x: &Vec3) -> Vec3 {
        self.world_from_shape
            .rotation
            .inverse_transform_vector(&(x - self.world_from_shape.translation.vector))
    }

    /// A point of the obstacle in the world (m).
    #[inline]
    pub fn point_in_world(&self, p: &Vec3) -> Vec3 {
        self.world_from_shape.rotation * p + self.world_from_shape.translation.vector
    }

    /// No point within `reach` (m) of the origin moves faster than this (m/s).
    pub fn fastest(&self, reach: f64) -> f64 {
        self.linear.norm() + self.angular.norm() * reach
    }
}
