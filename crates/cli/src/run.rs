//! Plays a scene or a recorded take, with a progress bar, until it ends or an interrupt stops it.

use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::stats::{Stats, Timing};
use crate::wall_clock::WallClock;
use indicatif::{ProgressBar, ProgressStyle};
use sinew_io::{TakeFile, TakeRecorder, TakeSink};
use sinew_sim::Model;
use sinew_take::{FrameSink, Player, Scene, replay};
use std::time::Instant;

/// Questions about implausible input that are asked; one cause often raises several.
const MAX_QUESTIONS: usize = 3;

/// A simulation, with the time it took to build.
pub(crate) struct Run {
    pub(crate) player: Player,
    build_seconds: f64,
    /// How many questions were asked about the input.
    pub(crate) questions: usize,
    /// The bodies that collide with themselves.
    self_contact: Vec<String>,
}

impl Run {
    /// Builds the model of a scene, asks about implausible input, and prints the notes on its bodies.
    pub(crate) fn build(scene: &Scene) -> Result<Run, Failure> {
        let start = Instant::now();
        let mut player = Player::build(scene)?;
        player.set_clock(WallClock::shared());
        let build_seconds = start.elapsed().as_secs_f64();
        let questions = player.questions(scene);
        questions.iter().take(MAX_QUESTIONS).for_each(|question| warn!("QUESTION: {question}"));
        questions.iter().skip(MAX_QUESTIONS).for_each(|question| note!("{question}"));
        for body in player.model.bodies() {
            body.notes.iter().for_each(|note| note!("{}: {note}", body.name));
        }
        let self_contact = scene.world.contact.self_contact.clone();
        Ok(Run { player, build_seconds, questions: questions.len().min(MAX_QUESTIONS), self_contact })
    }

    /// Simulates the remaining frames, unless an interrupt stops it.
    pub(crate) fn play(
        &mut self,
        frame_loop: &FrameLoop,
        recorder: Option<&mut TakeRecorder>,
        sink: Option<&mut TakeSink>,
    ) -> Result<Stats, Failure> {
        // where frames go, and who looks on
        let sinks: &mut Vec<&mut dyn FrameSink> =
            &mut sink.into_iter().map(|sink| sink as &mut dyn FrameSink).collect();
        let bar = progress_bar(self.player.frame_count());
        let start = Instant::now();
        let mut last_frame_at = 0.0;
        let watch = |frame| {
            bar.set_position(frame as u64);
            last_frame_at = start.elapsed().as_secs_f64();
            frame_loop.flow(frame)
        };

        // simulate against the clock; what sinks do after the last frame is theirs
        let begun_at = self.player.state.time.max(0.0);
        let played = match recorder {
            Some(recorder) => self.player.record(recorder, sinks, watch),
            None => self.player.play(sinks, watch),
        };
        bar.finish_and_clear();
        played?;
        let mut stats = self.stats(last_frame_at, begun_at);
        stats.write_seconds = start.elapsed().as_secs_f64() - last_frame_at;
        Ok(stats)
    }

    /// How many notes there are on the bodies.
    pub(crate) fn note_count(&self) -> usize {
        self.player.model.bodies().iter().map(|body| body.notes.len()).sum()
    }

    /// The statistics of the take, if it was simulated from time `begun_at` (s) on in `wall_seconds`.
    pub(crate) fn stats(&self, wall_seconds: f64, begun_at: f64) -> Stats {
        let build_seconds = self.build_seconds;
        let mut stats = Stats::of(&self.player, Timing { build_seconds, wall_seconds, begun_at });
        for body in &mut stats.bodies {
            body.self_contact = self.self_contact.contains(&body.name);
        }
        stats
    }
}

/// Plays a recorded take into a sink, without simulating.
pub(crate) fn replay_take(take: &TakeFile, model: &Model, sink: &mut TakeSink) -> Result<(), Failure> {
    let states = take.states(model)?.map(|state| state.map_err(Failure::from));
    let bar = progress_bar(take.frame_count());
    let fps = take.recipe().settings.fps;
    let frame_loop = FrameLoop::replaying();
    let played = replay(model, fps, states, &mut [sink], |frame| {
        bar.set_position(frame as u64);
        frame_loop.flow(frame)
    });
    bar.finish_and_clear();
    played
}

fn progress_bar(frames: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {eta} left");
    ProgressBar::new(frames as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
