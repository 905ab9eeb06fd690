//! `sinew simulate`: simulates a scene and writes or records the take.

mod again;
mod clips;

use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{self, OutputOptions, is_take, plan_files};
use crate::report::{Verbosity, verbosity};
use crate::resume::{self, Goal};
use crate::run::Run;
use crate::stats::StatsOptions;
use crate::summary::Summary;
use crate::threads::thread_pool;
use crate::verdict::Chosen;
use clap::Args;
use sinew_character::TakeSettings;
use sinew_control::DriveMode;
use sinew_io::{
    CapturedFiles, CharacterChoice, EditTable, Existing, OpenedScene, SinkOptions, SinkPlan, TakeOrigin,
    TakeRecipe, TakeRecorder, edit_tables,
};
use sinew_sim::SolverKind;
use sinew_take::{Player, Scene};
use sinew_zoo::source;
use std::path::{Path, PathBuf};

/// Simulate a character, scene or mesh, and write its motion.
#[derive(Args, Default)]
pub(crate) struct Simulate {
    /// A character (.glb, .gltf, .vrm, .fbx), a scene (.toml), a motion (.bvh), a mesh (.obj, .ply, .stl, TetGen .node/.ele), or a name from `sinew zoo list` [default: dancer].
    ///
    /// A character is given flesh and plays its animation. A motion is given a body of flesh around its joints. A mesh becomes jelly that hangs from its top and sways. A recorded take (.take) is simulated again,
    /// with its edits, if --resolution is given.
    input: Option<PathBuf>,

    /// Two-way coupling: free the root bone of every skeleton, so that flesh also moves the bones [default: as in the scene; the animation drives all bones].
    #[arg(long, conflicts_with = "ragdoll")]
    two_way: bool,

    /// Turn every skeleton into a ragdoll: no animation drives its joints.
    #[arg(long)]
    ragdoll: bool,

    /// Add a floor under the character even if the animation drives its root bone.
    #[arg(long, conflicts_with = "no_floor")]
    floor: bool,

    /// Do not add a floor with --two-way and --ragdoll; by default one is added if the scene has no obstacles.
    #[arg(long)]
    no_floor: bool,

    /// Let every body collide with itself and with the others, such as an arm with the chest.
    #[arg(long)]
    self_contact: bool,

    /// The animation of a character file to play, by name or by number counted from 0 [default: the first].
    ///
    /// Several, as `Idle,Run`, or `all`: each is simulated, with a softness that fits all of them, and one .glb has the flesh of each. They come first in the file, in this order.
    /// Animations that were not simulated play without flesh.
    #[arg(long, value_name = "NAME")]
    animation: Option<String>,

    /// A motion capture file (.bvh), or another character file whose first animation is taken (.fbx, .glb, .gltf, .vrm), to play on a character file, retargeted by the names of its bones or the shape of its skeleton.
    #[arg(long, value_name = "FILE", conflicts_with = "animation")]
    motion: Option<PathBuf>,

    /// How much the flesh of character files swings: 0 hardly, 1 as flesh does, 2 as in a cartoon [default: as in the scene; 1].
    #[arg(long, value_name = "J", value_parser = parse_jiggle, allow_negative_numbers = true)]
    jiggle: Option<f64>,

    /// A table (.csv) of points at rest with their softness, x,y,z,softness: 0 is rigid, 1 as chosen, at most 10. The studio paints it.
    #[arg(long, value_name = "FILE.csv")]
    softness: Option<PathBuf>,

    /// Make cloth of a bare mesh, hung by two corners, instead of jelly: of cotton, or of the fabric after `=`, as `--cloth=silk`.
    #[arg(long, value_name = "FABRIC", num_args = 0..=1, require_equals = true, default_missing_value = "cotton")]
    cloth: Option<String>,

    /// Metres per unit of a .bvh motion [default: the unit in which the figure's legs are as long as a person's].
    #[arg(long, value_name = "METRES")]
    motion_scale: Option<f64>,

    /// Make a seamless loop: repeat a cyclic motion until flesh moves the same way in every cycle, then write one cycle whose last frame equals its first.
    #[arg(long = "loop", conflicts_with_all = ["seconds", "no_preroll"])]
    is_loop: bool,

    /// The solver: explicit takes many small steps and conserves energy; implicit takes one stable step per frame and damps the motion (only slightly if the scene asks for second order); auto takes the faster one [default: as in the scene; explicit].
    #[arg(long, value_name = "KIND", value_parser = solver_kind)]
    solver: Option<SolverKind>,

    /// Skip the preroll, in which flesh settles in the first pose.
    #[arg(long, alias = "no-settle")]
    no_preroll: bool,

    /// The file to write: NAME.glb, NAME.usda, NAME.abc, a point cache NAME.pc2 or NAME.mdd, a folder for one .obj per frame, or NAME.take to record the take [default: SCENE.glb].
    ///
    /// The .glb of a character file keeps the file's own skeleton and skinning, and adds the motion of the flesh as morph targets. Other flesh on bones is written
    /// with its skeleton. In a scene with several bodies, each character from a file is written to NAME-CHARACTER.glb, and all else to NAME.glb.
    /// A point cache fits the mesh of the character file as Blender imports it, and comes with a mesh to apply it to, NAME-rest.obj; with several meshes, each has its own NAME-MESH.pc2 and
    /// NAME-MESH-rest.obj. Images of materials go to the folder NAME-textures, also those of a .usda.
    /// A take is recorded while the simulation runs and can be used at any time: `sinew bake` converts the frames recorded so far, and --resume
    /// continues it after a crash.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Continue a take that was interrupted or edited, up to the length first asked for. The take contains everything that is needed.
    #[arg(long, value_name = "NAME.take", conflicts_with_all = ["input", "two_way", "ragdoll", "animation", "motion", "motion_scale", "jiggle", "softness", "cloth", "no_preroll", "is_loop", "solver", "output", "seconds", "fps", "floor", "no_floor", "self_contact", "resolution"])]
    resume: Option<PathBuf>,

    /// Record past the end of a take, by --seconds more.
    #[arg(long, value_name = "NAME.take", requires = "seconds", conflicts_with_all = ["resume", "input", "two_way", "ragdoll", "animation", "motion", "motion_scale", "jiggle", "softness", "cloth", "no_preroll", "is_loop", "solver", "output", "fps", "floor", "no_floor", "self_contact", "resolution"])]
    extend: Option<PathBuf>,

    /// The approximate number of tets of every cage around a surface, in place of the scene's. With a take as input, a motion that was directed with coarse cages is simulated again with fine ones, and the same edits.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20_000_000))]
    resolution: Option<u32>,

    /// The length of the take (s) [default: as in the scene]; with --extend, the time to add to it.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seconds: Option<f64>,

    /// Frames per second [default: as in the scene].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    fps: Option<f64>,

    /// The number of threads; the result does not depend on it [default: one per core].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    #[command(flatten)]
    stats: StatsOptions,

    #[command(flatten)]
    options: OutputOptions,
}

/// What a take is recorded with, beside its model.
struct Recipe {
    origin: TakeOrigin,
    settings: TakeSettings,
    files: CapturedFiles,
    /// Edits in place of those of the scene file.
    edits: Option<Vec<EditTable>>,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let pool = thread_pool(self.threads)?;
        if let Some(take) = self.input.as_deref().filter(|input| is_take(input)) {
            return again::run(&self, take, &pool);
        }
        let goal = self.extend.as_ref().map_or(Goal::Complete, |_| Goal::Longer(self.seconds.unwrap_or(0.0)));
        match self.resume.as_ref().or(self.extend.as_ref()) {
            Some(take) => resume::run(take, goal, &self.stats, &self.options, &pool),
            None => match clips::find(self.input.as_deref(), self.animation.as_deref())? {
                Some(names) => clips::run(&self, &names, &pool),
                None => self.start(&pool),
            },
        }
    }

    /// What is chosen for character files, if this animation is played and others are to look alike.
    fn choice(&self, animation: Option<String>, fitted: &[String]) -> CharacterChoice {
        CharacterChoice {
            animation,
            fitted: fitted.to_vec(),
            motion: self.motion.clone(),
            jiggle: self.jiggle,
            motion_scale: self.motion_scale,
            softness: self.softness.clone(),
            cloth: self.cloth.clone(),
            lead: self.lead(),
        }
    }

    /// The file to write.
    fn output_of(&self, scene: &Scene) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.glb", scene.name)))
    }

    /// Who drives the skeletons, if an option says so.
    fn lead(&self) -> Option<DriveMode> {
        if self.ragdoll { Some(DriveMode::Ragdoll) } else { self.two_way.then_some(DriveMode::TwoWay) }
    }

    /// Simulates a new take.
    fn start(&self, pool: &rayon::ThreadPool) -> Result<(), Failure> {
        // the scene, and how this take plays it
        let choice = self.choice(self.animation.clone(), &[]);
        let (opened, origin, files) = source::open_to_record(self.input.as_deref(), &choice)?;
        opened.notes.iter().for_each(|note| note!("{note}"));
        let notes = opened.notes.len();
        let mut source = opened.value;
        source.scene.fps = self.fps.unwrap_or(source.scene.fps);
        source::check_loop(self.is_loop, !source.scene.edits.is_empty())?;
        let settings = self.settings(&source, self.animation.as_deref())?;
        settings.apply(&mut source.scene);
        note_settings(&source.scene, &settings);
        // built-in scenes have no file that a take could read their edits from
        let edits = match &origin {
            TakeOrigin::BuiltIn(_) => Some(edit_tables(&source.scene).map_err(Failure::input)?),
            TakeOrigin::File(_) => None,
        };
        self.play(&source, Recipe { origin, settings, files, edits }, notes, pool)
    }

    /// Simulates a scene and writes or records it.
    fn play(
        &self,
        source: &OpenedScene,
        recipe: Recipe,
        notes: usize,
        pool: &rayon::ThreadPool,
    ) -> Result<(), Failure> {
        // where the result goes
        let scene = &source.scene;
        let output = self.output_of(scene);
        let is_loop = recipe.settings.is_loop;
        let options = SinkOptions { is_loop, ..self.options.sink(&output, source) };
        let plan = SinkPlan::new(&output, source, &options)?;
        plan_files(plan.files().iter().chain(&self.stats.path), self.options.replace())?;
        let existing = if self.options.force { Existing::ReplaceAny } else { Existing::ReplaceComplete };
        if is_take(&output) {
            TakeRecorder::check(&output, existing).map_err(Failure::input)?;
        }
        let stats_file = self.stats.create_file()?;

        // only a take keeps a copy of the input files
        let Recipe { origin, settings, files, edits } = recipe;
        let (jiggle, lead) = (settings.jiggle, settings.lead);
        let files = if is_take(&output) { files } else { CapturedFiles::default() };
        let begin = |player: &Player| {
            let (sinew, model_hash) = (env!("CARGO_PKG_VERSION").into(), player.model.hash());
            let recipe = TakeRecipe { sinew, origin, settings, model_hash, files };
            TakeRecorder::create_edited(&output, &recipe, edits.as_deref(), existing).map_err(Failure::input)
        };

        // simulate
        let (stats, written, [notes, questions]) = pool.install(|| {
            let mut run = Run::build(scene)?;
            let said = [notes + run.note_count(), run.questions];
            let mut sink = plan.open(&run.player.model)?;
            let mut recorder = is_take(&output).then(|| begin(&run.player)).transpose()?;
            let frame_loop = FrameLoop::simulating(is_take(&output).then_some(&*output));
            let stats = run.play(&frame_loop, recorder.as_mut(), Some(&mut sink))?;
            let written = sink.report();
            Ok::<_, Failure>((stats.with_characters(source, &written), written, said))
        })?;

        // report
        self.stats.report(&stats, stats_file)?;
        let chosen = Chosen::of(jiggle, lead);
        let (hidden_notes, is_json) =
            (if verbosity() == Verbosity::Verbose { 0 } else { notes }, self.stats.json);
        Summary { stats: &stats, written: &written, chosen, questions, hidden_notes, is_json }.print();
        outputs::check_error(&written, &self.options)
    }

    /// The settings of the take: those of the scene, changed by the options.
    fn settings(&self, source: &OpenedScene, animation: Option<&str>) -> Result<TakeSettings, Failure> {
        // length and frame rate, which a loop changes; on a copy, since applying the settings makes the loop
        let mut cycle = source.scene.clone();
        if self.is_loop && !cycle.make_loop() {
            return Err(Failure::input(
                "--loop needs a motion that ends where it begins, but there is no motion or it ends elsewhere; in a scene file, set motion.loop",
            ));
        }
        let scene_as_played = if self.is_loop { &cycle } else { &source.scene };

        // who drives the skeletons
        let lead = self.lead();

        // the motion, by its name among the captured files
        let folder = self.input.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        Ok(TakeSettings {
            seconds: self.seconds.unwrap_or(scene_as_played.seconds),
            fps: scene_as_played.fps,
            lead,
            animation: animation.map(String::from),
            motion: self.motion.as_deref().map(|motion| CapturedFiles::name_of(folder, motion)),
            softness: self.softness.as_deref().map(|painted| CapturedFiles::name_of(folder, painted)),
            cloth: self.cloth.clone(),
            jiggle: self.jiggle,
            motion_scale: self.motion_scale,
            without_preroll: self.no_preroll,
            is_loop: self.is_loop,
            floor: self.floor(source),
            self_contact: self.self_contact,
            solver: self.solver,
            cage_tets: self.resolution.map(|tets| tets as usize),
        })
    }

    /// The height of a floor to add (m): under skeletons whose root bone is free, or if `--floor` asks for it, in a scene with gravity and no obstacles.
    fn floor(&self, source: &OpenedScene) -> Option<f64> {
        let world = &source.scene.world;
        let falls = (self.two_way || self.ragdoll || self.floor) && !world.rigs.is_empty();
        let falls = falls && world.obstacles.is_empty();
        if falls && !self.no_floor { source.lowest_height() } else { None }
    }
}

/// Prints notes on free bones and on the floor.
fn note_settings(scene: &Scene, settings: &TakeSettings) {
    // bones
    if settings.lead.is_some() && scene.world.rigs.is_empty() {
        warn!("WARNING: the scene has no bones: --two-way and --ragdoll change nothing");
    }

    // floor
    if let Some(height) = settings.floor {
        note!(
            "a floor is added at {height:.3} m, the lowest point of the character: --no-floor leaves it out"
        );
    }
    let falls =
        scene.performances.iter().any(|performance| performance.cues.iter().any(|cue| cue.time == 0.0));
    if falls && scene.world.gravity.norm() > 0.0 && scene.world.obstacles.is_empty() {
        warn!(
            "WARNING: there is no floor, so a character whose root bone is free falls; to let it float, write a scene with gravity = [0, 0, 0]"
        );
    }
}

/// Parses a jiggle.
pub(crate) fn parse_jiggle(text: &str) -> Result<f64, String> {
    let jiggle: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=10.0).contains(&jiggle) {
        Ok(jiggle)
    } else {
        Err("give 0 (hardly any) to 10; 1 is as flesh swings".into())
    }
}

/// Parses the name of a solver.
pub(crate) fn solver_kind(name: &str) -> Result<SolverKind, String> {
    SolverKind::named(name).ok_or_else(|| "choose explicit, implicit or auto".to_owned())
}
