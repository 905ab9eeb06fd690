//! The clock for steps that have a time budget.

use sinew_sim::Clock;
use std::sync::Arc;
use std::time::Instant;

/// The seconds of real time since it was created.
#[derive(Debug)]
pub(crate) struct WallClock(Instant);

impl WallClock {
    /// A clock that starts now.
    pub(crate) fn shared() -> Arc<dyn Clock> {
        Arc::new(WallClock(Instant::now()))
    }
}

impl Clock for WallClock {
    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
