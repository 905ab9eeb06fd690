//! Implicit steps of the clamped beam and of a two-way arm, on one thread, at 60 steps per simulated second.
//!
//! Processor time, so that a busy machine counts for little.

use crate::failure::Failure;
use crate::simulate::thread_pool;
use cpu_time::ThreadTime;
use serde::Serialize;
use sinew_flesh::{Law, StretchLimits};
use sinew_sim::implicit::settle;
use sinew_sim::{Control, ImplicitSettings, Model, RigControl, Solver, State, Stepper};
use sinew_zoo::{Beam, beam, two_links};

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    system: &'static str,
    work: &'static str,
    law: &'static str,
    setting: &'static str,
    tets: usize,
    threads: usize,
    cpu_per_simulated_second: f64,
    worst_step_ms: f64,
    prepare_ms: f64,
    newton_per_step: f64,
    inner_per_step: f64,
    unsolved_steps: usize,
    /// The peak of the first swing (mm), or for the arm the error of the holding torque in parts of a million.
    answer: f64,
    tip_static_mm: f64,
}

const SIZES: [(&str, usize); 3] = [("beam-1k", 4), ("beam-10k", 8), ("beam-50k", 14)];
const SETTINGS: [(&str, ImplicitSettings); 2] =
    [("interactive", ImplicitSettings::INTERACTIVE), ("accurate", ImplicitSettings::ACCURATE)];

pub(super) fn run(most_tets: usize) -> Result<Vec<Row>, Failure> {
    say!("implicit: 60 steps per simulated second, one thread, processor time");
    say!(
        "{:>9} {:>12} {:>12} {:>7} {:>9} {:>9} {:>9} {:>7} {:>7} {:>8} {:>9} {:>10}",
        "work",
        "law",
        "setting",
        "tets",
        "cpu/sim s",
        "worst ms",
        "ready ms",
        "newton",
        "inner",
        "unsolved",
        "answer",
        "static mm"
    );
    let stvk = ("stvk", Law::StVenantKirchhoff(StretchLimits { lower: 0.75, upper: 1.4 }));
    let mut rows = Vec::new();
    for (work, cubes_across) in SIZES {
        for (law_name, law) in [("neo-hookean", Law::StableNeoHookean), stvk] {
            for (name, settings) in SETTINGS {
                if 20 * cubes_across.pow(3) > most_tets {
                    continue;
                }
                let scene = beam(Beam { cubes_across, law, damping_ratio: 0.0 });
                let model = Model::build(&scene.world).map_err(Failure::input)?;
                let labels = Labels { work, law: law_name, setting: name };
                let row = thread_pool(Some(1))?.install(|| measure_beam(labels, &model, settings))?;
                say_row(&row);
                rows.push(row);
            }
        }
    }
    for (name, settings) in SETTINGS {
        if most_tets >= 10_240 {
            let model = Model::build(&two_links(8)).map_err(Failure::input)?;
            let labels = Labels { work: "arm-10k", law: "neo-hookean", setting: name };
            let row = thread_pool(Some(1))?.install(|| measure_arm(labels, &model, settings))?;
            say_row(&row);
            rows.push(row);
        }
    }
    Ok(rows)
}

struct Labels {
    work: &'static str,
    law: &'static str,
    setting: &'static str,
}

fn say_row(row: &Row) {
    say!(
        "{:>9} {:>12} {:>12} {:>7} {:>9.4} {:>9.2} {:>9.1} {:>7.2} {:>7.2} {:>8} {:>9.2} {:>10.2}",
        row.work,
        row.law,
        row.setting,
        row.tets,
        row.cpu_per_simulated_second,
        row.worst_step_ms,
        row.prepare_ms,
        row.newton_per_step,
        row.inner_per_step,
        row.unsolved_steps,
        row.answer,
        row.tip_static_mm
    );
}

fn measure_beam(labels: Labels, model: &Model, settings: ImplicitSettings) -> Result<Row, Failure> {
    let control = Control::still(model);
    let mut peak = 0.0f64;
    let mut row = measure(labels, model, settings, &control, |state| {
        peak = peak.max(Beam::tip_deflection(&model.node_rest, state));
    })?;
    row.answer = 1e3 * peak;
    let mut settled = State::at_rest(model);
    settle(model, &control, &mut settled).map_err(|e| Failure::Simulation(e.to_string()))?;
    row.tip_static_mm = 1e3 * Beam::tip_deflection(&model.node_rest, &settled);
    Ok(row)
}

/// The arm swings limp for a second, which is timed; then it is held, settled, and its torque compared with the moment of its weight.
fn measure_arm(labels: Labels, model: &Model, settings: ImplicitSettings) -> Result<Row, Failure> {
    let limp = Control { rigs: vec![RigControl::limp(&model.rigs[0])], ..Control::still(model) };
    let mut row = measure(labels, model, settings, &limp, |_| {})?;
    let held = Control::still(model);
    let mut state = State::at_rest(model);
    settle(model, &held, &mut state).map_err(|e| Failure::Simulation(e.to_string()))?;
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    stepper.step(model, &held, 1.0 / 60.0, &mut state).map_err(|e| Failure::Simulation(e.to_string()))?;
    row.answer = 1e6 * (stepper.torques(0)[0] / sinew_zoo::two_links_moment(model, &state) - 1.0);
    Ok(row)
}

fn measure(
    labels: Labels,
    model: &Model,
    settings: ImplicitSettings,
    control: &Control,
    mut watch: impl FnMut(&State),
) -> Result<Row, Failure> {
    let mut state = State::at_rest(model);
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    let mut step = |state: &mut State| {
        let start = ThreadTime::now();
        let report = stepper.step(model, control, 1.0 / 60.0, state);
        let solve = report.map_err(|e| Failure::Simulation(e.to_string()))?.solve;
        let solve = solve.ok_or_else(|| Failure::Simulation("the step was not implicit".into()))?;
        Ok::<_, Failure>((start.elapsed().as_secs_f64(), solve))
    };
    // the first step prepares the solver
    let (first, _) = step(&mut state.clone())?;
    let (mut cpu, mut worst, mut newton, mut inner, mut unsolved) = (0.0, 0.0f64, 0, 0, 0);
    let mut again = 0.0;
    for i in 0..60 {
        let (seconds, solve) = step(&mut state)?;
        again = if i == 0 { seconds } else { again };
        cpu += seconds;
        worst = worst.max(seconds);
        newton += solve.newton;
        inner += solve.inner;
        unsolved += usize::from(!solve.converged);
        watch(&state);
    }
    Ok(Row {
        bench: "implicit",
        system: "sinew implicit",
        work: labels.work,
        law: labels.law,
        setting: labels.setting,
        tets: model.elements.count(),
        threads: 1,
        cpu_per_simulated_second: cpu,
        worst_step_ms: 1e3 * worst,
        prepare_ms: 1e3 * (first - again),
        newton_per_step: newton as f64 / 60.0,
        inner_per_step: inner as f64 / 60.0,
        unsolved_steps: unsolved,
        answer: 0.0,
        tip_static_mm: 0.0,
    })
}
