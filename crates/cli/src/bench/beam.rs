//! Explicit steps of the clamped beam, the benchmark for comparing solvers, on one thread.

use crate::failure::Failure;
use crate::threads::thread_pool;
use cpu_time::ThreadTime;
use serde::Serialize;
use sinew_flesh::{Law, StretchLimits};
use sinew_sim::{Control, Model, State, Stepper};
use sinew_zoo::{Beam, beam};

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    system: &'static str,
    work: &'static str,
    law: &'static str,
    tets: usize,
    threads: usize,
    step_ms: f64,
    cpu_per_simulated_second: f64,
    tip_static_mm: f64,
    tip_peak_mm: f64,
}

const SIZES: [(&str, usize); 2] = [("beam-1k", 4), ("beam-10k", 8)];

const LAWS: [(&str, Law); 3] = [
    ("stvk", Law::StVenantKirchhoff(StretchLimits { lower: 0.75, upper: 1.4 })),
    ("corotational", Law::Corotational),
    ("neo-hookean", Law::StableNeoHookean),
];

/// When the first swing is over (s): the beam is at its lowest after half a period of 0.44 s.
const FIRST_SWING: f64 = 0.35;

pub(super) fn run(max_tets: usize) -> Result<Vec<Row>, Failure> {
    // head of the table
    say!("beam: clamped beam under gravity, explicit steps, one thread");
    say!(
        "{:>9} {:>13} {:>8} {:>10} {:>22} {:>14} {:>12}",
        "work",
        "law",
        "tets",
        "step ms",
        "CPU s per simulated s",
        "static tip mm",
        "peak tip mm"
    );

    // one row per size and law
    let mut rows = Vec::new();
    for (work, cubes_across) in SIZES {
        for (name, law) in LAWS {
            if 20 * cubes_across.pow(3) > max_tets {
                continue;
            }
            let row = thread_pool(Some(1))?.install(|| measure(work, name, law, cubes_across))?;
            say!(
                "{:>9} {:>13} {:>8} {:>10.4} {:>22.4} {:>14.2} {:>12.2}",
                row.work,
                row.law,
                row.tets,
                row.step_ms,
                row.cpu_per_simulated_second,
                row.tip_static_mm,
                row.tip_peak_mm
            );
            rows.push(row);
        }
    }
    Ok(rows)
}

fn measure(work: &'static str, name: &'static str, law: Law, cubes_across: usize) -> Result<Row, Failure> {
    // undamped: the cost, and the peak of the first swing
    let model = build(Beam { cubes_across, law, damping_ratio: 0.0 })?;
    let mut peak = 0.0_f64;
    let start = ThreadTime::now();
    let swung = play(&model, 1.0, |time, deflection| {
        if time < FIRST_SWING {
            peak = peak.max(deflection);
        }
    })?;
    let cpu = start.elapsed().as_secs_f64();

    // a damping ratio of 0.27 at the frequency of the shear wave damps the first bending mode critically: after 1.5 s the beam is at rest
    let damped = build(Beam { cubes_across, law, damping_ratio: 0.27 })?;
    let settled = play(&damped, 1.5, |_, _| {})?;
    Ok(Row {
        bench: "beam",
        system: "sinew explicit",
        work,
        law: name,
        tets: model.elements().count(),
        threads: 1,
        step_ms: 1e3 * model.stable_step().seconds,
        cpu_per_simulated_second: cpu / swung.time,
        tip_static_mm: 1e3 * Beam::tip_deflection(damped.node_rest(), &settled),
        tip_peak_mm: 1e3 * peak,
    })
}

fn build(description: Beam) -> Result<Model, Failure> {
    Model::build(&beam(description).world).map_err(Failure::input)
}

/// Simulates a beam at 240 frames per second, enough to catch the peak of a swing, and passes the time and deflection of each frame to `watch`.
fn play(model: &Model, seconds: f64, mut watch: impl FnMut(f64, f64)) -> Result<State, Failure> {
    let control = Control::still(model);
    let mut state = State::at_rest(model);
    let mut stepper = Stepper::default();
    for _ in 0..(240.0 * seconds) as usize {
        let stepped = stepper.step(model, &control, 1.0 / 240.0, &mut state);
        stepped.map_err(|e| Failure::Simulation(e.to_string()))?;
        watch(state.time, Beam::tip_deflection(model.node_rest(), &state));
    }
    Ok(state)
}
