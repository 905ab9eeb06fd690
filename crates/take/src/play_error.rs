//! The errors that end a take.

use crate::{SinkError, Stopped};
use sinew_sim::{BuildError, StepError};
use thiserror::Error;

/// The error that ended a take.
#[derive(Debug, Error)]
pub enum PlayError {
    /// The settings of the scene are invalid.
    #[error("{0}")]
    Scene(String),
    /// The model cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A step failed; the sinks received the frames before it.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The callback that watches the take stopped it; the player may be played on.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}
