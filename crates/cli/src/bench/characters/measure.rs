//! One take of one character, measured.

use super::row::{Row, name_of};
use super::sheet::Sheet;
use crate::interrupt::FrameLoop;
use crate::wall_clock::WallClock;
use sinew_character::{CharacterAnimation, CharacterReport, CharacterWatch, TakeSettings};
use sinew_files::Replace;
use sinew_io::{CharacterChoice, OpenedScene, open_source};
use sinew_sim::SolverKind;
use sinew_take::{Frame, FrameSink, Player};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A take that is simulated for longer than this is an error.
const MAX_WALL: Duration = Duration::from_secs(600);

/// What a character plays.
pub(super) struct Motion {
    pub(super) name: String,
    choice: CharacterChoice,
}

impl Motion {
    /// One of the character's own animations, by its index.
    pub(super) fn of_animation((index, animation): (usize, &CharacterAnimation)) -> Motion {
        let choice = CharacterChoice { animation: Some(index.to_string()), ..CharacterChoice::default() };
        Motion { name: animation.name.clone().unwrap_or_else(|| index.to_string()), choice }
    }

    /// A captured motion from another file.
    pub(super) fn captured(file: &Path) -> Motion {
        let choice = CharacterChoice { motion: Some(file.to_path_buf()), ..CharacterChoice::default() };
        Motion { name: name_of(file), choice }
    }

    /// None, for a file without animations.
    pub(super) fn still() -> Motion {
        Motion { name: "(still)".into(), choice: CharacterChoice::default() }
    }
}

/// How takes are measured.
pub(super) struct Plan {
    pub(super) max_seconds: f64,
    pub(super) solver: Option<SolverKind>,
    /// The contact sheet to draw.
    pub(super) sheet: Option<PathBuf>,
    pub(super) replace: Replace,
}

/// Simulates a character and compares every frame with plain skinning.
pub(super) fn measure(
    path: &Path,
    motion: &Motion,
    plan: &Plan,
    frame_loop: &FrameLoop,
) -> Result<Row, String> {
    // the scene, cut to length
    let start = Instant::now();
    let mut opened = open_source(path, &motion.choice).map_err(|error| error.to_string())?.value;
    let scene = &mut opened.scene;
    let seconds = scene.seconds.min(plan.max_seconds);
    TakeSettings { seconds, fps: scene.fps, solver: plan.solver, ..TakeSettings::default() }.apply(scene);
    let open_seconds = start.elapsed().as_secs_f64();

    // the model
    let mut player = Player::build(&opened.scene).map_err(|error| error.to_string())?;
    player.set_clock(WallClock::shared());
    let build_seconds = start.elapsed().as_secs_f64();

    // the take
    let mut take = Take::new(&opened, plan.sheet.is_some())?;
    let wall = take.play(&mut player, frame_loop)?;
    let simulated = opened.scene.preroll.max(0.0) + player.state.time;
    let report = take.watch.report().ok_or("the take has no frame")?;
    if let (Some(sheet), Some(path)) = (take.sheet, &plan.sheet) {
        sheet.write(path, plan.replace)?;
    }

    // the row
    let row = Row {
        file: name_of(path),
        animation: motion.name.clone(),
        wall_per_second: wall / simulated.max(1e-9),
        build_seconds,
        open_seconds,
        ..row_of(&player, report)
    };
    Ok(row.judged())
}

/// What a row says about the physics.
fn row_of(player: &Player, report: CharacterReport) -> Row {
    let tets = player.model.elements().count();
    let percent = |distance: f64| 100.0 * distance / report.size;
    Row {
        bench: "characters",
        frames: player.summary.frames + 1,
        seconds: player.state.time,
        tets,
        bones: player.model.rigs().iter().map(|rig| rig.skeleton.bones().len()).sum(),
        size: report.size,
        solver: player.solver().kind().name(),
        retries: player.summary.retries,
        unsolved_steps: player.unsolved_steps(),
        inverted_fraction: player.summary.max_inverted as f64 / tets.max(1) as f64,
        first_frame_mean: percent(report.first_frame_mean),
        first_frame_max: percent(report.first_frame_max),
        take_mean: percent(report.take_mean),
        take_max: percent(report.take_max.value),
        take_max_bone: report.take_max.bone,
        roll: report.roll.value.to_degrees(),
        roll_bone: report.roll.bone,
        stretch: report.stretch.value,
        at_limit: report.at_limit,
        volume_change: 100.0 * report.volume_change,
        skinning_volume_change: 100.0 * report.skinning_volume_change,
        ..Row::default()
    }
}

/// A take while it is measured.
struct Take<'a> {
    watch: CharacterWatch<'a>,
    sheet: Option<Sheet<'a>>,
    frame: Frame,
}

impl<'a> Take<'a> {
    fn new(opened: &'a OpenedScene, is_drawn: bool) -> Result<Take<'a>, String> {
        let binding = opened.bindings().next().ok_or("the file has no character")?;
        let watch = CharacterWatch::new(binding.played(&opened.scene)).with_limits(opened.limits_of(binding));
        let sheet = is_drawn.then(|| Sheet::new(opened));
        Ok(Take { watch, sheet, frame: Frame::default() })
    }

    /// Simulates all frames; returns the wall time of the steps alone (s).
    fn play(&mut self, player: &mut Player, frame_loop: &FrameLoop) -> Result<f64, String> {
        let mut wall = Duration::ZERO;
        let mut timed = |player: &mut Player, is_first: bool| {
            let start = Instant::now();
            let done = if is_first { player.preroll(|_, _| {}) } else { player.advance().map(|_| ()) };
            wall += start.elapsed();
            done.map(|()| wall).map_err(|error| error.to_string())
        };
        self.watch.begin(&[], 1.0).map_err(|error| error.to_string())?;
        let mut spent = timed(player, true)?;
        loop {
            self.frame.update(&player.model, &player.state);
            self.watch.frame(&self.frame).map_err(|error| error.to_string())?;
            if let Some(sheet) = &mut self.sheet {
                sheet.add(player.frame(), player.frame_count(), &self.frame);
            }
            if player.frame() >= player.frame_count() {
                return Ok(spent.as_secs_f64());
            }
            if spent > MAX_WALL || frame_loop.flow(player.frame()).is_break() {
                return Err(format!(
                    "stopped at {:.2} s after {:.0} s",
                    player.state.time,
                    spent.as_secs_f64()
                ));
            }
            spent = timed(player, false)?;
        }
    }
}
