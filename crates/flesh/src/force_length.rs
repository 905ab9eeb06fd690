//! Hill-type force-length curves of muscle: active and passive nominal stress of fibres against their stretch, as an energy.   `[Zajac1989, fig. 5; Blemker2005, eq. 17]`
//!
//! ```text
//! Ψ'(λ) = σ (a f_a(l) + p f_p(l)),     l = λ/λ₀
//! f_a(l) = (1 − u²)²  for |u| < 1,  u = (l − 1)/w                  else 0
//! f_p(l) = P (e^(Q e) − 1 − Q e)  for 0 < e = l − 1 < 0.4         linear beyond, 0 below
//! ```
//!
//! The quartic has the range of sarcomeres, 0.4 to 1.6 times the optimal length, and its maximum of 1 there; the exponential has the coefficients of Blemker, without its linear term, so that it begins smoothly. Both are
//! continuously differentiable, and so are forces. There is no force-velocity curve: at a given activation fibres are conservative.

use sinew_math::real::exp;

/// w: the reach of active force on either side of the optimal length.
const REACH: f64 = 0.6;
/// P and Q of passive force.
const PASSIVE: f64 = 0.05;
const PASSIVE_GROWTH: f64 = 6.6;
/// e from which passive force is linear.
const PASSIVE_LINEAR: f64 = 0.4;

/// The force-length curves of a muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceLength {
    /// σ: nominal stress of a fully activated fibre at its optimal length (Pa); for a line of action its force (N).
    pub max_stress: f64,
    /// λ₀: the stretch at which active force is largest.
    pub optimal_stretch: f64,
    /// p: factor of passive force.
    pub passive: f64,
}

impl Default for ForceLength {
    /// Skeletal muscle, which is at its optimal length at rest.   `[Blemker2005]`
    fn default() -> ForceLength {
        ForceLength { max_stress: 300e3, optimal_stretch: 1.0, passive: 1.0 }
    }
}

impl ForceLength {
    /// Ψ: energy per rest volume (J/m³) of a fibre of stretch λ at activation a; 0 or more.
    ///
    /// ```text
    /// ∫ f_a = w (u − 2u³/3 + u⁵/5 + 8/15),     ∫ f_p = P ((e^(Q e) − 1)/Q − e − Q e²/2)
    /// ```
    #[inline]
    pub fn energy(&self, stretch: f64, activation: f64) -> f64 {
        let l = stretch / self.optimal_stretch;
        let u = ((l - 1.0) / REACH).clamp(-1.0, 1.0);
        let active = REACH * (u - 2.0 / 3.0 * u * u * u + u * u * u * u * u / 5.0 + 8.0 / 15.0);
        self.max_stress
            * self.optimal_stretch
            * (activation * active + self.passive * passive_energy(l - 1.0))
    }

    /// Ψ': nominal stress (Pa).
    #[inline]
    pub fn stress(&self, stretch: f64, activation: f64) -> f64 {
        let l = stretch / self.optimal_stretch;
        let u = ((l - 1.0) / REACH).clamp(-1.0, 1.0);
        let rest = 1.0 - u * u;
        self.max_stress * (activation * rest * rest + self.passive * passive_force(l - 1.0))
    }

    /// Ψ'' (Pa); negative on the descending limb of the active curve.
    #[inline]
    pub fn tangent(&self, stretch: f64, activation: f64) -> f64 {
        let l = stretch / self.optimal_stretch;
        let u = ((l - 1.0) / REACH).clamp(-1.0, 1.0);
        let active = -4.0 * u * (1.0 - u * u) / REACH;
        self.max_stress / self.optimal_stretch
            * (activation * active + self.passive * passive_tangent(l - 1.0))
    }

    /// An upper bound of Ψ'' and of Ψ'/λ at any activation, for fibres that are shorter than 1.4 optimal lengths or anywhere on the line beyond (Pa).
    ///
    /// ```text
    /// max f_a' = 8/(3√3 w) at u = −1/√3,     max f_a/l < 1.1,     max f_p' at e = 0.4,     f_p/l < f_p'
    /// ```
    pub fn max_tangent(&self) -> f64 {
        let active = 8.0 / (3.0 * 3f64.sqrt() * REACH);
        let passive = self.passive * passive_tangent(PASSIVE_LINEAR);
        // both are never large together: the active curve falls where the passive one rises
        self.max_stress / self.optimal_stretch * active.max(passive + 1.1)
    }

    /// What is wrong with the numbers.
    pub fn fault(&self) -> Option<String> {
        let ForceLength { max_stress, optimal_stretch, passive } = *self;
        match () {
            () if !(max_stress > 0.0 && max_stress.is_finite()) => Some(format!(
                "its largest stress is {max_stress}: give a number above 0; muscle has 300,000 Pa"
            )),
            () if !(0.2..=5.0).contains(&optimal_stretch) => Some(format!(
                "its optimal stretch is {optimal_stretch}: give a number between 0.2 and 5; 1 is strongest at its length at rest"
            )),
            () if !(0.0..=100.0).contains(&passive) => Some(format!(
                "its passive factor is {passive}: give a number between 0 and 100; 1 is that of muscle"
            )),
            () => None,
        }
    }
}

fn passive_energy(e: f64) -> f64 {
    if e <= 0.0 {
        return 0.0;
    }
    let curved = e.min(PASSIVE_LINEAR);
    let growth = (exp(PASSIVE_GROWTH * curved) - 1.0) / PASSIVE_GROWTH;
    let energy = PASSIVE * (growth - curved - 0.5 * PASSIVE_GROWTH * curved * curved);
    let beyond = e - curved;
    energy + beyond * (passive_force(curved) + 0.5 * passive_tangent(curved) * beyond)
}

fn passive_force(e: f64) -> f64 {
    if e <= 0.0 {
        return 0.0;
    }
    let curved = e.min(PASSIVE_LINEAR);
    let growth = exp(PASSIVE_GROWTH * curved) - 1.0;
    PASSIVE * (growth - PASSIVE_GROWTH * curved + PASSIVE_GROWTH * growth * (e - curved))
}

fn passive_tangent(e: f64) -> f64 {
    if e <= 0.0 {
        return 0.0;
    }
    PASSIVE * PASSIVE_GROWTH * (exp(PASSIVE_GROWTH * e.min(PASSIVE_LINEAR)) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central differences over 1e-5: right to 1e-10 of third derivatives, which are below 1e3 of the stress, and lose 1e-11 to round-off.
    #[test]
    fn stress_and_tangent_are_derivatives_of_the_energy() {
        let law = ForceLength { max_stress: 1.0, optimal_stretch: 1.1, passive: 0.8 };
        for activation in [0.0, 0.3, 1.0] {
            for i in 1..40 {
                let (l, e) = (0.3 + 0.041 * f64::from(i), 1e-5);
                let derivative = (law.energy(l + e, activation) - law.energy(l - e, activation)) / (2.0 * e);
                assert!((derivative - law.stress(l, activation)).abs() < 1e-7, "{l}: {derivative}");
                let derivative = (law.stress(l + e, activation) - law.stress(l - e, activation)) / (2.0 * e);
                assert!((derivative - law.tangent(l, activation)).abs() < 1e-4, "{l}: {derivative}");
            }
        }
    }

    #[test]
    fn active_force_is_largest_at_the_optimal_length_and_ends_at_the_reach_of_sarcomeres() {
        let law = ForceLength { passive: 0.0, ..ForceLength::default() };
        assert_eq!(law.stress(1.0, 1.0), 300e3);
        assert_eq!(law.stress(1.0, 0.5), 150e3);
        for l in [0.2, 0.4, 1.6, 2.0] {
            assert!(law.stress(l, 1.0).abs() < 1e-9, "{l}");
        }
        assert!(law.energy(0.3, 1.0).abs() < 1e-9, "a fibre that cannot pull stores nothing");
    }

    #[test]
    fn the_bound_holds_at_every_stretch_and_activation() {
        for passive in [0.0, 1.0, 3.0] {
            let law = ForceLength { passive, ..ForceLength::default() };
            for i in 1..300 {
                let l = 0.3 + 0.01 * f64::from(i);
                for activation in [0.0, 0.5, 1.0] {
                    assert!(law.tangent(l, activation) <= law.max_tangent(), "{l}");
                    assert!(law.stress(l, activation) / l <= law.max_tangent(), "{l}");
                }
            }
        }
    }
}
