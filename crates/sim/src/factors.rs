//! Factors of the stiffness and the damping of a body in a step.

use sinew_math::real;

/// Factors of the stiffness and the damping of a body in a step.
///
/// A body of the factors k and d is one whose elasticity is multiplied by k and whose damping ratios are multiplied by d: frequencies grow as √k, so rates of damping c are multiplied by d √k, and viscosities β by d/√k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factors {
    /// k, above 0.
    pub(crate) stiffness: f64,
    /// d, 0 or more.
    pub(crate) damping: f64,
}

impl Default for Factors {
    fn default() -> Self {
        Factors { stiffness: 1.0, damping: 1.0 }
    }
}

impl Factors {
    /// ĉ h = e^(c h) − 1 of a rate of damping over a step, of which c h is given and includes the factor: what leaves e^(−c h) of a velocity in one implicit solve. Where a factor multiplies damping, it is continued linearly beyond
    /// c h = 1, or beyond that of the body itself: overdamped flesh approaches equilibrium at the rate ω²/c, and e^(c h) would all but stop it.
    pub(crate) fn growth(&self, rate: f64) -> f64 {
        let factor = self.of_rate();
        let bend = if factor > 1.0 { (rate / factor).max(1.0) } else { f64::INFINITY };
        if rate <= bend { real::exp(rate) - 1.0 } else { real::exp(bend) * (1.0 + rate - bend) - 1.0 }
    }

    /// d √k
    pub(crate) fn of_rate(&self) -> f64 {
        self.damping * self.stiffness.sqrt()
    }

    /// d/√k
    pub(crate) fn of_viscosity(&self) -> f64 {
        self.damping / self.stiffness.sqrt()
    }
}
