//! Implicit steps of the clamped beam, of the same beam embedded in a coarse cage, of an arm with two-way coupling and of the dancer: 60 steps per simulated second on one
//! thread.
//!
//! Times are CPU times, the shortest of a few tries, so that other load on the machine matters little.

mod cage;
mod dance;

use crate::failure::Failure;
use crate::threads::thread_pool;
use cpu_time::ThreadTime;
use serde::Serialize;
use sinew_flesh::{Law, StretchLimits};
use sinew_sim::implicit::settle;
use sinew_sim::{
    Control, ImplicitSettings, Model, RigControl, SolveReport, Solver, State, StepOrder, StepReport, Stepper,
};
use sinew_zoo::{Beam, beam, two_links};

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    system: &'static str,
    pub(super) work: &'static str,
    law: &'static str,
    pub(super) setting: &'static str,
    tets: usize,
    threads: usize,
    pub(super) cpu_per_simulated_second: f64,
    worst_step_ms: f64,
    prepare_ms: f64,
    pub(super) newton_per_step: f64,
    pub(super) inner_per_step: f64,
    pub(super) unsolved_steps: usize,
    /// The residual of the worst step, relative to the gradient at its start.
    pub(super) residual: f64,
    /// A check of the result: the peak of the first swing (mm), or for the arm the relative error of the holding torque (parts per million).
    answer: f64,
    /// The deflection of a beam's free end at rest (mm); 0 for all else.
    pub(super) tip_static_mm: f64,
}

/// How often the same simulated second is stepped; the fastest counts.
const TRIES: usize = 3;

const SIZES: [(&str, usize); 3] = [("beam-1k", 4), ("beam-10k", 8), ("beam-50k", 14)];
const SETTINGS: [(&str, ImplicitSettings); 3] = [
    ("interactive", ImplicitSettings::INTERACTIVE),
    ("accurate", ImplicitSettings::ACCURATE),
    ("second order", ImplicitSettings { order: StepOrder::Second, ..ImplicitSettings::INTERACTIVE }),
];

pub(super) fn run(max_tets: usize) -> Result<Vec<Row>, Failure> {
    say_head();
    let stvk = ("stvk", Law::StVenantKirchhoff(StretchLimits { lower: 0.75, upper: 1.4 }));
    let mut rows = Vec::new();
    for (work, cubes_across) in SIZES {
        for law in [("neo-hookean", Law::StableNeoHookean), stvk] {
            for setting in SETTINGS {
                if 20 * cubes_across.pow(3) <= max_tets {
                    rows.push(run_beam(work, cubes_across, law, setting)?);
                }
            }
        }
    }
    for setting in SETTINGS.into_iter().filter(|_| max_tets >= 10_240) {
        rows.extend(run_others(setting)?);
    }
    Ok(rows)
}

/// The rows that other systems are compared with: the neo-Hookean law with interactive settings.
pub(super) fn compared(max_tets: usize) -> Result<Vec<Row>, Failure> {
    say_head();
    let mut rows = Vec::new();
    for (work, cubes_across) in SIZES.into_iter().filter(|(_, across)| 20 * across.pow(3) <= max_tets) {
        rows.push(run_beam(work, cubes_across, ("neo-hookean", Law::StableNeoHookean), SETTINGS[0])?);
    }
    if max_tets >= 10_240 {
        rows.extend(run_others(SETTINGS[0])?);
    }
    Ok(rows)
}

type Setting = (&'static str, ImplicitSettings);

fn run_beam(
    work: &'static str,
    cubes_across: usize,
    (law_name, law): (&'static str, Law),
    (setting, settings): Setting,
) -> Result<Row, Failure> {
    let scene = beam(Beam { cubes_across, law, damping_ratio: 0.0 });
    let model = Model::build(&scene.world).map_err(Failure::input)?;
    let labels = Labels { work, law: law_name, setting };
    let row = thread_pool(Some(1))?.install(|| measure_beam(labels, &model, settings))?;
    say_row(&row);
    Ok(row)
}

/// The embedded beam, the arm and the dancer.
fn run_others((setting, settings): Setting) -> Result<Vec<Row>, Failure> {
    let pool = thread_pool(Some(1))?;
    let labels = |work, law| Labels { work, law, setting };
    let carried = pool.install(|| cage::measure(labels("beam-10k-cage", "neo-hookean"), settings))?;
    say_row(&carried);
    let model = Model::build(&two_links(8)).map_err(Failure::input)?;
    let arm = pool.install(|| measure_arm(labels("arm-10k", "neo-hookean"), &model, settings))?;
    say_row(&arm);
    let dancer = pool.install(|| dance::measure(labels("dancer", "stvk"), settings))?;
    say_row(&dancer);
    Ok(vec![carried, arm, dancer])
}

fn say_head() {
    say!("implicit: 60 steps per simulated second, one thread, CPU time");
    say!(
        "{:>13} {:>12} {:>12} {:>7} {:>9} {:>9} {:>9} {:>7} {:>7} {:>8} {:>9} {:>9} {:>10}",
        "work",
        "law",
        "setting",
        "tets",
        "cpu/sim s",
        "worst ms",
        "setup ms",
        "newton",
        "inner",
        "unsolved",
        "residual",
        "answer",
        "static mm"
    );
}

/// The names in a row.
pub(super) struct Labels {
    pub(super) work: &'static str,
    pub(super) law: &'static str,
    pub(super) setting: &'static str,
}

fn say_row(row: &Row) {
    say!(
        "{:>13} {:>12} {:>12} {:>7} {:>9.4} {:>9.2} {:>9.1} {:>7.2} {:>7.2} {:>8} {:>9.1e} {:>9.2} {:>10.2}",
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
        row.residual,
        row.answer,
        row.tip_static_mm
    );
}

fn measure_beam(labels: Labels, model: &Model, settings: ImplicitSettings) -> Result<Row, Failure> {
    let control = Control::still(model);
    let mut peak = 0.0f64;
    let mut row = measure(labels, model, settings, &control, |state| {
        peak = peak.max(Beam::tip_deflection(model.node_rest(), state));
    })?;
    row.answer = 1e3 * peak;
    let mut settled = State::at_rest(model);
    settle(model, &control, &mut settled).map_err(|e| Failure::Simulation(e.to_string()))?;
    row.tip_static_mm = 1e3 * Beam::tip_deflection(model.node_rest(), &settled);
    Ok(row)
}

/// The arm swings freely for a second, which is timed; then it is held and settled, and its torque is compared with the moment of its weight.
fn measure_arm(labels: Labels, model: &Model, settings: ImplicitSettings) -> Result<Row, Failure> {
    let limp = Control { rigs: vec![RigControl::limp(&model.rigs()[0])], ..Control::still(model) };
    let mut row = measure(labels, model, settings, &limp, |_| {})?;
    let held = Control::still(model);
    let mut state = State::at_rest(model);
    settle(model, &held, &mut state).map_err(|e| Failure::Simulation(e.to_string()))?;
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    stepper.step(model, &held, 1.0 / 60.0, &mut state).map_err(|e| Failure::Simulation(e.to_string()))?;
    row.answer = 1e6 * (stepper.torques(0)[0] / sinew_zoo::two_links_moment(model, &state) - 1.0);
    Ok(row)
}

/// Times the implicit steps of one second; `watch` is included in the time.
pub(super) fn measure(
    labels: Labels,
    model: &Model,
    settings: ImplicitSettings,
    control: &Control,
    mut watch: impl FnMut(&State),
) -> Result<Row, Failure> {
    // one timed step
    let mut stepper = Stepper::with_solver(Solver::Implicit(settings));
    let mut step = |state: &mut State| {
        let start = ThreadTime::now();
        let report = stepper.step(model, control, 1.0 / 60.0, state);
        let report = report.map_err(|e| Failure::Simulation(e.to_string()))?;
        watch(state);
        Ok::<_, Failure>((start.elapsed().as_secs_f64(), solve_of(&report)?))
    };

    // the first step also sets up the solver
    let (first, _) = step(&mut State::at_rest(model))?;

    // the fastest of a few tries; the same first step without the setup tells its cost
    let mut best = Second::LONGEST;
    let mut again = first;
    for _ in 0..TRIES {
        let mut state = State::at_rest(model);
        let mut second = Second::default();
        for i in 0..60 {
            let (seconds, solve) = step(&mut state)?;
            again = if i == 0 { again.min(seconds) } else { again };
            second.add(seconds, &solve);
        }
        best = best.or_faster(second);
    }
    Ok(best.row(labels, model.elements().count(), first - again))
}

fn solve_of(report: &StepReport) -> Result<SolveReport, Failure> {
    report.solve.ok_or_else(|| Failure::Simulation("the step was not implicit".into()))
}

/// The cost of the sixty steps of one second.
#[derive(Clone, Copy, Default)]
struct Second {
    cpu: f64,
    worst: f64,
    newton: usize,
    inner: usize,
    unsolved: usize,
    residual: f64,
}

impl Second {
    const LONGEST: Second =
        Second { cpu: f64::INFINITY, worst: 0.0, newton: 0, inner: 0, unsolved: 0, residual: 0.0 };

    fn add(&mut self, seconds: f64, solve: &SolveReport) {
        self.cpu += seconds;
        self.worst = self.worst.max(seconds);
        self.newton += solve.newton;
        self.inner += solve.inner;
        self.unsolved += usize::from(!solve.converged);
        self.residual = self.residual.max(solve.residual);
    }

    fn or_faster(self, other: Second) -> Second {
        if other.cpu < self.cpu { other } else { self }
    }

    fn row(&self, labels: Labels, tets: usize, prepare: f64) -> Row {
        Row {
            bench: "implicit",
            system: "sinew implicit",
            work: labels.work,
            law: labels.law,
            setting: labels.setting,
            tets,
            threads: 1,
            cpu_per_simulated_second: self.cpu,
            worst_step_ms: 1e3 * self.worst,
            prepare_ms: 1e3 * prepare,
            newton_per_step: self.newton as f64 / 60.0,
            inner_per_step: self.inner as f64 / 60.0,
            unsolved_steps: self.unsolved,
            residual: self.residual,
            answer: 0.0,
            tip_static_mm: 0.0,
        }
    }
}
