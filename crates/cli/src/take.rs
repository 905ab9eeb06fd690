//! `sinew take`: what a recorded take holds, what it is like at one frame, and what comes next.

mod ghosts;

use crate::edit::{print_versions, response_words};
use crate::failure::Failure;
use crate::outputs::{self, OutputOptions, is_take, plan_files};
use crate::take_status::recorded_length;
use clap::{Args, Subcommand};
use ghosts::GhostOptions;
use sinew_io::{OpenedScene, SinkOptions, SinkPlan, TakeFile};
use sinew_sim::{Energies, Model, State, metaphor_response};
use sinew_take::{Bookmark, Frame, FrameSink, Player, SurfaceInfo};
use sinew_zoo::source;
use std::path::PathBuf;

/// Show what a recorded take holds, or one of its frames.
#[derive(Args)]
pub(crate) struct Take {
    /// A take recorded by `sinew simulate -o NAME.take`.
    take: PathBuf,

    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Show versions, edits, frames and bytes.
    Info,
    /// Load the exact state of a frame, show its statistics, and write its shape if that is asked for.
    Frame(FrameOptions),
    /// Draw a frame with ghosts of those that follow it, simulated ahead on a copy, also with an edit that is not made yet. The take is not changed.
    Ghosts(GhostOptions),
}

#[derive(Args)]
struct FrameOptions {
    /// The frame, counted from 0.
    frame: usize,

    /// A file to write the shape of the frame to: NAME.glb, NAME.usda, NAME.abc, or a folder for an .obj file. For a picture, use `sinew render NAME.take --frame K -o NAME.png`.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    #[command(flatten)]
    options: OutputOptions,
}

impl Take {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let take = TakeFile::open_quickly(&self.take)?;
        match &self.action {
            Action::Info => {
                print_info(&take);
                Ok(())
            }
            Action::Frame(options) => show_frame(&take, options),
            Action::Ghosts(options) => ghosts::draw(&take, options),
        }
    }
}

fn print_info(take: &TakeFile) {
    let (recipe, frames) = (take.recipe(), take.frame_count());
    say!("take of {}, recorded by sinew {}", recipe.origin, recipe.sinew);
    say!("{} at {} frames per second", recorded_length(take), recipe.settings.fps);
    let per_frame = take.history().versions().map(|(id, _)| take.version_bytes(id)).sum::<u64>() as f64;
    let recorded: usize = take
        .history()
        .versions()
        .map(|(_, version)| version.frame_count - version.shared.map_or(0, |own| own.1))
        .sum();
    say!(
        "{:.1} MB, {:.1} kB for each of {recorded} recorded frames",
        1e-6 * take.file_bytes() as f64,
        1e-3 * per_frame / recorded.max(1) as f64
    );
    for edit in &take.history().head().edits {
        say!("an edit at {} s, frame {} of {frames}", edit.time, take.history().frame_of(edit));
    }
    print_versions(take);
}

/// A player at a recorded frame of a take, whose scene may have further edits from there on.
fn player_at(take: &TakeFile, source: &OpenedScene, frame: usize) -> Result<Player, Failure> {
    let mut player = Player::build(&source.scene)?;
    take.check_model(player.first_model())?;
    // the exact state, which older takes have at some frames only
    let bookmark = take.bookmark_at(frame)?.ok_or_else(|| {
        let last = take.frame_count().saturating_sub(1);
        Failure::input(format!("frame {frame} is not recorded: the take has frames 0 to {last}"))
    })?;
    player.resume_from(&bookmark).map_err(Failure::input)?;
    while player.frame() < frame {
        player.advance()?;
    }
    Ok(player)
}

fn show_frame(take: &TakeFile, options: &FrameOptions) -> Result<(), Failure> {
    let source = source::reopen(take)?;
    let player = player_at(take, &source, options.frame)?;
    print_state(&player.bookmark(), &player.model, &player.state);
    print_direction(&player);

    // its shape
    let Some(output) = &options.output else { return Ok(()) };
    if is_take(output) {
        return Err(Failure::input(
            "a frame is not a take: write it as .glb, .usda, .abc or a folder of .obj files",
        ));
    }
    let sink_options =
        SinkOptions { frame_count: Some(1), preview: false, ..options.options.sink(output, &source) };
    let plan = SinkPlan::new(output, &source, &sink_options)?;
    plan_files(&plan.files(), options.options.replace())?;
    let mut sink = plan.open(player.first_model())?;
    let infos: Vec<SurfaceInfo> = player.model.bodies().iter().map(SurfaceInfo::of).collect();
    let mut frame = Frame::default();
    frame.update(&player.model, &player.state);
    sink.begin(&infos, source.scene.fps)?;
    sink.frame(&frame)?;
    sink.finish()?;
    let written = sink.report();
    outputs::warn_of_losses(&written);
    written.files.iter().for_each(|file| tell!("wrote {}", file.display()));
    Ok(())
}

fn print_state(bookmark: &Bookmark, model: &Model, state: &State) {
    let Energies { kinetic, elastic, potential } = state.energies(model);
    let speed = state.node_v.iter().map(|v| v.norm()).fold(0.0, f64::max);
    let momentum = state.momentum(model).norm();
    say!("frame {} at {:.4} s, state hash {:016x}", bookmark.frame, state.time, state.hash());
    say!("  energy: kinetic {kinetic:.4} J, elastic {elastic:.4} J, potential {potential:.4} J");
    say!("  fastest node {speed:.3} m/s, momentum {momentum:.4} kg m/s");
    for (rig, torques) in model.rigs().iter().zip(&bookmark.torques) {
        let largest = torques.last.iter().fold(0.0, |largest: f64, torque| largest.max(torque.abs()));
        say!("  skeleton '{}': largest joint torque {largest:.3} N m", rig.name);
    }
    let summary = &bookmark.summary;
    say!(
        "  up to here: {} sub-steps, {} repeated frames, at most {} inverted tets",
        summary.steps,
        summary.retries,
        summary.max_inverted
    );
}

/// What goals and metaphors have come to.
fn print_direction(player: &Player) {
    let (model, state) = (&player.model, &player.state);
    for metaphor in model.metaphors() {
        let response = metaphor_response(model, metaphor, state);
        say!("  metaphor '{}': {}", metaphor.name, response_words(metaphor.kind, response));
    }
    for (rig, performance) in player.performances().iter().enumerate() {
        for goal in &performance.goals {
            if let Some(gap) = goal.gap(model, rig, state) {
                let owner = &model.rigs()[rig].name;
                say!(
                    "  goal '{}' of '{owner}': its point is {:.2} cm from its target",
                    goal.name,
                    100.0 * gap
                );
            }
        }
    }
}
