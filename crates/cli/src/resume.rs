//! `sinew simulate --resume` and `--extend`: continue a take that was interrupted, edited or is to be longer.

use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{OutputOptions, plan_files};
use crate::run::{Run, replay_take};
use crate::stats::StatsOptions;
use crate::summary::Summary;
use crate::take_status::{recorded_length, warn_if_incomplete};
use crate::verdict::Chosen;
use sinew_io::{SinkPlan, TakeEditor, TakeEnding, TakeFile, TakeRecorder};
use sinew_zoo::source;
use std::path::Path;

/// How far a take is continued.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// To the length that it was to have.
    Complete,
    /// The same, right after an edit has made it shorter.
    Edited,
    /// By a time (s) beyond that.
    Longer(f64),
}

/// Continues a take from its last frame. A complete take is left as it is unless it is to be longer.
pub(crate) fn run(
    path: &Path,
    goal: Goal,
    stats_options: &StatsOptions,
    options: &OutputOptions,
    pool: &rayon::ThreadPool,
) -> Result<(), Failure> {
    // a complete take
    let take = TakeFile::open(path)?;
    let seconds = length(&take, goal)?;
    if *take.ending() == TakeEnding::Complete && !matches!(goal, Goal::Longer(_)) {
        warn!("note: {} is complete: {}; there is nothing to do", path.display(), recorded_length(&take));
        let report = || report_only(&take, stats_options, options);
        return if stats_options.wanted() { pool.install(report) } else { Ok(()) };
    }

    // how much is recorded, and by which version
    if goal != Goal::Edited {
        warn_if_incomplete(&take);
    }
    let (recorded_by, version) = (&take.recipe().sinew, env!("CARGO_PKG_VERSION"));
    if recorded_by != version {
        warn!(
            "note: the take was begun with sinew {recorded_by} and continues with {version}: from here on the motion may differ from what {recorded_by} would give"
        );
    }

    // outputs; the take was read and is appended to, so no other output may have its name
    let mut source = source::reopen(&take)?;
    source.scene.seconds = seconds;
    let plan = SinkPlan::beside_recording(path, &source, &options.sink(path, &source));
    let files = plan.files();
    let beside = files.iter().filter(|file| *file != path);
    plan_files(beside.chain(&stats_options.path), options.replace())?;
    let stats_file = stats_options.create_file()?;

    // simulate the remaining frames; the preview shows the whole take
    let (stats, written) = pool.install(|| {
        let mut run = Run::build(&source.scene)?;
        go_to_last_frame(&mut run, &take)?;
        let mut recorder = match goal {
            Goal::Complete | Goal::Edited => TakeRecorder::resume(&take).map_err(Failure::input)?,
            Goal::Longer(_) => extend(path, seconds).map_err(Failure::input)?,
        };
        let frame_loop = FrameLoop::simulating(Some(path));
        let stats = run.play(&frame_loop, Some(&mut recorder), None)?;
        drop((recorder, frame_loop));
        let model = run.player.first_model();
        let mut sink = plan.open(model)?;
        if !options.no_preview {
            replay_take(&TakeFile::open(path)?, model, &mut sink)?;
        }
        let written = sink.report();
        Ok::<_, Failure>((stats.with_characters(&source, &written), written))
    })?;

    // report
    stats_options.report(&stats, stats_file)?;
    let chosen = Chosen::of_take(take.recipe().settings.jiggle, take.recipe().settings.lead);
    let is_json = stats_options.json;
    Summary { stats: &stats, written: &written, chosen, questions: 0, hidden_notes: 0, is_json }.print();
    Ok(())
}

/// The length to which a take is continued (s).
fn length(take: &TakeFile, goal: Goal) -> Result<f64, Failure> {
    let (before, settings) = (take.history().head().seconds, &take.recipe().settings);
    match goal {
        Goal::Complete | Goal::Edited => Ok(before),
        Goal::Longer(_) if settings.is_loop => Err(Failure::input(
            "the take is a loop, which ends where it begins: record it without --loop to extend it",
        )),
        Goal::Longer(more) if !(more > 0.0 && more * settings.fps >= 0.5) => Err(Failure::input(format!(
            "--seconds {more} is not a frame more: give the time to add to the take"
        ))),
        Goal::Longer(more) => Ok(before + more),
    }
}

/// Makes a take longer and goes on to record it.
fn extend(path: &Path, seconds: f64) -> std::io::Result<TakeRecorder> {
    let take = TakeFile::open(path).map_err(std::io::Error::other)?;
    let mut editor = TakeEditor::begin(take)?;
    editor.extend(seconds)?;
    Ok(editor.record().1)
}

/// Reports the statistics of a complete take.
fn report_only(
    take: &TakeFile,
    stats_options: &StatsOptions,
    options: &OutputOptions,
) -> Result<(), Failure> {
    plan_files(&stats_options.path, options.replace())?;
    let file = stats_options.create_file()?;
    let mut run = Run::build(&source::reopen(take)?.scene)?;
    go_to_last_frame(&mut run, take)?;
    let stats = run.stats(0.0, run.player.state.time);
    stats_options.report(&stats, file)?;
    if !stats_options.json {
        tell!("{stats}");
    }
    Ok(())
}

/// Sets the player to the last recorded frame; it stays at the start if the take has no frames.
pub(crate) fn go_to_last_frame(run: &mut Run, take: &TakeFile) -> Result<(), Failure> {
    take.check_model(&run.player.model)?;
    match take.bookmark()? {
        Some(bookmark) => run
            .player
            .resume_from(&bookmark)
            .map_err(|error| Failure::input(format!("{}: {error}", take.path().display()))),
        None => Ok(()),
    }
}
