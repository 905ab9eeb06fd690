//! Volumetric locking of linear tets: the clamped beam at rest and in implicit steps, from ν = 0.40 to 0.49.
//!
//! The exact deflection hardly depends on ν: shear and the clamped end change it by a few percent. What coarse beams lack beyond that is locking.

use super::implicit::{Labels, measure};
use crate::failure::Failure;
use crate::threads::thread_pool;
use serde::Serialize;
use sinew_flesh::Law;
use sinew_sim::implicit::settle;
use sinew_sim::{Control, ImplicitSettings, Model, State};
use sinew_zoo::{Beam, beam};

/// One line of the table.
#[derive(Serialize)]
pub(super) struct Row {
    bench: &'static str,
    poisson: f64,
    tets: usize,
    tip_static_mm: f64,
    /// For steps of 1/60 s with a tolerance of 1e-3.
    newton_per_step: f64,
    inner_per_step: f64,
    cpu_per_simulated_second: f64,
    unsolved_steps: usize,
}

const POISSON: [f64; 4] = [0.40, 0.45, 0.47, 0.49];
/// Cubes across the beam; the two largest are only solved at rest, to show the limit of fine meshes.
const SIZES: [usize; 5] = [4, 8, 14, 20, 28];
/// The largest of them that is stepped.
const MAX_STEPPED: usize = 14;

pub(super) fn run(max_tets: usize) -> Result<Vec<Row>, Failure> {
    say!(
        "locking: the clamped beam, neo-Hookean, at rest and in implicit steps with a tolerance of 1e-3, one thread"
    );
    let mut rows = Vec::new();
    for poisson in POISSON {
        for across in SIZES.into_iter().filter(|across| 20 * across.pow(3) <= max_tets) {
            let row = thread_pool(Some(1))?.install(|| run_beam(poisson, across))?;
            say!(
                "ν {:.2} {:>8} tets: {:>7.3} mm at rest; {:>5.2} Newton and {:>6.2} inner iterations per step, {:>7.3} CPU s per simulated s, {} unsolved",
                row.poisson,
                row.tets,
                row.tip_static_mm,
                row.newton_per_step,
                row.inner_per_step,
                row.cpu_per_simulated_second,
                row.unsolved_steps
            );
            rows.push(row);
        }
    }
    Ok(rows)
}

fn run_beam(poisson: f64, cubes_across: usize) -> Result<Row, Failure> {
    // the beam
    let mut scene = beam(Beam { cubes_across, law: Law::StableNeoHookean, damping_ratio: 0.0 });
    scene.world.bodies[0].material.poisson = poisson;
    let model = Model::build(&scene.world).map_err(Failure::input)?;
    let control = Control::still(&model);
    let mut row = Row {
        bench: "locking",
        poisson,
        tets: model.elements().count(),
        tip_static_mm: 0.0,
        newton_per_step: 0.0,
        inner_per_step: 0.0,
        cpu_per_simulated_second: 0.0,
        unsolved_steps: 0,
    };

    // implicit steps
    if cubes_across <= MAX_STEPPED {
        let labels = Labels { work: "beam", law: "neo-hookean", setting: "interactive" };
        let stepped = measure(labels, &model, ImplicitSettings::INTERACTIVE, &control, |_| {})?;
        row.newton_per_step = stepped.newton_per_step;
        row.inner_per_step = stepped.inner_per_step;
        row.cpu_per_simulated_second = stepped.cpu_per_simulated_second;
        row.unsolved_steps = stepped.unsolved_steps;
    }

    // the shape at rest
    let mut settled = State::at_rest(&model);
    let report = settle(&model, &control, &mut settled).map_err(|e| Failure::Simulation(e.to_string()))?;
    if !report.converged {
        return Err(Failure::Simulation(format!("the beam of ν = {poisson} did not settle: {report:?}")));
    }
    row.tip_static_mm = 1e3 * Beam::tip_deflection(model.node_rest(), &settled);
    Ok(row)
}
