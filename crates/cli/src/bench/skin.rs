//! Elastic skin over muscles: the penguin with grids of increasing size, explicit steps.

use crate::failure::Failure;
use serde::Serialize;
use sinew_sim::desc::ShapeDesc;
use sinew_take::Player;
use sinew_zoo::penguin_skin_of;
use std::time::Instant;

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    points: usize,
    threads: usize,
    seconds_per_simulated_second: f64,
    /// Sub-steps per simulated second.
    substeps_per_second: f64,
    microseconds_per_point_and_substep: f64,
}

/// Rings of the grids, each with as many points around: those of TurnerThalmann1993, and up to 100,000 points.
const SIZES: [u32; 6] = [16, 32, 64, 100, 178, 316];
/// The grid whose stretch stiffness is that of the zoo; that of others is divided by the number of their points, so that the sub-steps of all are as long.
const REFERENCE: u32 = 32;
/// Points and simulated seconds for which a row is measured: about as long for all of them.
const WORK: f64 = 2000.0;

pub(super) fn run() -> Result<Vec<Row>, Failure> {
    say!("skin: the penguin of loose skin over muscles, explicit steps at 60 frames per second");
    say!("{:>8} {:>22} {:>12} {:>16}", "points", "s per simulated s", "sub-steps/s", "µs/point/step");
    let mut rows = Vec::new();
    for size in SIZES {
        let row = measure(size)?;
        say!(
            "{:>8} {:>22.4} {:>12.0} {:>16.3}",
            row.points,
            row.seconds_per_simulated_second,
            row.substeps_per_second,
            row.microseconds_per_point_and_substep
        );
        rows.push(row);
    }
    Ok(rows)
}

fn measure(size: u32) -> Result<Row, Failure> {
    // at constant stiffness sub-steps would be shorter in proportion to edges
    let mut scene = penguin_skin_of([size, size]);
    scene.preroll = 0.0;
    if let ShapeDesc::Skin(skin) = &mut scene.world.bodies[0].shape {
        skin.fabric.stretch *= f64::from(REFERENCE * REFERENCE) / f64::from(size * size);
    }
    let fps = scene.fps;
    let mut player = Player::build(&scene)?;
    let points = player.model.node_count();

    // the first frame allocates
    let frames = ((WORK * fps / points as f64) as usize).clamp(3, 120);
    let step =
        |player: &mut Player| player.advance().map(drop).map_err(|e| Failure::Simulation(e.to_string()));
    step(&mut player)?;
    let before = player.summary.steps;
    let start = Instant::now();
    for _ in 0..frames {
        step(&mut player)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let substeps = (player.summary.steps - before) as f64;
    let simulated = frames as f64 / fps;
    Ok(Row {
        bench: "skin",
        points,
        threads: rayon::current_num_threads(),
        seconds_per_simulated_second: seconds / simulated,
        substeps_per_second: substeps / simulated,
        microseconds_per_point_and_substep: 1e6 * seconds / (substeps * points as f64),
    })
}
