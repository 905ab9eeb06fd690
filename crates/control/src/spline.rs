//! Kochanek-Bartels splines and cubic B-splines of numbers, vectors and rotations, in cumulative form.
//!
//! ```text
//! x(t) = x₀ · exp(β₁(t) d₁) · exp(β₂(t) d₂) · exp(β₃(t) d₃)                      [KimKimShin1995, §4]
//! ```
//!
//! The cumulative form needs only differences d of neighbouring values and scalar basis functions β. For numbers and vectors
//! exp d is addition and the form equals the usual spline; for rotations it is a spline on SO(3), whose velocity and
//! acceleration follow from the product rule. Rates of rotations are angular velocities in the body frame, like the
//! velocities of the skeleton's ball joints.

use core::ops::{Add, Mul, Sub};
use sinew_math::{Rotation, Vec3, so3};

/// A value that can be keyframed: a number, a vector or a rotation (a Lie group element with its tangent space).
pub trait KeyValue: Copy {
    /// A tangent vector: a difference of two values or a rate of change.
    type Rate: Copy
        + Default
        + PartialEq
        + core::fmt::Debug
        + Add<Output = Self::Rate>
        + Sub<Output = Self::Rate>
        + Mul<f64, Output = Self::Rate>;

    /// The difference log(self⁻¹ to); for rotations the shortest one, at most half a turn.
    fn gap(&self, to: &Self) -> Self::Rate;

    /// The value self · exp(by).
    fn moved(&self, by: &Self::Rate) -> Self;

    /// A rate in the frame after the step exp(by): exp(by)ᵀ rate for rotations, unchanged for others.
    fn carried(rate: &Self::Rate, by: &Self::Rate) -> Self::Rate;

    /// The Lie bracket: a × b for rotations, zero for others.
    fn bracket(a: &Self::Rate, b: &Self::Rate) -> Self::Rate;

    /// Whether all components are finite, and a quaternion is not zero.
    fn is_sound(&self) -> bool;

    /// The value with quaternions normalised.
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
        // scale first, so that neither huge nor tiny quaternions overflow
        Rotation::new_normalize(q / q.as_vector().amax())
    }
}

/// How values between keys are interpolated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// The value of the previous key.
    Step,
    /// Linear from key to key, for rotations at constant angular velocity (slerp).
    Linear,
    /// A cubic Hermite spline through every key, with tension, continuity and bias.       [KochanekBartels1984, §3]
    /// Velocity is continuous where continuity is 0; acceleration jumps at keys.
    #[default]
    KochanekBartels,
    /// A cubic B-spline with the keys as control points and their times as knots: it passes near the keys, and through the first
    /// and the last, with continuous velocity and acceleration. Evenly spaced keys give the uniform B-spline.
    BSpline,
}

/// The parameters of a Kochanek-Bartels spline at a key; all 0 gives the Catmull-Rom spline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KeyShape {
    /// How sharply the curve bends, −1 to 1: at 1 it stops at the key.
    pub tension: f64,
    /// How much the tangent jumps, −1 to 1: at −1 the curve has the corner of a polyline.
    pub continuity: f64,
    /// Which chord the tangent prefers, −1 to 1: at 1 it is parallel to the incoming chord.
    pub bias: f64,
}

/// A value with its first and second time derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<T: KeyValue> {
    /// The value.
    pub value: T,
    /// Its rate (per s); for rotations the angular velocity in the body frame (rad/s).
    pub rate: T::Rate,
    /// The rate of its rate (per s²); for rotations the angular acceleration in the body frame (rad/s²).
    pub acceleration: T::Rate,
}

impl<T: KeyValue> Sample<T> {
    /// A value with zero derivatives.
    pub(crate) fn constant(value: T) -> Sample<T> {
        Sample { value, rate: T::Rate::default(), acceleration: T::Rate::default() }
    }
}

/// The segment of a spline between two keys, with the differences and knot spacings of its neighbours.
pub(crate) struct Segment<T: KeyValue> {
    /// The value at the first key of the segment.
    pub(crate) start: T,
    /// Differences of values across the previous segment, this one and the next.
    pub(crate) gap: [T::Rate; 3],
    /// Knot spacings (s): two segments before, the segment itself, two after.
    pub(crate) span: [f64; 5],
    /// Kochanek-Bartels parameters at both ends.
    pub(crate) shape: [KeyShape; 2],
}

/// A basis function with its first and second time derivatives.
type Weight = [f64; 3];

impl<T: KeyValue> Segment<T> {
    /// Evaluates the curve `t` seconds after the start of the segment.
    pub(crate) fn sample(&self, interpolation: Interpolation, t: f64) -> Sample<T> {
        let h = self.span[2];
        match interpolation {
            Interpolation::Step => Sample::constant(self.start),
            Interpolation::Linear => chain(&self.start, [(self.gap[1], [t / h, 1.0 / h, 0.0])].into_iter()),
            Interpolation::KochanekBartels => self.hermite(t),
            Interpolation::BSpline => {
                let before = self.start.moved(&(self.gap[0] * -1.0));
                chain(&before, self.gap.into_iter().zip(bspline_weights(&self.span, t)))
            }
        }
    }

    /// The cubic Hermite segment as a Bézier curve in cumulative form: d₁ and d₃ are the end velocities times h/3, d₂ joins the
    /// two inner control points.
    fn hermite(&self, t: f64) -> Sample<T> {
        let h = self.span[2];
        let first = self.velocity_out() * (h / 3.0);
        let last = self.velocity_in() * (h / 3.0);
        let end = self.start.moved(&self.gap[1]);
        let middle = self.start.moved(&first).gap(&end.moved(&(last * -1.0)));
        chain(&self.start, [first, middle, last].into_iter().zip(bezier_weights(h, t)))
    }

    /// The outgoing velocity at the first key.
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

    /// The incoming velocity at the second key.
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

/// Evaluates the cumulative product and its derivatives by the product rule. With A = exp(β d):
///
/// ```text
/// x' = x A,   ω' = Aᵀω + β̇ d,   α' = Aᵀα + β̇ (Aᵀω) × d + β̈ d
/// ```
fn chain<T: KeyValue>(start: &T, steps: impl Iterator<Item = (T::Rate, Weight)>) -> Sample<T> {
    let mut sample = Sample::constant(*start);
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

/// The cumulative cubic Bernstein basis: sums of the polynomials from the k-th on, k = 1, 2, 3.
fn bezier_weights(h: f64, t: f64) -> [Weight; 3] {
    let (u, w) = (t / h, 1.0 - t / h);
    let per_time = |x: f64, dx: f64, ddx: f64| [x, dx / h, ddx / (h * h)];
    [
        per_time(1.0 - w * w * w, 3.0 * w * w, -6.0 * w),
        per_time(u * u * (3.0 - 2.0 * u), 6.0 * u * w, 6.0 - 12.0 * u),
        per_time(u * u * u, 3.0 * u * u, 6.0 * u),
    ]
}

/// The cumulative cubic B-spline basis on a knot interval: sums of the four B-splines from the k-th on, k = 1, 2, 3. The sums
/// telescope: the derivative of each is 3/(its knot span) times one quadratic B-spline.         [deBoor1978, ch. X]
fn bspline_weights(span: &[f64; 5], t: f64) -> [Weight; 3] {
    let knot = [-span[1] - span[0], -span[1], 0.0, span[2], span[2] + span[3], span[2] + span[3] + span[4]];
    let (since, until) = (|k: usize| t - knot[k], |k: usize| knot[k] - t);
    let width = |a: usize, b: usize| knot[b] - knot[a];

    // linear, then quadratic B-splines with their derivatives
    let (a, b) = (until(3) / width(2, 3), since(2) / width(2, 3));
    let low = until(3) / width(1, 3) * a;
    let mid = since(1) / width(1, 3) * a + until(4) / width(2, 4) * b;
    let high = since(2) / width(2, 4) * b;
    let low_derivative = -2.0 * a / width(1, 3);
    let high_derivative = 2.0 * b / width(2, 4);
    let mid_derivative = -low_derivative - high_derivative;

    // cubic B-splines by the recurrence of Cox and de Boor
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

    fn segment(shape: [KeyShape; 2]) -> Segment<f64> {
        Segment { start: 2.0, gap: [0.5, -1.5, 3.0], span: [0.2, 0.3, 0.5, 0.4, 0.1], shape }
    }

    /// The uniform cubic B-spline in matrix form: (1/6) [1 u u² u³] M p. The tolerance is a few ε for values of order 1.
    #[test]
    fn uniform_knots_give_the_uniform_bspline() {
        let p = [1.5, 2.0, 0.5, 3.5];
        let even = Segment { span: [0.25; 5], ..segment([KeyShape::default(); 2]) };
        for u in [0.0, 0.2, 0.5, 0.9, 1.0] {
            let w = 1.0 - u;
            let (u2, u3) = (u * u, u * u * u);
            let basis = [w * w * w, 3.0 * u3 - 6.0 * u2 + 4.0, -3.0 * u3 + 3.0 * u2 + 3.0 * u + 1.0, u3];
            let expected: f64 = basis.iter().zip(p).map(|(b, p)| b * p / 6.0).sum();
            let found = even.sample(Interpolation::BSpline, 0.25 * u).value;
            assert!((found - expected).abs() < 1e-14, "{u}: {found} {expected}");
        }
    }

    /// The expected value is the cubic Hermite polynomial with the Kochanek-Bartels end velocities, written out.
    #[test]
    fn kochanek_bartels_segment_is_the_hermite_polynomial() {
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
            let found = segment(shape).sample(Interpolation::KochanekBartels, h * u).value;
            assert!((found - expected).abs() < 1e-14, "{u}: {found} {expected}");
        }
    }
}
