//! Why a command failed, and its exit code.

use crate::interrupt;
use sinew_io::ReadError;
use sinew_render::PictureError;
use sinew_sim::StepError;
use sinew_sim::implicit::SettleError;
use sinew_take::{PlayError, SinkError, Stopped};
use sinew_zoo::source::SourceError;
use std::fmt::Display;

/// The failure of a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The simulation failed.
    Simulation(String),
    /// The output was written, but is less accurate than asked for.
    Accuracy(String),
    /// Bad input or usage, or an output that cannot be written.
    Input(String),
    /// A signal stopped the command.
    Interrupted {
        /// The number of the signal.
        signal: i32,
        /// What was saved and how to continue.
        message: String,
    },
}

impl Failure {
    pub(crate) fn input(what: impl Display) -> Failure {
        Failure::Input(what.to_string())
    }

    /// The message for the user; every line of an error is marked as one.
    pub(crate) fn text(&self) -> String {
        match self {
            Failure::Simulation(message) | Failure::Accuracy(message) | Failure::Input(message) => {
                format!("error: {}", message.replace('\n', "\nerror: "))
            }
            Failure::Interrupted { message, .. } => message.clone(),
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Simulation(_) | Failure::Accuracy(_) => 1,
            Failure::Input(_) => 2,
            Failure::Interrupted { signal, .. } => 128_u8.saturating_add(u8::try_from(*signal).unwrap_or(0)),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        Failure::input(error)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Failure {
        Failure::Input(error.0)
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

impl From<StepError> for Failure {
    fn from(error: StepError) -> Failure {
        match error {
            // faults that arose during the simulation
            StepError::Diverged { .. }
            | StepError::TooStrong { .. }
            | StepError::Bones { .. }
            | StepError::BadControl(_) => Failure::Simulation(error.to_string()),
            // faults of the input
            StepError::TooManySubsteps { .. }
            | StepError::OwnCoordinates(_)
            | StepError::Intersecting { .. }
            | StepError::NoBarrier
            | StepError::ExactWithBarrier
            | StepError::FreeHome(_)
            | StepError::NoClock(_)
            | StepError::BadTimeStep(_) => Failure::input(error),
        }
    }
}

impl From<SettleError> for Failure {
    fn from(error: SettleError) -> Failure {
        match error {
            SettleError::NotFinite { .. } | SettleError::BadControl(_) => {
                Failure::Simulation(error.to_string())
            }
            SettleError::OwnCoordinates(_) | SettleError::FreeHome(_) => Failure::input(error),
        }
    }
}

impl From<Stopped> for Failure {
    fn from(_: Stopped) -> Failure {
        Failure::Interrupted { signal: interrupt::signal(), message: interrupt::message() }
    }
}

impl From<PlayError> for Failure {
    fn from(error: PlayError) -> Failure {
        match error {
            PlayError::Step(step) => Failure::from(step),
            PlayError::Stopped(stopped) => Failure::from(stopped),
            PlayError::Scene(_) | PlayError::Build(_) | PlayError::Sink(_) => Failure::input(error),
        }
    }
}
