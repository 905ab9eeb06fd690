//! A radial spring that stiffens towards a limit: energy, gradient, Hessian and proximal step.
//!
//! ```text
//! ψ(r) = −k L² (r/L + ln(1 − r/L)),   ψ' = k r/(1 − r/L),   ψ'' = k/(1 − r/L)²
//! ```
//!
//! Near home it is a linear spring of stiffness k; under an acceleration a, with k = m ω², it rests at r = r₀/(1 + r₀/L), r₀ = a/ω², so it approaches L and never
//! reaches it. Beyond r = θ L, where it is (1 − θ)⁻² times as stiff, a parabola continues it with the same value, gradient and Hessian, so that every position has a finite energy: a node leaves
//! its limit at accelerations above 99 ω² L only.

use sinew_math::{Mat3, Vec3, real};

/// θ: the fraction of the limit up to which the spring is the one above; θ/(1 − θ) + 1/(1 − θ) = 99.
const KNEE: f64 = 0.98;

/// The spring of a node, per mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HomeSpring {
    /// ω² = k/m near home (1/s²).
    pub(crate) stiffness: f64,
    /// L: the farthest from home (m).
    pub(crate) limit: f64,
    /// 2 ζ ω: the rate at which motion relative to home decays (1/s).
    pub(crate) damping: f64,
}

impl HomeSpring {
    /// ψ/m at a displacement from home (J/kg).
    pub(crate) fn energy(&self, displacement: &Vec3) -> f64 {
        let HomeSpring { stiffness, limit, .. } = *self;
        let u = displacement.norm() / limit;
        let within = u.min(KNEE);
        let logarithmic = -(within + real::ln(1.0 - within));
        let beyond = u - within;
        let (gradient, hessian) = (KNEE / (1.0 - KNEE), 1.0 / ((1.0 - KNEE) * (1.0 - KNEE)));
        stiffness * limit * limit * (logarithmic + beyond * (gradient + 0.5 * hessian * beyond))
    }

    /// ψ'/(m r) at a distance from home (1/s²): the gradient over the displacement.
    pub(crate) fn secant(&self, distance: f64) -> f64 {
        let u = distance / self.limit;
        if u <= KNEE {
            return self.stiffness / (1.0 - u);
        }
        let rest = 1.0 - KNEE;
        self.stiffness * (KNEE / rest + (u - KNEE) / (rest * rest)) / u
    }

    /// ψ''/m at a distance from home (1/s²).
    pub(crate) fn tangent(&self, distance: f64) -> f64 {
        let rest = 1.0 - (distance / self.limit).min(KNEE);
        self.stiffness / (rest * rest)
    }

    /// ∂²ψ/m at a displacement (1/s²): ψ'/r (1 − n nᵀ) + ψ'' n nᵀ, positive definite everywhere.
    pub(crate) fn hessian(&self, displacement: &Vec3) -> Mat3 {
        let distance = displacement.norm();
        let secant = self.secant(distance);
        let along =
            if distance > 0.0 { (self.tangent(distance) - secant) / (distance * distance) } else { 0.0 };
        Mat3::from_diagonal_element(secant) + along * displacement * displacement.transpose()
    }

    /// κ: the fraction of the velocity relative to home that a step of h (s) leaves before its proximal step. That step damps by itself: with a = h² ψ'/(m r), which is (ω h)² near home,
    ///
    /// ```text
    /// x' = (x + h κ v)/(1 + a),   v' = (x' − x)/h,   determinant κ/(1 + a),   trace (1 + κ)/(1 + a)
    /// ```
    ///
    /// A damped oscillator has the determinant e^(−c h), so κ = (1 + a) e^(−c h), and then the trace is right up to h² too: the swing does not depend on the step. κ stays at 1 where the proximal step
    /// alone damps more, at ω h > 2 ζ about. The exponential is its Padé approximation, which has the right terms up to h⁴ and stays above 0.
    #[inline(always)]
    pub(crate) fn slip_fraction(&self, distance: f64, h: f64) -> f64 {
        let (a, x) = (h * h * self.secant(distance), h * self.damping);
        let (even, odd) = (1.0 + x * x / 12.0, 0.5 * x);
        ((1.0 + a) * (even - odd) / (even + odd)).min(1.0)
    }

    /// The proximal step: the fraction of a displacement that is left after a step of h (s) under the spring, taken implicitly. It is the fraction r/r_f for the r with
    ///
    /// ```text
    /// r + h² ψ'(r)/m = r_f
    /// ```
    ///
    /// which up to the knee is a quadratic equation and beyond it a linear one: stable for any step, and exact for the limit.
    #[inline(always)]
    pub(crate) fn proximal_fraction(&self, free_distance: f64, h: f64) -> f64 {
        let a = h * h * self.stiffness;
        let u = free_distance / self.limit;
        let b = 1.0 + a + u;
        let fraction = 2.0 / (b + (b * b - 4.0 * u).sqrt());
        if fraction * u <= KNEE {
            return fraction;
        }
        let rest = 1.0 - KNEE;
        (u - a * KNEE / rest + a * KNEE / (rest * rest)) / (1.0 + a / (rest * rest)) / u
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPRING: HomeSpring = HomeSpring { stiffness: 400.0, limit: 0.05, damping: 8.0 };

    fn places() -> [Vec3; 5] {
        let direction = Vec3::new(0.36, -0.48, 0.8);
        // at home, within, at the knee from both sides, and far beyond the limit
        [0.0, 0.02, 0.0489, 0.0491, 0.08].map(|r| r * direction)
    }

    /// The gradient is the derivative of the energy and the Hessian that of the gradient: central differences over 2e-6 m, whose error is ε/2e-6 of round-off and (1e-6)²/6 of the
    /// third derivative, at most 2 k/(L (1 − θ)³), which is below 1e-5 of k (1 − θ)⁻².
    #[test]
    fn derivatives_agree_with_differences() {
        let scale = SPRING.stiffness / ((1.0 - KNEE) * (1.0 - KNEE));
        for place in places() {
            let hessian = SPRING.hessian(&place);
            for axis in 0..3 {
                let mut by = Vec3::zeros();
                by[axis] = 1e-6;
                let (over, under) = (place + by, place - by);
                let difference = (SPRING.energy(&over) - SPRING.energy(&under)) / 2e-6;
                let gradient = SPRING.secant(place.norm()) * place;
                assert!((difference - gradient[axis]).abs() < 1e-6 * scale * SPRING.limit, "{place:?}");
                let change = SPRING.secant(over.norm()) * over - SPRING.secant(under.norm()) * under;
                assert!((change / 2e-6 - hessian.column(axis)).norm() < 1e-4 * scale, "{place:?}");
            }
        }
    }

    /// The proximal step solves r + h² ψ'(r)/m = r_f to round-off, on both sides of the knee.
    #[test]
    fn the_proximal_step_solves_its_equation() {
        for h in [1e-4, 1e-3, 1e-2] {
            for free in [1e-9, 0.01, 0.05, 0.2, 3.0] {
                let r = free * SPRING.proximal_fraction(free, h);
                let solved = r + h * h * SPRING.secant(r) * r;
                assert!((solved - free).abs() < 1e-12 * free, "{h} {free}: {solved}");
            }
        }
    }

    /// The map of one step, far from the limit, has the determinant of a damped oscillator, up to the Padé approximation's (c h)⁵/720, and its trace, 2 e^(−ζωh) cos(ω'h), up to (ω h)³.
    #[test]
    fn swings_decay_alike_at_any_step() {
        let spring = HomeSpring { limit: 1e9, ..SPRING };
        let (omega, decay) = (spring.stiffness.sqrt(), 0.5 * spring.damping);
        for h in [1.0 / 240.0, 1.0 / 960.0] {
            let step = |r: f64, v: f64| {
                let free = r + h * v * spring.slip_fraction(r.abs(), h);
                let next = free * spring.proximal_fraction(free.abs(), h);
                [next, (next - r) / h]
            };
            let (of_place, of_velocity) = (step(1.0, 0.0), step(0.0, 1.0));
            let determinant = of_place[0] * of_velocity[1] - of_place[1] * of_velocity[0];
            let exact = real::exp(-2.0 * decay * h);
            assert!((determinant - exact).abs() < 1e-8, "{h}: {determinant} {exact}");
            let trace = of_place[0] + of_velocity[1];
            let exact = 2.0 * real::exp(-decay * h) * real::cos((omega * omega - decay * decay).sqrt() * h);
            assert!((trace - exact).abs() < (omega * h).powi(3), "{h}: {trace} {exact}");
        }
        // stiff springs are damped by the proximal step alone
        assert_eq!(spring.slip_fraction(0.0, 0.1), 1.0);
    }

    /// Under 30 g that sets in within half a second, with a spring of 3 Hz and a limit of 5 cm, r = r₀/(1 + r₀/L) stays below the limit.
    #[test]
    fn the_limit_holds_under_thirty_g() {
        let acceleration: f64 = 30.0 * 9.81;
        let (h, mut r, mut v) = (1e-3, 0.0, 0.0);
        for i in 0..5000 {
            v = (v + h * acceleration * (f64::from(i) / 500.0).min(1.0)) * 0.99;
            let free: f64 = r + h * v;
            let next = free * SPRING.proximal_fraction(free.abs(), h);
            (r, v) = (next, (next - r) / h);
            assert!(r < SPRING.limit);
        }
        // what friction of 1 % per step leaves of the acceleration is all of it at rest
        let r0 = acceleration * 0.99 / SPRING.stiffness;
        assert!((r - r0 / (1.0 + r0 / SPRING.limit)).abs() < 1e-6, "{r}");
    }
}
