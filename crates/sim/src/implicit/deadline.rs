//! A budget of time for steps, told by a clock that is lent: nothing here reads one.

use std::fmt::Debug;
use std::sync::Arc;

/// Tells the time to a [`crate::Stepper`] that must keep to a budget. Whoever asks for one lends a clock.
pub trait Clock: Debug + Send + Sync {
    /// Seconds since some fixed moment.
    fn seconds(&self) -> f64;
}

/// When a solve must end.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadline {
    clock: Option<Arc<dyn Clock>>,
    until: f64,
}

/// What is left of a step's budget. Getting ready and the first guesses are not counted, so that the first step of a model is as good as others.
#[derive(Debug)]
pub(super) struct Budget {
    clock: Option<Arc<dyn Clock>>,
    left: f64,
    began: f64,
}

impl Deadline {
    /// Whether it is over.
    pub(super) fn has_passed(&self) -> bool {
        self.clock.as_ref().is_some_and(|clock| clock.seconds() > self.until)
    }
}

impl Budget {
    /// A budget of `seconds` (s), or none; `None` if there is one and no clock.
    pub(super) fn open(seconds: Option<f64>, clock: Option<&Arc<dyn Clock>>) -> Option<Budget> {
        match seconds {
            None => Some(Budget { clock: None, left: f64::INFINITY, began: 0.0 }),
            Some(left) => clock.map(|clock| Budget { clock: Some(Arc::clone(clock)), left, began: 0.0 }),
        }
    }

    /// Begins a solve, of which so many are left: each may take an even share.
    pub(super) fn begin(&mut self, solves_left: usize) -> Deadline {
        let Some(clock) = &self.clock else { return Deadline::default() };
        self.began = clock.seconds();
        let until = self.began + self.left / solves_left.max(1) as f64;
        Deadline { clock: self.clock.clone(), until }
    }

    /// Ends a solve.
    pub(super) fn end(&mut self) {
        if let Some(clock) = &self.clock {
            self.left -= clock.seconds() - self.began;
        }
    }
}
