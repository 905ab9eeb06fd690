//! Rigid motions as functions of time: shake, spin and glide in closed form, and keyed ones along curves.

use crate::VectorCurve;
use sinew_math::{Isometry, Rotation, Vec3, nalgebra, real, so3};
use std::sync::Arc;

/// A rigid motion of a kinematic pin or obstacle as a function of time. At time 0 every motion is the identity, so that
/// nothing jumps at the start.
#[derive(Clone, Debug, PartialEq)]
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
    /// Translation and rotation along curves over the time of the take.
    Keyed(Arc<KeyedMotion>),
}

/// A rigid motion along curves, relative to where they are when it begins, so that nothing jumps then.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedMotion {
    /// Displacement p (m).
    pub translation: VectorCurve,
    /// Rotation vector w: the axis times the number of turns.
    pub turns: VectorCurve,
    /// The point c that it rotates about before it is displaced (m).
    pub center: Vec3,
}

impl KeyedMotion {
    /// The rigid motion from time `start` to time `t` (s):
    ///
    /// ```text
    /// x ↦ c + p(t) + R(t) R(start)⁻¹ (x − c − p(start)),   R = exp(2π w)
    /// ```
    pub fn since(&self, start: f64, t: f64) -> Isometry {
        let turn = |t: f64| so3::exp(&(core::f64::consts::TAU * self.turns.value(t)));
        let place = |t: f64| self.center + self.translation.value(t);
        let rotation = turn(t) * turn(start).inverse();
        Isometry::from_parts((place(t) - rotation * place(start)).into(), rotation)
    }
}

impl Motion {
    /// The rigid motion from time `start`, at which it begins, to time `t` (s).
    pub fn since(&self, start: f64, t: f64) -> Isometry {
        match *self {
            Motion::Keyed(ref keyed) => keyed.since(start, t),
            _ => self.world_from_rest(t - start),
        }
    }

    /// The transform from the rest pose to the world at time `t` (s) of a motion that begins at time 0.
    pub fn world_from_rest(&self, t: f64) -> Isometry {
        match *self {
            Motion::Still => Isometry::identity(),
            Motion::Keyed(ref keyed) => keyed.since(0.0, t),
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
/// T(t) = motion(t₀ → t) T₀
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
        motion.since(self.time, t) * self.world_from_rest
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
            Motion::Keyed(keyed) => {
                let curves = [&keyed.translation, &keyed.turns];
                curves.iter().all(|curve| curve.is_finite()) && finite(keyed.center.as_slice())
            }
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
    use crate::{BezierKey, Curve, Extrapolation};
    use nalgebra::Point3;

    /// Rises by 1 m in 2 s and turns by a quarter about z, from values other than 0.
    fn keyed() -> Motion {
        let curve = |from: f64, to: f64| {
            let keys = vec![BezierKey::auto(0.0, from), BezierKey::auto(2.0, to)];
            Curve::build(keys, Extrapolation::Hold).unwrap()
        };
        Motion::Keyed(Arc::new(KeyedMotion {
            translation: VectorCurve([Curve::constant(5.0), 0.0.into(), curve(1.0, 2.0)]),
            turns: VectorCurve([0.0.into(), 0.0.into(), curve(0.5, 0.75)]),
            center: Vec3::new(1.0, 0.0, 0.0),
        }))
    }

    /// Coordinates of order 10 in a product of two rotations: tens of ε.
    #[test]
    fn keyed_motions_are_relative_to_where_they_begin() {
        let p = keyed().world_from_rest(2.0) * Point3::new(7.0, 0.0, 0.0);
        // the axis is at the centre as displaced at the start, (6, 0, 1)
        assert!((p.coords - Vec3::new(6.0, 1.0, 1.0)).norm() < 1e-14, "{p}");

        // one that replaces another begins at the values of the curves then
        let glide = Motion::Glide { velocity: Vec3::y() };
        let start = MotionStart { time: 1.0, world_from_rest: glide.world_from_rest(1.0) };
        let p = Point3::new(0.3, 0.1, 0.2);
        assert!((start.world_from_rest(&keyed(), 1.0) * p - Vec3::y() - p).norm() < 1e-14);
        let rise = (start.world_from_rest(&keyed(), 2.0) * p).z - p.z;
        assert!((rise - 0.5).abs() < 1e-14, "{rise}");
    }

    #[test]
    fn every_motion_is_the_identity_at_time_zero() {
        let motions = [
            keyed(),
            Motion::Still,
            Motion::Shake { amplitude: Vec3::new(1.0, 2.0, 3.0), frequency: 2.0 },
            Motion::Spin { axis: Vec3::new(1.0, 1.0, 0.0), center: Vec3::new(0.0, 0.0, 5.0), rate: 1.0 },
            Motion::Glide { velocity: Vec3::x() },
        ];
        for motion in motions {
            let p = motion.world_from_rest(0.0) * Point3::new(0.3, -0.2, 0.9);
            // the round-off of places up to 6 m from the origin
            assert!((p.coords - Vec3::new(0.3, -0.2, 0.9)).norm() < 4e-15);
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
