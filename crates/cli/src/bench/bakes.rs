//! `sinew bench bakes`: every rigged file of a folder, with flesh for all of its animations in one file, measured as it was written.
//!
//! A row is a clip; clips of one character share their file, its morph targets and its size. A file that cannot be baked is a row with its error; the run goes on.

use super::write_report;
use crate::failure::Failure;
use crate::outputs::{OutputOptions, atomic_file, plan_files};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use sinew_character::TakeSettings;
use sinew_gltf::{ClipPlace, SkinnedGlb, SkinnedGlbReport};
use sinew_io::{CharacterChoice, SinkOptions, SinkPlan, is_character_file, open_character, open_source};
use sinew_take::Player;
use std::fmt;
use std::path::{Path, PathBuf};

/// Bake the flesh of every rigged character in a folder into its file, with all of its animations, and measure errors and sizes.
///
/// The table and its bars are explained in docs/formats.md.
#[derive(Args)]
pub(super) struct Bakes {
    /// The folder with characters (.glb, .gltf, .vrm, .fbx).
    folder: PathBuf,

    /// Write the rows as JSON, with a description of the machine.
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,

    /// Keep the baked files in this folder, as CHARACTER.glb.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// The longest clip (s); longer ones are cut.
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    max_seconds: f64,

    /// Bake only characters with this text in the name of their file, in upper or lower case.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    #[command(flatten)]
    options: OutputOptions,
}

/// One clip of a baked character.
#[derive(Serialize)]
struct Row {
    character: String,
    clip: String,
    /// How flesh is written.
    mode: &'static str,
    /// The most morph targets that a mesh got.
    targets: usize,
    /// Helper joints that were added.
    helpers: usize,
    /// The largest distance of a vertex from where it was simulated, at frames and at quarters between them (m).
    error_m: f64,
    /// At frames alone (m).
    frame_error_m: f64,
    /// The error that was asked for (m).
    allowed_m: f64,
    /// The mean angle between shown normals and those of the moved surface (degrees).
    normal_degrees: Option<f64>,
    /// The size of the file with all clips (bytes).
    bytes: u64,
    /// The size of the file that it was made of (bytes).
    input_bytes: u64,
    /// The length of all clips of the file (s).
    seconds: f64,
    /// Why there are no numbers.
    error: Option<String>,
}

/// A character that was baked.
struct Baked {
    report: SkinnedGlbReport,
    clips: Vec<String>,
    seconds: f64,
}

impl Bakes {
    pub(super) fn run(self) -> Result<(), Failure> {
        // outputs, checked before any work is done
        plan_files(&self.json, self.options.replace())?;
        let file = self.json.as_deref().map(atomic_file).transpose()?;
        let kept = self.keep.clone();
        let folder =
            kept.unwrap_or_else(|| std::env::temp_dir().join(format!("sinew-bakes-{}", std::process::id())));
        let at = |error: std::io::Error| Failure::input(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(&folder).map_err(at)?;

        // file after file
        let mut rows = Vec::new();
        say!("{}", Row::HEAD);
        for path in super::character_folder::files_in(&self.folder)?.iter().filter(|file| self.wants(file)) {
            let target = folder.join(path.file_stem().unwrap_or_default()).with_extension("glb");
            let found = match super::character_folder::catch(|| self.bake(path, &target)) {
                Ok(baked) => rows_of(path, &baked),
                // nothing but a motion
                Err(error) if error.contains("no skinned surface") => Vec::new(),
                Err(error) => vec![Row::failed(path, error)],
            };
            found.iter().for_each(|row| say!("{row}"));
            rows.extend(found);
        }
        if self.keep.is_none() {
            std::fs::remove_dir_all(&folder).map_err(at)?;
        }
        if rows.is_empty() {
            return Err(Failure::input(format!(
                "{}: there is nothing to bake: give a folder with .glb, .gltf, .vrm or .fbx files",
                self.folder.display()
            )));
        }
        write_report(file, super::values(&rows)?)
    }

    fn wants(&self, file: &Path) -> bool {
        let only = self.only.as_ref().map(|only| only.to_lowercase());
        let name = super::characters::name_of(file).to_lowercase();
        is_character_file(file) && only.is_none_or(|only| name.contains(&only))
    }

    /// Simulates all animations of a character into one file.
    fn bake(&self, path: &Path, target: &Path) -> Result<Baked, String> {
        let rigged = open_character(path).map_err(|error| error.to_string())?.value.rigged;
        let count = rigged.animations.len();
        let names: Vec<String> = (0..count).map(|index| index.to_string()).collect();
        let (mut before, mut clips, mut seconds, mut report) = (Vec::new(), Vec::new(), 0.0, None);
        for index in 0..count.max(1) {
            let choice = CharacterChoice {
                animation: names.get(index).cloned(),
                fitted: names.clone(),
                ..CharacterChoice::default()
            };
            let clip = if index + 1 < count { ClipPlace::Earlier } else { ClipPlace::Last };
            let played = self.play(path, target, &choice, (std::mem::take(&mut before), clip))?;
            (before, report) = (played.files, played.report);
            seconds += played.seconds;
            let name = rigged.animations.get(index).and_then(|animation| animation.name.clone());
            clips.push(name.unwrap_or_else(|| index.to_string()));
        }
        Ok(Baked { report: report.ok_or("nothing was written")?, clips, seconds })
    }

    /// Simulates one animation.
    fn play(
        &self,
        path: &Path,
        target: &Path,
        choice: &CharacterChoice,
        (before, clip): (Vec<SkinnedGlb>, ClipPlace),
    ) -> Result<PlayedClip, String> {
        // the scene, cut to length
        let text = |error: &dyn fmt::Display| error.to_string();
        let mut opened = open_source(path, choice).map_err(|error| text(&error))?.value;
        let scene = &mut opened.scene;
        let seconds = scene.seconds.min(self.max_seconds);
        TakeSettings { seconds, fps: scene.fps, ..TakeSettings::default() }.apply(scene);

        // the take
        let mut player = Player::build(&opened.scene).map_err(|error| text(&error))?;
        let options = SinkOptions { preview: false, ..self.options.sink(target, &opened) };
        let plan = SinkPlan::new(target, &opened, &options).map_err(|error| text(&error))?;
        let mut sink = plan.open_clip(&player.model, before, clip).map_err(|error| text(&error))?;
        player.play(&mut [&mut sink], |_| {}).map_err(|error| text(&error))?;
        let report = sink.report().rigged.into_iter().next().map(|rigged| rigged.report);
        Ok(PlayedClip { files: sink.into_writers(), report, seconds })
    }
}

/// A clip that was simulated.
struct PlayedClip {
    /// The files that later clips go into.
    files: Vec<SkinnedGlb>,
    /// What was written, after the last.
    report: Option<SkinnedGlbReport>,
    seconds: f64,
}

/// The rows of a character.
fn rows_of(path: &Path, baked: &Baked) -> Vec<Row> {
    let bodies = &baked.report.bodies;
    let worst = |pick: &dyn Fn(usize) -> f64| (0..bodies.len()).map(pick).fold(0.0, f64::max);
    let helpers = bodies.iter().map(|body| body.helpers).max().unwrap_or(0);
    let targets = bodies.iter().map(|body| body.components).max().unwrap_or(0);
    let mode = match (helpers, targets) {
        (0, _) => "morphs",
        (_, 0) => "bones",
        _ => "bones+morphs",
    };
    // means over the area of all bodies
    let angles = bodies.iter().filter_map(|body| Some((body.normal_angle?, body.area)));
    let (sum, area) = angles.fold((0.0, 0.0), |(sum, area), (angle, own)| (sum + angle * own, area + own));
    let row = |(clip, name): (usize, &String)| Row {
        clip: name.clone(),
        mode,
        targets,
        helpers,
        error_m: worst(&|body| {
            bodies[body].clips[clip].error_at_frames.max(bodies[body].clips[clip].error_between)
        }),
        frame_error_m: worst(&|body| bodies[body].clips[clip].error_at_frames),
        allowed_m: bodies.iter().map(|body| body.allowed_error).fold(f64::INFINITY, f64::min),
        normal_degrees: (area > 0.0).then(|| (sum / area).to_degrees()),
        bytes: baked.report.bytes,
        seconds: baked.seconds,
        error: None,
        ..Row::failed(path, String::new())
    };
    baked.clips.iter().enumerate().map(row).collect()
}

/// The size of a file and of the buffers and images beside it.
fn input_bytes(path: &Path) -> u64 {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let is_text = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gltf"));
    let text = if is_text { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    let json: Value = serde_json::from_slice(&text).unwrap_or_default();
    let lists = ["buffers", "images"].map(|list| json[list].as_array().cloned().unwrap_or_default());
    let beside = lists.iter().flatten().filter_map(|entry| entry["uri"].as_str());
    size(path) + beside.map(|uri| size(&path.with_file_name(uri))).sum::<u64>()
}

impl Row {
    const HEAD: &'static str = "character              clip             mode         targets helpers  error mm  frames mm  asked mm  normals°      bytes   × input";

    /// A character without numbers.
    fn failed(path: &Path, error: String) -> Row {
        Row {
            character: super::characters::name_of(path),
            clip: String::new(),
            mode: "morphs",
            targets: 0,
            helpers: 0,
            error_m: 0.0,
            frame_error_m: 0.0,
            allowed_m: 0.0,
            normal_degrees: None,
            bytes: 0,
            input_bytes: input_bytes(path),
            seconds: 0.0,
            error: Some(error),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { character, clip, mode, targets, helpers, bytes, .. } = self;
        if let Some(error) = &self.error {
            return write!(f, "{character:22} {error}");
        }
        let [error, frames, asked] =
            [self.error_m, self.frame_error_m, self.allowed_m].map(|error| 1e3 * error);
        let normals = self.normal_degrees.map_or_else(|| "-".into(), |degrees| format!("{degrees:.1}"));
        let ratio = *bytes as f64 / self.input_bytes.max(1) as f64;
        write!(
            f,
            "{character:22} {clip:16} {mode:12} {targets:7} {helpers:7} {error:9.2} {frames:10.2} {asked:9.2} {normals:>9} {bytes:10} {ratio:9.2}"
        )
    }
}
