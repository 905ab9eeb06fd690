//! `sinew bake`: converts a recorded take to a format for other programs, without simulating.

use crate::failure::Failure;
use crate::outputs::{self, OutputOptions, is_take, plan_files};
use crate::run::replay_take;
use crate::take_status::warn_if_incomplete;
use crate::threads::thread_pool;
use clap::Args;
use sinew_io::{SinkOptions, SinkPlan, TakeEnding, TakeFile};
use sinew_sim::Model;
use sinew_zoo::source;
use std::path::PathBuf;

/// Convert a recorded take to another format, without simulating it again.
#[derive(Args)]
pub(crate) struct Bake {
    /// A take recorded by `sinew simulate -o NAME.take`. An unfinished or damaged take is converted as far as it goes.
    take: PathBuf,

    /// The file to write: NAME.glb, NAME.usda, NAME.abc, a point cache NAME.pc2 or NAME.mdd, or a folder for one .obj per frame.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// The number of threads; the result does not depend on it [default: one per core].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    #[command(flatten)]
    options: OutputOptions,
}

impl Bake {
    pub(crate) fn run(self) -> Result<(), Failure> {
        // the options
        let pool = thread_pool(self.threads)?;
        if is_take(&self.output) {
            return Err(Failure::input(format!(
                "{}: bake converts a take to another format; to duplicate a take, copy its file",
                self.output.display()
            )));
        }

        // the take and its scene
        let take = TakeFile::open(&self.take)?;
        warn_if_incomplete(&take);
        if take.frame_count() == 0 {
            return Err(Failure::input(format!(
                "{}: the take has no frames to convert",
                self.take.display()
            )));
        }
        let source = source::reopen(&take)?;

        // the output
        let options = SinkOptions {
            is_loop: take.recipe().settings.is_loop && *take.ending() == TakeEnding::Complete,
            frame_count: Some(take.frame_count()),
            ..self.options.sink(&self.output, &source)
        };
        let plan = SinkPlan::new(&self.output, &source, &options)?;
        plan_files(&plan.files(), self.options.replace())?;

        // convert
        let written = pool.install(|| {
            let model = Model::build(&source.scene.world).map_err(Failure::input)?;
            let mut sink = plan.open(&model)?;
            replay_take(&take, &model, &mut sink)?;
            Ok::<_, Failure>(sink.report())
        })?;

        // report
        outputs::warn_of_losses(&written);
        tell!("{} frames, {:.2} s", take.frame_count(), take.last_time());
        outputs::print(&written);
        outputs::check_error(&written, &self.options)
    }
}
