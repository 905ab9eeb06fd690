//! Smooth curves through or near values in a row: numbers, vectors and rotations alike.
//!
//! ```text
//! x(t) = x₀ · exp(β₁(t) d₁) · exp(β₂(t) d₂) · exp(β₃(t) d₃)                      [KimKimShin1995, §4]
//! ```
//!
//! The one idea: every interpolation is written in this cumulative form, where only differences d of neighbours and scalar
//! weights β occur. For numbers and vectors exp d is "add d", and the form is the usual spline; for rotations it is a spline
//! on the manifold, whose velocity and acceleration follow from the product rule. Rates of rotations are angular velocities
//! in the turned frame, as the skeleton's ball joints count them.

use core::ops::{Add, Mul, Sub};
use sinew_math::{Rotation, Vec3, so3};

/// What can be keyed: a number, a vector or a rotation.
pub trait KeyValue: Copy {
    /// A difference of two values, or a rate of change.
    type Rate: Copy
        + Default
        + PartialEq
        + core::fmt::Debug
        + Add<Output = Self::Rate>
        + Sub<Output = Self::Rate>
        + Mul<f64, Output = Self::Rate>;

    /// The difference that leads from here to another value: for rotations the shortest, at most a half turn.
    fn gap(&self, to: &Self) -> Self::Rate;

    /// The value that a difference leads to.
    fn moved(&self, by: &Self::Rate) -> Self;

    /// A rate as it is seen after a move: turned back for rotations, unchanged for others.
    fn carried(rate: &Self::Rate, by: &Self::Rate) -> Self::Rate;

    /// a × b for rotations, zero for others: how far rates fail to commute.
    fn bracket(a: &Self::Rate, b: &Self::Rate) -> Self::Rate;

    /// Whether all numbers are finite, and a quaternion is not zero.
    fn is_sound(&self) -> bool;

    /// The same value with unit quaternions of unit length.
    fn normalized(&self) -> Self {
        *self
    }
}

impl KeyValue for f64 {
    type Rate = f64;

    fn gap(&self, to: &f64) -> f64 {
        to - self
    }

    fn moved(&self, by: &f64) -> f64 {
        self + by
    }

    fn carried(rate: &f64, _: &f64) -> f64 {
        *rate
    }

    fn bracket(_: &f64, _: &f64) -> f64 {
        0.0
    }

    fn is_sound(&self) -> bool {
        self.is_finite()
    }
}

impl KeyValue for Vec3 {
    type Rate = Vec3;

    fn gap(&self, to: &Vec3) -> Vec3 {
        to - self
    }

    fn moved(&self, by: &Vec3) -> Vec3 {
        self + by
    }

    fn carried(rate: &Vec3, _: &Vec3) -> Vec3 {
        *rate
    }

    fn bracket(_: &Vec3, _: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn is_sound(&self) -> bool {
        self.iter().all(|x| x.is_finite())
    }
}

impl KeyValue for Rotation {
    type Rate = Vec3;

    fn gap(&self, to: &Rotation) -> Vec3 {
        so3::log(&(self.inverse() * to))
    }

    fn moved(&self, by: &Vec3) -> Rotation {
        (self * so3::exp(by)).normalized()
    }

    fn carried(rate: &Vec3, by: &Vec3) -> Vec3 {
        so3::exp(by).inverse_transform_vector(rate)
    }

    fn bracket(a: &Vec3, b: &Vec3) -> Vec3 {
        a.cross(b)
    }

    fn is_sound(&self) -> bool {
        self.as_vector().iter().all(|x| x.is_finite()) && self.as_vector().amax() > 1e-150
    }

    fn normalized(&self) -> Rotation {
        let q = self.quaternion();
        // scaled first, so that neither huge nor tiny quaternions overflow
        Rotation::new_normalize(q / q.as_vector().amax())
    }
}

/// How values between keys are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// The value of the key before.
    Step,
    /// Straight from key to key, for rotations at a steady angular velocity.
    Linear,
    /// Through every key, shaped by tension, continuity and bias at each.                 [KochanekBartels1984, §3]
    /// Velocity is continuous where continuity is 0, acceleration jumps at keys.
    #[default]
    KochanekBartels,
    /// A cubic B-spline with the keys as control points and their times as knots: passes near the keys, through the first and
    /// the last, with continuous velocity and acceleration. The uniform B-spline where keys are evenly spaced.
    BSpline,
}

/// How a Kochanek-Bartels curve passes a key; all 0 is the Catmull-Rom curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeyShape {
    /// How sharply it bends, −1 to 1: at 1 it stops at the key.
    pub tension: f64,
    /// How its direction breaks, −1 to 1: at −1 it has the corner of straight lines.
    pub continuity: f64,
    /// Which side it leans to, −1 to 1: at 1 it follows the chord that comes in.
    pub bias: f64,
}

/// A value and its first and second derivative in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<T: KeyValue> {
    /// The value.
    pub value: T,
    /// Its rate (per s); for rotations the angular velocity in the turned frame (rad/s).
    pub rate: T::Rate,
    /// The rate of its rate (per s²); for rotations in the turned frame (rad/s²).
    pub acceleration: T::Rate,
}

impl<T: KeyValue> Sample<T> {
    /// A value that does not move.
    pub(crate) fn still(value: T) -> Sample<T> {
        Sample { value, rate: T::Rate::default(), acceleration: T::Rate::default() }
    }
}

/// The piece of a curve between two keys, and what it must know of their neighbours.
pub(crate) struct Piece<T: KeyValue> {
    /// The value of the key that begins the piece.
    pub(crate) start: T,
    /// Differences before, along and after the piece.
    pub(crate) gap: [T::Rate; 3],
    /// Seconds between keys: two before, the piece itself, two after.
    pub(crate) span: [f64; 5],
    /// How the curve passes the keys at both ends.
    pub(crate) shape: [KeyShape; 2],
}

/// A weight and its first and second derivative in time.
type Weight = [f64; 3];

impl<T: KeyValue> Piece<T> {
    /// The curve `t` seconds after the start of the piece.
    pub(crate) fn sample(&self, interpolation: Interpolation, t: f64) -> Sample<T> {
        let h = self.span[2];
        match interpolation {
            Interpolation::Step => Sample::still(self.start),
            Interpolation::Linear => chain(&self.start, [(self.gap[1], [t / h, 1.0 / h, 0.0])].into_iter()),
            Interpolation::KochanekBartels => self.hermite(t),
            Interpolation::BSpline => {
                let before = self.start.moved(&(self.gap[0] * -1.0));
                chain(&before, self.gap.into_iter().zip(bspline_weights(&self.span, t)))
            }
        }
    }

    /// A cubic with given velocities at both ends, as a Bézier curve in cumulative form: d₁ and d₃ are a third of the piece
    /// at the end velocities, d₂ is what is left.
    fn hermite(&self, t: f64) -> Sample<T> {
        let h = self.span[2];
        let first = self.velocity_out() * (h / 3.0);
        let last = self.velocity_in() * (h / 3.0);
        let end = self.start.moved(&self.gap[1]);
        let middle = self.start.moved(&first).gap(&end.moved(&(last * -1.0)));
        chain(&self.start, [first, middle, last].into_iter().zip(bezier_weights(h, t)))
    }

    /// The velocity with which the curve leaves the first key.
    ///
    /// ```text
    /// D = (1−t)(1+c)(1+b)/2 (xᵢ − xᵢ₋₁) + (1−t)(1−c)(1−b)/2 (xᵢ₊₁ − xᵢ)     [KochanekBartels1984, eq. 9]
    /// v = 2 D / (hᵢ₋₁ + hᵢ)                                                    [KochanekBartels1984, §5]
    /// ```
    fn velocity_out(&self) -> T::Rate {
        let KeyShape { tension: t, continuity: c, bias: b } = self.shape[0];
        let before = self.gap[0] * ((1.0 - t) * (1.0 + c) * (1.0 + b));
        let after = self.gap[1] * ((1.0 - t) * (1.0 - c) * (1.0 - b));
        (before + after) * (1.0 / (self.span[1] + self.span[2]))
    }

    /// The velocity with which the curve comes to the second key.
    ///
    /// ```text
    /// D = (1−t)(1−c)(1+b)/2 (xᵢ − xᵢ₋₁) + (1−t)(1+c)(1−b)/2 (xᵢ₊₁ − xᵢ)     [KochanekBartels1984, eq. 8]
    /// ```
    fn velocity_in(&self) -> T::Rate {
        let KeyShape { tension: t, continuity: c, bias: b } = self.shape[1];
        let before = self.gap[1] * ((1.0 - t) * (1.0 - c) * (1.0 + b));
        let after = self.gap[2] * ((1.0 - t) * (1.0 + c) * (1.0 - b));
        (before + after) * (1.0 / (self.span[2] + self.span[3]))
    }
}

/// The cumulative product and its derivatives. With A = exp(β d):
///
/// ```text
/// x' = x A,   ω' = Aᵀω + β̇ d,   α' = Aᵀα + β̇ (Aᵀω) × d + β̈ d
/// ```
fn chain<T: KeyValue>(start: &T, steps: impl Iterator<Item = (T::Rate, Weight)>) -> Sample<T> {
    let mut sample = Sample::still(*start);
    for (d, [weight, rate, acceleration]) in steps {
        let step = d * weight;
        let carried = T::carried(&sample.rate, &step);
        sample.acceleration =
            T::carried(&sample.acceleration, &step) + T::bracket(&carried, &d) * rate + d * acceleration;
        sample.rate = carried + d * rate;
        sample.value = sample.value.moved(&step);
    }
    sample
}

/// Sums from the k-th on of the cubic Bernstein polynomials, k = 1, 2, 3.
fn bezier_weights(h: f64, t: f64) -> [Weight; 3] {
    let (u, w) = (t / h, 1.0 - t / h);
    let per_time = |x: f64, dx: f64, ddx: f64| [x, dx / h, ddx / (h * h)];
    [
        per_time(1.0 - w * w * w, 3.0 * w * w, -6.0 * w),
        per_time(u * u * (3.0 - 2.0 * u), 6.0 * u * w, 6.0 - 12.0 * u),
        per_time(u * u * u, 3.0 * u * u, 6.0 * u),
    ]
}

/// Sums from the k-th on of the four cubic B-splines over a knot interval, k = 1, 2, 3. The sums telescope: the derivative of
/// each is 3/(its knots' distance) times one quadratic B-spline.                                [deBoor1978, ch. X]
fn bspline_weights(span: &[f64; 5], t: f64) -> [Weight; 3] {
    let knot = [-span[1] - span[0], -span[1], 0.0, span[2], span[2] + span[3], span[2] + span[3] + span[4]];
    let (since, until) = (|k: usize| t - knot[k], |k: usize| knot[k] - t);
    let width = |a: usize, b: usize| knot[b] - knot[a];

    // hats, then quadratic splines with their derivatives
    let (a, b) = (until(3) / width(2, 3), since(2) / width(2, 3));
    let low = until(3) / width(1, 3) * a;
    let mid = since(1) / width(1, 3) * a + until(4) / width(2, 4) * b;
    let high = since(2) / width(2, 4) * b;
    let low_derivative = -2.0 * a / width(1, 3);
    let high_derivative = 2.0 * b / width(2, 4);
    let mid_derivative = -low_derivative - high_derivative;

    let last = since(2) / width(2, 5) * high;
    let third = since(1) / width(1, 4) * mid + until(5) / width(2, 5) * high;
    let first = until(3) / width(0, 3) * low;
    [
        [1.0 - first, 3.0 * low / width(0, 3), 3.0 * low_derivative / width(0, 3)],
        [third + last, 3.0 * mid / width(1, 4), 3.0 * mid_derivative / width(1, 4)],
        [last, 3.0 * high / width(2, 5), 3.0 * high_derivative / width(2, 5)],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(shape: [KeyShape; 2]) -> Piece<f64> {
        Piece { start: 2.0, gap: [0.5, -1.5, 3.0], span: [0.2, 0.3, 0.5, 0.4, 0.1], shape }
    }

    /// The uniform cubic B-spline by its matrix: (1/6) [1 u u² u³] M p. A few ε of values of order 1.
    #[test]
    fn even_knots_give_the_uniform_bspline() {
        let p = [1.5, 2.0, 0.5, 3.5];
        let even = Piece { span: [0.25; 5], ..piece([KeyShape::default(); 2]) };
        for u in [0.0, 0.2, 0.5, 0.9, 1.0] {
            let w = 1.0 - u;
            let (u2, u3) = (u * u, u * u * u);
            let basis = [w * w * w, 3.0 * u3 - 6.0 * u2 + 4.0, -3.0 * u3 + 3.0 * u2 + 3.0 * u + 1.0, u3];
            let expected: f64 = basis.iter().zip(p).map(|(b, p)| b * p / 6.0).sum();
            let found = even.sample(Interpolation::BSpline, 0.25 * u).value;
            assert!((found - expected).abs() < 1e-14, "{u}: {found} {expected}");
        }
    }

    /// The cubic Hermite polynomial with the end velocities of Kochanek and Bartels, written out.
    #[test]
    fn numbers_follow_the_hermite_polynomial() {
        let shape = [
            KeyShape { tension: 0.3, continuity: -0.2, bias: 0.5 },
            KeyShape { tension: -0.4, continuity: 0.6, bias: -0.1 },
        ];
        let h = 0.5;
        // (1−t)(1±c)(1±b)/2 of both chords, times 2/(spans)
        let out = (0.7 * 0.8 * 1.5 * 0.5 + 0.7 * 1.2 * 0.5 * -1.5) / (0.3 + 0.5);
        let into = (1.4 * 0.4 * 0.9 * -1.5 + 1.4 * 1.6 * 1.1 * 3.0) / (0.5 + 0.4);
        for u in [0.0, 0.1, 0.5, 0.77, 1.0] {
            let (u2, u3) = (u * u, u * u * u);
            let expected = (2.0 * u3 - 3.0 * u2 + 1.0) * 2.0
                + (u3 - 2.0 * u2 + u) * h * out
                + (3.0 * u2 - 2.0 * u3) * 0.5
                + (u3 - u2) * h * into;
            let found = piece(shape).sample(Interpolation::KochanekBartels, h * u).value;
            assert!((found - expected).abs() < 1e-14, "{u}: {found} {expected}");
        }
    }
}
