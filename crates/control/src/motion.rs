//! A rigid motion as a function of time.

use sinew_math::{Isometry, Rotation, Vec3, nalgebra, real};

/// A rigid motion of what is held, as a function of time. At time 0 every motion is the identity, so that
/// nothing jumps at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Held where it is.
    Still,
    /// Swings to and fro about the start: displacement = amplitude · sin(2π · frequency · t).
    Shake {
        /// Largest displacement (m).
        amplitude: Vec3,
        /// Swings per second (Hz).
        frequency: f64,
    },
    /// Turns about an axis through a point at a steady rate.
    Spin {
        /// The axis; its length does not matter.
        axis: Vec3,
        /// A point on the axis (m).
        center: Vec3,
        /// Turns per second (Hz).
        rate: f64,
    },
    /// Moves along a straight line.
    Glide {
        /// The velocity (m/s).
        velocity: Vec3,
    },
}

impl Motion {
    /// Where the motion has brought the rest pose at time `t` (s).
    pub fn world_from_rest(&self, t: f64) -> Isometry {
        match *self {
            Motion::Still => Isometry::identity(),
            Motion::Shake { amplitude, frequency } => {
                let phase = core::f64::consts::TAU * frequency * t;
                Isometry::translation_of(amplitude * real::sin(phase))
            }
            Motion::Spin { axis, center, rate } => {
                let half = core::f64::consts::PI * rate * t;
                let v = axis.normalize() * real::sin(half);
                let q = nalgebra::Quaternion::new(real::cos(half), v.x, v.y, v.z);
                let rotation = Rotation::new_unchecked(q);
                Isometry::from_parts((center - rotation * center).into(), rotation)
            }
            Motion::Glide { velocity } => Isometry::translation_of(velocity * t),
        }
    }
}

trait TranslationOf {
    fn translation_of(offset: Vec3) -> Self;
}

impl TranslationOf for Isometry {
    fn translation_of(offset: Vec3) -> Self {
        Isometry::from_parts(offset.into(), Rotation::identity())
    }
}
