//! The cost that bones add to a step of flesh: a starfish with its sixteen bones, beside the same flesh with as many nodes pinned instead.

use crate::failure::Failure;
use crate::threads::thread_pool;
use serde::Serialize;
use sinew_sim::desc::{BodyDesc, PinDesc, Region, WorldDesc};
use sinew_sim::{Control, Model, RigControl, State, Stepper};
use sinew_zoo::starfish;
use std::time::Instant;

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    mode: &'static str,
    tets: usize,
    bones: usize,
    threads: usize,
    /// The time of a step without bones (µs).
    flesh_step_us: f64,
    /// The time of a step with bones (µs).
    step_us: f64,
    added_fraction: f64,
}

/// Tets of the four starfish of KimPollard2011.
const SIZES: [usize; 4] = [200, 3_400, 9_000, 37_600];
/// Frames per measurement, and measurements per row.
const FRAMES: usize = 5;
const ROUNDS: usize = 40;

pub(super) fn run(max_tets: usize) -> Result<Vec<Row>, Failure> {
    // head of the table
    say!("coupling: a starfish with sixteen bones beside the same flesh without bones");
    say!(
        "{:>9} {:>8} {:>9} {:>12} {:>12} {:>8}",
        "tets",
        "threads",
        "mode",
        "flesh µs",
        "coupled µs",
        "added"
    );

    // one row per size, number of threads and mode
    let mut rows = Vec::new();
    for size in SIZES.into_iter().filter(|&size| size <= max_tets) {
        let coupled = Model::build(&starfish(size).world).map_err(Failure::input)?;
        let flesh = without_bones(&starfish(size).world, &coupled).map_err(Failure::input)?;
        for threads in [1, 2] {
            for mode in ["one-way", "two-way"] {
                let row = thread_pool(Some(threads))?.install(|| measure(mode, &coupled, &flesh))?;
                say!(
                    "{:>9} {:>8} {:>9} {:>12.1} {:>12.1} {:>6.1} %",
                    row.tets,
                    row.threads,
                    row.mode,
                    row.flesh_step_us,
                    row.step_us,
                    100.0 * row.added_fraction
                );
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// The same flesh without bones, stepped with the same time step; one pin holds as many nodes as were fixed to bones.
fn without_bones(world: &WorldDesc, coupled: &Model) -> Result<Model, sinew_sim::BuildError> {
    let count = (0..coupled.node_count()).filter(|&node| coupled.bone_of_node(node).is_some()).count();
    let center = coupled.node_rest()[0];
    let mut distances: Vec<f64> = coupled.node_rest().iter().map(|x| (x - center).norm()).collect();
    distances.sort_by(f64::total_cmp);
    let radius = distances[count.saturating_sub(1)];
    let pins = vec![PinDesc { region: Region::Ball { center, radius } }];
    let body = BodyDesc { pins, attachment: None, ..world.bodies[0].clone() };
    Model::build(&WorldDesc {
        gravity: world.gravity,
        bodies: vec![body],
        max_step: Some(coupled.stable_step().seconds),
        ..WorldDesc::default()
    })
}

fn measure(mode: &'static str, coupled: &Model, flesh: &Model) -> Result<Row, Failure> {
    let mut control = Control::still(coupled);
    if mode == "two-way" {
        control.rigs[0] = RigControl::limp(&coupled.rigs()[0]);
    }
    let mut best = [f64::INFINITY; 2];
    // alternately, so that other load on the machine affects both
    for _ in 0..ROUNDS {
        best[0] = best[0].min(step_seconds(flesh, &Control::still(flesh))?);
        best[1] = best[1].min(step_seconds(coupled, &control)?);
    }
    Ok(Row {
        bench: "coupling",
        mode,
        tets: coupled.tets().len(),
        bones: coupled.rigs()[0].skeleton.bones().len(),
        threads: rayon::current_num_threads(),
        flesh_step_us: 1e6 * best[0],
        step_us: 1e6 * best[1],
        added_fraction: best[1] / best[0] - 1.0,
    })
}

/// The time of one sub-step (s), averaged over some frames of swinging flesh.
fn step_seconds(model: &Model, control: &Control) -> Result<f64, Failure> {
    let mut state = State::at_rest(model);
    state.node_v.iter_mut().zip(model.node_rest()).for_each(|(v, x)| v.y = 2.0 * x.x);
    state.restart(model);
    let mut stepper = Stepper::default();
    let mut step = || stepper.step(model, control, 1.0 / 60.0, &mut state).map_err(Failure::input);
    step()?;
    let start = Instant::now();
    let mut steps = 0;
    for _ in 0..FRAMES {
        steps += step()?.substeps;
    }
    Ok(start.elapsed().as_secs_f64() / steps as f64)
}
