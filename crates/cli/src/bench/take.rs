//! `sinew bench take`: the disk space of a long take, and how fast its frames load and edits restart it.
//!
//! The dancer is recorded as `sinew simulate -o NAME.take` does. Jumps load the exact state of random frames; an edit changes the material of its flesh, which is the costliest change, at a random
//! frame, from the edit as text to a player that is ready to step.

use super::write_report;
use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{atomic_file, plan_files};
use crate::run::Run;
use clap::Args;
use serde::Serialize;
use sinew_character::TakeSettings;
use sinew_files::{Replace, ScratchFolder};
use sinew_io::{
    CapturedFiles, CharacterChoice, Existing, SceneFile, TakeEditor, TakeFile, TakeOrigin, TakeRecipe,
    TakeRecorder, Up, read_edits,
};
use sinew_take::Scene;
use sinew_zoo::source;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Record a long take of a character, jump to its frames, and edit it.
#[derive(Args)]
pub(super) struct TakeBench {
    /// Write the rows as JSON, with a description of the machine.
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,

    /// The character or scene that is recorded.
    #[arg(long, value_name = "SCENE", default_value = "dancer")]
    scene: PathBuf,

    /// The length of the take (s).
    #[arg(long, value_name = "S", default_value_t = 600.0)]
    seconds: f64,

    /// How many jumps are measured.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    jumps: usize,

    /// How many edits are measured.
    #[arg(long, value_name = "N", default_value_t = 20)]
    edits: usize,

    /// The folder for the take, which is deleted afterwards [default: the one for temporary files].
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Also replace a file that Sinew did not write.
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    scene: String,
    nodes: usize,
    frames: usize,
    bytes: u64,
    bytes_per_frame: f64,
    /// Bytes of the same states without compression.
    raw_bytes_per_frame: f64,
    record_seconds: f64,
    open_ms: f64,
    jump_ms_p50: f64,
    jump_ms_p99: f64,
    jump_ms_max: f64,
    edit_restart_ms: f64,
    edit_restart_ms_max: f64,
    /// The largest memory of the process (MB); 0 where the system does not say.
    memory_mb: f64,
}

impl TakeBench {
    pub(super) fn run(self) -> Result<(), Failure> {
        let replace = if self.force { Replace::Any } else { Replace::Ours };
        plan_files(&self.json, replace)?;
        let file = self.json.as_deref().map(atomic_file).transpose()?;
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        let folder = ScratchFolder::create_in(&folder).map_err(Failure::input)?;
        let row = self.measure(&folder.path().join("bench.take"))?;
        tell!(
            "{}: {} frames of {} nodes, {:.1} MB, {:.1} kB per frame ({:.1} kB without compression)",
            row.scene,
            row.frames,
            row.nodes,
            1e-6 * row.bytes as f64,
            1e-3 * row.bytes_per_frame,
            1e-3 * row.raw_bytes_per_frame
        );
        tell!(
            "open {:.1} ms; jump {:.2} ms (p50), {:.2} ms (p99), {:.2} ms (max); edit to stepping {:.1} ms (p50), {:.1} ms (max); memory {:.0} MB",
            row.open_ms,
            row.jump_ms_p50,
            row.jump_ms_p99,
            row.jump_ms_max,
            row.edit_restart_ms,
            row.edit_restart_ms_max,
            row.memory_mb
        );
        let row = serde_json::to_value(row).map_err(Failure::input)?;
        write_report(file, vec![row])
    }

    fn measure(&self, path: &Path) -> Result<Row, Failure> {
        // record
        let mut opened = source::open(Some(&self.scene), &CharacterChoice::default())?.value;
        opened.scene.seconds = self.seconds;
        let mut run = Run::build(&opened.scene)?;
        let start = Instant::now();
        let recipe = TakeRecipe {
            sinew: env!("CARGO_PKG_VERSION").into(),
            origin: TakeOrigin::BuiltIn(opened.scene.name.clone()),
            settings: TakeSettings {
                seconds: self.seconds,
                fps: opened.scene.fps,
                ..TakeSettings::default()
            },
            model_hash: run.player.model.hash(),
            files: CapturedFiles::default(),
        };
        let mut recorder =
            TakeRecorder::create(path, &recipe, Existing::ReplaceAny).map_err(Failure::input)?;
        run.play(&FrameLoop::replaying(), Some(&mut recorder), None)?;
        drop(recorder);
        let record_seconds = start.elapsed().as_secs_f64();

        // open and jump
        let (take, open_ms) = timed(|| TakeFile::open_quickly(path));
        let take = take?;
        let mut random = Random(0x5eed);
        let (mut jumps, mut raw) = (Vec::new(), 0);
        for _ in 0..self.jumps.max(1) {
            let frame = random.below(take.frame_count());
            let (state, ms) = timed(|| -> Result<_, Failure> {
                let bookmark =
                    take.bookmark_at(frame)?.ok_or_else(|| Failure::input("a frame is missing"))?;
                raw = bookmark.checkpoint.as_bytes().len();
                bookmark.checkpoint.restore(run.player.first_model()).map_err(Failure::input)
            });
            state?;
            jumps.push(ms);
        }
        jumps.sort_by(f64::total_cmp);

        // edit
        let (frames, bytes) = (take.frame_count(), take.file_bytes());
        let mut editor = TakeEditor::begin(take).map_err(Failure::input)?;
        let mut restarts = Vec::new();
        for _ in 0..self.edits.max(1) {
            let frame = random.below(frames - 1);
            let (done, ms) = timed(|| restart(&mut editor, &mut run, &opened.scene, frame));
            done?;
            restarts.push(ms);
            run.player.advance()?;
            editor.undo().map_err(Failure::input)?;
        }
        restarts.sort_by(f64::total_cmp);
        Ok(Row {
            name: "take",
            scene: opened.scene.name.clone(),
            nodes: run.player.model.node_count(),
            frames,
            bytes,
            bytes_per_frame: bytes as f64 / frames as f64,
            raw_bytes_per_frame: raw as f64,
            record_seconds,
            open_ms,
            jump_ms_p50: quantile(&jumps, 0.5),
            jump_ms_p99: quantile(&jumps, 0.99),
            jump_ms_max: quantile(&jumps, 1.0),
            edit_restart_ms: quantile(&restarts, 0.5),
            edit_restart_ms_max: quantile(&restarts, 1.0),
            memory_mb: peak_memory_mb(),
        })
    }
}

/// Edits a take at a frame, from the text of the edit to a player that is ready to step.
fn restart(editor: &mut TakeEditor, run: &mut Run, scene: &Scene, frame: usize) -> Result<(), Failure> {
    let (time, body) = (frame as f64 / scene.fps, &scene.world.bodies[0].name);
    let text = format!(
        "[[edit]]\ntime = {time:?}\nbody = [{{ name = {body:?}, material = {{ young = 30000 }} }}]\n"
    );
    let edits = SceneFile::of_text(&text).map_err(Failure::input)?.value.edit;
    let changes = read_edits(&edits, scene, Up::against(scene.world.gravity)).map_err(Failure::input)?;
    run.player.edit(&Scene { edits: changes, ..scene.clone() })?;
    editor.set_edits(edits).map_err(Failure::input)?;
    let bookmark = editor.take().bookmark_at(frame)?.ok_or_else(|| Failure::input("a frame is missing"))?;
    run.player.resume_from(&bookmark).map_err(Failure::input)
}

/// The result of some work, and its time (ms).
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = work();
    (done, 1e3 * start.elapsed().as_secs_f64())
}

/// The smallest number that this fraction of sorted numbers does not exceed.
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let index = (fraction * sorted.len() as f64).ceil() as usize;
    sorted.get(index.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0.0)
}

/// The largest resident memory of this process (MB), as Linux counts it.
fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

/// Pseudo-random numbers (Knuth's linear congruential generator), the same in every run.
struct Random(u64);

impl Random {
    /// A number below a limit above 0.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}
