//! The beam of 10,240 tets embedded in a coarse beam of 540 tets, which is simulated in its place.
//!
//! Coarse linear tets lock: with the same material the coarse beam deflects 17 % less. Before anything is timed, its Young's modulus is lowered until it
//! deflects as far as the fine beam. Interpolating the positions of all fine nodes is included in the time.

use super::{Labels, Row, measure as measure_steps};
use crate::failure::Failure;
use sinew_flesh::Law;
use sinew_math::{Mat3, Vec3};
use sinew_mesh::{Embedding, TetMesh, shapes};
use sinew_sim::implicit::settle;
use sinew_sim::{Control, ImplicitSettings, Model, State};
use sinew_zoo::{Beam, beam};

/// Cubes across the cage, and across the beam embedded in it.
const ACROSS: [usize; 2] = [3, 8];

/// The deflection of the fine beam's free end at rest (m): a static solution of the same mesh by another program.
const FINE_TIP: f64 = 72.54e-3;

/// The relative error allowed for the deflection of the cage.
const TIP_TOLERANCE: f64 = 2e-3;

pub(super) fn measure(labels: Labels, settings: ImplicitSettings) -> Result<Row, Failure> {
    let (model, tip) = calibrated()?;
    let fine = shapes::beam(ACROSS[1], [0.4, 0.1, 0.1]);
    let cage = TetMesh { nodes: model.node_rest().to_vec(), tets: model.tets().to_vec() };
    let embedding = Embedding::from_barycentric(cage.nodes.len(), &embed(&cage, &fine.nodes));
    let mut x = fine.nodes.clone();
    let is_tip: Vec<usize> = (0..x.len()).filter(|&node| fine.nodes[node].x > 0.4 - 1e-9).collect();
    let mut peak = 0.0f64;
    let mut row = measure_steps(labels, &model, settings, &Control::still(&model), |state| {
        embedding.interpolate(&state.node_x, &mut x);
        let fall: f64 = is_tip.iter().map(|&node| fine.nodes[node].z - x[node].z).sum();
        peak = peak.max(fall / is_tip.len() as f64);
    })?;
    row.answer = 1e3 * peak;
    row.tip_static_mm = 1e3 * tip;
    Ok(row)
}

/// The cage with the Young's modulus at which it deflects as far as the fine beam, and its deflection (m).
fn calibrated() -> Result<(Model, f64), Failure> {
    let mut scene = beam(Beam { cubes_across: ACROSS[0], law: Law::StableNeoHookean, damping_ratio: 0.0 });
    for _ in 0..8 {
        let model = Model::build(&scene.world).map_err(Failure::input)?;
        let mut state = State::at_rest(&model);
        let rest = settle(&model, &Control::still(&model), &mut state);
        rest.map_err(|e| Failure::Simulation(e.to_string()))?;
        let tip = Beam::tip_deflection(model.node_rest(), &state);
        if (tip / FINE_TIP - 1.0).abs() < TIP_TOLERANCE {
            return Ok((model, tip));
        }
        scene.world.bodies[0].material.young *= tip / FINE_TIP;
    }
    Err(Failure::Simulation(
        "no Young's modulus was found at which the cage deflects as far as the beam embedded in it".into(),
    ))
}

/// The corners of the tet that each point lies deepest in, and its barycentric weights there.
fn embed(cage: &TetMesh, points: &[Vec3]) -> Vec<([u32; 4], [f64; 4])> {
    let inverse = |tet: &[u32; 4]| {
        let [a, b, c, d] = tet.map(|node| cage.nodes[node as usize]);
        Mat3::from_columns(&[b - a, c - a, d - a]).try_inverse().unwrap_or_else(Mat3::zeros)
    };
    let inverses: Vec<Mat3> = cage.tets.iter().map(inverse).collect();
    let weights = |x: &Vec3, tet: usize| {
        let w = inverses[tet] * (x - cage.nodes[cage.tets[tet][0] as usize]);
        [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
    };
    let depth = |w: [f64; 4]| w.into_iter().fold(f64::INFINITY, f64::min);
    let deepest = |x: &Vec3| {
        let tets = 0..cage.tets.len();
        let best = tets.max_by(|a, b| depth(weights(x, *a)).total_cmp(&depth(weights(x, *b)))).unwrap_or(0);
        (cage.tets[best], weights(x, best))
    };
    points.iter().map(deepest).collect()
}
