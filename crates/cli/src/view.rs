//! `sinew view`: a page for the browser that shows a character file, a take or a scene.

use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{is_take, plan_files, zoo_looks};
use crate::run::{Run, replay_take};
use crate::take_status::warn_if_incomplete;
use crate::threads::thread_pool;
use clap::Args;
use sinew_files::{Replace, ScratchFolder};
use sinew_gltf::{PageModel, ViewerPage};
use sinew_io::{
    AtomicFile, CharacterChoice, Loaded, OpenedScene, SinkOptions, SinkPlan, TakeEnding, TakeFile, TakeSink,
    is_character_file, view_file, view_outputs,
};
use sinew_sim::Model;
use sinew_zoo::source;
use std::path::{Path, PathBuf};

/// Show a character, take or scene in the browser: orbit it, play its clips, and switch flesh on and off.
///
/// Everything is in one .html file, which works without a network and can be sent to others.
#[derive(Args)]
pub(crate) struct View {
    /// A character file, which is shown as it is (.glb, .gltf, .vrm, .fbx), a recorded take (.take), or any other input of `sinew simulate`, which is simulated first.
    input: PathBuf,

    /// The page to write [default: NAME.html beside the input].
    #[arg(short, long, value_name = "OUT.html")]
    output: Option<PathBuf>,

    /// The character file to show when flesh is switched off [default: the input with its flesh at rest].
    #[arg(long, value_name = "FILE")]
    skinning: Option<PathBuf>,

    /// Write the page without opening it.
    #[arg(long)]
    no_open: bool,

    /// The number of threads; the result does not depend on it [default: one per core].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Also replace a file that Sinew did not write. Input files are never replaced.
    #[arg(long)]
    force: bool,
}

impl View {
    pub(crate) fn run(self) -> Result<(), Failure> {
        // the page must be one that may be written
        let pool = thread_pool(self.threads)?;
        let output = self.output()?;
        sinew_files::register_input(&self.input);
        plan_files([&output], self.replace())?;
        AtomicFile::create(&output).map_err(Failure::input)?;

        // what it shows
        let models = pool.install(|| self.models(&output))?;
        let title = self.input.file_name().unwrap_or(self.input.as_os_str()).to_string_lossy().into_owned();

        // write it; all inputs are known by now
        plan_files([&output], self.replace())?;
        let mut file = AtomicFile::create(&output).map_err(Failure::input)?;
        ViewerPage { title, models }.write(&mut file).map_err(|error| refused(&output, &error))?;
        file.commit().map_err(Failure::input)?;
        let bytes = output.metadata().map_or(0, |metadata| metadata.len());
        tell!("wrote {}: {:.1} MB, everything in one file", output.display(), bytes as f64 / 1e6);
        if !self.no_open {
            show(&output);
        }
        Ok(())
    }

    fn replace(&self) -> Replace {
        if self.force { Replace::Any } else { Replace::Ours }
    }

    /// Where the page goes.
    fn output(&self) -> Result<PathBuf, Failure> {
        let output = self.output.clone().unwrap_or_else(|| self.input.with_extension("html"));
        if output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html")) {
            return Ok(output);
        }
        Err(Failure::input(format!("{}: the page must be an .html file", output.display())))
    }

    fn models(&self, output: &Path) -> Result<Vec<PageModel>, Failure> {
        let mut models = if is_take(&self.input) {
            self.take_models(output)?
        } else if is_character_file(&self.input) {
            vec![noted(view_file(&self.input).map_err(Failure::input)?)]
        } else {
            self.scene_models(output)?
        };
        if let Some(skinning) = &self.skinning {
            let [model] = models.as_mut_slice() else {
                return Err(Failure::input(format!(
                    "--skinning is for one character, and {} becomes {} files",
                    self.input.display(),
                    models.len()
                )));
            };
            model.skinning = Some(noted(view_file(skinning).map_err(Failure::input)?).glb);
        }
        Ok(models)
    }

    /// Converts a take to GLB files, without simulating.
    fn take_models(&self, output: &Path) -> Result<Vec<PageModel>, Failure> {
        let take = TakeFile::open(&self.input)?;
        warn_if_incomplete(&take);
        if take.frame_count() == 0 {
            return Err(Failure::input(format!("{}: the take has no frames to show", self.input.display())));
        }
        let source = source::reopen(&take)?;
        let options = SinkOptions {
            is_loop: take.recipe().settings.is_loop && *take.ending() == TakeEnding::Complete,
            frame_count: Some(take.frame_count()),
            ..sink_options(&source)
        };
        let model = Model::build(&source.scene.world).map_err(Failure::input)?;
        written(output, &source, &options, &model, |sink| replay_take(&take, &model, sink))
    }

    /// Simulates a scene, mesh, motion or character of the zoo.
    fn scene_models(&self, output: &Path) -> Result<Vec<PageModel>, Failure> {
        let opened = source::open(Some(&self.input), &CharacterChoice::default())?;
        opened.notes.iter().for_each(|note| note!("{note}"));
        let source = opened.value;
        plan_files([&output.to_path_buf()], self.replace())?;
        let mut run = Run::build(&source.scene)?;
        let model = run.player.model.clone();
        written(output, &source, &sink_options(&source), &model, |sink| {
            run.play(&FrameLoop::replaying(), None, Some(sink)).map(|_| ())
        })
    }
}

fn sink_options(source: &OpenedScene) -> SinkOptions {
    SinkOptions { preview: false, looks: zoo_looks(source), ..SinkOptions::default() }
}

/// Plays a scene into GLB files in a scratch folder beside the page, and returns them.
fn written(
    output: &Path,
    source: &OpenedScene,
    options: &SinkOptions,
    model: &Model,
    play: impl FnOnce(&mut TakeSink) -> Result<(), Failure>,
) -> Result<Vec<PageModel>, Failure> {
    let parent = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = ScratchFolder::create_in(parent).map_err(|error| refused(output, &error))?;
    let plan = SinkPlan::new(folder.path().join("take.glb"), source, options)?;
    let files = plan.files();
    let mut sink = plan.open(model)?;
    play(&mut sink)?;
    sink.report().warnings().iter().for_each(|warning| warn!("WARNING: {warning}"));
    view_outputs(source, &files).map_err(Failure::input)
}

fn noted(read: Loaded<PageModel>) -> PageModel {
    read.notes.iter().for_each(|note| note!("{note}"));
    read.value
}

fn refused(output: &Path, error: &std::io::Error) -> Failure {
    Failure::input(sinew_files::refused(output, error))
}

/// Opens the page; one that cannot be opened is written all the same.
fn show(output: &Path) {
    if let Err(error) = open::that_detached(output) {
        warn!("note: no browser could be started ({error}): open {} in one", output.display());
    }
}
