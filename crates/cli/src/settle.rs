//! `sinew settle`: where a scene comes to rest, without simulating until it does.

use crate::failure::Failure;
use crate::outputs::{self, OutputOptions, is_take, plan_files};
use crate::simulate::thread_pool;
use crate::source;
use clap::Args;
use sinew_io::{CharacterChoice, SinkOptions, SinkPlan, TakeSink};
use sinew_sim::implicit::SettleReport;
use sinew_take::{Frame, FrameSink, Player, SurfaceInfo};
use std::path::PathBuf;

/// Find where flesh comes to rest at one moment of a motion, and write that shape.
///
/// The bones stand as the motion has them at that time, and what is not led hangs. It is solved for, not waited for: a second or two for any stiffness.
#[derive(Args)]
pub(crate) struct Settle {
    /// A scene (.toml), a character (.glb, .gltf, .vrm), a motion (.bvh), a surface (.obj, .ply, .stl), tets (.node), or a name from `sinew zoo list` [default: dancer].
    input: Option<PathBuf>,

    /// The moment (s).
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    time: f64,

    /// Where the shape goes: NAME.glb, NAME.usda, NAME.pc2, NAME.mdd, or a folder for an .obj file [default: the scene's name, -settled.glb].
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// The animation of a character file, by name or number from 0 [default: the first].
    #[arg(long, value_name = "NAME")]
    animation: Option<String>,

    /// Threads to work with; the result has the same bits for any number [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    #[command(flatten)]
    options: OutputOptions,
}

impl Settle {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let pool = thread_pool(self.threads)?;

        // the scene
        let choice = CharacterChoice { animation: self.animation.clone(), motion: None };
        let opened = source::open(self.input.as_deref(), &choice)?;
        opened.notes.iter().for_each(|note| warn!("note: {note}"));
        let source = opened.value;
        let scene = &source.scene;
        if !(0.0..=scene.seconds).contains(&self.time) {
            return Err(Failure::input(format!(
                "--time {}: the scene has times from 0 to {:.3} s",
                self.time, scene.seconds
            )));
        }

        // where the shape goes
        let defaults = || PathBuf::from(format!("{}-settled.glb", scene.name));
        let output = self.output.clone().unwrap_or_else(defaults);
        if is_take(&output) {
            return Err(Failure::input(
                "a shape at rest is no take: write it as .glb, .usda, .pc2, .mdd or .obj",
            ));
        }
        // one frame needs no contact sheet
        let mut without_preview = self.options.clone();
        without_preview.no_preview = true;
        let options = SinkOptions { frame_count: Some(1), ..without_preview.sink(&output, &source) };
        let plan = SinkPlan::new(&output, &source, &options)?;
        plan_files(&plan.files(), self.options.replace())?;

        // the shape
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
        rest_shapes.iter().for_each(|line| say!("{line}"));
        say!("{}", summary(&report, moved));
        outputs::warn_of_losses(&written);
        written.files.iter().for_each(|file| say!("wrote {}", file.display()));
        Ok(())
    }
}

/// Writes the one frame.
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
    let how = if report.converged { "at rest" } else { "not quite at rest" };
    format!(
        "{how}: {:.1e} of the weight is not balanced, after {} rounds of {} Newton steps in all; flesh hangs up to {:.1} mm from where bones alone would take it",
        report.residual,
        report.rounds,
        report.work.newton,
        1e3 * moved
    )
}
