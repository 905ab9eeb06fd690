//! Several animations of a character in one file: `sinew simulate --animation all`, or a list of them.
//!
//! Each is simulated by itself, with a softness that fits all of them; the file is compressed once, when all frames are known.

use super::Simulate;
use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{self, plan_files};
use crate::report::{Verbosity, verbosity};
use crate::run::Run;
use crate::stats::{Stats, say_json, write_json};
use crate::verdict::{self, Chosen};
use serde::Serialize;
use sinew_gltf::{ClipPlace, SkinnedGlb};
use sinew_io::{OpenedScene, SinkOptions, SinkPlan, SinkReport, is_character_file, open_character};
use sinew_zoo::source;
use std::path::Path;

/// The name that stands for all animations.
const ALL: &str = "all";

/// The JSON object that `--stats` writes for several clips.
#[derive(Serialize)]
struct ClipsStats {
    /// The version; it also identifies the file as written by Sinew.
    sinew: &'static str,
    clips: Vec<ClipStats>,
}

/// One clip and its statistics.
#[derive(Serialize)]
struct ClipStats {
    animation: String,
    #[serde(flatten)]
    stats: Stats,
}

/// The animations that an option asks for if they are several; `None` if it is one, or none.
pub(crate) fn find(input: Option<&Path>, wanted: Option<&str>) -> Result<Option<Vec<String>>, Failure> {
    let (Some(input), Some(wanted)) = (input, wanted) else { return Ok(None) };
    if !(wanted == ALL || wanted.contains(',')) || !is_character_file(input) {
        return Ok(None);
    }
    let rigged = open_character(input).map_err(Failure::input)?.value.rigged;
    // an animation may be called so
    if rigged.find_animation(Some(wanted)).is_ok() {
        return Ok(None);
    }
    if wanted == ALL {
        return Ok(Some((0..rigged.animations.len()).map(|index| index.to_string()).collect()));
    }
    let mut found: Vec<usize> = Vec::new();
    for name in wanted.split(',').map(str::trim) {
        let error = |error: sinew_character::CharacterError| {
            Failure::input(format!("{}: {}", input.display(), error.message))
        };
        let animation = rigged.find_animation(Some(name)).map_err(error)?;
        found.extend(animation.filter(|animation| !found.contains(animation)));
    }
    Ok(Some(found.into_iter().map(|animation| animation.to_string()).collect()))
}

/// Simulates some animations, one after the other, into one file.
pub(crate) fn run(simulate: &Simulate, names: &[String], pool: &rayon::ThreadPool) -> Result<(), Failure> {
    // clip after clip
    let mut before = Vec::new();
    let mut clips = Vec::new();
    let mut stats_file = None;
    let mut written = None;
    for (place, name) in names.iter().enumerate() {
        let source = open(simulate, name, names, place == 0)?;
        let output = simulate.output_of(&source.scene);
        let options = options(simulate, &output, &source, place);
        let plan = SinkPlan::new(&output, &source, &options)?;
        if place == 0 {
            plan_files(plan.files().iter().chain(&simulate.stats.path), simulate.options.replace())?;
            stats_file = simulate.stats.create_file()?;
        }
        let clip = if place + 1 < names.len() { ClipPlace::Earlier } else { ClipPlace::Last };
        let (stats, report, files) =
            pool.install(|| play(plan, &source, std::mem::take(&mut before), clip))?;
        let animation = name_of(&source, name);
        tell_clip(&animation, &stats, simulate);
        before = files;
        clips.push(ClipStats { animation, stats });
        written = Some(report);
    }

    // what was written
    let Some(mut written) = written else {
        return Err(Failure::input("the file has no animations: leave out --animation"));
    };
    let stats = ClipsStats { sinew: env!("CARGO_PKG_VERSION"), clips };
    write_json(&stats, stats_file)?;
    if simulate.stats.json {
        say_json(&stats);
    }
    written.characters.clear();
    outputs::warn_of_losses(&written);
    if !simulate.stats.json {
        outputs::print(&written);
    }
    outputs::check_error(&written, &simulate.options)
}

/// The scene of one animation.
fn open(simulate: &Simulate, name: &str, names: &[String], is_first: bool) -> Result<OpenedScene, Failure> {
    let opened = source::open(simulate.input.as_deref(), &simulate.choice(Some(name.to_owned()), names))?;
    if is_first {
        opened.notes.iter().for_each(|note| note!("{note}"));
    }
    let mut source = opened.value;
    source.scene.fps = simulate.fps.unwrap_or(source.scene.fps);
    let settings = simulate.settings(&source, Some(name))?;
    settings.apply(&mut source.scene);
    Ok(source)
}

/// The options of the sink of a clip; only the first draws a preview.
fn options(simulate: &Simulate, output: &Path, source: &OpenedScene, place: usize) -> SinkOptions {
    let options = simulate.options.sink(output, source);
    let preview = options.preview && place == 0;
    SinkOptions { is_loop: simulate.is_loop, preview, ..options }
}

/// Simulates a clip into the files that earlier ones are in.
fn play(
    plan: SinkPlan,
    source: &OpenedScene,
    before: Vec<SkinnedGlb>,
    clip: ClipPlace,
) -> Result<(Stats, SinkReport, Vec<SkinnedGlb>), Failure> {
    let mut run = Run::build(&source.scene)?;
    let mut sink = plan.open_clip(&run.player.model, before, clip)?;
    let stats = run.play(&FrameLoop::simulating(None), None, Some(&mut sink))?;
    let report = sink.report();
    Ok((stats.with_characters(source, &report), report, sink.into_writers()))
}

/// The name of an animation in the file, or else its number.
fn name_of(source: &OpenedScene, number: &str) -> String {
    let rigged = source.characters.first().map(|character| &character.binding.rigged);
    let found = rigged.zip(number.parse::<usize>().ok());
    let name = found.and_then(|(rigged, index)| rigged.animations.get(index)?.name.clone());
    name.unwrap_or_else(|| number.to_owned())
}

/// Prints what was simulated of a clip, and what is wrong with it.
fn tell_clip(name: &str, stats: &Stats, simulate: &Simulate) {
    if !simulate.stats.json {
        if verbosity() == Verbosity::Verbose {
            tell!("{name}:\n{stats}");
        } else {
            tell!("{name}: {:.2} s simulated in {:.2} s", stats.simulated_seconds, stats.wall_seconds);
        }
    }
    let chosen = Chosen::of(simulate.jiggle, simulate.lead());
    verdict::find_faults(stats, &chosen).iter().for_each(|fault| warn!("WARNING: {name}: {fault}"));
}
