//! `sinew simulate --resume`: goes on with a take that was interrupted.

use crate::bake;
use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{self, plan_files};
use crate::simulate::{Run, Simulate};
use crate::source;
use sinew_io::{SinkPlan, TakeEnding, TakeFile, TakeRecorder};
use std::path::Path;

/// Goes on with a take up to the length first asked for. A complete one is left as it is.
pub(crate) fn run(options: &Simulate, path: &Path, pool: &rayon::ThreadPool) -> Result<(), Failure> {
    let take = TakeFile::open(path)?;
    if *take.ending() == TakeEnding::Complete {
        warn!("note: {} is complete: {}; there is nothing to do", path.display(), bake::there_is(&take));
        return if options.wants_stats() { pool.install(|| report_only(options, &take)) } else { Ok(()) };
    }

    // what there is
    bake::note_ending(&take);
    let version = env!("CARGO_PKG_VERSION");
    if take.recipe().sinew != version {
        warn!(
            "note: sinew {} recorded what there is and {version} goes on: from here the motion may be another than that version's",
            take.recipe().sinew
        );
    }

    // the rest of it
    let source = source::reopen(&take)?;
    let plan = SinkPlan::beside_recording(path, &source, &options.options.sink(path, &source));
    // the take itself was read and is written on, so that nothing else may have its name
    let files = plan.files();
    let beside = files.iter().filter(|file| *file != path);
    plan_files(beside.chain(&options.stats), options.options.replace())?;
    let stats_file = options.stats_file()?;
    let (stats, written) = pool.install(|| {
        let mut run = Run::build(&source.scene)?;
        go_to_last_frame(&mut run, &take)?;
        let mut recorder = TakeRecorder::resume(&take).map_err(Failure::input)?;
        let frame_loop = FrameLoop::simulating(Some(path));
        let stats = run.play(&frame_loop, Some(&mut recorder), None)?;
        drop((recorder, frame_loop));
        let mut sink = plan.open(&run.player.model)?;
        // the picture shows the take from its start, not from where it went on
        if !options.options.no_preview {
            bake::play(&TakeFile::open(path)?, &run.player.model, &mut sink)?;
        }
        Ok::<_, Failure>((stats, sink.report()))
    })?;
    options.report(&stats, stats_file)?;
    if !options.json {
        outputs::print(&written);
    }
    Ok(())
}

fn report_only(options: &Simulate, take: &TakeFile) -> Result<(), Failure> {
    plan_files(&options.stats, options.options.replace())?;
    let file = options.stats_file()?;
    let mut run = Run::build(&source::reopen(take)?.scene)?;
    go_to_last_frame(&mut run, take)?;
    let stats = run.stats(0.0, run.player.state.time);
    options.report(&stats, file)
}

/// Puts the player where the take ends; it stays at the start if the take has no frames.
fn go_to_last_frame(run: &mut Run, take: &TakeFile) -> Result<(), Failure> {
    take.check_model(&run.player.model)?;
    match take.bookmark()? {
        Some(bookmark) => run
            .player
            .resume_from(&bookmark)
            .map_err(|error| Failure::input(format!("{}: {error}", take.path().display()))),
        None => Ok(()),
    }
}
