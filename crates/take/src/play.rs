//! The loop: control, step, frame, until the scene is over.

use crate::{Checkpoint, CheckpointError, Frame, FrameSink, Scene, SinkError, SurfaceInfo};
use sinew_control::{Controller, Script};
use sinew_sim::{BuildError, Control, Model, State, StepError, StepReport, Stepper};
use thiserror::Error;

/// A scene being played.
pub struct Player {
    /// What is simulated.
    pub model: Model,
    /// Where it is now.
    pub state: State,
    /// Steps taken with and without trouble so far.
    pub summary: Summary,
    controller: Script,
    control: Control,
    stepper: Stepper,
    fps: f64,
    frame_count: usize,
    /// How many frames after the start the state is.
    frame: usize,
}

/// What happened in a take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Frames taken after the start.
    pub frames: usize,
    /// Sub-steps that held.
    pub steps: usize,
    /// Frames' worth of sub-steps that diverged and were taken again.
    pub retries: usize,
    /// The most elements that were turned inside out at one time.
    pub max_inverted: usize,
    /// Elements that were diagonalised, summed over all steps.
    pub diagonalised: usize,
}

/// A take could not go on.
#[derive(Debug, Error)]
pub enum PlayError {
    /// The scene's own numbers are wrong.
    #[error("{0}")]
    Scene(String),
    /// The world cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A step failed; the frames before it were delivered.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl Player {
    /// Builds the scene's world, ready at its start.
    pub fn build(scene: &Scene) -> Result<Player, PlayError> {
        let fault = scene.faults();
        if !fault.is_empty() {
            return Err(PlayError::Scene(fault.join("\n")));
        }
        let model = Model::build(&scene.world)?;
        Ok(Player {
            state: State::at_rest(&model),
            controller: Script { pin_motions: scene.pin_motions.iter().flatten().copied().collect() },
            control: Control::still(&model),
            stepper: Stepper::default(),
            summary: Summary::default(),
            fps: scene.fps,
            frame_count: scene.frame_count(),
            frame: 0,
            model,
        })
    }

    /// Frames of the whole take, the start not counted.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Takes the world one frame further.
    pub fn advance(&mut self) -> Result<StepReport, StepError> {
        let dt = 1.0 / self.fps;
        self.controller.control(&self.model, &self.state, dt, &mut self.control);
        let report = self.stepper.step(&self.model, &self.control, dt, &mut self.state)?;
        self.frame += 1;
        self.summary.frames += 1;
        self.summary.steps += report.substeps;
        self.summary.retries += report.retries;
        self.summary.diagonalised += report.diagonalised;
        self.summary.max_inverted = self.summary.max_inverted.max(report.max_inverted);
        Ok(report)
    }

    /// Goes on from a state that was saved after so many frames.
    pub fn resume(&mut self, frame: usize, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        self.state = checkpoint.restore(&self.model)?;
        self.frame = frame;
        Ok(())
    }

    /// Plays what is left of the scene into the sinks, the frame where it is now first. `watch` is called after every frame with how many
    /// are done.
    pub fn play(
        &mut self,
        sinks: &mut [&mut dyn FrameSink],
        mut watch: impl FnMut(usize),
    ) -> Result<(), PlayError> {
        let surfaces: Vec<SurfaceInfo> = self.model.bodies.iter().map(SurfaceInfo::of).collect();
        for sink in sinks.iter_mut() {
            sink.begin(&surfaces, self.fps)?;
        }
        let mut frame = Frame::default();
        loop {
            frame.update(&self.model, &self.state);
            for sink in sinks.iter_mut() {
                sink.frame(&frame)?;
            }
            watch(self.frame);
            if self.frame >= self.frame_count {
                break;
            }
            self.advance()?;
        }
        for sink in sinks.iter_mut() {
            sink.finish()?;
        }
        Ok(())
    }
}
