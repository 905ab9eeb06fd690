//! The loop: control, step, frame, until the scene is over.

use crate::sink_group::SinkGroup;
use crate::watch::{self, Stopped, WatchAnswer};
use crate::{Bookmark, Checkpoint, CheckpointError, FrameSink, JointTorques, Scene, SinkError, StateSink};
use sinew_control::{Controller, Script};
use sinew_sim::implicit::{SettleError, SettleReport, settle};
use sinew_sim::{BuildError, Clock, Control, Model, SolverPick, State, StepError, StepReport, Stepper};
use sinew_skeleton::DriveKind;
use std::sync::Arc;
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
    solver: SolverPick,
    /// Implicit steps that did not reach their tolerance.
    unsolved: usize,
    /// Those of them that ran out of time.
    late: usize,
    fps: f64,
    frame_count: usize,
    /// What the joints of each rig need.
    torques: Vec<JointTorques>,
    /// Frames' time to run before the take begins.
    preroll_frames: usize,
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
    /// The callback that watches the take stopped it; the player may be played on.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Player {
    /// Builds the scene's world, ready at its start.
    pub fn build(scene: &Scene) -> Result<Player, PlayError> {
        let fault = scene.faults();
        if !fault.is_empty() {
            return Err(PlayError::Scene(fault.join("\n")));
        }
        let model = Model::build(&scene.world)?;
        for (rig, performance) in model.rigs.iter().zip(&scene.performances) {
            if let Some(fault) = performance.fault(&rig.skeleton) {
                return Err(PlayError::Scene(format!("skeleton '{}': {fault}", rig.name)));
            }
        }
        let mut player = Player {
            state: State::at_rest(&model),
            controller: Script {
                pin_motions: scene.pin_motions.iter().flatten().copied().collect(),
                performances: scene.performances.clone(),
                obstacle_motions: scene.obstacle_motions.clone(),
                constraint_motions: scene.constraint_motions.clone(),
            },
            control: Control::still(&model),
            solver: scene.solver.pick(&model, 1.0 / scene.fps)?,
            unsolved: 0,
            late: 0,
            stepper: Stepper::with_solver(scene.solver),
            summary: Summary::default(),
            torques: model.rigs.iter().map(|rig| JointTorques::none(rig.skeleton.v_count())).collect(),
            fps: scene.fps,
            frame_count: scene.frame_count(),
            preroll_frames: scene.preroll_frames(),
            frame: 0,
            model,
        };
        player.take_place();
        Ok(player)
    }

    /// Puts every skeleton where its performance begins: at rest before a run-up, otherwise in its first pose, flesh with it.
    fn take_place(&mut self) {
        self.state.time = -(self.preroll_frames as f64) / self.fps;
        let performances = self.controller.performances.iter().zip(&self.model.rigs);
        for ((performance, rig), state) in performances.zip(&mut self.state.rigs) {
            performance.pose(&rig.skeleton, self.state.time, state);
        }
        self.state.carry_flesh(&self.model);
        if self.preroll_frames == 0 {
            self.set_off();
        }
    }

    /// Brings the world to rest as the scene has it at a time of the take (s): skeletons in their pose then, pins and constraints where they are led to.
    /// Nothing is stepped. Returns also how far the farthest node came from where bones alone take it (m).
    pub fn settle_at(&mut self, time: f64) -> Result<(SettleReport, f64), SettleError> {
        let dt = 1.0 / self.fps;
        self.state.time = time - dt;
        let performances = self.controller.performances.iter().zip(&self.model.rigs);
        for ((performance, rig), state) in performances.zip(&mut self.state.rigs) {
            performance.pose(&rig.skeleton, time, state);
        }
        self.state.carry_flesh(&self.model);
        self.controller.control(&self.model, &self.state, dt, &mut self.control);
        let carried = self.state.node_x.clone();
        let report = settle(&self.model, &self.control, &mut self.state)?;
        self.state.time = time;
        let moved = self.state.node_x.iter().zip(&carried).map(|(x, then)| (x - then).norm());
        Ok((report, moved.fold(0.0, f64::max)))
    }

    /// Begins the take: skeletons and the flesh on them get the velocities that motions begin with.
    fn set_off(&mut self) {
        self.state.time = 0.0;
        let performances = self.controller.performances.iter().zip(&self.model.rigs);
        let mut still = false;
        for ((performance, rig), state) in performances.zip(&mut self.state.rigs) {
            // one that was led in is moving already
            if performance.loop_preroll == 0.0 {
                let mut first = state.clone();
                performance.pose(&rig.skeleton, 0.0, &mut first);
                state.v.copy_from_slice(&first.v);
                still = true;
            }
        }
        if still {
            self.state.move_along(&self.model);
        }
    }

    /// Runs what comes before the take, if it has not been run: skeletons come to their first pose and flesh settles. `watch` is called
    /// after every frame's time with how many are done of how many.
    pub fn preroll(&mut self, mut watch: impl FnMut(usize, usize)) -> Result<(), StepError> {
        let frames = self.preroll_frames;
        while self.preroll_frames > 0 {
            self.advance_preroll()?;
            watch(frames - self.preroll_frames, frames);
        }
        Ok(())
    }

    /// Runs one frame's time of the preroll; after the last of it the take begins.
    fn advance_preroll(&mut self) -> Result<(), StepError> {
        // counted, not summed, so that the last of them ends at 0 whatever the rounding
        self.state.time = -(self.preroll_frames as f64) / self.fps;
        self.step()?;
        self.preroll_frames -= 1;
        if self.preroll_frames == 0 {
            self.set_off();
            // what bends far on the way to the first pose is not part of the take
            self.summary.max_inverted = 0;
        }
        Ok(())
    }

    /// How the world is stepped, and why so.
    pub fn solver(&self) -> SolverPick {
        self.solver
    }

    /// Implicit steps since the player was built that did not reach their tolerance: the best that was found was kept.
    pub fn unsolved_steps(&self) -> usize {
        self.unsolved
    }

    /// How many of those ran out of their budget of time.
    pub fn late_steps(&self) -> usize {
        self.late
    }

    /// Lends a clock to steps that have a budget of time: a scene that asks for one cannot be played without.
    pub fn set_clock(&mut self, clock: Arc<dyn Clock>) {
        self.stepper.set_clock(clock);
    }

    /// Frames of the whole take, the start not counted.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Takes the world one frame further. What comes before the take is run first, if it has not been.
    pub fn advance(&mut self) -> Result<StepReport, StepError> {
        self.preroll(|_, _| {})?;
        let report = self.step()?;
        for (rig, torques) in self.torques.iter_mut().enumerate() {
            torques.add(self.stepper.torques(rig));
        }
        self.frame += 1;
        self.summary.frames += 1;
        Ok(report)
    }

    /// Torques of all joints of a rig in the last step (N m or N), one per degree of freedom.
    pub fn torques(&self, rig: usize) -> &[f64] {
        &self.torques[rig].last
    }

    /// The largest torque of each joint of a rig in the take so far (N m or N), one per degree of freedom.
    pub fn peak_torques(&self, rig: usize) -> &[f64] {
        &self.torques[rig].peak
    }

    /// Who decided about the joints of a rig in the last step, per bone.
    pub fn drives(&self, rig: usize) -> &[DriveKind] {
        &self.control.rigs[rig].drives
    }

    fn step(&mut self) -> Result<StepReport, StepError> {
        let dt = 1.0 / self.fps;
        self.controller.control(&self.model, &self.state, dt, &mut self.control);
        let report = self.stepper.step(&self.model, &self.control, dt, &mut self.state)?;
        self.unsolved += usize::from(report.solve.is_some_and(|solve| !solve.converged));
        self.late += usize::from(report.solve.is_some_and(|solve| solve.out_of_time));
        self.summary.steps += report.substeps;
        self.summary.retries += report.retries;
        self.summary.diagonalised += report.diagonalised;
        self.summary.max_inverted = self.summary.max_inverted.max(report.max_inverted);
        Ok(report)
    }

    /// Goes on from a state that was saved after so many frames.
    pub fn resume(&mut self, frame: usize, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        self.state = checkpoint.restore(&self.model)?;
        self.preroll_frames = 0;
        self.frame = frame;
        Ok(())
    }

    /// Goes on from a bookmark, with all that had been counted until then.
    pub fn return_to(&mut self, bookmark: &Bookmark) -> Result<(), CheckpointError> {
        let fits = |(a, b): (&JointTorques, &JointTorques)| {
            a.last.len() == b.last.len() && a.peak.len() == b.peak.len()
        };
        let (given, own) = (&bookmark.torques, &self.torques);
        if given.len() != own.len() || !given.iter().zip(own).all(fits) {
            return Err(CheckpointError::Damaged("its torques are not those of the skeletons"));
        }
        self.resume(bookmark.frame, &bookmark.checkpoint)?;
        self.summary = bookmark.summary;
        self.torques.clone_from(&bookmark.torques);
        // so that it can be told who leads also if no step is left to be taken
        self.controller.control(&self.model, &self.state, 1.0 / self.fps, &mut self.control);
        Ok(())
    }

    /// Where the take is now, to go on from later.
    pub fn bookmark(&self) -> Bookmark {
        Bookmark {
            frame: self.frame,
            summary: self.summary,
            torques: self.torques.clone(),
            checkpoint: Checkpoint::of(&self.state),
        }
    }

    /// How many frames after the start the state is.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// Plays what is left of the scene into the sinks, the frame where it is now first. `watch` is called after every frame with how many
    /// are done, in the preroll with 0, and may stop the take.
    pub fn play<Answer: WatchAnswer>(
        &mut self,
        sinks: &mut [&mut dyn FrameSink],
        watch: impl FnMut(usize) -> Answer,
    ) -> Result<(), PlayError> {
        self.play_to_end(None, sinks, watch)
    }

    /// Plays what is left of the scene as [`Player::play`] does, with a recorder that sees every frame before the sinks do.
    pub fn record<Answer: WatchAnswer>(
        &mut self,
        recorder: &mut dyn StateSink,
        sinks: &mut [&mut dyn FrameSink],
        watch: impl FnMut(usize) -> Answer,
    ) -> Result<(), PlayError> {
        let played = self.play_to_end(Some(&mut *recorder), sinks, watch);
        if played.is_err() {
            recorder.interrupt(self);
        }
        played
    }

    fn play_to_end<Answer: WatchAnswer>(
        &mut self,
        mut recorder: Option<&mut dyn StateSink>,
        sinks: &mut [&mut dyn FrameSink],
        mut watch: impl FnMut(usize) -> Answer,
    ) -> Result<(), PlayError> {
        let mut sink_group = SinkGroup::gather(&self.model, self.fps, sinks)?;
        while self.preroll_frames > 0 {
            self.advance_preroll()?;
            watch::check(watch(0))?;
        }
        loop {
            if let Some(recorder) = recorder.as_mut() {
                recorder.frame(self)?;
            }
            sink_group.show(&self.model, &self.state)?;
            let answer = watch(self.frame);
            // who stops it at its last frame is late
            if self.frame >= self.frame_count {
                break;
            }
            watch::check(answer)?;
            self.advance()?;
        }
        if let Some(recorder) = recorder {
            recorder.finish(self)?;
        }
        Ok(sink_group.dismiss()?)
    }
}
