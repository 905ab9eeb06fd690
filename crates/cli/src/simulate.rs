//! `sinew simulate`: a scene in, a take out.

use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{self, OutputOptions, is_take, plan_files};
use crate::resume;
use crate::source;
use crate::stats::{Stats, Timing};
use crate::wall_clock::WallClock;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sinew_character::TakeSettings;
use sinew_control::DriveMode;
use sinew_io::{
    AtomicFile, CapturedFiles, CharacterChoice, Existing, OpenedScene, SinkOptions, SinkPlan, TakeRecipe,
    TakeRecorder, TakeSink,
};
use sinew_sim::SolverKind;
use sinew_take::{FrameSink, Player, Scene};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Simulate a scene and write what came out.
#[derive(Args, Default)]
pub(crate) struct Simulate {
    /// A character (.glb, .gltf, .vrm), a scene (.toml), a motion (.bvh), a mesh (.obj, .ply, .stl, TetGen .node/.ele) or a name that `sinew zoo list` shows.
    ///
    /// A character file gets flesh and plays its animation. A bare motion gets a figure of flesh around its joints. A bare mesh becomes jelly that hangs by its topmost part and sways. Without INPUT the dancer is simulated.
    input: Option<PathBuf>,

    /// Free the root of every skeleton, so that flesh pushes its bones [default: as the scene says; bones lead].
    #[arg(long, conflicts_with = "ragdoll")]
    two_way: bool,

    /// Let all joints of every skeleton go limp.
    #[arg(long)]
    ragdoll: bool,

    /// Put a floor under a character whose root is led, too.
    #[arg(long, conflicts_with = "no_floor")]
    floor: bool,

    /// Put no floor under a character whose root is freed in a scene without obstacles.
    #[arg(long)]
    no_floor: bool,

    /// Let every body touch itself, and the others: arms on flanks, thighs on bellies.
    #[arg(long)]
    self_contact: bool,

    /// The animation of a character file to play, by name or number from 0 [default: the first].
    #[arg(long, value_name = "NAME")]
    animation: Option<String>,

    /// A captured motion for a character file, carried over by the names or the build of its bones.
    #[arg(long, value_name = "FILE.bvh", conflicts_with = "animation")]
    motion: Option<PathBuf>,

    /// Make a cycle seamless: play it until flesh swings alike in every one, then write one whose last frame is its first.
    #[arg(long = "loop", conflicts_with_all = ["seconds", "no_preroll"])]
    is_loop: bool,

    /// How steps are taken: many small explicit ones that keep energy, one implicit one per frame that is stable and damps (little if the scene asks for second order), or whichever costs less [default: as the scene says; explicit].
    #[arg(long, value_name = "KIND", value_parser = solver_kind)]
    solver: Option<SolverKind>,

    /// Begin at once, without letting flesh settle in the first pose.
    #[arg(long, alias = "no-settle")]
    no_preroll: bool,

    /// Where the result goes: NAME.glb, NAME.usda, a point cache NAME.pc2 or NAME.mdd, a folder for one .obj per frame, or NAME.take to record it [default: the scene's name, .glb].
    ///
    /// The .glb of a character file is the file itself with its flesh as morph targets under its own skinning; that of other flesh on bones has
    /// their skeleton. In a scene with other bodies each character from a file is written to NAME-CHARACTER.glb, and NAME.glb has the rest.
    /// A point cache has the surface at rest beside it, NAME-rest.obj, to put it on; with several bodies each has its own, NAME-BODY.pc2 and NAME-BODY-rest.obj.
    /// A take is recorded while the simulation runs and is useful at any time: `sinew bake` converts what there is of it, and --resume goes on
    /// with it after a crash.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Go on with a recorded take that was interrupted, up to the length first asked for. All it needs is in the take.
    #[arg(long, value_name = "NAME.take", conflicts_with_all = ["input", "two_way", "ragdoll", "animation", "motion", "no_preroll", "is_loop", "solver", "output", "seconds", "fps", "floor", "no_floor", "self_contact"])]
    resume: Option<PathBuf>,

    /// How long to simulate, in seconds [default: as the scene says].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seconds: Option<f64>,

    /// Frames per second [default: as the scene says].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    fps: Option<f64>,

    /// Threads to work with; the result has the same bits for any number [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Write masses, sizes, timings and the hash of the last state as JSON.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) stats: Option<PathBuf>,

    /// Print those statistics as JSON instead of a summary.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) options: OutputOptions,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let pool = thread_pool(self.threads)?;
        if let Some(take) = self.input.as_deref().filter(|input| is_take(input)) {
            let take = take.display();
            return Err(Failure::input(format!(
                "{take} is a take, not a scene: `sinew simulate --resume {take}` goes on with it, `sinew bake {take} -o OUT` converts it"
            )));
        }
        match &self.resume {
            Some(take) => resume::run(&self, take, &pool),
            None => self.start(&pool),
        }
    }

    fn start(&self, pool: &rayon::ThreadPool) -> Result<(), Failure> {
        let choice = CharacterChoice { animation: self.animation.clone(), motion: self.motion.clone() };
        let (opened, origin, files) = source::open_to_record(self.input.as_deref(), &choice)?;
        opened.notes.iter().for_each(|note| warn!("note: {note}"));
        let mut source = opened.value;
        let folder = self.input.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let floor = self.floor(&source);
        let scene = &mut source.scene;
        scene.fps = self.fps.unwrap_or(scene.fps);
        // tried on a copy: the settings do it to the scene itself, now and when the take is opened again
        let mut cycle = scene.clone();
        if self.is_loop && !cycle.make_loop() {
            return Err(Failure::input(
                "--loop needs a motion that ends where it begins: this one does not, or there is none; in a scene, set motion.loop",
            ));
        }
        let scene_as_played = if self.is_loop { &cycle } else { &*scene };
        let (seconds, fps) = (scene_as_played.seconds, scene_as_played.fps);
        let settings = TakeSettings {
            seconds: self.seconds.unwrap_or(seconds),
            fps,
            lead: if self.ragdoll {
                Some(DriveMode::Ragdoll)
            } else {
                self.two_way.then_some(DriveMode::TwoWay)
            },
            animation: self.animation.clone(),
            motion: self.motion.as_deref().map(|motion| CapturedFiles::name_of(folder, motion)),
            without_preroll: self.no_preroll,
            is_loop: self.is_loop,
            floor,
            self_contact: self.self_contact,
            solver: self.solver,
        };
        settings.apply(scene);
        if settings.lead.is_some() && scene.world.rigs.is_empty() {
            warn!("note: there are no bones to free: --two-way and --ragdoll change nothing");
        }
        note_floor(scene, floor);
        let scene = &source.scene;

        let output = self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.glb", scene.name)));
        let options = SinkOptions { is_loop: self.is_loop, ..self.options.sink(&output, &source) };
        let plan = SinkPlan::new(&output, &source, &options)?;
        plan_files(plan.files().iter().chain(&self.stats), self.options.replace())?;
        let existing = if self.options.force { Existing::ReplaceAny } else { Existing::ReplaceComplete };
        if is_take(&output) {
            TakeRecorder::check(&output, existing).map_err(Failure::input)?;
        }
        let stats_file = self.stats_file()?;
        // nobody needs the files twice unless they are recorded
        let files = if is_take(&output) { files } else { CapturedFiles::default() };
        let begin = |player: &Player| {
            let (sinew, model_hash) = (env!("CARGO_PKG_VERSION").into(), player.model.hash());
            let recipe = TakeRecipe { sinew, origin, settings, model_hash, files };
            TakeRecorder::create(&output, &recipe, existing).map_err(Failure::input)
        };
        let (stats, written) = pool.install(|| {
            let mut run = Run::build(scene)?;
            let mut sink = plan.open(&run.player.model)?;
            let mut recorder = is_take(&output).then(|| begin(&run.player)).transpose()?;
            let frame_loop = FrameLoop::simulating(is_take(&output).then_some(&*output));
            let stats = run.play(&frame_loop, recorder.as_mut(), Some(&mut sink))?;
            Ok::<_, Failure>((stats, sink.report()))
        })?;
        outputs::warn_of_losses(&written);
        self.report(&stats, stats_file)?;
        if !self.json {
            outputs::print(&written);
        }
        Ok(())
    }

    /// Where a floor is needed: under skeletons whose root is freed, or where it is asked for, in a scene with gravity and no obstacles.
    fn floor(&self, source: &OpenedScene) -> Option<f64> {
        let world = &source.scene.world;
        let falls = (self.two_way || self.ragdoll || self.floor) && !world.rigs.is_empty();
        let falls = falls && world.obstacles.is_empty();
        if falls && !self.no_floor { source.lowest_height() } else { None }
    }

    /// Whether statistics are asked for.
    pub(crate) fn wants_stats(&self) -> bool {
        self.json || self.stats.is_some()
    }

    /// The file for statistics, made before any work is done.
    pub(crate) fn stats_file(&self) -> Result<Option<AtomicFile>, Failure> {
        if let Some(path) = self.stats.as_deref().filter(|path| is_take(path)) {
            let path = path.display();
            return Err(Failure::input(format!("{path}: statistics are written as JSON: give NAME.json")));
        }
        self.stats.as_deref().map(atomic_file).transpose()
    }

    /// Writes and prints statistics as asked for.
    pub(crate) fn report(&self, stats: &Stats, file: Option<AtomicFile>) -> Result<(), Failure> {
        if let Some(mut file) = file {
            let written = file.write_all(stats.to_json().as_bytes());
            written.and_then(|()| file.commit()).map_err(|e| Failure::input(format!("stats: {e}")))?;
        }
        if self.json {
            say!("{}", stats.to_json());
        } else {
            say!("{stats}");
        }
        Ok(())
    }
}

/// A scene being played, with clocks.
pub(crate) struct Run {
    pub(crate) player: Player,
    build_seconds: f64,
}

impl Run {
    /// Builds the scene and says what was found about its bodies.
    pub(crate) fn build(scene: &Scene) -> Result<Run, Failure> {
        let start = Instant::now();
        let mut player = Player::build(scene)?;
        player.set_clock(WallClock::shared());
        let build_seconds = start.elapsed().as_secs_f64();
        for body in player.model.bodies() {
            body.notes.iter().for_each(|note| warn!("note: {}: {note}", body.name));
        }
        Ok(Run { player, build_seconds })
    }

    /// Plays what is left of the scene, unless an interrupt stops it.
    pub(crate) fn play(
        &mut self,
        frame_loop: &FrameLoop,
        recorder: Option<&mut TakeRecorder>,
        sink: Option<&mut TakeSink>,
    ) -> Result<Stats, Failure> {
        let sinks: &mut Vec<&mut dyn FrameSink> =
            &mut sink.into_iter().map(|sink| sink as &mut dyn FrameSink).collect();
        let bar = progress_bar(self.player.frame_count());
        let watch = |frame| {
            bar.set_position(frame as u64);
            frame_loop.flow()
        };
        let begun_at = self.player.state.time.max(0.0);
        let start = Instant::now();
        let played = match recorder {
            Some(recorder) => self.player.record(recorder, sinks, watch),
            None => self.player.play(sinks, watch),
        };
        bar.finish_and_clear();
        played?;
        Ok(self.stats(start.elapsed().as_secs_f64(), begun_at))
    }

    /// What the take amounts to, after so much time by the clock and from so far into it (s).
    pub(crate) fn stats(&self, wall_seconds: f64, begun_at: f64) -> Stats {
        let build_seconds = self.build_seconds;
        Stats::of(&self.player, Timing { build_seconds, wall_seconds, begun_at })
    }
}

/// Says where a floor was put, and where one is missing.
fn note_floor(scene: &Scene, floor: Option<f64>) {
    let falls =
        scene.performances.iter().any(|performance| performance.cues.iter().any(|cue| cue.time == 0.0));
    if let Some(height) = floor {
        warn!(
            "note: a floor is put at {height:.3} m, as low as the character reaches: --no-floor leaves it out"
        );
    }
    if falls && scene.world.gravity.norm() > 0.0 && scene.world.obstacles.is_empty() {
        warn!(
            "note: there is no floor: with its root free a character falls; write a scene with gravity = [0, 0, 0] to let it float"
        );
    }
}

/// The kind of solver of a name.
fn solver_kind(name: &str) -> Result<SolverKind, String> {
    SolverKind::named(name).ok_or_else(|| "explicit, implicit and auto are known".to_owned())
}

/// A pool of the threads asked for.
pub(crate) fn thread_pool(threads: Option<usize>) -> Result<rayon::ThreadPool, Failure> {
    if threads == Some(0) || threads > Some(1024) {
        return Err(Failure::input("--threads takes a number from 1 to 1024"));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|e| Failure::input(format!("no threads to work with: {e}")))
}

/// An output file, made before any work is done so that a bad path is known at once.
pub(crate) fn atomic_file(path: &Path) -> Result<AtomicFile, Failure> {
    AtomicFile::create(path).map_err(|e| Failure::input(format!("{}: {e}", path.display())))
}

pub(crate) fn progress_bar(frames: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {eta} left");
    ProgressBar::new(frames as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
