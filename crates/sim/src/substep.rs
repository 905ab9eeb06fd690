//! Which part of a step is taken at once.

/// A part of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substep {
    /// From which fraction of the step.
    pub(crate) from: f64,
    /// To which fraction of the step.
    pub(crate) to: f64,
    /// How long it is (s).
    pub(crate) h: f64,
    /// How long the whole step is (s).
    pub(crate) dt: f64,
}

impl Substep {
    /// All of a step of `dt` (s).
    #[cfg(test)]
    pub(crate) fn whole(dt: f64) -> Substep {
        Substep { from: 0.0, to: 1.0, h: dt, dt }
    }

    /// No time at all, at the end of a step; `h` (s) is what stiffnesses are made for.
    pub(crate) fn at_end(h: f64) -> Substep {
        Substep { from: 1.0, to: 1.0, h, dt: h }
    }

    /// How much of the step is left as it begins (s).
    pub(crate) fn left(&self) -> f64 {
        (1.0 - self.from) * self.dt
    }
}
