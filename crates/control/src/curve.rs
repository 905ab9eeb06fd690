//! Numbers and vectors over time: the one type for everything in a scene that can be keyed.

use crate::bezier::{BezierCurve, BezierKey};
use crate::keyframes::{Extrapolation, KeyError, Keyframes};
use sinew_math::Vec3;

/// A number over time: a strength, a force, a component of gravity or of a motion. Its unit is that of what it keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// The same at all times.
    Constant(f64),
    /// Keys with one interpolation between all of them.
    Spline(Keyframes<f64>),
    /// Keys with Bézier handles.
    Bezier(BezierCurve),
}

impl Curve {
    /// A Bézier curve through keys in increasing order of time.
    ///
    /// # Errors
    /// All faults of the keys, each with its number counted from 1.
    pub fn build(keys: Vec<BezierKey>, extrapolation: Extrapolation) -> Result<Curve, KeyError> {
        BezierCurve::build(keys, extrapolation).map(Curve::Bezier)
    }

    /// The same value at all times.
    pub fn constant(value: f64) -> Curve {
        Curve::Constant(value)
    }

    /// The value at a time (s).
    pub fn value(&self, time: f64) -> f64 {
        match self {
            Curve::Constant(value) => *value,
            Curve::Spline(keys) => keys.value(time),
            Curve::Bezier(curve) => curve.sample(time).0,
        }
    }

    /// The derivative at a time (per s); at a key where it jumps, its right-hand limit.
    pub fn slope(&self, time: f64) -> f64 {
        match self {
            Curve::Constant(_) => 0.0,
            Curve::Spline(keys) => keys.sample(time).rate,
            Curve::Bezier(curve) => curve.sample(time).1,
        }
    }

    /// Whether it is the same at all times by its type; keys of equal values are not.
    pub fn is_constant(&self) -> bool {
        matches!(self, Curve::Constant(_))
    }

    /// Whether a constant is finite; keys always are.
    pub fn is_finite(&self) -> bool {
        !matches!(self, Curve::Constant(value) if !value.is_finite())
    }

    /// The times of the first and the last key (s); `None` for a constant.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self {
            Curve::Constant(_) => None,
            Curve::Spline(keys) => Some(keys.range()),
            Curve::Bezier(curve) => Some((curve.keys()[0].time, curve.keys()[curve.keys().len() - 1].time)),
        }
    }

    /// Times (s) and values of its keys; one of a constant, at time 0.
    pub fn key_values(&self) -> Vec<(f64, f64)> {
        match self {
            Curve::Constant(value) => vec![(0.0, *value)],
            Curve::Spline(keys) => keys.keys().iter().map(|key| (key.time, key.value)).collect(),
            Curve::Bezier(curve) => curve.keys().iter().map(|key| (key.time, key.value)).collect(),
        }
    }

    /// The same curve with each key moved to the nearest frame.
    ///
    /// # Errors
    /// If two keys would be at the same frame.
    pub fn snapped(&self, fps: f64) -> Result<Curve, KeyError> {
        match self {
            Curve::Constant(value) => Ok(Curve::Constant(*value)),
            Curve::Spline(keys) => keys.snapped(fps).map(Curve::Spline),
            Curve::Bezier(curve) => curve.snapped(fps).map(Curve::Bezier),
        }
    }
}

impl From<f64> for Curve {
    fn from(value: f64) -> Curve {
        Curve::Constant(value)
    }
}

impl From<Keyframes<f64>> for Curve {
    fn from(keys: Keyframes<f64>) -> Curve {
        Curve::Spline(keys)
    }
}

/// A vector over time, each of whose components is a curve of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorCurve(pub [Curve; 3]);

impl VectorCurve {
    /// The value at a time (s).
    pub fn value(&self, time: f64) -> Vec3 {
        let [x, y, z] = &self.0;
        Vec3::new(x.value(time), y.value(time), z.value(time))
    }

    /// Whether all its constants are finite; keys always are.
    pub fn is_finite(&self) -> bool {
        self.0.iter().all(Curve::is_finite)
    }

    /// Whether all components are constants.
    pub fn is_constant(&self) -> bool {
        self.0.iter().all(Curve::is_constant)
    }
}

impl From<Vec3> for VectorCurve {
    fn from(value: Vec3) -> VectorCurve {
        VectorCurve([value.x, value.y, value.z].map(Curve::Constant))
    }
}
