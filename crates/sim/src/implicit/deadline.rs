//! Time budgets of steps, measured by a clock of the caller: this crate does not read one.

use std::fmt::Debug;
use std::sync::Arc;

/// A time source for a [`crate::Stepper`] with a time budget, provided by the caller.
pub trait Clock: Debug + Send + Sync {
    /// Time since an arbitrary fixed origin (s).
    fn seconds(&self) -> f64;
}

/// The time at which a solve must end.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadline {
    clock: Option<Arc<dyn Clock>>,
    until: f64,
}

/// Remaining time budget of a step. Setup and initial guesses are not counted, so that the first step of a model is as accurate as later ones.
#[derive(Debug)]
pub(super) struct Budget {
    clock: Option<Arc<dyn Clock>>,
    left: f64,
    began: f64,
}

impl Deadline {
    /// Whether the deadline has passed.
    pub(super) fn has_passed(&self) -> bool {
        self.clock.as_ref().is_some_and(|clock| clock.seconds() > self.until)
    }
}

impl Budget {
    /// A budget of `seconds` (s), or an unlimited one; `None` if a limit is given without a clock.
    pub(super) fn open(seconds: Option<f64>, clock: Option<&Arc<dyn Clock>>) -> Option<Budget> {
        match seconds {
            None => Some(Budget { clock: None, left: f64::INFINITY, began: 0.0 }),
            Some(left) => clock.map(|clock| Budget { clock: Some(Arc::clone(clock)), left, began: 0.0 }),
        }
    }

    /// Starts one of `solves_left` remaining solves, each of which gets an equal part of the remaining time.
    pub(super) fn begin(&mut self, solves_left: usize) -> Deadline {
        let Some(clock) = &self.clock else { return Deadline::default() };
        self.began = clock.seconds();
        let until = self.began + self.left / solves_left.max(1) as f64;
        Deadline { clock: self.clock.clone(), until }
    }

    /// Ends a solve and deducts its time.
    pub(super) fn end(&mut self) {
        if let Some(clock) = &self.clock {
            self.left -= clock.seconds() - self.began;
        }
    }
}
