//! `sinew bake`: a recorded take in, a file for other programs out, without simulating.

use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{self, OutputOptions, is_take, plan_files};
use crate::simulate::{progress_bar, thread_pool};
use crate::source;
use clap::Args;
use sinew_io::{SinkOptions, SinkPlan, TakeEnding, TakeFile, TakeSink};
use sinew_sim::Model;
use sinew_take::replay;
use std::path::PathBuf;

/// Convert a recorded take, without simulating it again.
#[derive(Args)]
pub(crate) struct Bake {
    /// A take that `sinew simulate -o NAME.take` recorded. One that is unfinished or damaged is converted as far as it goes.
    take: PathBuf,

    /// Where the result goes: NAME.glb, NAME.usda, a point cache NAME.pc2 or NAME.mdd, or a folder for one .obj per frame.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Threads to work with; the result has the same bits for any number [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    #[command(flatten)]
    options: OutputOptions,
}

impl Bake {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let pool = thread_pool(self.threads)?;
        if is_take(&self.output) {
            return Err(Failure::input(format!(
                "{}: bake converts a take to another format; copy the file for another take",
                self.output.display()
            )));
        }

        // the take and its scene
        let take = TakeFile::open(&self.take)?;
        note_ending(&take);
        if take.frame_count() == 0 {
            return Err(Failure::input(format!("{}: holds no frames to convert", self.take.display())));
        }
        let source = source::reopen(&take)?;

        // where it goes
        let options = SinkOptions {
            is_loop: take.recipe().settings.is_loop && *take.ending() == TakeEnding::Complete,
            frame_count: Some(take.frame_count()),
            ..self.options.sink(&self.output, &source)
        };
        let plan = SinkPlan::new(&self.output, &source, &options)?;
        plan_files(&plan.files(), self.options.replace())?;
        let written = pool.install(|| {
            let model = Model::build(&source.scene.world).map_err(Failure::input)?;
            let mut sink = plan.open(&model)?;
            play(&take, &model, &mut sink)?;
            Ok::<_, Failure>(sink.report())
        })?;

        // what came out
        outputs::warn_of_losses(&written);
        say!("{} frames, {:.2} s", take.frame_count(), take.last_time());
        outputs::print(&written);
        Ok(())
    }
}

/// Plays a take into a sink.
pub(crate) fn play(take: &TakeFile, model: &Model, sink: &mut TakeSink) -> Result<(), Failure> {
    let states = take.states(model)?.map(|state| state.map_err(Failure::from));
    let bar = progress_bar(take.frame_count());
    let fps = take.recipe().settings.fps;
    let frame_loop = FrameLoop::replaying();
    let played = replay(model, fps, states, &mut [sink], |frame| {
        bar.set_position(frame as u64);
        frame_loop.flow()
    });
    bar.finish_and_clear();
    played
}

/// Says what is missing of a take.
pub(crate) fn note_ending(take: &TakeFile) {
    let (path, there) = (take.path().display(), there_is(take));
    match take.ending() {
        TakeEnding::Complete => {}
        TakeEnding::Unfinished => warn!("note: {path} is unfinished: {there}"),
        TakeEnding::Damaged { at, bytes, what } => {
            warn!("note: {path} is sound up to byte {at}, its last {bytes} bytes are not: {what}; {there}");
        }
    }
}

/// How much of a take there is.
pub(crate) fn there_is(take: &TakeFile) -> String {
    let (frames, goal) = (take.frame_count(), take.frame_goal());
    format!(
        "{frames} of {goal} frames are there, {:.3} of {} s",
        take.last_time(),
        take.recipe().settings.seconds
    )
}
