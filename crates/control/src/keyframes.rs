//! Values at times, and the curve between them.

use crate::curve::{Interpolation, KeyShape, KeyValue, Piece, Sample};
use core::fmt;

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<T> {
    /// When (s).
    pub time: f64,
    /// What.
    pub value: T,
    /// How a Kochanek-Bartels curve passes; others do not read it.
    pub shape: KeyShape,
}

impl<T> Key<T> {
    /// A value at a time (s), passed smoothly.
    pub fn at(time: f64, value: T) -> Key<T> {
        Key { time, value, shape: KeyShape::default() }
    }
}

/// What holds before the first key and after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extrapolation {
    /// The end values, at rest.
    #[default]
    Hold,
    /// All from the start again. The last key stands for the first: where their values agree the loop is seamless, and smooth
    /// curves stay smooth through it.
    Loop,
}

/// Keys in time, checked, with the curve between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframes<T> {
    keys: Vec<Key<T>>,
    interpolation: Interpolation,
    extrapolation: Extrapolation,
}

/// All that is wrong with keys.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyError {
    /// Everything that was found, one sentence each.
    pub faults: Vec<String>,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("\n"))
    }
}

impl core::error::Error for KeyError {}

impl<T: KeyValue> Keyframes<T> {
    /// Checks keys and keeps them. Either all is well, or all faults are reported together.
    pub fn build(
        mut keys: Vec<Key<T>>,
        interpolation: Interpolation,
        extrapolation: Extrapolation,
    ) -> Result<Keyframes<T>, KeyError> {
        let faults = find_faults(&keys);
        if !faults.is_empty() {
            return Err(KeyError { faults });
        }
        keys.iter_mut().for_each(|key| key.value = key.value.normalized());
        Ok(Keyframes { keys, interpolation, extrapolation })
    }

    /// The keys, in the order of time.
    pub fn keys(&self) -> &[Key<T>] {
        &self.keys
    }

    /// The curve between keys.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// What holds before the first key and after the last.
    pub fn extrapolation(&self) -> Extrapolation {
        self.extrapolation
    }

    /// When the first key is, and when the last (s).
    pub fn range(&self) -> (f64, f64) {
        (self.keys[0].time, self.keys[self.keys.len() - 1].time)
    }

    /// The value at a time (s).
    pub fn value(&self, time: f64) -> T {
        self.sample(time).value
    }

    /// Value, rate and acceleration at a time (s). At a key where the curve breaks they are those that follow; a time that is
    /// no number counts as the first key's.
    pub fn sample(&self, time: f64) -> Sample<T> {
        let (first, last) = self.range();
        let inside = match self.extrapolation {
            Extrapolation::Hold if time > last => return Sample::still(self.keys[self.keys.len() - 1].value),
            Extrapolation::Hold => time,
            Extrapolation::Loop => wrapped(time, first, last),
        };
        if !(inside >= first && self.keys.len() > 1) {
            return Sample::still(self.keys[0].value);
        }
        let after = self.keys.partition_point(|key| key.time <= inside);
        if self.interpolation == Interpolation::Step {
            return Sample::still(self.keys[after - 1].value);
        }
        let i = (after - 1).min(self.keys.len() - 2);
        self.piece(i).sample(self.interpolation, inside - self.keys[i].time)
    }

    /// The piece from key i to the next. Beyond the ends the first and last pieces are mirrored, so that a curve goes through
    /// the end keys, or the loop goes on.
    fn piece(&self, i: usize) -> Piece<T> {
        let pieces = self.keys.len() - 1;
        let neighbour = |offset: isize| neighbour(i, offset, pieces, self.extrapolation);
        let gap = |offset| {
            let k = neighbour(offset);
            self.keys[k].value.gap(&self.keys[k + 1].value)
        };
        let span = |offset| {
            let k = neighbour(offset);
            self.keys[k + 1].time - self.keys[k].time
        };
        Piece {
            start: self.keys[i].value,
            gap: [gap(-1), gap(0), gap(1)],
            span: [span(-2), span(-1), span(0), span(1), span(2)],
            shape: [self.keys[i].shape, self.keys[i + 1].shape],
        }
    }
}

/// The piece `offset` pieces from piece `i` of `pieces`: mirrored at the ends, or around the loop.
pub(crate) fn neighbour(i: usize, offset: isize, pieces: usize, extrapolation: Extrapolation) -> usize {
    let k = i as isize + offset;
    let count = pieces as isize;
    let k = match extrapolation {
        Extrapolation::Loop => k.rem_euclid(count),
        Extrapolation::Hold if k < 0 => (-1 - k).min(count - 1),
        Extrapolation::Hold if k >= count => (2 * count - 1 - k).max(0),
        Extrapolation::Hold => k,
    };
    k as usize
}

/// A time brought into [first, last) by whole periods.
pub(crate) fn wrapped(time: f64, first: f64, last: f64) -> f64 {
    let period = last - first;
    if !(period > 0.0 && time.is_finite()) {
        return first;
    }
    let turns = ((time - first) / period).floor();
    let inside = time - turns * period;
    if inside >= first && inside < last { inside } else { first }
}

fn find_faults<T: KeyValue>(keys: &[Key<T>]) -> Vec<String> {
    let mut faults = Vec::new();
    if keys.is_empty() {
        faults.push("there are no keys: give one at least".to_string());
    }
    for (i, key) in keys.iter().enumerate() {
        if !key.time.is_finite() {
            faults.push(format!("key {i}: its time {} is not finite", key.time));
        }
        if !key.value.is_sound() {
            faults.push(format!("key {i}: its value must be finite, and a quaternion not zero"));
        }
        let KeyShape { tension, continuity, bias } = key.shape;
        if ![tension, continuity, bias].iter().all(|x| x.is_finite()) {
            faults.push(format!(
                "key {i}: tension {tension}, continuity {continuity} and bias {bias} must be finite"
            ));
        }
    }
    for (i, pair) in keys.windows(2).enumerate() {
        let (before, after) = (pair[0].time, pair[1].time);
        if after <= before {
            faults.push(format!(
                "key {} is at {after} s, not after key {i} at {before} s: sort the keys, and keep one of each time",
                i + 1
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::{Rotation, Vec3, turn};

    const ALL: [Interpolation; 4] =
        [Interpolation::Step, Interpolation::Linear, Interpolation::KochanekBartels, Interpolation::BSpline];

    fn turns(interpolation: Interpolation, extrapolation: Extrapolation) -> Keyframes<Rotation> {
        let vectors = [
            (0.0, Vec3::new(0.1, 0.2, -0.3)),
            (0.4, Vec3::new(1.0, -0.5, 0.3)),
            (0.7, Vec3::new(1.5, 0.8, -0.9)),
            (1.3, Vec3::new(-0.5, 0.4, 0.2)),
            (1.5, Vec3::new(0.1, 0.2, -0.3)),
        ];
        let keys = vectors.iter().map(|(time, v)| Key::at(*time, turn::exp(v))).collect();
        Keyframes::build(keys, interpolation, extrapolation).unwrap()
    }

    fn numbers(interpolation: Interpolation, extrapolation: Extrapolation) -> Keyframes<f64> {
        let shape = KeyShape { tension: 0.2, continuity: 0.0, bias: -0.3 };
        let keys = [(0.0, 1.0), (0.3, 2.0), (0.8, -1.0), (1.0, 1.0)];
        let keys = keys.iter().map(|&(time, value)| Key { time, value, shape }).collect();
        Keyframes::build(keys, interpolation, extrapolation).unwrap()
    }

    /// Central differences of step h = 1e-5: error h²/6 times the third derivative of the rate (below 10⁴ here) plus round-off
    /// ε/h, both under 1e-6 beside rates of order 10.
    #[test]
    fn rates_are_derivatives() {
        let h = 1e-5;
        for interpolation in ALL {
            let (r, x) =
                (turns(interpolation, Extrapolation::Hold), numbers(interpolation, Extrapolation::Hold));
            for t in [0.05, 0.35, 0.55, 0.69, 0.9, 1.29, 1.45] {
                let (before, now, after) = (r.sample(t - h), r.sample(t), r.sample(t + h));
                let rate = before.value.gap(&after.value) * (0.5 / h);
                assert!((rate - now.rate).norm() < 1e-6, "{interpolation:?} {t}");
                let acceleration = (after.rate - before.rate) * (0.5 / h);
                assert!((acceleration - now.acceleration).norm() < 1e-6, "{interpolation:?} {t}");
            }
            for t in [0.05, 0.25, 0.55, 0.79, 0.9] {
                let (before, now, after) = (x.sample(t - h), x.sample(t), x.sample(t + h));
                assert!(((after.value - before.value) * (0.5 / h) - now.rate).abs() < 1e-6);
                assert!(((after.rate - before.rate) * (0.5 / h) - now.acceleration).abs() < 1e-6);
            }
        }
    }

    /// Just before and just after a key, e apart: what is continuous differs by e times its derivative (below 10⁴).
    #[test]
    fn smooth_curves_join_smoothly_at_keys() {
        let e = 1e-9;
        for extrapolation in [Extrapolation::Hold, Extrapolation::Loop] {
            for interpolation in [Interpolation::KochanekBartels, Interpolation::BSpline] {
                let r = turns(interpolation, extrapolation);
                let inner = [0.4, 0.7, 1.3];
                let joins =
                    if extrapolation == Extrapolation::Loop { &[0.4, 0.7, 1.3, 1.5][..] } else { &inner[..] };
                for t in joins {
                    let (before, after) = (r.sample(t - e), r.sample(t + e));
                    assert!(before.value.gap(&after.value).norm() < 1e-5);
                    assert!((before.rate - after.rate).norm() < 1e-5, "{interpolation:?} {t}");
                    if interpolation == Interpolation::BSpline {
                        assert!((before.acceleration - after.acceleration).norm() < 1e-5, "{t}");
                    }
                }
            }
        }
    }

    #[test]
    fn keys_are_met() {
        for interpolation in [Interpolation::Linear, Interpolation::KochanekBartels] {
            let r = turns(interpolation, Extrapolation::Hold);
            for key in r.keys() {
                // a product of at most five unit quaternions
                assert!(r.value(key.time).gap(&key.value).norm() < 1e-14);
            }
        }
        let spline = turns(Interpolation::BSpline, Extrapolation::Hold);
        for key in [spline.keys()[0], spline.keys()[4]] {
            assert!(spline.value(key.time).gap(&key.value).norm() < 1e-14);
        }
    }

    #[test]
    fn beyond_the_ends_the_value_holds_or_comes_again() {
        for interpolation in ALL {
            let held = numbers(interpolation, Extrapolation::Hold);
            assert_eq!(held.sample(-3.0), Sample { value: 1.0, rate: 0.0, acceleration: 0.0 });
            assert_eq!(held.sample(9.0), Sample { value: 1.0, rate: 0.0, acceleration: 0.0 });
            assert_eq!(held.sample(f64::NAN), held.sample(-1.0));
            let looped = numbers(interpolation, Extrapolation::Loop);
            // three periods of 1 s cost three bits of the time at most
            for t in [0.1, 0.35, 0.95] {
                assert!((looped.value(t) - looped.value(t + 3.0)).abs() < 1e-13);
                assert!((looped.value(t) - looped.value(t - 3.0)).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn rotations_about_one_axis_follow_the_curve_of_their_angle() {
        let angles = [(0.0, 0.2), (0.5, 1.0), (0.9, 0.4), (1.4, 2.2)];
        let axis = Vec3::new(2.0, -1.0, 2.0) / 3.0;
        for interpolation in ALL {
            let number = angles.iter().map(|&(t, angle)| Key::at(t, angle)).collect();
            let number = Keyframes::<f64>::build(number, interpolation, Extrapolation::Hold).unwrap();
            let turn = angles.iter().map(|&(t, angle)| Key::at(t, turn::exp(&(axis * angle)))).collect();
            let turn = Keyframes::<Rotation>::build(turn, interpolation, Extrapolation::Hold).unwrap();
            for t in [0.0, 0.1, 0.5, 0.6, 1.0, 1.4] {
                let (a, r) = (number.sample(t), turn.sample(t));
                // angles go through cos and atan2 and back: tens of ε, times up to 1/h² in the acceleration
                assert!((turn::log(&r.value) - axis * a.value).norm() < 1e-14);
                assert!((r.rate - axis * a.rate).norm() < 1e-13);
                assert!((r.acceleration - axis * a.acceleration).norm() < 1e-12);
            }
        }
    }

    #[test]
    fn all_faults_are_told_together() {
        let keys = vec![Key::at(1.0, 0.0), Key::at(1.0, f64::NAN), Key::at(f64::NAN, 1.0), Key::at(0.5, 1.0)];
        let error = Keyframes::build(keys, Interpolation::Linear, Extrapolation::Hold).unwrap_err();
        assert_eq!(error.faults.len(), 3, "{error}");
        let none =
            Keyframes::<Rotation>::build(vec![], Interpolation::Linear, Extrapolation::Hold).unwrap_err();
        assert_eq!(none.to_string(), "there are no keys: give one at least");
        let zero = Rotation::new_unchecked(sinew_math::nalgebra::Quaternion::new(0.0, 0.0, 0.0, 0.0));
        assert!(
            Keyframes::build(vec![Key::at(0.0, zero)], Interpolation::Linear, Extrapolation::Hold).is_err()
        );
    }
}
