//! The rigid transform from a frame's world to the camera's axes: y up, the camera in front.

use sinew_math::{Vec3, real};
use sinew_take::Up;

/// Takes points of frames to axes in which y is up, the camera is at +z and the point looked at is the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViewTransform {
    up: Up,
    /// What is taken to the origin (m), y up.
    target: Vec3,
    sin: f64,
    cos: f64,
}

impl ViewTransform {
    /// The transform for a camera at an azimuth (degrees) around the vertical through `target` (m, y up).
    pub(crate) fn new(up: Up, target: Vec3, azimuth: f64) -> ViewTransform {
        let angle = -azimuth.to_radians();
        ViewTransform { up, target, sin: real::sin(angle), cos: real::cos(angle) }
    }

    pub(crate) fn single_point(&self, p: &[f32; 3]) -> Vec3 {
        self.point(&Vec3::from(p.map(f64::from)))
    }

    pub(crate) fn point(&self, p: &Vec3) -> Vec3 {
        self.rotate(&(self.up.to_y_up(p) - self.target))
    }

    pub(crate) fn direction(&self, v: &Vec3) -> Vec3 {
        self.rotate(&self.up.to_y_up(v))
    }

    /// The world's point of a point in view axes: the inverse of [`ViewTransform::point`].
    pub(crate) fn point_in_world(&self, p: &Vec3) -> Vec3 {
        self.up.from_y_up(&(self.unrotate(p) + self.target))
    }

    /// The same for directions.
    pub(crate) fn direction_in_world(&self, v: &Vec3) -> Vec3 {
        self.up.from_y_up(&self.unrotate(v))
    }

    fn unrotate(&self, v: &Vec3) -> Vec3 {
        Vec3::new(self.cos * v.x - self.sin * v.z, v.y, self.cos * v.z + self.sin * v.x)
    }

    /// A height above the origin of the world as a height above the target (m).
    pub(crate) fn height(&self, height: f64) -> f64 {
        height - self.target.y
    }

    fn rotate(&self, v: &Vec3) -> Vec3 {
        Vec3::new(self.cos * v.x + self.sin * v.z, v.y, self.cos * v.z - self.sin * v.x)
    }
}
