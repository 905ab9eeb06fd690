//! Keyframe animation curves: keys over time with spline interpolation.

use crate::spline::{Interpolation, KeyShape, KeyValue, Sample, Segment};
use core::fmt;

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<T> {
    /// Its time (s).
    pub time: f64,
    /// Its value.
    pub value: T,
    /// Tension, continuity and bias of a Kochanek-Bartels spline; other interpolations ignore them.
    pub shape: KeyShape,
}

impl<T> Key<T> {
    /// A key at a time (s) with zero tension, continuity and bias.
    pub fn at(time: f64, value: T) -> Key<T> {
        Key { time, value, shape: KeyShape::default() }
    }
}

/// The values before the first key and after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extrapolation {
    /// The values of the first and the last key, constant.
    #[default]
    Hold,
    /// The curve repeats. The last key coincides with the first: where their values agree the loop is seamless, and smooth
    /// curves stay smooth across it.
    Loop,
}

/// A checked animation curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframes<T> {
    keys: Vec<Key<T>>,
    interpolation: Interpolation,
    extrapolation: Extrapolation,
}

/// Invalid keys, with all faults.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyError {
    /// All faults, one sentence each.
    pub faults: Vec<String>,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("\n"))
    }
}

impl core::error::Error for KeyError {}

impl<T: KeyValue> Keyframes<T> {
    /// Builds a curve from keys in increasing order of time.
    ///
    /// # Errors
    /// All faults together: no keys, times out of order, values or parameters that are not finite.
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

    /// The keys, in order of time.
    pub fn keys(&self) -> &[Key<T>] {
        &self.keys
    }

    /// How values between keys are interpolated.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// The values before the first key and after the last.
    pub fn extrapolation(&self) -> Extrapolation {
        self.extrapolation
    }

    /// The times of the first and the last key (s).
    pub fn range(&self) -> (f64, f64) {
        (self.keys[0].time, self.keys[self.keys.len() - 1].time)
    }

    /// The value at a time (s).
    pub fn value(&self, time: f64) -> T {
        self.sample(time).value
    }

    /// Value, rate and acceleration at a time (s). Where a derivative jumps at a key, returns its right-hand limit. NaN counts as
    /// a time before the first key.
    pub fn sample(&self, time: f64) -> Sample<T> {
        let (first, last) = self.range();
        let inside = match self.extrapolation {
            Extrapolation::Hold if time > last => {
                return Sample::constant(self.keys[self.keys.len() - 1].value);
            }
            Extrapolation::Hold => time,
            Extrapolation::Loop => wrapped(time, first, last),
        };
        if !(inside >= first && self.keys.len() > 1) {
            return Sample::constant(self.keys[0].value);
        }
        let after = self.keys.partition_point(|key| key.time <= inside);
        if self.interpolation == Interpolation::Step {
            return Sample::constant(self.keys[after - 1].value);
        }
        let i = (after - 1).min(self.keys.len() - 2);
        self.segment(i).sample(self.interpolation, inside - self.keys[i].time)
    }

    /// The same curve with each key moved to the nearest frame.
    ///
    /// # Errors
    /// If two keys would be at the same frame, or the frame rate is not above 0.
    pub fn snapped(&self, fps: f64) -> Result<Keyframes<T>, KeyError> {
        let times = snapped_times(self.keys.iter().map(|key| key.time), fps)?;
        let keys = self.keys.iter().zip(times).map(|(key, time)| Key { time, ..*key }).collect();
        Ok(Keyframes { keys, ..*self })
    }

    /// The segment from key i to the next. Beyond the ends the first and last segments are mirrored, so that a B-spline passes
    /// through the end keys, or the loop continues.
    fn segment(&self, i: usize) -> Segment<T> {
        let segments = self.keys.len() - 1;
        let neighbour = |offset: isize| neighbour(i, offset, segments, self.extrapolation);
        let gap = |offset| {
            let k = neighbour(offset);
            self.keys[k].value.gap(&self.keys[k + 1].value)
        };
        let span = |offset| {
            let k = neighbour(offset);
            self.keys[k + 1].time - self.keys[k].time
        };
        Segment {
            start: self.keys[i].value,
            gap: [gap(-1), gap(0), gap(1)],
            span: [span(-2), span(-1), span(0), span(1), span(2)],
            shape: [self.keys[i].shape, self.keys[i + 1].shape],
        }
    }
}

/// The index of the segment at `offset` from segment `i` of `segments`: mirrored at the ends, or wrapped around the loop.
pub(crate) fn neighbour(i: usize, offset: isize, segments: usize, extrapolation: Extrapolation) -> usize {
    let k = i as isize + offset;
    let count = segments as isize;
    let k = match extrapolation {
        Extrapolation::Loop => k.rem_euclid(count),
        Extrapolation::Hold if k < 0 => (-1 - k).min(count - 1),
        Extrapolation::Hold if k >= count => (2 * count - 1 - k).max(0),
        Extrapolation::Hold => k,
    };
    k as usize
}

/// A time wrapped into [first, last) by whole periods.
pub(crate) fn wrapped(time: f64, first: f64, last: f64) -> f64 {
    let period = last - first;
    if !(period > 0.0 && time.is_finite()) {
        return first;
    }
    let turns = ((time - first) / period).floor();
    let inside = time - turns * period;
    if inside >= first && inside < last { inside } else { first }
}

/// Times of keys (s), each moved to the nearest frame; fails if two are at the same one.
pub(crate) fn snapped_times(times: impl Iterator<Item = f64>, fps: f64) -> Result<Vec<f64>, KeyError> {
    if !(fps > 0.0 && fps.is_finite()) {
        let fault = format!("{fps} frames per second are not above 0: keys cannot snap to them");
        return Err(KeyError { faults: vec![fault] });
    }
    let times: Vec<f64> = times.collect();
    let frame = |time: &f64| (time * fps).round();
    let same = times.windows(2).enumerate().filter(|(_, pair)| frame(&pair[0]) == frame(&pair[1]));
    let fault = |(i, pair): (usize, &[f64])| {
        let [before, after] = [pair[0], pair[1]];
        format!(
            "keys {} and {} at {before} s and {after} s snap to the same frame {}: move one, or remove it",
            i + 1,
            i + 2,
            frame(&before)
        )
    };
    let faults: Vec<String> = same.map(fault).collect();
    match faults.is_empty() {
        true => Ok(times.iter().map(|time| frame(time) / fps).collect()),
        false => Err(KeyError { faults }),
    }
}

fn find_faults<T: KeyValue>(keys: &[Key<T>]) -> Vec<String> {
    let mut faults = Vec::new();
    if keys.is_empty() {
        faults.push("there are no keys: give at least one".to_string());
    }
    for (i, key) in keys.iter().enumerate() {
        if !key.time.is_finite() {
            faults.push(format!("key {}: the time {} is not finite", i + 1, key.time));
        }
        if !key.value.is_sound() {
            faults.push(format!("key {}: the value must be finite, and a quaternion not zero", i + 1));
        }
        let KeyShape { tension, continuity, bias } = key.shape;
        if ![tension, continuity, bias].iter().all(|x| x.is_finite()) {
            faults.push(format!(
                "key {}: tension {tension}, continuity {continuity} and bias {bias} must be finite",
                i + 1
            ));
        }
    }
    faults.extend(order_faults(keys.iter().map(|key| key.time)));
    faults
}

/// What is wrong with the order of the times of keys (s).
pub(crate) fn order_faults(times: impl Iterator<Item = f64> + Clone) -> impl Iterator<Item = String> {
    let pairs = times.clone().zip(times.skip(1)).enumerate().filter(|(_, (before, after))| after <= before);
    pairs.map(|(i, (before, after))| {
        format!(
            "key {} at {after} s is not after key {} at {before} s: sort the keys, and keep one key per time",
            i + 2,
            i + 1
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::{Rotation, Vec3, so3};

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
        let keys = vectors.iter().map(|(time, v)| Key::at(*time, so3::exp(v))).collect();
        Keyframes::build(keys, interpolation, extrapolation).unwrap()
    }

    fn numbers(interpolation: Interpolation, extrapolation: Extrapolation) -> Keyframes<f64> {
        let shape = KeyShape { tension: 0.2, continuity: 0.0, bias: -0.3 };
        let keys = [(0.0, 1.0), (0.3, 2.0), (0.8, -1.0), (1.0, 1.0)];
        let keys = keys.iter().map(|&(time, value)| Key { time, value, shape }).collect();
        Keyframes::build(keys, interpolation, extrapolation).unwrap()
    }

    /// Central differences with h = 1e-5: the error is h²/6 times the third derivative (below 10⁴ here) plus round-off ε/h, both
    /// below 1e-6 for rates of order 10.
    #[test]
    fn rates_match_central_differences() {
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

    /// At e before and e after a key, a continuous quantity differs by 2e times its derivative (below 10⁴).
    #[test]
    fn splines_are_continuous_across_keys() {
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
    fn splines_pass_through_their_keys() {
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
    fn extrapolation_holds_the_end_values_or_repeats_the_curve() {
        for interpolation in ALL {
            let hold = numbers(interpolation, Extrapolation::Hold);
            assert_eq!(hold.sample(-3.0), Sample { value: 1.0, rate: 0.0, acceleration: 0.0 });
            assert_eq!(hold.sample(9.0), Sample { value: 1.0, rate: 0.0, acceleration: 0.0 });
            assert_eq!(hold.sample(f64::NAN), hold.sample(-1.0));
            let looped = numbers(interpolation, Extrapolation::Loop);
            // an offset of three periods of 1 s costs at most three bits of the time
            for t in [0.1, 0.35, 0.95] {
                assert!((looped.value(t) - looped.value(t + 3.0)).abs() < 1e-13);
                assert!((looped.value(t) - looped.value(t - 3.0)).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn rotations_about_one_axis_follow_the_spline_of_their_angle() {
        let angles = [(0.0, 0.2), (0.5, 1.0), (0.9, 0.4), (1.4, 2.2)];
        let axis = Vec3::new(2.0, -1.0, 2.0) / 3.0;
        for interpolation in ALL {
            let number = angles.iter().map(|&(t, angle)| Key::at(t, angle)).collect();
            let number = Keyframes::<f64>::build(number, interpolation, Extrapolation::Hold).unwrap();
            let turn = angles.iter().map(|&(t, angle)| Key::at(t, so3::exp(&(axis * angle)))).collect();
            let turn = Keyframes::<Rotation>::build(turn, interpolation, Extrapolation::Hold).unwrap();
            for t in [0.0, 0.1, 0.5, 0.6, 1.0, 1.4] {
                let (a, r) = (number.sample(t), turn.sample(t));
                // angles pass through cos and atan2: tens of ε, times up to 1/h² in the acceleration
                assert!((so3::log(&r.value) - axis * a.value).norm() < 1e-14);
                assert!((r.rate - axis * a.rate).norm() < 1e-13);
                assert!((r.acceleration - axis * a.acceleration).norm() < 1e-12);
            }
        }
    }

    #[test]
    fn all_faults_are_reported_together() {
        let keys = vec![Key::at(1.0, 0.0), Key::at(1.0, f64::NAN), Key::at(f64::NAN, 1.0), Key::at(0.5, 1.0)];
        let error = Keyframes::build(keys, Interpolation::Linear, Extrapolation::Hold).unwrap_err();
        assert_eq!(error.faults.len(), 3, "{error}");
        let none =
            Keyframes::<Rotation>::build(vec![], Interpolation::Linear, Extrapolation::Hold).unwrap_err();
        assert_eq!(none.to_string(), "there are no keys: give at least one");
        let zero = Rotation::new_unchecked(sinew_math::nalgebra::Quaternion::new(0.0, 0.0, 0.0, 0.0));
        assert!(
            Keyframes::build(vec![Key::at(0.0, zero)], Interpolation::Linear, Extrapolation::Hold).is_err()
        );
    }
}
