//! Coordinates of joint primitives: integration, differences and minimal coordinates (charts).

use crate::joint::JointPrimitive;
use sinew_math::{Rotation, Vec3, nalgebra::Quaternion, nalgebra::Unit, so3};

/// The normalised rotation of four coordinates (x, y, z, w); the identity where they vanish.
#[inline]
pub(crate) fn rotation(q: &[f64]) -> Rotation {
    let quaternion = Quaternion::new(q[3], q[0], q[1], q[2]);
    let squared = quaternion.norm_squared();
    if squared > 0.0 {
        Unit::new_unchecked(quaternion * (1.0 / squared.sqrt()))
    } else {
        Rotation::identity()
    }
}

#[inline]
pub(crate) fn set_rotation(q: &mut [f64], rotation: &Rotation) {
    q.copy_from_slice(rotation.as_vector().as_slice());
}

impl JointPrimitive {
    /// Zero coordinates: lengths and angles 0, the identity quaternion.
    pub(crate) fn reset(&self, q: &mut [f64]) {
        q.fill(0.0);
        if let JointPrimitive::Ball = self {
            q[3] = 1.0;
        }
    }

    /// Integrates a velocity over a time h (s) by the exponential map, so that quaternions stay unit.
    #[inline]
    pub(crate) fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        match self {
            JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => q[0] += h * v[0],
            JointPrimitive::Translation => (0..3).for_each(|i| q[i] += h * v[i]),
            JointPrimitive::Ball => {
                let step = so3::exp(&(Vec3::new(v[0], v[1], v[2]) * h));
                let next = rotation(q) * step;
                set_rotation(q, &rotation(next.as_vector().as_slice()));
            }
        }
    }

    /// Minimal coordinates in the convention of [`crate::DofDesc`]: for a ball joint the rotation vector (rad).
    #[inline]
    pub(crate) fn chart(&self, q: &[f64]) -> [f64; 3] {
        match self {
            JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => [q[0], 0.0, 0.0],
            JointPrimitive::Translation => [q[0], q[1], q[2]],
            JointPrimitive::Ball => so3::log(&rotation(q)).into(),
        }
    }

    /// Sets the coordinates from those of [`JointPrimitive::chart`].
    pub(crate) fn set_chart(&self, x: &[f64], q: &mut [f64]) {
        match self {
            JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) | JointPrimitive::Translation => {
                q.copy_from_slice(x)
            }
            JointPrimitive::Ball => set_rotation(q, &so3::exp(&Vec3::new(x[0], x[1], x[2]))),
        }
    }

    /// The difference between two configurations in the tangent space: the velocity that leads from one to the other in 1 s.
    /// Components beyond the degrees of freedom are 0.
    #[inline]
    pub fn difference(&self, from: &[f64], to: &[f64]) -> Vec3 {
        match self {
            JointPrimitive::Revolute(_) | JointPrimitive::Prismatic(_) => {
                Vec3::new(to[0] - from[0], 0.0, 0.0)
            }
            JointPrimitive::Translation => Vec3::new(to[0] - from[0], to[1] - from[1], to[2] - from[2]),
            JointPrimitive::Ball => so3::log(&(rotation(from).inverse() * rotation(to))),
        }
    }

    /// Writes the configuration at a tangent-space difference `by` from another: the inverse of [`JointPrimitive::difference`].
    #[inline]
    pub fn integrate(&self, from: &[f64], by: &Vec3, to: &mut [f64]) {
        to.copy_from_slice(from);
        self.advance(to, by.as_slice(), 1.0);
    }

    /// The rate of [`JointPrimitive::difference`] from a fixed configuration at a velocity, where the difference is `difference`.
    #[inline]
    pub fn difference_rate(&self, difference: &Vec3, velocity: &Vec3) -> Vec3 {
        match self {
            JointPrimitive::Ball => so3::rate_of_log(difference, velocity),
            _ => *velocity,
        }
    }

    /// The velocity for a rate of [`JointPrimitive::difference`] from a fixed configuration: the inverse of
    /// [`JointPrimitive::difference_rate`].
    #[inline]
    pub fn velocity_of_difference(&self, difference: &Vec3, rate: &Vec3) -> Vec3 {
        match self {
            JointPrimitive::Ball => so3::velocity_of_log(difference, rate),
            _ => *rate,
        }
    }

    /// The velocity of a configuration that stays at a difference from one with a given velocity: angular velocities in body axes turn with the
    /// axes.
    #[inline]
    pub fn velocity_at_difference(&self, difference: &Vec3, velocity: &Vec3) -> Vec3 {
        match self {
            JointPrimitive::Ball => so3::exp(&-difference) * velocity,
            _ => *velocity,
        }
    }

    /// The generalised force that is work-conjugate to a gradient with respect to the chart `x`.
    #[inline]
    pub(crate) fn force_of_gradient(&self, x: &[f64; 3], gradient: [f64; 3]) -> [f64; 3] {
        match self {
            JointPrimitive::Ball => so3::torque_of_gradient(&Vec3::from(*x), &Vec3::from(gradient)).into(),
            _ => gradient,
        }
    }
}
