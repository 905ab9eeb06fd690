//! `sinew simulate`: a scene in, a take out.

use crate::failure::Failure;
use crate::source::{self, Source};
use crate::stats::{Stats, Timing};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sinew_control::Lead;
use sinew_io::{
    CharacterFrames, CharacterOptions, GlbOptions, GlbSink, ObjSequence, PendingFile, PointCacheFormat,
    PointCacheSink, Preview, PreviewOptions, Up, UsdaSink,
};
use sinew_take::{FrameSink, Player, Scene};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Simulate a scene and write what came out.
#[derive(Args, Default)]
pub(crate) struct Simulate {
    /// A character (.glb, .gltf, .vrm), a scene (.toml), a motion (.bvh), a mesh (.obj, .ply, .stl, TetGen .node/.ele) or a name: starfish, jelly-torus, beam.
    ///
    /// A character file gets flesh and plays its animation. A bare motion gets a figure of flesh around its joints. A bare mesh becomes jelly that hangs by its topmost part and sways. Without INPUT a ring of jelly is simulated.
    input: Option<PathBuf>,

    /// Free the root of every skeleton, so that flesh pushes its bones [default: as the scene says; bones lead].
    #[arg(long, conflicts_with = "ragdoll")]
    two_way: bool,

    /// Let all joints of every skeleton go limp.
    #[arg(long)]
    ragdoll: bool,

    /// The animation of a character file to play, by name or number from 0 [default: the first].
    #[arg(long, value_name = "NAME")]
    animation: Option<String>,

    /// A captured motion for a character file, carried over by the names or the build of its bones.
    #[arg(long, value_name = "FILE.bvh", conflicts_with = "animation")]
    motion: Option<PathBuf>,

    /// Begin at once, without letting flesh settle in the first pose.
    #[arg(long)]
    no_settle: bool,

    /// Where the result goes: NAME.glb, NAME.usda, a point cache NAME.pc2 or NAME.mdd, or a folder for one .obj per frame [default: the scene's name, .glb].
    ///
    /// A point cache has the surface at rest beside it, NAME-rest.obj, to put it on; with several bodies each has its own, NAME-BODY.pc2 and NAME-BODY-rest.obj.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// How long to simulate, in seconds [default: as the scene says].
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,

    /// Frames per second [default: as the scene says].
    #[arg(long, value_name = "N")]
    fps: Option<f64>,

    /// Threads to work with; the result has the same bits for any number [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Write masses, sizes, timings and the hash of the last state as JSON.
    #[arg(long, value_name = "FILE.json")]
    stats: Option<PathBuf>,

    /// Print those statistics as JSON instead of a summary.
    #[arg(long)]
    json: bool,

    /// The most morph targets that a body's motion is written with, up to 240; more follow it more closely, some viewers take fewer [default: 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=240))]
    morph_targets: Option<u16>,

    /// Do not draw the preview picture beside the output.
    #[arg(long)]
    no_preview: bool,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let pool = thread_pool(self.threads)?;
        let opened = source::open(self.input.as_deref(), &self.character_options())?;
        opened.notes.iter().for_each(|note| warn!("note: {note}"));
        let mut source = opened.value;
        let scene = source.scene_mut();
        scene.seconds = self.seconds.unwrap_or(scene.seconds);
        scene.fps = self.fps.unwrap_or(scene.fps);
        let lead = if self.ragdoll { Some(Lead::Ragdoll) } else { self.two_way.then_some(Lead::TwoWay) };
        if let Some(lead) = lead {
            scene.performances.iter_mut().for_each(|performance| performance.lead_by(lead));
        }

        if self.no_settle {
            scene.warm_up = 0.0;
        }
        let scene = source.scene();
        let output = self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.glb", scene.name)));
        let mut outputs = self.outputs(&output, scene)?;
        self.check_collisions(&outputs.files)?;
        let stats_file = self.stats.as_deref().map(pending).transpose()?;
        let stats = pool.install(|| self.simulate(&source, &mut outputs))?;

        if let Some(mut file) = stats_file {
            let write = |file: &mut PendingFile| file.write_all(stats.to_json().as_bytes());
            write(&mut file)
                .and_then(|()| file.commit())
                .map_err(|e| Failure::input(format!("stats: {e}")))?;
        }
        outputs.warn_of_losses();
        if self.json {
            say!("{}", stats.to_json());
        } else {
            outputs.print(&stats);
        }
        Ok(())
    }

    /// Where this take goes; nothing is opened yet.
    fn outputs(&self, output: &Path, scene: &Scene) -> Result<Outputs, Failure> {
        let up = Up::against(scene.world.gravity);
        let extension = output.extension().map(|e| e.to_string_lossy().to_lowercase());
        let take = match extension.as_deref() {
            Some("glb") => {
                let frame_count = Some(scene.frame_count() + 1);
                let usual = GlbOptions::default();
                let component_limit = self.morph_targets.map_or(usual.component_limit, usize::from);
                Take::Glb(GlbSink::new(output, GlbOptions { frame_count, up, component_limit, ..usual }))
            }
            Some("pc2") => Take::Cache(PointCacheSink::new(output, PointCacheFormat::Pc2)),
            Some("mdd") => Take::Cache(PointCacheSink::new(output, PointCacheFormat::Mdd)),
            Some("usda") => Take::Usda(UsdaSink::new(output, up)),
            None => Take::Objs(ObjSequence::new(output)),
            Some(other) => {
                return Err(Failure::input(format!(
                    "{}: takes are written as .glb, .usda, .pc2 or .mdd, or as a folder of .obj files when OUT has no extension, not as .{other}",
                    output.display()
                )));
            }
        };
        let picture = output.with_extension("png");
        let preview = (!self.no_preview).then(|| {
            Preview::new(&picture, PreviewOptions { up, turn: PREVIEW_TURN, ..PreviewOptions::default() })
        });
        let mut files = match &take {
            Take::Cache(cache) => cache.files(scene.world.bodies.iter().map(|body| body.name.as_str())),
            _ => vec![output.to_path_buf()],
        };
        files.extend(preview.is_some().then_some(picture));
        Ok(Outputs { take, preview, files })
    }

    /// No output may overwrite another, or the input.
    fn check_collisions(&self, files: &[PathBuf]) -> Result<(), Failure> {
        let paths: Vec<&PathBuf> = self.input.iter().chain(files).chain(&self.stats).collect();
        for (i, path) in paths.iter().enumerate() {
            if paths[..i].contains(path) {
                let path = path.display();
                return Err(Failure::input(format!(
                    "{path} is named twice: give every file a name of its own"
                )));
            }
        }
        Ok(())
    }

    fn character_options(&self) -> CharacterOptions {
        let (animation, motion) = (self.animation.clone(), self.motion.clone());
        CharacterOptions { animation, motion, ..CharacterOptions::default() }
    }

    fn simulate(&self, source: &Source, outputs: &mut Outputs) -> Result<Stats, Failure> {
        let start = Instant::now();
        let mut player = Player::build(source.scene())?;
        let build_seconds = start.elapsed().as_secs_f64();
        for body in &player.model.bodies {
            body.notes.iter().for_each(|note| warn!("note: {}: {note}", body.name));
        }

        let bar = progress_bar(player.frame_count());
        let start = Instant::now();
        let mut sinks = outputs.sinks();
        let watch = |frame| bar.set_position(frame as u64);
        let played = match source.character() {
            None => player.play(&mut sinks, watch),
            Some(character) => {
                let mut of_file: Vec<_> =
                    sinks.into_iter().map(|sink| CharacterFrames::new(character, sink)).collect();
                let mut sinks: Vec<&mut dyn FrameSink> =
                    of_file.iter_mut().map(|sink| sink as &mut dyn FrameSink).collect();
                player.play(&mut sinks, watch)
            }
        };
        bar.finish_and_clear();
        played?;
        let timing = Timing { build_seconds, wall_seconds: start.elapsed().as_secs_f64() };
        Ok(Stats::of(&player, timing))
    }
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
pub(crate) fn pending(path: &Path) -> Result<PendingFile, Failure> {
    PendingFile::create(path).map_err(|e| Failure::input(format!("{}: {e}", path.display())))
}

fn progress_bar(frames: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {eta} left");
    ProgressBar::new(frames as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Where a take goes.
struct Outputs {
    take: Take,
    preview: Option<Preview>,
    files: Vec<PathBuf>,
}

enum Take {
    Glb(GlbSink),
    Objs(ObjSequence),
    Cache(PointCacheSink),
    Usda(UsdaSink),
}

impl Outputs {
    fn sinks(&mut self) -> Vec<&mut dyn FrameSink> {
        let take: &mut dyn FrameSink = match &mut self.take {
            Take::Glb(glb) => glb,
            Take::Objs(objs) => objs,
            Take::Cache(cache) => cache,
            Take::Usda(usda) => usda,
        };
        let preview = self.preview.as_mut().map(|preview| preview as &mut dyn FrameSink);
        [take].into_iter().chain(preview).collect()
    }

    /// Says where morph targets do not follow the take as closely as they should.
    fn warn_of_losses(&self) {
        if let Take::Glb(glb) = &self.take
            && let Some(report) = glb.report()
        {
            report.bodies.iter().filter(|body| !body.is_met()).for_each(|body| warn!("note: {body}"));
        }
    }

    fn print(&self, stats: &Stats) {
        say!("{stats}");
        if let Take::Glb(glb) = &self.take
            && let Some(report) = glb.report()
        {
            report.bodies.iter().filter(|body| body.is_met()).for_each(|body| say!("{body}"));
        }
        for file in &self.files {
            say!("wrote {}", file.display());
        }
        if let Take::Glb(_) = self.take {
            say!("The .glb plays in Blender, in game engines and in any glTF viewer.");
        }
        if let Take::Cache(_) = self.take {
            say!("In Blender: import the -rest.obj, add the modifier Mesh Cache and choose the cache.");
        }
        if self.preview.is_some() {
            say!("The .png shows six moments of the take.");
        }
    }
}

/// The camera of previews stands a little to the side (degrees), where shapes read better than from straight ahead.
const PREVIEW_TURN: f64 = -25.0;
