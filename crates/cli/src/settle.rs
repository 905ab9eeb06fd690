//! `sinew settle`: solves for the static equilibrium of a scene and writes that shape.

use crate::failure::Failure;
use crate::outputs::{self, OutputOptions, is_take, plan_files};
use crate::simulate::parse_jiggle;
use crate::threads::thread_pool;
use clap::Args;
use sinew_io::{CharacterChoice, SinkOptions, SinkPlan, TakeSink};
use sinew_sim::implicit::SettleReport;
use sinew_take::{Frame, FrameSink, Player, SurfaceInfo};
use sinew_zoo::source;
use std::path::PathBuf;

/// Find the shape in which flesh hangs at rest at one time of a motion, and write it.
///
/// The bones are posed by the motion at that time; joints that no motion drives hang freely. The shape is solved for directly instead of simulated until it stops moving, which takes a second or two however soft the flesh is.
#[derive(Args)]
pub(crate) struct Settle {
    /// A character (.glb, .gltf, .vrm, .fbx), a scene (.toml), a motion (.bvh), a mesh (.obj, .ply, .stl, TetGen .node/.ele), or a name from `sinew zoo list` [default: dancer].
    input: Option<PathBuf>,

    /// The time in the motion (s).
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    time: f64,

    /// The file to write: NAME.glb, NAME.usda, NAME.abc, NAME.pc2, NAME.mdd, or a folder for an .obj file [default: SCENE-settled.glb].
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// The animation of a character file, by name or by number counted from 0 [default: the first].
    #[arg(long, value_name = "NAME")]
    animation: Option<String>,

    /// How much the flesh of a character file swings and sags: 0 hardly, 1 as flesh does, 2 as in a cartoon [default: as in the scene; 1].
    #[arg(long, value_name = "J", value_parser = parse_jiggle, allow_negative_numbers = true)]
    jiggle: Option<f64>,

    /// The number of threads; the result does not depend on it [default: one per core].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    #[command(flatten)]
    options: OutputOptions,
}

impl Settle {
    pub(crate) fn run(self) -> Result<(), Failure> {
        // the scene
        let pool = thread_pool(self.threads)?;
        let choice = CharacterChoice {
            animation: self.animation.clone(),
            jiggle: self.jiggle,
            ..CharacterChoice::default()
        };
        let opened = source::open(self.input.as_deref(), &choice)?;
        opened.notes.iter().for_each(|note| note!("{note}"));
        let source = opened.value;
        let scene = &source.scene;
        if !(0.0..=scene.seconds).contains(&self.time) {
            return Err(Failure::input(format!(
                "--time {}: the scene runs from 0 to {:.3} s",
                self.time, scene.seconds
            )));
        }

        // the output; a single frame needs no preview
        let defaults = || PathBuf::from(format!("{}-settled.glb", scene.name));
        let output = self.output.clone().unwrap_or_else(defaults);
        if is_take(&output) {
            return Err(Failure::input(
                "a shape at rest is not a take: write it as .glb, .usda, .abc, .pc2, .mdd or a folder of .obj files",
            ));
        }
        let mut without_preview = self.options.clone();
        without_preview.no_preview = true;
        let options = SinkOptions { frame_count: Some(1), ..without_preview.sink(&output, &source) };
        let plan = SinkPlan::new(&output, &source, &options)?;
        plan_files(&plan.files(), self.options.replace())?;

        // solve and write
        let (report, moved, rest_shapes, written) = pool.install(|| {
            let mut player = Player::build(scene)?;
            let (report, moved) = player.settle_at(self.time)?;
            let mut sink = plan.open(&player.model)?;
            write(&player, scene.fps, &mut sink)?;
            let bodies = player.model.bodies().iter();
            let lines: Vec<String> =
                bodies.filter_map(|body| Some(format!("{}: {}", body.name, body.rest_shape?))).collect();
            Ok::<_, Failure>((report, moved, lines, sink.report()))
        })?;

        // report
        rest_shapes.iter().for_each(|line| tell!("{line}"));
        tell!("{}", summary(&report, moved));
        outputs::warn_of_losses(&written);
        written.files.iter().for_each(|file| tell!("wrote {}", file.display()));
        Ok(())
    }
}

/// Writes the current state as a single frame.
fn write(player: &Player, fps: f64, sink: &mut TakeSink) -> Result<(), Failure> {
    let infos: Vec<SurfaceInfo> = player.model.bodies().iter().map(SurfaceInfo::of).collect();
    let mut frame = Frame::default();
    frame.update(&player.model, &player.state);
    sink.begin(&infos, fps)?;
    sink.frame(&frame)?;
    sink.finish()?;
    Ok(())
}

fn summary(report: &SettleReport, moved: f64) -> String {
    let how = if report.converged { "at rest" } else { "not fully at rest" };
    format!(
        "{how}: the unbalanced force is {:.1e} of the weight, after {} rounds with {} Newton steps in total; flesh hangs up to {:.1} mm from where the bones alone would carry it",
        report.residual,
        report.rounds,
        report.work.newton,
        1e3 * moved
    )
}
