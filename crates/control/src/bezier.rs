//! Cubic Bézier curves of a number over time, with handles at every key, as the curve editors of animation programs have them.
//!
//! Between two keys the curve is a Bézier segment in the plane of time and value:
//!
//! ```text
//! t(u) = h [3 α u (1−u)² + 3 (1−γ) u² (1−u) + u³],   v(u) likewise,   0 ≤ u ≤ 1        [Transue2014, VII]
//! ```
//!
//! α h and γ h are the lengths of its two handles in time. Where they add up to more than the segment, both are shortened by the same factor, with their slopes
//! kept, as Blender does: then t(u) never decreases, and the curve has one value at every time.

use crate::keyframes::{neighbour, order_faults, snapped_times, wrapped};
use crate::{Extrapolation, KeyError};

/// A value at a time, with the shape of the curve there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BezierKey {
    /// Its time (s).
    pub time: f64,
    /// Its value, of any sign.
    pub value: f64,
    /// The handles of both sides.
    pub handles: Handles,
}

/// The handles of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Handles {
    /// Smooth without overshoot: level at the ends and where neighbouring keys are both higher or both lower, otherwise the weighted harmonic mean of the slopes to the
    /// neighbours, so that the curve rises and falls only where its keys do.                      `[FritschButland1984]`
    #[default]
    Auto,
    /// One slope (value per s) through the key; a third of the segment long on either side.
    Slope(f64),
    /// Ends of both handles as offsets from the key: time (s), not above 0 on the left and not below 0 on the right, and value. They make a smooth key if they are on one line through
    /// it, and a corner otherwise.
    Offsets {
        /// The handle towards the key before.
        left: [f64; 2],
        /// The handle towards the key after.
        right: [f64; 2],
    },
}

impl BezierKey {
    /// A key with automatic handles.
    pub fn auto(time: f64, value: f64) -> BezierKey {
        BezierKey { time, value, handles: Handles::Auto }
    }

    /// A key through which the curve has a slope (value per s).
    pub fn with_slope(time: f64, value: f64, slope: f64) -> BezierKey {
        BezierKey { time, value, handles: Handles::Slope(slope) }
    }

    /// A smooth key: the right handle ends at an offset (s, value) from it, the left one opposite to it.
    pub fn smooth(time: f64, value: f64, right: [f64; 2]) -> BezierKey {
        BezierKey::broken(time, value, right.map(|x| -x), right)
    }

    /// A key whose handles end at offsets (s, value) of their own, at an angle to each other.
    pub fn broken(time: f64, value: f64, left: [f64; 2], right: [f64; 2]) -> BezierKey {
        BezierKey { time, value, handles: Handles::Offsets { left, right } }
    }
}

/// A checked Bézier curve of a number over time.
#[derive(Clone, Debug, PartialEq)]
pub struct BezierCurve {
    keys: Vec<BezierKey>,
    extrapolation: Extrapolation,
    /// The ends of the handles of each key as offsets from it, with automatic ones found and long ones shortened: left, right.
    handles: Vec<[[f64; 2]; 2]>,
}

/// Handles may be vertical in the limit; slopes are computed as if t(u) rose by at least this fraction of its mean rate.
const MIN_RATE: f64 = 1e-9;

/// Newton iterations after which bisection alone would have come to the last bit of u.
const MAX_ITERATIONS: usize = 64;

impl BezierCurve {
    /// Builds a curve from keys in increasing order of time.
    ///
    /// # Errors
    /// All faults together, each with its key, counted from 1: no keys, times out of order, numbers that are not finite, handles that point to the wrong side or straight up.
    pub fn build(keys: Vec<BezierKey>, extrapolation: Extrapolation) -> Result<BezierCurve, KeyError> {
        let faults = find_faults(&keys);
        if !faults.is_empty() {
            return Err(KeyError { faults });
        }
        let mut curve = BezierCurve { handles: vec![[[0.0; 2]; 2]; keys.len()], keys, extrapolation };
        curve.place_handles();
        Ok(curve)
    }

    /// The keys, in order of time, as they were given.
    pub fn keys(&self) -> &[BezierKey] {
        &self.keys
    }

    /// The values before the first key and after the last.
    pub fn extrapolation(&self) -> Extrapolation {
        self.extrapolation
    }

    /// The ends of the left and right handle of each key as offsets (s, value) from it, as they shape the curve: automatic ones found, and long ones shortened.
    pub fn handles(&self) -> &[[[f64; 2]; 2]] {
        &self.handles
    }

    /// The same curve with each key moved to the nearest frame; handles keep their offsets.
    ///
    /// # Errors
    /// If two keys would be at the same frame, or the frame rate is not above 0.
    pub fn snapped(&self, fps: f64) -> Result<BezierCurve, KeyError> {
        let times = snapped_times(self.keys.iter().map(|key| key.time), fps)?;
        let moved = self.keys.iter().zip(times);
        let keys = moved.map(|(key, time)| BezierKey { time, ..*key }).collect();
        BezierCurve::build(keys, self.extrapolation)
    }

    /// The value at a time (s), and the slope there (per s). At a key the value is that of the key to the bit, and the slope that after it. NaN counts as a time before the first key.
    pub fn sample(&self, time: f64) -> (f64, f64) {
        let (first, last) = (self.keys[0], self.keys[self.keys.len() - 1]);
        let inside = match self.extrapolation {
            Extrapolation::Hold if time >= last.time => return (last.value, 0.0),
            Extrapolation::Hold => time,
            Extrapolation::Loop => wrapped(time, first.time, last.time),
        };
        if !(inside >= first.time && self.keys.len() > 1) {
            return (first.value, 0.0);
        }
        let after = self.keys.partition_point(|key| key.time <= inside);
        let i = (after - 1).min(self.keys.len() - 2);
        self.segment(i).sample(inside - self.keys[i].time)
    }

    /// The segment from key i to the next.
    fn segment(&self, i: usize) -> Segment {
        let (start, end) = (&self.keys[i], &self.keys[i + 1]);
        let ([_, right], [left, _]) = (self.handles[i], self.handles[i + 1]);
        Segment {
            span: end.time - start.time,
            value: [start.value, start.value + right[1], end.value + left[1], end.value],
            lengths: [right[0], -left[0]],
        }
    }

    /// Finds the ends of all handles.
    fn place_handles(&mut self) {
        // as the keys ask for them
        for i in 0..self.keys.len() {
            self.handles[i] = match self.keys[i].handles {
                Handles::Offsets { left, right } => [left, right],
                Handles::Slope(slope) => self.thirds(i, slope),
                Handles::Auto => self.thirds(i, self.automatic_slope(i)),
            };
        }
        // no longer, together, than their segment
        for i in 1..self.keys.len() {
            let span = self.keys[i].time - self.keys[i - 1].time;
            let length = self.handles[i - 1][1][0] - self.handles[i][0][0];
            if length > span {
                let factor = span / length;
                self.handles[i - 1][1] = self.handles[i - 1][1].map(|x| factor * x);
                self.handles[i][0] = self.handles[i][0].map(|x| factor * x);
            }
        }
    }

    /// Handles of a slope that are a third of their segments long; t(u) is linear between two such keys.
    fn thirds(&self, i: usize, slope: f64) -> [[f64; 2]; 2] {
        let third = |a: usize, b: usize| (self.keys[b].time - self.keys[a].time) / 3.0;
        let left = if i > 0 { third(i - 1, i) } else { 0.0 };
        let right = if i + 1 < self.keys.len() { third(i, i + 1) } else { 0.0 };
        [[-left, -left * slope], [right, right * slope]]
    }

    /// The slope of an automatic key between segments of lengths h₁, h₂ and mean slopes δ₁, δ₂ of one sign:
    ///
    /// ```text
    /// (w₁ + w₂) / (w₁/δ₁ + w₂/δ₂),   w₁ = h₁ + 2 h₂,   w₂ = 2 h₁ + h₂                     [FritschButland1984]
    /// ```
    fn automatic_slope(&self, i: usize) -> f64 {
        let segments = self.keys.len() - 1;
        let is_end = i == 0 || i == segments;
        if segments == 0 || (is_end && self.extrapolation == Extrapolation::Hold) {
            return 0.0;
        }
        let span_and_slope = |k: usize| {
            let span = self.keys[k + 1].time - self.keys[k].time;
            (span, (self.keys[k + 1].value - self.keys[k].value) / span)
        };
        // around a loop the last key is the first
        let after = i % segments;
        let (h1, slope1) = span_and_slope(neighbour(after, -1, segments, self.extrapolation));
        let (h2, slope2) = span_and_slope(after);
        if slope1 * slope2 <= 0.0 {
            return 0.0;
        }
        let (w1, w2) = (h1 + 2.0 * h2, 2.0 * h1 + h2);
        (w1 + w2) / (w1 / slope1 + w2 / slope2)
    }
}

/// A Bézier segment of time and value.
struct Segment {
    /// Its duration h (s).
    span: f64,
    /// The values of its four control points.
    value: [f64; 4],
    /// The lengths of the first and the second handle in time (s): together at most `span`.
    lengths: [f64; 2],
}

impl Segment {
    /// Value and slope at a time (s) after the start.
    fn sample(&self, time: f64) -> (f64, f64) {
        if time <= 0.0 {
            return (self.value[0], self.slope(0.0));
        }
        let u = self.parameter(time);
        (cubic(&self.value, u), self.slope(u))
    }

    /// The times of its control points, from the start (s).
    fn times(&self) -> [f64; 4] {
        [0.0, self.lengths[0], self.span - self.lengths[1], self.span]
    }

    /// Solves t(u) = time by Newton's method inside a bracket that bisection shrinks where Newton leaves it or is slow; t(u) does not decrease, so the bracket always holds a root.
    fn parameter(&self, time: f64) -> f64 {
        let times = self.times();
        // where both handles are a third long, this is the root
        let mut u = (time / self.span).clamp(0.0, 1.0);
        let (mut low, mut high) = (0.0, 1.0);
        // round-off of t(u), whose terms are of the size of the span
        let tolerance = 2.0 * f64::EPSILON * self.span;
        for _ in 0..MAX_ITERATIONS {
            let error = cubic(&times, u) - time;
            if error.abs() <= tolerance {
                break;
            }
            if error > 0.0 {
                high = u
            } else {
                low = u
            }
            let newton = u - error / cubic_rate(&times, u);
            // a Newton step that is not finite or leaves the bracket bisects
            u = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if high - low <= f64::EPSILON {
                break;
            }
        }
        u
    }

    /// dv/dt = v′(u)/t′(u). Where both vanish, at a handle of no length, it is the ratio of the second derivatives.
    fn slope(&self, u: f64) -> f64 {
        let times = self.times();
        let (rate, change) = (cubic_rate(&times, u), cubic_rate(&self.value, u));
        let is_small = |rate: f64| rate <= MIN_RATE * self.span;
        if !is_small(rate) {
            return change / rate;
        }
        let (bend, turn) = (cubic_bend(&times, u), cubic_bend(&self.value, u));
        // towards the inside of the segment t(u) cannot bend down at its start, nor up at its end
        if bend.abs() > MIN_RATE * self.span && change.abs() <= MIN_RATE * self.reach() {
            return turn / bend;
        }
        change / (MIN_RATE * self.span)
    }

    /// The largest difference of its values from the first.
    fn reach(&self) -> f64 {
        self.value.iter().fold(0.0, |most: f64, v| most.max((v - self.value[0]).abs()))
    }
}

/// The cubic Bézier polynomial of four numbers. Exact at both ends.
fn cubic(p: &[f64; 4], u: f64) -> f64 {
    if u >= 1.0 {
        return p[3];
    }
    let w = 1.0 - u;
    // sums of the Bernstein polynomials from the k-th on, times differences, so that a constant stays exact
    let (from1, from2, from3) = (u * (1.0 + w + w * w), u * u * (1.0 + 2.0 * w), u * u * u);
    p[0] + (p[1] - p[0]) * from1 + (p[2] - p[1]) * from2 + (p[3] - p[2]) * from3
}

/// Its derivative.
fn cubic_rate(p: &[f64; 4], u: f64) -> f64 {
    let w = 1.0 - u;
    3.0 * ((p[1] - p[0]) * w * w + 2.0 * (p[2] - p[1]) * u * w + (p[3] - p[2]) * u * u)
}

/// Its second derivative.
fn cubic_bend(p: &[f64; 4], u: f64) -> f64 {
    let w = 1.0 - u;
    6.0 * ((p[2] - 2.0 * p[1] + p[0]) * w + (p[3] - 2.0 * p[2] + p[1]) * u)
}

fn find_faults(keys: &[BezierKey]) -> Vec<String> {
    let mut faults = Vec::new();
    if keys.is_empty() {
        faults.push("there are no keys: give at least one".to_string());
    }
    for (i, key) in keys.iter().enumerate() {
        let BezierKey { time, value, handles } = *key;
        if !time.is_finite() || !value.is_finite() {
            faults.push(format!("key {}: time {time} s and value {value} must be finite", i + 1));
        }
        faults.extend(handle_fault(&handles).map(|fault| format!("key {} at {time} s: {fault}", i + 1)));
    }
    faults.extend(order_faults(keys.iter().map(|key| key.time)));
    faults
}

fn handle_fault(handles: &Handles) -> Option<String> {
    match handles {
        Handles::Auto => None,
        Handles::Slope(slope) => (!slope.is_finite()).then(|| format!("its slope is {slope}, not finite")),
        Handles::Offsets { left, right } => {
            for (side, [time, value], outwards) in [("left", *left, -left[0]), ("right", *right, right[0])] {
                if !time.is_finite() || !value.is_finite() {
                    return Some(format!("its {side} handle [{time}, {value}] is not finite"));
                }
                if outwards < 0.0 {
                    let sign = if side == "left" { "0 or less" } else { "0 or more" };
                    return Some(format!(
                        "its {side} handle points {} s to the other side: its time must be {sign}",
                        time.abs()
                    ));
                }
                if outwards == 0.0 && value != 0.0 {
                    return Some(format!(
                        "its {side} handle is vertical: give it a length in time, or [0, 0]"
                    ));
                }
            }
            None
        }
    }
}

#[cfg(test)]
mod tests;
