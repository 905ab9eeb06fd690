//! Rigid motions in closed form: shake, spin and glide as functions of time.

use sinew_math::{Isometry, Rotation, Vec3, nalgebra, real};

/// A rigid motion of a kinematic pin or obstacle as a function of time. At time 0 every motion is the identity, so that
/// nothing jumps at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// No motion.
    Still,
    /// Harmonic translation about the start: displacement = amplitude · sin(2π · frequency · t).
    Shake {
        /// Amplitude of the displacement (m).
        amplitude: Vec3,
        /// Frequency (Hz).
        frequency: f64,
    },
    /// Rotation about an axis through a point at a constant rate.
    Spin {
        /// The axis, of any length above 0.
        axis: Vec3,
        /// A point on the axis (m).
        center: Vec3,
        /// Revolutions per second (Hz).
        rate: f64,
    },
    /// Translation along a straight line at constant velocity.
    Glide {
        /// The velocity (m/s).
        velocity: Vec3,
    },
}

impl Motion {
    /// The transform from the rest pose to the world at time `t` (s).
    pub fn world_from_rest(&self, t: f64) -> Isometry {
        match *self {
            Motion::Still => Isometry::identity(),
            Motion::Shake { amplitude, frequency } => {
                let phase = core::f64::consts::TAU * frequency * t;
                shifted(amplitude * real::sin(phase))
            }
            Motion::Spin { axis, center, rate } => {
                let half = core::f64::consts::PI * rate * t;
                let v = axis.normalize() * real::sin(half);
                let q = nalgebra::Quaternion::new(real::cos(half), v.x, v.y, v.z);
                let rotation = Rotation::new_unchecked(q);
                Isometry::from_parts((center - rotation * center).into(), rotation)
            }
            Motion::Glide { velocity } => shifted(velocity * t),
        }
    }
}

/// Where and when a motion begins that replaces another one during a take, so that nothing jumps:
///
/// ```text
/// T(t) = motion(t − t₀) T₀
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionStart {
    /// t₀: when the motion begins (s).
    pub time: f64,
    /// T₀: the transform from the rest pose to the world at that time.
    pub world_from_rest: Isometry,
}

impl MotionStart {
    /// The transform from the rest pose to the world at time `t` (s) of a motion that begins here.
    pub fn world_from_rest(&self, motion: &Motion, t: f64) -> Isometry {
        motion.world_from_rest(t - self.time) * self.world_from_rest
    }
}

impl Motion {
    /// Checks the parameters and returns the first fault.
    pub fn fault(&self) -> Option<String> {
        let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
        let sound = match self {
            Motion::Still => true,
            Motion::Shake { amplitude, frequency } => finite(amplitude.as_slice()) && finite(&[*frequency]),
            Motion::Glide { velocity } => finite(velocity.as_slice()),
            Motion::Spin { axis, center, rate } => {
                if axis.norm() == 0.0 {
                    return Some("the axis has length 0: give a direction".into());
                }
                finite(axis.as_slice()) && finite(center.as_slice()) && finite(&[*rate])
            }
        };
        (!sound).then(|| "a parameter is not finite".into())
    }
}

fn shifted(by: Vec3) -> Isometry {
    Isometry::from_parts(by.into(), Rotation::identity())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;

    #[test]
    fn every_motion_is_the_identity_at_time_zero() {
        let motions = [
            Motion::Still,
            Motion::Shake { amplitude: Vec3::new(1.0, 2.0, 3.0), frequency: 2.0 },
            Motion::Spin { axis: Vec3::new(1.0, 1.0, 0.0), center: Vec3::new(0.0, 0.0, 5.0), rate: 1.0 },
            Motion::Glide { velocity: Vec3::x() },
        ];
        for motion in motions {
            let p = motion.world_from_rest(0.0) * Point3::new(0.3, -0.2, 0.9);
            assert!((p.coords - Vec3::new(0.3, -0.2, 0.9)).norm() < 1e-15);
        }
    }

    #[test]
    fn a_motion_that_begins_later_goes_on_from_where_the_one_before_left() {
        let spin = Motion::Spin { axis: Vec3::z(), center: Vec3::new(1.0, 0.0, 0.0), rate: 0.3 };
        let start = MotionStart { time: 1.5, world_from_rest: spin.world_from_rest(1.5) };
        let glide = Motion::Glide { velocity: Vec3::new(0.0, 2.0, 0.0) };
        let p = Point3::new(0.2, 0.7, -0.1);
        assert_eq!(start.world_from_rest(&glide, 1.5) * p, spin.world_from_rest(1.5) * p);
        let moved = start.world_from_rest(&glide, 2.0) * p - spin.world_from_rest(1.5) * p;
        assert!((moved - Vec3::y()).norm() < 1e-15);
    }

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y() {
        let spin = Motion::Spin { axis: Vec3::z() * 7.0, center: Vec3::new(1.0, 0.0, 0.0), rate: 0.5 };
        let p = spin.world_from_rest(0.5) * Point3::new(2.0, 0.0, 0.0);
        assert!((p.coords - Vec3::new(1.0, 1.0, 0.0)).norm() < 1e-15);
    }
}
