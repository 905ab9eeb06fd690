//! Elastic forces and whole explicit steps, for cages of increasing size.

use super::best_time;
use crate::failure::Failure;
use crate::threads::thread_pool;
use serde::Serialize;
use sinew_flesh::{CornerForces, Diagonalise, NodeMotion};
use sinew_math::{Vec3, real};
use sinew_sim::desc::{CageSize, ShapeDesc};
use sinew_sim::{Control, Model, State, Stepper};
use sinew_zoo::jelly_torus;
use std::time::{Duration, Instant};

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    tets: usize,
    nodes: usize,
    threads: usize,
    melements_per_second: f64,
    viscous_melements_per_second: f64,
    step_ms: f64,
    bytes_per_element: f64,
    diagonalised_fraction: f64,
    selective_speedup: f64,
    build_seconds: f64,
}

/// Tets per cage: the four starfish of KimPollard2011, and two larger cages.
const SIZES: [usize; 6] = [200, 3_400, 9_000, 37_600, 150_000, 1_000_000];

/// How long each measurement is repeated.
const PATIENCE: Duration = Duration::from_millis(800);

pub(super) fn run(max_tets: usize) -> Result<Vec<Row>, Failure> {
    // head of the table
    say!("elements: St. Venant-Kirchhoff elements of a twisted jelly torus");
    say!(
        "{:>9} {:>8} {:>12} {:>12} {:>9} {:>8} {:>12} {:>10} {:>8}",
        "tets",
        "threads",
        "M elements/s",
        "with viscous",
        "ms/step",
        "B/element",
        "diagonalised",
        "selective",
        "build s"
    );

    // one row per size and number of threads
    let mut rows = Vec::new();
    for size in SIZES.into_iter().filter(|&size| size <= max_tets) {
        let (model, build_seconds) = build(size, 0.0)?;
        let (viscous, _) = build(size, 0.05)?;
        for threads in [1, 2] {
            let row = thread_pool(Some(threads))?.install(|| measure(&model, &viscous, build_seconds));
            say!(
                "{:>9} {:>8} {:>12.1} {:>12.1} {:>9.4} {:>8.0} {:>11.1} % {:>9.2}× {:>8.2}",
                row.tets,
                row.threads,
                row.melements_per_second,
                row.viscous_melements_per_second,
                row.step_ms,
                row.bytes_per_element,
                100.0 * row.diagonalised_fraction,
                row.selective_speedup,
                row.build_seconds
            );
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The jelly torus with a cage of about `size` tets, and the time to build it (s).
fn build(size: usize, damping_ratio: f64) -> Result<(Model, f64), Failure> {
    let mut world = jelly_torus().world;
    world.bodies[0].material.damping_ratio = damping_ratio;
    if let ShapeDesc::Surface { cage, .. } = &mut world.bodies[0].shape {
        *cage = CageSize::Tets(size);
    }
    let start = Instant::now();
    let model = Model::build(&world).map_err(Failure::input)?;
    Ok((model, start.elapsed().as_secs_f64()))
}

fn measure(model: &Model, viscous: &Model, build_seconds: f64) -> Row {
    let twisted: Vec<Vec3> = model.node_rest().iter().map(twist).collect();
    let (elastic_seconds, diagonalised) = force_seconds(model, &twisted);
    let (viscous_seconds, _) = force_seconds(viscous, &twisted);
    let steps = [Diagonalise::Selectively, Diagonalise::Always].map(|d| step_seconds(viscous, &twisted, d));
    let [selective, always] = steps;
    let tets = model.elements().count();
    Row {
        bench: "elements",
        tets,
        nodes: model.node_count(),
        threads: rayon::current_num_threads(),
        melements_per_second: tets as f64 / elastic_seconds / 1e6,
        viscous_melements_per_second: tets as f64 / viscous_seconds / 1e6,
        step_ms: 1e3 * selective,
        bytes_per_element: model.elements().bytes_per_element(),
        diagonalised_fraction: diagonalised as f64 / tets as f64,
        selective_speedup: always / selective,
        build_seconds,
    }
}

/// The time to evaluate all elastic forces once (s), and how many elements were diagonalised in that.
fn force_seconds(model: &Model, x: &[Vec3]) -> (f64, usize) {
    let still = vec![Vec3::zeros(); x.len()];
    let mut corner_forces = CornerForces::default();
    let mut node_force = vec![Vec3::zeros(); x.len()];
    let mut diagonalised = 0;
    let seconds = best_time(PATIENCE, || {
        let motion = NodeMotion { x, v: &still };
        diagonalised = corner_forces.update(model.elements(), motion, Diagonalise::Selectively).diagonalised;
        corner_forces.on_nodes(model.elements(), &mut node_force);
    });
    (seconds, diagonalised)
}

/// The time of one sub-step (s), measured over calls of several sub-steps, as in a frame, always from the same state.
fn step_seconds(model: &Model, x: &[Vec3], diagonalise: Diagonalise) -> f64 {
    let control = Control::still(model);
    let start = State::from_motion(model, x.to_vec(), vec![Vec3::zeros(); x.len()]);
    let mut stepper = Stepper::default();
    stepper.diagonalise = diagonalise;
    let mut state = start.clone();
    let dt = 7.5 * model.stable_step().seconds;
    let mut best = f64::INFINITY;
    best_time(PATIENCE, || {
        state.clone_from(&start);
        let begin = Instant::now();
        let report = stepper.step(model, &control, dt, &mut state);
        let substeps = report.expect("a twisted torus does not diverge").substeps;
        best = best.min(begin.elapsed().as_secs_f64() / substeps as f64);
    });
    best
}

/// Twists the torus about the vertical, more at lower heights, and stretches it slightly, so that some elements exceed their stretch limits.
fn twist(x: &Vec3) -> Vec3 {
    let angle = 1.4 * (0.195 - x.y).max(0.0) / 0.39;
    let (sine, cosine) = (real::sin(angle), real::cos(angle));
    Vec3::new(cosine * x.x + sine * x.z, 0.195 + 1.05 * (x.y - 0.195), cosine * x.z - sine * x.x)
}
