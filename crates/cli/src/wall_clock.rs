//! The clock that steps with a budget of time are told by.

use sinew_sim::Clock;
use std::sync::Arc;
use std::time::Instant;

/// Seconds since it was made, by the machine.
#[derive(Debug)]
pub(crate) struct WallClock(Instant);

impl WallClock {
    /// A clock to be lent.
    pub(crate) fn shared() -> Arc<dyn Clock> {
        Arc::new(WallClock(Instant::now()))
    }
}

impl Clock for WallClock {
    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
