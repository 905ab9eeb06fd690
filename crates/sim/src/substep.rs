//! Sub-step intervals: the part of a time step that is integrated at once.

/// An interval of a time step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substep {
    /// Fraction of the step at which the sub-step begins.
    pub(crate) from: f64,
    /// Fraction of the step at which the sub-step ends.
    pub(crate) to: f64,
    /// Duration of the sub-step (s).
    pub(crate) h: f64,
    /// Duration of the whole step (s).
    pub(crate) dt: f64,
}

impl Substep {
    /// The whole of a step of `dt` (s).
    #[cfg(test)]
    pub(crate) fn whole(dt: f64) -> Substep {
        Substep { from: 0.0, to: 1.0, h: dt, dt }
    }

    /// An empty interval at the end of a step; `h` (s) is the time step for which stiffnesses are computed.
    pub(crate) fn at_end(h: f64) -> Substep {
        Substep { from: 1.0, to: 1.0, h, dt: h }
    }

    /// Time from the beginning of the sub-step to the end of the step (s).
    pub(crate) fn left(&self) -> f64 {
        (1.0 - self.from) * self.dt
    }
}
