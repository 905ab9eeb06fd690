//! Why a command ended badly, and with which exit code.

use sinew_io::ReadError;
use sinew_render::PictureError;
use sinew_sim::StepError;
use sinew_take::{PlayError, SinkError};
use std::fmt::Display;

/// A command that ended badly.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The simulation failed.
    Simulation(String),
    /// Bad input or usage.
    Input(String),
}

impl Failure {
    pub(crate) fn input(what: impl Display) -> Failure {
        Failure::Input(what.to_string())
    }

    pub(crate) fn message(&self) -> &str {
        match self {
            Failure::Simulation(message) | Failure::Input(message) => message,
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Simulation(_) => 1,
            Failure::Input(_) => 2,
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        Failure::input(error)
    }
}

impl From<PictureError> for Failure {
    fn from(error: PictureError) -> Failure {
        Failure::input(error)
    }
}

impl From<SinkError> for Failure {
    fn from(error: SinkError) -> Failure {
        Failure::input(error)
    }
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Failure {
        match error {
            PlayError::Step(step @ StepError::Diverged { .. }) => Failure::Simulation(step.to_string()),
            other => Failure::input(other),
        }
    }
}
