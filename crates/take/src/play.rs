//! The frame loop of a take: control, step, frame, until the end of the scene.

use crate::cycle::Cycle;
use crate::metaphor_scale::MetaphorScale;
use crate::segment::{Segment, build_segments, check_performances, script_of};
use crate::sink_group::SinkGroup;
use crate::watch::{self, WatchAnswer};
use crate::{
    Bookmark, Checkpoint, CheckpointError, FrameSink, JointTorques, PlayError, Scene, SinkError, Summary,
};
use sinew_control::{Controller, Performance, Script};
use sinew_sim::implicit::{SettleError, SettleReport, settle};
use sinew_sim::{Clock, Control, Model, Phase, Solver, SolverPick, State, StepError, StepReport, Stepper};
use sinew_skeleton::DriveKind;
use std::sync::Arc;

/// The simulation of a scene in progress.
pub struct Player {
    /// The model of the scene's world, as edited up to the current frame.
    pub model: Arc<Model>,
    /// The current state.
    pub state: State,
    /// Statistics of the steps so far.
    pub summary: Summary,
    controller: Script,
    /// Controllers that act after the scene's own.
    further: Vec<Box<dyn Controller + Send>>,
    control: Control,
    stepper: Stepper,
    solver: SolverPick,
    /// Implicit steps that did not converge to their tolerance.
    unsolved: usize,
    /// Those of them that exceeded their time budget.
    late: usize,
    /// Implicit sub-steps with barriers, and those left to springs.
    barrier_substeps: usize,
    barrier_fallbacks: usize,
    /// Exact constraints that could not be held in some step.
    dropped: Vec<DroppedPoint>,
    fps: f64,
    frame_count: usize,
    /// Joint torques of each rig.
    torques: Vec<JointTorques>,
    /// Frames of preroll that are still to be simulated.
    preroll_frames: usize,
    /// The cycle that the take is, while the preroll repeats it.
    cycle: Option<Cycle>,
    /// Number of frames from the start to the current state.
    frame: usize,
    /// What the take begins with.
    first_model: Arc<Model>,
    first: (Script, Solver),
    /// What edits change, in the order of their frames, and how many of them are in effect.
    segments: Vec<Segment>,
    entered: usize,
    /// The solver of the stepper.
    played_by: Solver,
    clock: Option<Arc<dyn Clock>>,
    /// The last frame at which no metaphor acted.
    pub(crate) metaphor_start: Option<Box<Bookmark>>,
    /// A factor of magnitudes that is being tried.
    pub(crate) metaphor_scale: Option<MetaphorScale>,
}

/// An exact constraint that could not be held, because others leave its point no freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct DroppedPoint {
    /// Its name.
    pub constraint: String,
    /// The names of the constraints that hold its point; none if nothing of it can move.
    pub beside: Vec<String>,
    /// When it was dropped first (s).
    pub time: f64,
    /// How far the others held it from its target at most (m).
    pub distance: f64,
}

/// A recorder: receives the whole player at every frame, where a [`FrameSink`] receives only the surfaces.
pub trait StateSink {
    /// Called for every frame in order, including the one at which the take begins or resumes.
    fn frame(&mut self, player: &Player) -> Result<(), SinkError>;
    /// Called once after the last frame of a complete take.
    fn finish(&mut self, player: &Player) -> Result<(), SinkError>;
    /// Called instead of `finish` if the take fails, with the player at the last good frame: the recorder must write what it still buffers.
    /// The player's caller receives the error itself.
    fn interrupt(&mut self, player: &Player);
}

/// Bones that carry flesh at its skinned shape follow their motion in steps no longer than a sixtieth of a second (Hz): animations have 24 to 60 keys per second.
const MOTION_RATE: f64 = 60.0;

impl Player {
    /// Builds the model of the scene, with its state at the start of the preroll.
    pub fn build(scene: &Scene) -> Result<Player, PlayError> {
        // check the scene, then build and check the model
        let fault = scene.faults();
        if !fault.is_empty() {
            return Err(PlayError::Scene(fault.join("\n")));
        }
        let model = Arc::new(Model::build(&scene.world)?);
        check_performances(scene, &model)?;

        // the state at rest, moved to the start of the preroll
        let mut player = Player {
            state: State::at_rest(&model),
            controller: script_of(scene),
            further: Vec::new(),
            control: Control::still(&model),
            solver: scene.solver.pick(&model, 1.0 / scene.fps)?,
            unsolved: 0,
            late: 0,
            barrier_substeps: 0,
            barrier_fallbacks: 0,
            dropped: Vec::new(),
            stepper: Stepper::with_solver(scene.solver),
            summary: Summary::default(),
            torques: model.rigs().iter().map(|rig| JointTorques::zeros(rig.skeleton.v_count())).collect(),
            fps: scene.fps,
            frame_count: scene.frame_count(),
            preroll_frames: scene.preroll_frames(),
            cycle: Cycle::of(scene),
            frame: 0,
            segments: build_segments(scene, &model, &[])?,
            entered: 0,
            first_model: model.clone(),
            first: (script_of(scene), scene.solver),
            played_by: scene.solver,
            clock: None,
            metaphor_start: None,
            metaphor_scale: None,
            model,
        };
        player.place_at_start();
        Ok(player)
    }

    /// Takes the edits and the length of a scene into effect that differs in nothing else from the one that the player was built from. Cages are kept, so that this takes milliseconds.
    /// The current frame must not be after the first edit that changed: [`Player::resume_from`] goes to one that is not.
    ///
    /// # Errors
    /// All faults of the edits; the player then is as it was.
    pub fn edit(&mut self, scene: &Scene) -> Result<(), PlayError> {
        let fault = scene.faults();
        if !fault.is_empty() {
            return Err(PlayError::Scene(fault.join("\n")));
        }
        self.segments = build_segments(scene, &self.first_model, &self.segments)?;
        self.frame_count = scene.frame_count();
        // more segments than there are, so that the next call chooses anew
        self.entered = usize::MAX;
        self.enter_before(self.frame);
        Ok(())
    }

    /// Takes the edits into effect whose frames are before `frame`, and no others.
    fn enter_before(&mut self, frame: usize) {
        let entered = self.segments.iter().take_while(|segment| segment.first_frame < frame).count();
        if entered == self.entered {
            return;
        }
        self.entered = entered;
        let segment = entered.checked_sub(1).map(|i| &self.segments[i]);
        let (script, solver) = segment.map_or(&self.first, |segment| &segment.played);
        self.controller.clone_from(script);
        if self.played_by != *solver {
            self.played_by = *solver;
            self.stepper = self.fresh_stepper();
        }
        let segment = entered.checked_sub(1).map(|i| &self.segments[i]);
        self.model = segment.map_or(&self.first_model, |segment| &segment.model).clone();
        self.control = Control::still(&self.model);
    }

    /// Takes the edits at the current frame into effect, if there are any: the state becomes one of the changed scene.
    fn enter_segment(&mut self) {
        let Some(segment) = self.segments.get(self.entered).filter(|own| own.first_frame == self.frame)
        else {
            return;
        };
        if segment.renews_contact {
            self.state.anchors.clear();
            self.state.pair_anchors.clear();
        }
        self.enter_before(self.frame + 1);
        // what a changed potential gives or takes is no divergence
        self.state.restart(&self.model);
    }

    /// A copy that goes on by itself from the current frame, with the same models. `None` if controllers were added, which cannot be copied.
    pub fn fork(&self) -> Option<Player> {
        self.further.is_empty().then(|| Player {
            model: self.model.clone(),
            state: self.state.clone(),
            summary: self.summary,
            controller: self.controller.clone(),
            further: Vec::new(),
            control: self.control.clone(),
            // scratch, which costs time only
            stepper: self.fresh_stepper(),
            solver: self.solver,
            unsolved: self.unsolved,
            late: self.late,
            barrier_substeps: self.barrier_substeps,
            barrier_fallbacks: self.barrier_fallbacks,
            dropped: self.dropped.clone(),
            fps: self.fps,
            frame_count: self.frame_count,
            torques: self.torques.clone(),
            preroll_frames: self.preroll_frames,
            cycle: self.cycle.clone(),
            frame: self.frame,
            first_model: self.first_model.clone(),
            first: self.first.clone(),
            segments: self.segments.clone(),
            entered: self.entered,
            played_by: self.played_by,
            clock: self.clock.clone(),
            metaphor_start: self.metaphor_start.clone(),
            metaphor_scale: self.metaphor_scale.clone(),
        })
    }

    /// A stepper with the current solver and the clock.
    fn fresh_stepper(&self) -> Stepper {
        let mut stepper = Stepper::with_solver(self.played_by);
        if let Some(clock) = &self.clock {
            stepper.set_clock(clock.clone());
        }
        stepper
    }

    /// Whether frames before the take are still to be simulated.
    pub(crate) fn is_in_preroll(&self) -> bool {
        self.preroll_frames > 0
    }

    /// Simulates one frame, of the preroll if that has not been done.
    pub(crate) fn advance_by_one(&mut self) -> Result<(), StepError> {
        if self.is_in_preroll() { self.advance_preroll() } else { self.advance().map(drop) }
    }

    /// Adds a controller. It acts in every step after the motions of the scene, and sees what they ask for.
    pub fn add_controller(&mut self, controller: impl Controller + Send + 'static) {
        self.further.push(Box::new(controller));
    }

    /// Asks every controller, in order, for the control of a step of `dt` (s).
    fn ask_controllers(&mut self, dt: f64) {
        self.controller.control(&self.model, &self.state, dt, &mut self.control);
        for controller in &mut self.further {
            controller.control(&self.model, &self.state, dt, &mut self.control);
        }
        if let Some(scale) = &self.metaphor_scale {
            scale.apply(&self.model, &mut self.control);
        }
    }

    /// Moves every skeleton, with its flesh, to the start of its performance: the rest pose before an approach, otherwise the first pose.
    fn place_at_start(&mut self) {
        self.state.time = -(self.preroll_frames as f64) / self.fps;
        let performances = self.controller.performances.iter().zip(self.model.rigs());
        for ((performance, rig), state) in performances.zip(&mut self.state.rigs) {
            performance.pose(&rig.skeleton, self.state.time, state);
        }
        self.state.carry_flesh(&self.model);
        if self.preroll_frames == 0 {
            self.start_take();
        } else {
            // they wait for the take
            self.state.stop_unheld(&self.model);
        }
    }

    /// Solves for static equilibrium with skeletons, pins and constraints as the scene has them at a time of the take (s). Takes no time steps.
    /// Also returns the largest distance of a node from where the bones alone carry it (m).
    pub fn settle_at(&mut self, time: f64) -> Result<(SettleReport, f64), SettleError> {
        let dt = 1.0 / self.fps;
        self.state.time = time - dt;
        let performances = self.controller.performances.iter().zip(self.model.rigs());
        for ((performance, rig), state) in performances.zip(&mut self.state.rigs) {
            performance.pose(&rig.skeleton, time, state);
        }
        self.state.carry_flesh(&self.model);
        self.ask_controllers(dt);
        // nothing waits, whatever the time
        if self.control.phase == Phase::Settling {
            self.control.phase = Phase::Take;
        }
        let carried = self.state.node_x.clone();
        let report = settle(&self.model, &self.control, &mut self.state)?;
        self.state.time = time;
        let moved = self.state.node_x.iter().zip(&carried).map(|(x, then)| (x - then).norm());
        Ok((report, moved.fold(0.0, f64::max)))
    }

    /// Starts the take: gives the skeletons and their flesh the initial velocities of the motions.
    fn start_take(&mut self) {
        self.state.time = 0.0;
        let performances = self.controller.performances.iter().zip(self.model.rigs());
        let mut still = false;
        for ((performance, rig), state) in performances.zip(&mut self.state.rigs) {
            // after the preroll of a cycle it already moves
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

    /// Simulates the preroll, if that has not been done: skeletons move to their first pose and flesh settles. Calls `watch` after every
    /// frame with the number of frames done and in total.
    pub fn preroll(&mut self, mut watch: impl FnMut(usize, usize)) -> Result<(), StepError> {
        let frames = self.preroll_frames;
        while self.preroll_frames > 0 {
            self.advance_preroll()?;
            watch(frames - self.preroll_frames, frames);
        }
        Ok(())
    }

    /// Simulates one frame of the preroll; after its last frame the take begins.
    fn advance_preroll(&mut self) -> Result<(), StepError> {
        // computed from the frame number, so that the last frame ends at 0 without accumulated round-off
        self.state.time = -(self.preroll_frames as f64) / self.fps;
        self.step()?;
        self.preroll_frames -= 1;
        if let Some(cycle) = &mut self.cycle {
            self.preroll_frames += cycle.frames_to_add(self.preroll_frames, &self.state.node_x);
        }
        if self.preroll_frames == 0 {
            if self.model.has_unheld() {
                self.state.release_unheld(&self.model);
            }
            self.start_take();
            // elements inverted on the way to the first pose are not part of the take
            self.summary.max_inverted = 0;
        }
        Ok(())
    }

    /// The time integrator in use, and why it was chosen.
    pub fn solver(&self) -> SolverPick {
        self.solver
    }

    /// Number of implicit steps since the player was built that did not converge to their tolerance; the best iterate was accepted.
    pub fn unsolved_steps(&self) -> usize {
        self.unsolved
    }

    /// How many of those exceeded their time budget.
    pub fn late_steps(&self) -> usize {
        self.late
    }

    /// Number of implicit sub-steps that kept surfaces apart by barriers.
    pub fn barrier_substeps(&self) -> usize {
        self.barrier_substeps
    }

    /// Number of those that were left to springs, because prescribed motion left flesh no room.
    pub fn barrier_fallbacks(&self) -> usize {
        self.barrier_fallbacks
    }

    /// Exact constraints that could not be held since the player was built, each once.
    pub fn dropped_points(&self) -> &[DroppedPoint] {
        &self.dropped
    }

    /// Remembers the exact constraints that the last step, which began at a time (s), dropped.
    fn note_dropped(&mut self, time: f64) {
        let name = |i: usize| self.model.constraints()[i].name.clone();
        for found in self.stepper.dropped_constraints() {
            let constraint = name(found.constraint);
            match self.dropped.iter_mut().find(|known| known.constraint == constraint) {
                Some(known) => known.distance = known.distance.max(found.distance),
                None => self.dropped.push(DroppedPoint {
                    constraint,
                    beside: found.beside.iter().map(|i| name(*i)).collect(),
                    time,
                    distance: found.distance,
                }),
            }
        }
    }

    /// Sets the clock for steps with a time budget. A scene with a time budget needs one.
    pub fn set_clock(&mut self, clock: Arc<dyn Clock>) {
        self.stepper.set_clock(clock.clone());
        self.clock = Some(clock);
    }

    /// The model that the take begins with, whatever edits are in effect. All frames of the take have its nodes, bones, surfaces and obstacles.
    pub fn first_model(&self) -> &Model {
        &self.first_model
    }

    /// The same model, to keep.
    pub fn shared_first_model(&self) -> Arc<Model> {
        self.first_model.clone()
    }

    /// Whether the take has a metaphor at any time.
    fn has_metaphors(&self) -> bool {
        let models = self.segments.iter().map(|segment| &segment.model);
        models.chain([&self.first_model]).any(|model| !model.metaphors().is_empty())
    }

    /// The control of the last step.
    pub(crate) fn last_control(&self) -> &Control {
        &self.control
    }

    /// The performance of every rig, as edited up to the current frame.
    pub fn performances(&self) -> &[Performance] {
        &self.controller.performances
    }

    /// Number of frames of the whole take after the first.
    pub fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Simulates one frame, after the preroll if that has not been done.
    pub fn advance(&mut self) -> Result<StepReport, StepError> {
        self.preroll(|_, _| {})?;
        if self.has_metaphors() {
            self.remember_metaphor_start();
        }
        let advanced = self.advance_without_search();
        advanced.map_err(|error| self.with_held_magnitude(error))
    }

    /// Simulates one frame after the preroll. The error about a metaphor that is too strong does not say which magnitude is not.
    pub(crate) fn advance_without_search(&mut self) -> Result<StepReport, StepError> {
        self.enter_segment();
        let report = self.step()?;
        for (rig, torques) in self.torques.iter_mut().enumerate() {
            torques.add(self.stepper.torques(rig));
        }
        self.frame += 1;
        self.summary.frames += 1;
        Ok(report)
    }

    /// The torques of all joints of a rig in the last step (N m or N), one per degree of freedom.
    pub fn torques(&self, rig: usize) -> &[f64] {
        &self.torques[rig].last
    }

    /// The largest torque of each joint of a rig in the take so far (N m or N), one per degree of freedom.
    pub fn peak_torques(&self, rig: usize) -> &[f64] {
        &self.torques[rig].peak
    }

    /// The drives of a rig's joints in the last step, per bone.
    pub fn drives(&self, rig: usize) -> &[DriveKind] {
        &self.control.rigs[rig].drives
    }

    /// Simulates a frame. Flesh that rests at its skinned shape follows the accelerations of its bones, so bones see their motion at least [`MOTION_RATE`] times per second.
    fn step(&mut self) -> Result<StepReport, StepError> {
        let dt = 1.0 / self.fps;
        let parts = if self.model.has_homes() { (dt * MOTION_RATE - 1e-9).ceil().max(1.0) } else { 1.0 };
        let before = (parts > 1.0).then(|| self.state.clone());
        let mut sum: Option<StepReport> = None;
        for _ in 0..parts as usize {
            match self.step_by(dt / parts) {
                Ok(report) => sum = Some(sum.map_or(report, |sum| sum.and(report))),
                Err(error) => {
                    if let Some(before) = before {
                        self.state = before;
                    }
                    return Err(error);
                }
            }
        }
        Ok(sum.unwrap_or_default())
    }

    fn step_by(&mut self, dt: f64) -> Result<StepReport, StepError> {
        self.ask_controllers(dt);
        let time = self.state.time;
        let report = self.stepper.step(&self.model, &self.control, dt, &mut self.state)?;
        self.note_dropped(time);
        self.unsolved += usize::from(report.solve.is_some_and(|solve| !solve.converged));
        self.late += usize::from(report.solve.is_some_and(|solve| solve.out_of_time));
        self.barrier_substeps += report.barrier_substeps;
        self.barrier_fallbacks += report.barrier_fallbacks;
        self.summary.steps += report.substeps;
        self.summary.retries += report.retries;
        self.summary.diagonalised += report.diagonalised;
        self.summary.max_inverted = self.summary.max_inverted.max(report.max_inverted);
        Ok(report)
    }

    /// Resumes from a state that was saved after `frame` frames.
    pub fn resume(&mut self, frame: usize, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        self.state = checkpoint.restore(&self.first_model)?;
        self.metaphor_start = None;
        self.preroll_frames = 0;
        self.frame = frame;
        self.enter_before(frame);
        Ok(())
    }

    /// Resumes from a bookmark, including its statistics.
    pub fn resume_from(&mut self, bookmark: &Bookmark) -> Result<(), CheckpointError> {
        let fits = |(a, b): (&JointTorques, &JointTorques)| {
            a.last.len() == b.last.len() && a.peak.len() == b.peak.len()
        };
        let (given, own) = (&bookmark.torques, &self.torques);
        if given.len() != own.len() || !given.iter().zip(own).all(fits) {
            return Err(CheckpointError::Damaged("its torques do not match the skeletons"));
        }
        self.resume(bookmark.frame, &bookmark.checkpoint)?;
        self.summary = bookmark.summary;
        self.torques.clone_from(&bookmark.torques);
        // so that `drives` is valid even if no step is left
        self.controller.control(&self.model, &self.state, 1.0 / self.fps, &mut self.control);
        Ok(())
    }

    /// The current resume point.
    pub fn bookmark(&self) -> Bookmark {
        Bookmark {
            frame: self.frame,
            summary: self.summary,
            torques: self.torques.clone(),
            checkpoint: Checkpoint::of(&self.state),
        }
    }

    /// Number of frames from the start to the current state.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// Simulates the rest of the scene and sends all frames to the sinks, the current one first. Calls `watch` after every frame with the
    /// number of the frame, during the preroll with 0; its answer may stop the take.
    pub fn play<Answer: WatchAnswer>(
        &mut self,
        sinks: &mut [&mut dyn FrameSink],
        watch: impl FnMut(usize) -> Answer,
    ) -> Result<(), PlayError> {
        self.play_to_end(None, sinks, watch)
    }

    /// Like [`Player::play`], with a recorder that receives every frame before the sinks.
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
        let mut sink_group = SinkGroup::begin(&self.model, self.fps, sinks)?;
        while self.preroll_frames > 0 {
            self.advance_preroll()?;
            watch::check(watch(0))?;
        }
        loop {
            if let Some(recorder) = recorder.as_mut() {
                recorder.frame(self)?;
            }
            sink_group.frame(&self.model, &self.state)?;
            let answer = watch(self.frame);
            // a stop at the last frame comes too late
            if self.frame >= self.frame_count {
                break;
            }
            watch::check(answer)?;
            self.advance()?;
        }
        if let Some(recorder) = recorder {
            recorder.finish(self)?;
        }
        Ok(sink_group.finish()?)
    }
}
