//! Pose and velocity of a rigid obstacle.

use sinew_math::{Isometry, Rotation, Vec3};

/// A pose and its velocity field: the velocity at x is `linear + angular × (x − origin)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMotion {
    /// Transform from the frame of the obstacle to the world.
    pub world_from_shape: Isometry,
    /// Velocity of the material point at `origin` (m/s).
    pub linear: Vec3,
    /// Angular velocity in world (rad/s).
    pub angular: Vec3,
    /// The reference point of `linear` (m, world).
    pub origin: Vec3,
}

impl RigidMotion {
    /// At rest in a pose.
    pub fn still(world_from_shape: Isometry) -> RigidMotion {
        let origin = world_from_shape.translation.vector;
        RigidMotion { world_from_shape, linear: Vec3::zeros(), angular: Vec3::zeros(), origin }
    }

    /// Velocity of the obstacle at a point of the world (m/s).
    #[inline]
    pub fn velocity_at(&self, x: &Vec3) -> Vec3 {
        self.linear + self.angular.cross(&(x - self.origin))
    }

    /// Transforms a point from the world to the frame of the obstacle (m).
    #[inline(always)]
    pub fn point_in_shape(&self, x: &Vec3) -> Vec3 {
        let off = x - self.world_from_shape.translation.vector;
        if is_upright(&self.world_from_shape.rotation) {
            return off;
        }
        self.world_from_shape.rotation.inverse_transform_vector(&off)
    }

    /// Transforms a point from the frame of the obstacle to the world (m).
    #[inline(always)]
    pub fn point_in_world(&self, p: &Vec3) -> Vec3 {
        self.vector_in_world(p) + self.world_from_shape.translation.vector
    }

    /// Transforms a direction from the frame of the obstacle to the world.
    #[inline(always)]
    pub fn vector_in_world(&self, direction: &Vec3) -> Vec3 {
        if is_upright(&self.world_from_shape.rotation) {
            return *direction;
        }
        self.world_from_shape.rotation * direction
    }

    /// A bound on the speed (m/s) of all points within `reach` (m) of the origin.
    pub fn fastest(&self, reach: f64) -> f64 {
        self.linear.norm() + self.angular.norm() * reach
    }
}

/// Whether a rotation is none, as that of the ground and of most steps and walls: it costs as much as the distance from them.
#[inline(always)]
fn is_upright(rotation: &Rotation) -> bool {
    rotation.i == 0.0 && rotation.j == 0.0 && rotation.k == 0.0
}
