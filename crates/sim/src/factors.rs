//! Factors of the stiffness and the damping of a body in a step.

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
    /// d √k
    pub(crate) fn of_rate(&self) -> f64 {
        self.damping * self.stiffness.sqrt()
    }

    /// d/√k
    pub(crate) fn of_viscosity(&self) -> f64 {
        self.damping / self.stiffness.sqrt()
    }
}
