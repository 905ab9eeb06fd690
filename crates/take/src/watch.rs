//! Those who watch a take from outside of it, and may stop it.

use core::ops::ControlFlow;
use thiserror::Error;

/// What a callback that watches a take answers after each frame: nothing, or whether the take goes on.
pub trait WatchAnswer {
    /// Whether the take goes on.
    fn flow(self) -> ControlFlow<()>;
}

/// The take goes on.
impl WatchAnswer for () {
    fn flow(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl WatchAnswer for ControlFlow<()> {
    fn flow(self) -> ControlFlow<()> {
        self
    }
}

/// A take was stopped by the callback that watches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the take was stopped")]
pub struct Stopped;

/// Goes on, or fails as stopped.
pub(crate) fn check(answer: impl WatchAnswer) -> Result<(), Stopped> {
    match answer.flow() {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Stopped),
    }
}
