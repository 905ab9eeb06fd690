//! Animation channels: keys of one property of a node, and their interpolation.
//!
//! Between keys k and k+1 with s = (t − t_k)/Δ, Δ = t_{k+1} − t_k:
//!
//! ```text
//! STEP         v_k
//! LINEAR       (1 − s) v_k + s v_{k+1};   rotations turn along the shorter arc at constant speed
//! CUBICSPLINE  (2s³ − 3s² + 1) v_k + Δ (s³ − 2s² + s) b_k + (3s² − 2s³) v_{k+1} + Δ (s³ − s²) a_{k+1}
//! ```
//!
//! with a the tangent into a key and b the one out of it; rotations are normalised. Before the first and after the last key their
//! values hold.

use sinew_math::{Rotation, Vec3, nalgebra::Quaternion, real};
use std::sync::Arc;

/// Which property of a node is animated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChannelPath {
    /// Its translation in its parent.
    Translation,
    /// Its rotation in its parent, as a quaternion (x, y, z, w).
    Rotation,
    /// Its scale along its axes.
    Scale,
    /// The weights of its mesh's morph targets.
    Weights,
}

/// How values between two keys are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelInterpolation {
    /// The earlier key holds.
    Step,
    /// Linear, for rotations along the shorter arc.
    Linear,
    /// A cubic with tangents at its keys.
    CubicSpline,
}

/// Keys of one property of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct AnimationChannel {
    /// The node that moves.
    pub node: usize,
    /// The property that moves.
    pub path: ChannelPath,
    /// How values between keys are found.
    pub interpolation: ChannelInterpolation,
    /// The times of the keys (s), strictly increasing.
    pub times: Arc<[f64]>,
    /// How many numbers a value has: 3, 4, or the number of morph targets.
    pub width: usize,
    /// The values of key after key; for cubics each key has its tangent in, its value and its tangent out.
    pub values: Vec<f64>,
}

impl AnimationChannel {
    /// The value of a key.
    ///
    /// # Panics
    /// If there is no such key.
    pub fn value(&self, key: usize) -> &[f64] {
        match self.interpolation {
            ChannelInterpolation::CubicSpline => self.numbers(3 * key + 1),
            _ => self.numbers(key),
        }
    }

    fn numbers(&self, place: usize) -> &[f64] {
        &self.values[place * self.width..(place + 1) * self.width]
    }

    /// The key at or before a time, and how far the time is towards the next one, 0 to 1.
    fn place(&self, time: f64) -> (usize, f64) {
        let key = self.times.partition_point(|t| *t <= time).saturating_sub(1);
        match self.times.get(key + 1) {
            Some(next) if time > self.times[key] => {
                (key, (time - self.times[key]) / (next - self.times[key]))
            }
            _ => (key, 0.0),
        }
    }

    /// Writes the value at a time (s); a rotation has length one.
    pub fn sample(&self, time: f64, value: &mut Vec<f64>) {
        let (key, s) = self.place(time);
        value.clear();
        value.extend_from_slice(self.value(key));
        if s > 0.0 {
            let next = self.value(key + 1);
            match self.interpolation {
                ChannelInterpolation::Step => {}
                ChannelInterpolation::Linear if self.path == ChannelPath::Rotation => {
                    value.copy_from_slice(&slerp(quaternion(self.value(key)), quaternion(next), s));
                }
                ChannelInterpolation::Linear => {
                    value.iter_mut().zip(next).for_each(|(v, next)| *v = (1.0 - s) * *v + s * next);
                }
                ChannelInterpolation::CubicSpline => self.sample_cubic(key, s, value),
            }
        }
        if self.path == ChannelPath::Rotation {
            normalize(value, self.value(key));
        }
    }

    fn sample_cubic(&self, key: usize, s: f64, value: &mut [f64]) {
        let span = self.times[key + 1] - self.times[key];
        let (s2, s3) = (s * s, s * s * s);
        let (next, out, into) = (self.value(key + 1), self.numbers(3 * key + 2), self.numbers(3 * key + 3));
        for (i, v) in value.iter_mut().enumerate() {
            *v = (2.0 * s3 - 3.0 * s2 + 1.0) * *v
                + span * (s3 - 2.0 * s2 + s) * out[i]
                + (3.0 * s2 - 2.0 * s3) * next[i]
                + span * (s3 - s2) * into[i];
        }
    }

    /// The rotation at a time (s); `None` for other paths.
    pub fn rotation(&self, time: f64) -> Option<Rotation> {
        let mut value = Vec::new();
        self.sample(time, &mut value);
        (self.path == ChannelPath::Rotation).then(|| {
            let [x, y, z, w] = quaternion(&value);
            Rotation::new_unchecked(Quaternion::new(w, x, y, z))
        })
    }

    /// The translation or scale at a time (s); `None` for other paths.
    pub fn vector(&self, time: f64) -> Option<Vec3> {
        let mut value = Vec::new();
        self.sample(time, &mut value);
        matches!(self.path, ChannelPath::Translation | ChannelPath::Scale)
            .then(|| Vec3::new(value[0], value[1], value[2]))
    }
}

fn quaternion(value: &[f64]) -> [f64; 4] {
    [value[0], value[1], value[2], value[3]]
}

/// Brings a quaternion to length one; where it vanishes between opposite keys, the earlier key holds.
fn normalize(value: &mut [f64], key: &[f64]) {
    let length = value.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 1e-9 && length.is_finite() {
        value.iter_mut().for_each(|x| *x /= length);
    } else {
        value.copy_from_slice(key);
    }
}

/// The rotation a fraction s of the way along the shorter arc:
///
/// ```text
/// (sin((1 − s) φ) a ± sin(s φ) b) / sin φ,   cos φ = |a · b|
/// ```
fn slerp(a: [f64; 4], b: [f64; 4], s: f64) -> [f64; 4] {
    let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let angle = real::acos(dot.abs().min(1.0));
    let sine = real::sin(angle);
    // along so short an arc a line is as good: its error is φ²/8
    let (from, to) = if angle < 1e-7 {
        (1.0 - s, s)
    } else {
        (real::sin((1.0 - s) * angle) / sine, real::sin(s * angle) / sine)
    };
    std::array::from_fn(|i| from * a[i] + sign * to * b[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(path: ChannelPath, interpolation: ChannelInterpolation, values: &[f64]) -> AnimationChannel {
        let width = if path == ChannelPath::Rotation { 4 } else { 3 };
        AnimationChannel {
            node: 0,
            path,
            interpolation,
            times: [1.0, 3.0].into(),
            width,
            values: values.to_vec(),
        }
    }

    #[test]
    fn a_cubic_with_the_tangents_of_a_parabola_is_that_parabola() {
        // v = t² has the derivatives 2 and 6 at 1 and 3
        let values: Vec<f64> = [0.0, 1.0, 2.0, 6.0, 9.0, 0.0].iter().flat_map(|v| [*v; 3]).collect();
        let channel = channel(ChannelPath::Translation, ChannelInterpolation::CubicSpline, &values);
        for time in [1.0, 1.2, 2.0, 2.9, 3.0] {
            assert!((channel.vector(time).unwrap().y - time * time).abs() < 1e-14 * 9.0, "{time}");
        }
        assert_eq!((channel.vector(0.0).unwrap().x, channel.vector(9.0).unwrap().x), (1.0, 9.0));
    }

    #[test]
    fn rotations_take_the_shorter_arc_at_constant_speed() {
        let about_z =
            |angle: f64, sign: f64| [0.0, 0.0, sign * real::sin(angle / 2.0), sign * real::cos(angle / 2.0)];
        for sign in [1.0, -1.0] {
            let values = [about_z(0.2, 1.0), about_z(1.8, sign)].concat();
            let channel = channel(ChannelPath::Rotation, ChannelInterpolation::Linear, &values);
            for (time, angle) in [(1.0, 0.2), (1.5, 0.6), (2.5, 1.4), (3.0, 1.8)] {
                let found = channel.rotation(time).unwrap().scaled_axis();
                assert!((found - Vec3::new(0.0, 0.0, angle)).norm() < 1e-14, "{found}");
            }
        }
    }

    #[test]
    fn steps_hold_until_the_next_key() {
        let channel =
            channel(ChannelPath::Scale, ChannelInterpolation::Step, &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        assert_eq!(channel.vector(2.999).unwrap(), Vec3::repeat(1.0));
        assert_eq!(channel.vector(3.0).unwrap(), Vec3::repeat(2.0));
    }
}
